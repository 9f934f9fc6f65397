/*
 * source_idx.c - idx files, plain or gzip, known by their content: images and labels paired by rank
 *
 * Files of rank 1 with integers are labels, all others are data; several of each are joined in the order given, the
 * n-th data file with the n-th label file.
 */
#include "ingest/idx.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "ingest/gzip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADER (4 + 4 * (MSHARD_MAX_DIMS + 1))

struct idx {
    mshard_dtype dtype;
    uint32_t ndim;
    uint64_t shape[MSHARD_MAX_DIMS + 1];
    struct mshi_segment segment;
    bool label;
};

static mshard_dtype idx_dtype(uint8_t code)
{
    switch (code) {
    case 0x08:
        return MSHARD_UINT8;
    case 0x09:
        return MSHARD_INT8;
    case 0x0B:
        return MSHARD_INT16;
    case 0x0C:
        return MSHARD_INT32;
    case 0x0D:
        return MSHARD_FLOAT32;
    case 0x0E:
        return MSHARD_FLOAT64;
    default:
        return (mshard_dtype)0;
    }
}

bool mshi_head_is_idx(const void *head, size_t size)
{
    const uint8_t *bytes = head;

    return size >= 4 && bytes[0] == 0 && bytes[1] == 0 && idx_dtype(bytes[2]) && bytes[3] >= 1 &&
           bytes[3] <= MSHARD_MAX_DIMS + 1;
}

bool mshi_head_is_gzip(const void *head, size_t size)
{
    return size >= 3 && memcmp(head, "\x1F\x8B\x08", 3) == 0;
}

static mshard_status not_idx(const char *path, const uint8_t *head, size_t size, bool unpacked, mshard_error *err)
{
    char shown[MSHI_SHOWN_BYTES];

    mshi_show_bytes(head, size, shown);
    return mshi_fail(err, MSHARD_E_FORMAT, path, 0, "%s: begins with %s",
                     unpacked ? "gzip, but what it holds is not idx" : "not gzip, not idx", shown);
}

static mshard_status parse(const char *path, const struct mshi_file *file, bool unpacked, struct idx *idx,
                           mshard_error *err)
{
    uint8_t head[MAX_HEADER];
    size_t got = 0;
    uint64_t expected;

    MSHI_TRY(mshi_file_read(file, head, sizeof(head), 0, &got, path, err));
    if (!mshi_head_is_idx(head, got))
        return not_idx(path, head, got, unpacked, err);
    idx->dtype = idx_dtype(head[2]);
    idx->ndim = head[3];
    idx->segment.base = 4 + 4 * (uint64_t)idx->ndim;
    if (got < idx->segment.base)
        return mshi_fail(err, MSHARD_E_TRUNCATED, path, got, "idx header: expected %" PRIu64 " bytes, found %zu",
                         idx->segment.base, got);
    expected = mshard_dtype_size(idx->dtype);
    for (uint32_t d = 0; d < idx->ndim; d++) {
        const uint8_t *b = head + 4 + 4 * d;
        idx->shape[d] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        if (mshi_mul_overflow(expected, idx->shape[d], &expected))
            return mshi_fail(err, MSHARD_E_LIMIT, path, 4, "idx header: more than 2^64 bytes");
    }
    if (file->size - idx->segment.base != expected)
        return mshi_fail(err, file->size - idx->segment.base < expected ? MSHARD_E_TRUNCATED : MSHARD_E_CORRUPT, path,
                         idx->segment.base, "expected %" PRIu64 " bytes, found %" PRIu64, expected,
                         file->size - idx->segment.base);
    idx->segment.count = idx->shape[0];
    idx->label = idx->ndim == 1 && idx->dtype != MSHARD_FLOAT32 && idx->dtype != MSHARD_FLOAT64;
    return MSHARD_OK;
}

/* Open, unpack when gzip, parse. On success the segment holds the open file. */
static mshard_status open_idx(const char *path, const struct mshi_listing *listing, struct idx *idx, mshard_error *err)
{
    struct mshi_spool spool = MSHI_SPOOL_CLOSED;
    struct mshi_file file;
    uint8_t head[4];
    size_t got = 0;

    *idx = (struct idx){.segment = {.file = {.fd = -1}}};
    MSHI_TRY(mshi_file_open(path, &file, err));
    mshard_status status = mshi_file_read(&file, head, sizeof(head), 0, &got, path, err);
    const bool packed = status == MSHARD_OK && mshi_head_is_gzip(head, got);
    if (packed) {
        status = mshi_gzip_inflate(&file, path, listing, &spool, err);
        mshi_file_close(&file);
        file = spool.file;
        spool.file.fd = -1;
        mshi_spool_close(&spool);
    }
    if (status == MSHARD_OK)
        status = parse(path, &file, packed, idx, err);
    if (status == MSHARD_OK)
        status = mshi_strdup(path, &idx->segment.path, err);
    if (status == MSHARD_OK)
        idx->segment.file = file;
    else
        mshi_file_close(&file);
    return status;
}

