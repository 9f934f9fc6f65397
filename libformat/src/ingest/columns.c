/*
 * columns.c - read records of fixed size from files, in large runs
 *
 * Fortran-order arrays are mapped and gathered record by record, so no array is in memory twice. All else is read
 * with pread, straight into the payload, then put into little-endian order in place.
 */
#include "ingest/columns.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "ingest/npy.h"
#include "os/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPEN 48 /* descriptors kept by one source */

static void segment_clear(struct mshi_segment *segment)
{
    if (segment->map_size)
        mshi_map_unmap(segment->memory, segment->map_size);
    else
        free((void *)(uintptr_t)segment->memory);
    if (!segment->shared)
        mshi_file_close(&segment->file);
    free(segment->path);
}

static void columns_destroy(struct mshi_source *base)
{
    struct mshi_columns *columns = (struct mshi_columns *)base;

    for (uint32_t f = 0; f < MSHARD_MAX_FIELDS; f++) {
        for (uint64_t s = 0; s < columns->columns[f].segment_count; s++)
            segment_clear(&columns->columns[f].segments[s]);
        free(columns->columns[f].segments);
    }
}

static mshard_status pread_records(const struct mshi_segment *segment, uint64_t at, uint64_t size, uint8_t *to,
                                   mshard_error *err)
{
    struct mshi_file file = segment->file;
    size_t got = 0;

    if (segment->reopen)
        MSHI_TRY(mshi_file_open(segment->path, &file, err));
    mshard_status status = mshi_file_read(&file, to, (size_t)size, at, &got, segment->path, err);
    if (segment->reopen)
        mshi_file_close(&file);
    if (status == MSHARD_OK && got != size)
        status = mshi_fail(err, MSHARD_E_TRUNCATED, segment->path, at + got,
                           "changed since it was listed: expected %" PRIu64 " bytes here, found %zu", size, got);
    return status;
}

/* Records [i, i + n) of one column, all in memory or in files, to little-endian C order. */
static mshard_status read_column(const struct mshi_column *column, const struct mshi_source_field *field, uint64_t i,
                                 uint64_t n, uint8_t *to, mshard_error *err)
{
    uint64_t low = 0, high = column->segment_count;
    uint8_t *const begin = to;
    const uint64_t elements = n * column->record_elements;

    while (high - low > 1) { /* the segment that holds record i */
        const uint64_t middle = low + (high - low) / 2;
        if (column->segments[middle].first <= i)
            low = middle;
        else
            high = middle;
    }
    while (n) {
        const struct mshi_segment *segment = &column->segments[low++];
        const uint64_t skip = i - segment->first;
        const uint64_t take = n < segment->count - skip ? n : segment->count - skip;
        const uint64_t size = take * column->record_size;

        if (segment->fortran)
            mshi_gather_fortran((const uint8_t *)segment->memory + segment->base, segment->count, field->ndim,
                                field->shape, column->element_size, skip, take, to);
        else if (segment->memory)
            memcpy(to, (const uint8_t *)segment->memory + skip * column->record_size, (size_t)size);
        else
            MSHI_TRY(pread_records(segment, segment->base + skip * column->record_size, size, to, err));
        to += size;
        i += take;
        n -= take;
    }
    if (column->swap)
        mshi_swap_bytes(begin, elements, column->element_size);
    if (field->dtype == MSHARD_BOOL)
        mshi_make_bool(begin, elements);
    return MSHARD_OK;
}

/* Integers of dtype at the front of the buffer to int64, in place: from the last one back. */
static void widen(void *buffer, uint64_t n, mshard_dtype dtype)
{
    const size_t size = mshard_dtype_size(dtype);
    const bool is_signed =
        dtype == MSHARD_INT8 || dtype == MSHARD_INT16 || dtype == MSHARD_INT32 || dtype == MSHARD_INT64;
    uint8_t *bytes = buffer;

    for (uint64_t i = n; i-- > 0;) {
        const uint8_t *from = bytes + i * size;
        uint64_t value = is_signed && from[size - 1] >> 7 ? UINT64_MAX : 0;

        for (size_t b = size; b-- > 0;)
            value = value << 8 | from[b];
        memcpy(bytes + i * sizeof(value), &value, sizeof(value));
    }
}

/* Bytes of one record in the payload. */
static uint64_t given_size(const struct mshi_column *column)
{
    return column->label_dtype ? sizeof(int64_t) : column->record_size;
}

static mshard_status read_field(const struct mshi_columns *columns, uint32_t f, uint64_t i, uint64_t n, uint8_t *to,
                                mshard_error *err)
{
    const struct mshi_column *column = &columns->columns[f];

    MSHI_TRY(read_column(column, &columns->base.fields[f], i, n, to, err));
    if (column->label_dtype)
        widen(to, n, column->label_dtype);
    return MSHARD_OK;
}

