/* test_types.c - names and sizes of dtypes and contents, the version */
#include <mshard/types.h>

#include "support/main.h"

#include <string.h>

START_TEST(dtypes_round_trip)
{
    static const size_t sizes[14] = {0, 1, 2, 1, 2, 4, 8, 2, 4, 8, 4, 8, 2, 1};
    mshard_dtype dtype;

    for (unsigned i = 1; i <= 13; i++) {
        const char *name = mshard_dtype_name((mshard_dtype)i);

        ck_assert_ptr_nonnull(name);
        ck_assert_uint_eq(mshard_dtype_size((mshard_dtype)i), sizes[i]);
        ck_assert_int_eq(mshard_dtype_parse(name, &dtype, NULL), MSHARD_OK);
        ck_assert_uint_eq(dtype, i);
    }
    ck_assert_str_eq(mshard_dtype_name(MSHARD_BFLOAT16), "bfloat16");
}
END_TEST

START_TEST(other_numbers_are_none)
{
    static const int none[] = {0, 14, 255, -1};
    mshard_dtype dtype = MSHARD_UINT8;
    mshard_error err;

    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        ck_assert_uint_eq(mshard_dtype_size((mshard_dtype)none[i]), 0);
        ck_assert_ptr_null(mshard_dtype_name((mshard_dtype)none[i]));
    }
    ck_assert_int_eq(mshard_dtype_parse("float8", &dtype, &err), MSHARD_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "float8"));
    ck_assert_int_eq(mshard_dtype_parse("", &dtype, &err), MSHARD_E_NOT_FOUND);
    ck_assert_uint_eq(dtype, MSHARD_UINT8);
    ck_assert_ptr_null(mshard_content_name((mshard_content)5));
    ck_assert_ptr_null(mshard_content_name((mshard_content)-1));
    ck_assert_str_eq(mshard_content_name(MSHARD_CONTENT_LABEL), "label");
}
END_TEST

START_TEST(version_is_that_of_the_header)
{
    ck_assert_str_eq(mshard_version(), MSHARD_VERSION);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("types");
    TCase *tests = tcase_create("types");

    tcase_add_test(tests, dtypes_round_trip);
    tcase_add_test(tests, other_numbers_are_none);
    tcase_add_test(tests, version_is_that_of_the_header);
    suite_add_tcase(suite, tests);
    return suite;
}
