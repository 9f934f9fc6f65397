/* test_stats.c - figures of fields against plain arithmetic, in any split, saved, loaded and merged */
#include "base/buf.h"
#include "base/half.h"
#include "format/stats.h"

#include "support/main.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct mshi_stats *make(const mshard_field *field)
{
    struct mshi_stats *stats;

    ck_assert_int_eq(mshi_stats_new(field, &stats, NULL), MSHARD_OK);
    return stats;
}

static void add(struct mshi_stats *stats, const void *data, uint64_t n, uint64_t size)
{
    ck_assert_int_eq(mshi_stats_add(stats, data, n, size, NULL, NULL), MSHARD_OK);
}

static mshard_stats result(const struct mshi_stats *stats)
{
    mshard_stats r;

    mshi_stats_result(stats, &r);
    return r;
}

static char *saved(const struct mshi_stats *stats)
{
    struct mshi_buf buf = {0};

    mshi_stats_save(stats, &buf);
    ck_assert_int_eq(mshi_buf_status(&buf, NULL), MSHARD_OK);
    return buf.data;
}

static mshard_status load(const char *text, const mshard_field *field, struct mshi_stats **stats, mshard_error *err)
{
    mshi_json *root;
    mshard_status status = mshi_json_parse(text, strlen(text), "state", 0, &root, err);

    if (status != MSHARD_OK)
        return status;
    status = mshi_stats_load(root, field, "state", stats, err);
    mshi_json_free(root);
    return status;
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

/* Every size of image around the vector steps, for each number of channels, at an odd address. */
START_TEST(bytes_match_plain_sums)
{
    static uint8_t data[1 + 4 * 3000];
    uint64_t state = 5;

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(next(&state) % 253 + 1);
    for (uint64_t channels = 1; channels <= 4; channels++) {
        for (uint64_t pixels = 1; pixels <= 3000; pixels += pixels < 300 ? 7 : 211) {
            const mshard_field field = {.name = "i",
                                        .dtype = MSHARD_UINT8,
                                        .content = MSHARD_CONTENT_IMAGE,
                                        .ndim = 3,
                                        .shape = {pixels, 1, channels}};
            struct mshi_stats *stats = make(&field);

            add(stats, data + 1, 1, pixels * channels);
            const mshard_stats r = result(stats);
            ck_assert_uint_eq(r.channels, channels);
            ck_assert_uint_eq(r.values, pixels);
            for (uint64_t c = 0; c < channels; c++) {
                double sum = 0, squares = 0, low = 255, high = 0;

                for (uint64_t p = 0; p < pixels; p++) {
                    const double v = data[1 + p * channels + c];
                    sum += v;
                    squares += v * v;
                    low = fmin(low, v);
                    high = fmax(high, v);
                }
                const double mean = sum / (double)pixels;
                const double std = sqrt((squares * (double)pixels - sum * sum)) / (double)pixels;
                ck_assert_double_eq(r.min[c], low);
                ck_assert_double_eq(r.max[c], high);
                ck_assert_double_eq_tol(r.mean[c], mean, 1e-12);
                ck_assert_double_eq_tol(r.std[c], std, 1e-12);
            }
            mshi_stats_free(stats);
        }
    }
}
END_TEST

/* 255 everywhere in 20 MB: the narrow sums inside must be emptied in time. */
START_TEST(bytes_do_not_overflow)
{
    const uint64_t side = 2600;
    const mshard_field field = {
        .name = "i", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {side, side, 3}};
    uint8_t *data = malloc(side * side * 3);
    struct mshi_stats *stats = make(&field);

    memset(data, 255, side * side * 3);
    add(stats, data, 1, side * side * 3);
    const mshard_stats r = result(stats);
    for (int c = 0; c < 3; c++) {
        ck_assert_double_eq(r.min[c], 255);
        ck_assert_double_eq(r.max[c], 255);
        ck_assert_double_eq(r.mean[c], 255);
        ck_assert_double_eq(r.std[c], 0);
    }
    mshi_stats_free(stats);
    free(data);
}
END_TEST

START_TEST(integers_are_exact)
{
    static const int64_t extremes[] = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX};
    static const uint64_t big[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX - 2};
    static const int8_t small[] = {-128, 127, 0, -1};
    static const uint16_t words[] = {65535, 0, 65535, 0};
    static const int32_t longs[] = {INT32_MIN, INT32_MAX, 0, 1};
    mshard_field field = {.name = "v", .dtype = MSHARD_INT64};
    struct mshi_stats *stats = make(&field);
    mshard_stats r;

    add(stats, extremes, 4, 32);
    r = result(stats);
    ck_assert_double_eq(r.mean[0], -0.5);
    ck_assert_double_eq(r.std[0], 0x1p63);
    ck_assert_double_eq(r.min[0], -0x1p63);
    ck_assert_double_eq(r.max[0], 0x1p63);
    mshi_stats_free(stats);

    field.dtype = MSHARD_UINT64; /* six squares pass 128 bits; the spread is 2 in the last place of 64 bits */
    stats = make(&field);
    add(stats, big, 6, 48);
    r = result(stats);
    ck_assert_double_eq_tol(r.std[0], sqrt(5.0 / 9), 1e-15);
    mshi_stats_free(stats);

    field.dtype = MSHARD_INT8;
    stats = make(&field);
    add(stats, small, 4, 4);
    r = result(stats);
    ck_assert_double_eq(r.min[0], -128);
    ck_assert_double_eq(r.max[0], 127);
    ck_assert_double_eq(r.mean[0], -0.5);
    ck_assert_double_eq_tol(r.std[0], sqrt((128.0 * 128 + 127 * 127 + 1) / 4 - 0.25), 1e-12);
    mshi_stats_free(stats);

    field.dtype = MSHARD_UINT16;
    stats = make(&field);
    add(stats, words, 4, 8);
    r = result(stats);
    ck_assert_double_eq(r.mean[0], 32767.5);
    ck_assert_double_eq(r.std[0], 32767.5);
    mshi_stats_free(stats);

    field.dtype = MSHARD_INT32;
    stats = make(&field);
    add(stats, longs, 4, 16);
    r = result(stats);
    ck_assert_double_eq(r.min[0], -0x1p31);
    ck_assert_double_eq(r.max[0], 2147483647.0);
    ck_assert_double_eq(r.mean[0], 0);
    mshi_stats_free(stats);
}
END_TEST

