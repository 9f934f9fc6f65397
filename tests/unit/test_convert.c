/*
 * test_convert.c - values from one dtype to another: rounding, overflow, NaN; never wraps
 *
 * Expected halves are those of numpy's astype(float16).
 */
#include "support/main.h"

#include "base/half.h"
#include "ingest/convert.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static struct mshi_conversion_report report;

static mshard_status convert(mshard_dtype from, mshard_dtype to, mshard_on_overflow on_overflow, const void *in,
                             uint64_t n, void *out, mshard_error *err)
{
    const struct mshi_conversion c = {.from = from, .to = to, .on_overflow = on_overflow};

    report = (struct mshi_conversion_report){0};
    return mshi_convert(&c, in, n, out, &report, err);
}

START_TEST(halves_from_floats)
{
    static const float in[] = {65504.0f, 65519.996f, 0x1p-24f, 0x1p-25f, 0x1.0001p-25f,
                               -0.0f,    1.0f,       2049.0f,  INFINITY, -INFINITY};
    static const uint16_t expected[] = {0x7bff, 0x7bff, 1, 0, 1, 0x8000, 0x3c00, 0x6800, 0x7c00, 0xfc00};
    const float nan = NAN;
    uint16_t out[10];
    mshard_error err;

    ck_assert_int_eq(convert(MSHARD_FLOAT32, MSHARD_FLOAT16, MSHARD_ON_OVERFLOW_ERROR, in, 10, out, &err), MSHARD_OK);
    ck_assert_mem_eq(out, expected, sizeof expected);
    ck_assert_uint_eq(report.overflowed, 0);
    ck_assert_double_eq_tol(report.largest_error, 15.996, 0.001);
    ck_assert_int_eq(convert(MSHARD_FLOAT32, MSHARD_FLOAT16, MSHARD_ON_OVERFLOW_ERROR, &nan, 1, out, &err), MSHARD_OK);
    ck_assert(isnan(mshi_half_to_float(out[0])));
}
END_TEST

START_TEST(both_paths_to_halves_agree)
{
    uint16_t a, b;
    mshard_error err;

    for (uint32_t i = 0; i < 20000; i++) {
        const uint32_t bits = i * 214739u;
        float f;

        memcpy(&f, &bits, sizeof f);

        const double d = (double)f;

        ck_assert_int_eq(convert(MSHARD_FLOAT32, MSHARD_FLOAT16, MSHARD_ON_OVERFLOW_INF, &f, 1, &a, &err), MSHARD_OK);

        const struct mshi_conversion_report first = report;

        ck_assert_int_eq(convert(MSHARD_FLOAT64, MSHARD_FLOAT16, MSHARD_ON_OVERFLOW_INF, &d, 1, &b, &err), MSHARD_OK);
        if (!isnan(f)) {
            ck_assert_uint_eq(a, b);
            ck_assert_uint_eq(first.overflowed, report.overflowed);
            ck_assert(first.largest_error == report.largest_error);
        }
    }
}
END_TEST

START_TEST(overflow_to_half)
{
    static const float in[] = {1.0f, 65520.0f, -70000.0f};
    uint16_t out[3];
    mshard_error err;

    ck_assert_int_eq(convert(MSHARD_FLOAT32, MSHARD_FLOAT16, MSHARD_ON_OVERFLOW_ERROR, in, 3, out, &err),
                     MSHARD_E_DECODE);
    ck_assert_str_eq(err.message, "value 65520 of element 1 does not fit float16");
    ck_assert_int_eq(convert(MSHARD_FLOAT32, MSHARD_FLOAT16, MSHARD_ON_OVERFLOW_CLAMP, in, 3, out, &err), MSHARD_OK);
    ck_assert_uint_eq(out[1], 0x7bff);
    ck_assert_uint_eq(out[2], 0xfbff);
    ck_assert_uint_eq(report.overflowed, 2);
    ck_assert(report.largest_error == 0);
    ck_assert_int_eq(convert(MSHARD_FLOAT32, MSHARD_FLOAT16, MSHARD_ON_OVERFLOW_INF, in, 3, out, &err), MSHARD_OK);
    ck_assert_uint_eq(out[1], 0x7c00);
    ck_assert_uint_eq(out[2], 0xfc00);
    ck_assert_uint_eq(report.overflowed, 2);
}
END_TEST

