/*
 * test_inspect.c - spans cover any file once and in order, problems stand where they are, and it always ends
 */
#include "format/layout.h"
#include "support/main.h"
#include "support/sample_set.h"

#include <stdlib.h>
#include <string.h>

static mshard_error err;

struct cover {
    uint64_t at, header_end, problems, spans, wrong;
    char bad[64]; /* name of the first span with a problem */
    char last[64];
    mshard_shard_summary summary;
    int done;
};

/* Counts what is wrong: an assertion a span would take most of the time of this test. */
static void see(void *context, const mshard_span *span)
{
    struct cover *c = context;

    c->wrong += span->offset != c->at || span->name == NULL || span->type == NULL;
    c->at += span->size;
    if (span->in_header) {
        c->wrong += c->header_end != span->offset;
        c->header_end = c->at;
    }
    if (span->problem != NULL) {
        c->wrong += span->problem[0] == '\0';
        if (c->problems++ == 0)
            strncat(c->bad, span->name, sizeof(c->bad) - 1);
    }
    c->last[0] = '\0';
    strncat(c->last, span->name, sizeof(c->last) - 1);
    c->wrong += c->spans++ >= 3000;
}

static void finish(void *context, const mshard_shard_summary *summary)
{
    struct cover *c = context;

    c->summary = *summary;
    c->done++;
}

static mshard_status walk(const char *path, uint64_t size, struct cover *c)
{
    memset(c, 0, sizeof(*c));
    memset(&err, 0, sizeof(err));
    const mshard_status status = mshard_inspect_shard(path, see, finish, c, &err);
    ck_assert_int_eq(c->done, 1);
    ck_assert_uint_eq(c->wrong, 0);
    ck_assert_uint_eq(c->at, size);
    ck_assert_uint_eq(c->summary.file_size, size);
    ck_assert_uint_eq(c->summary.problems, c->problems);
    ck_assert_msg((status == MSHARD_OK) == (c->problems == 0) || size == 0, "%d %llu", status,
                  (unsigned long long)c->problems);
    ck_assert_int_eq(err.code, status);
    return status;
}

static unsigned char *make(const char *dir, size_t *size)
{
    mshi_set_make(dir, 9, 9);
    return mshi_set_read(mshi_test_path(dir, "shard-000000.mshard"), size);
}

START_TEST(test_good)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");
    struct cover c;
    size_t size;

    free(make(dir, &size));
    ck_assert_int_eq(walk(mshi_test_path(dir, "shard-000000.mshard"), size, &c), MSHARD_OK);
    ck_assert_uint_eq(c.header_end, 4096);
    ck_assert_str_eq(c.last, "sums");
    ck_assert_uint_eq(c.summary.records, 9);
    ck_assert_uint_eq(c.summary.field_count, SET_FIELDS);
    ck_assert_uint_eq(c.summary.stated_size, size);
    ck_assert_uint_eq(c.summary.column_offset[SET_IMAGE] % 4096, 0);
    ck_assert_uint_gt(c.summary.column_offset[SET_IMAGE], 0);
    ck_assert_uint_eq(c.summary.column_offset[SET_TEXT], 0);
    ck_assert_int_eq(mshard_inspect_shard(mshi_test_path(dir, "shard-000000.mshard"), NULL, NULL, NULL, NULL),
                     MSHARD_OK);
    ck_assert_int_eq(mshard_inspect_shard(mshi_test_path(dir, "nothing"), see, finish, &c, &err), MSHARD_E_NOT_FOUND);
    ck_assert_int_eq(mshard_inspect_shard(dir, see, finish, &c, &err), MSHARD_E_FORMAT);
}
END_TEST

