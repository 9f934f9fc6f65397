/*
 * plan.c - what a pack will write, fixed before the first byte: order, sizes of images, shards, units of work
 *
 * Images of fixed size take the size of the first one that can be read; whether all agree shows while packing.
 */
#include "ingest/plan.h"

#include "base/alloc.h"
#include "format/layout.h"
#include "format/shard_writer.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_IMAGES 32     /* items of a unit that are decoded or read from files */
#define UNIT_RECORDS 65536 /* of a unit of arrays */
#define LOOK_AT 16         /* inputs tried for the size of images */

uint64_t mshi_plan_item(const struct mshi_plan *plan, uint64_t place)
{
    return plan->shuffled ? mshi_permutation_at(&plan->order, place) : place;
}

static uint64_t item_size(const struct mshi_plan *plan, uint64_t place)
{
    struct mshi_item item = {.size = 0};

    plan->source->ops->item(plan->source, mshi_plan_item(plan, place), &item);
    return item.size;
}

/* ---- sizes of images ---- */

static bool size_is_given(const struct mshi_plan *plan, uint64_t *width, uint64_t *height)
{
    const struct mshi_image_rule *r = &plan->rule;

    *width = r->crop_width != 0 ? r->crop_width : r->resize_width;
    *height = r->crop_height != 0 ? r->crop_height : r->resize_height;
    return *width != 0;
}

/* Probe all images of one item; sets shapes. */
static mshard_status probe(struct mshi_plan *plan, uint64_t item, const struct mshi_payload *payload, mshard_error *err)
{
    uint64_t width[MSHARD_MAX_FIELDS], height[MSHARD_MAX_FIELDS];

    for (uint32_t f = 0; f < plan->value_count; f++)
        if (plan->parts[f].kind == MSHI_PART_IMAGE)
            MSHI_TRY(mshi_image_probe(payload->data[f], payload->size[f], &plan->rule, &width[f], &height[f], err));
    for (uint32_t f = 0; f < plan->value_count; f++) {
        if (plan->parts[f].kind != MSHI_PART_IMAGE)
            continue;
        plan->estimate +=
            width[f] * height[f] * plan->fields[f].shape[2] * mshard_dtype_size(plan->fields[f].dtype);
        plan->sample += payload->size[f];
        plan->parts[f].reference = item;
        if (plan->options->variable)
            continue;
        plan->fields[f].shape[0] = height[f];
        plan->fields[f].shape[1] = width[f];
    }
    return MSHARD_OK;
}

static mshard_status keep(struct mshi_lookahead *look, struct mshi_payload **payload, mshard_error *err)
{
    if (look->payloads == NULL) {
        MSHI_TRY(mshi_alloc(LOOK_AT, sizeof look->payloads[0], &look->payloads, err));
        MSHI_TRY(mshi_alloc(LOOK_AT, sizeof look->statuses[0], &look->statuses, err));
        MSHI_TRY(mshi_alloc(LOOK_AT, sizeof look->errors[0], &look->errors, err));
    }
    *payload = &look->payloads[look->count];
    return MSHARD_OK;
}

/* The size of the first image that has one. What is read is kept: no input is read twice. */
static mshard_status look_at_images(struct mshi_plan *plan, mshard_error *err)
{
    struct mshi_source *source = plan->source;
    struct mshi_lookahead *look = &plan->lookahead;
    mshard_error first = {.code = MSHARD_OK};
    mshard_status status = MSHARD_E_DECODE;

    while (look->count < LOOK_AT && look->count < source->count && status != MSHARD_OK) {
        const uint64_t item = mshi_plan_item(plan, look->count);
        struct mshi_payload *payload;
        mshard_error reason;

        MSHI_TRY(keep(look, &payload, err));
        status = source->ops->read(source, item, payload, &look->errors[look->count]);
        look->statuses[look->count++] = status;
        if (status == MSHARD_OK)
            status = probe(plan, item, payload, &reason);
        else
            reason = look->errors[look->count - 1];
        if (status == MSHARD_E_NOMEM) {
            *err = reason;
            return status;
        }
        if (status != MSHARD_OK && first.code == MSHARD_OK)
            first = reason;
    }
    if (status == MSHARD_OK || plan->options->variable)
        return MSHARD_OK;
    plan->shapeless = true;
    plan->shapeless_reason = first;
    return MSHARD_OK;
}

