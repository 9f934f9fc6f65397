/*
 * unit.c - a unit of work: reading its inputs, and the figures of what came out
 *
 * Runs of numbers that need no conversion are not copied: the columns point into what the source handed out.
 */
#include "ingest/unit.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "ingest/unit_add.h"
#include <stdlib.h>
#include <string.h>

#define KEEP (UINT64_C(8) << 20) /* a buffer above this is not kept for the next unit */

void mshi_unit_tools_clear(struct mshi_unit_tools *tools)
{
    mshi_payload_clear(&tools->payload);
    free(tools->image.pixels);
    tools->image = (struct mshi_image){.pixels = NULL};
}

static void stop(struct mshi_unit *unit, mshard_status status)
{
    unit->status = status; /* unit->error holds the reason */
}

/* ---- reading ---- */

static mshard_status make_payloads(struct mshi_unit *unit, uint64_t n, mshard_error *err)
{
    uint64_t capacity = unit->payload_count, more = unit->payload_count, errors = unit->payload_count;

    if (n <= unit->payload_count)
        return MSHARD_OK;
    MSHI_TRY(mshi_grow(&unit->payloads, &capacity, n, sizeof unit->payloads[0], err));
    MSHI_TRY(mshi_grow(&unit->read_statuses, &more, n, sizeof unit->read_statuses[0], err));
    MSHI_TRY(mshi_grow(&unit->read_errors, &errors, n, sizeof unit->read_errors[0], err));
    memset(unit->payloads + unit->payload_count, 0, (size_t)(n - unit->payload_count) * sizeof unit->payloads[0]);
    unit->payload_count = n;
    return MSHARD_OK;
}

