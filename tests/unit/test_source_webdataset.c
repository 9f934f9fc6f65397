/* test_source_webdataset.c - samples in archives: keys, fields by extension, what is missing or double */
#include "ingest/source.h"

#include "support/main.h"
#include "support/sources.h"

#include <stdio.h>
#include <string.h>

static struct mshi_test_listing l;
static const char *dir;
static struct mshi_test_tar tar;
static uint8_t packed[sizeof(tar.data) + 4096];

static void start(void)
{
    mshi_test_listing_init(&l, NULL);
    dir = mshi_test_dir();
    l.listing.work_folder = dir;
    tar.size = 0;
}

static void add(const char *name, const char *text)
{
    mshi_test_tar_add(&tar, name, text, strlen(text));
}

static struct mshi_source *open_tar(void)
{
    return mshi_test_open(&l, mshi_test_tar_write(&tar, dir, "a.tar"), NULL);
}

START_TEST(keys_end_at_the_first_dot_of_the_file_name)
{
    l.options.format = "webdataset";
    add("/some/path/22.0/1.1.png", "picture");
    struct mshi_source *s = open_tar();
    ck_assert_uint_eq(s->count, 1);
    ck_assert_str_eq(mshi_test_key(s, 0), "some/path/22.0/1");
    ck_assert_str_eq(s->fields[0].name, "_1_png");
    ck_assert_int_eq(s->fields[0].kind, MSHI_PART_IMAGE);
    mshi_source_free(s);
    l.options.format = NULL;
    tar.size = 0;
    add("train.v1/0001.jpg", "picture");
    add("train.v1/0001.cls", "1\n");
    s = open_tar();
    ck_assert_str_eq(s->kind, "webdataset");
    ck_assert_str_eq(mshi_test_key(s, 0), "train.v1/0001");
    ck_assert_int_eq(mshi_test_label(s, 0), 1);
    mshi_source_free(s);
}
END_TEST

START_TEST(fields_by_extension)
{
    uint8_t npy[300];
    const size_t size = mshi_test_npy(npy, "'>u2'", true, "(2, 2)", "\0\1\0\2\0\3\0\4", 8);
    static const uint16_t values[] = {1, 3, 2, 4};
    struct mshi_payload payload = {.buffer = NULL};

    for (int i = 0; i < 3; i++) {
        char name[32];

        snprintf(name, sizeof(name), "%d.txt", i);
        add(name, i ? "two" : "one");
        snprintf(name, sizeof(name), "%d.NPY", i);
        mshi_test_tar_add(&tar, name, npy, size);
        snprintf(name, sizeof(name), "%d.cls", i);
        add(name, i == 1 ? "ant" : "cat");
        snprintf(name, sizeof(name), "%d.%s", i, i ? "jpg" : "PNG");
        add(name, "picture");
        snprintf(name, sizeof(name), "%d.seg.bin", i);
        add(name, "\1\2\3");
    }
    add("2.stray", "x");
    struct mshi_source *s = open_tar();
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(s->field_count, 5);
    ck_assert_str_eq(s->fields[0].name, "image");
    ck_assert_str_eq(s->fields[1].name, "label");
    ck_assert_str_eq(s->fields[2].name, "npy");
    ck_assert_str_eq(s->fields[3].name, "seg_bin");
    ck_assert_str_eq(s->fields[4].name, "txt");
    ck_assert_int_eq(s->fields[2].kind, MSHI_PART_VALUES);
    ck_assert_int_eq(s->fields[2].dtype, MSHARD_UINT16);
    ck_assert_int_eq(s->fields[4].content, MSHARD_CONTENT_TEXT);
    ck_assert_str_eq(s->classes[1], "cat");
    ck_assert_int_eq(mshi_test_label(s, 0), 1);
    ck_assert_int_eq(s->ops->read(s, 1, &payload, NULL), MSHARD_OK);
    ck_assert_uint_eq(payload.size[2], 8);
    ck_assert_mem_eq(payload.data[2], values, 8);
    ck_assert_mem_eq(payload.data[4], "two", 3);
    ck_assert_uint_eq(s->ignored, 1);
    mshi_payload_clear(&payload);
    mshi_source_free(s);
}
END_TEST

