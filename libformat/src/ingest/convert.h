/*
 * convert.h - values from one dtype to another, without a silent loss
 *
 * To a float: nearest, ties to even, in one rounding; NaN and infinities pass. To an integer: nearest, ties to
 * even; NaN is always an error. A finite value whose result would be infinite, or an infinity or a number outside
 * an integer's range, is an overflow: an error, the nearest finite value (clamp), or infinity (floats only).
 */
#ifndef MSHI_INGEST_CONVERT_H
#define MSHI_INGEST_CONVERT_H

#include "base/fail.h"
#include <mshard/pack.h>
#include <stdint.h>

struct mshi_conversion {
    mshard_dtype from, to;
    mshard_on_overflow on_overflow;
};

struct mshi_conversion_report {
    double largest_error; /* absolute, of values that did not overflow */
    uint64_t overflowed;  /* values clamped or turned to infinity */
};

/*
 * n values, little-endian. in need not be aligned; out holds n values of the new dtype. DECODE tells value and
 * element of the first that does not fit; out is then undefined and the report is as it was.
 */
mshard_status mshi_convert(const struct mshi_conversion *c, const void *in, uint64_t n, void *out,
                           struct mshi_conversion_report *report, mshard_error *err);

#endif
