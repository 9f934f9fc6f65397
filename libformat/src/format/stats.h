/*
 * stats.h - figures of a field, added up while packing
 *
 * Integer dtypes add exactly, so the order and the split of the work change nothing. Float dtypes add in record
 * order, in blocks of 1024 values a channel (a block ends early at a save, a merge or a result); shards merge in
 * shard order: the result depends on shard boundaries only. NaN and infinities are counted and left out.
 * Channels: the last dimension of image fields [height, width, 1 to 4], else 1. Encoded and text fields only count
 * bytes and sizes. A label above 65535 or below 0 ends the counting of classes for good.
 *
 * Threads: confined.
 */
#ifndef MSHI_FORMAT_STATS_H
#define MSHI_FORMAT_STATS_H

#include "base/fail.h"
#include "base/json.h"
#include <mshard/store.h>

struct mshi_stats; /* accumulator of one field */

mshard_status mshi_stats_new(const mshard_field *field, struct mshi_stats **stats, mshard_error *err);
void mshi_stats_free(struct mshi_stats *stats);
/*
 * Add n values of a fixed field (size: all bytes of them), or one value (n 1) of a variable field of size bytes; shape
 * may be NULL. INVALID when size does not fit. data may have any alignment.
 */
mshard_status mshi_stats_add(struct mshi_stats *stats, const void *data, uint64_t n, uint64_t size,
                             const uint64_t *shape, mshard_error *err);
mshard_status mshi_stats_merge(struct mshi_stats *into, const struct mshi_stats *from, mshard_error *err);
/* Exact state as JSON text and back: parts of a pack keep it beside their shard (docs/packing.md). */
struct mshi_buf;
void mshi_stats_save(const struct mshi_stats *stats, struct mshi_buf *json);
/* node: what save wrote, of this field; path for errors. CORRUPT when it is not. Merges as the saved one would. */
mshard_status mshi_stats_load(const mshi_json *node, const mshard_field *field, const char *path,
                              struct mshi_stats **stats, mshard_error *err);
/*
 * The published figures, always finite numbers: 0 where there are no values, the largest double where a figure of
 * float64 data is above it. counts points into the accumulator.
 */
void mshi_stats_result(const struct mshi_stats *stats, mshard_stats *result);

#endif
