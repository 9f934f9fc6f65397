/*
 * rng.h - keyed permutation and counter-based random numbers: pure functions, no state
 *
 * spec/order.md freezes both with test vectors.
 */
#ifndef MSHI_BASE_RNG_H
#define MSHI_BASE_RNG_H

#include <stdint.h>

/* A bijection of 0..n-1, n from 1 to 2^40: Feistel network of exact bit width, 6 rounds, cycle walking. */
struct mshi_permutation {
    uint64_t n;
    uint32_t left_bits, right_bits;
    uint64_t keys[6];
};
void mshi_permutation_init(struct mshi_permutation *p, uint64_t n, uint64_t seed, uint64_t epoch);
uint64_t mshi_permutation_at(const struct mshi_permutation *p, uint64_t i); /* i < n */

/* 64 random bits for (seed, epoch, index, stream). */
uint64_t mshi_random(uint64_t seed, uint64_t epoch, uint64_t index, uint64_t stream);

#endif
