/*
 * half.h - float16 and bfloat16 conversion: round to nearest, ties to even
 *
 * Overflow gives infinity; NaN stays NaN (quiet); -0.0 keeps its sign; subnormals exact. double goes to
 * half in one rounding (never through float).
 */
#ifndef MSHI_BASE_HALF_H
#define MSHI_BASE_HALF_H

#include <stddef.h>
#include <stdint.h>

uint16_t mshi_half_from_float(float f);
uint16_t mshi_half_from_double(double d);
float mshi_half_to_float(uint16_t h); /* exact */
uint16_t mshi_bfloat_from_float(float f);
uint16_t mshi_bfloat_from_double(double d);
float mshi_bfloat_to_float(uint16_t b);

#endif
