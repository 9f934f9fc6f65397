/*
 * test_writer.c - mshard_writer_*: what is written reads back, shards roll over where they should, misuse is named
 */
#include "format/writer_internal.h"
#include "support/faultfs.h"
#include "support/main.h"
#include <mshard/mshard.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define X MSHARD_DIM_UNKNOWN
#define OK(call) ck_assert_msg((call) == MSHARD_OK, "%s: %s: %s", #call, err.path, err.message)
#define REFUSED(call, status, text)                                                                  \
    do {                                                                                             \
        ck_assert_int_eq(call, status);                                                              \
        ck_assert_int_eq(err.code, status);                                                          \
        ck_assert_msg(strstr(err.message, text) != NULL, "\"%s\" is not in: %s", text, err.message); \
    } while (0)

static mshard_error err;

static size_t entries(const char *dir)
{
    struct mshi_entry *list;
    size_t n;

    OK(mshi_folder_list(dir, false, &list, &n, &err));
    mshi_folder_free(list, n);
    return n;
}

static mshard_writer *create(const char *path, const mshard_field *fields, uint32_t n,
                             const mshard_writer_options *options)
{
    mshard_writer *w;

    OK(mshard_writer_create(path, fields, n, options, &w, &err));
    return w;
}

/* Open, after every byte and rule was checked by the verifier. */
static mshard_store *open_checked(const char *path)
{
    const mshard_verify_options options = {MSHARD_VERIFY_OPTIONS_INIT, .threads = 1};
    mshard_verify_result result;
    mshard_store *store;

    OK(mshard_verify(path, &options, &result, &err));
    ck_assert_uint_eq(result.findings, 0);
    OK(mshard_store_open(path, NULL, &store, &err));
    return store;
}

static void commit(mshard_writer *w)
{
    OK(mshard_writer_commit(w, &err));
    mshard_writer_unref(w);
}

static const void *record(const mshard_store *store, uint64_t i, uint32_t field, size_t size)
{
    mshard_view view;

    OK(mshard_store_record(store, i, field, &view, &err));
    ck_assert_uint_eq(view.size, size);
    return view.data;
}

static const mshard_field two_fields[] = {
    {.name = "image", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {4, 5, 3}},
    {.name = "label", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL},
};

START_TEST(single_records)
{
    const char *dir = mshi_test_dir(), *path = mshi_test_path(dir, "ds");
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .records_per_shard = 4, .no_sync = 1};
    const char *const names[] = {"cat", "dog", "\xc3\xa9lan \"x\""};
    mshard_writer *w = create(path, two_fields, 2, &options);
    mshard_store *store;
    uint8_t image[60];
    size_t size;

    OK(mshard_writer_set_classes(w, "label", names, 3, &err));
    for (int64_t i = 0; i < 11; i++) {
        const int64_t label = i % 3;

        memset(image, (int)i, sizeof(image));
        OK(mshard_writer_write(w, (mshard_value[]){{image, 60, NULL}, {&label, 8, NULL}}, NULL, 0, &err));
        ck_assert_uint_eq(mshard_writer_count(w), (uint64_t)i + 1);
        ck_assert_int_lt(mshard_store_open(path, NULL, &store, NULL), 0);
    }
    commit(w);
    ck_assert_uint_eq(entries(path), 4);

    store = open_checked(path);
    ck_assert_uint_eq(mshard_store_count(store), 11);
    ck_assert_uint_eq(mshard_store_shard_count(store), 3);
    ck_assert_uint_eq(mshard_store_generation(store), 1);
    ck_assert_uint_eq(mshard_store_run(store, 8), 3);
    for (uint64_t i = 0; i < 11; i++) {
        const int64_t label = (int64_t)i % 3;

        memset(image, (int)i, sizeof(image));
        ck_assert_mem_eq(record(store, i, 0, 60), image, 60);
        ck_assert_mem_eq(record(store, i, 1, 8), &label, 8);
    }
    ck_assert_uint_eq(mshard_store_class_count(store, 1), 3);
    ck_assert_str_eq(mshard_store_class_name(store, 1, 2), names[2]);
    ck_assert_uint_eq(mshard_store_stats(store, 0)->channels, 3);
    ck_assert_uint_eq(mshard_store_stats(store, 0)->values, 11 * 20);
    ck_assert(mshard_store_stats(store, 0)->max[2] == 10 && mshard_store_stats(store, 0)->mean[0] == 5);
    ck_assert_uint_eq(mshard_store_stats(store, 1)->counts[0], 4);
    ck_assert_uint_eq(mshard_store_stats(store, 1)->counts[2], 3);
    ck_assert_ptr_nonnull(strstr(mshard_store_manifest(store, &size), "\"kind\":\"writer\""));
    ck_assert_ptr_nonnull(strstr(mshard_store_manifest(store, &size), "\"records_per_shard\":4"));
    ck_assert_int_eq(mshard_store_has_keys(store), 0);
    mshard_store_unref(store);
}
END_TEST

