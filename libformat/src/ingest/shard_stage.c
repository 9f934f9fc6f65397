/*
 * shard_stage.c - filled units into shards: appending, sealing, publishing
 *
 * Shard numbers are those of the plan. A shard whose inputs were all left out is written with no records, so that
 * the names of the others do not depend on it.
 */
#include "ingest/shard_stage.h"

#include "base/alloc.h"
#include "os/thread.h"
#include <stdlib.h>
#include <string.h>

struct mshi_seal {
    mshi_thread thread;
    struct mshi_shard_writer *writer;
    char *final_path;
    struct mshi_shard_result result;
    mshard_status status;
    mshard_error error;
};

mshard_status mshi_shard_stage_init(struct mshi_shard_stage *stage, const struct mshi_plan *plan,
                                    const struct mshi_publish *publish, mshard_error *err)
{
    *stage = (struct mshi_shard_stage){.plan = plan, .publish = publish};
    MSHI_TRY(mshi_alloc(plan->shard_count, sizeof stage->shards[0], &stage->shards, err));
    for (uint32_t f = 0; f < plan->value_count; f++)
        MSHI_TRY(mshi_stats_new(&plan->fields[f], &stage->stats[f], err));
    return MSHARD_OK;
}

/* ---- sealing ---- */

static void *seal_shard(void *argument)
{
    struct mshi_seal *s = argument;

    s->status = mshi_shard_writer_seal(s->writer, &s->result, &s->error);
    if (s->status == MSHARD_OK)
        s->status = mshi_shard_writer_publish(s->writer, s->final_path, &s->error);
    return NULL;
}

static void free_seal(struct mshi_seal *s)
{
    mshi_shard_writer_free(s->writer);
    free(s->final_path);
    free(s);
}

/* Wait for the shard that is being sealed and take its figures. */
static mshard_status end_seal(struct mshi_shard_stage *stage, mshard_error *err)
{
    struct mshi_seal *s = stage->seal;
    mshard_status status;

    if (s == NULL)
        return MSHARD_OK;
    stage->seal = NULL;
    mshi_thread_join(s->thread);
    status = s->status;
    if (status != MSHARD_OK)
        *err = s->error;
    for (uint32_t f = 0; f < stage->plan->value_count && status == MSHARD_OK; f++)
        status = mshi_stats_merge(stage->stats[f], mshi_shard_writer_stats(s->writer, f), err);
    if (status == MSHARD_OK) {
        struct mshi_manifest_shard *shard = &stage->shards[stage->shards_done];
        const char *slash = strrchr(s->final_path, '/');

        status = mshi_strdup(slash != NULL ? slash + 1 : s->final_path, &shard->name, err);
        shard->records = s->result.records;
        shard->size = s->result.size;
        shard->header_sum = s->result.header_sum;
        stage->shards_done++;
        stage->records += s->result.records;
        stage->check_ns += s->result.check_ns;
        stage->bytes += mshi_shard_writer_bytes(s->writer);
    }
    free_seal(s);
    return status;
}

static mshard_status begin_seal(struct mshi_shard_stage *stage, mshard_error *err)
{
    struct mshi_seal *s;
    char *temp = NULL;
    mshard_status status;

    MSHI_TRY(end_seal(stage, err));
    MSHI_TRY(mshi_alloc(1, sizeof *s, &s, err));
    s->writer = stage->writer;
    stage->writer = NULL;
    status = mshi_publish_shard_paths(stage->publish, stage->shard, &temp, &s->final_path, err);
    free(temp);
    if (status == MSHARD_OK)
        status = mshi_thread_start(&s->thread, seal_shard, s, "pack-seal", err);
    if (status != MSHARD_OK) {
        free_seal(s);
        return status;
    }
    stage->seal = s;
    return MSHARD_OK;
}

/* ---- appending ---- */

static mshard_status begin_shard(struct mshi_shard_stage *stage, uint64_t shard, mshard_error *err)
{
    const struct mshi_shard_options options = {.fs = stage->publish->fs,
                                               .align = stage->plan->options->align,
                                               .sync = stage->publish->sync,
                                               .drop = stage->publish->sync};
    char *temp = NULL, *final_path = NULL;
    mshard_status status = mshi_publish_shard_paths(stage->publish, shard, &temp, &final_path, err);

    if (status == MSHARD_OK)
        status =
            mshi_shard_writer_new(temp, stage->plan->fields, stage->plan->field_count, &options, &stage->writer, err);
    stage->shard = shard;
    free(temp);
    free(final_path);
    return status;
}

