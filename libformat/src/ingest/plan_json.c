/*
 * plan_json.c - what would be packed, as JSON
 *
 * Members: kind, inputs, skipped, failed, ignored, classes, fields, sampled sizes, shards, bytes, memory_limit, jobs,
 * estimated_seconds (of decoding; absent where no image is decoded or none could be).
 */
#include "ingest/plan_json.h"

#include "base/alloc.h"
#include "os/clock.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 32
#define TIMED_NS UINT64_C(1000000000) /* enough decoding for an estimate */

struct sampling {
    uint64_t width[SAMPLES], height[SAMPLES], times[SAMPLES]; /* distinct sizes */
    uint32_t sizes;
    uint64_t looked, bad;
    uint64_t decoded, decode_ns;
};

/* ---- classes ---- */

struct class_figures {
    uint64_t count;
    uint64_t samples[2]; /* items */
};

static void add_class(struct mshi_buf *json, const struct mshi_plan *plan, const struct class_figures *figures,
                      uint64_t c, bool counted)
{
    const char *name = plan->source->classes[c];

    mshi_buf_text(json, c > 0 ? ", {\"name\": " : "{\"name\": ");
    mshi_buf_json_string(json, name, strlen(name));
    if (counted)
        mshi_buf_printf(json, ", \"count\": %" PRIu64 ", \"samples\": [", figures[c].count);
    for (uint64_t i = 0; counted && i < figures[c].count && i < 2; i++) {
        struct mshi_item item = {.name = ""};

        plan->source->ops->item(plan->source, figures[c].samples[i], &item);
        mshi_buf_text(json, i > 0 ? ", " : "");
        mshi_buf_json_string(json, item.name, strlen(item.name));
    }
    mshi_buf_text(json, counted ? "]}" : "}");
}

static mshard_status add_classes(struct mshi_buf *json, const struct mshi_plan *plan, mshard_error *err)
{
    const uint64_t classes = plan->source->class_count;
    struct class_figures *figures;
    bool counted = false;

    if (classes == 0)
        return MSHARD_OK;
    MSHI_TRY(mshi_alloc(classes, sizeof *figures, &figures, err));
    for (uint64_t i = 0; i < plan->source->count; i++) {
        struct mshi_item item = {.class_plus = 0};

        plan->source->ops->item(plan->source, i, &item);
        if (item.class_plus == 0 || item.class_plus > classes)
            continue;

        struct class_figures *f = &figures[item.class_plus - 1];

        counted = true;
        if (f->count < 2)
            f->samples[f->count] = i;
        f->count++;
    }
    mshi_buf_text(json, ", \"classes\": [");
    for (uint64_t c = 0; c < classes; c++)
        add_class(json, plan, figures, c, counted);
    mshi_buf_text(json, "]");
    free(figures);
    return MSHARD_OK;
}

/* ---- samples ---- */

static void note_size(struct sampling *s, uint64_t width, uint64_t height)
{
    uint32_t i = 0;

    while (i < s->sizes && (s->width[i] != width || s->height[i] != height))
        i++;
    if (i == SAMPLES)
        return;
    if (i == s->sizes) {
        s->width[i] = width;
        s->height[i] = height;
        s->sizes++;
    }
    s->times[i]++;
}

static void look_at(struct sampling *s, const struct mshi_plan *plan, const struct mshi_payload *payload,
                    struct mshi_image *image)
{
    const uint64_t began = mshi_clock_ns();
    bool bad = false;

    for (uint32_t f = 0; f < plan->value_count; f++) {
        uint64_t width, height;
        mshard_status status;

        if (plan->parts[f].kind != MSHI_PART_IMAGE)
            continue;
        status = mshi_image_probe(payload->data[f], payload->size[f], &plan->rule, &width, &height, NULL);
        if (status == MSHARD_OK && s->decode_ns < TIMED_NS)
            status = mshi_image_decode(payload->data[f], payload->size[f], &plan->rule, image, NULL);
        if (status == MSHARD_OK)
            note_size(s, width, height);
        bad = bad || status != MSHARD_OK;
    }
    if (!bad && s->decode_ns < TIMED_NS) {
        s->decoded++;
        s->decode_ns += mshi_clock_ns() - began;
    }
    s->bad += bad;
    s->looked++;
}

