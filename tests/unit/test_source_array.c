/* test_source_array.c - .npy headers and values: versions, byte order, Fortran order, refusals; names and counts */
#include "ingest/source.h"

#include "support/main.h"
#include "support/sources.h"

#include <stdio.h>
#include <string.h>

static struct mshi_test_listing l;
static const char *dir;

static void start(void)
{
    mshi_test_listing_init(&l, NULL);
    dir = mshi_test_dir();
}

static const char *npy(const char *name, const char *descr, bool fortran, const char *shape, const void *values,
                       size_t size)
{
    uint8_t bytes[4096];

    return mshi_test_write(dir, name, bytes, mshi_test_npy(bytes, descr, fortran, shape, values, size));
}

/* All records of a one-field source, read by run and one by one, must be these bytes. */
static void expect(const char *path, uint64_t records, const void *values, size_t size)
{
    struct mshi_payload payload = {.buffer = NULL};
    struct mshi_source *s = mshi_test_open(&l, path, NULL);
    const uint8_t *bytes = values;

    ck_assert_uint_eq(s->count, records);
    ck_assert_int_eq(s->ops->read_run(s, 0, records, &payload, NULL), MSHARD_OK);
    ck_assert_uint_eq(payload.size[0], size);
    ck_assert_mem_eq(payload.data[0], values, size);
    for (uint64_t i = records; i-- > 0;) {
        ck_assert_int_eq(s->ops->read(s, i, &payload, NULL), MSHARD_OK);
        ck_assert_mem_eq(payload.data[0], bytes + i * (size / records), size / records);
    }
    mshi_payload_clear(&payload);
    mshi_source_free(s);
}

START_TEST(byte_orders)
{
    static const uint8_t big[] = {0x3F, 0x80, 0, 0, 0x40, 0, 0, 0}, little[] = {0, 0, 0x80, 0x3F, 0, 0, 0, 0x40};
    static const uint8_t wide[] = {1, 2, 3, 4, 5, 6, 7, 8}, wide_little[] = {8, 7, 6, 5, 4, 3, 2, 1};
    static const uint8_t half[] = {0x3C, 0, 0x40, 0}, half_little[] = {0, 0x3C, 0, 0x40};

    expect(npy("a.npy", "'>f4'", false, "(2,)", big, 8), 2, little, 8);
    expect(npy("a.npy", "'<f4'", false, "(2,)", little, 8), 2, little, 8);
    expect(npy("a.npy", "'=f4'", false, "(2,)", little, 8), 2, little, 8);
    expect(npy("a.npy", "'>i8'", false, "(1,)", wide, 8), 1, wide_little, 8);
    expect(npy("a.npy", "'>f2'", false, "(2,)", half, 4), 2, half_little, 4);
    expect(npy("a.npy", "'|u1'", false, "(4, 2)", wide, 8), 4, wide, 8);
    expect(npy("a.npy", "'|b1'", false, "(4,)", "\0\1\2\377", 4), 4, "\0\1\1\1", 4);
}
END_TEST

START_TEST(fortran_order)
{
    /* a[n][i][j] = 100 n + 10 i + j for n < 3, i < 2, j < 2 */
    static const uint8_t c_order[] = {0, 1, 10, 11, 100, 101, 110, 111, 200, 201, 210, 211};
    uint8_t fortran[12];
    uint16_t wide[12], wide_f[12];

    for (unsigned n = 0; n < 3; n++)
        for (unsigned i = 0; i < 2; i++)
            for (unsigned j = 0; j < 2; j++)
                fortran[n + 3 * (i + 2 * j)] = c_order[4 * n + 2 * i + j];
    expect(npy("a.npy", "'|u1'", true, "(3, 2, 2)", fortran, 12), 3, c_order, 12);
    for (unsigned k = 0; k < 12; k++) {
        wide[k] = (uint16_t)(0x0100 + c_order[k]);
        wide_f[k] = (uint16_t)(fortran[k] << 8 | 0x01);
    }
    expect(npy("a.npy", "'>u2'", true, "(3, 2, 2)", wide_f, 24), 3, wide, 24);
    expect(npy("a.npy", "'|u1'", true, "(12,)", c_order, 12), 12, c_order, 12);
}
END_TEST

START_TEST(versions)
{
    static const char text[] = "{\"shape\":(2L,), 'fortran_order' :False,'descr':'|u1'}";
    uint8_t bytes[128] = "\x93NUMPY\2\0";
    char message[1600];

    bytes[8] = sizeof(text) - 1;
    memcpy(bytes + 12, text, sizeof(text) - 1);
    memcpy(bytes + 12 + sizeof(text) - 1, "\7\11", 2);
    expect(mshi_test_write(dir, "a.npy", bytes, 12 + sizeof(text) + 1), 2, "\7\11", 2);
    bytes[6] = 3;
    expect(mshi_test_write(dir, "a.npy", bytes, 12 + sizeof(text) + 1), 2, "\7\11", 2);
    bytes[6] = bytes[7] = 9;
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "a.npy", bytes, 100), message), MSHARD_E_VERSION);
    ck_assert_ptr_nonnull(strstr(message, "unsupported npy version 9.9"));
    bytes[6] = 2;
    bytes[7] = 0;
    bytes[9] = 0x30; /* a header longer than the file */
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "a.npy", bytes, 100), message), MSHARD_E_TRUNCATED);
    bytes[11] = 0x7F;
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "a.npy", bytes, 100), message), MSHARD_E_LIMIT);
}
END_TEST

