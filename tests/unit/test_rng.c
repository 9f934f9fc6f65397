/* test_rng.c - the keyed permutation is one, for every n; random numbers are even; both are frozen */
#include "base/rng.h"

#include "support/main.h"

#include <stdlib.h>
#include <string.h>

static void check_bijection(uint64_t n, uint64_t seed, uint64_t epoch)
{
    struct mshi_permutation p;
    unsigned char *seen = calloc(1, (size_t)n);

    ck_assert_ptr_nonnull(seen);
    mshi_permutation_init(&p, n, seed, epoch);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t to = mshi_permutation_at(&p, i);

        ck_assert_msg(to < n && !seen[to], "n %llu: %llu goes to %llu", (unsigned long long)n, (unsigned long long)i,
                      (unsigned long long)to);
        seen[to] = 1;
    }
    free(seen);
}

START_TEST(small_orders_are_complete)
{
    for (uint64_t n = 1; n <= 2000; n++)
        check_bijection(n, 7 * n, n);
}
END_TEST

START_TEST(orders_around_powers_of_two)
{
    for (unsigned bits = 11; bits <= 17; bits++)
        for (uint64_t n = (UINT64_C(1) << bits) - 1; n <= (UINT64_C(1) << bits) + 1; n++)
            check_bijection(n, UINT64_MAX, bits);
    check_bijection(100003, 0, 0);
}
END_TEST

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* A map of a finite set to itself that walks a permutation of 2^b is one as soon as encrypt is: look for collisions. */
START_TEST(big_orders_do_not_collide)
{
    static const uint64_t sizes[] = {UINT64_C(1) << 40,     (UINT64_C(1) << 40) - 1, (UINT64_C(1) << 33) + 1,
                                     UINT64_C(10000000000), UINT64_C(4294967296),    UINT64_C(4294967297)};
    static uint64_t to[40000];
    enum { COUNT = sizeof(to) / sizeof(to[0]) };

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        struct mshi_permutation p;

        mshi_permutation_init(&p, sizes[k], 99, k);
        for (uint64_t i = 0; i < COUNT; i++) { /* both ends */
            to[i] = mshi_permutation_at(&p, i & 1 ? sizes[k] - 1 - i / 2 : i / 2);
            ck_assert_uint_lt(to[i], sizes[k]);
        }
        qsort(to, COUNT, sizeof(to[0]), by_value);
        for (size_t i = 1; i < COUNT; i++)
            ck_assert_uint_ne(to[i - 1], to[i]);
    }
}
END_TEST

/* n = 4: each of the 24 orders about as often as the others. */
START_TEST(tiny_orders_are_even)
{
    unsigned count[256] = {0}, seen = 0;
    double chi2 = 0;

    for (uint64_t seed = 0; seed < 24000; seed++) {
        struct mshi_permutation p;
        unsigned code = 0;

        mshi_permutation_init(&p, 4, seed, 3);
        for (uint64_t i = 0; i < 4; i++)
            code = code << 2 | (unsigned)mshi_permutation_at(&p, i);
        count[code]++;
    }
    for (unsigned c = 0; c < 256; c++) {
        if (!count[c])
            continue;
        seen++;
        chi2 += (count[c] - 1000.0) * (count[c] - 1000.0) / 1000;
    }
    ck_assert_uint_eq(seen, 24);
    ck_assert_double_lt(chi2, 50); /* 23 degrees of freedom: 1 in 1000 is 49.7 */
}
END_TEST

START_TEST(positions_are_even)
{
    enum { N = 1000, SEEDS = 500 };
    double table[10][10] = {{0}}, chi2 = 0;
    unsigned fixed = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct mshi_permutation p;

        mshi_permutation_init(&p, N, seed, 0);
        for (uint64_t i = 0; i < N; i++) {
            const uint64_t to = mshi_permutation_at(&p, i);

            table[i * 10 / N][to * 10 / N]++;
            fixed += to == i;
        }
    }
    for (int a = 0; a < 10; a++)
        for (int b = 0; b < 10; b++)
            chi2 += (table[a][b] - N * SEEDS / 100.0) * (table[a][b] - N * SEEDS / 100.0) / (N * SEEDS / 100.0);
    ck_assert_double_lt(chi2, 126); /* 81 degrees of freedom: 1 in 1000 is 125.8 */
    ck_assert_uint_gt(fixed, SEEDS * 8 / 10);
    ck_assert_uint_lt(fixed, SEEDS * 12 / 10);
}
END_TEST

