/*
 * stats_parts.h - the inside of an accumulator, shared by stats.c, stats_kernels.c, stats_figures.c, stats_state.c
 */
#ifndef MSHI_FORMAT_STATS_PARTS_H
#define MSHI_FORMAT_STATS_PARTS_H

#include "format/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MSHI_STATS_BLOCK = 1024,    /* float values added up as one */
    MSHI_STATS_CLASSES = 65536, /* labels counted */
};

__extension__ typedef __int128 mshi_i128;
__extension__ typedef unsigned __int128 mshi_u128;

/* Integer dtypes: exact sums of one channel. */
struct mshi_exact {
    mshi_i128 sum;
    mshi_u128 squares; /* sum of squares: squares + carry * 2^128 */
    uint64_t carry;
    uint64_t low, high; /* least and greatest value; of signed dtypes with the sign bit turned over */
};

/* Float dtypes: one channel; the finite values only. */
struct mshi_moments {
    uint64_t count;
    double sum, rest;  /* their sum is sum + rest */
    double deviations; /* sum of squared distances from the mean */
    double low, high;
};

struct mshi_stats {
    mshard_dtype dtype;
    bool variable, floating, is_signed;
    bool figures;  /* false: encoded and text fields */
    bool counting; /* classes are counted */
    uint32_t channels;
    uint64_t record_size; /* fixed fields */
    uint64_t records;
    uint64_t elements; /* of all channels */
    uint64_t nan, inf;
    uint64_t min_size, max_size; /* variable fields with records */
    struct mshi_exact exact[MSHARD_MAX_CHANNELS];
    struct mshi_moments moments[MSHARD_MAX_CHANNELS];
    double *block; /* channels * MSHI_STATS_BLOCK values not yet in moments */
    uint32_t fill[MSHARD_MAX_CHANNELS];
    uint64_t *counts;
    uint64_t count_length, count_capacity;
};

/* Key that orders like the value. */
static inline uint64_t mshi_stats_key(int64_t value)
{
    return (uint64_t)value ^ UINT64_C(1) << 63;
}

/* ---- stats_kernels.c: elements from data on; the first is of channel 0, elements is a multiple of channels ---- */
void mshi_stats_add_bytes(struct mshi_exact *exact, uint32_t channels, const uint8_t *data, size_t elements);
void mshi_stats_add_integers(struct mshi_exact *exact, uint32_t channels, mshard_dtype dtype, const void *data,
                             size_t elements);
void mshi_stats_add_floats(struct mshi_stats *stats, const void *data, size_t elements);
/* What moments become when count values are added as one block. */
void mshi_stats_add_block(struct mshi_moments *moments, const double *values, uint32_t count);
/* Moments of channel c with its unfinished block. */
struct mshi_moments mshi_stats_moments(const struct mshi_stats *stats, uint32_t c);
/* Both orders matter: from comes after into. */
void mshi_stats_join(struct mshi_moments *into, const struct mshi_moments *from);
/* Integer i of data as 64 bits, sign extended. */
int64_t mshi_stats_integer(mshard_dtype dtype, const void *data, size_t i);

/* ---- stats_figures.c ---- */
double mshi_stats_exact_mean(const struct mshi_exact *exact, uint64_t n);
double mshi_stats_exact_std(const struct mshi_exact *exact, uint64_t n);

#endif
