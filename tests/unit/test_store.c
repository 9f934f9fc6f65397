/*
 * test_store.c - open, refuse, view: every value of every sort, checks on touch, threads, fork, few descriptors
 */
#include "base/hash.h"
#include "format/header.h"
#include "os/thread.h"
#include "support/main.h"
#include "support/sample_set.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static mshard_error err;

#define OK(call) ck_assert_msg((call) == MSHARD_OK, "%s: %s %s", #call, err.path, err.message)

static mshard_store *open_store(const char *path, mshard_check check)
{
    const mshard_store_options options = {MSHARD_STORE_OPTIONS_INIT, .check = check};
    mshard_store *store;

    OK(mshard_store_open(path, &options, &store, &err));
    return store;
}

static void check_record(const mshard_store *store, uint64_t shown, uint64_t record, uint32_t fields)
{
    static const uint32_t alignment[SET_FIELDS] = {1, 8, 2, 1, 1, 4, 1};
    unsigned char expected[4096];

    for (uint32_t f = 0; f < fields; f++) {
        const size_t size = mshi_set_value(record, f, expected);
        mshard_view view;

        OK(mshard_store_record(store, shown, f, &view, &err));
        ck_assert_uint_eq(view.size, size);
        ck_assert_mem_eq(view.data, expected, size);
        ck_assert_uint_eq((uintptr_t)view.data % alignment[f], 0);
    }
}

/* All checks give the same values. */
START_TEST(test_values)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");

    mshi_set_make(dir, 50, 7);
    for (mshard_check check = MSHARD_CHECK_NONE; check <= MSHARD_CHECK_ALL; check++) {
        mshard_store *store = open_store(dir, check);
        uint64_t shape[MSHARD_MAX_DIMS], shard, index, record;
        mshard_view view;

        ck_assert_uint_eq(mshard_store_count(store), 50);
        ck_assert_uint_eq(mshard_store_shard_count(store), 8);
        ck_assert_uint_eq(mshard_store_field_count(store), SET_FIELDS);
        for (uint64_t r = 0; r < 50; r++) {
            check_record(store, r, r, SET_FIELDS);
            OK(mshard_store_shape(store, r, SET_BOXES, shape, &err));
            ck_assert_uint_eq(shape[0], r % 4);
            ck_assert_uint_eq(shape[1], 4);
            OK(mshard_store_shape(store, r, SET_TEXT, shape, &err));
            ck_assert_uint_eq(shape[0], r * 37 % 101);
            OK(mshard_store_shape(store, r, SET_IMAGE, shape, &err));
            ck_assert(shape[0] == 4 && shape[1] == 5 && shape[2] == 3);
            OK(mshard_store_locate(store, r, &shard, &index, &err));
            ck_assert(shard == r / 7 && index == r % 7);
            ck_assert_uint_eq(mshard_store_run(store, r), (r / 7 == 7 ? 50 : (r / 7 + 1) * 7) - r);
            OK(mshard_store_key(store, r, &view, &err));
            OK(mshard_store_find_key(store, view.data, view.size, &record, &err));
            ck_assert_uint_eq(record, r);
        }
        ck_assert_int_eq(mshard_store_find_key(store, "nope", 4, &record, &err), MSHARD_E_NOT_FOUND);
        ck_assert_int_eq(mshard_store_record(store, 50, 0, &view, &err), MSHARD_E_RANGE);
        ck_assert_int_eq(mshard_store_record(store, UINT64_MAX, 0, &view, &err), MSHARD_E_RANGE);
        ck_assert_int_eq(mshard_store_record(store, 0, SET_FIELDS, &view, &err), MSHARD_E_INVALID);
        ck_assert_uint_eq(mshard_store_run(store, 50), 0);
        mshard_store_unref(store);
    }
}
END_TEST