/* Seeds and epochs are hashed, not added: (s, e) and (s + 1, e - 1) have nothing in common. */
START_TEST(keys_are_not_sums)
{
    struct mshi_permutation a, b, c;
    unsigned same_ab = 0, same_ac = 0;

    mshi_permutation_init(&a, 1000, 5, 7);
    mshi_permutation_init(&b, 1000, 6, 6);
    mshi_permutation_init(&c, 1000, 7, 5);
    for (uint64_t i = 0; i < 1000; i++) {
        same_ab += mshi_permutation_at(&a, i) == mshi_permutation_at(&b, i);
        same_ac += mshi_permutation_at(&a, i) == mshi_permutation_at(&c, i);
    }
    ck_assert_uint_lt(same_ab, 12);
    ck_assert_uint_lt(same_ac, 12);
    ck_assert_uint_ne(mshi_random(1, 2, 3, 4), mshi_random(2, 1, 3, 4));
    ck_assert_uint_ne(mshi_random(1, 2, 3, 4), mshi_random(1, 3, 2, 4));
    ck_assert_uint_ne(mshi_random(1, 2, 3, 4), mshi_random(1, 2, 4, 3));
}
END_TEST

/* Turning over any input bit turns over each output bit half of the time. */
START_TEST(random_avalanche)
{
    enum { TRIALS = 4000 };

    for (unsigned word = 0; word < 4; word++) {
        for (unsigned bit = 0; bit < 64; bit += 9) {
            unsigned turned[64] = {0};

            for (uint64_t t = 0; t < TRIALS; t++) {
                uint64_t in[4] = {1, t >> 8, t, 2}, before;

                before = mshi_random(in[0], in[1], in[2], in[3]);
                in[word] ^= UINT64_C(1) << bit;
                before ^= mshi_random(in[0], in[1], in[2], in[3]);
                for (unsigned b = 0; b < 64; b++)
                    turned[b] += (unsigned)(before >> b & 1);
            }
            for (unsigned b = 0; b < 64; b++) { /* 6 standard deviations of sqrt(4000) / 2 */
                ck_assert_uint_gt(turned[b], TRIALS / 2 - 190);
                ck_assert_uint_lt(turned[b], TRIALS / 2 + 190);
            }
        }
    }
}
END_TEST

/* spec/order.md freezes these values: a data order must be the same in every version. */
START_TEST(frozen)
{
    static const uint64_t ten[10] = {4, 7, 3, 2, 1, 6, 9, 5, 0, 8};
    static const uint64_t million[4] = {625204, 826420, 773896, 703298};
    static const uint64_t big[2] = {UINT64_C(9778255597), UINT64_C(1905752481)};
    struct mshi_permutation p;

    ck_assert_uint_eq(mshi_random(0, 0, 0, 0), 0x78AE5A9A6B5FD45E);
    ck_assert_uint_eq(mshi_random(1, 2, 3, 4), 0x68FDE65231BB2404);
    mshi_permutation_init(&p, 10, 42, 0);
    for (uint64_t i = 0; i < 10; i++)
        ck_assert_uint_eq(mshi_permutation_at(&p, i), ten[i]);
    mshi_permutation_init(&p, 1000000, 42, 1);
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_uint_eq(mshi_permutation_at(&p, i), million[i]);
    mshi_permutation_init(&p, UINT64_C(10000000000), 1, 1);
    ck_assert_uint_eq(mshi_permutation_at(&p, 0), big[0]);
    ck_assert_uint_eq(mshi_permutation_at(&p, UINT64_C(9999999999)), big[1]);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("rng");
    TCase *tests = tcase_create("rng");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, small_orders_are_complete);
    tcase_add_test(tests, orders_around_powers_of_two);
    tcase_add_test(tests, big_orders_do_not_collide);
    tcase_add_test(tests, tiny_orders_are_even);
    tcase_add_test(tests, positions_are_even);
    tcase_add_test(tests, keys_are_not_sums);
    tcase_add_test(tests, random_avalanche);
    tcase_add_test(tests, frozen);
    suite_add_tcase(suite, tests);
    return suite;
}
