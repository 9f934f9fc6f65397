/*
 * verify_shard.c - check one shard: header, chain of sums, index of variable fields, then its blocks
 *
 * A shard whose header does not hold is one finding that touches all its records: nothing behind such a header can be
 * located. Everything else goes on after a fault.
 */
#include "format/verify_internal.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "format/field_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH 4096u /* records whose ends and dims are looked at together */

/* ---- index ---- */

struct index_walk {
    struct mshi_verify_shard *s;
    uint32_t f;
    const mshard_field *field;
    const struct mshi_section *values, *ends, *dims; /* dims: NULL with one dimension */
    mshi_le64 *end_buffer;
    mshi_le32 *dim_buffer;
    uint64_t previous; /* end of the record before the batch */
};

/* Faults of one kind in a batch: the first in full, the others counted. */
struct fault {
    uint64_t first, last, count;
    char text[200];
};

static bool first_fault(struct fault *fault, uint64_t record)
{
    fault->last = record;
    if (fault->count++ > 0)
        return false;
    fault->first = record;
    return true;
}

static mshard_status add_fault(struct index_walk *w, const struct fault *fault, const struct mshi_section *section,
                               uint64_t unit, mshard_error *err)
{
    const uint64_t at = section->offset + fault->first * unit, records = fault->last - fault->first + 1;
    const struct mshi_found found = {.code = MSHARD_E_CORRUPT,
                                     .at = at,
                                     .offset = at,
                                     .size = records * unit,
                                     .field = w->f,
                                     .first = fault->first,
                                     .count = records};

    if (fault->count == 1)
        return mshi_findings_add(&w->s->findings, &found, err, "%s", fault->text);
    return mshi_findings_add(&w->s->findings, &found, err, "%s; %" PRIu64 " more such records up to record %" PRIu64,
                             fault->text, fault->count - 1, fault->last);
}

/* Dims of record i against its field and size. */
static void judge_dims(const struct index_walk *w, const mshi_le32 *dims, uint64_t i, uint64_t size,
                       struct fault *fault)
{
    uint64_t product = mshard_dtype_size(w->field->dtype);
    bool overflow = false;

    for (uint32_t d = 0; d < w->field->ndim; d++) {
        const uint64_t dim = mshi_le32_load(&dims[d]);

        overflow = mshi_mul_overflow(product, dim, &product) || overflow;
        if (w->field->shape[d] != MSHARD_DIM_UNKNOWN && w->field->shape[d] != dim) {
            if (first_fault(fault, i))
                (void)snprintf(fault->text, sizeof(fault->text),
                               "dimension %" PRIu32 " must be %" PRIu64 ", found %" PRIu64, d, w->field->shape[d], dim);
            return;
        }
    }
    if ((overflow || product != size) && first_fault(fault, i))
        (void)snprintf(fault->text, sizeof(fault->text), "dimensions must make the value's %" PRIu64 " bytes", size);
}

static bool judge_end(const struct index_walk *w, uint64_t i, uint64_t begin, uint64_t end, struct fault *fault)
{
    const uint64_t unit = mshard_dtype_size(w->field->dtype), size = w->values->size;
    const bool key = mshi_field_is_key(w->field);

    if (end < begin || end > size) {
        if (first_fault(fault, i))
            (void)snprintf(fault->text, sizeof(fault->text),
                           "value must end between byte %" PRIu64 " and %" PRIu64 " of the values, found %" PRIu64,
                           begin, size, end);
        return false;
    }
    if (end % unit != 0) {
        if (first_fault(fault, i))
            (void)snprintf(fault->text, sizeof(fault->text),
                           "value must end at a multiple of %" PRIu64 ", found %" PRIu64, unit, end);
        return false;
    }
    if (end - begin > MSHARD_MAX_RECORD || (key && (end == begin || end - begin > MSHARD_MAX_KEY))) {
        if (first_fault(fault, i))
            (void)snprintf(fault->text, sizeof(fault->text), "value must be %d to %" PRIu64 " bytes, found %" PRIu64,
                           key, key ? (uint64_t)MSHARD_MAX_KEY : (uint64_t)MSHARD_MAX_RECORD, end - begin);
    }
    return true;
}

