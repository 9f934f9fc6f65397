/*
 * pack_commit.c - the end of a pack: key index, skipped.jsonl, dataset.json
 *
 * dataset.json tells what shaped the bytes and nothing else: no path, no date, no number of jobs.
 */
#include "ingest/pack_commit.h"

#include "base/alloc.h"
#include "format/key_index.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

static mshard_status build_keys(const struct mshi_pack_run *run, const struct mshi_plan *plan,
                                const struct mshi_shard_stage *stage, const struct mshi_publish *publish,
                                struct mshi_manifest_keys *keys, mshard_error *err)
{
    struct mshi_key *list;
    char *path = NULL;
    mshard_status status;

    MSHI_TRY(mshi_alloc(stage->records, sizeof *list, &list, err));
    for (uint64_t r = 0; r < stage->records; r++) {
        struct mshi_item item = {.key = NULL};

        plan->source->ops->item(plan->source, stage->items[r], &item);
        list[r] = (struct mshi_key){.data = item.key, .size = strlen(item.key), .record = r};
    }
    status = mshi_path_join(publish->folder, "keys.mdb", &path, err);
    if (status == MSHARD_OK)
        status =
            mshi_key_index_build(path, list, stage->records, run->options.no_sync == 0, &keys->size, keys->hash, err);
    free(path);
    free(list);
    if (status != MSHARD_OK)
        return status;
    keys->present = true;
    keys->count = stage->records;
    return mshi_strdup("keys.mdb", &keys->file, err);
}

/* ---- source and options ---- */

static void describe_source(const struct mshi_pack_run *run, const struct mshi_plan *plan, struct mshi_buf *json)
{
    const mshard_pack_result *r = run->result;

    mshi_buf_printf(json,
                    "{\"kind\": \"%s\", \"inputs\": %" PRIu64 ", \"skipped\": %" PRIu64 ", \"ignored\": %" PRIu64
                    ", \"duplicates\": %" PRIu64 "}",
                    plan->source->kind, r->inputs, r->skipped, r->ignored, r->duplicates);
}

static void name_option(struct mshi_buf *json, const char *name)
{
    mshi_buf_printf(json, "%s\"%s\": ", json->size > 1 ? ", " : "", name);
}

static void add_number(struct mshi_buf *json, const char *name, uint64_t value)
{
    if (value == 0)
        return;
    name_option(json, name);
    mshi_buf_printf(json, "%" PRIu64, value);
}

static void add_size(struct mshi_buf *json, const char *name, uint64_t width, uint64_t height)
{
    if (width == 0)
        return;
    name_option(json, name);
    mshi_buf_printf(json, "[%" PRIu64 ", %" PRIu64 "]", width, height);
}

static void add_flag(struct mshi_buf *json, const char *name, uint32_t value)
{
    if (value == 0)
        return;
    name_option(json, name);
    mshi_buf_text(json, "true");
}

static void add_dtypes(struct mshi_buf *json, const mshard_pack_options *o)
{
    if (o->dtypes == NULL || o->dtypes[0] == NULL)
        return;
    name_option(json, "dtype");
    for (size_t i = 0; o->dtypes[i] != NULL; i++) {
        mshi_buf_text(json, i > 0 ? ", " : "[");
        mshi_buf_json_string(json, o->dtypes[i], strlen(o->dtypes[i]));
    }
    mshi_buf_text(json, "]");
}

static void describe_options(const mshard_pack_options *given, struct mshi_buf *json)
{
    mshi_buf_text(json, "{");
    add_number(json, "resize", given->resize);
    add_size(json, "resize", given->resize_width, given->resize_height);
    add_size(json, "crop", given->crop_width, given->crop_height);
    add_flag(json, "gray", given->gray);
    add_flag(json, "encoded", given->encoded);
    add_flag(json, "variable", given->variable);
    add_dtypes(json, given);
    add_number(json, "shards", given->shards);
    add_number(json, "shard_size", given->shard_size == MSHI_SHARD_SIZE ? 0 : given->shard_size);
    add_number(json, "align", given->align);
    if (given->shuffle) {
        name_option(json, "shuffle");
        mshi_buf_printf(json, "%" PRIu64, given->shuffle_seed);
    }
    add_flag(json, "keys", given->keys);
    if (given->on_overflow != MSHARD_ON_OVERFLOW_ERROR) {
        name_option(json, "on_overflow");
        mshi_buf_text(json, given->on_overflow == MSHARD_ON_OVERFLOW_CLAMP ? "\"clamp\"" : "\"inf\"");
    }
    mshi_buf_text(json, "}");
}

