/*
 * half.c - float16 and bfloat16 conversion
 *
 * Narrowing works on the bits of a double, so each input is rounded once: to nearest, ties to even. float
 * widens to double exactly first. Integer arithmetic only: no rounding mode or flush-to-zero can change it.
 */
#include "base/half.h"

#include <string.h>

/*
 * A double to a format of 1 + exponent_bits + mantissa_bits = 16 bits. With e the exponent of the value, its
 * 53-bit significand loses `shift` low bits so that the rest counts units in the last place of the result;
 * a carry out of the rounding moves to the next exponent, and from the largest one to infinity, by itself.
 */
static uint16_t narrow(double value, unsigned exponent_bits, unsigned mantissa_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint16_t infinity = (uint16_t)(((1u << exponent_bits) - 1) << mantissa_bits);
    const uint64_t one = UINT64_C(1) << 52;
    uint64_t bits, significand, units, rest, tie;
    unsigned shift = 52 - mantissa_bits;
    int e;

    memcpy(&bits, &value, sizeof(bits));
    const uint16_t sign = (uint16_t)(bits >> 63 << 15);
    e = (int)(bits >> 52 & 0x7FF) - 1023;
    significand = (bits & (one - 1)) | one;

    if (e == 1024 && significand != one) /* NaN: keep the top of the payload, set the quiet bit */
        return (uint16_t)(sign | infinity | 1u << (mantissa_bits - 1) | (uint16_t)((bits & (one - 1)) >> shift));
    if (e > bias)
        return sign | infinity;
    if (e < 1 - bias) { /* subnormal in the result: the unit stays, bits fall off (double's subnormals end here too) */
        if (1 - bias - e > (int)mantissa_bits + 1)
            return sign;
        shift += (unsigned)(1 - bias - e);
        units = significand >> shift;
    } else {
        units = ((uint64_t)(e + bias - 1) << mantissa_bits) + (significand >> shift);
    }
    rest = significand & ((UINT64_C(1) << shift) - 1);
    tie = UINT64_C(1) << (shift - 1);
    if (rest > tie || (rest == tie && (units & 1)))
        units++;
    return (uint16_t)(sign | units);
}

uint16_t mshi_half_from_double(double d)
{
    return narrow(d, 5, 10);
}

uint16_t mshi_half_from_float(float f)
{
    return narrow((double)f, 5, 10);
}

uint16_t mshi_bfloat_from_double(double d)
{
    return narrow(d, 8, 7);
}

uint16_t mshi_bfloat_from_float(float f)
{
    return narrow((double)f, 8, 7);
}

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

float mshi_half_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t exponent = h >> 10 & 0x1F;
    uint32_t mantissa = h & 0x3FF;

    if (exponent == 0x1F)
        return float_of(sign | 0x7F800000 | mantissa << 13);
    if (exponent == 0) {
        if (mantissa == 0)
            return float_of(sign);
        const unsigned shift = (unsigned)__builtin_clz(mantissa) - 21; /* brings the top bit to bit 10 */
        mantissa = mantissa << shift & 0x3FF;
        exponent = 1 - shift; /* wraps below zero; the sum below is right again */
    }
    return float_of(sign | ((exponent + 112) << 23) | mantissa << 13);
}

float mshi_bfloat_to_float(uint16_t b)
{
    return float_of((uint32_t)b << 16);
}