static void close_idx(struct idx *idx)
{
    mshi_file_close(&idx->segment.file);
    free(idx->segment.path);
    idx->segment.path = NULL;
}

static mshard_status add_field(struct mshi_columns *columns, const struct idx *idx, const char *name, mshard_error *err)
{
    const mshard_content content =
        idx->label ? MSHARD_CONTENT_LABEL : mshi_array_content(idx->dtype, idx->ndim - 1, idx->shape + 1);

    return mshi_columns_add(columns, name, idx->dtype, mshard_dtype_size(idx->dtype) > 1, content, idx->ndim - 1,
                            idx->shape + 1, err);
}

/* All files of one role, joined; pieces they have taken lose their path. */
static mshard_status add_role(struct mshi_columns *columns, struct idx *files, size_t count, bool label,
                              mshard_error *err)
{
    const struct idx *first = NULL;

    for (size_t i = 0; i < count; i++) {
        struct idx *idx = &files[i];

        if (idx->label != label)
            continue;
        if (!first) {
            const char *name = label ? "label"
                               : mshi_array_content(idx->dtype, idx->ndim - 1, idx->shape + 1) == MSHARD_CONTENT_IMAGE
                                   ? "image"
                                   : "data";
            MSHI_TRY(add_field(columns, idx, name, err));
            first = idx;
        } else if (idx->dtype != first->dtype || idx->ndim != first->ndim ||
                   memcmp(idx->shape + 1, first->shape + 1, (idx->ndim - 1) * sizeof(*idx->shape)) != 0) {
            return mshi_fail(err, MSHARD_E_FORMAT, idx->segment.path, MSHARD_NO_OFFSET,
                             "its records have another shape or dtype than those of the first %s file",
                             label ? "label" : "data");
        }
        const struct mshi_segment segment = idx->segment;
        idx->segment = (struct mshi_segment){.file = {.fd = -1}};
        MSHI_TRY(mshi_columns_segment(columns, &segment, err));
    }
    return MSHARD_OK;
}

/* With as many label files as data files, each pair must agree: sums that happen to be equal are not enough. */
static mshard_status check_pairs(const struct idx *files, size_t count, mshard_error *err)
{
    size_t labels = 0, label = 0;

    for (size_t i = 0; i < count; i++)
        labels += files[i].label;
    if (labels == 0 || labels == count)
        return MSHARD_OK;
    if (labels * 2 != count)
        return mshi_fail(err, MSHARD_E_INVALID, files[0].segment.path, MSHARD_NO_OFFSET,
                         "%zu data files and %zu label files: each data file needs its label file", count - labels,
                         labels);
    for (size_t i = 0; i < count; i++) {
        if (files[i].label)
            continue;
        while (!files[label].label)
            label++;
        if (files[label].segment.count != files[i].segment.count)
            return mshi_fail(err, MSHARD_E_INVALID, files[label].segment.path, MSHARD_NO_OFFSET,
                             "%" PRIu64 " labels, but %" PRIu64 " records in %s", files[label].segment.count,
                             files[i].segment.count, files[i].segment.path);
        label++;
    }
    return MSHARD_OK;
}

mshard_status mshi_idx_add_labels(struct mshi_columns *columns, const char *path, const struct mshi_listing *listing,
                                  mshard_error *err)
{
    struct idx idx;

    MSHI_TRY(open_idx(path, listing, &idx, err));
    mshard_status status =
        idx.label ? add_role(columns, &idx, 1, true, err)
                  : mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                              "labels must be integers in one dimension, found %" PRIu32 " dimensions of %s", idx.ndim,
                              mshard_dtype_name(idx.dtype));
    close_idx(&idx);
    return status;
}

mshard_status mshi_source_open_idx(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err)
{
    struct mshi_columns *columns = NULL;
    struct idx *files;
    size_t opened = 0;
    mshard_status status = mshi_alloc(inputs->count, sizeof(*files), &files, err);

    MSHI_TRY(status);
    for (; opened < inputs->count && status == MSHARD_OK; opened += status == MSHARD_OK)
        status = open_idx(inputs->paths[opened], inputs->listing, &files[opened], err);
    if (status == MSHARD_OK)
        status = check_pairs(files, opened, err);
    if (status == MSHARD_OK)
        status = mshi_columns_new("idx", &columns, err);
    if (status == MSHARD_OK)
        status = add_role(columns, files, opened, false, err);
    if (status == MSHARD_OK)
        status = add_role(columns, files, opened, true, err);
    if (status == MSHARD_OK)
        status = mshi_columns_finish(columns, inputs->listing, err);
    for (size_t i = 0; i < opened; i++)
        close_idx(&files[i]);
    free(files);
    if (status == MSHARD_OK)
        *source = &columns->base;
    else if (columns)
        mshi_source_free(&columns->base);
    return status;
}