/* ---- the manifest ---- */

struct parts {
    mshard_stats figures[MSHARD_MAX_FIELDS];
    mshard_stats *stats[MSHARD_MAX_FIELDS];
    char **classes[MSHARD_MAX_FIELDS];
    uint64_t class_count[MSHARD_MAX_FIELDS];
    uint64_t *counts; /* of the label field, a number for each class */
    struct mshi_buf source, options;
};

/* Classes that no record has count 0, also behind the last that some record has. */
static mshard_status complete_counts(struct parts *parts, uint32_t f, mshard_error *err)
{
    mshard_stats *figures = &parts->figures[f];

    if (figures->counts == NULL || figures->count_length >= parts->class_count[f] || parts->counts != NULL)
        return MSHARD_OK;
    MSHI_TRY(mshi_alloc(parts->class_count[f], sizeof parts->counts[0], &parts->counts, err));
    memcpy(parts->counts, figures->counts, (size_t)figures->count_length * sizeof parts->counts[0]);
    figures->counts = parts->counts;
    figures->count_length = parts->class_count[f];
    return MSHARD_OK;
}

static mshard_status collect(struct parts *parts, const struct mshi_plan *plan, const struct mshi_shard_stage *stage,
                             mshard_error *err)
{
    bool named = false;

    for (uint32_t f = 0; f < plan->value_count; f++) {
        if (plan->parts[f].kind == MSHI_PART_LABEL && plan->source->class_count > 0 && !named) {
            named = true; /* classes are those of the first label field */
            parts->classes[f] = plan->source->classes;
            parts->class_count[f] = plan->source->class_count;
        }
        if (stage->records == 0)
            continue;
        mshi_stats_result(stage->stats[f], &parts->figures[f]);
        parts->stats[f] = &parts->figures[f];
        MSHI_TRY(complete_counts(parts, f, err));
    }
    return MSHARD_OK;
}

static mshard_status commit(struct mshi_pack_run *run, const struct mshi_plan *plan, struct mshi_shard_stage *stage,
                            struct mshi_publish *publish, struct parts *parts, mshard_error *err)
{
    struct mshi_manifest m = {.generation = 1, /* borrows everything: not cleared */
                              .records = stage->records,
                              .fields = (mshard_field *)(uintptr_t)plan->fields,
                              .field_count = plan->field_count,
                              .shards = stage->shards,
                              .shard_count = stage->shards_done,
                              .classes = parts->classes,
                              .class_count = parts->class_count,
                              .stats = parts->stats};
    mshard_status status = collect(parts, plan, stage, err);

    describe_source(run, plan, &parts->source);
    describe_options(&run->options, &parts->options);
    if (status == MSHARD_OK)
        status = mshi_buf_status(&parts->source, err);
    if (status == MSHARD_OK)
        status = mshi_buf_status(&parts->options, err);
    if (status == MSHARD_OK && run->options.keys)
        status = build_keys(run, plan, stage, publish, &m.keys, err);
    if (status == MSHARD_OK)
        status = mshi_skipped_write(&run->skipped, publish->fs, publish->folder, publish->sync, err);
    m.source_json = parts->source.data;
    m.options_json = parts->options.data;
    if (status == MSHARD_OK)
        status = mshi_publish_commit(publish, &m, err);
    if (status == MSHARD_OK)
        memcpy(run->result->id, m.id, sizeof run->result->id);
    free(m.keys.file);
    return status;
}

mshard_status mshi_pack_commit(struct mshi_pack_run *run, const struct mshi_plan *plan, struct mshi_shard_stage *stage,
                               struct mshi_publish *publish, mshard_error *err)
{
    struct parts *parts;
    mshard_status status;

    MSHI_TRY(mshi_alloc(1, sizeof *parts, &parts, err));
    status = commit(run, plan, stage, publish, parts, err);
    free(parts->counts);
    mshi_buf_clear(&parts->source);
    mshi_buf_clear(&parts->options);
    free(parts);
    return status;
}