static mshard_status columns_read_run(struct mshi_source *base, uint64_t i, uint64_t n, struct mshi_payload *payload,
                                      mshard_error *err)
{
    const struct mshi_columns *columns = (const struct mshi_columns *)base;
    uint64_t starts[MSHARD_MAX_FIELDS], total = 0, part;

    for (uint32_t f = 0; f < base->field_count; f++) {
        if (!mshi_align_up(total, 64, &starts[f]) || mshi_mul_overflow(n, given_size(&columns->columns[f]), &part) ||
            mshi_add_overflow(starts[f], part, &total))
            return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "%" PRIu64 " records do not fit in memory",
                             n);
    }
    MSHI_TRY(mshi_payload_reserve(payload, total, err));
    for (uint32_t f = 0; f < base->field_count; f++) {
        uint8_t *to = (uint8_t *)payload->buffer + starts[f];

        MSHI_TRY(read_field(columns, f, i, n, to, err));
        payload->data[f] = to;
        payload->size[f] = (size_t)(n * given_size(&columns->columns[f]));
    }
    return MSHARD_OK;
}

static mshard_status columns_read(struct mshi_source *base, uint64_t i, struct mshi_payload *payload, mshard_error *err)
{
    return columns_read_run(base, i, 1, payload, err);
}

mshard_status mshi_columns_read_field(const struct mshi_columns *columns, uint32_t field, uint64_t i, uint64_t n,
                                      struct mshi_payload *payload, mshard_error *err)
{
    const uint64_t size = n * given_size(&columns->columns[field]);

    MSHI_TRY(mshi_payload_reserve(payload, size, err));
    payload->data[0] = payload->buffer;
    payload->size[0] = (size_t)size;
    return read_field(columns, field, i, n, payload->buffer, err);
}

void mshi_columns_widen_label(struct mshi_columns *columns, uint32_t field)
{
    struct mshi_source_field *label = &columns->base.fields[field];

    columns->columns[field].label_dtype = label->dtype;
    label->kind = MSHI_PART_LABEL;
    label->dtype = MSHARD_INT64;
}

static void columns_item(const struct mshi_source *base, uint64_t i, struct mshi_item *item)
{
    const struct mshi_columns *columns = (const struct mshi_columns *)base;
    const struct mshi_column *column = &columns->columns[0];
    uint64_t s = 0;

    *item = (struct mshi_item){.offset = MSHARD_NO_OFFSET};
    while (s + 1 < column->segment_count && column->segments[s + 1].first <= i)
        s++;
    item->name = column->segments[s].path;
    if (!column->segments[s].fortran && !column->segments[s].memory)
        item->offset = column->segments[s].base + (i - column->segments[s].first) * column->record_size;
    for (uint32_t f = 0; f < base->field_count; f++)
        item->size += columns->columns[f].record_size;
}

static const struct mshi_source_ops columns_ops = {
    .read = columns_read,
    .read_run = columns_read_run,
    .item = columns_item,
    .destroy = columns_destroy,
};

mshard_status mshi_columns_new(const char *kind, struct mshi_columns **columns, mshard_error *err)
{
    MSHI_TRY(mshi_alloc(1, sizeof(**columns), columns, err));
    (*columns)->base.ops = &columns_ops;
    (*columns)->base.kind = kind;
    (*columns)->base.random_access = true;
    return MSHARD_OK;
}

mshard_status mshi_columns_add(struct mshi_columns *columns, const char *name, mshard_dtype dtype, bool swap,
                               mshard_content content, uint32_t ndim, const uint64_t *shape, mshard_error *err)
{
    MSHI_TRY(mshi_source_add_field(&columns->base, name, MSHI_PART_VALUES, dtype, content, ndim, shape, err));
    struct mshi_column *column = &columns->columns[columns->base.field_count - 1];
    column->element_size = mshard_dtype_size(dtype);
    column->record_elements = 1;
    column->swap = swap;
    for (uint32_t d = 0; d < ndim; d++) {
        if (shape[d] == 0)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "records of field '%s' have no elements",
                             name);
        if (mshi_mul_overflow(column->record_elements, shape[d], &column->record_elements))
            return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "records of field '%s' are too large", name);
    }
    if (mshi_mul_overflow(column->record_elements, column->element_size, &column->record_size) ||
        column->record_size > MSHARD_MAX_RECORD)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "records of field '%s' are above 2^40 bytes",
                         name);
    return MSHARD_OK;
}

static mshard_status add_segment(struct mshi_columns *columns, struct mshi_segment *segment, mshard_error *err)
{
    struct mshi_column *column = &columns->columns[columns->base.field_count - 1];
    const void *map;

    if (segment->fortran) {
        MSHI_TRY(mshi_map_file(&segment->file, segment->path, &map, err));
        segment->memory = map;
        segment->map_size = segment->file.size;
        if (!segment->shared)
            mshi_file_close(&segment->file);
    }
    MSHI_TRY(mshi_grow(&column->segments, &column->segment_capacity, column->segment_count + 1, sizeof(*segment), err));
    segment->first = column->records;
    if (mshi_add_overflow(column->records, segment->count, &column->records))
        return mshi_fail(err, MSHARD_E_LIMIT, segment->path, MSHARD_NO_OFFSET, "more than 2^64 records");
    if (column->segment_count >= MAX_OPEN && segment->file.fd >= 0 && !segment->shared) {
        mshi_file_close(&segment->file);
        segment->reopen = true;
    }
    column->segments[column->segment_count++] = *segment;
    return MSHARD_OK;
}

mshard_status mshi_columns_segment(struct mshi_columns *columns, const struct mshi_segment *segment, mshard_error *err)
{
    struct mshi_segment copy = *segment;
    const mshard_status status = add_segment(columns, &copy, err);

    if (status != MSHARD_OK)
        segment_clear(&copy);
    return status;
}