START_TEST(test_columns_and_batches)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");
    const uint64_t records[] = {3, 3, 49, 0, 50, 1};
    unsigned char expected[4096];
    mshard_view view, views[6];
    size_t failed;
    uint64_t offset;

    mshi_set_make(dir, 50, 20);
    mshard_store *store = open_store(dir, MSHARD_CHECK_TOUCH);
    OK(mshard_store_column(store, 20, 20, SET_IMAGE, &view, &err));
    ck_assert_uint_eq(view.size, 20 * 60);
    for (uint64_t r = 0; r < 20; r++) {
        mshi_set_value(20 + r, SET_IMAGE, expected);
        ck_assert_mem_eq((const char *)view.data + 60 * r, expected, 60);
    }
    ck_assert_int_eq(mshard_store_column(store, 20, 21, SET_IMAGE, &view, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(mshard_store_column(store, 40, 11, SET_IMAGE, &view, &err), MSHARD_E_RANGE);
    ck_assert_int_eq(mshard_store_column(store, 1, UINT64_MAX, SET_IMAGE, &view, &err), MSHARD_E_RANGE);
    ck_assert_int_eq(mshard_store_column(store, 0, 1, SET_TEXT, &view, &err), MSHARD_E_INVALID);
    OK(mshard_store_column(store, 50, 0, SET_IMAGE, &view, &err));
    ck_assert_uint_eq(view.size, 0);
    ck_assert_int_eq(mshard_store_batch(store, records, 6, SET_TEXT, views, &failed, &err), MSHARD_E_RANGE);
    ck_assert_uint_eq(failed, 4);
    ck_assert_uint_eq(views[2].size, mshi_set_value(49, SET_TEXT, expected));
    OK(mshard_store_batch(store, records, 4, SET_LABEL, views, NULL, &err));
    ck_assert_ptr_eq(views[0].data, views[1].data);

    OK(mshard_store_column_offset(store, 1, SET_HALF, &offset, &err));
    ck_assert_uint_eq(offset % 4096, 0);
    size_t size;
    unsigned char *file = mshi_set_read(mshi_test_path(dir, "shard-000001.mshard"), &size);
    mshi_set_value(20, SET_HALF, expected);
    ck_assert_mem_eq(file + offset, expected, 14);
    free(file);
    ck_assert_int_eq(mshard_store_column_offset(store, 1, SET_TEXT, &offset, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(mshard_store_column_offset(store, 3, 0, &offset, &err), MSHARD_E_RANGE);
    mshard_store_unref(store);
}
END_TEST

START_TEST(test_info)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");
    mshard_shard_info info;
    uint32_t f;

    mshi_set_make(dir, 10, 4);
    mshard_store *store = open_store(mshi_test_path(dir, "dataset.json"), MSHARD_CHECK_DEFAULT);
    ck_assert_uint_eq(strlen(mshard_store_id(store)), 32);
    ck_assert_uint_eq(mshard_store_generation(store), 1);
    ck_assert_uint_eq(mshard_store_class_count(store, SET_LABEL), 3);
    ck_assert_str_eq(mshard_store_class_name(store, SET_LABEL, 1), "bee");
    ck_assert_ptr_null(mshard_store_class_name(store, SET_LABEL, 3));
    ck_assert_uint_eq(mshard_store_class_count(store, SET_IMAGE), 0);
    ck_assert_uint_eq(mshard_store_stats(store, SET_LABEL)->counts[0], 4);
    OK(mshard_store_find_field(store, "boxes", &f, &err));
    ck_assert_uint_eq(f, SET_BOXES);
    ck_assert_int_eq(mshard_store_find_field(store, "pixels", &f, &err), MSHARD_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "image, label"));
    mshard_store_shard(store, 2, &info);
    ck_assert_str_eq(info.name, "shard-000002.mshard");
    ck_assert(info.first_record == 8 && info.records == 2);
    ck_assert(mshard_store_has_keys(store));
    mshard_store *same = mshard_store_ref(store);
    mshard_store_unref(store);
    check_record(same, 9, 9, SET_FIELDS);
    mshard_store_unref(same);
    mshard_store_unref(NULL);
}
END_TEST

static void expect_open(const char *path, mshard_status status, const char *words)
{
    mshard_store *store = NULL;
    const mshard_status found = mshard_store_open(path, NULL, &store, &err);

    ck_assert_msg(found == status, "%s: expected %d, found %d %s", path, status, found, err.message);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s: %s", words, err.message);
    ck_assert_ptr_null(store);
}

/* What is no data set is refused by name. */
START_TEST(test_refused)
{
    const char *root = mshi_test_dir(), *dir = mshi_test_path(root, "set"), *json = mshi_test_path(dir, "dataset.json");
    const char *other = mshi_test_path(root, "other");
    size_t size;

    mshi_set_make(dir, 5, 5);
    expect_open(mshi_test_path(root, "nothing"), MSHARD_E_NOT_FOUND, "");
    expect_open(mshi_test_path(dir, "shard-000000.mshard"), MSHARD_E_FORMAT, "mshard_store_open_single");
    expect_open(mshi_test_path(dir, "keys.mdb"), MSHARD_E_FORMAT, "another file");
    ck_assert_int_eq(mkdir(other, 0777), 0);
    expect_open(other, MSHARD_E_FORMAT, "empty");
    mshi_set_write(mshi_test_path(other, "a.jpg"), "x", 1);
    expect_open(other, MSHARD_E_FORMAT, "no dataset.json");
    ck_assert_int_eq(mkdir(mshi_test_path(other, ".mshard-pack"), 0777), 0);
    expect_open(other, MSHARD_E_INCOMPLETE, "run the same mshard pack command again");
    ck_assert_int_eq(mkfifo(mshi_test_path(root, "pipe"), 0666), 0);
    expect_open(mshi_test_path(root, "pipe"), MSHARD_E_FORMAT, "pipe");
    expect_open("", MSHARD_E_NOT_FOUND, "");

    unsigned char *text = mshi_set_read(json, &size);
    ck_assert_int_eq(unlink(json), 0);
    expect_open(dir, MSHARD_E_INCOMPLETE, "1 shard");
    expect_open(json, MSHARD_E_NOT_FOUND, "");
    mshi_set_write(json, text, 0);
    expect_open(dir, MSHARD_E_CORRUPT, "empty");
    mshi_set_write(json, text, size - 1);
    expect_open(dir, MSHARD_E_CORRUPT, "");
    free(text);
}
END_TEST

START_TEST(test_options)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");
    struct {
        mshard_store_options known;
        uint64_t later;
    } longer = {{.struct_size = sizeof(longer)}, 0};
    mshard_store_options empty = {.struct_size = 0}, wrong = {MSHARD_STORE_OPTIONS_INIT, .check = (mshard_check)9};
    mshard_store *store;

    mshi_set_make(dir, 5, 5);
    OK(mshard_store_open(dir, &longer.known, &store, &err));
    mshard_store_unref(store);
    longer.later = 1;
    ck_assert_int_eq(mshard_store_open(dir, &longer.known, &store, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(mshard_store_open(dir, &empty, &store, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(mshard_store_open(dir, &wrong, &store, NULL), MSHARD_E_INVALID);
}
END_TEST

/* Shards that are not what dataset.json says are refused at their first use, the others still read. */
START_TEST(test_bad_shards)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");
    const char *a = mshi_test_path(dir, "shard-000000.mshard"), *b = mshi_test_path(dir, "shard-000001.mshard");
    const char *c = mshi_test_path(dir, "shard-000002.mshard"), *spare = mshi_test_path(dir, "spare");
    mshard_view view;
    size_t size;

    mshi_set_make(dir, 20, 5);
    mshard_store *store = open_store(dir, MSHARD_CHECK_OPEN);
    ck_assert_int_eq(rename(a, spare), 0);
    ck_assert_int_eq(mshard_store_record(store, 0, 0, &view, &err), MSHARD_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.path, "shard-000000.mshard"));
    ck_assert_int_eq(rename(spare, a), 0);
    check_record(store, 0, 0, SET_FIELDS); /* it is back: no verdict is kept */

    unsigned char *data = mshi_set_read(b, &size);
    ck_assert_int_eq(truncate(b, (off_t)size - 1), 0);
    ck_assert_int_eq(mshard_store_record(store, 5, 0, &view, &err), MSHARD_E_TRUNCATED);
    ck_assert_int_eq(truncate(b, 0), 0);
    ck_assert_int_eq(mshard_store_record(store, 5, 0, &view, &err), MSHARD_E_TRUNCATED);
    mshi_set_write(b, data, size);
    mshi_set_flip(b, 41, 1); /* records */
    ck_assert_int_eq(mshard_store_record(store, 5, 0, &view, &err), MSHARD_E_CORRUPT);
    mshi_set_flip(b, 41, 1);
    free(data);

    data = mshi_set_read(c, &size);
    unsigned char *other = mshi_set_read(b, &size);
    mshi_set_write(c, other, size); /* the shard of another place */
    ck_assert_int_eq(mshard_store_record(store, 10, 0, &view, &err), MSHARD_E_CORRUPT);
    ck_assert_msg(strstr(err.message, "another") != NULL, "%s", err.message);
    mshi_set_write(c, data, size);
    OK(mshard_store_open_shard(store, 2, &err));
    OK(mshard_store_open_shard(store, 2, &err));
    ck_assert_int_eq(mshard_store_open_shard(store, 4, &err), MSHARD_E_RANGE);
    free(data);
    free(other);
    check_record(store, 19, 19, SET_FIELDS);
    mshard_store_unref(store);
}
END_TEST

/* The data set is replaced under an open store: said so, not called damage alone. */
START_TEST(test_replaced)
{
    const char *root = mshi_test_dir(), *dir = mshi_test_path(root, "set"), *fresh = mshi_test_path(root, "fresh");
    mshard_view view;

    mshi_set_make(dir, 20, 10);
    mshi_set_make(fresh, 22, 11);
    mshard_store *store = open_store(dir, MSHARD_CHECK_OPEN);
    check_record(store, 3, 3, SET_FIELDS);
    ck_assert_int_eq(rename(dir, mshi_test_path(root, "old")), 0);
    ck_assert_int_eq(rename(fresh, dir), 0);
    check_record(store, 4, 4, SET_FIELDS); /* mapped already: the old generation */
    ck_assert_int_lt(mshard_store_record(store, 15, 0, &view, &err), 0);
    ck_assert_msg(strstr(err.message, "open it again") != NULL, "%s", err.message);
    mshard_store_unref(store);
}
END_TEST

/* TOUCH finds a flipped byte each time the block is touched, and only there; ALL refuses the shard. */
START_TEST(test_touch)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *shard = mshi_test_path(dir, "shard-000000.mshard");
    uint64_t offset, block, shape[MSHARD_MAX_DIMS];
    mshard_view view;
    char words[32];

    mshi_set_make(dir, 3000, 3000); /* images: 180,000 bytes, three blocks */
    mshard_store *store = open_store(dir, MSHARD_CHECK_OPEN);
    OK(mshard_store_column_offset(store, 0, SET_IMAGE, &offset, &err));
    mshard_store_unref(store);
    block = (offset + 60 * 1500 - 4096) / 65536; /* neither the first nor the last of the images */
    mshi_set_flip(shard, offset + 60 * 1500, 4);
    snprintf(words, sizeof(words), "block %d ", (int)block);

    store = open_store(dir, MSHARD_CHECK_TOUCH);
    check_record(store, 0, 0, SET_FIELDS);
    check_record(store, 2999, 2999, SET_FIELDS);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(mshard_store_record(store, 1500, SET_IMAGE, &view, &err), MSHARD_E_CORRUPT);
        ck_assert_uint_eq(err.offset, 4096 + 65536 * block);
        ck_assert_ptr_nonnull(strstr(err.message, words));
        ck_assert_int_eq(mshard_store_column(store, 0, 3000, SET_IMAGE, &view, &err), MSHARD_E_CORRUPT);
    }
    OK(mshard_store_shape(store, 1500, SET_BOXES, shape, &err));
    mshard_store_unref(store);

    store = open_store(dir, MSHARD_CHECK_ALL);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(mshard_store_record(store, 0, SET_IMAGE, &view, &err), MSHARD_E_CORRUPT);
    ck_assert_uint_eq(err.offset, 4096 + 65536 * block);
    mshard_store_unref(store);

    store = open_store(dir, MSHARD_CHECK_NONE);
    OK(mshard_store_record(store, 1500, SET_IMAGE, &view, &err));
    mshard_store_unref(store);
}
END_TEST

