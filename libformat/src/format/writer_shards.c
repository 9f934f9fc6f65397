/*
 * writer_shards.c - make a data set from values in memory: shards begin and end
 *
 * A full shard is sealed (synced, read back, compared) by a thread while the next one fills: bench_pack_arrays took
 * 1.25 s with it and 1.35 s without (medians of 10 alternating runs on two CPUs with other work; best 0.79 and 0.91).
 * One at most is under way, so memory is that of two shard writers. The thread has the shard alone until it is
 * joined; listing and merging happen on the caller's thread, in shard order.
 */
#include "format/writer_internal.h"

#include "base/alloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

mshard_status mshi_writer_start_shard(mshard_writer *w, mshard_error *err)
{
    const struct mshi_shard_options options = {.fs = w->fs,
                                               .align = w->options.align,
                                               .sync = w->options.no_sync == 0,
                                               .held_max = w->held_max,
                                               .stats = true};
    char *temp;
    mshard_status status;

    if (w->shards_begun >= MSHARD_MAX_SHARDS)
        return mshi_fail(err, MSHARD_E_LIMIT, w->publish.target, MSHARD_NO_OFFSET,
                         "a data set can have %" PRIu64 " shards at most: make them larger", MSHARD_MAX_SHARDS);
    free(w->shard_path);
    MSHI_TRY(mshi_publish_shard_paths(&w->publish, w->shards_begun, &temp, &w->shard_path, err));
    status = mshi_shard_writer_new(temp, w->fields, w->field_count, &options, &w->shard, err);
    free(temp);
    if (status == MSHARD_OK)
        w->shards_begun++;
    w->shard_bytes = 0;
    return status;
}

static void *seal(void *argument)
{
    struct mshi_sealing *s = argument;

    s->status = mshi_shard_writer_seal(s->shard, &s->result, &s->error);
    if (s->status == MSHARD_OK)
        s->status = mshi_shard_writer_publish(s->shard, s->path, &s->error);
    return NULL;
}

static mshard_status list_shard(mshard_writer *w, const struct mshi_sealing *s, mshard_error *err)
{
    struct mshi_manifest_shard *listed;

    if (s->status != MSHARD_OK) {
        if (err != NULL)
            *err = s->error;
        return s->status;
    }
    MSHI_TRY(mshi_grow(&w->shards, &w->shard_capacity, w->shard_count + 1, sizeof(w->shards[0]), err));
    listed = &w->shards[w->shard_count];
    *listed = (struct mshi_manifest_shard){
        .records = s->result.records, .size = s->result.size, .header_sum = s->result.header_sum};
    MSHI_TRY(mshi_strdup(strrchr(s->path, '/') + 1, &listed->name, err));
    w->shard_count++;
    for (uint32_t f = 0; f < w->value_count; f++)
        MSHI_TRY(mshi_stats_merge(w->stats[f], mshi_shard_writer_stats(s->shard, f), err));
    return MSHARD_OK;
}

static void join(struct mshi_sealing *s)
{
    if (s->threaded)
        mshi_thread_join(s->thread);
    s->threaded = false;
}

static void forget(struct mshi_sealing *s)
{
    mshi_shard_writer_free(s->shard);
    free(s->path);
    s->shard = NULL;
    s->path = NULL;
}

mshard_status mshi_writer_settle(mshard_writer *w, mshard_error *err)
{
    struct mshi_sealing *s = &w->sealing;
    mshard_status status = MSHARD_OK;

    join(s);
    if (s->shard != NULL)
        status = list_shard(w, s, err);
    forget(s);
    return status;
}

mshard_status mshi_writer_finish_shard(mshard_writer *w, mshard_error *err)
{
    struct mshi_sealing *s = &w->sealing;
    const bool large = w->shard != NULL && mshi_shard_writer_bytes(w->shard) >= w->background_min;

    MSHI_TRY(mshi_writer_settle(w, err));
    if (w->shard != NULL && mshi_shard_writer_count(w->shard) == 0) { /* begun for a record that was refused */
        mshi_shard_writer_free(w->shard);
        w->shard = NULL;
    }
    if (w->shard == NULL)
        return MSHARD_OK;
    s->shard = w->shard;
    s->path = w->shard_path;
    w->shard = NULL;
    w->shard_path = NULL;
    s->threaded = large && mshi_thread_start(&s->thread, seal, s, "mshard-seal", NULL) == MSHARD_OK;
    if (s->threaded)
        return MSHARD_OK;
    (void)seal(s); /* small, or no thread to be had */
    return mshi_writer_settle(w, err);
}

void mshi_writer_drop_shards(mshard_writer *w)
{
    join(&w->sealing);
    forget(&w->sealing);
    mshi_shard_writer_free(w->shard);
    for (uint64_t i = 0; i < w->shard_count; i++)
        free(w->shards[i].name);
    free(w->shards);
    free(w->shard_path);
}
