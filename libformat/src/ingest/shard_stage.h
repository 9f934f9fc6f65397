/*
 * shard_stage.h - filled units into shards: appending, sealing, publishing
 *
 * Called in order by one thread. The shard that is complete is sealed, checked and published by a thread of its own
 * while the next one is written.
 */
#ifndef MSHI_INGEST_SHARD_STAGE_H
#define MSHI_INGEST_SHARD_STAGE_H

#include "format/publish.h"
#include "format/shard_writer.h"
#include "ingest/unit.h"

struct mshi_seal; /* the shard that is being sealed */

struct mshi_shard_stage {
    const struct mshi_plan *plan;
    const struct mshi_publish *publish;
    struct mshi_shard_writer *writer; /* of the shard that is being written; NULL: none */
    uint64_t shard;                   /* its number */
    struct mshi_seal *seal;
    struct mshi_manifest_shard *shards; /* published ones */
    uint64_t shards_done;
    uint64_t records;
    uint64_t bytes;                              /* of values in shards that are done */
    uint64_t check_ns;                           /* of reading their shards back */
    struct mshi_stats *stats[MSHARD_MAX_FIELDS]; /* of all shards that are done */
    uint64_t *items;                             /* with keys: item of each record */
    uint64_t items_capacity;
};

mshard_status mshi_shard_stage_init(struct mshi_shard_stage *stage, const struct mshi_plan *plan,
                                    const struct mshi_publish *publish, mshard_error *err);
mshard_status mshi_shard_stage_add(struct mshi_shard_stage *stage, const struct mshi_unit *unit, mshard_error *err);
/* All units are there: wait for the last shards. */
mshard_status mshi_shard_stage_finish(struct mshi_shard_stage *stage, mshard_error *err);
/* Bytes of values so far. */
uint64_t mshi_shard_stage_bytes(const struct mshi_shard_stage *stage);
/* Unfinished shards are dropped. */
void mshi_shard_stage_clear(struct mshi_shard_stage *stage);

#endif
