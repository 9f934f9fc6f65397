/*
 * convert.c - values from one dtype to another, without a silent loss
 *
 * One general path through exact intermediates (double for floats, 128-bit integers for integers) does all pairs;
 * float32 to float16, the usual one, has a loop of its own with the same results, and bytes go through a table that
 * the general path fills.
 */
#include "ingest/convert.h"

#include "base/half.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef __int128 wide;

struct number {
    bool is_float;
    double f; /* exact, for float dtypes */
    wide i;   /* exact, for integer dtypes */
};

static bool is_float(mshard_dtype dtype)
{
    return dtype == MSHARD_FLOAT16 || dtype == MSHARD_BFLOAT16 || dtype == MSHARD_FLOAT32 || dtype == MSHARD_FLOAT64;
}

static uint64_t load_bits(const uint8_t *p, size_t size)
{
    uint64_t v = 0;

    memcpy(&v, p, size); /* little-endian machine, as the whole library */
    return v;
}

static struct number load(mshard_dtype dtype, const uint8_t *p)
{
    const uint64_t bits = load_bits(p, mshard_dtype_size(dtype));
    const uint32_t low = (uint32_t)bits;
    struct number v = {.is_float = is_float(dtype)};
    float f;

    switch (dtype) {
    case MSHARD_FLOAT16:
        v.f = (double)mshi_half_to_float((uint16_t)bits);
        break;
    case MSHARD_BFLOAT16:
        v.f = (double)mshi_bfloat_to_float((uint16_t)bits);
        break;
    case MSHARD_FLOAT32:
        memcpy(&f, &low, sizeof f);
        v.f = (double)f;
        break;
    case MSHARD_FLOAT64:
        memcpy(&v.f, &bits, sizeof v.f);
        break;
    case MSHARD_INT8:
        v.i = (int8_t)bits;
        break;
    case MSHARD_INT16:
        v.i = (int16_t)bits;
        break;
    case MSHARD_INT32:
        v.i = (int32_t)bits;
        break;
    case MSHARD_INT64:
        v.i = (int64_t)bits;
        break;
    default: /* unsigned and bool */
        v.i = bits;
        break;
    }
    return v;
}

/* ---- to integers ---- */

static void range_of(mshard_dtype dtype, wide *low, wide *high)
{
    const unsigned bits = 8 * (unsigned)mshard_dtype_size(dtype);
    const bool is_signed =
        dtype == MSHARD_INT8 || dtype == MSHARD_INT16 || dtype == MSHARD_INT32 || dtype == MSHARD_INT64;

    *low = is_signed ? -((wide)1 << (bits - 1)) : 0;
    *high = dtype == MSHARD_BOOL ? 1 : is_signed ? ((wide)1 << (bits - 1)) - 1 : ((wide)1 << bits) - 1;
}

static mshard_status fail_value(const struct mshi_conversion *c, const struct number *v, uint64_t element,
                                mshard_error *err)
{
    char text[48];

    if (v->is_float)
        snprintf(text, sizeof text, "%.9g", v->f);
    else if (v->i < 0)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)v->i);
    else
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)v->i);
    return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET, "value %s of element %" PRIu64 " does not fit %s",
                     text, element, mshard_dtype_name(c->to));
}

/* False: does not fit and may not be clamped. */
static bool to_integer(const struct mshi_conversion *c, const struct number *v, uint8_t *out,
                       struct mshi_conversion_report *report)
{
    wide low, high, i = v->i;

    range_of(c->to, &low, &high);
    if (v->is_float) {
        if (isnan(v->f))
            return false;

        const double rounded = nearbyint(v->f);

        if (fabs(rounded) < 0x1p64) {
            i = (wide)rounded;
            if (i >= low && i <= high)
                report->largest_error = fmax(report->largest_error, fabs(v->f - rounded));
        } else {
            i = rounded < 0 ? low - 1 : high + 1;
        }
    }
    if (i < low || i > high) {
        if (c->on_overflow != MSHARD_ON_OVERFLOW_CLAMP)
            return false;
        report->overflowed++;
        i = i < low ? low : high;
    }

    const uint64_t bits = (uint64_t)i;

    memcpy(out, &bits, mshard_dtype_size(c->to));
    return true;
}

/* ---- to floats ---- */

/* A double that rounds to a narrower float as i would: beyond 53 bits, the lowest bit tells that more were lost. */
static double odd_double(wide i)
{
    const bool negative = i < 0;
    uint64_t m = negative ? (uint64_t)-i : (uint64_t)i;
    int shift = 0;

    while (m >> 53 != 0) {
        m = m >> 1 | (m & 1);
        shift++;
    }
    return ldexp(negative ? -(double)m : (double)m, shift);
}

static double largest_finite(mshard_dtype dtype)
{
    switch (dtype) {
    case MSHARD_FLOAT16:
        return 65504.0;
    case MSHARD_BFLOAT16:
        return 0x1.fep127;
    case MSHARD_FLOAT32:
        return 0x1.fffffep127;
    default:
        return 0x1.fffffffffffffp1023;
    }
}