/* The sums themselves are damaged: found when sums are used. */
START_TEST(test_bad_sums)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *shard = mshi_test_path(dir, "shard-000000.mshard");
    mshard_view view;
    size_t size;

    mshi_set_make(dir, 5, 5);
    free(mshi_set_read(shard, &size));
    mshi_set_flip(shard, size - 1, 1);
    mshard_store *store = open_store(dir, MSHARD_CHECK_OPEN);
    check_record(store, 0, 0, SET_FIELDS);
    mshard_store_unref(store);
    store = open_store(dir, MSHARD_CHECK_TOUCH);
    ck_assert_int_eq(mshard_store_record(store, 0, 0, &view, &err), MSHARD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "sums"));
    mshard_store_unref(store);
}
END_TEST

/* Ends and dims are never trusted, whatever the check. */
START_TEST(test_hostile_index)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *shard = mshi_test_path(dir, "shard-000000.mshard");
    struct mshi_header *h = malloc(sizeof(*h));
    unsigned char *good;
    uint64_t shape[MSHARD_MAX_DIMS], seed = 7;
    size_t size;

    mshi_set_make(dir, 9, 9);
    good = mshi_set_read(shard, &size);
    ck_assert_int_eq(mshi_header_parse(good, size, size, shard, true, h, &err), MSHARD_OK);
    for (int round = 0; round < 300; round++) {
        const uint32_t field = round % 2 ? SET_TEXT : SET_BOXES;
        const struct mshi_section *s =
            mshi_header_section(h, field, field == SET_BOXES && round % 3 == 0 ? MSHI_SECTION_DIMS : MSHI_SECTION_ENDS);
        static const uint64_t values[] = {0, 1, 3, UINT64_MAX, UINT64_C(1) << 63, 1u << 20, UINT32_MAX};
        const size_t width = s->kind == MSHI_SECTION_DIMS ? 4 : 8;
        unsigned char *bad = malloc(size);
        mshard_store *store;

        seed = seed * UINT64_C(6364136223846793005) + 1;
        memcpy(bad, good, size);
        memcpy(bad + s->offset + (seed >> 40) % (s->size / width) * width, &values[(seed >> 33) % 7], width);
        mshi_set_write(shard, bad, size);
        store = open_store(dir, round % 5 ? MSHARD_CHECK_NONE : MSHARD_CHECK_OPEN);
        for (uint64_t r = 0; r < 9; r++) {
            mshard_view view;
            const mshard_status status = mshard_store_record(store, r, field, &view, &err);
            volatile unsigned char sink = 0;

            ck_assert(status == MSHARD_OK || status == MSHARD_E_CORRUPT);
            for (size_t i = 0; status == MSHARD_OK && i < view.size; i++)
                sink ^= ((const unsigned char *)view.data)[i];
            (void)sink;
            ck_assert_int_eq(mshard_store_shape(store, r, field, shape, &err), status);
        }
        mshard_store_unref(store);
        free(bad);
    }
    free(good);
    free(h);
}
END_TEST

