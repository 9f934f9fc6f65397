/* test_hash.c - XXH3 values as the format freezes them, and pieces against the whole */
#include "base/hash.h"

#include "support/main.h"

#include <string.h>

START_TEST(known_values)
{
    char text[33];

    /* xxHash's own: xxhsum -H3 and -H2 of no bytes and of "abc" */
    ck_assert_uint_eq(mshi_hash64("", 0, 0), 0x2D06800538D394C2);
    ck_assert_uint_eq(mshi_hash64("abc", 3, 0), 0x78AF5F94892F3950);
    mshi_hash128_hex(mshi_hash128("", 0), text);
    ck_assert_str_eq(text, "99aa06d3014798d86001c324468d497f");
    mshi_hash128_hex(mshi_hash128("abc", 3), text);
    ck_assert_str_eq(text, "06b05ab6733a618578af5f94892f3950");
    ck_assert_uint_ne(mshi_hash64("abc", 3, 1), mshi_hash64("abc", 3, 0));
}
END_TEST

START_TEST(pieces_make_the_whole)
{
    static unsigned char data[10000];
    struct mshi_hash_stream *stream = mshi_hash_stream_new();
    const struct mshi_hash128 whole =
        (memset(data, 0x5A, sizeof(data)), data[77] = 1, mshi_hash128(data, sizeof(data)));
    struct mshi_hash128 pieces;

    ck_assert_ptr_nonnull(stream);
    for (size_t at = 0, step = 0; at < sizeof(data); at += step, step = step * 2 + 1) {
        if (step > sizeof(data) - at)
            step = sizeof(data) - at;
        mshi_hash_stream_add(stream, data + at, step);
    }
    mshi_hash_stream_add(stream, NULL, 0);
    pieces = mshi_hash_stream_end(stream);
    ck_assert_uint_eq(pieces.high, whole.high);
    ck_assert_uint_eq(pieces.low, whole.low);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("hash");
    TCase *tests = tcase_create("hash");

    tcase_add_test(tests, known_values);
    tcase_add_test(tests, pieces_make_the_whole);
    suite_add_tcase(suite, tests);
    return suite;
}