static mshard_status append_one(struct mshi_shard_stage *stage, const struct mshi_unit *unit, uint64_t r,
                                mshard_error *err)
{
    const struct mshi_plan *plan = stage->plan;
    mshard_value values[MSHARD_MAX_FIELDS];
    struct mshi_item item = {.key = NULL};
    uint32_t f;

    for (f = 0; f < plan->value_count; f++) {
        uint64_t size;
        const uint64_t *shape;
        const uint8_t *data = mshi_unit_value(unit, plan, f, r, &size, &shape);

        values[f] = (mshard_value){.data = data, .size = (size_t)size, .shape = shape};
    }
    if (f < plan->field_count) {
        plan->source->ops->item(plan->source, unit->items[r], &item);
        values[f] = (mshard_value){.data = item.key, .size = strlen(item.key)};
    }
    return mshi_shard_writer_append(stage->writer, values, err);
}

static mshard_status append(struct mshi_shard_stage *stage, const struct mshi_unit *unit, mshard_error *err)
{
    const struct mshi_plan *plan = stage->plan;
    const void *data[MSHARD_MAX_FIELDS];

    if (plan->variable || plan->field_count != plan->value_count) {
        for (uint64_t r = 0; r < unit->records; r++)
            MSHI_TRY(append_one(stage, unit, r, err));
        return MSHARD_OK;
    }
    for (uint32_t f = 0; f < plan->value_count; f++) {
        uint64_t size;
        const uint64_t *shape;

        data[f] = mshi_unit_value(unit, plan, f, 0, &size, &shape);
    }
    return unit->records > 0 ? mshi_shard_writer_append_batch(stage->writer, data, unit->records, err) : MSHARD_OK;
}

static mshard_status keep_items(struct mshi_shard_stage *stage, const struct mshi_unit *unit, uint64_t before,
                                mshard_error *err)
{
    if (stage->plan->field_count == stage->plan->value_count || unit->records == 0)
        return MSHARD_OK;
    MSHI_TRY(mshi_grow(&stage->items, &stage->items_capacity, before + unit->records, sizeof stage->items[0], err));
    memcpy(stage->items + before, unit->items, (size_t)unit->records * sizeof unit->items[0]);
    return MSHARD_OK;
}

/* Records in shards before the one being written: those sealed, and the one being sealed. */
static uint64_t records_before(const struct mshi_shard_stage *stage)
{
    return stage->records + (stage->seal != NULL ? mshi_shard_writer_count(stage->seal->writer) : 0);
}

mshard_status mshi_shard_stage_add(struct mshi_shard_stage *stage, const struct mshi_unit *unit, mshard_error *err)
{
    if (stage->writer == NULL)
        MSHI_TRY(begin_shard(stage, unit->shard, err));
    MSHI_TRY(keep_items(stage, unit, records_before(stage) + mshi_shard_writer_count(stage->writer), err));
    MSHI_TRY(append(stage, unit, err));
    for (uint32_t f = 0; f < stage->plan->value_count; f++)
        MSHI_TRY(mshi_stats_merge(mshi_shard_writer_stats(stage->writer, f), unit->stats[f], err));
    return unit->end == stage->plan->shard_ends[unit->shard] ? begin_seal(stage, err) : MSHARD_OK;
}

mshard_status mshi_shard_stage_finish(struct mshi_shard_stage *stage, mshard_error *err)
{
    return end_seal(stage, err);
}

uint64_t mshi_shard_stage_bytes(const struct mshi_shard_stage *stage)
{
    return stage->bytes + (stage->seal != NULL ? mshi_shard_writer_bytes(stage->seal->writer) : 0) +
           (stage->writer != NULL ? mshi_shard_writer_bytes(stage->writer) : 0);
}

void mshi_shard_stage_clear(struct mshi_shard_stage *stage)
{
    mshard_error ignored;

    if (end_seal(stage, &ignored) != MSHARD_OK) {
        /* nothing to add: the pack has failed already */
    }
    mshi_shard_writer_free(stage->writer);
    for (uint64_t i = 0; i < stage->shards_done; i++)
        free(stage->shards[i].name);
    free(stage->shards);
    for (uint32_t f = 0; f < MSHARD_MAX_FIELDS; f++)
        mshi_stats_free(stage->stats[f]);
    free(stage->items);
    *stage = (struct mshi_shard_stage){.plan = NULL};
}