mshard_status mshi_plan_shapes(struct mshi_plan *plan, mshard_error *err)
{
    uint64_t width, height;
    const bool given = size_is_given(plan, &width, &height);

    if (!plan->images || plan->source->count == 0)
        return MSHARD_OK;
    if (!given || plan->options->variable)
        MSHI_TRY(look_at_images(plan, err));
    for (uint32_t f = 0; f < plan->value_count && given && !plan->options->variable; f++)
        if (plan->parts[f].kind == MSHI_PART_IMAGE) {
            plan->fields[f].shape[0] = height;
            plan->fields[f].shape[1] = width;
        }
    return MSHARD_OK;
}

/* ---- shards ---- */

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return mshi_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t mshi_plan_record_bytes(const struct mshi_plan *plan, uint64_t place)
{
    uint64_t size;

    if (!plan->variable)
        return plan->fixed_bytes;
    size = item_size(plan, place);
    if (plan->variable_images && size != 0 && plan->sample != 0)
        size = (uint64_t)((unsigned __int128)size * plan->estimate / plan->sample);
    else if (plan->variable_images)
        size = plan->estimate;
    return saturating_add(plan->fixed_bytes, size);
}

static mshard_status add_shard(struct mshi_plan *plan, uint64_t *capacity, uint64_t end, mshard_error *err)
{
    if (plan->shard_count == MSHARD_MAX_SHARDS)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET,
                         "more than %" PRIu64 " shards: use a larger --shard-size", MSHARD_MAX_SHARDS);
    MSHI_TRY(mshi_grow(&plan->shard_ends, capacity, plan->shard_count + 1, sizeof plan->shard_ends[0], err));
    plan->shard_ends[plan->shard_count++] = end;
    return MSHARD_OK;
}

static mshard_status exact_shards(struct mshi_plan *plan, mshard_error *err)
{
    const uint64_t count = plan->source->count, shards = plan->options->shards;
    uint64_t capacity = 0;

    if (shards > count)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "--shards %" PRIu64 " for %" PRIu64 " inputs",
                         shards, count);
    for (uint64_t i = 1; i <= shards; i++)
        MSHI_TRY(add_shard(plan, &capacity, (uint64_t)((unsigned __int128)i * count / shards), err));
    return MSHARD_OK;
}

/* As many records as fit; a record above the size gets a shard of its own. */
static mshard_status shards_by_size(struct mshi_plan *plan, mshard_error *err)
{
    const uint64_t count = plan->source->count, limit = plan->options->shard_size;
    const uint64_t each = plan->fixed_bytes > 0 && limit / plan->fixed_bytes > 0 ? limit / plan->fixed_bytes : 1;
    uint64_t capacity = 0, bytes = 0;

    if (!plan->variable) {
        for (uint64_t end = 0; end < count;) {
            end = count - end > each ? end + each : count;
            MSHI_TRY(add_shard(plan, &capacity, end, err));
        }
        return MSHARD_OK;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t record = mshi_plan_record_bytes(plan, i);

        if (bytes != 0 && saturating_add(bytes, record) > limit) {
            MSHI_TRY(add_shard(plan, &capacity, i, err));
            bytes = 0;
        }
        bytes = saturating_add(bytes, record);
    }
    return count > 0 ? add_shard(plan, &capacity, count, err) : MSHARD_OK;
}

static void set_figures(struct mshi_plan *plan)
{
    const bool sizes_matter = plan->decodes || plan->variable || plan->field_count != plan->value_count;

    if (!plan->variable)
        plan->estimated_bytes = plan->fixed_bytes * plan->source->count;
    for (uint64_t i = 0; i < plan->source->count && sizes_matter; i++) {
        struct mshi_item item = {.size = 0};

        plan->source->ops->item(plan->source, mshi_plan_item(plan, i), &item);
        plan->largest_item = item.size > plan->largest_item ? item.size : plan->largest_item;
        plan->listing_bytes += strlen(item.name) + (item.key != NULL ? strlen(item.key) : 0) + 64;
        if (plan->variable)
            plan->estimated_bytes = saturating_add(plan->estimated_bytes, mshi_plan_record_bytes(plan, i));
    }
}

