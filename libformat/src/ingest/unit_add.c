/*
 * unit_add.c - one input's values into the columns of a unit
 *
 * Each value goes behind the values of the unit's records; the record counts once all are there, so a failure
 * half way leaves no trace.
 */
#include "ingest/unit_add.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP (UINT64_C(8) << 20) /* a scratch buffer above this is not kept */

struct adding {
    struct mshi_unit *unit;
    const struct mshi_plan *plan;
    struct mshi_unit_tools *tools;
    const struct mshi_payload *payload;
    uint32_t field;
};

static struct mshi_unit_column *column_of(const struct adding *a)
{
    return &a->unit->columns[a->field];
}

/* Bytes in the column before this record. */
static uint64_t begin_of(const struct adding *a)
{
    const uint64_t size = a->plan->fields[a->field].record_size;
    const uint64_t r = a->unit->records;

    if (size != 0)
        return r * size;
    return r > 0 ? column_of(a)->ends[r - 1] : 0;
}

static mshard_status room(const struct adding *a, uint64_t size, uint8_t **at, mshard_error *err)
{
    struct mshi_unit_column *c = column_of(a);
    const uint64_t begin = begin_of(a);
    const uint64_t all = a->plan->fields[a->field].record_size * (a->unit->end - a->unit->first); /* fixed: at once */
    uint64_t need;

    if (mshi_add_overflow(begin, size, &need))
        return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "out of memory");
    MSHI_TRY(mshi_grow(&c->data, &c->capacity, all > 0 ? all : need > 0 ? need : 1, 1, err));
    *at = c->data + begin;
    c->used = need;
    return MSHARD_OK;
}

static mshard_status set_end(const struct adding *a, mshard_error *err)
{
    struct mshi_unit_column *c = column_of(a);

    MSHI_TRY(mshi_grow(&c->ends, &c->ends_capacity, a->unit->records + 1, sizeof c->ends[0], err));
    c->ends[a->unit->records] = c->used;
    return MSHARD_OK;
}

static mshard_status add_bytes(const struct adding *a, mshard_error *err)
{
    const uint64_t size = a->payload->size[a->field];
    uint8_t *at;

    if (size > MSHARD_MAX_RECORD)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "a value of %" PRIu64 " bytes is above the limit",
                         size);
    MSHI_TRY(room(a, size, &at, err));
    if (size > 0)
        memcpy(at, a->payload->data[a->field], size);
    return set_end(a, err);
}

static mshard_status add_label(const struct adding *a, mshard_error *err)
{
    const struct mshi_source *source = a->plan->source;
    const struct mshi_conversion *c = &a->plan->parts[a->field].conversion;
    struct mshi_conversion_report ignored = {0};
    uint8_t *at;
    int64_t label;

    if (a->payload->size[a->field] != sizeof label)
        return mshi_fail(err, MSHARD_E_CORRUPT, NULL, MSHARD_NO_OFFSET, "a label of %zu bytes",
                         a->payload->size[a->field]);
    memcpy(&label, a->payload->data[a->field], sizeof label);
    if (source->class_count > 0 && (label < 0 || (uint64_t)label >= source->class_count))
        return mshi_fail(err, MSHARD_E_RANGE, NULL, MSHARD_NO_OFFSET,
                         "label must be 0 to %" PRIu64 " (there are %" PRIu64 " classes), found %" PRId64,
                         source->class_count - 1, source->class_count, label);
    MSHI_TRY(room(a, mshard_dtype_size(c->to), &at, err));
    if (mshi_convert(c, &label, 1, at, &ignored, err) != MSHARD_OK || ignored.overflowed != 0) /* never another class */
        return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET, "label %" PRId64 " does not fit %s (--dtype)",
                         label, mshard_dtype_name(c->to));
    return MSHARD_OK;
}

static mshard_status check_bools(const uint8_t *values, uint64_t n, mshard_error *err)
{
    for (uint64_t i = 0; i < n; i++)
        if (values[i] > 1)
            return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET,
                             "a bool is 0 or 1, found %d in element %" PRIu64, values[i], i);
    return MSHARD_OK;
}

