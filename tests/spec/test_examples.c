/*
 * test_examples.c - worked examples of spec/ against what the library writes: the shard of shard.md, the index of
 * key-index.md, the numbers of order.md
 */
#include "base/rng.h"
#include "format/key_index.h"
#include "support/main.h"
#include "support/vectors.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the worked example: spec/shard.md, valid/pair.hex and the writer agree byte for byte ---- */
static void write_pair(const char *path)
{
    const mshard_field fields[2] = {
        {.name = "image", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {2, 2, 3}},
        {.name = "label", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL},
    };
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .no_sync = 1};
    mshard_writer *writer;
    mshard_error err;

    ck_assert_msg(mshard_writer_create(path, fields, 2, &options, &writer, &err) == MSHARD_OK, "%s", err.message);
    for (int64_t r = 0; r < 2; r++) {
        uint8_t image[12];
        const mshard_value values[2] = {{image, sizeof(image), NULL}, {&r, sizeof(r), NULL}};

        for (size_t i = 0; i < sizeof(image); i++)
            image[i] = (uint8_t)(12 * (size_t)r + i);
        ck_assert_msg(mshard_writer_write(writer, values, NULL, 0, &err) == MSHARD_OK, "%s", err.message);
    }
    ck_assert_msg(mshard_writer_commit(writer, &err) == MSHARD_OK, "%s", err.message);
    mshard_writer_unref(writer);
}

static void check_same(const char *what, const struct mshi_vector *v, const uint8_t *data, size_t size)
{
    ck_assert_uint_eq(v->count, 1);
    ck_assert_msg(v->files[0].size == size, "%s: %zu bytes, expected %zu", what, size, v->files[0].size);
    for (size_t i = 0; i < size; i++)
        ck_assert_msg(data[i] == v->files[0].data[i], "%s: byte %zx is %02x, expected %02x", what, i, data[i],
                      v->files[0].data[i]);
}

START_TEST(test_hex_example)
{
    struct mshi_vector example = {0}, pair = {0};
    const char *dir = mshi_test_path(mshi_test_dir(), "pair.msd");
    char *page = mshi_read_text(mshi_source_path("spec/shard.md"), NULL), *begin = strstr(page, "\n```hex\n"), *end;
    size_t size;

    ck_assert_ptr_nonnull(begin);
    begin += strlen("\n```hex\n");
    end = strstr(begin, "\n```");
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    mshi_vector_parse(&example, begin, ".");
    mshi_vector_load(&pair, mshi_source_path("spec/vectors/valid/pair.hex"));
    check_same("the example in spec/shard.md", &pair, example.files[0].data, example.files[0].size);
    write_pair(dir);
    char *written = mshi_read_text(mshi_test_path(dir, "shard-000000.mshard"), &size);
    check_same("the shard written", &example, (const uint8_t *)written, size);
    free(written);
    free(page);
    mshi_vector_free(&example);
    mshi_vector_free(&pair);
}
END_TEST

/* ---- spec/key-index.md: the recipe gives the bytes of the vector ---- */
START_TEST(test_key_index)
{
    struct mshi_vector vector = {0};
    mshi_json *expected = mshi_load_json(mshi_source_path("spec/vectors/valid/dataset-keys.json"));
    const char *path = mshi_test_path(mshi_test_dir(), "keys.mdb"), *key;
    const mshi_json *record;
    struct mshi_key keys[8];
    void *iterator = NULL;
    char hash[33];
    size_t n = 0, size;
    uint64_t file_size;
    mshard_error err;

    mshi_vector_load(&vector, mshi_source_path("spec/vectors/valid/dataset-keys.hex"));
    while (mshi_json_next(mshi_json_member(expected, "keys"), &iterator, &key, &record)) {
        ck_assert_uint_lt(n, 8);
        keys[n] = (struct mshi_key){.data = key, .size = strlen(key)};
        ck_assert(mshi_json_uint(record, &keys[n++].record));
    }
    ck_assert_msg(mshi_key_index_build(path, keys, n, false, &file_size, hash, &err) == MSHARD_OK, "%s", err.message);
    char *written = mshi_read_text(path, &size);
    for (size_t i = 0; i < vector.count; i++)
        if (strcmp(vector.files[i].name, "keys.mdb") == 0) {
            const struct mshi_vector only = {.files = {vector.files[i]}, .count = 1};

            check_same("keys.mdb", &only, (const uint8_t *)written, size);
        }
    free(written);
    mshi_json_free(expected);
    mshi_vector_free(&vector);
}
END_TEST

/* ---- spec/order.md ---- */
static uint64_t text_uint(const mshi_json *object, const char *name, int base)
{
    return strtoull(mshi_string_of(object, name), NULL, base);
}

START_TEST(test_order)
{
    mshi_json *root = mshi_load_json(mshi_source_path("spec/vectors/order.json"));
    const mshi_json *rows = mshi_json_member(root, "random"), *orders = mshi_json_member(root, "permutations");

    ck_assert_uint_gt(mshi_json_count(rows), 0);
    for (size_t i = 0; i < mshi_json_count(rows); i++) {
        const mshi_json *row = mshi_json_at(rows, i);

        ck_assert_uint_eq(mshi_random(text_uint(row, "seed", 10), text_uint(row, "epoch", 10),
                                      text_uint(row, "index", 10), text_uint(row, "stream", 10)),
                          text_uint(row, "random", 16));
    }
    ck_assert_uint_gt(mshi_json_count(orders), 0);
    for (size_t i = 0; i < mshi_json_count(orders); i++) {
        const mshi_json *order = mshi_json_at(orders, i), *first = mshi_json_member(order, "first");
        struct mshi_permutation p;
        uint64_t expected;

        mshi_permutation_init(&p, mshi_uint_of(order, "n"), mshi_uint_of(order, "seed"), mshi_uint_of(order, "epoch"));
        for (size_t k = 0; k < mshi_json_count(first); k++) {
            ck_assert(mshi_json_uint(mshi_json_at(first, k), &expected));
            ck_assert_uint_eq(mshi_permutation_at(&p, k), expected);
        }
        if (mshi_json_member(order, "last"))
            ck_assert_uint_eq(mshi_permutation_at(&p, mshi_uint_of(order, "n") - 1), mshi_uint_of(order, "last"));
    }
    mshi_json_free(root);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("examples");
    TCase *tests = tcase_create("examples");

    tcase_add_test(tests, test_hex_example);
    if (sysconf(_SC_PAGESIZE) == 4096) /* LMDB's page size is the system's */
        tcase_add_test(tests, test_key_index);
    tcase_add_test(tests, test_order);
    suite_add_tcase(suite, tests);
    return suite;
}
