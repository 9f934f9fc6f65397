/* pack_commit.h - the end of a pack: key index, skipped.jsonl, dataset.json */
#ifndef MSHI_INGEST_PACK_COMMIT_H
#define MSHI_INGEST_PACK_COMMIT_H

#include "ingest/shard_stage.h"

/* All shards are published. Makes the data set visible and fills run->result->id. */
mshard_status mshi_pack_commit(struct mshi_pack_run *run, const struct mshi_plan *plan, struct mshi_shard_stage *stage,
                               struct mshi_publish *publish, mshard_error *err);

#endif
