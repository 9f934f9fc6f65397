/*
 * test_half.c - float16 and bfloat16 against a slow reference
 *
 * The reference knows only what the numbers of the format are: it finds the two neighbours of a double in the sorted
 * list of all finite values and compares distances exactly (differences of doubles that close are exact).
 */
#include "base/half.h"

#include "support/main.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The value of 16 bits by its definition. */
static double value_of(unsigned bits, int exponent_bits, int mantissa_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const int mantissa = (int)bits & ((1 << mantissa_bits) - 1);
    const double size = exponent ? ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)
                                 : ldexp(mantissa, 1 - bias - mantissa_bits);

    return bits & 0x8000 ? -size : size;
}

/* Positive finite patterns 0..infinity-1 are in order of value; infinity counts as the next number for rounding. */
static uint16_t nearest(double value, int exponent_bits, int mantissa_bits)
{
    const unsigned infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
    const unsigned sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    unsigned low = 0, high = infinity;
    double above;

    if (isinf(size))
        return (uint16_t)(sign | infinity);
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (value_of(middle, exponent_bits, mantissa_bits) <= size)
            low = middle;
        else
            high = middle;
    }
    above = ldexp(1, 1 << (exponent_bits - 1));
    if (high < infinity)
        above = value_of(high, exponent_bits, mantissa_bits);
    const double below = value_of(low, exponent_bits, mantissa_bits);
    const double down = size - below, up = above - size;
    if (size >= above || up < down || (up == down && (low & 1)))
        low++;
    return (uint16_t)(sign | low);
}

START_TEST(every_half_comes_back)
{
    for (unsigned h = 0; h < 0x10000; h++) {
        const float f = mshi_half_to_float((uint16_t)h);

        if ((h & 0x7C00) == 0x7C00 && (h & 0x3FF)) {
            ck_assert(isnan(f));
            ck_assert_int_eq(!!signbit(f), h >> 15);
            ck_assert_uint_eq(mshi_half_from_float(f), h | 0x200); /* quiet */
            continue;
        }
        if ((h & 0x7FFF) == 0x7C00)
            ck_assert(isinf(f) && !!signbit(f) == h >> 15);
        else
            ck_assert((double)f == value_of(h, 5, 10) && !!signbit(f) == h >> 15);
        ck_assert_uint_eq(mshi_half_from_float(f), h);
        ck_assert_uint_eq(mshi_half_from_double((double)f), h);
    }
}
END_TEST

START_TEST(every_bfloat_comes_back)
{
    for (unsigned b = 0; b < 0x10000; b++) {
        const float f = mshi_bfloat_to_float((uint16_t)b);

        if ((b & 0x7F80) == 0x7F80 && (b & 0x7F)) {
            ck_assert(isnan(f));
            ck_assert_uint_eq(mshi_bfloat_from_float(f), b | 0x40);
            continue;
        }
        if ((b & 0x7FFF) != 0x7F80)
            ck_assert((double)f == value_of(b, 8, 7));
        ck_assert_uint_eq(mshi_bfloat_from_float(f), b);
        ck_assert_uint_eq(mshi_bfloat_from_double((double)f), b);
    }
}
END_TEST

/* Between each two neighbours: the middle, and the doubles next to it. */
START_TEST(middles_go_to_even)
{
    for (unsigned h = 0; h < 0x7C00; h++) {
        const double low = value_of(h, 5, 10), high = h == 0x7BFF ? 65536 : value_of(h + 1, 5, 10);
        const double middle = (low + high) / 2;
        const uint16_t even = (uint16_t)(h & 1 ? h + 1 : h);

        ck_assert_uint_eq(mshi_half_from_double(middle), even);
        ck_assert_uint_eq(mshi_half_from_double(-middle), even | 0x8000);
        ck_assert_uint_eq(mshi_half_from_double(nextafter(middle, 0)), h);
        ck_assert_uint_eq(mshi_half_from_double(nextafter(middle, INFINITY)), h + 1);
        ck_assert_uint_eq(mshi_half_from_float((float)middle), even); /* exact in float: 12 bits */
    }
}
END_TEST

