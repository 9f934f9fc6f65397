/*
 * pack_memory.c - how much memory a pack may take
 *
 * Each term names what it stands for; all are upper bounds from the plan and the options. What grows with the
 * number of records is small: names, keys and 8 bytes for counting duplicates.
 */
#include "ingest/pack_memory.h"

#include "ingest/pipeline.h"

#define MIB (UINT64_C(1) << 20)

uint64_t mshi_pack_gate_budget(uint32_t jobs)
{
    return (jobs < 2 ? 2 : jobs) * 64 * MIB;
}

uint64_t mshi_pack_fixed_memory(const struct mshi_plan *plan, uint32_t jobs)
{
    const uint64_t units = mshi_pipeline_units(plan, jobs), count = plan->source->count;
    const uint64_t file = plan->largest_item > MSHI_UNIT_BYTES ? plan->largest_item : MSHI_UNIT_BYTES;
    const bool reads_files = plan->decodes || plan->variable;
    uint64_t bytes = 64 * MIB; /* the process and its libraries */

    bytes += plan->listing_bytes;
    bytes += units * (mshi_plan_unit_bytes(plan) + mshi_plan_unit_records(plan) * (plan->run_bytes + 16));
    if (reads_files) /* files held while they are decoded; a source that is read in order reads ahead */
        bytes += (plan->source->random_access ? jobs : units) * file + plan->lookahead.count * file;
    if (plan->decodes) /* scratch, and what the allocator keeps of freed images */
        bytes += (uint64_t)jobs * 40 * MIB;
    bytes += 2 * ((uint64_t)plan->field_count * 8 * MIB + 4 * MIB); /* one shard being written, one being sealed */
    bytes += count * 16;                                            /* content hashes, in an array that grows by half */
    if (plan->field_count != plan->value_count)
        bytes += count * 48; /* keys for the index */
    return bytes;
}