static mshard_status add_values(const struct adding *a, mshard_error *err)
{
    const mshard_field *field = &a->plan->fields[a->field];
    const struct mshi_plan_part *part = &a->plan->parts[a->field];
    const uint64_t expected = part->elements * mshard_dtype_size(part->conversion.from);
    const void *values = a->payload->data[a->field];
    uint8_t *at;

    if (a->payload->size[a->field] != expected)
        return mshi_fail(err, MSHARD_E_CORRUPT, NULL, MSHARD_NO_OFFSET, "field '%s' has %zu bytes, expected %" PRIu64,
                         field->name, a->payload->size[a->field], expected);
    MSHI_TRY(room(a, field->record_size, &at, err));
    if (part->conversion.from == MSHARD_BOOL)
        MSHI_TRY(check_bools(values, part->elements, err));

    const mshard_status status = mshi_convert(&part->conversion, values, part->elements, at, &a->unit->report, err);

    if (status == MSHARD_E_DECODE) {
        const size_t used = strlen(err->message);

        snprintf(err->message + used, sizeof err->message - used, " (--dtype %s=%s keeps it%s)", field->name,
                 mshard_dtype_name(part->conversion.from),
                 a->plan->options->on_overflow == MSHARD_ON_OVERFLOW_ERROR ? "; see --on-overflow" : "");
        mshi_error_context(err, "field '%s'", field->name);
    }
    return status;
}

/* ---- images ---- */

static mshard_status fail_size(const struct adding *a, const struct mshi_image *image, bool *mismatch,
                               mshard_error *err)
{
    const mshard_field *field = &a->plan->fields[a->field];
    struct mshi_item first = {.name = "the options"};

    *mismatch = true;
    if (a->plan->parts[a->field].reference != UINT64_MAX)
        a->plan->source->ops->item(a->plan->source, a->plan->parts[a->field].reference, &first);
    return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET,
                     "image is %" PRIu64 "x%" PRIu64 " pixels, but %s is %" PRIu64 "x%" PRIu64
                     ": use --resize with --crop, or --variable",
                     image->width, image->height, first.name, field->shape[1], field->shape[0]);
}

/* Decoded pixels into the column, as numbers of another dtype. */
static mshard_status convert_pixels(const struct adding *a, uint8_t **at, uint64_t *size, mshard_error *err)
{
    const struct mshi_image *image = &a->tools->image;
    const struct mshi_conversion *c = &a->plan->parts[a->field].conversion;
    const uint64_t n = image->width * image->height * image->channels;

    *size = n * mshard_dtype_size(c->to);
    MSHI_TRY(room(a, *size, at, err));
    return mshi_convert(c, image->pixels, n, *at, &a->unit->report, err);
}

static mshard_status add_converted_image(const struct adding *a, const struct mshi_image_rule *rule, bool *mismatch,
                                         mshard_error *err)
{
    const mshard_field *field = &a->plan->fields[a->field];
    struct mshi_image *image = &a->tools->image;
    uint64_t size;
    uint8_t *at;

    MSHI_TRY(mshi_image_decode(a->payload->data[a->field], a->payload->size[a->field], rule, image, err));
    if (image->height != field->shape[0] || image->width != field->shape[1])
        return fail_size(a, image, mismatch, err);
    return convert_pixels(a, &at, &size, err);
}

static mshard_status add_fixed_image(const struct adding *a, const struct mshi_image_rule *rule, bool *mismatch,
                                     mshard_error *err)
{
    if (a->plan->parts[a->field].conversion.to != MSHARD_UINT8)
        return add_converted_image(a, rule, mismatch, err);

    const mshard_field *field = &a->plan->fields[a->field];
    struct mshi_image image = {.borrowed = true, .capacity = field->record_size};
    mshard_status status;

    MSHI_TRY(room(a, field->record_size, &image.pixels, err));
    status = mshi_image_decode(a->payload->data[a->field], a->payload->size[a->field], rule, &image, err);
    if (status == MSHARD_E_INVALID ||
        (status == MSHARD_OK && (image.height != field->shape[0] || image.width != field->shape[1])))
        return fail_size(a, &image, mismatch, err);
    return status;
}

