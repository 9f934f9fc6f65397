/*
 * columns_labels.c - labels for sources of fixed records: an array beside them, or names for the numbers they have
 *
 * --labels FILE is an array of labels when it is an .npy or idx file, or a text of as many integers as there are
 * records; otherwise a class list.
 */
#include "ingest/columns.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "ingest/class_list.h"
#include "ingest/idx.h"
#include "ingest/npy_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT (UINT64_C(1) << 30)

/* The label field: LABEL content, one integer a record. */
static bool find_label(const struct mshi_source *base, uint32_t *field)
{
    for (*field = 0; *field < base->field_count; (*field)++)
        if (base->fields[*field].content == MSHARD_CONTENT_LABEL)
            return true;
    return false;
}

static bool is_integer(mshard_dtype dtype)
{
    return dtype != MSHARD_FLOAT16 && dtype != MSHARD_FLOAT32 && dtype != MSHARD_FLOAT64 && dtype != MSHARD_BFLOAT16 &&
           dtype != MSHARD_BOOL;
}

static mshard_status no_label_yet(const struct mshi_columns *columns, const char *path, mshard_error *err)
{
    uint32_t field;

    if (!find_label(&columns->base, &field))
        return MSHARD_OK;
    return mshi_fail(err, MSHARD_E_INVALID, path, MSHARD_NO_OFFSET,
                     "an array of labels was given, but the inputs have field '%s' already",
                     columns->base.fields[field].name);
}

static mshard_status from_npy(struct mshi_columns *columns, const char *path, mshard_error *err)
{
    struct mshi_npy npy;
    struct mshi_segment segment = {.file = {.fd = -1}};

    MSHI_TRY(no_label_yet(columns, path, err));
    MSHI_TRY(mshi_npy_open(path, &npy, &segment, err));
    if (npy.ndim != 1 || !is_integer(npy.dtype)) {
        mshi_file_close(&segment.file);
        free(segment.path);
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                         "labels must be integers in one dimension, found %" PRIu32 " dimensions of %s", npy.ndim,
                         mshard_dtype_name(npy.dtype));
    }
    mshard_status status = mshi_columns_add(columns, "label", npy.dtype, npy.swap, MSHARD_CONTENT_LABEL, 0, NULL, err);
    if (status != MSHARD_OK) {
        mshi_file_close(&segment.file);
        free(segment.path);
        return status;
    }
    return mshi_columns_segment(columns, &segment, err);
}

static mshard_status from_integers(struct mshi_columns *columns, const char *path, const struct mshi_buf *values,
                                   uint64_t count, mshard_error *err)
{
    struct mshi_segment segment = {.file = {.fd = -1}, .count = count};
    void *copy;

    MSHI_TRY(no_label_yet(columns, path, err));
    MSHI_TRY(mshi_columns_add(columns, "label", MSHARD_INT64, false, MSHARD_CONTENT_LABEL, 0, NULL, err));
    MSHI_TRY(mshi_alloc(values->size, 1, &copy, err));
    memcpy(copy, values->data, values->size);
    segment.memory = copy;
    const mshard_status status = mshi_strdup(path, &segment.path, err);
    if (status != MSHARD_OK) {
        free(copy);
        return status;
    }
    return mshi_columns_segment(columns, &segment, err);
}

/* One integer a line, and nothing else: true. values: their int64, back to back. */
static bool integers_only(const char *text, size_t size, struct mshi_buf *values, uint64_t *count)
{
    const char *at = text, *end = text + size;

    for (*count = 0; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        int64_t value;

        stop = stop ? stop : end;
        if (!mshi_parse_integer(at, (size_t)(stop - at), &value))
            return false;
        mshi_buf_add(values, &value, sizeof(value));
        ++*count;
        at = stop == end ? end : stop + 1;
    }
    return *count > 0;
}

