/*
 * writer.c - make a data set from values in memory: records come in
 *
 * Shards roll over by a rule that depends on the values alone: after a number of records, or before the record
 * that would take the values (keys left out, so that they move no boundary) above the size asked for. A record
 * above that size gets a shard of its own.
 *
 * Threads: confined.
 */
#include "format/writer_internal.h"

#include "base/alloc.h"
#include "base/options.h"
#include "format/layout.h"
#include "os/thread.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHARD_SIZE (UINT64_C(256) << 20)
#define KEY_CHUNK (UINT64_C(1) << 20)
#define BACKGROUND_MIN (UINT64_C(1) << 20) /* a smaller shard is sealed sooner than a thread starts */

struct mshi_key_chunk {
    struct mshi_key_chunk *next;
    size_t used;
    char bytes[];
};

static mshard_status invalid(mshard_error *err, const char *text)
{
    return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "%s", text);
}

mshard_status mshi_writer_check_state(const mshard_writer *w, mshard_error *err)
{
    if (w->owner != mshi_process_id())
        return invalid(err, "this writer belongs to another process: it was made before a fork");
    if (w->committed)
        return mshi_fail(err, MSHARD_E_INVALID, w->publish.target, MSHARD_NO_OFFSET,
                         "the data set is committed: the writer takes no more calls");
    if (w->failed)
        return mshi_fail(err, MSHARD_E_INVALID, w->publish.target, MSHARD_NO_OFFSET,
                         "writing failed before: the writer can only be dropped");
    return MSHARD_OK;
}

/* What the caller did wrong leaves the writer as it was; anything else ends it. */
static mshard_status note_failure(mshard_writer *w, mshard_status status)
{
    if (status != MSHARD_OK && status != MSHARD_E_INVALID && status != MSHARD_E_LIMIT)
        w->failed = true;
    return status;
}

static mshard_status copy_fields(mshard_writer *w, const mshard_field *fields, uint32_t n, mshard_error *err)
{
    const bool keys = w->options.keys != 0;
    mshard_field all[MSHARD_MAX_FIELDS];

    if (fields == NULL || n == 0)
        return invalid(err, "a data set needs at least one field");
    if (n + (keys ? 1 : 0) > MSHARD_MAX_FIELDS || n > MSHARD_MAX_FIELDS)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "a record can have %d fields at most%s, found %u", MSHARD_MAX_FIELDS,
                         keys ? ", the key included" : "", n);
    for (uint32_t f = 0; f < n; f++) {
        all[f] = fields[f];
        if ((fields[f].flags & MSHARD_FIELD_AUX) != 0 ||
            (fields[f].name != NULL && strcmp(fields[f].name, MSHI_KEY_FIELD) == 0))
            return mshi_fail(
                err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                "field %u: auxiliary fields and the name \"%s\" are the library's own (keys are given with "
                "options.keys)",
                f, MSHI_KEY_FIELD);
    }
    if (keys)
        all[n] = (mshard_field){.name = MSHI_KEY_FIELD,
                                .dtype = MSHARD_UINT8,
                                .content = MSHARD_CONTENT_TEXT,
                                .flags = MSHARD_FIELD_AUX,
                                .ndim = 1,
                                .shape = {MSHARD_DIM_UNKNOWN}};
    w->value_count = n;
    w->field_count = n + (keys ? 1 : 0);
    MSHI_TRY(mshi_fields_check(all, w->field_count, err));
    return mshi_fields_copy(all, w->field_count, &w->fields, err);
}

static mshard_status set_shard_rule(mshard_writer *w, mshard_error *err)
{
    const uint64_t size = w->options.shard_size == 0 ? SHARD_SIZE : w->options.shard_size;
    const uint32_t align = w->options.align;
    uint64_t record = 0;
    bool variable = false;

    if (align != 0 && (align < MSHI_ALIGN_MIN || align > MSHI_ALIGN_MAX || (align & (align - 1)) != 0))
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "align must be a power of two from %u to %u, found %u", MSHI_ALIGN_MIN, MSHI_ALIGN_MAX, align);
    if (w->options.records_per_shard > MSHARD_MAX_RECORDS)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "records_per_shard must be at most %" PRIu64 ", found %" PRIu64, MSHARD_MAX_RECORDS,
                         w->options.records_per_shard);
    for (uint32_t f = 0; f < w->value_count; f++) {
        variable = variable || mshard_field_is_variable(&w->fields[f]);
        record += w->fields[f].record_size; /* 64 values of at most 2^40 */
    }
    w->shard_bytes_max = size;
    if (w->options.records_per_shard != 0)
        w->shard_records = w->options.records_per_shard;
    else if (!variable)
        w->shard_records = size / record > 0 ? size / record : 1;
    return MSHARD_OK;
}