/* Batches of any size give the same files as single records. */
START_TEST(batches)
{
    static const uint64_t steps[] = {1, 7, 100, 1000, 333};
    const char *dir = mshi_test_dir();
    static uint8_t images[1000][60];
    static int64_t labels[1000];
    char id[33] = "";

    for (int i = 0; i < 1000; i++) {
        labels[i] = i % 10;
        for (int k = 0; k < 60; k++)
            images[i][k] = (uint8_t)(i * 31 + k * k);
    }
    for (size_t way = 0; way < 5; way++) {
        const char *path = mshi_test_path(dir, (const char *[]){"a", "b", "c", "d", "e"}[way]);
        const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .shard_size = 7000, .no_sync = 1};
        mshard_writer *w = create(path, two_fields, 2, &options);
        mshard_store *store;

        for (uint64_t i = 0; i < 1000;) {
            const uint64_t n = steps[way] < 1000 - i ? steps[way] : 1000 - i;

            if (n == 1)
                OK(mshard_writer_write(w, (mshard_value[]){{images[i], 60, NULL}, {&labels[i], 8, NULL}}, NULL, 0,
                                       &err));
            else
                OK(mshard_writer_write_batch(w, (const void *[]){images[i], &labels[i]}, n, &err));
            i += n;
        }
        OK(mshard_writer_write_batch(w, (const void *[]){images, labels}, 0, &err));
        commit(w);
        store = open_checked(path);
        ck_assert_uint_eq(mshard_store_shard_count(store), 10); /* 7000 / 68 = 102 records a shard */
        ck_assert_uint_eq(mshard_store_run(store, 0), 102);
        ck_assert_mem_eq(record(store, 777, 0, 60), images[777], 60);
        if (way == 0)
            (void)snprintf(id, sizeof(id), "%s", mshard_store_id(store));
        ck_assert_str_eq(mshard_store_id(store), id);
        mshard_store_unref(store);
    }
}
END_TEST

START_TEST(variable_fields)
{
    const mshard_field fields[] = {
        {.name = "tokens", .dtype = MSHARD_UINT16, .ndim = 1, .shape = {X}},
        {.name = "map", .dtype = MSHARD_FLOAT32, .ndim = 2, .shape = {2, X}},
    };
    const char *path = mshi_test_path(mshi_test_dir(), "ds");
    /* bytes: 100+24, 200+0, 0+0, 700+8 (above the size: alone), 2+80, 58+240 (exactly 380), 2+0 */
    static const size_t tokens[] = {50, 100, 0, 350, 1, 29, 1}, columns[] = {3, 0, 0, 1, 10, 30, 0};
    static const uint64_t first[] = {0, 0, 0, 1, 2, 2, 3}; /* shard of each */
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .shard_size = 380, .no_sync = 1};
    mshard_writer *w = create(path, fields, 2, &options);
    uint16_t t[400];
    float m[60];
    mshard_store *store;

    for (int i = 0; i < 400; i++)
        t[i] = (uint16_t)(i * 3);
    for (int i = 0; i < 60; i++)
        m[i] = (float)i / 4;
    for (int r = 0; r < 7; r++) {
        const uint64_t shape[] = {2, columns[r]};

        OK(mshard_writer_write(w, (mshard_value[]){{t, tokens[r] * 2, NULL}, {m, columns[r] * 8, shape}}, NULL, 0,
                               &err));
    }
    REFUSED(mshard_writer_write_batch(w, (const void *[]){t, m}, 1, &err), MSHARD_E_INVALID, "variable");
    commit(w);
    store = open_checked(path);
    ck_assert_uint_eq(mshard_store_shard_count(store), 4);
    for (uint64_t r = 0; r < 7; r++) {
        uint64_t shape[MSHARD_MAX_DIMS], shard, index;

        ck_assert_mem_eq(record(store, r, 0, tokens[r] * 2), t, tokens[r] * 2);
        ck_assert_mem_eq(record(store, r, 1, columns[r] * 8), m, columns[r] * 8);
        OK(mshard_store_shape(store, r, 1, shape, &err));
        ck_assert(shape[0] == 2 && shape[1] == columns[r]);
        OK(mshard_store_locate(store, r, &shard, &index, &err));
        ck_assert_uint_eq(shard, first[r]);
    }
    mshard_store_unref(store);
}
END_TEST