/* A shard alone, at every length and with every header byte changed: an error, or the same values. */
START_TEST(test_single)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *shard = mshi_test_path(dir, "shard-000001.mshard");
    const char *copy = mshi_test_path(dir, "copy.mshard");
    mshard_store *store;
    uint64_t record;
    size_t size;

    mshi_set_make(dir, 10, 5);
    OK(mshard_store_open_single(shard, NULL, &store, &err));
    ck_assert_uint_eq(mshard_store_count(store), 5);
    ck_assert_str_eq(mshard_store_id(store) + 16, "0000000000000000");
    for (uint64_t r = 0; r < 5; r++)
        check_record(store, r, 5 + r, SET_FIELDS);
    ck_assert_int_eq(mshard_store_find_key(store, "key-000005", 10, &record, &err), MSHARD_E_NOT_FOUND);
    ck_assert_uint_eq(mshard_store_class_count(store, SET_LABEL), 0);
    ck_assert_ptr_null(mshard_store_stats(store, SET_LABEL));
    ck_assert_str_eq(mshard_store_manifest(store, NULL), "");
    mshard_store_unref(store);

    unsigned char *data = mshi_set_read(shard, &size);
    for (size_t cut = 0; cut < size; cut += cut < 64 || cut > size - 64 ? 1 : 211) {
        mshi_set_write(copy, data, cut);
        ck_assert_int_eq(mshard_store_open_single(copy, NULL, &store, &err), MSHARD_E_TRUNCATED);
    }
    mshi_set_write(copy, data, size);
    for (size_t at = 0; at < 4096; at += at < 1600 ? 1 : 41) {
        mshi_set_flip(copy, at, 0x10);
        ck_assert_msg(mshard_store_open_single(copy, NULL, &store, &err) < 0, "byte %zu", at);
        ck_assert_ptr_null(store);
        mshi_set_flip(copy, at, 0x10);
    }
    OK(mshard_store_open_single(copy, NULL, &store, &err));
    mshard_store_unref(store);
    free(data);
}
END_TEST

