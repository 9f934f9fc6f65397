/*
 * source_raw.c - files of fixed-size records without a header: dtype, shape and bytes to skip come from the options
 *
 * Several files are joined in the order given; the skip applies to each. Elements are little-endian unless the dtype
 * is written as numpy does (">u2").
 */
#include "ingest/columns.h"

#include "base/alloc.h"
#include "ingest/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "32,32,3": commas or 'x' between, blanks allowed; "" is a scalar. */
static mshard_status parse_shape(const char *text, uint32_t *ndim, uint64_t *shape, mshard_error *err)
{
    const char *at = text + strspn(text, " (");

    for (*ndim = 0; *at && *at != ')';) {
        char *end;

        if (*at < '0' || *at > '9')
            break;
        if (*ndim == MSHARD_MAX_DIMS)
            return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "shape '%.60s' has more than %d dimensions",
                             text, MSHARD_MAX_DIMS);
        const unsigned long long value = strtoull(at, &end, 10);
        if (value == 0 || value > MSHARD_MAX_DIM)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "shape '%.60s': each dimension is from 1 to 2^40", text);
        shape[(*ndim)++] = value;
        at = end + strspn(end, " ");
        if (*at == ',' || *at == 'x')
            at += 1 + strspn(at + 1, " ");
        else if (*at && *at != ')')
            break;
    }
    if (at[strspn(at, " )")] != '\0')
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "shape '%.60s' is not a list of numbers such as 32,32,3", text);
    return MSHARD_OK;
}

static mshard_status add_file(struct mshi_columns *columns, const char *path, uint64_t skip, mshard_error *err)
{
    struct mshi_segment segment = {.base = skip};
    const uint64_t record = columns->columns[0].record_size;

    MSHI_TRY(mshi_file_open(path, &segment.file, err));
    mshard_status status = MSHARD_OK;
    if (segment.file.size < skip)
        status = mshi_fail(err, MSHARD_E_TRUNCATED, path, MSHARD_NO_OFFSET,
                           "%" PRIu64 " bytes are to be skipped, the file has %" PRIu64, skip, segment.file.size);
    else if ((segment.file.size - skip) % record)
        status = mshi_fail(err, MSHARD_E_TRUNCATED, path, segment.file.size - (segment.file.size - skip) % record,
                           "%" PRIu64 " bytes after the first %" PRIu64 " are not a multiple of %" PRIu64
                           " bytes a record: expected %" PRIu64 " bytes for the last record, found %" PRIu64,
                           segment.file.size - skip, skip, record, record, (segment.file.size - skip) % record);
    if (status == MSHARD_OK)
        status = mshi_strdup(path, &segment.path, err);
    if (status != MSHARD_OK) {
        mshi_file_close(&segment.file);
        return status;
    }
    segment.count = (segment.file.size - skip) / record;
    return mshi_columns_segment(columns, &segment, err);
}

static mshard_status add_all(struct mshi_columns *columns, const struct mshi_inputs *inputs, mshard_error *err)
{
    const mshard_pack_options *options = inputs->listing->options;
    uint64_t shape[MSHARD_MAX_DIMS];
    uint32_t ndim;
    mshard_dtype dtype;
    bool swap = false;

    if (!options->raw_dtype || !options->raw_shape)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "raw records need the dtype of their elements and the shape of one record");
    if (!mshi_npy_dtype(options->raw_dtype, &dtype, &swap))
        MSHI_TRY(mshard_dtype_parse(options->raw_dtype, &dtype, err));
    MSHI_TRY(parse_shape(options->raw_shape, &ndim, shape, err));
    const mshard_content content = mshi_array_content(dtype, ndim, shape);
    MSHI_TRY(mshi_columns_add(columns, content == MSHARD_CONTENT_IMAGE ? "image" : "data", dtype, swap, content, ndim,
                              shape, err));
    for (size_t i = 0; i < inputs->count; i++)
        MSHI_TRY(add_file(columns, inputs->paths[i], options->raw_skip, err));
    return mshi_columns_finish(columns, inputs->listing, err);
}

mshard_status mshi_source_open_raw(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err)
{
    struct mshi_columns *columns;

    MSHI_TRY(mshi_columns_new("raw", &columns, err));
    const mshard_status status = add_all(columns, inputs, err);
    if (status == MSHARD_OK)
        *source = &columns->base;
    else
        mshi_source_free(&columns->base);
    return status;
}