START_TEST(keys)
{
    const char *path = mshi_test_path(mshi_test_dir(), "ds");
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .shard_size = 680, .keys = 1, .no_sync = 1};
    mshard_writer *w = create(path, two_fields, 2, &options);
    uint8_t image[60] = {0};
    char key[MSHARD_MAX_KEY + 1];
    int64_t label = 0;
    const mshard_value values[] = {{image, 60, NULL}, {&label, 8, NULL}};
    mshard_store *store;
    mshard_view view;
    uint64_t found;

    memset(key, 'k', sizeof(key));
    REFUSED(mshard_writer_write(w, values, NULL, 0, &err), MSHARD_E_INVALID, "key must have 1 to 511 bytes");
    REFUSED(mshard_writer_write(w, values, "", 0, &err), MSHARD_E_INVALID, "key must have 1 to 511 bytes, found 0");
    REFUSED(mshard_writer_write(w, values, key, 512, &err), MSHARD_E_INVALID, "found 512");
    REFUSED(mshard_writer_write_batch(w, (const void *[]){image, &label}, 1, &err), MSHARD_E_INVALID, "keys");
    for (int i = 0; i < 5000; i++) {
        int n = snprintf(key, sizeof(key), "sample/%d", (i * 7919) % 5000);

        if (i == 17)
            n = 511;
        OK(mshard_writer_write(w, values, key, (size_t)n, &err));
        key[n] = 'k';
    }
    commit(w);
    ck_assert_uint_eq(entries(path), 502);
    store = open_checked(path);
    ck_assert_uint_eq(mshard_store_shard_count(store), 500); /* 10 records of 68 bytes: keys move no boundary */
    ck_assert_int_ne(mshard_store_has_keys(store), 0);
    OK(mshard_store_key(store, 3, &view, &err));
    ck_assert_uint_eq(view.size, strlen("sample/3757"));
    ck_assert_mem_eq(view.data, "sample/3757", view.size);
    OK(mshard_store_find_key(store, "sample/3757", 11, &found, &err));
    ck_assert_uint_eq(found, 3);
    OK(mshard_store_key(store, 17, &view, &err));
    ck_assert_uint_eq(view.size, 511);
    OK(mshard_store_find_key(store, view.data, 511, &found, &err));
    ck_assert_uint_eq(found, 17);
    ck_assert_int_eq(mshard_store_find_key(store, "nothing", 7, &found, &err), MSHARD_E_NOT_FOUND);
    mshard_store_unref(store);
}
END_TEST

START_TEST(key_given_twice)
{
    const char *dir = mshi_test_dir(), *path = mshi_test_path(dir, "ds");
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .keys = 1, .no_sync = 1};
    const mshard_field field = {.name = "v", .dtype = MSHARD_UINT8};
    mshard_writer *w = create(path, &field, 1, &options);
    const mshard_value value = {"x", 1, NULL};
    mshard_store *store;

    OK(mshard_writer_write(w, &value, "a", 1, &err));
    OK(mshard_writer_write(w, &value, "twin", 4, &err));
    OK(mshard_writer_write(w, &value, "b", 1, &err));
    OK(mshard_writer_write(w, &value, "twin", 4, &err));
    REFUSED(mshard_writer_commit(w, &err), MSHARD_E_EXISTS, "twin");
    ck_assert_ptr_nonnull(strstr(err.message, "1"));
    ck_assert_ptr_nonnull(strstr(err.message, "3"));
    ck_assert_int_eq(mshard_store_open(path, NULL, &store, NULL), MSHARD_E_INCOMPLETE);
    REFUSED(mshard_writer_commit(w, &err), MSHARD_E_INVALID, "only be dropped");
    REFUSED(mshard_writer_write(w, &value, "c", 1, &err), MSHARD_E_INVALID, "only be dropped");
    mshard_writer_unref(w);
    ck_assert_uint_eq(entries(dir), 0);
}
END_TEST

