/*
 * plan_fields.c - the stored fields of a pack: dtypes, contents, and which options fit the source
 *
 * Integers keep their dtype. Floats of 32 and 64 bits become float16 unless a dtype is asked for: stored data is
 * never float32 by default (docs/packing.md, "Numbers").
 */
#include "ingest/plan.h"

#include "format/layout.h"
#include "format/shard_writer.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static mshard_status invalid(mshard_error *err, const char *text)
{
    return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "%s", text);
}

static bool is_float(mshard_dtype dtype)
{
    return dtype == MSHARD_FLOAT16 || dtype == MSHARD_BFLOAT16 || dtype == MSHARD_FLOAT32 || dtype == MSHARD_FLOAT64;
}

static mshard_status check_image_options(const mshard_pack_options *o, bool images, mshard_error *err)
{
    const bool shaped = o->resize != 0 || o->resize_width != 0 || o->crop_width != 0 || o->gray != 0;

    if ((o->resize_width == 0) != (o->resize_height == 0) || (o->crop_width == 0) != (o->crop_height == 0))
        return invalid(err, "a size needs both width and height");
    if (o->resize != 0 && o->resize_width != 0)
        return invalid(err, "resize to a shorter side or to an exact size, not both");
    if (o->resize > INT32_MAX || o->resize_width > INT32_MAX || o->resize_height > INT32_MAX ||
        o->crop_width > INT32_MAX || o->crop_height > INT32_MAX)
        return invalid(err, "a size in pixels must be below 2^31");
    if (o->encoded && (shaped || o->variable))
        return invalid(err, "--encoded keeps the bytes of each image file: it goes with no other image option");
    if (!images && (shaped || o->variable || o->encoded))
        return invalid(err, "the inputs hold no image files: image options (--resize, --crop, --gray, --variable, "
                            "--encoded) do not apply");
    return MSHARD_OK;
}

/* The dtype asked for a field, or 0. */
static mshard_status asked_dtype(const mshard_pack_options *o, const char *field, mshard_dtype *dtype,
                                 mshard_error *err)
{
    const size_t size = strlen(field);

    *dtype = (mshard_dtype)0;
    for (size_t i = 0; o->dtypes != NULL && o->dtypes[i] != NULL; i++) {
        if (strncmp(o->dtypes[i], field, size) != 0 || o->dtypes[i][size] != '=')
            continue;
        if (*dtype != (mshard_dtype)0)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "two dtypes are given for field '%s'",
                             field);
        if (mshard_dtype_parse(o->dtypes[i] + size + 1, dtype, err) != MSHARD_OK)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "'%s' is no dtype: uint8, float16, int64, ...", o->dtypes[i] + size + 1);
    }
    return MSHARD_OK;
}

/* Every dtype option must name a field. */
static mshard_status check_dtype_names(const mshard_pack_options *o, const struct mshi_source *source,
                                       mshard_error *err)
{
    for (size_t i = 0; o->dtypes != NULL && o->dtypes[i] != NULL; i++) {
        const char *equals = strchr(o->dtypes[i], '=');
        char names[256] = "";
        bool found = false;

        if (equals == NULL)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "dtype must be FIELD=DTYPE, found '%s'",
                             o->dtypes[i]);
        for (uint32_t f = 0; f < source->field_count; f++) {
            const char *name = source->fields[f].name;
            const size_t used = strlen(names);

            found = found ||
                    (strlen(name) == (size_t)(equals - o->dtypes[i]) && strncmp(name, o->dtypes[i], strlen(name)) == 0);
            snprintf(names + used, sizeof names - used, "%s%s", f > 0 ? ", " : "", name);
        }
        if (!found)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "dtype '%s': the fields are %s",
                             o->dtypes[i], names);
    }
    return MSHARD_OK;
}

static mshard_status set_image(struct mshi_plan *plan, uint32_t f, mshard_dtype asked, mshard_error *err)
{
    const mshard_pack_options *o = plan->options;
    mshard_field *field = &plan->fields[f];

    const bool converted = asked != (mshard_dtype)0 && asked != MSHARD_UINT8;

    if (converted && o->encoded)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "field '%s' keeps the bytes of image files (--encoded): its dtype is uint8", field->name);
    if (asked == MSHARD_INT8 || asked == MSHARD_BOOL)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "field '%s' holds pixels, 0 to 255: %s does not hold them all", field->name,
                         mshard_dtype_name(asked));
    field->dtype = converted ? asked : MSHARD_UINT8;
    field->content = converted ? MSHARD_CONTENT_VALUES : MSHARD_CONTENT_IMAGE; /* an image is uint8, by the spec */
    plan->parts[f].conversion = (struct mshi_conversion){.from = MSHARD_UINT8, .to = field->dtype};
    plan->parts[f].encoded = o->encoded != 0;
    plan->decodes = true;
    if (o->encoded) {
        field->content = MSHARD_CONTENT_ENCODED;
        field->ndim = 1;
        field->shape[0] = MSHARD_DIM_UNKNOWN;
        return MSHARD_OK;
    }
    plan->images = true;
    field->ndim = 3;
    field->shape[0] = field->shape[1] = MSHARD_DIM_UNKNOWN; /* mshi_plan_shapes sets fixed ones */
    field->shape[2] = o->gray ? 1 : 3;
    return MSHARD_OK;
}