void mshi_unit_read(struct mshi_unit *unit, const struct mshi_plan *plan)
{
    struct mshi_source *source = plan->source;
    const uint64_t n = unit->end - unit->first;
    const mshard_status status = make_payloads(unit, n, &unit->error);

    if (status != MSHARD_OK) {
        stop(unit, status);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        if (unit->first + i >= plan->lookahead.count)
            unit->read_statuses[i] =
                source->ops->read(source, unit->first + i, &unit->payloads[i], &unit->read_errors[i]);
}

/* ---- failures ---- */

/* An input's failure is noted; a failure of ours ends the pack. */
static void fail_item(struct mshi_unit *unit, uint64_t item, mshard_status status, bool mismatch,
                      const mshard_error *reason)
{
    if (status != MSHARD_E_NOMEM && status != MSHARD_E_CANCELLED)
        status = mshi_grow(&unit->failures, &unit->failure_capacity, unit->failure_count + 1, sizeof unit->failures[0],
                           &unit->error);
    else
        unit->error = *reason;
    if (status != MSHARD_OK) {
        stop(unit, status);
        return;
    }
    unit->failures[unit->failure_count++] =
        (struct mshi_unit_failure){.item = item, .mismatch = mismatch, .error = *reason};
}

static void add_item(struct mshi_unit *unit, const struct mshi_plan *plan, struct mshi_unit_tools *tools, uint64_t item,
                     const struct mshi_payload *payload)
{
    mshard_error reason;
    bool mismatch;
    const mshard_status status = mshi_unit_add(unit, plan, tools, item, payload, &mismatch, &reason);

    if (status != MSHARD_OK)
        fail_item(unit, item, status, mismatch, &reason);
}

static void fill_by_item(struct mshi_unit *unit, const struct mshi_plan *plan, struct mshi_unit_tools *tools)
{
    struct mshi_source *source = plan->source;

    for (uint64_t place = unit->first; place < unit->end && unit->status == MSHARD_OK; place++) {
        const uint64_t item = mshi_plan_item(plan, place), i = place - unit->first;
        const struct mshi_payload *payload = &tools->payload;
        mshard_status status;
        mshard_error reason;

        if (place < plan->lookahead.count) {
            payload = &plan->lookahead.payloads[place];
            status = plan->lookahead.statuses[place];
            reason = plan->lookahead.errors[place];
        } else if (!source->random_access) {
            payload = &unit->payloads[i];
            status = unit->read_statuses[i];
            reason = unit->read_errors[i];
        } else {
            status = source->ops->read(source, item, &tools->payload, &reason);
        }
        if (status != MSHARD_OK)
            fail_item(unit, item, status, false, &reason);
        else
            add_item(unit, plan, tools, item, payload);
    }
}

/* ---- runs of arrays ---- */

static bool labels_fit(const struct mshi_plan *plan, const void *labels, uint64_t n)
{
    const uint64_t classes = plan->source->class_count;

    for (uint64_t i = 0; i < n && classes > 0; i++) {
        int64_t label;

        memcpy(&label, (const uint8_t *)labels + i * sizeof label, sizeof label);
        if (label < 0 || (uint64_t)label >= classes)
            return false;
    }
    return true;
}

/* Can the values be written as they came? */
static bool run_fits(const struct mshi_unit *unit, const struct mshi_plan *plan, uint64_t n)
{
    for (uint32_t f = 0; f < plan->value_count; f++) {
        const struct mshi_conversion *c = &plan->parts[f].conversion;

        if (c->from != c->to || c->from == MSHARD_BOOL || unit->run.size[f] != n * plan->fields[f].record_size)
            return false;
        if (plan->parts[f].kind == MSHI_PART_LABEL && !labels_fit(plan, unit->run.data[f], n))
            return false;
    }
    return true;
}

/* One record of a run, as if it had been read alone. */
static void slice_run(const struct mshi_unit *unit, const struct mshi_plan *plan, uint64_t n, uint64_t i,
                      struct mshi_payload *slice)
{
    for (uint32_t f = 0; f < plan->value_count; f++) {
        const size_t each = unit->run.size[f] / (size_t)n;

        slice->size[f] = each;
        slice->data[f] = (const uint8_t *)unit->run.data[f] + i * each;
    }
}

static void fill_by_run(struct mshi_unit *unit, const struct mshi_plan *plan, struct mshi_unit_tools *tools)
{
    const uint64_t n = unit->end - unit->first;
    mshard_error reason;
    mshard_status status;

    status = plan->source->ops->read_run(plan->source, unit->first, n, &unit->run, &reason);
    if (status != MSHARD_OK && plan->source->random_access) { /* one by one: to name those that are bad */
        fill_by_item(unit, plan, tools);
        return;
    }
    if (status != MSHARD_OK) {
        fail_item(unit, unit->first, status, false, &reason);
        return;
    }
    if (!run_fits(unit, plan, n)) {
        for (uint64_t i = 0; i < n && unit->status == MSHARD_OK; i++) {
            struct mshi_payload slice = {.buffer = NULL};

            slice_run(unit, plan, n, i, &slice);
            add_item(unit, plan, tools, unit->first + i, &slice);
        }
        return;
    }
    status = mshi_grow(&unit->items, &unit->items_capacity, n, sizeof unit->items[0], &unit->error);
    if (status != MSHARD_OK) {
        stop(unit, status);
        return;
    }
    for (uint32_t f = 0; f < plan->value_count; f++)
        unit->columns[f].direct = unit->run.data[f];
    for (uint64_t i = 0; i < n; i++)
        unit->items[i] = unit->first + i;
    unit->records = n;
}

/* ---- figures ---- */

const uint8_t *mshi_unit_value(const struct mshi_unit *unit, const struct mshi_plan *plan, uint32_t field, uint64_t r,
                               uint64_t *size, const uint64_t **shape)
{
    const struct mshi_unit_column *c = &unit->columns[field];
    const uint64_t each = plan->fields[field].record_size;
    const uint64_t begin = each != 0 ? r * each : r > 0 ? c->ends[r - 1] : 0;

    *size = each != 0 ? each : c->ends[r] - begin;
    *shape = plan->fields[field].ndim == 3 && each == 0 ? c->shapes[r] : NULL;
    return (c->direct != NULL ? c->direct : c->data) + begin;
}

static mshard_status add_stats(struct mshi_unit *unit, const struct mshi_plan *plan, uint32_t f, mshard_error *err)
{
    uint64_t size;
    const uint64_t *shape;

    MSHI_TRY(mshi_stats_new(&plan->fields[f], &unit->stats[f], err));
    if (unit->records == 0)
        return MSHARD_OK;
    if (plan->fields[f].record_size != 0) {
        const uint8_t *data = mshi_unit_value(unit, plan, f, 0, &size, &shape);

        return mshi_stats_add(unit->stats[f], data, unit->records, size * unit->records, NULL, err);
    }
    for (uint64_t r = 0; r < unit->records; r++) {
        const uint8_t *data = mshi_unit_value(unit, plan, f, r, &size, &shape);

        MSHI_TRY(mshi_stats_add(unit->stats[f], data, 1, size, shape, err));
    }
    return MSHARD_OK;
}

static mshard_status add_hashes(struct mshi_unit *unit, const struct mshi_plan *plan, mshard_error *err)
{
    bool content = false;

    MSHI_TRY(mshi_grow(&unit->hashes, &unit->hashes_capacity, unit->records, sizeof unit->hashes[0], err));
    for (uint64_t r = 0; r < unit->records; r++) {
        uint64_t hash = 0;

        for (uint32_t f = 0; f < plan->value_count; f++) {
            const uint64_t *shape;
            uint64_t size;
            const uint8_t *data = mshi_unit_value(unit, plan, f, r, &size, &shape);

            if (plan->fields[f].content == MSHARD_CONTENT_LABEL)
                continue;
            content = true;
            if (shape != NULL)
                hash = mshi_hash64(shape, 3 * sizeof shape[0], hash);
            hash = mshi_hash64(data, (size_t)size, hash ^ size);
        }
        unit->hashes[r] = hash;
    }
    if (!content) { /* nothing but labels: none is a duplicate */
        free(unit->hashes);
        unit->hashes = NULL;
        unit->hashes_capacity = 0;
    }
    return MSHARD_OK;
}

void mshi_unit_fill(struct mshi_unit *unit, const struct mshi_plan *plan, struct mshi_unit_tools *tools)
{
    mshard_status status = MSHARD_OK;

    if (unit->status != MSHARD_OK)
        return;
    for (uint64_t place = unit->first; place < unit->end; place++) {
        struct mshi_item item = {.size = 0};

        plan->source->ops->item(plan->source, mshi_plan_item(plan, place), &item);
        unit->bytes_in += item.size;
    }
    if (plan->runs)
        fill_by_run(unit, plan, tools);
    else
        fill_by_item(unit, plan, tools);
    if (unit->status != MSHARD_OK || unit->look_only)
        return;
    for (uint32_t f = 0; f < plan->value_count && status == MSHARD_OK; f++)
        status = add_stats(unit, plan, f, &unit->error);
    if (status == MSHARD_OK && unit->records > 0)
        status = add_hashes(unit, plan, &unit->error);
    if (status != MSHARD_OK)
        stop(unit, status);
}

/* ---- reuse ---- */

static void trim(uint8_t **data, uint64_t *capacity)
{
    if (*capacity <= KEEP)
        return;
    free(*data);
    *data = NULL;
    *capacity = 0;
}

void mshi_unit_reset(struct mshi_unit *unit)
{
    for (uint32_t f = 0; f < MSHARD_MAX_FIELDS; f++) {
        struct mshi_unit_column *c = &unit->columns[f];

        mshi_stats_free(unit->stats[f]);
        unit->stats[f] = NULL;
        trim(&c->data, &c->capacity);
        c->used = 0;
        c->direct = NULL;
    }
    for (uint64_t i = 0; i < unit->payload_count; i++)
        if (unit->payloads[i].capacity > KEEP)
            mshi_payload_clear(&unit->payloads[i]);
    unit->records = 0;
    unit->failure_count = 0;
    unit->report = (struct mshi_conversion_report){0};
    unit->bytes_in = 0;
    unit->held = 0;
    unit->status = MSHARD_OK;
}

void mshi_unit_clear(struct mshi_unit *unit)
{
    mshi_unit_reset(unit);
    for (uint32_t f = 0; f < MSHARD_MAX_FIELDS; f++) {
        free(unit->columns[f].data);
        free(unit->columns[f].ends);
        free(unit->columns[f].shapes);
    }
    for (uint64_t i = 0; i < unit->payload_count; i++)
        mshi_payload_clear(&unit->payloads[i]);
    free(unit->payloads);
    free(unit->read_statuses);
    free(unit->read_errors);
    mshi_payload_clear(&unit->run);
    free(unit->items);
    free(unit->hashes);
    free(unit->failures);
    *unit = (struct mshi_unit){.number = 0};
}