START_TEST(order_of_calls)
{
    const char *dir = mshi_test_dir(), *path = mshi_test_path(dir, "ds");
    const mshard_field field = {.name = "v", .dtype = MSHARD_UINT8};
    const mshard_value value = {"x", 1, NULL};
    const void *data[] = {"abc"};
    mshard_writer *w = create(path, &field, 1, NULL);

    REFUSED(mshard_writer_commit(w, &err), MSHARD_E_INVALID, "at least one record");
    REFUSED(mshard_writer_write(w, &value, "k", 1, &err), MSHARD_E_INVALID, "options.keys");
    REFUSED(mshard_writer_write(w, NULL, NULL, 0, &err), MSHARD_E_INVALID, "no values");
    REFUSED(mshard_writer_write_batch(w, NULL, 1, &err), MSHARD_E_INVALID, "no values");
    REFUSED(mshard_writer_write_batch(w, (const void *[]){NULL}, 1, &err), MSHARD_E_INVALID, "no data");
    REFUSED(mshard_writer_write_batch(w, data, UINT64_MAX, &err), MSHARD_E_LIMIT, "records at most");
    REFUSED(mshard_writer_write(w, &(mshard_value){"xy", 2, NULL}, NULL, 0, &err), MSHARD_E_INVALID,
            "1 bytes, found 2");
    ck_assert_uint_eq(mshard_writer_count(w), 0);
    OK(mshard_writer_write_batch(w, data, 3, &err)); /* still good */
    OK(mshard_writer_commit(w, &err));
    REFUSED(mshard_writer_write(w, &value, NULL, 0, &err), MSHARD_E_INVALID, "committed");
    REFUSED(mshard_writer_write_batch(w, data, 3, &err), MSHARD_E_INVALID, "committed");
    REFUSED(mshard_writer_commit(w, &err), MSHARD_E_INVALID, "committed");
    mshard_writer_unref(w);
    mshard_store_unref(open_checked(path));
    ck_assert_uint_eq(entries(path), 2);
    mshard_writer_unref(NULL);
}
END_TEST

START_TEST(dropped_writer_leaves_nothing)
{
    const char *dir = mshi_test_dir();
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .records_per_shard = 2, .no_sync = 1};
    const mshard_field field = {.name = "v", .dtype = MSHARD_UINT8};
    mshard_writer *w = create(mshi_test_path(dir, "ds"), &field, 1, &options);
    const void *data[] = {"abcde"};

    OK(mshard_writer_write_batch(w, data, 5, &err));
    mshard_writer_unref(w);
    ck_assert_uint_eq(entries(dir), 0);
}
END_TEST

