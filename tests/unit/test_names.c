/* test_names.c - string sets: numbers, lookup, order, escapes */
#include "ingest/names.h"

#include "support/main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(numbers_stay_while_the_set_grows)
{
    struct mshi_names names = {.count = 0};
    char text[32];
    uint64_t number;
    bool added;

    for (uint64_t i = 0; i < 5000; i++) {
        const int size = snprintf(text, sizeof(text), "name %" PRIu64, i * 7919 % 5000);
        ck_assert_int_eq(mshi_names_add(&names, text, (size_t)size, &number, &added, NULL), MSHARD_OK);
        ck_assert(added);
        ck_assert_uint_eq(number, i);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        const int size = snprintf(text, sizeof(text), "name %" PRIu64, i * 7919 % 5000);
        ck_assert(mshi_names_find(&names, text, (size_t)size, &number));
        ck_assert_uint_eq(number, i);
        ck_assert_str_eq(mshi_names_at(&names, i), text);
        ck_assert_uint_eq(mshi_names_size(&names, i), (size_t)size);
    }
    ck_assert(!mshi_names_find(&names, "name", 4, &number));
    mshi_names_clear(&names);
    ck_assert(!mshi_names_find(&names, "name", 4, &number));
}
END_TEST

START_TEST(order_is_that_of_bytes)
{
    static const char *const texts[] = {"b", "", "a.b", "a", "\xFF", "B", "ab"};
    static const uint64_t expected[] = {1, 5, 3, 2, 6, 0, 4};
    struct mshi_names names = {.count = 0};
    uint64_t number, *order;

    for (size_t i = 0; i < 7; i++)
        ck_assert_int_eq(mshi_names_add(&names, texts[i], strlen(texts[i]), &number, NULL, NULL), MSHARD_OK);
    ck_assert_int_eq(mshi_names_order(&names, &order, NULL), MSHARD_OK);
    for (size_t i = 0; i < 7; i++)
        ck_assert_uint_eq(order[i], expected[i]);
    free(order);
    mshi_names_clear(&names);
}
END_TEST

START_TEST(escapes)
{
    struct mshi_buf buf = {.data = NULL};

    ck_assert(mshi_text_escape(&buf, "a\xE9\n\xC3\xA9\x7F", 6));
    ck_assert_str_eq(buf.data, "a\\xE9\\x0A\xC3\xA9\\x7F");
    buf.size = 0;
    ck_assert(!mshi_text_escape(&buf, "plain", 5));
    ck_assert(mshi_text_is_plain("\xC3\xA9", 2));
    ck_assert(!mshi_text_is_plain("\xC3", 1));
    ck_assert(!mshi_text_is_plain("\t", 1));
    mshi_buf_clear(&buf);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("names");
    TCase *c = tcase_create("names");

    tcase_add_test(c, numbers_stay_while_the_set_grows);
    tcase_add_test(c, order_is_that_of_bytes);
    tcase_add_test(c, escapes);
    suite_add_tcase(suite, c);
    return suite;
}
