/*
 * test_fields.c - fields as callers give them: what is refused, what a copy holds
 */
#include "format/shard_writer.h"
#include "support/main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X MSHARD_DIM_UNKNOWN
#define FIELD(...) ((mshard_field){__VA_ARGS__})

struct bad {
    mshard_field fields[3];
    uint32_t count;
    const char *says; /* must stand in the message */
};

static const struct bad bad_fields[] = {
    {{{.name = NULL, .dtype = MSHARD_UINT8}}, 1, "name"},
    {{{.name = "", .dtype = MSHARD_UINT8}}, 1, "name"},
    {{{.name = "1a", .dtype = MSHARD_UINT8}}, 1, "1a"},
    {{{.name = "a-b", .dtype = MSHARD_UINT8}}, 1, "a-b"},
    {{{.name = "a23456789012345678901234567890123456789012345678901234567890abcd", .dtype = MSHARD_UINT8}},
     1,
     "a234567"},
    {{{.name = "a", .dtype = MSHARD_UINT8}, {.name = "a", .dtype = MSHARD_UINT8}}, 2, "\"a\""},
    {{{.name = "a", .dtype = (mshard_dtype)0}}, 1, "\"a\""},
    {{{.name = "a", .dtype = (mshard_dtype)14}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .ndim = 9, .shape = {1, 1, 1, 1, 1, 1, 1, 1}}}, 1, "dimensions"},
    {{{.name = "a", .dtype = MSHARD_UINT8, .ndim = 2, .shape = {3, 0}}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .ndim = 1, .shape = {MSHARD_MAX_DIM + 1}}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_FLOAT64, .ndim = 2, .shape = {1u << 20, 1u << 18}}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .ndim = 3, .shape = {MSHARD_MAX_DIM, MSHARD_MAX_DIM, MSHARD_MAX_DIM}}},
     1,
     "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .ndim = 2, .shape = {X, UINT64_C(1) << 32}}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .flags = 4}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .flags = MSHARD_FIELD_SCALED, .scale = 0}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .flags = MSHARD_FIELD_SCALED, .scale = INFINITY}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .flags = MSHARD_FIELD_SCALED, .scale = 1, .offset = NAN}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_BOOL, .flags = MSHARD_FIELD_SCALED, .scale = 1}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .flags = MSHARD_FIELD_AUX}}, 1, "auxiliary"},
    {{{.name = "a", .dtype = MSHARD_UINT8},
      {.name = "x", .dtype = MSHARD_UINT8, .flags = MSHARD_FIELD_AUX},
      {.name = "b", .dtype = MSHARD_UINT8}},
     3,
     "\"b\""},
    {{{.name = "a", .dtype = MSHARD_UINT8}, {.name = "__key__", .dtype = MSHARD_UINT8}}, 2, "__key__"},
    {{{.name = "__a__", .dtype = MSHARD_UINT8}}, 1, "__a__"},
    {{{.name = "a", .dtype = MSHARD_UINT8, .content = (mshard_content)77}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_FLOAT32, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {4, 4, 3}}},
     1,
     "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {4, 4, 2}}},
     1,
     "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {X, X, X}}},
     1,
     "\"a\""},
    {{{.name = "a", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_TEXT, .ndim = 1, .shape = {4}}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_INT8, .content = MSHARD_CONTENT_ENCODED, .ndim = 1, .shape = {X}}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_FLOAT32, .content = MSHARD_CONTENT_LABEL}}, 1, "\"a\""},
    {{{.name = "a", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL, .ndim = 1, .shape = {1}}}, 1, "\"a\""},
};

