/*
 * stats_figures.c - mean, standard deviation and the published figures
 *
 * Integer dtypes: n * (sum of squares) - (sum)^2 is computed exactly in 320 bits, so the standard deviation loses
 * nothing to cancellation, whatever the values.
 */
#include "format/stats_parts.h"

#include <float.h>
#include <math.h>

enum { LIMBS = 5 };

struct wide {
    uint64_t limb[LIMBS]; /* least first */
};

/* to += a * b * 2^(64 * at); what does not fit is lost (it always fits here). */
static void add_product(struct wide *to, uint64_t a, uint64_t b, unsigned at)
{
    mshi_u128 carry = (mshi_u128)a * b;

    for (; at < LIMBS && carry; at++) {
        carry += to->limb[at]; /* at most 2^128 - 2^65 + 1 + 2^64 - 1: fits */
        to->limb[at] = (uint64_t)carry;
        carry >>= 64;
    }
}

static void subtract(struct wide *from, const struct wide *amount)
{
    uint64_t borrow = 0;

    for (unsigned i = 0; i < LIMBS; i++) {
        uint64_t v, under;

        under = __builtin_sub_overflow(from->limb[i], amount->limb[i], &v);
        under += __builtin_sub_overflow(v, borrow, &v);
        from->limb[i] = v;
        borrow = under;
    }
}

static double to_double(const struct wide *wide)
{
    double value = 0;

    for (unsigned i = LIMBS; i-- > 0;)
        value = value * 0x1p64 + (double)wide->limb[i];
    return value;
}

double mshi_stats_exact_mean(const struct mshi_exact *exact, uint64_t n)
{
    const mshi_i128 whole = exact->sum / (mshi_i128)n;
    const mshi_i128 part = exact->sum % (mshi_i128)n;

    return (double)whole + (double)part / (double)n;
}

double mshi_stats_exact_std(const struct mshi_exact *exact, uint64_t n)
{
    const mshi_u128 size = exact->sum < 0 ? -(mshi_u128)exact->sum : (mshi_u128)exact->sum;
    const uint64_t high = (uint64_t)(size >> 64), low = (uint64_t)size;
    struct wide spread = {.limb = {0}}, square = {.limb = {0}};

    add_product(&spread, n, (uint64_t)exact->squares, 0);
    add_product(&spread, n, (uint64_t)(exact->squares >> 64), 1);
    add_product(&spread, n, exact->carry, 2);
    add_product(&square, low, low, 0);
    add_product(&square, low, high, 1);
    add_product(&square, low, high, 1);
    add_product(&square, high, high, 2);
    subtract(&spread, &square);
    return sqrt(to_double(&spread)) / (double)n;
}

static double key_value(uint64_t key, bool is_signed)
{
    return is_signed ? (double)(int64_t)(key ^ UINT64_C(1) << 63) : (double)key;
}

/* A figure that left the range of a double. */
static double in_range(double value)
{
    if (isnan(value))
        return 0;
    return value > DBL_MAX ? DBL_MAX : value < -DBL_MAX ? -DBL_MAX : value;
}

static void float_figures(const struct mshi_stats *stats, uint32_t c, mshard_stats *result)
{
    const struct mshi_moments m = mshi_stats_moments(stats, c);

    if (m.count == 0)
        return;
    result->min[c] = m.low;
    result->max[c] = m.high;
    if (m.low == m.high) { /* rounding must not make a constant vary */
        result->mean[c] = m.low;
        return;
    }
    result->mean[c] = in_range((m.sum + m.rest) / (double)m.count);
    result->std[c] = isfinite(m.deviations) ? sqrt(m.deviations / (double)m.count) : DBL_MAX;
}

void mshi_stats_result(const struct mshi_stats *stats, mshard_stats *result)
{
    *result = (mshard_stats){
        .channels = stats->channels,
        .values = stats->elements / stats->channels,
        .nan = stats->nan,
        .inf = stats->inf,
        .min_size = stats->variable && stats->records ? stats->min_size : 0,
        .max_size = stats->variable ? stats->max_size : 0,
    };
    if (stats->counting && stats->count_length) {
        result->counts = stats->counts;
        result->count_length = stats->count_length;
    }
    if (!stats->figures || result->values == 0)
        return;
    for (uint32_t c = 0; c < stats->channels; c++) {
        const struct mshi_exact *const exact = &stats->exact[c];

        if (stats->floating) {
            float_figures(stats, c, result);
            continue;
        }
        result->min[c] = key_value(exact->low, stats->is_signed);
        result->max[c] = key_value(exact->high, stats->is_signed);
        result->mean[c] = mshi_stats_exact_mean(exact, result->values);
        result->std[c] = mshi_stats_exact_std(exact, result->values);
    }
}
