/* test_buf.c - growable buffers, checked allocation, JSON strings and numbers */
#include "base/alloc.h"
#include "base/buf.h"

#include "support/main.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

START_TEST(appends)
{
    struct mshi_buf buf = {0};

    mshi_buf_add(&buf, NULL, 0);
    ck_assert_str_eq(buf.data, "");
    for (int i = 0; i < 1000; i++)
        mshi_buf_printf(&buf, "%d,", i % 10);
    mshi_buf_text(&buf, "end");
    ck_assert_uint_eq(buf.size, 2003);
    ck_assert_uint_eq(strlen(buf.data), 2003);
    ck_assert_str_eq(buf.data + 1994, "7,8,9,end");
    ck_assert_int_eq(mshi_buf_status(&buf, NULL), MSHARD_OK);
    mshi_buf_clear(&buf);
    ck_assert_ptr_null(buf.data);
}
END_TEST

START_TEST(remembers_no_memory)
{
    struct mshi_buf buf = {0};
    mshard_error err;

    mshi_buf_text(&buf, "kept");
    const size_t huge = SIZE_MAX - 8;
    mshi_buf_add(&buf, "x", huge); /* refused before anything is copied */
    mshi_buf_text(&buf, "more");
    ck_assert_int_eq(mshi_buf_status(&buf, &err), MSHARD_E_NOMEM);
    ck_assert_str_eq(buf.data, "kept");
    mshi_buf_clear(&buf);
}
END_TEST

static const char *json_string(const char *text, size_t size)
{
    static char copy[256];
    struct mshi_buf buf = {0};

    mshi_buf_json_string(&buf, text, size);
    ck_assert_uint_lt(buf.size, sizeof(copy));
    memcpy(copy, buf.data, buf.size + 1);
    mshi_buf_clear(&buf);
    return copy;
}

START_TEST(quotes_strings)
{
    ck_assert_str_eq(json_string("", 0), "\"\"");
    ck_assert_str_eq(json_string("a\"b\\c/", 6), "\"a\\\"b\\\\c/\"");
    ck_assert_str_eq(json_string("\n\t\r\b\f\x01\x1f\x7f", 8), "\"\\n\\t\\r\\b\\f\\u0001\\u001f\\u007f\"");
    ck_assert_str_eq(json_string("a\0b", 3), "\"a\\u0000b\"");
    ck_assert_str_eq(json_string("\xC3\xA9\xF0\x9F\x98\x80", 6), "\"\xC3\xA9\xF0\x9F\x98\x80\"");
    ck_assert_str_eq(json_string("x\xff\xC3", 3), "\"x\xEF\xBF\xBD\xEF\xBF\xBD\"");
    ck_assert_str_eq(json_string("\xC0\xAF", 2), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                 /* overlong */
    ck_assert_str_eq(json_string("\xED\xA0\x80", 3), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""); /* surrogate */
    ck_assert_str_eq(json_string("\xF4\x90\x80\x80", 4), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}
END_TEST

static const char *json_double(double value)
{
    static char copy[64];
    struct mshi_buf buf = {0};

    mshi_buf_json_double(&buf, value);
    memcpy(copy, buf.data, buf.size + 1);
    mshi_buf_clear(&buf);
    return copy;
}

START_TEST(prints_numbers)
{
    ck_assert_str_eq(json_double(0), "0");
    ck_assert_str_eq(json_double(-0.0), "-0.0");
    ck_assert_str_eq(json_double(0.1), "0.1");
    ck_assert_str_eq(json_double(-1.5), "-1.5");
    ck_assert_str_eq(json_double(255), "255");
    ck_assert_str_eq(json_double(1e22), "1e+22");
    ck_assert_str_eq(json_double(0.1 + 0.2), "0.30000000000000004");
    ck_assert_str_eq(json_double(NAN), "null");
    ck_assert_str_eq(json_double(INFINITY), "null");
    uint64_t state = 88172645463325252;
    for (int i = 0; i < 20000; i++) {
        double value;

        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        memcpy(&value, &state, sizeof(value));
        if (isfinite(value))
            ck_assert(strtod(json_double(value), NULL) == value);
    }
    ck_assert(strtod(json_double(DBL_MAX), NULL) == DBL_MAX);
    ck_assert(strtod(json_double(0x1p-1074), NULL) == 0x1p-1074);
}
END_TEST

START_TEST(ignores_the_locale)
{
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};

    for (size_t i = 0; i < sizeof(comma) / sizeof(comma[0]); i++)
        if (setlocale(LC_NUMERIC, comma[i]))
            break; /* where none is installed, the test holds in the C locale */
    ck_assert_str_eq(json_double(1234.5), "1234.5");
    setlocale(LC_NUMERIC, "C");
}
END_TEST

START_TEST(allocates_with_checks)
{
    mshard_error err;
    char *p = (char *)1, *text;
    uint64_t capacity = 0, *list = NULL;

    ck_assert_int_eq(mshi_alloc(UINT64_MAX / 2, 16, &p, &err), MSHARD_E_NOMEM);
    ck_assert_ptr_null(p);
    ck_assert_int_eq(mshi_alloc(UINT64_C(1) << 60, 8, &p, &err), MSHARD_E_NOMEM);
    ck_assert_ptr_nonnull(strstr(err.message, "9223372036854775808"));
    ck_assert_int_eq(mshi_alloc(0, 8, &p, &err), MSHARD_OK);
    ck_assert_ptr_nonnull(p);
    free(p);
    for (uint64_t i = 0; i < 5000; i++) {
        ck_assert_int_eq(mshi_grow(&list, &capacity, i + 1, sizeof(*list), &err), MSHARD_OK);
        list[i] = i;
    }
    for (uint64_t i = 0; i < 5000; i++)
        ck_assert_uint_eq(list[i], i);
    const uint64_t before = capacity;
    ck_assert_int_eq(mshi_grow(&list, &capacity, UINT64_MAX, sizeof(*list), &err), MSHARD_E_NOMEM);
    ck_assert_uint_eq(capacity, before);
    ck_assert_uint_eq(list[4999], 4999);
    free(list);
    ck_assert_int_eq(mshi_alloc_aligned(4096, 5, &p, &err), MSHARD_OK);
    ck_assert_uint_eq((uintptr_t)p % 4096, 0);
    free(p);
    ck_assert_int_eq(mshi_alloc_aligned(64, UINT64_MAX - 3, &p, &err), MSHARD_E_NOMEM);
    ck_assert_int_eq(mshi_strdup("text", &text, &err), MSHARD_OK);
    ck_assert_str_eq(text, "text");
    free(text);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("buf");
    TCase *tests = tcase_create("buf");

    tcase_add_test(tests, appends);
    tcase_add_test(tests, remembers_no_memory);
    tcase_add_test(tests, quotes_strings);
    tcase_add_test(tests, prints_numbers);
    tcase_add_test(tests, ignores_the_locale);
    tcase_add_test(tests, allocates_with_checks);
    suite_add_tcase(suite, tests);
    return suite;
}
