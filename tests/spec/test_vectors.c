/*
 * test_vectors.c - spec/vectors/valid through the public API: each file reads, at every level of checking, and gives
 * the stated fields, values, keys and classes
 */
#include "base/half.h"
#include "base/hash.h"
#include "support/main.h"
#include "support/vectors.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char valid_names[128][80];
static int valid_count;

static void check_field(const mshard_field *field, const mshi_json *stated)
{
    const mshi_json *shape = mshi_json_member(stated, "shape"), *node;
    bool auxiliary = false;
    double scale = 0, offset = 0;

    ck_assert_str_eq(field->name, mshi_string_of(stated, "name"));
    ck_assert_str_eq(mshard_dtype_name(field->dtype), mshi_string_of(stated, "dtype"));
    ck_assert_str_eq(mshard_content_name(field->content), mshi_string_of(stated, "content"));
    ck_assert_uint_eq(field->ndim, mshi_json_count(shape));
    for (uint32_t d = 0; d < field->ndim; d++) {
        uint64_t dim = MSHARD_DIM_UNKNOWN;

        if (mshi_json_kind(mshi_json_at(shape, d)) != MSHI_JSON_NULL)
            ck_assert(mshi_json_uint(mshi_json_at(shape, d), &dim));
        ck_assert_uint_eq(field->shape[d], dim);
    }
    if ((node = mshi_json_member(stated, "auxiliary")) != NULL)
        ck_assert(mshi_json_bool(node, &auxiliary));
    ck_assert_uint_eq(field->flags & MSHARD_FIELD_AUX, auxiliary ? MSHARD_FIELD_AUX : 0);
    node = mshi_json_member(stated, "scale");
    ck_assert_uint_eq(field->flags & MSHARD_FIELD_SCALED, node ? MSHARD_FIELD_SCALED : 0);
    if (node) {
        ck_assert(mshi_json_double(node, &scale) && mshi_json_double(mshi_json_member(stated, "offset"), &offset));
        ck_assert(field->scale == scale && field->offset == offset);
    }
}

/* Element at p as a float, or as an integer with its sign; true: a float. */
static bool load_element(mshard_dtype dtype, const unsigned char *p, double *real, int64_t *whole)
{
    uint64_t bits = 0;
    float single;

    memcpy(&bits, p, mshard_dtype_size(dtype)); /* little-endian machines, as the library */
    *whole = (int64_t)bits;
    switch (dtype) {
    case MSHARD_INT8:
        *whole = (int8_t)bits;
        return false;
    case MSHARD_INT16:
        *whole = (int16_t)bits;
        return false;
    case MSHARD_INT32:
        *whole = (int32_t)bits;
        return false;
    case MSHARD_FLOAT16:
        *real = (double)mshi_half_to_float((uint16_t)bits);
        return true;
    case MSHARD_BFLOAT16:
        *real = (double)mshi_bfloat_to_float((uint16_t)bits);
        return true;
    case MSHARD_FLOAT32:
        memcpy(&single, p, sizeof(single));
        *real = (double)single;
        return true;
    case MSHARD_FLOAT64:
        memcpy(real, p, sizeof(*real));
        return true;
    default:
        return false;
    }
}

static bool same_element(mshard_dtype dtype, const unsigned char *p, const mshi_json *stated)
{
    const char *text = mshi_json_string(stated, NULL);
    double real = 0, expected = 0;
    int64_t whole = 0, number = 0;

    if (load_element(dtype, p, &real, &whole)) {
        if (!text)
            return mshi_json_double(stated, &expected) && real == expected && signbit(real) == signbit(expected);
        return strcmp(text, "nan") == 0 ? isnan(real) : isinf(real) && (*text == '-') == (real < 0);
    }
    if (text)
        return (uint64_t)whole == strtoull(text, NULL, 10);
    return mshi_json_int(stated, &number) && whole == number;
}

static void check_bytes(const mshard_field *field, mshard_view view, const mshi_json *stated)
{
    const unsigned char *data = view.data;
    const char *hex = mshi_string_of(stated, "bytes");
    const mshi_json *numbers = mshi_json_member(stated, "numbers");
    const size_t step = mshard_dtype_size(field->dtype);

    if (!hex) {
        char digest[33];

        ck_assert_uint_eq(view.size, mshi_uint_of(stated, "size"));
        mshi_hash128_hex(mshi_hash128(view.data, view.size), digest);
        ck_assert_str_eq(digest, mshi_string_of(stated, "xxh3_128"));
        return;
    }
    ck_assert_uint_eq(view.size * 2, strlen(hex));
    for (size_t i = 0; i < view.size; i++) {
        char byte[3];

        snprintf(byte, sizeof(byte), "%02x", data[i]);
        ck_assert_msg(strncmp(byte, hex + 2 * i, 2) == 0, "%s: byte %zu is %s, expected %.2s", field->name, i, byte,
                      hex + 2 * i);
    }
    ck_assert_uint_eq(view.size, step * mshi_json_count(numbers));
    ck_assert_uint_eq((uintptr_t)view.data % step, 0);
    for (size_t i = 0; i < mshi_json_count(numbers); i++)
        ck_assert_msg(same_element(field->dtype, data + i * step, mshi_json_at(numbers, i)), "%s: element %zu",
                      field->name, i);
}

