/*
 * test_pack.c - packing folders and arrays made here: what comes out, what is refused, that nothing is left behind
 */
#include "support/faultfs.h"
#include "support/main.h"

#include "ingest/pack_run.h"
#include <mshard/mshard.h>
#include <mshard/pack.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static mshard_error err;
static mshard_pack_result result;
static int failed_events, skipped_events;
static char failed_paths[512];

static int on_event(void *context, const mshard_pack_event *event)
{
    const uint64_t *stop_at = context;

    if (event->kind == MSHARD_PACK_FAILED) {
        const size_t used = strlen(failed_paths);

        failed_events++;
        snprintf(failed_paths + used, sizeof failed_paths - used, "%s ", strrchr(event->path, '/') + 1);
    }
    skipped_events += event->kind == MSHARD_PACK_SKIPPED;
    return stop_at != NULL && event->kind == MSHARD_PACK_PHASE && strcmp(event->text, "packing") == 0;
}

static void setup(void)
{
    failed_events = skipped_events = 0;
    failed_paths[0] = '\0';
}

/* ---- inputs ---- */

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
}

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static size_t add_chunk(uint8_t *p, const char *type, const uint8_t *body, size_t size)
{
    put32(p, (uint32_t)size);
    memcpy(p + 4, type, 4);
    if (size > 0)
        memcpy(p + 8, body, size);
    put32(p + 8 + size, (uint32_t)crc32(0, p + 4, (uInt)size + 4));
    return size + 12;
}

/* Gray PNG of one value; cut: the last bytes are missing. */
static void write_png(const char *path, uint32_t width, uint32_t height, uint8_t value, size_t cut)
{
    static uint8_t rows[8192], file[8192], packed[4096];
    uint8_t header[13] = {0};
    uLongf n = sizeof packed;
    size_t size = 8;

    memset(rows, value, sizeof rows);
    for (uint32_t y = 0; y < height; y++)
        rows[y * (width + 1)] = 0;
    put32(header, width);
    put32(header + 4, height);
    header[8] = 8;
    ck_assert_int_eq(compress(packed, &n, rows, height * (width + 1)), Z_OK);
    memcpy(file, "\x89PNG\r\n\x1a\n", 8);
    size += add_chunk(file + size, "IHDR", header, sizeof header);
    size += add_chunk(file + size, "IDAT", packed, n);
    size += add_chunk(file + size, "IEND", NULL, 0);
    write_file(path, file, size - cut);
}

/* Folders a and b with n images of 8x6, image i of value i. */
static const char *make_folder(int n)
{
    const char *root = mshi_test_dir();
    char path[600];

    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%c", root, i % 2 == 0 ? 'a' : 'b');
        (void)mkdir(path, 0777);
        snprintf(path, sizeof path, "%s/%c/%03d.png", root, i % 2 == 0 ? 'a' : 'b', i);
        write_png(path, 8, 6, (uint8_t)i, 0);
    }
    return root;
}

