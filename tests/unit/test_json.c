/* test_json.c - JSON trees: what is read, what is refused, and where the fault is said to be */
#include "base/json.h"

#include "support/main.h"

#include <stdlib.h>
#include <string.h>

static mshi_json *parse(const char *text)
{
    mshi_json *root = NULL;
    mshard_error err;

    ck_assert_int_eq(mshi_json_parse(text, strlen(text), "f", 0, &root, &err), MSHARD_OK);
    return root;
}

START_TEST(reads_all_kinds)
{
    mshi_json *root = parse("{\"n\":null,\"t\":true,\"i\":-5,\"r\":1.5,\"s\":\"\\u00e9\",\"a\":[1,2,3],\"o\":{}}");
    int64_t i;
    uint64_t u;
    double d;
    bool b;
    size_t size;

    ck_assert_int_eq(mshi_json_kind(root), MSHI_JSON_OBJECT);
    ck_assert_uint_eq(mshi_json_count(root), 7);
    ck_assert_int_eq(mshi_json_kind(mshi_json_member(root, "n")), MSHI_JSON_NULL);
    ck_assert(mshi_json_bool(mshi_json_member(root, "t"), &b) && b);
    ck_assert(mshi_json_int(mshi_json_member(root, "i"), &i) && i == -5);
    ck_assert(!mshi_json_uint(mshi_json_member(root, "i"), &u));
    ck_assert(mshi_json_double(mshi_json_member(root, "i"), &d) && d == -5);
    ck_assert(mshi_json_double(mshi_json_member(root, "r"), &d) && d == 1.5);
    ck_assert(!mshi_json_int(mshi_json_member(root, "r"), &i));
    ck_assert_str_eq(mshi_json_string(mshi_json_member(root, "s"), &size), "\xC3\xA9");
    ck_assert_uint_eq(size, 2);
    ck_assert_uint_eq(mshi_json_count(mshi_json_member(root, "a")), 3);
    ck_assert(mshi_json_uint(mshi_json_at(mshi_json_member(root, "a"), 2), &u) && u == 3);
    ck_assert_ptr_null(mshi_json_at(mshi_json_member(root, "a"), 3));
    ck_assert_ptr_null(mshi_json_member(root, "absent"));
    ck_assert_ptr_null(mshi_json_member(mshi_json_member(root, "a"), "x"));
    ck_assert_ptr_null(mshi_json_member(NULL, "x"));
    ck_assert_ptr_null(mshi_json_string(mshi_json_member(root, "i"), NULL));
    ck_assert(!mshi_json_bool(NULL, &b) && !mshi_json_int(NULL, &i) && !mshi_json_double(NULL, &d));
    ck_assert_uint_eq(mshi_json_count(NULL), 0);
    mshi_json_free(root);
    mshi_json_free(NULL);
}
END_TEST

START_TEST(keeps_file_order)
{
    mshi_json *root = parse("{\"z\":1,\"a\":[true,{\"k\":\"v\"}],\"m\":2.5}");
    void *iterator = NULL;
    const char *name;
    const mshi_json *value;
    char names[16] = "";

    while (mshi_json_next(root, &iterator, &name, &value))
        strcat(names, name);
    ck_assert_str_eq(names, "zam");
    iterator = NULL;
    ck_assert(!mshi_json_next(mshi_json_member(root, "z"), &iterator, &name, &value));
    char *text = mshi_json_text(root);
    ck_assert_str_eq(text, "{\"z\":1,\"a\":[true,{\"k\":\"v\"}],\"m\":2.5}");
    free(text);
    mshi_json_free(root);
}
END_TEST

static void refused(const char *text, size_t size, uint64_t base, uint64_t offset)
{
    mshi_json *root = (mshi_json *)1;
    mshard_error err;

    ck_assert_int_eq(mshi_json_parse(text, size, "file", base, &root, &err), MSHARD_E_CORRUPT);
    ck_assert_ptr_null(root);
    ck_assert_str_eq(err.path, "file");
    ck_assert_uint_ge(err.offset, base);
    if (offset)
        ck_assert_uint_eq(err.offset, offset);
}

START_TEST(refuses_bad_text)
{
    static const char *const bad[] = {"",          "{",           "[1,]",    "{\"a\":1,\"a\":2}",     "[1] x",
                                      "nul",       "\"\\u0000\"", "[1e999]", "[9223372036854775808]", "\"\xff\"",
                                      "{\"a\" 1}", "'a'"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refused(bad[i], strlen(bad[i]), 100, 0);
    refused("[1,\0 2]", 7, 0, 0);
    refused("[1, @]", 6, 1000, 1005);
}
END_TEST

START_TEST(bounds_the_depth)
{
    char text[200001];
    mshi_json *root;

    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    refused(text, 130, 0, 64);
    ck_assert_int_eq(mshi_json_parse(text + 1, 128, "f", 0, &root, NULL), MSHARD_OK); /* 64 levels */
    mshi_json_free(root);
    memset(text, '[', 200000);
    refused(text, 200000, 0, 64);
    text[0] = '"'; /* brackets inside a string do not nest */
    text[199998] = '\\';
    text[199999] = '"';
    text[200000] = '"';
    ck_assert_int_eq(mshi_json_parse(text, 200001, "f", 0, &root, NULL), MSHARD_OK);
    mshi_json_free(root);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("json");
    TCase *tests = tcase_create("json");

    tcase_add_test(tests, reads_all_kinds);
    tcase_add_test(tests, keeps_file_order);
    tcase_add_test(tests, refuses_bad_text);
    tcase_add_test(tests, bounds_the_depth);
    suite_add_tcase(suite, tests);
    return suite;
}