/* The pixels' buffer becomes the column's: large images are not copied. */
static mshard_status add_variable_image(const struct adding *a, const struct mshi_image_rule *rule, mshard_error *err)
{
    struct mshi_unit_column *c = column_of(a);
    struct mshi_image *image = &a->tools->image;
    const uint64_t r = a->unit->records;
    struct mshi_image_rule keeping = *rule;

    keeping.gate_keep = true;
    MSHI_TRY(mshi_image_decode(a->payload->data[a->field], a->payload->size[a->field], &keeping, image, err));
    a->unit->held += image->held;

    uint64_t size = image->width * image->height * image->channels;
    uint8_t *at;

    if (a->plan->parts[a->field].conversion.to != MSHARD_UINT8) {
        MSHI_TRY(convert_pixels(a, &at, &size, err));
    } else if (begin_of(a) == 0) {
        uint8_t *const data = c->data;
        const uint64_t capacity = c->capacity;

        c->data = image->pixels;
        c->capacity = image->capacity;
        c->used = size;
        image->pixels = data;
        image->capacity = capacity;
    } else {
        MSHI_TRY(room(a, size, &at, err));
        memcpy(at, image->pixels, size);
    }
    MSHI_TRY(mshi_grow(&c->shapes, &c->shapes_capacity, r + 1, sizeof c->shapes[0], err));
    c->shapes[r][0] = image->height;
    c->shapes[r][1] = image->width;
    c->shapes[r][2] = image->channels;
    return set_end(a, err);
}

/* The file is kept; that it decodes is checked all the same. */
static mshard_status add_encoded(const struct adding *a, const struct mshi_image_rule *rule, mshard_error *err)
{
    MSHI_TRY(mshi_image_decode(a->payload->data[a->field], a->payload->size[a->field], rule, &a->tools->image, err));
    return add_bytes(a, err);
}

static mshard_status add_image(const struct adding *a, bool *mismatch, mshard_error *err)
{
    struct mshi_image_rule rule = a->plan->rule;
    struct mshi_image *scratch = &a->tools->image;
    mshard_status status;

    rule.value_size = (uint32_t)mshard_dtype_size(a->plan->fields[a->field].dtype);
    rule.gate = a->tools->gate;
    rule.gate_ticket = a->unit->number;
    if (a->plan->parts[a->field].encoded)
        status = add_encoded(a, &rule, err);
    else if (a->plan->fields[a->field].record_size != 0)
        status = add_fixed_image(a, &rule, mismatch, err);
    else
        status = add_variable_image(a, &rule, err);
    if (scratch->capacity > KEEP) {
        free(scratch->pixels);
        scratch->pixels = NULL;
        scratch->capacity = 0;
    }
    return status;
}

static mshard_status add_part(const struct adding *a, bool *mismatch, mshard_error *err)
{
    switch (a->plan->parts[a->field].kind) {
    case MSHI_PART_IMAGE:
        return add_image(a, mismatch, err);
    case MSHI_PART_VALUES:
        return add_values(a, err);
    case MSHI_PART_LABEL:
        return add_label(a, err);
    default:
        return add_bytes(a, err);
    }
}

static mshard_status check_key(const struct mshi_plan *plan, uint64_t item, mshard_error *err)
{
    struct mshi_item it = {.key = NULL};

    if (plan->field_count == plan->value_count)
        return MSHARD_OK;
    plan->source->ops->item(plan->source, item, &it);

    const size_t size = it.key != NULL ? strlen(it.key) : 0;

    if (size == 0 || size > MSHARD_MAX_KEY)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "a key has 1 to %d bytes, found %zu",
                         MSHARD_MAX_KEY, size);
    return MSHARD_OK;
}

mshard_status mshi_unit_add(struct mshi_unit *unit, const struct mshi_plan *plan, struct mshi_unit_tools *tools,
                            uint64_t item, const struct mshi_payload *payload, bool *mismatch, mshard_error *err)
{
    struct adding a = {.unit = unit, .plan = plan, .tools = tools, .payload = payload};
    const struct mshi_conversion_report before = unit->report;

    *mismatch = false;
    MSHI_TRY(check_key(plan, item, err));
    for (a.field = 0; a.field < plan->value_count; a.field++) {
        const mshard_status status = add_part(&a, mismatch, err);

        if (status != MSHARD_OK) {
            unit->report = before;
            return status;
        }
    }
    MSHI_TRY(mshi_grow(&unit->items, &unit->items_capacity, unit->records + 1, sizeof unit->items[0], err));
    unit->items[unit->records++] = item;
    return MSHARD_OK;
}