START_TEST(shapes_and_sizes)
{
    char message[1600];

    ck_assert_int_eq(mshi_test_refused(&l, npy("a.npy", "'|u1'", false, "()", "x", 1), message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "needs at least one dimension"));
    ck_assert_int_eq(mshi_test_refused(&l, npy("a.npy", "'<i4'", false, "(2,)", "1234567", 7), message),
                     MSHARD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(message, "expected 8 bytes of values after the header, found 7"));
    ck_assert_int_eq(mshi_test_refused(&l, npy("a.npy", "'<i4'", false, "(2,)", "123456789", 9), message),
                     MSHARD_E_CORRUPT);
    ck_assert_int_eq(mshi_test_refused(&l, npy("a.npy", "'<i8'", false, "(2305843009213693952, 2)", "", 0), message),
                     MSHARD_E_LIMIT);
    ck_assert_int_eq(mshi_test_refused(&l, npy("a.npy", "'<i4'", false, "(1,1,1,1,1,1,1,1,1,1)", "1234", 4), message),
                     MSHARD_E_LIMIT);
    ck_assert_int_eq(mshi_test_refused(&l, npy("a.npy", "'<i4'", false, "(2)", "12345678", 8), message),
                     MSHARD_E_FORMAT);
    ck_assert_int_eq(mshi_test_refused(&l, npy("a.npy", "'<i4'", false, "(-1,)", "1234", 4), message), MSHARD_E_FORMAT);
    struct mshi_source *s = mshi_test_open(&l, npy("a.npy", "'|u1'", false, "(0, 32, 32, 3)", "", 0), NULL);
    ck_assert_uint_eq(s->count, 0);
    ck_assert_int_eq(s->fields[0].content, MSHARD_CONTENT_IMAGE);
    mshi_source_free(s);
}
END_TEST

START_TEST(dtypes_that_are_refused)
{
    static const char *const descrs[] = {"'|O'",   "'<U3'",          "'|S2'", "'<c8'", "'<M8[s]'", "'|V3'",
                                         "'<f16'", "[('a', '<i4')]", "'<x4'", "''",    "'|i4'"};
    char message[1600];

    for (size_t i = 0; i < sizeof(descrs) / sizeof(*descrs); i++) {
        ck_assert_int_eq(mshi_test_refused(&l, npy("a.npy", descrs[i], false, "(1,)", "12345678", 8), message),
                         MSHARD_E_FORMAT);
        ck_assert_msg(strstr(message, "cannot be stored") != NULL, "%s", message);
    }
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "a.npy", "\x80\4\x95xxxxx", 8), message),
                     MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "never loaded"));
}
END_TEST

START_TEST(several_fields)
{
    char named[600], message[1600];
    const char *x = npy("x.npy", "'|u1'", false, "(3, 2, 2)", "abcdefghijkl", 12);

    snprintf(named, sizeof(named), "label=%s", npy("1 y.npy", "'<i2'", false, "(3,)", "\1\0\2\0\0\0", 6));
    struct mshi_source *s = mshi_test_open(&l, x, named, NULL);
    ck_assert_uint_eq(s->field_count, 2);
    ck_assert_str_eq(s->fields[0].name, "x");
    ck_assert_int_eq(s->fields[0].content, MSHARD_CONTENT_IMAGE);
    ck_assert_int_eq(s->fields[1].content, MSHARD_CONTENT_LABEL);
    ck_assert_int_eq(s->fields[1].dtype, MSHARD_INT16);
    mshi_source_free(s);
    l.options.labels = mshi_test_text(dir, "classes", "p\nq\nr\n");
    s = mshi_test_open(&l, x, named, NULL);
    ck_assert_int_eq(s->fields[1].kind, MSHI_PART_LABEL);
    ck_assert_int_eq(mshi_test_label(s, 1), 2);
    ck_assert_str_eq(s->classes[2], "r");
    mshi_source_free(s);
    l.options.labels = mshi_test_text(dir, "numbers", "5\n-6\n7\n");
    s = mshi_test_open(&l, x, NULL);
    ck_assert_str_eq(s->fields[1].name, "label");
    ck_assert_int_eq(s->fields[1].dtype, MSHARD_INT64);
    mshi_source_free(s);
    l.options.labels = npy("short.npy", "'<i2'", false, "(2,)", "\1\0\2\0", 4);
    ck_assert_int_eq(mshi_test_refused(&l, x, message), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(message, "x has 3 rows, label has 2"));
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("source_array");
    TCase *c = tcase_create("npy");

    tcase_add_checked_fixture(c, start, NULL);
    tcase_add_test(c, byte_orders);
    tcase_add_test(c, fortran_order);
    tcase_add_test(c, versions);
    tcase_add_test(c, shapes_and_sizes);
    tcase_add_test(c, dtypes_that_are_refused);
    tcase_add_test(c, several_fields);
    suite_add_tcase(suite, c);
    return suite;
}