static size_t open_descriptors(void)
{
    size_t n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Shards of any number of records, many of them, hardly any descriptor. */
START_TEST(test_many_shards)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");
    const size_t before = open_descriptors();
    struct rlimit few, usual;

    mshi_set_make(dir, 600, 1);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
    few = (struct rlimit){.rlim_cur = 64, .rlim_max = usual.rlim_max}; /* valgrind keeps the hard limit to itself */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    mshard_store *store = open_store(dir, MSHARD_CHECK_OPEN);
    for (uint64_t r = 0; r < 600; r++)
        check_record(store, r * 7 % 600, r * 7 % 600, SET_FIELDS);
    ck_assert_uint_eq(open_descriptors(), before);
    mshard_store_unref(store);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
}
END_TEST

struct reader {
    const mshard_store *store;
    uint64_t seed, failures;
};

static void *read_all(void *argument)
{
    struct reader *reader = argument;
    unsigned char expected[4096];

    for (uint64_t i = 0; i < 400; i++) {
        const uint64_t r = (i * 37 + reader->seed * 101) % 400;

        for (uint32_t f = 0; f < SET_FIELDS; f++) {
            const size_t size = mshi_set_value(r, f, expected);
            mshard_view view;

            if (mshard_store_record(reader->store, r, f, &view, NULL) != MSHARD_OK || view.size != size ||
                memcmp(view.data, expected, size) != 0)
                reader->failures++;
        }
    }
    return NULL;
}

