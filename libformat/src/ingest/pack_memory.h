/*
 * pack_memory.h - how much memory a pack may take, known before it starts (docs/packing.md, "How a pack runs")
 */
#ifndef MSHI_INGEST_PACK_MEMORY_H
#define MSHI_INGEST_PACK_MEMORY_H

#include "ingest/plan.h"

/* Bytes that decoding images may hold at once; one larger image more is let through when it is its turn. */
uint64_t mshi_pack_gate_budget(uint32_t jobs);

/* Everything else: process, listing, units on their way, readers, shards being written, figures a record. */
uint64_t mshi_pack_fixed_memory(const struct mshi_plan *plan, uint32_t jobs);

#endif
