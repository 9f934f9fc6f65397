/*
 * shard_writer.c - one shard being written: values come in
 *
 * A record is checked as a whole before any of it is kept, so INVALID adds nothing; a failure after that leaves the
 * columns uneven and the writer broken. Which field streams depends on the fields alone.
 *
 * Threads: confined.
 */
#include "format/shard_writer_internal.h"

#include "base/alloc.h"
#include "format/field_rules.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX (UINT64_C(8) << 20) /* bytes of one field in memory */
#define HELD_MIN (UINT64_C(4) << 10)
/* Steps of a batch: sums find in the CPU cache what statistics read. 1.2 GB: 0.56 s of CPU, with 4 MiB 0.69 s. */
#define BATCH_STEP (UINT64_C(1) << 20)

/*
 * How much a value is expected to weigh (spec/shard.md, "Order of sections"); 2^64-1 when it does not fit. The
 * heaviest field streams, so that the column that is most of the shard is written once.
 */
static uint64_t weigh(const mshard_field *f)
{
    uint64_t weight = mshard_dtype_size(f->dtype);

    if (f->content == MSHARD_CONTENT_ENCODED)
        return 65536;
    for (uint32_t d = 0; d < f->ndim; d++)
        if (mshi_mul_overflow(weight, f->shape[d] == MSHARD_DIM_UNKNOWN ? 256 : f->shape[d], &weight))
            return UINT64_MAX;
    return weight;
}

static uint32_t choose_streamed(const mshard_field *fields, uint32_t n)
{
    uint32_t best = 0; /* never auxiliary: those come last and are not all */

    for (uint32_t i = 1; i < n; i++)
        if ((fields[i].flags & MSHARD_FIELD_AUX) == 0 && weigh(&fields[i]) > weigh(&fields[best]))
            best = i;
    return best;
}

static mshard_status init_column(struct mshi_shard_writer *w, uint32_t f, uint64_t held_max, mshard_error *err)
{
    const mshard_field *field = &w->fields[f];
    struct mshi_shard_column *c = &w->columns[f];
    const bool variable = mshard_field_is_variable(field);
    const uint64_t limit = variable ? held_max / 4 * 2 : held_max; /* variable: a quarter for ends, one for dims */

    MSHI_TRY(mshi_column_buffer_init(&c->values, w->fs, w->temp_path, field->name, "", limit, err));
    if (variable) {
        MSHI_TRY(mshi_column_buffer_init(&c->ends, w->fs, w->temp_path, field->name, ".ends", held_max / 4, err));
        MSHI_TRY(mshi_column_buffer_init(&c->dims, w->fs, w->temp_path, field->name, ".dims", held_max / 4, err));
    }
    if ((field->flags & MSHARD_FIELD_AUX) == 0)
        MSHI_TRY(mshi_stats_new(field, &c->stats, err));
    return MSHARD_OK;
}

static mshard_status init(struct mshi_shard_writer *w, const char *temp_path, const struct mshi_shard_options *options,
                          mshard_error *err)
{
    const uint64_t held_max = options->held_max == 0         ? HELD_MAX
                              : options->held_max < HELD_MIN ? HELD_MIN
                                                             : options->held_max;
    const mshard_field *fields = w->fields;
    const uint32_t n = w->field_count;

    w->section_count = 1; /* sums */
    for (uint32_t f = 0; f < n; f++)
        w->section_count += mshi_field_section_count(&fields[f]);
    w->header_size = mshi_header_size_for(n, w->section_count);
    w->streamed = choose_streamed(fields, n);
    MSHI_TRY(mshi_strdup(temp_path, &w->temp_path, err));
    MSHI_TRY(mshi_alloc(n, sizeof(w->columns[0]), &w->columns, err));
    for (uint32_t f = 0; f < n; f++)
        MSHI_TRY(init_column(w, f, held_max, err));
    MSHI_TRY(mshi_blocks_open(&w->file, w->fs, w->temp_path, w->header_size, options->drop, err));
    w->created = true;
    return mshi_blocks_pad(&w->file, w->align, err);
}

