/*
 * values.c - the numbers of a view
 *
 * Views are aligned to their dtype, but all loads go through memcpy: bytes may also come from a decoded copy.
 */
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool value_is_real(mshard_dtype dtype)
{
    return dtype == MSHARD_FLOAT16 || dtype == MSHARD_FLOAT32 || dtype == MSHARD_FLOAT64 || dtype == MSHARD_BFLOAT16;
}

static double half_real(uint16_t bits)
{
    const uint32_t exponent = bits >> 10 & 31u, fraction = bits & 1023u;
    const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;

    if (exponent == 0)
        return sign * ldexp((double)fraction, -24);
    if (exponent == 31)
        return fraction != 0 ? (double)NAN : sign * HUGE_VAL;
    return sign * ldexp((double)(fraction | 1024u), (int)exponent - 25);
}

static double bfloat_real(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

union element {
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
};

static union element load(const void *data, uint64_t i, mshard_dtype dtype)
{
    union element e = {.u64 = 0};
    const size_t size = mshard_dtype_size(dtype);

    memcpy(&e, (const uint8_t *)data + i * size, size);
    return e;
}

double value_real(const void *data, uint64_t i, mshard_dtype dtype)
{
    const union element e = load(data, i, dtype);

    switch (dtype) {
    case MSHARD_INT8:
        return e.i8;
    case MSHARD_INT16:
        return e.i16;
    case MSHARD_INT32:
        return e.i32;
    case MSHARD_INT64:
        return (double)e.i64;
    case MSHARD_UINT16:
        return e.u16;
    case MSHARD_UINT32:
        return e.u32;
    case MSHARD_UINT64:
        return (double)e.u64;
    case MSHARD_FLOAT16:
        return half_real(e.u16);
    case MSHARD_BFLOAT16:
        return bfloat_real(e.u16);
    case MSHARD_FLOAT32:
        return (double)e.f32;
    case MSHARD_FLOAT64:
        return e.f64;
    default:
        return e.u8;
    }
}

const char *value_text(char text[TEXT_SIZE], const void *data, uint64_t i, mshard_dtype dtype)
{
    const union element e = load(data, i, dtype);
    const double real = value_is_real(dtype) ? value_real(data, i, dtype) : 0.0;

    if (dtype == MSHARD_UINT64) {
        (void)snprintf(text, TEXT_SIZE, "%llu", (unsigned long long)e.u64);
    } else if (dtype == MSHARD_INT64) {
        (void)snprintf(text, TEXT_SIZE, "%lld", (long long)e.i64);
    } else if (!value_is_real(dtype)) {
        (void)snprintf(text, TEXT_SIZE, "%.0f", value_real(data, i, dtype));
    } else if (isnan(real)) {
        (void)snprintf(text, TEXT_SIZE, "nan");
    } else if (isinf(real)) {
        (void)snprintf(text, TEXT_SIZE, real > 0 ? "inf" : "-inf");
    } else if (dtype == MSHARD_FLOAT64) {
        (void)text_exact(text, real);
    } else {
        for (int digits = 1; digits <= 9; digits++) {
            (void)snprintf(text, TEXT_SIZE, "%.*g", digits, real);
            if ((double)strtof(text, NULL) == real)
                break;
        }
    }
    return text;
}

void value_json(const void *data, uint64_t i, mshard_dtype dtype)
{
    const union element e = load(data, i, dtype);

    if (dtype == MSHARD_UINT64)
        json_count(NULL, e.u64);
    else if (dtype == MSHARD_BOOL)
        json_bool(NULL, e.u8 != 0);
    else if (!value_is_real(dtype))
        json_int(NULL, dtype == MSHARD_INT64 ? e.i64 : (int64_t)value_real(data, i, dtype));
    else
        json_real(NULL, value_real(data, i, dtype));
}

/* Elements in one entry of the first dimension. */
static uint64_t inner(const uint64_t *shape, uint32_t ndim)
{
    uint64_t n = 1;

    for (uint32_t d = 1; d < ndim; d++)
        n *= shape[d];
    return n;
}

static void json_part(const char *name, const uint8_t *data, mshard_dtype dtype, const uint64_t *shape, uint32_t ndim)
{
    const uint64_t step = inner(shape, ndim);

    json_open(name, '[');
    for (uint64_t i = 0; i < shape[0] && !out_lost(); i++) {
        if (ndim == 1)
            value_json(data, i, dtype);
        else
            json_part(NULL, data + i * step * mshard_dtype_size(dtype), dtype, shape + 1, ndim - 1);
    }
    json_close();
}

void values_json(const char *name, const void *data, mshard_dtype dtype, const uint64_t *shape, uint32_t ndim)
{
    if (ndim > 0) {
        json_part(name, data, dtype, shape, ndim);
        return;
    }
    const union element e = load(data, 0, dtype);
    if (dtype == MSHARD_UINT64)
        json_count(name, e.u64);
    else if (dtype == MSHARD_BOOL)
        json_bool(name, e.u8 != 0);
    else if (!value_is_real(dtype))
        json_int(name, dtype == MSHARD_INT64 ? e.i64 : (int64_t)value_real(data, 0, dtype));
    else
        json_real(name, value_real(data, 0, dtype));
}

static void print_part(const uint8_t *data, mshard_dtype dtype, const uint64_t *shape, uint32_t ndim, uint32_t depth)
{
    const uint64_t step = inner(shape, ndim);
    char text[TEXT_SIZE];

    out("[");
    for (uint64_t i = 0; i < shape[0] && !out_lost(); i++) {
        if (ndim == 1) {
            out("%s%s", i > 0 ? ", " : "", value_text(text, data, i, dtype));
            continue;
        }
        if (i > 0)
            out(",\n%*s", (int)depth + 1, "");
        print_part(data + i * step * mshard_dtype_size(dtype), dtype, shape + 1, ndim - 1, depth + 1);
    }
    out("]");
}

void values_print(const void *data, mshard_dtype dtype, const uint64_t *shape, uint32_t ndim)
{
    char text[TEXT_SIZE];

    if (ndim == 0)
        out("%s", value_text(text, data, 0, dtype));
    else
        print_part(data, dtype, shape, ndim, 0);
    out("\n");
}

struct value_summary values_summary(const void *data, uint64_t count, mshard_dtype dtype)
{
    struct value_summary s = {.count = count, .min = HUGE_VAL, .max = -HUGE_VAL};
    double sum = 0.0;
    uint64_t finite = 0;

    for (uint64_t i = 0; i < count; i++) {
        const double value = value_real(data, i, dtype);
        if (isnan(value)) {
            s.nan++;
        } else if (isinf(value)) {
            s.inf++;
        } else {
            s.min = value < s.min ? value : s.min;
            s.max = value > s.max ? value : s.max;
            sum += value;
            finite++;
        }
    }
    s.mean = finite > 0 ? sum / (double)finite : (double)NAN;
    if (finite == 0)
        s.min = s.max = (double)NAN;
    return s;
}