START_TEST(a_million_halves_of_one)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_FLOAT16, .ndim = 1, .shape = {1000}};
    uint16_t ones[1000];
    struct mshi_stats *stats = make(&field);

    for (int i = 0; i < 1000; i++)
        ones[i] = 0x3C00;
    for (int i = 0; i < 1000; i++)
        add(stats, ones, 1, sizeof(ones));
    const mshard_stats r = result(stats);
    ck_assert_uint_eq(r.values, 1000000);
    ck_assert(r.mean[0] == 1.0);
    ck_assert(r.std[0] == 0.0);
    ck_assert(r.min[0] == 1.0 && r.max[0] == 1.0);
    mshi_stats_free(stats);
}
END_TEST

START_TEST(every_half_value)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_FLOAT16};
    const mshard_field bfield = {.name = "v", .dtype = MSHARD_BFLOAT16};

    for (unsigned h = 0; h < 0x10000; h += 13) {
        const uint16_t half = (uint16_t)h;
        struct mshi_stats *stats = make(&field), *bstats = make(&bfield);
        const float value = mshi_half_to_float(half), bvalue = mshi_bfloat_to_float(half);

        add(stats, &half, 1, 2);
        add(bstats, &half, 1, 2);
        const mshard_stats r = result(stats), b = result(bstats);
        ck_assert(r.nan == (isnan(value) ? 1 : 0));
        ck_assert(r.inf == (isinf(value) ? 1 : 0));
        ck_assert(r.min[0] == (isfinite(value) ? (double)value : 0));
        ck_assert(b.nan == (isnan(bvalue) ? 1 : 0));
        ck_assert(b.inf == (isinf(bvalue) ? 1 : 0));
        ck_assert(b.max[0] == (isfinite(bvalue) ? (double)bvalue : 0));
        mshi_stats_free(stats);
        mshi_stats_free(bstats);
    }
}
END_TEST