/* Store d as a float dtype and give back what was stored. */
static double store_float(mshard_dtype dtype, double d, uint8_t *out)
{
    const float f = (float)d;
    uint16_t half;

    switch (dtype) {
    case MSHARD_FLOAT16:
        half = mshi_half_from_double(d);
        memcpy(out, &half, sizeof half);
        return (double)mshi_half_to_float(half);
    case MSHARD_BFLOAT16:
        half = mshi_bfloat_from_double(d);
        memcpy(out, &half, sizeof half);
        return (double)mshi_bfloat_to_float(half);
    case MSHARD_FLOAT32:
        memcpy(out, &f, sizeof f);
        return (double)f;
    default:
        memcpy(out, &d, sizeof d);
        return d;
    }
}

static bool to_float(const struct mshi_conversion *c, const struct number *v, uint8_t *out,
                     struct mshi_conversion_report *report)
{
    const bool whole = !v->is_float && c->to == MSHARD_FLOAT64;
    const double exact = v->is_float ? v->f : whole ? (double)v->i : odd_double(v->i);
    const double stored = store_float(c->to, exact, out);

    if (isfinite(exact) && isinf(stored)) {
        if (c->on_overflow == MSHARD_ON_OVERFLOW_ERROR)
            return false;
        report->overflowed++;
        if (c->on_overflow == MSHARD_ON_OVERFLOW_CLAMP)
            store_float(c->to, copysign(largest_finite(c->to), exact), out);
        return true;
    }
    if (!isfinite(exact))
        return true;

    const double error = v->is_float ? fabs(exact - stored) : fabs((double)(v->i - (wide)stored));

    if (error > report->largest_error)
        report->largest_error = error;
    return true;
}

/* ---- loops ---- */

/* Element of the first value that is finite and becomes infinite, or n. */
static uint64_t narrow_float(const uint8_t *in, uint64_t n, uint8_t *out, double *largest)
{
    float worst = 0;

    for (uint64_t i = 0; i < n; i++) {
        float f;

        memcpy(&f, in + 4 * i, sizeof f);

        const uint16_t half = mshi_half_from_float(f);
        const float error = fabsf(f - mshi_half_to_float(half));

        memcpy(out + 2 * i, &half, sizeof half);
        if (error > worst) { /* false for NaN, and for infinities that stay */
            if (isinf(error))
                return i;
            worst = error;
        }
    }
    if ((double)worst > *largest)
        *largest = (double)worst;
    return n;
}

static mshard_status convert_all(const struct mshi_conversion *c, const uint8_t *in, uint64_t n, uint8_t *out,
                                 struct mshi_conversion_report *report, mshard_error *err)
{
    const size_t in_size = mshard_dtype_size(c->from), out_size = mshard_dtype_size(c->to);
    const bool float_target = is_float(c->to);

    for (uint64_t i = 0; i < n; i++) {
        const struct number v = load(c->from, in + i * in_size);

        if (!(float_target ? to_float(c, &v, out + i * out_size, report)
                           : to_integer(c, &v, out + i * out_size, report)))
            return fail_value(c, &v, i, err);
    }
    return MSHARD_OK;
}

#define TABLE_FROM 1024 /* values; for fewer, a table costs more than it saves */

/* What each byte becomes. False: some byte does not fit, so that each value must be looked at. */
static bool convert_bytes(const struct mshi_conversion *c, const uint8_t *in, uint64_t n, uint8_t *out)
{
    const size_t size = mshard_dtype_size(c->to);
    struct mshi_conversion_report report = {0};
    uint8_t bytes[256], table[256 * 8];

    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    if (convert_all(c, bytes, 256, table, &report, NULL) != MSHARD_OK || report.overflowed != 0)
        return false;
    switch (size) {
    case 2:
        for (uint64_t i = 0; i < n; i++)
            memcpy(out + 2 * i, table + (size_t)2 * in[i], 2);
        return true;
    case 4:
        for (uint64_t i = 0; i < n; i++)
            memcpy(out + 4 * i, table + (size_t)4 * in[i], 4);
        return true;
    default:
        for (uint64_t i = 0; i < n; i++)
            memcpy(out + size * i, table + size * in[i], size);
        return true;
    }
}

mshard_status mshi_convert(const struct mshi_conversion *c, const void *in, uint64_t n, void *out,
                           struct mshi_conversion_report *report, mshard_error *err)
{
    struct mshi_conversion_report found = *report;

    if (c->from == c->to) {
        memcpy(out, in, n * mshard_dtype_size(c->to));
        return MSHARD_OK;
    }
    if (c->from == MSHARD_UINT8 && n >= TABLE_FROM && convert_bytes(c, in, n, out))
        return MSHARD_OK;
    if (c->from != MSHARD_FLOAT32 || c->to != MSHARD_FLOAT16 || narrow_float(in, n, out, &found.largest_error) < n) {
        found = *report;
        MSHI_TRY(convert_all(c, in, n, out, &found, err));
    }
    *report = found;
    return MSHARD_OK;
}