START_TEST(named_values)
{
    ck_assert_uint_eq(mshi_half_from_double(0.0), 0);
    ck_assert_uint_eq(mshi_half_from_double(-0.0), 0x8000);
    ck_assert_uint_eq(mshi_half_from_double(1.0), 0x3C00);
    ck_assert_uint_eq(mshi_half_from_double(65504), 0x7BFF);
    ck_assert_uint_eq(mshi_half_from_double(65519.996), 0x7BFF);
    ck_assert_uint_eq(mshi_half_from_double(nextafter(65520, 0)), 0x7BFF);
    ck_assert_uint_eq(mshi_half_from_double(65520), 0x7C00);
    ck_assert_uint_eq(mshi_half_from_double(1e300), 0x7C00);
    ck_assert_uint_eq(mshi_half_from_double(-INFINITY), 0xFC00);
    ck_assert_uint_eq(mshi_half_from_double(0x1p-24), 1);
    ck_assert_uint_eq(mshi_half_from_double(0x1p-25), 0);
    ck_assert_uint_eq(mshi_half_from_double(0x1p-25 * 1.0001), 1);
    ck_assert_uint_eq(mshi_half_from_double(-0x1p-25 * 1.0001), 0x8001);
    ck_assert_uint_eq(mshi_half_from_double(0x1p-26), 0);
    ck_assert_uint_eq(mshi_half_from_double(0x1p-1074), 0);
    ck_assert_uint_eq(mshi_half_from_double(-0x1p-1074), 0x8000);
    ck_assert_uint_eq(mshi_half_from_float(0x1p-149f), 0);
    ck_assert_uint_eq(mshi_half_from_double(NAN) & 0x7E00, 0x7E00);
    /* 1 + 2^-11 + 2^-40: through float it would become the tie 1 + 2^-11 and then 1 */
    ck_assert_uint_eq(mshi_half_from_double(1 + 0x1p-11 + 0x1p-40), 0x3C01);
    ck_assert_uint_eq(mshi_bfloat_from_double(1 + 0x1p-8 + 0x1p-40), 0x3F81);
    ck_assert_uint_eq(mshi_bfloat_from_double(3.4e38), 0x7F80);
    ck_assert_uint_eq(mshi_bfloat_from_double(0x1p-133), 1);
    ck_assert_uint_eq(mshi_bfloat_from_double(0x1p-134), 0);
}
END_TEST

START_TEST(random_doubles)
{
    uint64_t state = 0x123456789ABCDEF;

    for (int i = 0; i < 1000000; i++) {
        uint64_t bits, exponent;
        double value;

        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        /* exponents around the range of the format: 2^-30 to 2^18, and 2^-140 to 2^130 */
        exponent = i & 1 ? 1023 - 30 + (state >> 52) % 48 : 1023 - 140 + (state >> 52) % 270;
        bits = (state & UINT64_C(0x800FFFFFFFFFFFFF)) | exponent << 52;
        memcpy(&value, &bits, sizeof(value));
        if (i & 1)
            ck_assert_msg(mshi_half_from_double(value) == nearest(value, 5, 10), "%a", value);
        else
            ck_assert_msg(mshi_bfloat_from_double(value) == nearest(value, 8, 7), "%a", value);
        if (i % 16 == 1)
            ck_assert_uint_eq(mshi_half_from_float((float)value), nearest((double)(float)value, 5, 10));
    }
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("half");
    TCase *tests = tcase_create("half");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_half_comes_back);
    tcase_add_test(tests, every_bfloat_comes_back);
    tcase_add_test(tests, middles_go_to_even);
    tcase_add_test(tests, named_values);
    tcase_add_test(tests, random_doubles);
    suite_add_tcase(suite, tests);
    return suite;
}