START_TEST(integers_never_wrap)
{
    static const int16_t in[] = {-1, 256, 0, 255};
    static const uint8_t clamped[] = {0, 255, 0, 255};
    uint8_t out[4];
    mshard_error err;

    ck_assert_int_eq(convert(MSHARD_INT16, MSHARD_UINT8, MSHARD_ON_OVERFLOW_ERROR, in, 4, out, &err), MSHARD_E_DECODE);
    ck_assert_str_eq(err.message, "value -1 of element 0 does not fit uint8");
    ck_assert_int_eq(convert(MSHARD_INT16, MSHARD_UINT8, MSHARD_ON_OVERFLOW_INF, in, 4, out, &err), MSHARD_E_DECODE);
    ck_assert_int_eq(convert(MSHARD_INT16, MSHARD_UINT8, MSHARD_ON_OVERFLOW_CLAMP, in, 4, out, &err), MSHARD_OK);
    ck_assert_mem_eq(out, clamped, 4);
    ck_assert_uint_eq(report.overflowed, 2);
}
END_TEST

/* Many bytes go through a table: the same as one by one. */
START_TEST(bytes_by_the_table)
{
    uint8_t in[2000], many[2000 * 8], one[8];
    mshard_error err;

    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 7);
    for (int to = MSHARD_UINT8; to <= MSHARD_BOOL; to++) {
        const size_t size = mshard_dtype_size((mshard_dtype)to);
        const bool fits = to != MSHARD_INT8 && to != MSHARD_BOOL;

        ck_assert_int_eq(convert(MSHARD_UINT8, (mshard_dtype)to, MSHARD_ON_OVERFLOW_ERROR, in, 2000, many, &err),
                         fits ? MSHARD_OK : MSHARD_E_DECODE);
        ck_assert_int_eq(convert(MSHARD_UINT8, (mshard_dtype)to, MSHARD_ON_OVERFLOW_CLAMP, in, 2000, many, &err),
                         MSHARD_OK);
        ck_assert(fits == (report.overflowed == 0));
        ck_assert(report.largest_error == 0);
        for (size_t i = 0; i < 2000; i++) {
            ck_assert_int_eq(convert(MSHARD_UINT8, (mshard_dtype)to, MSHARD_ON_OVERFLOW_CLAMP, in + i, 1, one, &err),
                             MSHARD_OK);
            ck_assert_mem_eq(many + i * size, one, size);
        }
    }
}
END_TEST

START_TEST(floats_to_integers_round_half_to_even)
{
    static const double in[] = {254.5, 253.5, 0.5, 1.5, -0.4, 255.49};
    static const double infinite[] = {INFINITY, -INFINITY, 1e300};
    static const uint8_t expected[] = {254, 254, 0, 2, 0, 255}, clamped[] = {255, 0, 255};
    const double nan = NAN;
    uint8_t out[6];
    int64_t large;
    mshard_error err;

    ck_assert_int_eq(convert(MSHARD_FLOAT64, MSHARD_UINT8, MSHARD_ON_OVERFLOW_ERROR, in, 6, out, &err), MSHARD_OK);
    ck_assert_mem_eq(out, expected, 6);
    ck_assert(report.largest_error == 0.5);
    ck_assert_int_eq(convert(MSHARD_FLOAT64, MSHARD_UINT8, MSHARD_ON_OVERFLOW_CLAMP, &nan, 1, out, &err),
                     MSHARD_E_DECODE);
    ck_assert_int_eq(convert(MSHARD_FLOAT64, MSHARD_UINT8, MSHARD_ON_OVERFLOW_CLAMP, infinite, 3, out, &err),
                     MSHARD_OK);
    ck_assert_mem_eq(out, clamped, 3);
    ck_assert_int_eq(convert(MSHARD_FLOAT64, MSHARD_INT64, MSHARD_ON_OVERFLOW_ERROR, &infinite[2], 1, &large, &err),
                     MSHARD_E_DECODE);
    ck_assert_int_eq(convert(MSHARD_FLOAT64, MSHARD_INT64, MSHARD_ON_OVERFLOW_CLAMP, &infinite[2], 1, &large, &err),
                     MSHARD_OK);
    ck_assert_int_eq(large, INT64_MAX);
}
END_TEST