/* A process that forks in the middle: the child's copy of the writer does nothing to the files. */
START_TEST(fork_in_the_middle)
{
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .records_per_shard = 2, .no_sync = 1};
    const mshard_field field = {.name = "v", .dtype = MSHARD_UINT8};
    const char *path = mshi_test_path(mshi_test_dir(), "ds");
    mshard_writer *w = create(path, &field, 1, &options);
    const void *data[] = {"abcde"};
    int status;
    pid_t child;

    OK(mshard_writer_write_batch(w, data, 5, &err));
    child = fork();
    if (child == 0) {
        const mshard_status refused = mshard_writer_write_batch(w, data, 1, &err);

        mshard_writer_unref(w);
        _exit(refused == MSHARD_E_INVALID ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    commit(w);
    mshard_store_unref(open_checked(path));
}
END_TEST

/* Shards sealed by a thread: same files; a failure there is told by a later call, and all is removed. */
START_TEST(sealed_by_a_thread)
{
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .records_per_shard = 3, .no_sync = 1};
    const char *dir = mshi_test_dir(), *trash = mshi_test_dir(), *path = mshi_test_path(dir, "ds");
    static const uint8_t images[20][60];
    static const int64_t labels[20] = {1, 2, 3};
    const void *data[] = {images, labels};
    char id[33] = "";

    for (int threaded = 0; threaded < 2; threaded++) {
        mshard_writer *w = create(path, two_fields, 2, &options);
        mshard_store *store;

        w->background_min = threaded != 0 ? 0 : UINT64_MAX;
        OK(mshard_writer_write_batch(w, data, 20, &err));
        commit(w);
        store = open_checked(path);
        ck_assert_uint_eq(mshard_store_shard_count(store), 7);
        if (threaded != 0)
            ck_assert_str_eq(mshard_store_id(store), id);
        (void)snprintf(id, sizeof(id), "%s", mshard_store_id(store));
        mshard_store_unref(store);
        OK(mshi_fs_remove_tree(&mshi_fs_posix, path, &err));
    }
    for (uint64_t n = 8; n < 60; n++) {
        struct faultfs fault;
        mshard_writer *w;
        mshard_status status;

        faultfs_init(&fault, FAULTFS_EIO, n, trash);
        OK(mshi_writer_create_on(&fault.fs, path, two_fields, 2, &options, &w, &err));
        w->background_min = 0;
        status = mshard_writer_write_batch(w, data, 20, &err);
        if (status == MSHARD_OK)
            status = mshard_writer_commit(w, &err);
        ck_assert_msg(status == MSHARD_E_IO, "operation %d (%s): %d", (int)n, fault.operation, (int)status);
        ck_assert_int_eq(err.sys_errno, EIO);
        mshard_writer_unref(w);
        ck_assert_uint_eq(entries(dir), 0);
        faultfs_end(&fault, FAULTFS_KEEP);
    }
}
END_TEST

/* A record that is refused must not end a shard. */
START_TEST(refused_record_moves_no_boundary)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_UINT16, .ndim = 1, .shape = {X}};
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .shard_size = 10, .no_sync = 1};
    const char *path = mshi_test_path(mshi_test_dir(), "ds");
    mshard_writer *w = create(path, &field, 1, &options);
    static const char bytes[40];
    mshard_store *store;

    OK(mshard_writer_write(w, &(mshard_value){bytes, 6, NULL}, NULL, 0, &err));
    REFUSED(mshard_writer_write(w, &(mshard_value){bytes, 7, NULL}, NULL, 0, &err), MSHARD_E_INVALID, "multiple of 2");
    OK(mshard_writer_write(w, &(mshard_value){bytes, 4, NULL}, NULL, 0, &err));
    commit(w);
    store = open_checked(path);
    ck_assert_uint_eq(mshard_store_shard_count(store), 1);
    mshard_store_unref(store);
}
END_TEST

/* Nor may a batch be taken in part. */
START_TEST(refused_batch_adds_nothing)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_BOOL};
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .records_per_shard = 2, .no_sync = 1};
    const char *path = mshi_test_path(mshi_test_dir(), "ds");
    mshard_writer *w = create(path, &field, 1, &options);

    REFUSED(mshard_writer_write_batch(w, (const void *[]){"\0\1\0\1\2"}, 5, &err), MSHARD_E_INVALID,
            "found 2 in element 4");
    ck_assert_uint_eq(mshard_writer_count(w), 0);
    OK(mshard_writer_write_batch(w, (const void *[]){"\0\1\0\1\1"}, 5, &err));
    commit(w);
    mshard_store_unref(open_checked(path));
}
END_TEST