static void sample(struct sampling *s, const struct mshi_plan *plan)
{
    const uint64_t count = plan->source->count, n = count < SAMPLES ? count : SAMPLES;
    const struct mshi_lookahead *look = &plan->lookahead;
    struct mshi_payload payload = {.buffer = NULL};
    struct mshi_image image = {.pixels = NULL};

    if (!plan->decodes)
        return;
    for (uint64_t i = 0; i < n && plan->source->random_access; i++) {
        const uint64_t item = (uint64_t)((unsigned __int128)i * count / n);

        if (plan->source->ops->read(plan->source, item, &payload, NULL) == MSHARD_OK) {
            look_at(s, plan, &payload, &image);
        } else {
            s->looked++;
            s->bad++;
        }
    }
    for (uint64_t i = 0; i < look->count && !plan->source->random_access; i++)
        if (look->statuses[i] == MSHARD_OK)
            look_at(s, plan, &look->payloads[i], &image);
    mshi_payload_clear(&payload);
    free(image.pixels);
}

static void add_samples(struct mshi_buf *json, const struct mshi_plan *plan, const struct mshi_pack_run *run)
{
    struct sampling s = {.sizes = 0};

    sample(&s, plan);
    if (!plan->decodes)
        return;
    mshi_buf_printf(json, ", \"sampled\": %" PRIu64 ", \"sampled_bad\": %" PRIu64 ", \"sizes\": [", s.looked, s.bad);
    for (uint32_t i = 0; i < s.sizes; i++)
        mshi_buf_printf(json, "%s{\"width\": %" PRIu64 ", \"height\": %" PRIu64 ", \"count\": %" PRIu64 "}",
                        i > 0 ? ", " : "", s.width[i], s.height[i], s.times[i]);
    mshi_buf_text(json, "]");
    if (s.decoded == 0)
        return;
    mshi_buf_text(json, ", \"estimated_seconds\": ");
    mshi_buf_json_double(json, (double)(s.decode_ns / 1000000 * plan->source->count / s.decoded / run->options.jobs) /
                                   1000.0);
}

/* ---- the rest ---- */

static void add_field(struct mshi_buf *json, const mshard_field *field, bool first)
{
    mshi_buf_text(json, first ? "{\"name\": " : ", {\"name\": ");
    mshi_buf_json_string(json, field->name, strlen(field->name));
    mshi_buf_printf(json, ", \"dtype\": \"%s\", \"shape\": [", mshard_dtype_name(field->dtype));
    for (uint32_t d = 0; d < field->ndim; d++) {
        mshi_buf_text(json, d > 0 ? ", " : "");
        if (field->shape[d] == MSHARD_DIM_UNKNOWN)
            mshi_buf_text(json, "null");
        else
            mshi_buf_printf(json, "%" PRIu64, field->shape[d]);
    }
    mshi_buf_printf(json, "], \"content\": \"%s\"}", mshard_content_name(field->content));
}

mshard_status mshi_plan_json(const struct mshi_plan *plan, const struct mshi_pack_run *run, char **text,
                             mshard_error *err)
{
    const mshard_pack_result *r = run->result;
    struct mshi_buf json = {.data = NULL};
    mshard_status status;

    mshi_buf_printf(&json,
                    "{\"kind\": \"%s\", \"inputs\": %" PRIu64 ", \"skipped\": %" PRIu64 ", \"failed\": %" PRIu64
                    ", \"ignored\": %" PRIu64,
                    plan->source->kind, r->inputs, r->skipped, r->failed, r->ignored);
    status = add_classes(&json, plan, err);
    mshi_buf_text(&json, ", \"fields\": [");
    for (uint32_t f = 0; f < plan->field_count; f++)
        add_field(&json, &plan->fields[f], f == 0);
    mshi_buf_text(&json, "]");
    add_samples(&json, plan, run);
    mshi_buf_printf(&json,
                    ", \"shards\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"memory_limit\": %" PRIu64
                    ", \"jobs\": %" PRIu32 "}",
                    plan->shard_count, plan->estimated_bytes, r->memory_limit, run->options.jobs);
    if (status == MSHARD_OK)
        status = mshi_buf_status(&json, err);
    if (status != MSHARD_OK) {
        mshi_buf_clear(&json);
        return status;
    }
    *text = json.data;
    return MSHARD_OK;
}