mshard_status mshi_shard_writer_new(const char *temp_path, const mshard_field *fields, uint32_t n,
                                    const struct mshi_shard_options *options, struct mshi_shard_writer **writer,
                                    mshard_error *err)
{
    const uint32_t align = options->align == 0 ? MSHI_ALIGN_MIN : options->align;
    struct mshi_shard_writer *w;
    mshard_status status;

    *writer = NULL;
    MSHI_TRY(mshi_fields_check(fields, n, err));
    if (align < MSHI_ALIGN_MIN || align > MSHI_ALIGN_MAX || (align & (align - 1)) != 0)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "alignment must be a power of two from %u to %u, found %u", MSHI_ALIGN_MIN, MSHI_ALIGN_MAX,
                         align);
    MSHI_TRY(mshi_alloc(1, sizeof(*w), &w, err));
    *w = (struct mshi_shard_writer){
        .fs = options->fs, .align = align, .sync = options->sync, .add_stats = options->stats, .file = {.fd = -1}};
    status = mshi_fields_copy(fields, n, &w->fields, err);
    if (status == MSHARD_OK) {
        w->field_count = n;
        status = init(w, temp_path, options, err);
    }
    if (status != MSHARD_OK) {
        mshi_shard_writer_free(w);
        return status;
    }
    *writer = w;
    return MSHARD_OK;
}

static mshard_status check_state(const struct mshi_shard_writer *w, mshard_error *err)
{
    if (w->broken)
        return mshi_fail(err, MSHARD_E_INVALID, w->temp_path, MSHARD_NO_OFFSET,
                         "writing failed before: this shard can only be dropped");
    if (w->sealed)
        return mshi_fail(err, MSHARD_E_INVALID, w->temp_path, MSHARD_NO_OFFSET, "the shard is sealed");
    return MSHARD_OK;
}

static mshard_status check_bool(const mshard_field *f, const void *data, uint64_t size, mshard_error *err)
{
    const uint8_t *bytes = data;
    uint8_t all = 0;

    for (uint64_t i = 0; i < size; i++)
        all |= bytes[i];
    if (all <= 1)
        return MSHARD_OK;
    for (uint64_t i = 0; i < size; i++)
        if (bytes[i] > 1)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "bool must be 0 or 1, found %u in element %" PRIu64 " of field \"%s\"", bytes[i], i,
                             f->name);
    return MSHARD_OK;
}

static mshard_status check_shape(const mshard_field *f, const mshard_value *v, mshard_error *err)
{
    uint64_t size = mshard_dtype_size(f->dtype);

    for (uint32_t d = 0; d < f->ndim; d++) {
        const uint64_t dim = v->shape[d];

        if (f->shape[d] != MSHARD_DIM_UNKNOWN && dim != f->shape[d])
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "dimension %u of field \"%s\" must be %" PRIu64 ", found %" PRIu64, d, f->name,
                             f->shape[d], dim);
        if (dim > (f->ndim > 1 ? UINT32_MAX : MSHARD_MAX_DIM))
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "dimension %u of field \"%s\" is too large: %" PRIu64, d, f->name, dim);
        if (mshi_mul_overflow(size, dim, &size))
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "the shape of field \"%s\" is too large",
                             f->name);
    }
    if (size != v->size)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "a value of field \"%s\" must have the %" PRIu64 " bytes its shape makes, found %zu", f->name,
                         size, v->size);
    return MSHARD_OK;
}

static mshard_status check_value(const mshard_field *f, const mshard_value *v, mshard_error *err)
{
    const size_t element = mshard_dtype_size(f->dtype);

    if (v->data == NULL && v->size > 0)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "field \"%s\" has no data", f->name);
    if (!mshard_field_is_variable(f)) {
        if (v->size != f->record_size)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "a value of field \"%s\" must have %" PRIu64 " bytes, found %zu", f->name, f->record_size,
                             v->size);
    } else if (v->shape != NULL) {
        MSHI_TRY(check_shape(f, v, err));
    } else if (f->ndim > 1) {
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "field \"%s\" needs the shape of the value",
                         f->name);
    } else if (v->size % element != 0) {
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "a value of field \"%s\" must be a multiple of %zu bytes, found %zu", f->name, element,
                         v->size);
    }
    if (v->size > MSHARD_MAX_RECORD)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "a value of field \"%s\" must have at most %" PRIu64 " bytes, found %zu", f->name,
                         MSHARD_MAX_RECORD, v->size);
    return f->dtype == MSHARD_BOOL ? check_bool(f, v->data, v->size, err) : MSHARD_OK;
}