START_TEST(floats_leave_out_what_is_no_number)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_FLOAT32, .ndim = 1, .shape = {6}};
    const float values[] = {1, NAN, 3, INFINITY, -INFINITY, 5};
    const float nothing[] = {NAN, NAN, NAN, NAN, NAN, INFINITY};
    struct mshi_stats *stats = make(&field);

    add(stats, nothing, 1, sizeof(nothing));
    mshard_stats r = result(stats);
    ck_assert(r.mean[0] == 0 && r.std[0] == 0 && r.min[0] == 0 && r.max[0] == 0);
    add(stats, values, 1, sizeof(values));
    r = result(stats);
    ck_assert_uint_eq(r.values, 12);
    ck_assert_uint_eq(r.nan, 6);
    ck_assert_uint_eq(r.inf, 3);
    ck_assert_double_eq(r.mean[0], 3);
    ck_assert_double_eq_tol(r.std[0], sqrt(8.0 / 3), 1e-15);
    ck_assert_double_eq(r.min[0], 1);
    ck_assert_double_eq(r.max[0], 5);
    mshi_stats_free(stats);
}
END_TEST

/* mean 10^9, spread 1: sums of squares in double would lose all of it */
START_TEST(floats_survive_a_big_mean)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_FLOAT64};
    struct mshi_stats *stats = make(&field);
    const double limits[] = {1.7e308, 1.7e308, -1.7e308, -1.7e308};

    for (int i = 0; i < 100000; i++) {
        const double v = 1e9 + (i & 1 ? 1 : -1);
        add(stats, &v, 1, 8);
    }
    mshard_stats r = result(stats);
    ck_assert_double_eq_tol(r.mean[0], 1e9, 1e-6);
    ck_assert_double_eq_tol(r.std[0], 1, 1e-9);
    mshi_stats_free(stats);
    stats = make(&field);
    add(stats, limits, 4, sizeof(limits));
    r = result(stats);
    ck_assert(isfinite(r.mean[0]) && isfinite(r.std[0]));
    ck_assert_double_eq(r.max[0], 1.7e308);
    mshi_stats_free(stats);
}
END_TEST

START_TEST(labels_are_counted)
{
    const mshard_field field = {.name = "l", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL};
    const int64_t labels[] = {0, 2, 2, 70};
    static const int64_t bad[] = {-1, 65536, INT64_MAX};
    struct mshi_stats *stats = make(&field), *other;
    const int64_t last = 65535;

    ck_assert_uint_eq(result(stats).count_length, 0);
    ck_assert_ptr_null(result(stats).counts);
    add(stats, labels, 4, 32);
    ck_assert_uint_eq(result(stats).count_length, 71);
    ck_assert_uint_eq(result(stats).counts[2], 2);
    ck_assert_uint_eq(result(stats).counts[1], 0);
    add(stats, &last, 1, 8);
    ck_assert_uint_eq(result(stats).count_length, 65536);
    ck_assert_uint_eq(result(stats).counts[70], 1);
    ck_assert_double_eq(result(stats).mean[0], (74 + 65535) / 5.0);
    for (size_t i = 0; i < 3; i++) {
        other = make(&field);
        add(other, labels, 4, 32);
        add(other, &bad[i], 1, 8);
        add(other, labels, 4, 32);
        ck_assert_ptr_null(result(other).counts);
        ck_assert_uint_eq(result(other).count_length, 0);
        ck_assert_uint_eq(result(other).values, 9);
        if (i == 2) { /* and the loss survives a merge */
            ck_assert_int_eq(mshi_stats_merge(stats, other, NULL), MSHARD_OK);
            ck_assert_ptr_null(result(stats).counts);
            ck_assert_uint_eq(result(stats).values, 14);
        }
        mshi_stats_free(other);
    }
    mshi_stats_free(stats);
}
END_TEST