START_TEST(edges_of_64_bits)
{
    static const uint64_t in[] = {UINT64_MAX, INT64_MAX, 0};
    const double edge = 0x1p63;
    int64_t out[3];
    uint64_t unsigned_out;
    mshard_error err;

    ck_assert_int_eq(convert(MSHARD_UINT64, MSHARD_INT64, MSHARD_ON_OVERFLOW_CLAMP, in, 3, out, &err), MSHARD_OK);
    ck_assert_int_eq(out[0], INT64_MAX);
    ck_assert_int_eq(out[1], INT64_MAX);
    ck_assert_uint_eq(report.overflowed, 1);
    ck_assert_int_eq(convert(MSHARD_FLOAT64, MSHARD_INT64, MSHARD_ON_OVERFLOW_ERROR, &edge, 1, out, &err),
                     MSHARD_E_DECODE);
    ck_assert_int_eq(convert(MSHARD_FLOAT64, MSHARD_UINT64, MSHARD_ON_OVERFLOW_ERROR, &edge, 1, &unsigned_out, &err),
                     MSHARD_OK);
    ck_assert_uint_eq(unsigned_out, UINT64_C(1) << 63);
}
END_TEST

/* 2^54 + 2^30 + 1 lies above the middle between two floats; through a double it would be the middle, and go down. */
START_TEST(integers_to_floats_round_once)
{
    const int64_t in = (INT64_C(1) << 54) + (INT64_C(1) << 30) + 1;
    float out;
    mshard_error err;

    ck_assert_int_eq(convert(MSHARD_INT64, MSHARD_FLOAT32, MSHARD_ON_OVERFLOW_ERROR, &in, 1, &out, &err), MSHARD_OK);
    ck_assert(out == 0x1.000002p54f);
    ck_assert(report.largest_error == (double)((INT64_C(1) << 30) - 1));
}
END_TEST

START_TEST(bools_and_copies)
{
    static const uint8_t in[] = {0, 1, 2};
    uint8_t out[3];
    double wide[3];
    mshard_error err;

    ck_assert_int_eq(convert(MSHARD_UINT8, MSHARD_BOOL, MSHARD_ON_OVERFLOW_ERROR, in, 2, out, &err), MSHARD_OK);
    ck_assert_int_eq(convert(MSHARD_UINT8, MSHARD_BOOL, MSHARD_ON_OVERFLOW_ERROR, in, 3, out, &err), MSHARD_E_DECODE);
    ck_assert_int_eq(convert(MSHARD_UINT8, MSHARD_UINT8, MSHARD_ON_OVERFLOW_ERROR, in, 3, out, &err), MSHARD_OK);
    ck_assert_mem_eq(out, in, 3);
    ck_assert_int_eq(convert(MSHARD_UINT8, MSHARD_FLOAT64, MSHARD_ON_OVERFLOW_ERROR, in, 3, wide, &err), MSHARD_OK);
    ck_assert(wide[2] == 2.0);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("convert");
    TCase *c = tcase_create("convert");

    tcase_add_test(c, halves_from_floats);
    tcase_add_test(c, both_paths_to_halves_agree);
    tcase_add_test(c, overflow_to_half);
    tcase_add_test(c, integers_never_wrap);
    tcase_add_test(c, bytes_by_the_table);
    tcase_add_test(c, floats_to_integers_round_half_to_even);
    tcase_add_test(c, edges_of_64_bits);
    tcase_add_test(c, integers_to_floats_round_once);
    tcase_add_test(c, bools_and_copies);
    suite_add_tcase(suite, c);
    return suite;
}