START_TEST(wrong_options)
{
    const char *dir = mshi_test_dir(), *path = mshi_test_path(dir, "ds");
    const mshard_field field = {.name = "v", .dtype = MSHARD_UINT8}, none = {.name = NULL};
    const mshard_field key = {.name = "__key__", .dtype = MSHARD_UINT8, .ndim = 1, .shape = {X}};
    const mshard_field aux = {.name = "a", .dtype = MSHARD_UINT8, .flags = MSHARD_FIELD_AUX};
    static char names[MSHARD_MAX_FIELDS][8];
    mshard_field many[MSHARD_MAX_FIELDS];
    mshard_writer_options options = {0};
    mshard_writer *w = (mshard_writer *)&options;

    REFUSED(mshard_writer_create(path, &field, 1, &options, &w, &err), MSHARD_E_INVALID, "struct_size");
    ck_assert_ptr_null(w);
    options = (mshard_writer_options){MSHARD_WRITER_OPTIONS_INIT, .align = 5000};
    REFUSED(mshard_writer_create(path, &field, 1, &options, &w, &err), MSHARD_E_INVALID, "align");
    options = (mshard_writer_options){MSHARD_WRITER_OPTIONS_INIT, .records_per_shard = UINT64_MAX};
    REFUSED(mshard_writer_create(path, &field, 1, &options, &w, &err), MSHARD_E_INVALID, "records_per_shard");
    REFUSED(mshard_writer_create(path, NULL, 0, NULL, &w, &err), MSHARD_E_INVALID, "at least one field");
    REFUSED(mshard_writer_create(path, &none, 1, NULL, &w, &err), MSHARD_E_INVALID, "name");
    REFUSED(mshard_writer_create(path, &key, 1, NULL, &w, &err), MSHARD_E_INVALID, "__key__");
    REFUSED(mshard_writer_create(path, &aux, 1, NULL, &w, &err), MSHARD_E_INVALID, "auxiliary");
    for (int i = 0; i < MSHARD_MAX_FIELDS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "f%d", i);
        many[i] = (mshard_field){.name = names[i], .dtype = MSHARD_UINT8};
    }
    options = (mshard_writer_options){MSHARD_WRITER_OPTIONS_INIT, .keys = 1};
    REFUSED(mshard_writer_create(path, many, MSHARD_MAX_FIELDS, &options, &w, &err), MSHARD_E_INVALID, "64 fields");
    REFUSED(mshard_writer_create(path, many, 4000000000u, NULL, &w, &err), MSHARD_E_INVALID, "64 fields");
    ck_assert_uint_eq(entries(dir), 0);
    OK(mshard_writer_create(path, many, MSHARD_MAX_FIELDS, NULL, &w, &err));
    mshard_writer_unref(w);
    ck_assert_uint_eq(entries(dir), 0);
}
END_TEST

START_TEST(classes)
{
    const char *dir = mshi_test_dir(), *path = mshi_test_path(dir, "ds");
    const char *const good[] = {"a", "b", "c"}, *const twice[] = {"a", "b", "a"}, *const empty[] = {"a", ""};
    const char *const null[] = {NULL}, *const latin[] = {"a", "\xe9t\xe9"};
    const int64_t labels[] = {0, 2, 1};
    uint8_t image[180] = {0};
    mshard_writer *w = create(path, two_fields, 2, NULL);
    mshard_store *store;

    REFUSED(mshard_writer_set_classes(w, "image", good, 3, &err), MSHARD_E_INVALID, "no label");
    REFUSED(mshard_writer_set_classes(w, "x", good, 3, &err), MSHARD_E_INVALID, "no field");
    REFUSED(mshard_writer_set_classes(w, NULL, good, 3, &err), MSHARD_E_INVALID, "no field");
    REFUSED(mshard_writer_set_classes(w, "label", twice, 3, &err), MSHARD_E_INVALID, "\"a\" is there twice");
    REFUSED(mshard_writer_set_classes(w, "label", empty, 2, &err), MSHARD_E_INVALID, "name 1");
    REFUSED(mshard_writer_set_classes(w, "label", null, 1, &err), MSHARD_E_INVALID, "name 0");
    REFUSED(mshard_writer_set_classes(w, "label", latin, 2, &err), MSHARD_E_INVALID, "UTF-8");
    REFUSED(mshard_writer_set_classes(w, "label", good, 0, &err), MSHARD_E_INVALID, "at least one");
    OK(mshard_writer_write_batch(w, (const void *[]){image, labels}, 3, &err));
    OK(mshard_writer_set_classes(w, "label", good, 2, &err));
    REFUSED(mshard_writer_commit(w, &err), MSHARD_E_INVALID, "must be 0 to 1 (it has 2 class names), found 2");
    OK(mshard_writer_set_classes(w, "label", good, 3, &err)); /* more names, and all is well */
    commit(w);
    store = open_checked(path);
    ck_assert_str_eq(mshard_store_class_name(store, 1, 1), "b");
    mshard_store_unref(store);

    w = create(mshi_test_path(dir, "negative"), two_fields, 2, NULL);
    OK(mshard_writer_write_batch(w, (const void *[]){image, (int64_t[]){-1}}, 1, &err));
    OK(mshard_writer_set_classes(w, "label", good, 3, &err));
    REFUSED(mshard_writer_commit(w, &err), MSHARD_E_INVALID, "found -1");
    mshard_writer_unref(w);
}
END_TEST