/* Every value of the label field must have a name. */
static mshard_status check_range(struct mshi_columns *columns, uint32_t field, const char *path, mshard_error *err)
{
    struct mshi_source *base = &columns->base;
    struct mshi_payload payload = {.buffer = NULL};
    mshard_status status = MSHARD_OK;

    for (uint64_t i = 0; i < base->count && status == MSHARD_OK; i += 65536) {
        const uint64_t n = base->count - i < 65536 ? base->count - i : 65536;

        status = mshi_columns_read_field(columns, field, i, n, &payload, err);
        for (uint64_t k = 0; k < n && status == MSHARD_OK; k++) {
            int64_t label;

            memcpy(&label, (const uint8_t *)payload.data[0] + k * sizeof(label), sizeof(label));
            if (label < 0 || (uint64_t)label >= base->class_count)
                status = mshi_fail(err, MSHARD_E_FORMAT, columns->columns[field].segments[0].path, MSHARD_NO_OFFSET,
                                   "label %" PRId64 " of record %" PRIu64 " is not among the %" PRIu64 " classes of %s",
                                   label, i + k, base->class_count, path);
        }
    }
    mshi_payload_clear(&payload);
    return status;
}

static mshard_status class_names(struct mshi_columns *columns, const char *path, mshard_error *err)
{
    struct mshi_names given = {.count = 0};
    uint32_t field;

    if (!find_label(&columns->base, &field))
        return mshi_fail(err, MSHARD_E_INVALID, path, MSHARD_NO_OFFSET,
                         "neither an array of %" PRIu64 " labels, nor is there a label field it could name classes of",
                         columns->base.count);
    mshard_status status = mshi_class_list_load(path, &given, err);
    if (status == MSHARD_OK)
        status = mshi_class_list_take(&given, false, &columns->base.classes, &columns->base.class_count, NULL, err);
    mshi_names_clear(&given);
    MSHI_TRY(status);
    mshi_columns_widen_label(columns, field);
    return check_range(columns, field, path, err);
}

static mshard_status add_labels(struct mshi_columns *columns, const struct mshi_listing *listing, mshard_error *err)
{
    const char *path = listing->options->labels;
    struct mshi_buf values = {.data = NULL};
    uint8_t head[16];
    struct mshi_file file;
    size_t got = 0, size;
    uint64_t count;
    char *text;

    if (mshi_path_kind(path, NULL) == MSHI_FOLDER || mshi_is_data_set(path))
        return class_names(columns, path, err);
    MSHI_TRY(mshi_file_open(path, &file, err));
    const mshard_status read = mshi_file_read(&file, head, sizeof(head), 0, &got, path, err);
    mshi_file_close(&file);
    MSHI_TRY(read);
    if (mshi_head_is_npy(head, got))
        return from_npy(columns, path, err);
    if (mshi_head_is_idx(head, got) || mshi_head_is_gzip(head, got)) {
        MSHI_TRY(no_label_yet(columns, path, err));
        return mshi_idx_add_labels(columns, path, listing, err);
    }
    MSHI_TRY(mshi_file_slurp(path, MAX_TEXT, &text, &size, err));
    const bool integers = integers_only(text, size, &values, &count);
    free(text);
    mshard_status status = mshi_buf_status(&values, err);
    if (status == MSHARD_OK && integers && count == columns->base.count)
        status = from_integers(columns, path, &values, count, err);
    else if (status == MSHARD_OK)
        status = class_names(columns, path, err);
    mshi_buf_clear(&values);
    return status;
}

static mshard_status check_counts(const struct mshi_columns *columns, mshard_error *err)
{
    const struct mshi_source *base = &columns->base;

    for (uint32_t f = 1; f < base->field_count; f++)
        if (columns->columns[f].records != base->count)
            return mshi_fail(err, MSHARD_E_INVALID, columns->columns[f].segments[0].path, MSHARD_NO_OFFSET,
                             "%s has %" PRIu64 " rows, %s has %" PRIu64
                             "; fields of one data set have as many rows each (NAME=FILE.npz:MEMBER picks members)",
                             base->fields[0].name, base->count, base->fields[f].name, columns->columns[f].records);
    return MSHARD_OK;
}

mshard_status mshi_columns_finish(struct mshi_columns *columns, const struct mshi_listing *listing, mshard_error *err)
{
    struct mshi_source *base = &columns->base;

    base->count = columns->columns[0].records;
    MSHI_TRY(check_counts(columns, err));
    if (listing->options->labels) {
        MSHI_TRY(add_labels(columns, listing, err));
        MSHI_TRY(check_counts(columns, err));
    }
    for (uint32_t f = 0; f < base->field_count; f++) {
        uint64_t bytes;

        if (mshi_mul_overflow(base->count, columns->columns[f].record_size, &bytes) ||
            mshi_add_overflow(base->bytes, bytes, &base->bytes))
            return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "more than 2^64 bytes of records");
    }
    return MSHARD_OK;
}
