/*
 * test_refusals.c - spec/vectors/invalid through the public API: each file fails with the stated status at the stated
 * moment, at every level of checking, for store, verify and inspect; and no flipped bit goes unfound
 */
#include "support/main.h"
#include "support/vectors.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mshi_json *refusals; /* of invalid/expected.json */

/* All values of all records; touches the first and last byte of each. The first failure, and where. */
static mshard_status walk(const mshard_store *store, uint64_t *record, uint32_t *field, mshard_error *err)
{
    for (*record = 0; *record < mshard_store_count(store); ++*record)
        for (*field = 0; *field < mshard_store_field_count(store); ++*field) {
            mshard_view view;
            uint64_t shape[MSHARD_MAX_DIMS];
            mshard_status status = mshard_store_record(store, *record, *field, &view, err);

            if (status == MSHARD_OK)
                status = mshard_store_shape(store, *record, *field, shape, err);
            if (status != MSHARD_OK)
                return status;
            if (view.size) {
                const volatile unsigned char *data = view.data;

                (void)data[0];
                (void)data[view.size - 1];
            }
        }
    return MSHARD_OK;
}

static void check_status(const mshi_json *e, const char *when, mshard_status status, const mshard_error *err)
{
    ck_assert_msg(strcmp(mshard_status_name(status), mshi_string_of(e, "status")) == 0,
                  "%s (%s): %s: expected %s, found %s: %s", mshi_string_of(e, "name"), mshi_string_of(e, "what"), when,
                  mshi_string_of(e, "status"), mshard_status_name(status), status < 0 ? err->message : "");
    ck_assert_int_eq(err->code, status);
    ck_assert_msg(err->message[0] != '\0', "%s: no message", mshi_string_of(e, "name"));
}

static void check_found_by_verify(const mshi_json *e, const char *path)
{
    mshard_verify_result result = {0};
    mshard_error err = {0};
    const mshard_status status = mshard_verify(path, NULL, &result, &err);

    if (status != MSHARD_OK) {
        check_status(e, "verify", status, &err);
        return;
    }
    ck_assert_msg(result.findings > 0, "%s (%s): verify finds nothing", mshi_string_of(e, "name"),
                  mshi_string_of(e, "what"));
    ck_assert_msg(strcmp(mshard_status_name(result.worst), mshi_string_of(e, "status")) == 0,
                  "%s: verify: expected %s, found %s", mshi_string_of(e, "name"), mshi_string_of(e, "status"),
                  mshard_status_name(result.worst));
}

/* The store opened at the default level: where does the first fault show? */
static void check_moment(const mshi_json *e, const char *path)
{
    const char *class = mshi_string_of(e, "class");
    mshard_store *store = NULL;
    mshard_error err = {0};
    uint64_t record, number;
    uint32_t field;
    mshard_status status = mshi_vector_open(e, path, MSHARD_CHECK_OPEN, &store, &err);

    if (strcmp(class, "open") == 0) {
        check_status(e, "open", status, &err);
        ck_assert_ptr_null(store);
        return;
    }
    ck_assert_msg(status == MSHARD_OK, "%s: open fails: %s", mshi_string_of(e, "name"), err.message);
    status = walk(store, &record, &field, &err);
    if (strcmp(class, "access") == 0) {
        check_status(e, "access", status, &err);
        if (mshi_json_member(e, "record"))
            ck_assert_uint_eq(record, mshi_uint_of(e, "record"));
        if (mshi_json_member(e, "field"))
            ck_assert_str_eq(mshard_store_field(store, field)->name, mshi_string_of(e, "field"));
    } else {
        ck_assert_msg(status == MSHARD_OK, "%s: access fails: %s", mshi_string_of(e, "name"), err.message);
    }
    if (strcmp(class, "key") == 0) {
        const char *key = mshi_string_of(e, "key");

        check_status(e, "key", mshard_store_find_key(store, key, strlen(key), &number, &err), &err);
    }
    mshard_store_unref(store);
}