START_TEST(test_threads)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");

    mshi_set_make(dir, 400, 13);
    for (mshard_check check = MSHARD_CHECK_OPEN; check <= MSHARD_CHECK_ALL; check++) {
        mshard_store *store = open_store(dir, check);
        struct reader readers[6];
        mshi_thread threads[6];

        for (unsigned t = 0; t < 6; t++) {
            readers[t] = (struct reader){store, t, 0};
            OK(mshi_thread_start(&threads[t], read_all, &readers[t], "reader", &err));
        }
        for (unsigned t = 0; t < 6; t++) {
            mshi_thread_join(threads[t]);
            ck_assert_uint_eq(readers[t].failures, 0);
        }
        mshard_store_unref(store);
    }
}
END_TEST

/* Opened before fork, used on both sides; also from another current folder. */
START_TEST(test_fork_and_chdir)
{
    const char *root = mshi_test_dir();
    int status;

    ck_assert_int_eq(chdir(root), 0);
    mshi_set_make("set", 40, 10);
    mshard_store *store = open_store("set", MSHARD_CHECK_TOUCH);
    ck_assert_str_eq(mshard_store_path(store), "set");
    check_record(store, 0, 0, SET_FIELDS);
    ck_assert_int_eq(chdir("/"), 0);
    const pid_t child = fork();
    if (child == 0) {
        uint64_t record = 99;

        for (uint64_t r = 0; r < 40; r++)
            check_record(store, r, r, SET_FIELDS);
        _exit(mshard_store_find_key(store, "key-000033", 10, &record, NULL) == MSHARD_OK && record == 33 ? 0 : 1);
    }
    check_record(store, 39, 39, SET_FIELDS);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    mshard_store_unref(store);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("store");
    TCase *t = tcase_create("store");

    tcase_add_test(t, test_values);
    tcase_add_test(t, test_columns_and_batches);
    tcase_add_test(t, test_info);
    tcase_add_test(t, test_refused);
    tcase_add_test(t, test_options);
    tcase_add_test(t, test_bad_shards);
    tcase_add_test(t, test_replaced);
    tcase_add_test(t, test_touch);
    tcase_add_test(t, test_bad_sums);
    tcase_add_test(t, test_hostile_index);
    tcase_add_test(t, test_single);
    tcase_add_test(t, test_many_shards);
    tcase_add_test(t, test_threads);
    tcase_add_test(t, test_fork_and_chdir);
    tcase_set_timeout(t, 120);
    suite_add_tcase(suite, t);
    return suite;
}
