/* test_fail.c - errors: codes, paths and messages that are too long, the printed form */
#include "base/fail.h"

#include "support/main.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *format(const mshard_error *err)
{
    static char text[4096];
    const int needed = mshard_error_format(err, text, sizeof(text));

    ck_assert_int_eq(needed, (int)strlen(text));
    return text;
}

START_TEST(fills_and_prints)
{
    mshard_error err = {0};

    ck_assert_int_eq(mshi_fail(&err, MSHARD_E_CORRUPT, "a/b.mshard", 12, "%d expected, found %d", 1, 2),
                     MSHARD_E_CORRUPT);
    ck_assert_int_eq(err.code, MSHARD_E_CORRUPT);
    ck_assert_int_eq(err.sys_errno, 0);
    ck_assert_str_eq(format(&err), "a/b.mshard: at byte 12: 1 expected, found 2");
    mshi_fail(&err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "no path");
    ck_assert_str_eq(format(&err), "no path");
    ck_assert_int_eq(mshi_fail(NULL, MSHARD_E_RANGE, "x", 0, "ignored"), MSHARD_E_RANGE);
}
END_TEST

START_TEST(maps_system_errors)
{
    mshard_error err = {0};

    ck_assert_int_eq(mshi_fail_errno(&err, ENOENT, "f", MSHARD_NO_OFFSET, "cannot open"), MSHARD_E_NOT_FOUND);
    ck_assert_int_eq(err.sys_errno, ENOENT);
    ck_assert_str_eq(format(&err), "f: cannot open: No such file or directory");
    ck_assert_int_eq(mshi_fail_errno(&err, ENOMEM, "f", 0, "x"), MSHARD_E_NOMEM);
    ck_assert_int_eq(mshi_fail_errno(&err, EEXIST, "f", 0, "x"), MSHARD_E_EXISTS);
    ck_assert_int_eq(mshi_fail_errno(&err, EACCES, "f", 0, "x"), MSHARD_E_IO);
    ck_assert_int_eq(mshi_fail_errno(NULL, EACCES, "f", 0, "x"), MSHARD_E_IO);
    ck_assert_int_eq(mshi_fail_errno(&err, 123456, "f", 0, "x"), MSHARD_E_IO);
    ck_assert_str_eq(err.message, "x: unknown system error");
}
END_TEST

START_TEST(context_goes_before)
{
    mshard_error err = {0};

    mshi_fail(&err, MSHARD_E_IO, "f", 3, "inner");
    mshi_error_context(&err, "shard %d", 7);
    ck_assert_str_eq(format(&err), "f: at byte 3: shard 7: inner");
    ck_assert_int_eq(err.code, MSHARD_E_IO);
    mshi_error_context(NULL, "nothing");
}
END_TEST

START_TEST(long_paths_lose_their_left)
{
    mshard_error err = {0};
    char path[2000];

    memset(path, 'p', sizeof(path));
    memcpy(path + sizeof(path) - 6, "/end", 5);
    path[sizeof(path) - 1] = '\0';
    mshi_fail(&err, MSHARD_E_IO, path, 0, "m");
    ck_assert_uint_eq(strlen(err.path), sizeof(err.path) - 1);
    ck_assert_int_eq(strncmp(err.path, "...ppp", 6), 0);
    ck_assert_ptr_nonnull(strstr(err.path, "/end"));
    path[495] = '\0'; /* fits exactly */
    mshi_fail(&err, MSHARD_E_IO, path, 0, "m");
    ck_assert_str_eq(err.path, path);
    for (size_t i = 0; i + 2 < sizeof(path); i += 2) /* never cut inside a character */
        memcpy(path + i, "\xC3\xA9", 2);
    path[1998] = '\0';
    mshi_fail(&err, MSHARD_E_IO, path, 0, "m");
    ck_assert_int_eq(strncmp(err.path, "...\xC3\xA9", 5), 0);
}
END_TEST

START_TEST(long_messages_lose_their_right)
{
    mshard_error err = {0};
    char text[2000];

    memset(text, 'm', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    mshi_fail(&err, MSHARD_E_IO, "f", 0, "%s", text);
    ck_assert_uint_eq(strlen(err.message), sizeof(err.message) - 1);
    ck_assert_str_eq(err.message + sizeof(err.message) - 5, "m...");
    mshi_error_context(&err, "%s", text);
    ck_assert_uint_eq(strlen(err.message), sizeof(err.message) - 1);
    mshi_fail_errno(&err, EIO, "f", 0, "%s", text);
    ck_assert_uint_eq(strlen(err.message), sizeof(err.message) - 1);
    mshi_fail(&err, MSHARD_E_IO, "f", 0, "one\ntwo\r");
    ck_assert_str_eq(err.message, "one two ");
    mshi_fail(&err, MSHARD_E_IO, "f", 0, "first");
    mshi_fail(&err, MSHARD_E_IO, err.path, 0, "then %s", err.message); /* arguments inside err itself */
    ck_assert_str_eq(err.message, "then first");
    ck_assert_str_eq(err.path, "f");
}
END_TEST

START_TEST(escapes_control_bytes)
{
    mshard_error err = {0};

    mshi_fail(&err, MSHARD_E_IO, "\x1b[31mred\x7f\xff\xc3\xa9\xc2\x9b", MSHARD_NO_OFFSET, "tab\there \xe2\x82");
    ck_assert_str_eq(format(&err), "\\x1b[31mred\\x7f\\xff\xc3\xa9\\xc2\\x9b: tab\\x09here \\xe2\\x82");
}
END_TEST

START_TEST(counts_like_snprintf)
{
    mshard_error err = {0};
    char text[8] = "zzzzzzz";

    mshi_fail(&err, MSHARD_E_IO, "path", MSHARD_NO_OFFSET, "message");
    ck_assert_int_eq(mshard_error_format(&err, NULL, 0), 13);
    ck_assert_int_eq(mshard_error_format(&err, text, sizeof(text)), 13);
    ck_assert_str_eq(text, "path: m");
    ck_assert_int_eq(mshard_error_format(&err, text, 1), 13);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(status_names)
{
    ck_assert_str_eq(mshard_status_name(MSHARD_E_CORRUPT), "corrupt");
    ck_assert_str_eq(mshard_status_name(MSHARD_OK), "ok");
    ck_assert_str_eq(mshard_status_name((mshard_status)-999), "unknown status");
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("fail");
    TCase *tests = tcase_create("fail");

    tcase_add_test(tests, fills_and_prints);
    tcase_add_test(tests, maps_system_errors);
    tcase_add_test(tests, context_goes_before);
    tcase_add_test(tests, long_paths_lose_their_left);
    tcase_add_test(tests, long_messages_lose_their_right);
    tcase_add_test(tests, escapes_control_bytes);
    tcase_add_test(tests, counts_like_snprintf);
    tcase_add_test(tests, status_names);
    suite_add_tcase(suite, tests);
    return suite;
}