static mshard_status set_numbers(struct mshi_plan *plan, struct mshi_pack_run *run, uint32_t f, mshard_dtype asked,
                                 mshard_error *err)
{
    const struct mshi_source_field *from = &plan->source->fields[f];
    mshard_field *field = &plan->fields[f];
    const mshard_dtype given = from->kind == MSHI_PART_LABEL ? MSHARD_INT64 : from->dtype;
    const bool wide = given == MSHARD_FLOAT32 || given == MSHARD_FLOAT64;

    field->dtype = asked != (mshard_dtype)0 ? asked : wide ? MSHARD_FLOAT16 : given;
    field->content = from->kind == MSHI_PART_LABEL ? MSHARD_CONTENT_LABEL : from->content;
    if (from->kind == MSHI_PART_VALUES) {
        field->ndim = from->ndim;
        memcpy(field->shape, from->shape, sizeof field->shape);
    }
    if (field->content == MSHARD_CONTENT_IMAGE && field->dtype != MSHARD_UINT8)
        field->content = MSHARD_CONTENT_VALUES;
    if (field->content == MSHARD_CONTENT_LABEL && (is_float(field->dtype) || field->dtype == MSHARD_BOOL))
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "field '%s' holds labels: its dtype is an integer", field->name);
    if (plan->options->on_overflow == MSHARD_ON_OVERFLOW_INF && field->dtype != given && !is_float(field->dtype))
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "field '%s' becomes %s, which has no infinity: use --on-overflow=clamp", field->name,
                         mshard_dtype_name(field->dtype));
    plan->parts[f].conversion =
        (struct mshi_conversion){.from = given, .to = field->dtype, .on_overflow = plan->options->on_overflow};
    if (field->content == MSHARD_CONTENT_LABEL) /* a clamped label would be another class */
        plan->parts[f].conversion.on_overflow = MSHARD_ON_OVERFLOW_ERROR;
    if (wide && asked == (mshard_dtype)0)
        return mshi_run_note(run, err, "field '%s': %s is stored as float16 (--dtype %s=%s keeps it)", field->name,
                             mshard_dtype_name(given), field->name, mshard_dtype_name(given));
    return MSHARD_OK;
}

static mshard_status set_field(struct mshi_plan *plan, struct mshi_pack_run *run, uint32_t f, mshard_error *err)
{
    const struct mshi_source_field *from = &plan->source->fields[f];
    mshard_field *field = &plan->fields[f];
    mshard_dtype asked;

    *field = (mshard_field){.name = from->name};
    plan->parts[f].kind = from->kind;
    plan->parts[f].reference = UINT64_MAX;
    MSHI_TRY(asked_dtype(plan->options, from->name, &asked, err));
    if (from->kind == MSHI_PART_IMAGE)
        return set_image(plan, f, asked, err);
    if (from->kind != MSHI_PART_BYTES)
        return set_numbers(plan, run, f, asked, err);
    if (asked != (mshard_dtype)0 && asked != MSHARD_UINT8)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "field '%s' holds bytes: its dtype is uint8",
                         field->name);
    field->dtype = MSHARD_UINT8;
    field->content = from->content;
    field->ndim = 1;
    field->shape[0] = MSHARD_DIM_UNKNOWN;
    return MSHARD_OK;
}

static mshard_status add_key(struct mshi_plan *plan, mshard_error *err)
{
    struct mshi_item item = {.key = NULL};

    if (!plan->options->keys)
        return MSHARD_OK;
    if (plan->source->count > 0)
        plan->source->ops->item(plan->source, 0, &item);
    if (plan->source->count > 0 && item.key == NULL)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "--keys: records of kind %s have no names to be found by", plan->source->kind);
    if (plan->field_count == MSHARD_MAX_FIELDS)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "%d fields leave no room for the key",
                         MSHARD_MAX_FIELDS);
    plan->fields[plan->field_count++] = (mshard_field){.name = MSHI_KEY_FIELD,
                                                       .dtype = MSHARD_UINT8,
                                                       .content = MSHARD_CONTENT_TEXT,
                                                       .flags = MSHARD_FIELD_AUX,
                                                       .ndim = 1,
                                                       .shape = {MSHARD_DIM_UNKNOWN}};
    return MSHARD_OK;
}

mshard_status mshi_plan_fields(struct mshi_plan *plan, struct mshi_pack_run *run, mshard_error *err)
{
    const struct mshi_source *source = plan->source;
    const mshard_pack_options *o = plan->options;
    bool images = false, fixed_numbers = true;

    for (uint32_t f = 0; f < source->field_count; f++) {
        images = images || source->fields[f].kind == MSHI_PART_IMAGE;
        fixed_numbers =
            fixed_numbers && source->fields[f].kind != MSHI_PART_IMAGE && source->fields[f].kind != MSHI_PART_BYTES;
    }
    MSHI_TRY(check_image_options(o, images, err));
    MSHI_TRY(check_dtype_names(o, source, err));
    if (o->shuffle && !source->random_access)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "--shuffle: inputs of kind %s can only be read in order; unpack them first", source->kind);
    plan->value_count = plan->field_count = source->field_count;
    for (uint32_t f = 0; f < source->field_count; f++)
        MSHI_TRY(set_field(plan, run, f, err));
    plan->runs = fixed_numbers && source->ops->read_run != NULL && !o->shuffle;
    plan->rule = (struct mshi_image_rule){.resize = o->resize,
                                          .resize_width = o->resize_width,
                                          .resize_height = o->resize_height,
                                          .crop_width = o->crop_width,
                                          .crop_height = o->crop_height,
                                          .gray = o->gray != 0,
                                          .max_pixels = o->max_pixels};
    return add_key(plan, err);
}