static mshard_status judge_batch(struct index_walk *w, uint64_t first, uint64_t n, mshard_error *err)
{
    struct fault ends = {.count = 0}, dims = {.count = 0};
    bool unsearchable = false;

    for (uint64_t i = 0; i < n; i++) {
        const uint64_t end = mshi_le64_load(&w->end_buffer[i]);

        if (!judge_end(w, first + i, w->previous, end, &ends))
            unsearchable = true;
        else if (w->dims != NULL)
            judge_dims(w, w->dim_buffer + i * w->field->ndim, first + i, end - w->previous, &dims);
        w->previous = end;
    }
    if (first + n == w->s->header->records && w->previous != w->values->size && !unsearchable &&
        first_fault(&ends, first + n - 1))
        (void)snprintf(ends.text, sizeof(ends.text),
                       "the last value must end with the values, at byte %" PRIu64 ", found %" PRIu64, w->values->size,
                       w->previous);
    if (unsearchable)
        w->s->index_bad[w->f] = true;
    if (ends.count > 0)
        MSHI_TRY(add_fault(w, &ends, w->ends, sizeof(mshi_le64), err));
    if (dims.count > 0)
        MSHI_TRY(add_fault(w, &dims, w->dims, sizeof(mshi_le32) * (uint64_t)w->field->ndim, err));
    return MSHARD_OK;
}

/* Entries of a batch; false, with a finding, when they cannot be read. */
static bool read_entries(struct index_walk *w, const struct mshi_section *section, uint64_t first, uint64_t n,
                         uint64_t unit, void *buffer, mshard_status *status, mshard_error *err)
{
    mshard_error cause;
    size_t got = 0;
    const uint64_t at = section->offset + first * unit;
    mshard_status code = mshi_file_read(&w->s->file, buffer, n * unit, at, &got, w->s->path, &cause);

    if (code == MSHARD_OK && got == n * unit)
        return true;
    if (code == MSHARD_OK)
        code = mshi_fail(&cause, MSHARD_E_TRUNCATED, w->s->path, at + got, "the file ends here");
    const struct mshi_found found = {.code = code,
                                     .sys_errno = cause.sys_errno,
                                     .at = at,
                                     .offset = at,
                                     .size = n * unit,
                                     .field = w->f,
                                     .first = first,
                                     .count = n};
    w->s->index_bad[w->f] = true;
    *status = mshi_findings_add(&w->s->findings, &found, err, "cannot read the index: %s", cause.message);
    return false;
}

static mshard_status walk_index(struct index_walk *w, mshard_error *err)
{
    const uint64_t records = w->s->header->records;
    mshard_status status = MSHARD_OK;

    for (uint64_t i = 0; i < records && status == MSHARD_OK; i += BATCH) {
        const uint64_t n = records - i < BATCH ? records - i : BATCH;

        if (!read_entries(w, w->ends, i, n, sizeof(mshi_le64), w->end_buffer, &status, err) ||
            (w->dims != NULL && !read_entries(w, w->dims, i, n, sizeof(mshi_le32) * (uint64_t)w->field->ndim,
                                              w->dim_buffer, &status, err)))
            return status;
        status = judge_batch(w, i, n, err);
        if (w->s->findings.count >= BATCH)
            mshi_verify_flush(w->s);
    }
    return status;
}

mshard_status mshi_verify_index(struct mshi_verify_shard *s, mshard_error *err)
{
    struct index_walk w = {.s = s};
    mshard_status status = mshi_alloc(BATCH, sizeof(*w.end_buffer), &w.end_buffer, err);

    if (status == MSHARD_OK)
        status = mshi_alloc(BATCH, sizeof(*w.dim_buffer) * MSHARD_MAX_DIMS, &w.dim_buffer, err);
    for (w.f = 0; w.f < s->header->field_count && status == MSHARD_OK; w.f++) {
        w.field = &s->header->fields[w.f];
        if (!mshard_field_is_variable(w.field))
            continue;
        w.values = mshi_header_section(s->header, w.f, MSHI_SECTION_VALUES);
        w.ends = mshi_header_section(s->header, w.f, MSHI_SECTION_ENDS);
        w.dims = mshi_header_section(s->header, w.f, MSHI_SECTION_DIMS);
        w.previous = 0;
        status = walk_index(&w, err);
    }
    free(w.end_buffer);
    free(w.dim_buffer);
    return status;
}