static void write_npy(const char *path, const char *descr, const char *shape, const void *data, size_t size)
{
    char header[128];
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);

    const int n = snprintf(header + 10, sizeof header - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                           descr, shape);

    header[10 + n] = ' ';
    header[127] = '\n';
    ck_assert_uint_eq(fwrite(header, 1, sizeof header, f), sizeof header);
    ck_assert_uint_eq(fwrite(data, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
}

/* ---- outputs ---- */

static mshard_status pack_one(const char *input, const char *out, mshard_pack_options *o)
{
    const char *inputs[] = {input};

    mshard_pack_result_clear(&result);
    o->no_sync = 1;
    o->event = on_event;
    return mshard_pack(inputs, 1, out, o, &result, &err);
}

static void pack_ok(const char *input, const char *out, mshard_pack_options *o)
{
    const mshard_status status = pack_one(input, out, o);

    ck_assert_msg(status == MSHARD_OK, "%s: %s", err.path, err.message);
}

static mshard_store *open_store(const char *path)
{
    mshard_store *store;
    const mshard_status status = mshard_store_open(path, NULL, &store, &err);

    ck_assert_msg(status == MSHARD_OK, "%s", err.message);
    return store;
}

static const uint8_t *record(mshard_store *store, uint64_t r, uint32_t field)
{
    mshard_view view;

    ck_assert_int_eq(mshard_store_record(store, r, field, &view, &err), MSHARD_OK);
    return view.data;
}

static bool is_there(const char *path)
{
    struct stat s;

    return lstat(path, &s) == 0;
}

static void assert_same_file(const char *a, const char *b, const char *name)
{
    char *x, *y;
    size_t n, m;

    ck_assert_int_eq(mshi_file_slurp(mshi_test_path(a, name), 1 << 24, &x, &n, &err), MSHARD_OK);
    ck_assert_int_eq(mshi_file_slurp(mshi_test_path(b, name), 1 << 24, &y, &m, &err), MSHARD_OK);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(x, y, n);
    free(x);
    free(y);
}

/* ---- folders ---- */

START_TEST(a_folder_becomes_a_data_set)
{
    const char *out = mshi_test_path(mshi_test_dir(), "out");
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .keys = 1, .shards = 3, .jobs = 2};
    mshard_store *store;
    uint64_t r;

    pack_ok(make_folder(20), out, &o);
    ck_assert_uint_eq(result.records, 20);
    ck_assert_uint_eq(result.shards, 3);
    ck_assert_uint_gt(result.memory_limit, 0);
    ck_assert_uint_gt(result.verify_ns, 0); /* every shard was read back */
    store = open_store(out);
    ck_assert_str_eq(mshard_store_id(store), result.id);
    ck_assert_uint_eq(mshard_store_count(store), 20);
    for (uint64_t i = 0; i < 20; i++) {
        const uint8_t value = (uint8_t)(i < 10 ? 2 * i : 2 * (i - 10) + 1);
        int64_t label;

        ck_assert_uint_eq(record(store, i, 0)[0], value);
        ck_assert_uint_eq(record(store, i, 0)[8 * 6 * 3 - 1], value);
        memcpy(&label, record(store, i, 1), sizeof label);
        ck_assert_int_eq(label, i < 10 ? 0 : 1);
    }
    ck_assert_int_eq(mshard_store_find_key(store, "b/003.png", 9, &r, &err), MSHARD_OK);
    ck_assert_uint_eq(r, 11);
    ck_assert_uint_eq(mshard_store_stats(store, 1)->counts[1], 10);
    ck_assert_str_eq(mshard_store_class_name(store, 1, 1), "b");
    mshard_store_unref(store);
}
END_TEST

START_TEST(the_bytes_do_not_depend_on_jobs_or_place)
{
    const char *dir = mshi_test_dir(), *input = make_folder(41), *elsewhere = make_folder(41);
    const char *one = mshi_test_path(dir, "one"), *many = mshi_test_path(dir, "many");
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .keys = 1, .shards = 2, .jobs = 1, .shuffle = 1,
                             .shuffle_seed = 5};

    write_png(mshi_test_path(input, "a/bad.png"), 8, 6, 1, 20);
    write_png(mshi_test_path(elsewhere, "a/bad.png"), 8, 6, 1, 20);
    o.on_error = MSHARD_ON_ERROR_SKIP;
    pack_ok(input, one, &o);
    ck_assert_uint_eq(result.skipped, 1);
    o.jobs = 5;
    pack_ok(elsewhere, many, &o);
    assert_same_file(one, many, "dataset.json");
    assert_same_file(one, many, "shard-000000.mshard");
    assert_same_file(one, many, "shard-000001.mshard");
    assert_same_file(one, many, "keys.mdb");
    assert_same_file(one, many, "skipped.jsonl");
}
END_TEST

START_TEST(all_bad_inputs_are_named)
{
    const char *out = mshi_test_path(mshi_test_dir(), "out"), *input = make_folder(60);
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .jobs = 2};
    char *text;
    size_t size;

    write_png(mshi_test_path(input, "a/020.png"), 8, 6, 1, 20);
    write_file(mshi_test_path(input, "b/051.png"), "BM not a png", 12);
    ck_assert_int_eq(pack_one(input, out, &o), MSHARD_E_DECODE);
    ck_assert_int_eq(failed_events, 2);
    ck_assert_str_eq(failed_paths, "020.png 051.png ");
    ck_assert_ptr_nonnull(strstr(err.path, "a/020.png"));
    ck_assert_uint_eq(result.failed, 2);
    ck_assert(!is_there(out));

    o.on_error = MSHARD_ON_ERROR_SKIP;
    pack_ok(input, out, &o);
    ck_assert_uint_eq(result.records, 58);
    ck_assert_uint_eq(result.skipped, 2);
    ck_assert_int_eq(skipped_events, 2);
    ck_assert_int_eq(mshi_file_slurp(mshi_test_path(out, "skipped.jsonl"), 1 << 20, &text, &size, &err), MSHARD_OK);
    ck_assert_int_eq(strncmp(text, "{\"path\": \"a/020.png\", \"status\": \"decode\", \"reason\": \"PNG is cut", 62),
                     0);
    ck_assert_ptr_nonnull(
        strstr(text, "{\"path\": \"b/051.png\", \"status\": \"decode\", \"reason\": \"BMP not supported"));
    free(text);
}
END_TEST