START_TEST(test_cut_anywhere)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *copy = mshi_test_path(dir, "copy");
    struct cover c;
    size_t size;
    unsigned char *data = make(dir, &size);

    for (size_t cut = 0; cut < size; cut += cut < 600 ? 1 : cut < 1700 ? 7 : 611) {
        mshi_set_write(copy, data, cut);
        ck_assert_int_eq(walk(copy, cut, &c), MSHARD_E_TRUNCATED);
    }
    mshi_set_write(copy, data, 4096); /* the header is whole: its fields are still told */
    walk(copy, 4096, &c);
    ck_assert_uint_eq(c.summary.field_count, SET_FIELDS);
    ck_assert_uint_eq(c.summary.records, 9);
    free(data);
}
END_TEST

START_TEST(test_every_bit)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *path = mshi_test_path(dir, "shard-000000.mshard");
    struct cover c;
    size_t size;

    free(make(dir, &size));
    for (size_t at = 0; at < 4096; at += at < 300 ? 1 : at < 1800 ? 3 : 61) {
        const unsigned char with = (unsigned char)(1u << at % 8);

        mshi_set_flip(path, at, with);
        ck_assert_msg(walk(path, size, &c) < 0, "byte %zu", at);
        mshi_set_flip(path, at, with);
    }
    mshi_set_flip(path, 52, 1);
    ck_assert_int_eq(walk(path, size, &c), MSHARD_E_CORRUPT);
    ck_assert_str_eq(c.bad, "header.block_size"); /* in file order; the sum's problem comes after it */
    ck_assert_uint_eq(c.problems, 2);
    mshi_set_flip(path, 52, 1);
    mshi_set_flip(path, 128, 0x80); /* name of the first field */
    ck_assert_int_eq(walk(path, size, &c), MSHARD_E_CORRUPT);
    ck_assert_uint_eq(c.summary.field_count, 0);
}
END_TEST

START_TEST(test_foreign)
{
    const char *copy = mshi_test_path(mshi_test_dir(), "copy");
    static unsigned char data[70000];
    struct cover c;
    uint64_t seed = 5;

    for (size_t size = 0; size <= sizeof(data); size += size < 200 ? 1 : 6977) {
        mshi_set_write(copy, data, size);
        ck_assert_int_eq(walk(copy, size, &c), size == 0 ? MSHARD_E_TRUNCATED : MSHARD_E_FORMAT);
    }
    for (size_t i = 0; i < sizeof(data); i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1;
        data[i] = (unsigned char)(seed >> 57);
    }
    mshi_set_write(copy, data, sizeof(data));
    ck_assert_int_eq(walk(copy, sizeof(data), &c), MSHARD_E_FORMAT);
}
END_TEST

/* Random damage of a header, huge numbers among it: always ends, always covers the file. */
START_TEST(test_hostile)
{
    static const uint64_t values[] = {
        0, 1, 64, 255, 4096, 65536, UINT32_MAX, UINT64_C(1) << 40, UINT64_C(1) << 63, UINT64_MAX};
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *copy = mshi_test_path(dir, "copy");
    unsigned char *bad;
    struct cover c;
    uint64_t seed = 11;
    size_t size;
    unsigned char *data = make(dir, &size);

    bad = malloc(size);
    for (int round = 0; round < 600; round++) {
        memcpy(bad, data, size);
        for (int k = 0; k < 1 + round % 5; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            memcpy(bad + 8 + (seed >> 33) % 1800, &values[(seed >> 20) % 10], (size_t)1 << (seed >> 60) % 4);
        }
        if (round % 7 == 0)
            memset(bad, 0, 8); /* not sealed: the rest is still told */
        mshi_set_write(copy, bad, round % 3 == 0 ? size / 2 : size);
        walk(copy, round % 3 == 0 ? size / 2 : size, &c);
    }
    free(bad);
    free(data);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("inspect");
    TCase *t = tcase_create("inspect");

    tcase_add_test(t, test_good);
    tcase_add_test(t, test_cut_anywhere);
    tcase_add_test(t, test_every_bit);
    tcase_add_test(t, test_foreign);
    tcase_add_test(t, test_hostile);
    tcase_set_timeout(t, 120);
    suite_add_tcase(suite, t);
    return suite;
}
