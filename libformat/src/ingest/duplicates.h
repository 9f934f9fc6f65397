/*
 * duplicates.h - how many records hold what an earlier one holds
 *
 * A record's content is all its values as stored, labels and keys left out, reduced to an XXH3-64. Costs 8 bytes a
 * record until the end of the pack; two different records count as equal with a chance of about n^2 / 2^65.
 */
#ifndef MSHI_INGEST_DUPLICATES_H
#define MSHI_INGEST_DUPLICATES_H

#include "base/fail.h"
#include <stdint.h>

struct mshi_duplicates {
    uint64_t *hashes;
    uint64_t count, capacity;
};

mshard_status mshi_duplicates_add(struct mshi_duplicates *d, const uint64_t *hashes, uint64_t n, mshard_error *err);
/* Records that equal an earlier one. Sorts. */
uint64_t mshi_duplicates_count(struct mshi_duplicates *d);
void mshi_duplicates_clear(struct mshi_duplicates *d);

#endif