static mshard_status init(mshard_writer *w, const char *path, const mshard_field *fields, uint32_t n, mshard_error *err)
{
    MSHI_TRY(copy_fields(w, fields, n, err));
    MSHI_TRY(set_shard_rule(w, err));
    MSHI_TRY(mshi_alloc(w->field_count, sizeof(w->stats[0]), &w->stats, err));
    MSHI_TRY(mshi_alloc(w->field_count, sizeof(w->classes[0]), &w->classes, err));
    MSHI_TRY(mshi_alloc(w->field_count, sizeof(w->class_count[0]), &w->class_count, err));
    for (uint32_t f = 0; f < w->value_count; f++)
        MSHI_TRY(mshi_stats_new(&w->fields[f], &w->stats[f], err));
    return mshi_publish_begin(&w->publish, w->fs, path, w->options.overwrite != 0, w->options.no_sync == 0, err);
}

mshard_status mshi_writer_create_on(const struct mshi_fs *fs, const char *path, const mshard_field *fields, uint32_t n,
                                    const mshard_writer_options *options, mshard_writer **writer, mshard_error *err)
{
    mshard_writer *w;
    mshard_status status;

    *writer = NULL;
    MSHI_TRY(mshi_alloc(1, sizeof(*w), &w, err));
    w->fs = fs;
    w->owner = mshi_process_id();
    w->background_min = BACKGROUND_MIN;
    status = mshi_options_load(&w->options, sizeof(w->options), options, err);
    if (status == MSHARD_OK)
        status = init(w, path, fields, n, err);
    if (status != MSHARD_OK) {
        mshard_writer_unref(w);
        return status;
    }
    *writer = w;
    return MSHARD_OK;
}

mshard_status mshard_writer_create(const char *path, const mshard_field *fields, uint32_t n,
                                   const mshard_writer_options *options, mshard_writer **writer, mshard_error *err)
{
    return mshi_writer_create_on(&mshi_fs_posix, path, fields, n, options, writer, err);
}

/* Would the open shard be too large with a record of bytes more? */
static bool is_full(const mshard_writer *w, uint64_t bytes)
{
    const uint64_t count = mshi_shard_writer_count(w->shard);

    if (w->shard_records != 0)
        return count >= w->shard_records;
    return count > 0 && (w->shard_bytes >= w->shard_bytes_max || bytes > w->shard_bytes_max - w->shard_bytes);
}

static mshard_status roll_over(mshard_writer *w, mshard_error *err)
{
    mshard_status status = mshi_writer_finish_shard(w, err);

    if (status == MSHARD_OK)
        status = mshi_writer_start_shard(w, err);
    if (status != MSHARD_OK)
        w->failed = true;
    return status;
}

/*
 * Keys stay in memory until the commit: the index is built from sorted keys, and reading them back from the shards
 * would cost a map a shard to save length + 24 bytes a record.
 */
static mshard_status hold_key(mshard_writer *w, const void *key, size_t size, mshard_error *err)
{
    struct mshi_key_chunk *chunk = w->key_chunk;

    MSHI_TRY(mshi_grow(&w->keys, &w->key_capacity, w->records + 1, sizeof(w->keys[0]), err));
    if (chunk == NULL || KEY_CHUNK - chunk->used < size) {
        MSHI_TRY(mshi_alloc(1, sizeof(*chunk) + KEY_CHUNK, &chunk, err));
        chunk->next = w->key_chunk;
        w->key_chunk = chunk;
    }
    memcpy(chunk->bytes + chunk->used, key, size);
    w->keys[w->records] = (struct mshi_key){.data = chunk->bytes + chunk->used, .size = size, .record = w->records};
    return MSHARD_OK; /* chunk->used moves when the record is in */
}

static mshard_status check_key(const mshard_writer *w, const void *key, size_t size, mshard_error *err)
{
    if (w->options.keys == 0)
        return key == NULL ? MSHARD_OK : invalid(err, "a key was given, and the writer was made without options.keys");
    if (key == NULL || size == 0 || size > MSHARD_MAX_KEY)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "record %" PRIu64 ": a key must have 1 to %d bytes, found %zu", w->records, MSHARD_MAX_KEY,
                         key == NULL ? (size_t)0 : size);
    return MSHARD_OK;
}

static mshard_status check_count(const mshard_writer *w, uint64_t n, mshard_error *err)
{
    if (n > MSHARD_MAX_RECORDS - w->records)
        return mshi_fail(err, MSHARD_E_LIMIT, w->publish.target, MSHARD_NO_OFFSET,
                         "a data set can have %" PRIu64 " records at most", MSHARD_MAX_RECORDS);
    return MSHARD_OK;
}