/* The file stays below its limit with room for gaps, offsets and sums. */
static mshard_status check_limits(const struct mshi_shard_writer *w, uint64_t records, uint64_t bytes,
                                  mshard_error *err)
{
    uint64_t total;

    if (records > MSHARD_MAX_RECORDS - w->records)
        return mshi_fail(err, MSHARD_E_LIMIT, w->temp_path, MSHARD_NO_OFFSET,
                         "a shard can hold %" PRIu64 " records at most", MSHARD_MAX_RECORDS);
    if (mshi_add_overflow(w->bytes, bytes, &total) || total > MSHARD_MAX_FILE / 2)
        return mshi_fail(err, MSHARD_E_LIMIT, w->temp_path, MSHARD_NO_OFFSET,
                         "a shard can hold %" PRIu64 " bytes of values at most", MSHARD_MAX_FILE / 2);
    return MSHARD_OK;
}

static mshard_status add_bytes(struct mshi_shard_writer *w, uint32_t f, const void *data, uint64_t size,
                               mshard_error *err)
{
    if (f == w->streamed)
        MSHI_TRY(mshi_blocks_add(&w->file, data, size, err));
    else
        MSHI_TRY(mshi_column_buffer_add(&w->columns[f].values, data, size, err));
    w->columns[f].size += size;
    w->bytes += size;
    return MSHARD_OK;
}

static mshard_status add_value(struct mshi_shard_writer *w, uint32_t f, const mshard_value *v, mshard_error *err)
{
    const mshard_field *field = &w->fields[f];
    struct mshi_shard_column *c = &w->columns[f];
    uint64_t one_dim = v->size / mshard_dtype_size(field->dtype);
    const uint64_t *shape = v->shape != NULL ? v->shape : &one_dim;

    if (!mshard_field_is_variable(field))
        shape = field->shape;
    if (w->add_stats && c->stats != NULL)
        MSHI_TRY(mshi_stats_add(c->stats, v->data, 1, v->size, shape, err));
    MSHI_TRY(add_bytes(w, f, v->data, v->size, err));
    if (mshard_field_is_variable(field)) {
        mshi_le64 end;

        mshi_le64_store(&end, c->size);
        MSHI_TRY(mshi_column_buffer_add(&c->ends, &end, sizeof(end), err));
        for (uint32_t d = 0; field->ndim > 1 && d < field->ndim; d++) {
            mshi_le32 dim;

            mshi_le32_store(&dim, (uint32_t)shape[d]); /* check_shape */
            MSHI_TRY(mshi_column_buffer_add(&c->dims, &dim, sizeof(dim), err));
        }
    }
    return MSHARD_OK;
}

mshard_status mshi_shard_writer_check(const struct mshi_shard_writer *w, const mshard_value *values, mshard_error *err)
{
    for (uint32_t f = 0; f < w->field_count; f++)
        MSHI_TRY(check_value(&w->fields[f], &values[f], err));
    return MSHARD_OK;
}

mshard_status mshi_shard_writer_append(struct mshi_shard_writer *w, const mshard_value *values, mshard_error *err)
{
    uint64_t bytes = 0;

    MSHI_TRY(check_state(w, err));
    MSHI_TRY(mshi_shard_writer_check(w, values, err));
    for (uint32_t f = 0; f < w->field_count; f++)
        bytes += values[f].size; /* 64 values of at most 2^40 */
    MSHI_TRY(check_limits(w, 1, bytes, err));
    for (uint32_t f = 0; f < w->field_count; f++) {
        mshard_status status = add_value(w, f, &values[f], err);

        if (status != MSHARD_OK) {
            w->broken = true;
            return status;
        }
    }
    w->records++;
    return MSHARD_OK;
}