START_TEST(variable_fields_have_sizes)
{
    const mshard_field image = {.name = "i",
                                .dtype = MSHARD_UINT8,
                                .content = MSHARD_CONTENT_IMAGE,
                                .ndim = 3,
                                .shape = {MSHARD_DIM_UNKNOWN, MSHARD_DIM_UNKNOWN, 3}};
    const mshard_field text = {
        .name = "t", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_TEXT, .ndim = 1, .shape = {MSHARD_DIM_UNKNOWN}};
    static const uint8_t data[12] = {1, 2, 3, 5, 6, 7};
    struct mshi_stats *stats = make(&image);
    mshard_error err;

    ck_assert_uint_eq(result(stats).min_size, 0);
    add(stats, data, 1, 6);
    add(stats, data, 1, 3);
    ck_assert_uint_eq(result(stats).min_size, 3);
    ck_assert_uint_eq(result(stats).max_size, 6);
    ck_assert_uint_eq(result(stats).channels, 3);
    ck_assert_double_eq(result(stats).mean[2], (3 + 7 + 3) / 3.0);
    add(stats, data, 1, 0);
    ck_assert_uint_eq(result(stats).min_size, 0);
    ck_assert_int_eq(mshi_stats_add(stats, data, 1, 4, NULL, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(mshi_stats_add(stats, data, 2, 6, NULL, &err), MSHARD_E_INVALID);
    ck_assert_uint_eq(result(stats).values, 3);
    mshi_stats_free(stats);
    stats = make(&text);
    add(stats, "hello", 1, 5);
    ck_assert_uint_eq(result(stats).values, 5);
    ck_assert_uint_eq(result(stats).max_size, 5);
    ck_assert_double_eq(result(stats).mean[0], 0);
    mshi_stats_free(stats);
}
END_TEST

START_TEST(refuses_wrong_sizes)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_FLOAT32, .ndim = 1, .shape = {4}};
    const mshard_field other = {.name = "v", .dtype = MSHARD_FLOAT32, .ndim = 1, .shape = {5}};
    const mshard_field none = {.name = "v", .dtype = (mshard_dtype)77};
    const mshard_field huge = {
        .name = "v", .dtype = MSHARD_UINT8, .ndim = 2, .shape = {MSHARD_MAX_DIM, MSHARD_MAX_DIM}};
    struct mshi_stats *stats = make(&field), *second = make(&other), *third;
    float data[8] = {0};

    ck_assert_int_eq(mshi_stats_add(stats, data, 1, 15, NULL, NULL), MSHARD_E_INVALID);
    ck_assert_int_eq(mshi_stats_add(stats, data, UINT64_MAX, 16, NULL, NULL), MSHARD_E_INVALID);
    ck_assert_int_eq(mshi_stats_merge(stats, second, NULL), MSHARD_E_INVALID);
    ck_assert_int_eq(mshi_stats_new(&none, &third, NULL), MSHARD_E_INVALID);
    ck_assert_int_eq(mshi_stats_new(&huge, &third, NULL), MSHARD_E_LIMIT);
    mshi_stats_free(stats);
    mshi_stats_free(second);
    mshi_stats_free(NULL);
}
END_TEST

enum { RECORDS = 3000, WIDTH = 7 };

/* Values of a shard: records first..end-1. */
static void add_records(struct mshi_stats *stats, mshard_dtype dtype, const float *values, int first, int end)
{
    for (int r = first; r < end; r++) {
        if (dtype == MSHARD_FLOAT32) {
            add(stats, values + r * WIDTH, 1, WIDTH * sizeof(float));
        } else {
            int32_t whole[WIDTH];
            for (int i = 0; i < WIDTH; i++)
                whole[i] = (int32_t)(values[r * WIDTH + i] * 1e6f);
            add(stats, whole, 1, sizeof(whole));
        }
    }
}

/* Shards merged directly, and through their saved states, give the same state to the last bit. */
static void check_merge(mshard_dtype dtype)
{
    static const int ends[] = {0, 1, 700, 700, 1500, RECORDS};
    static float values[RECORDS * WIDTH];
    const mshard_field field = {.name = "v", .dtype = dtype, .ndim = 1, .shape = {WIDTH}};
    struct mshi_stats *direct = make(&field), *through = make(&field), *whole = make(&field);
    uint64_t state = 77;
    char *a, *b;

    for (int i = 0; i < RECORDS * WIDTH; i++)
        values[i] = (float)((double)(next(&state) >> 40) * 0x1p-24) * 200 - 80;
    for (size_t s = 1; s < sizeof(ends) / sizeof(ends[0]); s++) {
        struct mshi_stats *shard = make(&field), *loaded, *again;
        char *text, *text2;

        add_records(shard, dtype, values, ends[s - 1], ends[s]);
        text = saved(shard);
        ck_assert_int_eq(load(text, &field, &loaded, NULL), MSHARD_OK);
        text2 = saved(loaded);
        ck_assert_str_eq(text, text2);
        ck_assert_int_eq(mshi_stats_merge(direct, shard, NULL), MSHARD_OK);
        ck_assert_int_eq(mshi_stats_merge(through, loaded, NULL), MSHARD_OK);
        free(text);
        free(text2);
        text = saved(through); /* the sum so far may be put away and taken up again too */
        ck_assert_int_eq(load(text, &field, &again, NULL), MSHARD_OK);
        mshi_stats_free(through);
        through = again;
        free(text);
        mshi_stats_free(shard);
        mshi_stats_free(loaded);
    }
    a = saved(direct);
    b = saved(through);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
    add_records(whole, dtype, values, 0, RECORDS);
    const mshard_stats merged = result(direct), all = result(whole), loaded = result(through);
    ck_assert_int_eq(memcmp(&merged, &loaded, sizeof(merged)), 0);
    ck_assert_uint_eq(merged.values, all.values);
    ck_assert_double_eq_tol(merged.mean[0], all.mean[0], 1e-12 * fabs(all.mean[0]));
    ck_assert_double_eq_tol(merged.std[0], all.std[0], 1e-12 * all.std[0]);
    if (dtype == MSHARD_INT32) /* exact: no trace of the shards */
        ck_assert_int_eq(memcmp(&merged, &all, sizeof(merged)), 0);
    mshi_stats_free(direct);
    mshi_stats_free(through);
    mshi_stats_free(whole);
}