/* A record larger than the shard size has a shard of its own. */
START_TEST(large_records)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_FLOAT32, .ndim = 3, .shape = {10, 300, 300}};
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .shard_size = 1 << 20, .no_sync = 1};
    const char *path = mshi_test_path(mshi_test_dir(), "ds");
    const uint64_t n = 3, size = 3600000;
    float *v = malloc(n * size);
    mshard_writer *w = create(path, &field, 1, &options);
    mshard_store *store;

    ck_assert_ptr_nonnull(v);
    for (uint64_t i = 0; i < n * size / 4; i++)
        v[i] = (float)(i % 1000003);
    OK(mshard_writer_write_batch(w, (const void *[]){v}, n, &err));
    commit(w);
    store = open_checked(path);
    ck_assert_uint_eq(mshard_store_shard_count(store), 3);
    for (uint64_t i = 0; i < n; i++)
        ck_assert(memcmp(record(store, i, 0, size), (const char *)v + i * size, size) == 0);
    mshard_store_unref(store);
    free(v);
}
END_TEST

/* Every dtype through the whole path; align and scale too. */
START_TEST(every_dtype)
{
    const mshard_dtype dtype = (mshard_dtype)_i;
    const bool scaled = dtype != MSHARD_BOOL;
    const mshard_field fields[] = {
        {.name = "v",
         .dtype = dtype,
         .ndim = 1,
         .shape = {7},
         .flags = scaled ? MSHARD_FIELD_SCALED : 0,
         .scale = 0.1,
         .offset = -3},
        {.name = "w", .dtype = dtype, .ndim = 2, .shape = {X, 1}},
    };
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .align = 1 << 16, .no_sync = 1,
                                           .records_per_shard = 3};
    const char *path = mshi_test_path(mshi_test_dir(), "ds");
    const size_t size = 7 * mshard_dtype_size(dtype);
    mshard_writer *w = create(path, fields, 2, &options);
    uint8_t value[56];
    mshard_store *store;

    for (uint64_t r = 0; r < 7; r++) {
        const uint64_t shape[] = {r, 1};

        for (size_t i = 0; i < size; i++)
            value[i] = (uint8_t)((r + i) % 2);
        OK(mshard_writer_write(w, (mshard_value[]){{value, size, NULL}, {value, r * size / 7, shape}}, NULL, 0, &err));
    }
    commit(w);
    store = open_checked(path);
    for (uint64_t r = 0; r < 7; r++) {
        for (size_t i = 0; i < size; i++)
            value[i] = (uint8_t)((r + i) % 2);
        ck_assert_mem_eq(record(store, r, 0, size), value, size);
        ck_assert_mem_eq(record(store, r, 1, r * size / 7), value, r * size / 7);
    }
    if (scaled)
        ck_assert(mshard_store_field(store, 0)->scale == 0.1 && mshard_store_field(store, 0)->offset == -3);
    mshard_store_unref(store);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("writer");
    TCase *tests = tcase_create("writer");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, single_records);
    tcase_add_test(tests, batches);
    tcase_add_test(tests, variable_fields);
    tcase_add_test(tests, keys);
    tcase_add_test(tests, key_given_twice);
    tcase_add_test(tests, order_of_calls);
    tcase_add_test(tests, dropped_writer_leaves_nothing);
    tcase_add_test(tests, fork_in_the_middle);
    tcase_add_test(tests, sealed_by_a_thread);
    tcase_add_test(tests, refused_record_moves_no_boundary);
    tcase_add_test(tests, refused_batch_adds_nothing);
    tcase_add_test(tests, wrong_options);
    tcase_add_test(tests, classes);
    tcase_add_test(tests, large_records);
    tcase_add_loop_test(tests, every_dtype, MSHARD_UINT8, MSHARD_BOOL + 1);
    suite_add_tcase(suite, tests);
    return suite;
}
