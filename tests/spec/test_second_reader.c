/*
 * test_second_reader.c - data sets the library writes, read by spec/reader (plain Python, from the spec alone)
 *
 * The reader checks every sum and rule, and prints record, field, shape, size and digest of each value; all must be
 * what was written. Without a Python that has the module xxhash there is nothing to run: "1..0".
 */
#include "base/hash.h"
#include "base/rng.h"
#include "support/main.h"
#include "support/vectors.h"
#include <inttypes.h>
#include <mshard/mshard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX 4096

static const char *python;

/* Each kind of field there is; a data set takes some of them. */
static const mshard_field kinds[] = {
    {.name = "image", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {7, 5, 3}},
    {.name = "label", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL},
    {.name = "tokens", .dtype = MSHARD_INT32, .ndim = 1, .shape = {MSHARD_DIM_UNKNOWN}},
    {.name = "caption",
     .dtype = MSHARD_UINT8,
     .content = MSHARD_CONTENT_TEXT,
     .ndim = 1,
     .shape = {MSHARD_DIM_UNKNOWN}},
    {.name = "boxes", .dtype = MSHARD_FLOAT32, .ndim = 2, .shape = {MSHARD_DIM_UNKNOWN, 4}},
    {.name = "photo",
     .dtype = MSHARD_UINT8,
     .content = MSHARD_CONTENT_IMAGE,
     .ndim = 3,
     .shape = {MSHARD_DIM_UNKNOWN, MSHARD_DIM_UNKNOWN, 3}},
    {.name = "file",
     .dtype = MSHARD_UINT8,
     .content = MSHARD_CONTENT_ENCODED,
     .ndim = 1,
     .shape = {MSHARD_DIM_UNKNOWN}},
    {.name = "level",
     .dtype = MSHARD_UINT16,
     .flags = MSHARD_FIELD_SCALED,
     .ndim = 1,
     .shape = {3},
     .scale = 0.1,
     .offset = -1e300},
    {.name = "flags", .dtype = MSHARD_BOOL, .ndim = 4, .shape = {1, 2, 1, 3}},
    {.name = "half", .dtype = MSHARD_FLOAT16, .ndim = 1, .shape = {512}},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct source {
    uint64_t seed, next;
};

static uint64_t draw(struct source *s, uint64_t below)
{
    return mshi_random(s->seed, 0, s->next++, 1) % below;
}

/* One value of a field, shape included; returns its bytes. */
static size_t make_value(struct source *s, const mshard_field *field, uint8_t *data, uint64_t shape[MSHARD_MAX_DIMS])
{
    size_t size = mshard_dtype_size(field->dtype);

    for (uint32_t d = 0; d < field->ndim; d++) {
        shape[d] = field->shape[d] == MSHARD_DIM_UNKNOWN ? draw(s, 12) : field->shape[d];
        size *= shape[d];
    }
    ck_assert_uint_le(size, VALUE_MAX);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)draw(s, field->dtype == MSHARD_BOOL ? 2 : 256);
    if (field->content == MSHARD_CONTENT_LABEL) {
        const int64_t label = (int64_t)draw(s, 3);

        memcpy(data, &label, sizeof(label));
    }
    return size;
}

/* The line the reader prints for a value. */
static void add_line(FILE *lines, uint64_t record, const mshard_field *field, const uint64_t *shape, const void *data,
                     size_t size)
{
    char digest[33];

    mshi_hash128_hex(mshi_hash128(data, size), digest);
    fprintf(lines, "%" PRIu64 " %s ", record, field->name);
    for (uint32_t d = 0; d < field->ndim; d++)
        fprintf(lines, "%s%" PRIu64, d ? "x" : "", shape[d]);
    fprintf(lines, "%s %zu %s\n", field->ndim ? "" : "-", size, digest);
}

static uint32_t choose_fields(struct source *s, mshard_field fields[KINDS])
{
    uint32_t n = 0;

    while (n == 0)
        for (size_t i = 0; i < KINDS; i++)
            if (draw(s, 2))
                fields[n++] = kinds[i];
    return n;
}

