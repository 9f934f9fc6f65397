/* test_source_idx.c - idx by content, gzip or not, pairing by rank, byte counts; raw records; CIFAR planes */
#include "ingest/source.h"

#include "support/main.h"
#include "support/sources.h"

#include <string.h>

static struct mshi_test_listing l;
static const char *dir;

static const uint8_t images[] = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9};

static void start(void)
{
    mshi_test_listing_init(&l, NULL);
    dir = mshi_test_dir();
    l.listing.work_folder = dir;
}

START_TEST(images_and_labels_by_rank)
{
    struct mshi_payload payload = {.buffer = NULL};
    uint8_t packed[128];
    const char *x = mshi_test_write(dir, "no-such-spelling", images, sizeof(images));
    const char *y = mshi_test_write(dir, "gz without suffix", packed, mshi_test_gzip(labels, sizeof(labels), packed));

    struct mshi_source *s = mshi_test_open(&l, y, x, NULL);
    ck_assert_str_eq(s->kind, "idx");
    ck_assert_uint_eq(s->count, 3);
    ck_assert_str_eq(s->fields[0].name, "image");
    ck_assert_uint_eq(s->fields[0].ndim, 2);
    ck_assert_int_eq(s->fields[0].content, MSHARD_CONTENT_IMAGE);
    ck_assert_str_eq(s->fields[1].name, "label");
    ck_assert_int_eq(s->ops->read_run(s, 1, 2, &payload, NULL), MSHARD_OK);
    ck_assert_mem_eq(payload.data[0], images + 20, 8);
    ck_assert_mem_eq(payload.data[1], labels + 9, 2);
    mshi_payload_clear(&payload);
    mshi_source_free(s);
    s = mshi_test_open(&l, x, x, y, y, NULL);
    ck_assert_uint_eq(s->count, 6);
    mshi_source_free(s);
    s = mshi_test_open(&l, y, NULL);
    ck_assert_uint_eq(s->field_count, 1);
    mshi_source_free(s);
}
END_TEST

START_TEST(byte_order_of_wide_elements)
{
    static const uint8_t ints[] = {0, 0, 0x0C, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0xFF, 0xFF, 0xFF, 0xFE};
    static const int32_t expected[] = {5, -2};
    struct mshi_payload payload = {.buffer = NULL};

    struct mshi_source *s = mshi_test_open(&l, mshi_test_write(dir, "i", ints, sizeof(ints)), NULL);
    ck_assert_int_eq(s->fields[0].dtype, MSHARD_INT32);
    ck_assert_int_eq(s->ops->read(s, 0, &payload, NULL), MSHARD_OK);
    ck_assert_mem_eq(payload.data[0], expected, 8);
    mshi_payload_clear(&payload);
    mshi_source_free(s);
}
END_TEST

START_TEST(what_is_refused)
{
    char message[1600];
    uint8_t packed[128];
    const size_t size = mshi_test_gzip(images, sizeof(images), packed);
    const char *cut = mshi_test_write(dir, "cut", images, sizeof(images) - 5);
    const char *both[] = {mshi_test_write(dir, "x", images, sizeof(images)),
                          mshi_test_write(dir, "y", "\0\0\10\1\0\0\0\2ab", 10)};
    struct mshi_source *s;
    mshard_error error;

    ck_assert_int_eq(mshi_test_refused(&l, cut, message), MSHARD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(message, "expected 12 bytes, found 7"));
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "long", "\0\0\10\1\0\0\0\1ab", 10), message),
                     MSHARD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(message, "expected 1 bytes, found 2"));
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "c.gz", packed, size - 20), message),
                     MSHARD_E_TRUNCATED);
    packed[20] ^= 1;
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "d.gz", packed, size), message), MSHARD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(message, "CRC-32"));
    ck_assert_int_eq(
        mshi_test_refused(&l, mshi_test_text(dir, "train-images-idx3-ubyte.gz", "<!DOCTYPE html>"), message),
        MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "not gzip, not idx: begins with 3c 21 44 4f"));
    ck_assert_ptr_nonnull(strstr(message, "\"<!DOCTYPE html>\""));
    ck_assert_int_eq(mshi_source_open(both, 2, &l.listing, &s, &error), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(error.message, "2 labels, but 3 records in"));
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_text(dir, "junk", "who knows what"), message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "formats are folder, flat"));
}
END_TEST