START_TEST(images_of_two_sizes_need_a_rule)
{
    const char *dir = mshi_test_dir(), *input = make_folder(6);
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .on_error = MSHARD_ON_ERROR_SKIP};
    uint64_t shape[MSHARD_MAX_DIMS];
    mshard_store *store;

    write_png(mshi_test_path(input, "b/900.png"), 6, 8, 1, 0);
    ck_assert_int_eq(pack_one(input, mshi_test_path(dir, "x"), &o), MSHARD_E_DECODE);
    ck_assert_ptr_nonnull(strstr(err.path, "b/900.png"));
    ck_assert_ptr_nonnull(strstr(err.message, "6x8 pixels"));
    ck_assert_ptr_nonnull(strstr(err.message, "a/000.png is 8x6"));
    o.variable = 1;
    pack_ok(input, mshi_test_path(dir, "y"), &o);
    store = open_store(mshi_test_path(dir, "y"));
    ck_assert_int_eq(mshard_store_shape(store, 6, 0, shape, &err), MSHARD_OK);
    ck_assert_uint_eq(shape[0], 8);
    ck_assert_uint_eq(shape[1], 6);
    ck_assert_uint_eq(shape[2], 3);
    mshard_store_unref(store);
    o.variable = 0;
    o.resize_width = o.resize_height = 4;
    o.gray = 1;
    pack_ok(input, mshi_test_path(dir, "z"), &o);
    ck_assert_uint_eq(result.records, 7);
}
END_TEST

START_TEST(encoded_keeps_the_files)
{
    const char *out = mshi_test_path(mshi_test_dir(), "out"), *input = make_folder(4);
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .encoded = 1};
    mshard_store *store;
    mshard_view view;
    char *text;
    size_t size;

    pack_ok(input, out, &o);
    store = open_store(out);
    ck_assert_int_eq(mshard_store_record(store, 1, 0, &view, &err), MSHARD_OK);
    ck_assert_int_eq(mshi_file_slurp(mshi_test_path(input, "a/002.png"), 1 << 20, &text, &size, &err), MSHARD_OK);
    ck_assert_uint_eq(view.size, size);
    ck_assert_mem_eq(view.data, text, size);
    free(text);
    mshard_store_unref(store);
}
END_TEST

/* Pixels as numbers: exact, and no longer an image by the spec. Images of 20x20 are long enough for the table. */
START_TEST(pixels_of_another_dtype)
{
    static const char *const texts[] = {"image=float16", "image=bfloat16", "image=float32", "image=int64"};
    static const mshard_dtype dtypes[] = {MSHARD_FLOAT16, MSHARD_BFLOAT16, MSHARD_FLOAT32, MSHARD_INT64};
    const char *dir = mshi_test_dir(), *input = make_folder(0);

    (void)mkdir(mshi_test_path(input, "a"), 0777);
    write_png(mshi_test_path(input, "a/1.png"), 20, 20, 255, 0);
    write_png(mshi_test_path(input, "a/2.png"), 20, 20, 129, 0);
    for (int i = 0; i < 8; i++) {
        const char *wanted[] = {texts[i / 2], NULL}, *out = mshi_test_path(dir, (char[]){(char)('a' + i), 0});
        mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .dtypes = wanted, .variable = i % 2 == 1};
        const size_t size = mshard_dtype_size(dtypes[i / 2]);
        mshard_store *store;
        mshard_view view;

        pack_ok(input, out, &o);
        ck_assert(result.largest_error == 0);
        store = open_store(out);
        const mshard_field *field = mshard_store_field(store, 0);
        ck_assert_int_eq(field->dtype, dtypes[i / 2]);
        ck_assert_int_eq(field->content, MSHARD_CONTENT_VALUES);
        ck_assert_uint_eq(field->shape[0], o.variable ? MSHARD_DIM_UNKNOWN : 20);
        for (uint64_t r = 0; r < 2; r++) {
            const int64_t number = r == 0 ? 255 : 129;
            const float real = (float)number;
            uint64_t bits = 0;

            memcpy(&bits, i / 2 == 3 ? (const void *)&number : (const void *)&real, i / 2 == 3 ? 8 : 4);
            if (i / 2 == 0)
                bits = r == 0 ? 0x5bf8 : 0x5808; /* 255 and 129 as float16 */
            else if (i / 2 == 1)
                bits >>= 16;
            ck_assert_int_eq(mshard_store_record(store, r, 0, &view, &err), MSHARD_OK);
            ck_assert_uint_eq(view.size, 20 * 20 * 3 * size);
            for (size_t v = 0; v < 20 * 20 * 3; v++)
                ck_assert_mem_eq((const uint8_t *)view.data + v * size, &bits, size);
        }
        mshard_store_unref(store);
    }
    write_png(mshi_test_path(input, "a/3.png"), 20, 21, 1, 0);
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .dtypes = (const char *const[]){"image=float16", NULL}};
    ck_assert_int_eq(pack_one(input, mshi_test_path(dir, "x"), &o), MSHARD_E_DECODE);
    ck_assert_ptr_nonnull(strstr(err.message, "20x21 pixels"));
    o.encoded = 1;
    ck_assert_int_eq(pack_one(input, mshi_test_path(dir, "x"), &o), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "--encoded"));
    o.encoded = 0;
    o.dtypes = (const char *const[]){"image=int8", NULL};
    ck_assert_int_eq(pack_one(input, mshi_test_path(dir, "x"), &o), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "int8"));
}
END_TEST