/* ---- header and sums ---- */

/* A fault of the whole shard: every record is touched. Memory is the one thing that ends the check. */
static mshard_status add_shard_fault(struct mshi_verify_shard *s, const mshard_error *cause, mshard_error *err)
{
    const uint64_t at = cause->offset == MSHARD_NO_OFFSET ? 0 : cause->offset;
    const uint64_t records = s->expect == NULL ? 0 : s->expect->records;
    const struct mshi_found found = {.code = cause->code,
                                     .sys_errno = cause->sys_errno,
                                     .at = cause->offset,
                                     .offset = at,
                                     .field = MSHI_NO_FIELD,
                                     .count = records};

    if (cause->code == MSHARD_E_NOMEM) {
        if (err != NULL)
            *err = *cause;
        return MSHARD_E_NOMEM;
    }
    return mshi_findings_add(&s->findings, &found, err, "%s", cause->message);
}

static mshard_status check_sums_root(struct mshi_verify_shard *s, mshard_error *err)
{
    const struct mshi_section *section = &s->header->sections[s->header->section_count - 1];
    mshard_error cause;
    size_t got = 0;
    mshard_status code;

    MSHI_TRY(mshi_alloc(section->size, 1, &s->sums, err));
    code = mshi_file_read(&s->file, s->sums, section->size, section->offset, &got, s->path, &cause);
    if (code == MSHARD_OK && got < section->size)
        code = mshi_fail(&cause, MSHARD_E_TRUNCATED, s->path, section->offset + got, "the file ends here");
    const uint64_t root = mshi_hash64(s->sums, got, 0);
    if (code == MSHARD_OK && root == s->header->sums_root)
        return MSHARD_OK;
    s->sums_bad = true;
    const struct mshi_found found = {.code = code == MSHARD_OK ? MSHARD_E_CORRUPT : code,
                                     .sys_errno = code == MSHARD_OK ? 0 : cause.sys_errno,
                                     .at = section->offset,
                                     .offset = section->offset,
                                     .size = section->size,
                                     .field = MSHI_NO_FIELD};
    if (code != MSHARD_OK)
        return mshi_findings_add(&s->findings, &found, err, "cannot read the block sums: %s", cause.message);
    return mshi_findings_add(&s->findings, &found, err,
                             "the block sums are damaged: the header expects their sum to be %016" PRIx64
                             ", found %016" PRIx64,
                             s->header->sums_root, root);
}

static mshard_status check_content(struct mshi_verify_shard *s, mshard_error *err)
{
    const mshard_verify_options *o = s->verify->options;
    const bool mine = o->subset_count == 0 || s->index % o->subset_count == o->subset - 1;

    MSHI_TRY(check_sums_root(s, err));
    if (o->level >= MSHARD_VERIFY_INDEX && mine)
        MSHI_TRY(mshi_verify_index(s, err));
    mshi_verify_flush(s);
    return o->level >= MSHARD_VERIFY_ALL ? mshi_verify_blocks(s, err) : MSHARD_OK;
}

mshard_status mshi_verify_shard(struct mshi_verify_shard *s, mshard_error *err)
{
    mshard_verify_result *r = s->verify->result;
    mshard_error cause;
    mshard_status status;

    s->file.fd = -1;
    MSHI_TRY(mshi_alloc(1, sizeof(*s->header), &s->header, err));
    status = mshi_file_open(s->path, &s->file, &cause);
    if (status == MSHARD_OK)
        status = mshi_shard_read_header(&s->file, s->path, true, s->expect, s->header, &cause);
    status = status == MSHARD_OK ? check_content(s, err) : add_shard_fault(s, &cause, err);
    mshi_verify_flush(s);
    r->shards++;
    r->bad_shards += s->reported > 0;
    r->bad_records += mshi_ranges_count(&s->ranges);
    mshi_file_close(&s->file);
    mshi_findings_clear(&s->findings);
    mshi_ranges_clear(&s->ranges);
    free(s->sums);
    free(s->header);
    return status;
}