START_TEST(a_sample_is_whole_or_named)
{
    add("a.jpg", "picture");
    add("a.cls", "0");
    add("b.jpg", "picture");
    add("c.jpg", "picture");
    add("c.cls", "2");
    add("d.jpg", "picture");
    add("d.cls", "\n");
    struct mshi_source *s = open_tar();
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(l.problem_count, 2);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "sample 'b' has no .cls member"));
    ck_assert_ptr_nonnull(strstr(l.problems[1], "sample 'd': its .cls member holds no label"));
    mshi_source_free(s);
}
END_TEST

START_TEST(doubles_are_told)
{
    add("a.jpg", "picture");
    add("a.cls", "0");
    add("b.jpg", "picture");
    add("b.cls", "0");
    mshi_test_tar_write(&tar, dir, "one.tar");
    add("a.jpg", "another");
    struct mshi_source *s = open_tar();
    ck_assert_uint_eq(s->count, 1);
    ck_assert_str_eq(mshi_test_key(s, 0), "b");
    ck_assert_uint_eq(l.problem_count, 1);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "duplicate member 'a.jpg'"));
    mshi_source_free(s);
    tar.size = 0;
    add("b.jpg", "picture");
    add("b.cls", "1");
    s = mshi_test_open(&l, mshi_test_path(dir, "one.tar"), mshi_test_tar_write(&tar, dir, "two.tar"), NULL);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_int_eq(mshi_test_label(s, 1), 0);
    ck_assert_uint_eq(l.problem_count, 1);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "key 'b' is there already in "));
    mshi_source_free(s);
}
END_TEST

START_TEST(members_may_lie_apart_in_packed_archives)
{
    struct mshi_payload payload = {.buffer = NULL};

    add("a.jpg", "picture a");
    add("b.jpg", "picture b");
    add("a.txt", "text a");
    add("b.txt", "text b");
    mshi_test_tar_write(&tar, dir, "a.tar");
    const char *gz = mshi_test_write(dir, "a.tgz", packed, mshi_test_gzip(tar.data, tar.size + 1024, packed));
    struct mshi_source *s = mshi_test_open(&l, gz, NULL);
    ck_assert(s->random_access); /* through a spool */
    ck_assert_uint_eq(s->count, 2);
    ck_assert_int_eq(s->ops->read(s, 1, &payload, NULL), MSHARD_OK);
    ck_assert_mem_eq(payload.data[0], "picture b", 9);
    ck_assert_mem_eq(payload.data[1], "text b", 6);
    mshi_payload_clear(&payload);
    mshi_source_free(s);
}
END_TEST

START_TEST(read_in_order_and_again)
{
    struct mshi_payload payload = {.buffer = NULL};

    for (int i = 0; i < 5; i++) {
        char name[32], text[32];

        snprintf(name, sizeof(name), "%d.txt", i);
        snprintf(text, sizeof(text), "text %d", i);
        add(name, text);
        snprintf(name, sizeof(name), "%d.jpg", i);
        add(name, "picture");
    }
    mshi_test_tar_write(&tar, dir, "a.tar");
    const char *gz = mshi_test_write(dir, "a.tgz", packed, mshi_test_gzip(tar.data, tar.size + 1024, packed));
    struct mshi_source *s = mshi_test_open(&l, gz, NULL);
    ck_assert(!s->random_access);
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < 5; i += 1 + (uint64_t)pass) {
            ck_assert_int_eq(s->ops->read(s, i, &payload, NULL), MSHARD_OK);
            ck_assert_int_eq(((const char *)payload.data[1])[5], '0' + (int)i);
        }
    mshi_payload_clear(&payload);
    mshi_source_free(s);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("source_webdataset");
    TCase *c = tcase_create("samples");

    tcase_add_checked_fixture(c, start, NULL);
    tcase_add_test(c, keys_end_at_the_first_dot_of_the_file_name);
    tcase_add_test(c, fields_by_extension);
    tcase_add_test(c, a_sample_is_whole_or_named);
    tcase_add_test(c, doubles_are_told);
    tcase_add_test(c, members_may_lie_apart_in_packed_archives);
    tcase_add_test(c, read_in_order_and_again);
    suite_add_tcase(suite, c);
    return suite;
}