/* With all blocks compared, damaged ones are found at first use; with none, nothing may crash. */
static void check_levels(const mshi_json *e, const char *path)
{
    for (mshard_check check = MSHARD_CHECK_NONE; check <= MSHARD_CHECK_ALL; check++) {
        mshard_store *store = NULL;
        mshard_error err = {0};
        uint64_t record;
        uint32_t field;
        mshard_status status = mshi_vector_open(e, path, check, &store, &err);

        if (status == MSHARD_OK)
            status = walk(store, &record, &field, &err);
        if (check >= MSHARD_CHECK_TOUCH && mshi_json_member(e, "check_all"))
            check_status(e, check == MSHARD_CHECK_ALL ? "check all" : "check touch", status, &err);
        if (check >= MSHARD_CHECK_OPEN && strcmp(mshi_string_of(e, "class"), "access") == 0)
            check_status(e, "access at a higher level", status, &err);
        mshard_store_unref(store);
    }
}

static void count_span(void *context, const mshard_span *span)
{
    uint64_t *end = context;

    ck_assert_uint_ge(span->offset, *end);
    *end = span->offset + span->size;
    ck_assert_uint_ge(*end, span->offset);
}

static void check_inspect(const mshi_json *e, const char *path, size_t size)
{
    uint64_t end = 0;
    mshard_error err = {0};
    const mshard_status status = mshard_inspect_shard(path, count_span, NULL, &end, &err);

    if (strcmp(mshi_string_of(e, "class"), "open") == 0)
        check_status(e, "inspect", status, &err);
    else
        ck_assert_msg(status == MSHARD_OK, "%s: inspect: %s", mshi_string_of(e, "name"), err.message);
    ck_assert_uint_le(end, size);
}

START_TEST(test_invalid)
{
    const mshi_json *e = mshi_json_at(refusals, (size_t)_i);
    struct mshi_vector vector = {0};
    char name[160];

    snprintf(name, sizeof(name), "spec/vectors/invalid/%s.hex", mshi_string_of(e, "name"));
    mshi_vector_load(&vector, mshi_source_path(name));
    const char *path = mshi_vector_write(&vector, mshi_test_dir());
    check_moment(e, path);
    check_found_by_verify(e, path);
    check_levels(e, path);
    if (strcmp(mshi_string_of(e, "kind"), "shard") == 0)
        check_inspect(e, path, vector.files[0].size);
    mshi_vector_free(&vector);
}
END_TEST

/* One bit of each byte of a file in turn: verify must find every one. None is harmless. */
static void flip_all(const char *vector_name, const char *file_name)
{
    const mshard_verify_options options = {MSHARD_VERIFY_OPTIONS_INIT, .threads = 1};
    struct mshi_vector vector = {0};
    size_t size;

    mshi_vector_load(&vector, mshi_source_path(vector_name));
    const char *path = mshi_vector_write(&vector, mshi_test_dir());
    const char *target = file_name ? mshi_test_path(path, file_name) : path;
    char *bytes = mshi_read_text(target, &size);
    FILE *file = fopen(target, "r+b");
    ck_assert(file != NULL && setvbuf(file, NULL, _IONBF, 0) == 0);
    for (size_t at = 0; at < size; at++) {
        mshard_verify_result result;
        mshard_error err;

        ck_assert(fseek(file, (long)at, SEEK_SET) == 0 && fputc((bytes[at] & 0xff) ^ 1 << at % 8, file) != EOF);
        const mshard_status status = mshard_verify(path, &options, &result, &err);
        ck_assert_msg(status != MSHARD_OK || result.findings > 0, "%s: bit %zu of byte %zu flipped, nothing found",
                      vector_name, at % 8, at);
        ck_assert(fseek(file, (long)at, SEEK_SET) == 0 && fputc(bytes[at] & 0xff, file) != EOF);
    }
    fclose(file);
    free(bytes);
    mshi_check_verifies(path);
    mshi_vector_free(&vector);
}

START_TEST(test_flip_shard)
{
    flip_all("spec/vectors/valid/pair.hex", NULL);
}
END_TEST

START_TEST(test_flip_manifest)
{
    flip_all("spec/vectors/valid/dataset-keys.hex", "dataset.json");
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("refusals");
    TCase *invalid = tcase_create("must be refused"), *flips = tcase_create("flipped bits");

    refusals = mshi_load_json(mshi_source_path("spec/vectors/invalid/expected.json"));
    tcase_set_timeout(invalid, 60);
    tcase_set_timeout(flips, 120);
    tcase_add_loop_test(invalid, test_invalid, 0, (int)mshi_json_count(refusals));
    tcase_add_test(flips, test_flip_shard);
    tcase_add_test(flips, test_flip_manifest);
    suite_add_tcase(suite, invalid);
    suite_add_tcase(suite, flips);
    return suite;
}