mshard_status mshi_plan_shards(struct mshi_plan *plan, mshard_error *err)
{
    for (uint32_t f = 0; f < plan->value_count; f++) {
        mshard_field *field = &plan->fields[f];
        uint64_t elements = 1;

        if (mshard_field_is_variable(field)) {
            plan->variable = true;
            plan->variable_images = plan->variable_images || (plan->parts[f].kind == MSHI_PART_IMAGE && !plan->parts[f].encoded);
            continue;
        }
        for (uint32_t d = 0; d < field->ndim; d++) /* within limits: mshi_fields_check was there */
            elements *= field->shape[d];
        plan->parts[f].elements = elements;
        field->record_size = elements * mshard_dtype_size(field->dtype);
        plan->fixed_bytes += field->record_size;
        if (plan->parts[f].kind == MSHI_PART_VALUES || plan->parts[f].kind == MSHI_PART_LABEL)
            plan->run_bytes += elements * mshard_dtype_size(plan->parts[f].conversion.from);
    }
    set_figures(plan);
    return plan->options->shards != 0 ? exact_shards(plan, err) : shards_by_size(plan, err);
}

/* ---- units ---- */

uint64_t mshi_plan_unit_records(const struct mshi_plan *plan)
{
    const uint64_t most = plan->runs || !(plan->images || plan->variable) ? UNIT_RECORDS : UNIT_IMAGES;
    const uint64_t fit = plan->fixed_bytes > 0 ? MSHI_UNIT_BYTES / plan->fixed_bytes : most;

    if (plan->variable_images)
        return 1;
    return fit < 1 ? 1 : fit < most ? fit : most;
}

uint64_t mshi_plan_unit_end(const struct mshi_plan *plan, uint64_t first, uint64_t shard)
{
    const uint64_t last = plan->shard_ends[shard], most = mshi_plan_unit_records(plan);
    uint64_t end = last - first > most ? first + most : last, bytes = 0;

    if (!plan->images && !plan->variable)
        return end;
    for (uint64_t i = first; i < end; i++) { /* what is read is bounded too */
        bytes = saturating_add(bytes, item_size(plan, i));
        if (bytes > MSHI_UNIT_BYTES)
            return i > first ? i : first + 1;
    }
    return end;
}

uint64_t mshi_plan_unit_bytes(const struct mshi_plan *plan)
{
    uint64_t bytes = plan->fixed_bytes * mshi_plan_unit_records(plan);

    if (plan->variable && !plan->variable_images)
        bytes += plan->largest_item > MSHI_UNIT_BYTES ? plan->largest_item : MSHI_UNIT_BYTES;
    return bytes;
}

/* ---- all of it ---- */

mshard_status mshi_plan_make(struct mshi_plan *plan, struct mshi_pack_run *run, struct mshi_source *source,
                             mshard_error *err)
{
    *plan = (struct mshi_plan){.options = &run->options, .source = source};
    MSHI_TRY(mshi_plan_fields(plan, run, err));
    if (run->options.shuffle && source->count > 0) {
        plan->shuffled = true;
        mshi_permutation_init(&plan->order, source->count, run->options.shuffle_seed, 0);
    }
    if (plan->decodes)
        MSHI_TRY(mshi_decode_start(err));
    MSHI_TRY(mshi_plan_shapes(plan, err));
    MSHI_TRY(mshi_fields_check(plan->fields, plan->field_count, err));
    return mshi_plan_shards(plan, err);
}

static void drop_lookahead(struct mshi_plan *plan)
{
    struct mshi_lookahead *look = &plan->lookahead;

    for (uint64_t i = 0; i < look->count && look->payloads != NULL; i++)
        mshi_payload_clear(&look->payloads[i]);
    free(look->payloads);
    free(look->statuses);
    free(look->errors);
    *look = (struct mshi_lookahead){.payloads = NULL};
}

void mshi_plan_clear(struct mshi_plan *plan)
{
    drop_lookahead(plan);
    free(plan->shard_ends);
    plan->shard_ends = NULL;
}