static void check_record(const mshard_store *store, uint64_t record, const mshi_json *stated)
{
    for (uint32_t f = 0; f < mshard_store_field_count(store); f++) {
        const mshard_field *field = mshard_store_field(store, f);
        const mshi_json *value = mshi_json_member(stated, field->name), *dims = mshi_json_member(value, "shape");
        uint64_t shape[MSHARD_MAX_DIMS], dim;
        mshard_view view;
        mshard_error err;

        ck_assert_msg(mshard_store_record(store, record, f, &view, &err) == MSHARD_OK, "%s: %s", field->name,
                      err.message);
        check_bytes(field, view, value);
        ck_assert_int_eq(mshard_store_shape(store, record, f, shape, &err), MSHARD_OK);
        ck_assert_uint_eq(mshi_json_count(dims), field->ndim);
        for (uint32_t d = 0; d < field->ndim; d++) {
            ck_assert(mshi_json_uint(mshi_json_at(dims, d), &dim));
            ck_assert_uint_eq(shape[d], dim);
        }
    }
}

static void check_keys(const mshard_store *store, const mshi_json *keys)
{
    void *iterator = NULL;
    const char *key;
    const mshi_json *record;

    while (keys && mshi_json_next(keys, &iterator, &key, &record)) {
        uint64_t expected, found;
        mshard_view view;
        mshard_error err;

        ck_assert(mshi_json_uint(record, &expected));
        ck_assert_msg(mshard_store_find_key(store, key, strlen(key), &found, &err) == MSHARD_OK, "%s: %s", key,
                      err.message);
        ck_assert_uint_eq(found, expected);
        ck_assert_int_eq(mshard_store_key(store, found, &view, &err), MSHARD_OK);
        ck_assert(view.size == strlen(key) && memcmp(view.data, key, view.size) == 0);
    }
}

static void check_dataset(const mshard_store *store, const mshi_json *expected)
{
    const mshi_json *classes = mshi_json_member(expected, "classes"), *shards = mshi_json_member(expected, "shards");

    ck_assert_str_eq(mshard_store_id(store), mshi_string_of(expected, "id"));
    ck_assert_uint_eq(mshard_store_generation(store), mshi_uint_of(expected, "generation"));
    ck_assert_uint_eq(mshard_store_shard_count(store), mshi_json_count(shards));
    for (uint64_t i = 0; i < mshard_store_shard_count(store); i++) {
        mshard_shard_info info;
        uint64_t records;

        mshard_store_shard(store, i, &info);
        ck_assert(mshi_json_uint(mshi_json_at(shards, i), &records));
        ck_assert_uint_eq(info.records, records);
    }
    for (uint32_t f = 0; f < mshard_store_field_count(store); f++) {
        const mshi_json *names = mshi_json_member(classes, mshard_store_field(store, f)->name);

        ck_assert_uint_eq(mshard_store_class_count(store, f), mshi_json_count(names));
        for (size_t i = 0; names && i < mshi_json_count(names); i++)
            ck_assert_str_eq(mshard_store_class_name(store, f, i), mshi_json_string(mshi_json_at(names, i), NULL));
    }
    check_keys(store, mshi_json_member(expected, "keys"));
}

START_TEST(test_valid)
{
    char name[128];
    struct mshi_vector vector = {0};

    snprintf(name, sizeof(name), "spec/vectors/valid/%s.json", valid_names[_i]);
    mshi_json *expected = mshi_load_json(mshi_source_path(name));
    const mshi_json *fields = mshi_json_member(expected, "fields"), *values = mshi_json_member(expected, "values");
    snprintf(name, sizeof(name), "spec/vectors/valid/%s.hex", valid_names[_i]);
    mshi_vector_load(&vector, mshi_source_path(name));
    const char *path = mshi_vector_write(&vector, mshi_test_dir());

    for (mshard_check check = MSHARD_CHECK_NONE; check <= MSHARD_CHECK_ALL; check++) {
        mshard_store *store;
        mshard_error err;

        ck_assert_msg(mshi_vector_open(expected, path, check, &store, &err) == MSHARD_OK, "%s: %s", valid_names[_i],
                      err.message);
        ck_assert_uint_eq(mshard_store_count(store), mshi_uint_of(expected, "records"));
        ck_assert_uint_eq(mshard_store_count(store), mshi_json_count(values));
        ck_assert_uint_eq(mshard_store_field_count(store), mshi_json_count(fields));
        for (uint32_t f = 0; f < mshard_store_field_count(store); f++)
            check_field(mshard_store_field(store, f), mshi_json_at(fields, f));
        for (uint64_t r = 0; r < mshard_store_count(store); r++)
            check_record(store, r, mshi_json_at(values, r));
        if (strcmp(mshi_string_of(expected, "kind"), "dataset") == 0)
            check_dataset(store, expected);
        else
            ck_assert(strncmp(mshard_store_id(store), mshi_string_of(expected, "header_sum"), 16) == 0);
        mshard_store_unref(store);
    }
    mshi_check_verifies(path);
    mshi_vector_free(&vector);
    mshi_json_free(expected);
}
END_TEST

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void list_valid(void)
{
    DIR *folder = opendir(mshi_source_path("spec/vectors/valid"));
    const struct dirent *entry;

    mshi_must(folder != NULL, "spec/vectors/valid");
    while ((entry = readdir(folder)) != NULL) {
        const size_t size = strlen(entry->d_name);

        if (size < 5 || strcmp(entry->d_name + size - 5, ".json") != 0)
            continue;
        mshi_must(valid_count < 128 && size < 80, "too many vectors, or a name too long");
        snprintf(valid_names[valid_count++], 80, "%.*s", (int)size - 5, entry->d_name);
    }
    closedir(folder);
    qsort(valid_names, (size_t)valid_count, sizeof(valid_names[0]), compare_names);
}

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("vectors");
    TCase *tests = tcase_create("must read");

    list_valid();
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_valid, 0, valid_count);
    suite_add_tcase(suite, tests);
    return suite;
}