mshard_status mshi_shard_writer_check_batch(const struct mshi_shard_writer *w, const void *const *data, uint64_t n,
                                            mshard_error *err)
{
    for (uint32_t f = 0; f < w->field_count; f++) {
        const mshard_field *field = &w->fields[f];
        uint64_t size;

        if (mshard_field_is_variable(field))
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "a batch needs fields of fixed shape, \"%s\" is variable", field->name);
        if (data[f] == NULL && n > 0)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "field \"%s\" has no data", field->name);
        if (mshi_mul_overflow(n, field->record_size, &size) || size > PTRDIFF_MAX)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "a batch of %" PRIu64 " records is too large", n);
        if (field->dtype == MSHARD_BOOL)
            MSHI_TRY(check_bool(field, data[f], size, err));
    }
    return MSHARD_OK;
}

static uint64_t batch_bytes(const struct mshi_shard_writer *w, uint64_t n)
{
    uint64_t bytes = 0;

    for (uint32_t f = 0; f < w->field_count; f++)
        if (mshi_add_overflow(bytes, n * w->fields[f].record_size, &bytes))
            return UINT64_MAX;
    return bytes;
}

static mshard_status add_run(struct mshi_shard_writer *w, uint32_t f, const uint8_t *data, uint64_t n,
                             mshard_error *err)
{
    const mshard_field *field = &w->fields[f];
    const uint64_t step = field->record_size < BATCH_STEP ? BATCH_STEP / field->record_size : 1;
    struct mshi_stats *stats = w->add_stats ? w->columns[f].stats : NULL;

    if (stats == NULL)
        return add_bytes(w, f, data, n * field->record_size, err);
    for (uint64_t i = 0; i < n; i += step) {
        const uint64_t m = n - i < step ? n - i : step;
        const uint8_t *at = data + i * field->record_size;

        MSHI_TRY(mshi_stats_add(stats, at, m, m * field->record_size, field->shape, err));
        MSHI_TRY(add_bytes(w, f, at, m * field->record_size, err));
    }
    return MSHARD_OK;
}

mshard_status mshi_shard_writer_append_batch(struct mshi_shard_writer *w, const void *const *data, uint64_t n,
                                             mshard_error *err)
{
    MSHI_TRY(check_state(w, err));
    MSHI_TRY(mshi_shard_writer_check_batch(w, data, n, err));
    MSHI_TRY(check_limits(w, n, batch_bytes(w, n), err));
    for (uint32_t f = 0; f < w->field_count; f++) {
        mshard_status status = add_run(w, f, data[f], n, err);

        if (status != MSHARD_OK) {
            w->broken = true;
            return status;
        }
    }
    w->records += n;
    return MSHARD_OK;
}

uint64_t mshi_shard_writer_count(const struct mshi_shard_writer *w)
{
    return w->records;
}

uint64_t mshi_shard_writer_bytes(const struct mshi_shard_writer *w)
{
    return w->bytes;
}

struct mshi_stats *mshi_shard_writer_stats(struct mshi_shard_writer *w, uint32_t field)
{
    return w->columns[field].stats;
}

void mshi_shard_writer_free(struct mshi_shard_writer *w)
{
    if (w == NULL)
        return;
    mshi_blocks_close(&w->file);
    if (w->created && !w->published)
        (void)w->fs->unlink(w->fs->context, w->temp_path);
    for (uint32_t f = 0; w->columns != NULL && f < w->field_count; f++) {
        mshi_column_buffer_clear(&w->columns[f].values);
        mshi_column_buffer_clear(&w->columns[f].ends);
        mshi_column_buffer_clear(&w->columns[f].dims);
        mshi_stats_free(w->columns[f].stats);
    }
    free(w->columns);
    free(w->fields);
    free(w->temp_path);
    free(w);
}
