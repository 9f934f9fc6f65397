/*
 * stats.c - figures of a field: making accumulators, adding values, merging
 *
 * The arithmetic is in stats_kernels.c and stats_figures.c, the text form in stats_state.c.
 */
#include "format/stats_parts.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_floating(mshard_dtype dtype)
{
    return dtype == MSHARD_FLOAT16 || dtype == MSHARD_BFLOAT16 || dtype == MSHARD_FLOAT32 || dtype == MSHARD_FLOAT64;
}

static bool is_signed(mshard_dtype dtype)
{
    return dtype == MSHARD_INT8 || dtype == MSHARD_INT16 || dtype == MSHARD_INT32 || dtype == MSHARD_INT64;
}

static uint32_t channels_of(const mshard_field *field)
{
    if (field->content == MSHARD_CONTENT_IMAGE && field->ndim == 3 && field->shape[2] >= 1 &&
        field->shape[2] <= MSHARD_MAX_CHANNELS)
        return (uint32_t)field->shape[2];
    return 1;
}

static mshard_status fixed_size(const mshard_field *field, uint64_t *size, mshard_error *err)
{
    *size = mshard_dtype_size(field->dtype);
    for (uint32_t d = 0; d < field->ndim; d++)
        if (mshi_mul_overflow(*size, field->shape[d], size) || *size > MSHARD_MAX_RECORD)
            return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "a value of field \"%s\" is too big",
                             field->name);
    return MSHARD_OK;
}

mshard_status mshi_stats_new(const mshard_field *field, struct mshi_stats **stats, mshard_error *err)
{
    struct mshi_stats *s;
    mshard_status status = MSHARD_OK;

    *stats = NULL;
    if (mshard_dtype_size(field->dtype) == 0 || field->ndim > MSHARD_MAX_DIMS)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "field \"%s\" has no valid dtype or shape",
                         field->name);
    MSHI_TRY(mshi_alloc(1, sizeof(*s), &s, err));
    s->dtype = field->dtype;
    s->variable = mshard_field_is_variable(field);
    s->floating = is_floating(field->dtype);
    s->is_signed = is_signed(field->dtype);
    s->figures = field->content != MSHARD_CONTENT_ENCODED && field->content != MSHARD_CONTENT_TEXT;
    s->counting = field->content == MSHARD_CONTENT_LABEL && field->ndim == 0 && !s->floating;
    s->channels = channels_of(field);
    for (uint32_t c = 0; c < MSHARD_MAX_CHANNELS; c++)
        s->exact[c].low = UINT64_MAX;
    if (!s->variable)
        status = fixed_size(field, &s->record_size, err);
    if (status == MSHARD_OK && s->floating && s->figures)
        status = mshi_alloc((uint64_t)s->channels * MSHI_STATS_BLOCK, sizeof(double), &s->block, err);
    if (status != MSHARD_OK) {
        mshi_stats_free(s);
        return status;
    }
    *stats = s;
    return MSHARD_OK;
}

void mshi_stats_free(struct mshi_stats *stats)
{
    if (!stats)
        return;
    free(stats->block);
    free(stats->counts);
    free(stats);
}

static void stop_counting(struct mshi_stats *stats)
{
    free(stats->counts);
    stats->counts = NULL;
    stats->count_length = stats->count_capacity = 0;
    stats->counting = false;
}

/* counts[length - 1] exists, new ones are 0. */
static mshard_status widen_counts(struct mshi_stats *stats, uint64_t length, mshard_error *err)
{
    if (length <= stats->count_length)
        return MSHARD_OK;
    MSHI_TRY(mshi_grow(&stats->counts, &stats->count_capacity, length, sizeof(*stats->counts), err));
    memset(stats->counts + stats->count_length, 0, (size_t)(length - stats->count_length) * sizeof(*stats->counts));
    stats->count_length = length;
    return MSHARD_OK;
}

static mshard_status count_labels(struct mshi_stats *stats, const void *data, size_t elements, mshard_error *err)
{
    for (size_t i = 0; i < elements; i++) {
        const uint64_t label = (uint64_t)mshi_stats_integer(stats->dtype, data, i); /* negative: huge */

        if (label >= MSHI_STATS_CLASSES) {
            stop_counting(stats);
            return MSHARD_OK;
        }
        MSHI_TRY(widen_counts(stats, label + 1, err));
        stats->counts[label]++;
    }
    return MSHARD_OK;
}

