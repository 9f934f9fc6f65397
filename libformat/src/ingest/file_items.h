/*
 * file_items.h - records that are files of their own: a list of paths, each read with one open and no stat
 *
 * Cost: 32 bytes and the path an item. Paths are kept as the system gives them; a key is the path below its root, and
 * only one that is no UTF-8 is kept a second time, escaped.
 */
#ifndef MSHI_INGEST_FILE_ITEMS_H
#define MSHI_INGEST_FILE_ITEMS_H

#include "base/buf.h"
#include "ingest/source.h"

struct mshi_file_item {
    uint64_t path, key; /* where they begin in text */
    uint64_t size;
    int64_t label;
};

struct mshi_file_items {
    struct mshi_buf text;
    struct mshi_file_item *items;
    uint64_t count, capacity;
    uint64_t bytes; /* of all files */
};

/* key points into path, or is any other text. */
mshard_status mshi_file_items_add(struct mshi_file_items *items, const char *path, const char *key, uint64_t size,
                                  int64_t label, mshard_error *err);
const char *mshi_file_items_path(const struct mshi_file_items *items, uint64_t i);
const char *mshi_file_items_key(const struct mshi_file_items *items, uint64_t i);
/* Items from begin on, in bytewise order of their paths. */
void mshi_file_items_sort(struct mshi_file_items *items, uint64_t begin);
/* Report and remove each item whose key an earlier one has. */
mshard_status mshi_file_items_unique(struct mshi_file_items *items, const struct mshi_listing *listing,
                                     mshard_error *err);
/* The whole file into payload->buffer; LIMIT above max bytes; IO when it is not as long as when it was listed. */
mshard_status mshi_file_items_read(const struct mshi_file_items *items, uint64_t i, uint64_t max,
                                   struct mshi_payload *payload, mshard_error *err);
void mshi_file_items_clear(struct mshi_file_items *items);

#endif