START_TEST(refuses)
{
    const struct bad *bad = &bad_fields[_i];
    mshard_error err;

    ck_assert_int_eq(mshi_fields_check(bad->fields, bad->count, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(err.code, MSHARD_E_INVALID);
    ck_assert_msg(strstr(err.message, bad->says) != NULL, "\"%s\" is not in: %s", bad->says, err.message);
}
END_TEST

START_TEST(counts)
{
    static char names[MSHARD_MAX_FIELDS + 1][8];
    mshard_field fields[MSHARD_MAX_FIELDS + 1];

    for (int i = 0; i <= MSHARD_MAX_FIELDS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "f%d", i);
        fields[i] = FIELD(.name = names[i], .dtype = MSHARD_INT16);
    }
    ck_assert_int_eq(mshi_fields_check(fields, 0, NULL), MSHARD_E_INVALID);
    ck_assert_int_eq(mshi_fields_check(fields, 1, NULL), MSHARD_OK);
    ck_assert_int_eq(mshi_fields_check(fields, MSHARD_MAX_FIELDS, NULL), MSHARD_OK);
    ck_assert_int_eq(mshi_fields_check(fields, MSHARD_MAX_FIELDS + 1, NULL), MSHARD_E_INVALID);
}
END_TEST

START_TEST(accepts)
{
    const mshard_field fields[] = {
        FIELD(.name = "a23456789012345678901234567890123456789012345678901234567890abc", .dtype = MSHARD_BFLOAT16),
        FIELD(.name = "_", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {X, X, 1}),
        FIELD(.name = "gray", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 2, .shape = {28, 28}),
        FIELD(.name = "file", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_ENCODED, .ndim = 1, .shape = {X}),
        FIELD(.name = "label", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_LABEL),
        FIELD(.name = "big", .dtype = MSHARD_UINT8, .ndim = 1, .shape = {MSHARD_MAX_RECORD}),
        FIELD(.name = "long_", .dtype = MSHARD_INT64, .ndim = 1, .shape = {X}),
        FIELD(.name = "t", .dtype = MSHARD_UINT16, .flags = MSHARD_FIELD_SCALED, .scale = 0.5, .offset = -1),
        FIELD(.name = "__key__", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_TEXT, .flags = MSHARD_FIELD_AUX,
              .ndim = 1, .shape = {X}),
    };
    mshard_error err;

    ck_assert_msg(mshi_fields_check(fields, 9, &err) == MSHARD_OK, "%s", err.message);
}
END_TEST

START_TEST(copies)
{
    char name[] = "image";
    mshard_field fields[] = {
        FIELD(.name = name, .dtype = MSHARD_FLOAT16, .ndim = 2, .shape = {3, 5, 9, 9}, .scale = 7, .offset = 8,
              .record_size = 1),
        FIELD(.name = "v", .dtype = MSHARD_INT32, .ndim = 2, .shape = {X, 4}),
        FIELD(.name = "s", .dtype = MSHARD_UINT8, .flags = MSHARD_FIELD_SCALED, .scale = 0.25, .offset = 2),
    };
    mshard_field *copy;

    ck_assert_int_eq(mshi_fields_copy(fields, 3, &copy, NULL), MSHARD_OK);
    name[0] = '#';
    memset(fields, 0, sizeof(fields));
    ck_assert_str_eq(copy[0].name, "image");
    ck_assert_uint_eq(copy[0].record_size, 30);
    ck_assert_uint_eq(copy[0].shape[1], 5);
    ck_assert_uint_eq(copy[0].shape[2], 0);               /* beyond ndim */
    ck_assert(copy[0].scale == 0 && copy[0].offset == 0); /* not scaled */
    ck_assert_uint_eq(copy[1].record_size, 0);
    ck_assert_uint_eq(copy[1].shape[0], X);
    ck_assert_uint_eq(copy[2].record_size, 1);
    ck_assert(copy[2].scale == 0.25 && copy[2].offset == 2);
    free(copy);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("fields");
    TCase *tests = tcase_create("fields");

    tcase_add_loop_test(tests, refuses, 0, (int)(sizeof(bad_fields) / sizeof(bad_fields[0])));
    tcase_add_test(tests, counts);
    tcase_add_test(tests, accepts);
    tcase_add_test(tests, copies);
    suite_add_tcase(suite, tests);
    return suite;
}