START_TEST(duplicates_are_counted)
{
    const char *out = mshi_test_path(mshi_test_dir(), "out"), *input = make_folder(6);
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .jobs = 1};

    write_png(mshi_test_path(input, "b/100.png"), 8, 6, 2, 0); /* as a/002.png, with another label */
    write_png(mshi_test_path(input, "b/101.png"), 8, 6, 2, 0);
    pack_ok(input, out, &o);
    ck_assert_uint_eq(result.duplicates, 2);
}
END_TEST

START_TEST(no_samples)
{
    const char *dir = mshi_test_dir(), *input = mshi_test_dir(), *out = mshi_test_path(dir, "out");
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .on_error = MSHARD_ON_ERROR_SKIP};
    mshard_store *store;

    ck_assert_int_eq(mkdir(mshi_test_path(input, "a"), 0777), 0);
    write_file(mshi_test_path(input, "a/x.png"), "x", 1);
    ck_assert_int_eq(pack_one(input, out, &o), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, "no samples"));
    ck_assert(!is_there(out));
    o.allow_empty = 1;
    pack_ok(input, out, &o);
    store = open_store(out);
    ck_assert_uint_eq(mshard_store_count(store), 0);
    mshard_store_unref(store);
}
END_TEST

/* ---- arrays ---- */

START_TEST(overflow_names_the_record)
{
    const char *dir = mshi_test_dir(), *npy = mshi_test_path(dir, "x.npy");
    const float values[] = {1, 2, 3, 70000, 5, 6};
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT};
    uint16_t half;
    mshard_store *store;

    write_npy(npy, "<f4", "3, 2", values, sizeof values);
    ck_assert_int_eq(pack_one(npy, mshi_test_path(dir, "o"), &o), MSHARD_E_DECODE);
    ck_assert_ptr_nonnull(strstr(err.message, "record 1"));
    ck_assert_ptr_nonnull(strstr(err.message, "value 70000 of element 1 does not fit float16"));
    ck_assert_ptr_nonnull(strstr(err.message, "--dtype x=float32"));
    o.on_overflow = MSHARD_ON_OVERFLOW_CLAMP;
    pack_ok(npy, mshi_test_path(dir, "c"), &o);
    ck_assert_uint_eq(result.overflowed, 1);
    store = open_store(mshi_test_path(dir, "c"));
    memcpy(&half, record(store, 1, 0) + 2, sizeof half);
    ck_assert_uint_eq(half, 0x7bff);
    mshard_store_unref(store);
}
END_TEST

START_TEST(arrays_are_written_as_they_are)
{
    const char *dir = mshi_test_dir(), *npy = mshi_test_path(dir, "x.npy");
    static uint16_t values[5000];
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .shard_size = 3000, .jobs = 3};
    mshard_store *store;

    for (int i = 0; i < 5000; i++)
        values[i] = (uint16_t)(i * 13);
    write_npy(npy, "<u2", "1000, 5", values, sizeof values);
    pack_ok(npy, mshi_test_path(dir, "o"), &o);
    ck_assert_uint_eq(result.shards, 4); /* 300 records of 10 bytes fit */
    store = open_store(mshi_test_path(dir, "o"));
    for (uint64_t i = 0; i < 1000; i++)
        ck_assert_mem_eq(record(store, i, 0), &values[i * 5], 10);
    mshard_store_unref(store);
    o.keys = 1;
    ck_assert_int_eq(pack_one(npy, mshi_test_path(dir, "k"), &o), MSHARD_E_INVALID);
    ck_assert(!is_there(mshi_test_path(dir, "k")));
}
END_TEST