START_TEST(merges_are_deterministic)
{
    check_merge(MSHARD_FLOAT32);
    check_merge(MSHARD_INT32);
}
END_TEST

/* The split of the calls does not matter inside a shard. */
START_TEST(calls_may_be_split_anyhow)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_FLOAT64, .ndim = 1, .shape = {3}};
    static double values[3 * 2000];
    struct mshi_stats *once = make(&field), *often = make(&field);
    uint64_t state = 3;
    char *a, *b;

    for (int i = 0; i < 6000; i++)
        values[i] = (double)next(&state) * 0x1p-60;
    add(once, values, 2000, sizeof(values));
    for (int i = 0; i < 2000;) {
        const int n = i % 5 + 1 < 2000 - i ? i % 5 + 1 : 2000 - i;
        add(often, values + 3 * i, (uint64_t)n, (uint64_t)n * 24);
        i += n;
    }
    a = saved(once);
    b = saved(often);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
    mshi_stats_free(once);
    mshi_stats_free(often);
}
END_TEST

START_TEST(refuses_foreign_states)
{
    const mshard_field label = {.name = "l", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL};
    const mshard_field real = {.name = "v", .dtype = MSHARD_FLOAT32};
    const int64_t labels[] = {0, 1, 1};
    struct mshi_stats *stats = make(&label), *loaded;
    mshard_error err;
    char *text, *at;

    add(stats, labels, 3, 24);
    text = saved(stats);
    ck_assert_int_eq(load(text, &label, &loaded, &err), MSHARD_OK);
    ck_assert_uint_eq(result(loaded).count_length, 2);
    ck_assert_uint_eq(result(loaded).counts[1], 2);
    mshi_stats_free(loaded);
    ck_assert_int_eq(load(text, &real, &loaded, &err), MSHARD_E_CORRUPT);
    ck_assert_ptr_null(loaded);
    ck_assert_str_eq(err.path, "state");
    at = strstr(text, "\"counts\": [1, 2]");
    ck_assert_ptr_nonnull(at);
    at[12] = '5'; /* no longer as many as records */
    ck_assert_int_eq(load(text, &label, &loaded, &err), MSHARD_E_CORRUPT);
    at[12] = '1';
    at = strstr(text, "\"squares\": \"");
    at[13] = 'g';
    ck_assert_int_eq(load(text, &label, &loaded, &err), MSHARD_E_CORRUPT);
    ck_assert_int_eq(load("{}", &label, &loaded, &err), MSHARD_E_CORRUPT);
    ck_assert_int_eq(load("[]", &label, &loaded, &err), MSHARD_E_CORRUPT);
    free(text);
    mshi_stats_free(stats);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("stats");
    TCase *tests = tcase_create("stats");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, bytes_match_plain_sums);
    tcase_add_test(tests, bytes_do_not_overflow);
    tcase_add_test(tests, integers_are_exact);
    tcase_add_test(tests, a_million_halves_of_one);
    tcase_add_test(tests, every_half_value);
    tcase_add_test(tests, floats_leave_out_what_is_no_number);
    tcase_add_test(tests, floats_survive_a_big_mean);
    tcase_add_test(tests, labels_are_counted);
    tcase_add_test(tests, variable_fields_have_sizes);
    tcase_add_test(tests, refuses_wrong_sizes);
    tcase_add_test(tests, merges_are_deterministic);
    tcase_add_test(tests, calls_may_be_split_anyhow);
    tcase_add_test(tests, refuses_foreign_states);
    suite_add_tcase(suite, tests);
    return suite;
}