static mshard_status check_size(const struct mshi_stats *stats, uint64_t n, uint64_t size, mshard_error *err)
{
    const uint64_t unit = stats->channels * mshard_dtype_size(stats->dtype);
    uint64_t expected;

    if (stats->variable && (n != 1 || size % unit))
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "one value of a multiple of %" PRIu64 " bytes expected, found %" PRIu64 " of %" PRIu64, unit,
                         n, size);
    if (!stats->variable && (mshi_mul_overflow(n, stats->record_size, &expected) || expected != size))
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "%" PRIu64 " values of %" PRIu64 " bytes expected, found %" PRIu64 " bytes", n,
                         stats->record_size, size);
    if (size > SIZE_MAX)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "%" PRIu64 " bytes are too many", size);
    return MSHARD_OK;
}

mshard_status mshi_stats_add(struct mshi_stats *stats, const void *data, uint64_t n, uint64_t size,
                             const uint64_t *shape, mshard_error *err)
{
    (void)shape; /* channels are the last dimension, which is fixed wherever there is more than one */
    MSHI_TRY(check_size(stats, n, size, err));
    const size_t elements = (size_t)size / mshard_dtype_size(stats->dtype);

    if (stats->counting)
        MSHI_TRY(count_labels(stats, data, elements, err));
    if (stats->variable) {
        if (stats->records == 0 || size < stats->min_size)
            stats->min_size = size;
        if (size > stats->max_size)
            stats->max_size = size;
    }
    stats->records += n;
    stats->elements += elements;
    if (!stats->figures)
        return MSHARD_OK;
    if (stats->floating)
        mshi_stats_add_floats(stats, data, elements);
    else if (stats->dtype == MSHARD_UINT8 || stats->dtype == MSHARD_BOOL)
        mshi_stats_add_bytes(stats->exact, stats->channels, data, elements);
    else
        mshi_stats_add_integers(stats->exact, stats->channels, stats->dtype, data, elements);
    return MSHARD_OK;
}

static void merge_exact(struct mshi_exact *into, const struct mshi_exact *from)
{
    into->sum += from->sum;
    into->carry += from->carry;
    into->carry += __builtin_add_overflow(into->squares, from->squares, &into->squares);
    if (from->low < into->low)
        into->low = from->low;
    if (from->high > into->high)
        into->high = from->high;
}

static mshard_status merge_counts(struct mshi_stats *into, const struct mshi_stats *from, mshard_error *err)
{
    if (!into->counting || !from->counting) {
        stop_counting(into);
        return MSHARD_OK;
    }
    MSHI_TRY(widen_counts(into, from->count_length, err));
    for (uint64_t i = 0; i < from->count_length; i++)
        into->counts[i] += from->counts[i];
    return MSHARD_OK;
}

mshard_status mshi_stats_merge(struct mshi_stats *into, const struct mshi_stats *from, mshard_error *err)
{
    uint64_t elements;

    if (into->dtype != from->dtype || into->channels != from->channels || into->variable != from->variable ||
        into->record_size != from->record_size || into->figures != from->figures)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "figures of two different fields");
    if (mshi_add_overflow(into->elements, from->elements, &elements) || elements > INT64_MAX)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "more than 2^63 values");
    MSHI_TRY(merge_counts(into, from, err));
    if (from->records) {
        if (into->records == 0 || from->min_size < into->min_size)
            into->min_size = from->min_size;
        if (from->max_size > into->max_size)
            into->max_size = from->max_size;
    }
    into->records += from->records;
    into->elements = elements;
    into->nan += from->nan;
    into->inf += from->inf;
    for (uint32_t c = 0; c < into->channels && into->figures; c++) {
        if (into->floating) {
            const struct mshi_moments later = mshi_stats_moments(from, c);

            into->moments[c] = mshi_stats_moments(into, c);
            into->fill[c] = 0;
            mshi_stats_join(&into->moments[c], &later);
        } else {
            merge_exact(&into->exact[c], &from->exact[c]);
        }
    }
    return MSHARD_OK;
}