/* ---- the rest ---- */

START_TEST(a_dry_run_writes_nothing)
{
    const char *dir = mshi_test_dir();
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .dry_run = 1};

    pack_ok(make_folder(8), NULL, &o);
    ck_assert_ptr_nonnull(result.plan_json);
    ck_assert_ptr_nonnull(strstr(result.plan_json, "\"inputs\": 8"));
    ck_assert_ptr_nonnull(strstr(result.plan_json, "{\"width\": 8, \"height\": 6, \"count\": 8}"));
    ck_assert_ptr_nonnull(strstr(result.plan_json, "\"shape\": [6, 8, 3]"));
    ck_assert_str_eq(result.id, "");
    ck_assert_int_eq(rmdir(dir), 0);
    mshard_pack_result_clear(&result);
}
END_TEST

START_TEST(a_callback_can_stop_it)
{
    const char *out = mshi_test_path(mshi_test_dir(), "out");
    uint64_t stop = 1;
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .context = &stop};

    ck_assert_int_eq(pack_one(make_folder(8), out, &o), MSHARD_E_CANCELLED);
    ck_assert(!is_there(out));
}
END_TEST

START_TEST(misuse_is_invalid)
{
    const char *dir = mshi_test_dir(), *input = make_folder(2);
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .align = 5000};

    ck_assert_int_eq(pack_one(input, mshi_test_path(dir, "a"), &o), MSHARD_E_INVALID);
    o.align = 0;
    ck_assert_int_eq(pack_one(input, NULL, &o), MSHARD_E_INVALID);
    o.shards = o.shard_size = 1;
    ck_assert_int_eq(pack_one(input, mshi_test_path(dir, "a"), &o), MSHARD_E_INVALID);
    ck_assert_int_eq(mshard_pack(NULL, 0, "x", NULL, NULL, NULL), MSHARD_E_INVALID);
    o.shards = o.shard_size = 0;
    ck_assert_int_eq(pack_one(input, mshi_test_path(input, "inside"), &o), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "inside the input"));
    ck_assert(!is_there(mshi_test_path(input, "inside")));
    ck_assert(!is_there(mshi_test_path(dir, "a")));
}
END_TEST

/* From any operation on the disk is full: the pack says so and nothing opens, or it was done by then. */
START_TEST(a_full_disk_leaves_nothing)
{
    const char *dir = mshi_test_dir(), *input = make_folder(5), *trash = mshi_test_dir();
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .jobs = 1};
    const char *inputs[] = {input};
    bool reached = true;
    int failures = 0;

    for (uint64_t at = 1; reached && at < 200; at++) {
        char out[600];
        struct faultfs f;
        mshard_store *store = NULL;
        mshard_status status;

        snprintf(out, sizeof out, "%s/out-%" PRIu64, dir, at);
        faultfs_init(&f, FAULTFS_FULL, at, trash);
        status = mshi_pack_on(&f.fs, inputs, 1, out, &o, NULL, &err);
        reached = f.operation != NULL;
        failures += status != MSHARD_OK;
        if (status != MSHARD_OK)
            ck_assert_int_eq(err.code, status);
        ck_assert_int_eq(mshard_store_open(out, NULL, &store, NULL) == MSHARD_OK, status == MSHARD_OK);
        mshard_store_unref(store);
        faultfs_end(&f, FAULTFS_KEEP);
    }
    ck_assert(!reached);
    ck_assert_int_gt(failures, 5);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("pack");
    TCase *c = tcase_create("pack");

    tcase_add_checked_fixture(c, setup, NULL);
    tcase_set_timeout(c, 120);
    tcase_add_test(c, a_folder_becomes_a_data_set);
    tcase_add_test(c, the_bytes_do_not_depend_on_jobs_or_place);
    tcase_add_test(c, all_bad_inputs_are_named);
    tcase_add_test(c, images_of_two_sizes_need_a_rule);
    tcase_add_test(c, encoded_keeps_the_files);
    tcase_add_test(c, pixels_of_another_dtype);
    tcase_add_test(c, duplicates_are_counted);
    tcase_add_test(c, no_samples);
    tcase_add_test(c, overflow_names_the_record);
    tcase_add_test(c, arrays_are_written_as_they_are);
    tcase_add_test(c, a_dry_run_writes_nothing);
    tcase_add_test(c, a_callback_can_stop_it);
    tcase_add_test(c, misuse_is_invalid);
    tcase_add_test(c, a_full_disk_leaves_nothing);
    suite_add_tcase(suite, c);
    return suite;
}