START_TEST(raw_records)
{
    struct mshi_payload payload = {.buffer = NULL};
    char message[1600];
    const char *path = mshi_test_text(dir, "r", "HEADabcdefghijkl");

    l.options.format = "raw";
    ck_assert_int_eq(mshi_test_refused(&l, path, message), MSHARD_E_INVALID);
    l.options.raw_dtype = "uint8";
    l.options.raw_shape = "2, 3";
    l.options.raw_skip = 4;
    struct mshi_source *s = mshi_test_open(&l, path, path, NULL);
    ck_assert_uint_eq(s->count, 4);
    ck_assert_int_eq(s->ops->read_run(s, 1, 2, &payload, NULL), MSHARD_OK);
    ck_assert_mem_eq(payload.data[0], "ghijklabcdef", 12);
    mshi_payload_clear(&payload);
    mshi_source_free(s);
    l.options.raw_skip = 5;
    ck_assert_int_eq(mshi_test_refused(&l, path, message), MSHARD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(message, "expected 6 bytes for the last record, found 5"));
    l.options.raw_shape = "2,b";
    ck_assert_int_eq(mshi_test_refused(&l, path, message), MSHARD_E_INVALID);
}
END_TEST

START_TEST(cifar_planes_become_pixels)
{
    static uint8_t record[2 * 3073];
    struct mshi_payload payload = {.buffer = NULL};
    char message[1600];

    record[0] = 7;
    memset(record + 1, 10, 1024);
    memset(record + 1025, 20, 1024);
    memset(record + 2049, 30, 1024);
    for (unsigned i = 0; i < 3072; i++)
        record[3074 + i] = (uint8_t)(i * 7);
    record[3073] = 9;
    mshi_test_write(dir, "data_batch_2.bin", record, 3073);
    mshi_test_write(dir, "data_batch_1.bin", record, 2 * 3073);
    mshi_test_write(dir, "test_batch.bin", record, 3073);
    mshi_test_text(dir, "batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
    struct mshi_source *s = mshi_test_open(&l, dir, NULL);
    ck_assert_str_eq(s->kind, "cifar10");
    ck_assert_uint_eq(s->count, 3);
    ck_assert_str_eq(s->classes[7], "h");
    ck_assert_int_eq(mshi_test_label(s, 1), 9);
    ck_assert_int_eq(s->ops->read_run(s, 0, 3, &payload, NULL), MSHARD_OK);
    const uint8_t *pixels = payload.data[0];
    ck_assert_mem_eq(pixels, "\12\24\36\12\24\36", 6);
    for (unsigned p = 0; p < 1024; p++)
        for (unsigned k = 0; k < 3; k++)
            ck_assert_uint_eq(pixels[3072 + 3 * p + k], record[3074 + 1024 * k + p]);
    mshi_payload_clear(&payload);
    mshi_source_free(s);
    l.options.format = "cifar10";
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "x.bin", record, 3072), message), MSHARD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(message, "not a multiple of 3073"));
    l.options.format = "cifar100";
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "x.bin", record, 3073), message), MSHARD_E_TRUNCATED);
    record[0] = 5;
    record[1] = 66;
    s = mshi_test_open(&l, mshi_test_write(dir, "train.bin", record, 3074), NULL);
    ck_assert_str_eq(s->fields[1].name, "coarse_label");
    ck_assert_int_eq(mshi_test_label(s, 0), 66);
    mshi_source_free(s);
}
END_TEST

START_TEST(cifar_labels_out_of_range)
{
    static uint8_t record[3073] = {10};
    struct mshi_payload payload = {.buffer = NULL};
    mshard_error error;

    l.options.format = "cifar10";
    struct mshi_source *s = mshi_test_open(&l, mshi_test_write(dir, "x.bin", record, sizeof(record)), NULL);
    ck_assert_int_eq(s->ops->read(s, 0, &payload, &error), MSHARD_E_CORRUPT);
    ck_assert_uint_eq(error.offset, 0);
    mshi_payload_clear(&payload);
    mshi_source_free(s);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("source_idx");
    TCase *c = tcase_create("idx raw cifar");

    tcase_add_checked_fixture(c, start, NULL);
    tcase_add_test(c, images_and_labels_by_rank);
    tcase_add_test(c, byte_order_of_wide_elements);
    tcase_add_test(c, what_is_refused);
    tcase_add_test(c, raw_records);
    tcase_add_test(c, cifar_planes_become_pixels);
    tcase_add_test(c, cifar_labels_out_of_range);
    suite_add_tcase(suite, c);
    return suite;
}