static mshard_status write_record(mshard_writer *w, const mshard_value *values, const void *key, size_t key_size,
                                  mshard_error *err)
{
    mshard_value all[MSHARD_MAX_FIELDS];
    uint64_t bytes = 0;

    for (uint32_t f = 0; f < w->value_count; f++) {
        all[f] = values[f];
        bytes += values[f].size < MSHARD_MAX_RECORD ? values[f].size : MSHARD_MAX_RECORD;
    }
    if (w->options.keys != 0) {
        MSHI_TRY(hold_key(w, key, key_size, err));
        all[w->value_count] = (mshard_value){.data = key, .size = key_size};
    }
    if (w->shard == NULL)
        MSHI_TRY(mshi_writer_start_shard(w, err));
    if (is_full(w, bytes)) { /* a record that will not be taken must not end a shard */
        MSHI_TRY(mshi_shard_writer_check(w->shard, all, err));
        MSHI_TRY(roll_over(w, err));
    }
    MSHI_TRY(mshi_shard_writer_append(w->shard, all, err));
    if (w->options.keys != 0)
        w->key_chunk->used += key_size;
    w->shard_bytes += bytes;
    w->records++;
    return MSHARD_OK;
}

mshard_status mshard_writer_write(mshard_writer *writer, const mshard_value *values, const void *key, size_t key_size,
                                  mshard_error *err)
{
    MSHI_TRY(mshi_writer_check_state(writer, err));
    if (values == NULL)
        return invalid(err, "no values were given");
    MSHI_TRY(check_key(writer, key, key_size, err));
    MSHI_TRY(check_count(writer, 1, err));
    return note_failure(writer, write_record(writer, values, key, key_size, err));
}

static mshard_status write_run(mshard_writer *w, const void *const *data, uint64_t first, uint64_t n, mshard_error *err)
{
    const void *at[MSHARD_MAX_FIELDS];

    for (uint32_t f = 0; f < w->value_count; f++) {
        at[f] = (const uint8_t *)data[f] + first * w->fields[f].record_size;
        w->shard_bytes += n * w->fields[f].record_size;
    }
    MSHI_TRY(mshi_shard_writer_append_batch(w->shard, at, n, err));
    w->records += n;
    return MSHARD_OK;
}

static mshard_status write_runs(mshard_writer *w, const void *const *data, uint64_t n, mshard_error *err)
{
    if (w->shard == NULL)
        MSHI_TRY(mshi_writer_start_shard(w, err));
    MSHI_TRY(mshi_shard_writer_check_batch(w->shard, data, n, err));
    for (uint64_t i = 0; i < n;) {
        uint64_t room, m;

        if (is_full(w, 0))
            MSHI_TRY(roll_over(w, err));
        room = w->shard_records - mshi_shard_writer_count(w->shard); /* fixed fields always go by number */
        m = n - i < room ? n - i : room;
        MSHI_TRY(write_run(w, data, i, m, err));
        i += m;
    }
    return MSHARD_OK;
}

mshard_status mshard_writer_write_batch(mshard_writer *writer, const void *const *data, uint64_t n, mshard_error *err)
{
    MSHI_TRY(mshi_writer_check_state(writer, err));
    if (writer->options.keys != 0)
        return invalid(err, "a batch has no keys, and the writer was made with options.keys: write single records");
    if (data == NULL)
        return invalid(err, "no values were given");
    MSHI_TRY(check_count(writer, n, err));
    return note_failure(writer, write_runs(writer, data, n, err));
}

uint64_t mshard_writer_count(const mshard_writer *writer)
{
    return writer->records;
}

void mshi_writer_clear_classes(mshard_writer *w, uint32_t field)
{
    for (uint64_t i = 0; i < w->class_count[field]; i++)
        free(w->classes[field][i]);
    free(w->classes[field]);
    w->classes[field] = NULL;
    w->class_count[field] = 0;
}

void mshard_writer_unref(mshard_writer *writer)
{
    if (writer == NULL || writer->owner != mshi_process_id()) /* a child's copy: files and thread are the parent's */
        return;
    mshi_writer_drop_shards(writer);
    mshi_publish_end(&writer->publish);
    for (uint32_t f = 0; f < writer->value_count; f++) {
        if (writer->stats != NULL)
            mshi_stats_free(writer->stats[f]);
        if (writer->class_count != NULL)
            mshi_writer_clear_classes(writer, f);
    }
    while (writer->key_chunk != NULL) {
        struct mshi_key_chunk *next = writer->key_chunk->next;

        free(writer->key_chunk);
        writer->key_chunk = next;
    }
    free(writer->keys);
    free(writer->class_count);
    free(writer->classes);
    free(writer->stats);
    free(writer->fields);
    free(writer);
}