/* Write a data set; returns what the reader must print. */
static char *write_dataset(struct source *s, const char *path)
{
    static const mshard_field key_field = {.name = "__key__", .dtype = MSHARD_UINT8, .ndim = 1};
    static uint8_t data[KINDS][VALUE_MAX];
    mshard_field fields[KINDS];
    uint64_t shapes[KINDS][MSHARD_MAX_DIMS];
    const uint32_t n = choose_fields(s, fields);
    const uint64_t records = 1 + draw(s, 200);
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .records_per_shard = 1 + draw(s, 90),
                                           .align = draw(s, 2) ? 0 : 8192, .keys = (uint32_t)draw(s, 2), .no_sync = 1};
    mshard_writer *writer;
    mshard_error err;
    char *text;
    size_t size;
    FILE *lines = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(lines);
    ck_assert_msg(mshard_writer_create(path, fields, n, &options, &writer, &err) == MSHARD_OK, "%s", err.message);
    for (uint64_t r = 0; r < records; r++) {
        mshard_value values[KINDS];
        char key[32];

        for (uint32_t f = 0; f < n; f++) {
            values[f] = (mshard_value){data[f], make_value(s, &fields[f], data[f], shapes[f]), shapes[f]};
            add_line(lines, r, &fields[f], shapes[f], data[f], values[f].size);
        }
        const size_t key_size = (size_t)snprintf(key, sizeof(key), "%" PRIu64 "/%" PRIu64, draw(s, 10), r);
        if (options.keys)
            add_line(lines, r, &key_field, (const uint64_t[]){key_size}, key, key_size);
        ck_assert_msg(mshard_writer_write(writer, values, options.keys ? key : NULL, options.keys ? key_size : 0,
                                          &err) == MSHARD_OK,
                      "%s", err.message);
    }
    ck_assert_msg(mshard_writer_commit(writer, &err) == MSHARD_OK, "%s", err.message);
    mshard_writer_unref(writer);
    fclose(lines);
    return text;
}

/* What the reader prints; its exit status must be 0. */
static char *run_reader(const char *path)
{
    char command[2048], *text;
    size_t size, got;
    char buffer[4096];
    FILE *lines = open_memstream(&text, &size), *pipe;

    snprintf(command, sizeof(command), "PYTHONDONTWRITEBYTECODE=1 '%s' '%s' '%s' 2>&1", python,
             mshi_source_path("spec/reader/mshard_reader.py"), path);
    pipe = popen(command, "r");
    ck_assert(lines != NULL && pipe != NULL);
    while ((got = fread(buffer, 1, sizeof(buffer), pipe)) > 0)
        fwrite(buffer, 1, got, lines);
    fclose(lines);
    const int status = pclose(pipe);
    ck_assert_msg(status == 0, "%s: exit status %d: %.300s", path, status, text);
    return text;
}

START_TEST(test_written_reads)
{
    struct source s = {.seed = 1000 + (uint64_t)_i};
    const char *path = mshi_test_path(mshi_test_dir(), "written.msd");
    char *expected = write_dataset(&s, path), *found = run_reader(path);
    size_t at = 0;

    while (expected[at] && expected[at] == found[at])
        at++;
    while (at > 0 && expected[at - 1] != '\n')
        at--;
    ck_assert_msg(strcmp(expected, found) == 0, "expected %.120s, found %.120s", expected + at, found + at);
    free(expected);
    free(found);
}
END_TEST

/* One byte of a shard changed: the reader must refuse the data set, as the library's own validator does. */
START_TEST(test_damage_is_found)
{
    struct source s = {.seed = 2000 + (uint64_t)_i};
    const char *path = mshi_test_path(mshi_test_dir(), "written.msd");
    char command[2048];
    size_t size;
    mshard_verify_result result;
    mshard_error err;

    free(write_dataset(&s, path));
    const char *shard = mshi_test_path(path, "shard-000000.mshard");
    char *bytes = mshi_read_text(shard, &size);
    bytes[draw(&s, size)] ^= (char)(1 << draw(&s, 8));
    FILE *file = fopen(shard, "wb");
    ck_assert(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    snprintf(command, sizeof(command), "PYTHONDONTWRITEBYTECODE=1 '%s' '%s' '%s' >/dev/null 2>&1", python,
             mshi_source_path("spec/reader/mshard_reader.py"), path);
    ck_assert_int_ne(system(command), 0);
    ck_assert_msg(mshard_verify(path, NULL, &result, &err) == MSHARD_OK, "%s", err.message);
    ck_assert_uint_gt(result.findings, 0);
    free(bytes);
}
END_TEST

static bool has_xxhash(const char *program)
{
    char command[1024];

    snprintf(command, sizeof(command), "'%s' -c 'import xxhash' >/dev/null 2>&1", program);
    return system(command) == 0;
}

Suite *mshi_suite(void)
{
    const char *candidates[] = {getenv("PYTHON"), "python3", "/usr/bin/python3"};
    Suite *suite = suite_create("second reader");
    TCase *tests = tcase_create("second reader");

    for (size_t i = 0; i < 3 && !python; i++)
        if (candidates[i] && has_xxhash(candidates[i]))
            python = candidates[i];
    tcase_set_timeout(tests, 120);
    if (python) {
        tcase_add_loop_test(tests, test_written_reads, 0, 12);
        tcase_add_loop_test(tests, test_damage_is_found, 0, 8);
    }
    suite_add_tcase(suite, tests);
    return suite;
}
