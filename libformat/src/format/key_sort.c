/*
 * key_sort.c - keys in the order of the index
 *
 * Equal keys sort by record number, so the pair that an error names is the same in every run.
 */
#include "format/key_sort.h"

#include "base/buf.h"

#include <inttypes.h>
#include <mshard/types.h>
#include <stdlib.h>
#include <string.h>

char *mshi_key_text(const void *key, size_t size)
{
    struct mshi_buf text = {.data = NULL};

    mshi_buf_json_string(&text, key, size);
    if (text.failed)
        mshi_buf_clear(&text);
    return text.data;
}

/* LMDB's own order: bytes, then the shorter first. */
static int compare_bytes(const struct mshi_key *a, const struct mshi_key *b)
{
    const size_t common = a->size < b->size ? a->size : b->size;
    const int order = memcmp(a->data, b->data, common);

    return order ? order : (a->size > b->size) - (a->size < b->size);
}

static int compare_keys(const void *a, const void *b)
{
    const struct mshi_key *const x = a, *const y = b;
    const int order = compare_bytes(x, y);

    return order ? order : (x->record > y->record) - (x->record < y->record);
}

mshard_status mshi_key_sort(const char *path, struct mshi_key *keys, uint64_t n, mshard_error *err)
{
    for (uint64_t i = 0; i < n; i++)
        if (keys[i].size < 1 || keys[i].size > MSHARD_MAX_KEY)
            return mshi_fail(err, MSHARD_E_INVALID, path, MSHARD_NO_OFFSET,
                             "record %" PRIu64 ": a key of 1 to %d bytes expected, found %zu", keys[i].record,
                             MSHARD_MAX_KEY, keys[i].size);
    if (n)
        qsort(keys, (size_t)n, sizeof(*keys), compare_keys);
    for (uint64_t i = 1; i < n; i++) {
        if (compare_bytes(&keys[i - 1], &keys[i]) != 0)
            continue;
        char *text = mshi_key_text(keys[i].data, keys[i].size);
        mshi_fail(err, MSHARD_E_EXISTS, path, MSHARD_NO_OFFSET,
                  "records %" PRIu64 " and %" PRIu64 " have the same key %s", keys[i - 1].record, keys[i].record,
                  text ? text : "?");
        free(text);
        return MSHARD_E_EXISTS;
    }
    return MSHARD_OK;
}
