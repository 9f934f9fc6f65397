/* duplicates.c - how many records hold what an earlier one holds; see duplicates.h */
#include "ingest/duplicates.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

mshard_status mshi_duplicates_add(struct mshi_duplicates *d, const uint64_t *hashes, uint64_t n, mshard_error *err)
{
    if (n == 0)
        return MSHARD_OK;
    MSHI_TRY(mshi_grow(&d->hashes, &d->capacity, d->count + n, sizeof d->hashes[0], err));
    memcpy(d->hashes + d->count, hashes, (size_t)n * sizeof hashes[0]);
    d->count += n;
    return MSHARD_OK;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

uint64_t mshi_duplicates_count(struct mshi_duplicates *d)
{
    uint64_t equal = 0;

    if (d->count < 2)
        return 0;
    qsort(d->hashes, (size_t)d->count, sizeof d->hashes[0], compare);
    for (uint64_t i = 1; i < d->count; i++)
        equal += d->hashes[i] == d->hashes[i - 1];
    return equal;
}

void mshi_duplicates_clear(struct mshi_duplicates *d)
{
    free(d->hashes);
    *d = (struct mshi_duplicates){.hashes = NULL};
}
