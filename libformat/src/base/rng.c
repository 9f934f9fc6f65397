/*
 * rng.c - keyed permutation and counter-based random numbers
 *
 * The exact algorithms (spec/order.md; all arithmetic modulo 2^64, >> is a logical shift):
 *
 * mix(x):   x ^= x >> 30;  x *= 0xBF58476D1CE4E5B9;  x ^= x >> 27;  x *= 0x94D049BB133111EB;  x ^= x >> 31
 *
 * random(seed, epoch, index, stream):
 *           G = 0x9E3779B97F4A7C15
 *           h = mix(seed + G);  h = mix((h ^ epoch) + G);  h = mix((h ^ stream) + G);  h = mix((h ^ index) + G);
 *           result mix(h + G).  Streams from 2^63 on belong to the permutation.
 *
 * permutation of 0..n-1:
 *           b = bits of n - 1 (0 for n = 1);  left_bits = floor(b / 2);  right_bits = b - left_bits
 *           keys[r] = random(seed, epoch, r, 2^63 + n) for r = 0..5
 *           round(x, key): z = (x ^ key) * 0xBF58476D1CE4E5B9;  z ^= z >> 32;  z *= 0x94D049BB133111EB;  z >> 32
 *           encrypt(x): L = x >> right_bits, R = the low right_bits bits of x;
 *                       for each pass p = 0 .. passes - 1, in it for r = 0, 2, 4:
 *                           L ^= the low left_bits bits of round(R, keys[r] + p * G),
 *                           R ^= the low right_bits bits of round(L, keys[r + 1] + p * G);
 *                       result (L << right_bits) + R.  passes is 4 when b <= 8, else 1: on so few bits, six rounds
 *                       do not reach all orders equally often.
 *           at(i): x = encrypt(i), again x = encrypt(x) while x >= n.  b is exact: fewer than two steps on average.
 */
#include "base/rng.h"

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)
#define FACTOR1 UINT64_C(0xBF58476D1CE4E5B9)
#define FACTOR2 UINT64_C(0x94D049BB133111EB)

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * FACTOR1;
    x = (x ^ x >> 27) * FACTOR2;
    return x ^ x >> 31;
}

uint64_t mshi_random(uint64_t seed, uint64_t epoch, uint64_t index, uint64_t stream)
{
    uint64_t h = mix(seed + GOLDEN);

    h = mix((h ^ epoch) + GOLDEN);
    h = mix((h ^ stream) + GOLDEN);
    h = mix((h ^ index) + GOLDEN);
    return mix(h + GOLDEN);
}

static uint64_t round_value(uint64_t x, uint64_t key)
{
    uint64_t z = (x ^ key) * FACTOR1;

    z = (z ^ z >> 32) * FACTOR2;
    return z >> 32;
}

void mshi_permutation_init(struct mshi_permutation *p, uint64_t n, uint64_t seed, uint64_t epoch)
{
    uint32_t bits = 0;

    while (bits < 64 && n > 1 && (n - 1) >> bits)
        bits++;
    p->n = n;
    p->left_bits = bits / 2;
    p->right_bits = bits - p->left_bits;
    for (uint64_t r = 0; r < 6; r++)
        p->keys[r] = mshi_random(seed, epoch, r, (UINT64_C(1) << 63) + n);
}

uint64_t mshi_permutation_at(const struct mshi_permutation *p, uint64_t i)
{
    const uint32_t right_bits = p->right_bits;
    const uint64_t left_mask = (UINT64_C(1) << p->left_bits) - 1;
    const uint64_t right_mask = (UINT64_C(1) << right_bits) - 1;
    const uint64_t end_of_passes = right_bits < 5 ? 4 * GOLDEN : GOLDEN;
    const uint64_t *const k = p->keys;

    do {
        uint64_t left = i >> right_bits, right = i & right_mask;

        for (uint64_t pass = 0; pass != end_of_passes; pass += GOLDEN) {
            left ^= round_value(right, k[0] + pass) & left_mask;
            right ^= round_value(left, k[1] + pass) & right_mask;
            left ^= round_value(right, k[2] + pass) & left_mask;
            right ^= round_value(left, k[3] + pass) & right_mask;
            left ^= round_value(right, k[4] + pass) & left_mask;
            right ^= round_value(left, k[5] + pass) & right_mask;
        }
        i = (left << right_bits) | right;
    } while (i >= p->n);
    return i;
}
