/*
 * key_index.h - keys.mdb: sample key -> record number (spec/key-index.md); key_index.c alone knows LMDB
 *
 * Value: u64 little-endian record number. Built from sorted keys in one transaction with MDB_APPEND, reopened
 * read-only with a minimal map, compacted with mdb_env_copy2: same keys, same bytes (on one page size).
 */
#ifndef MSHI_FORMAT_KEY_INDEX_H
#define MSHI_FORMAT_KEY_INDEX_H

#include "base/fail.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mshi_key_index;

/*
 * A handle that opens lazily: nothing is read until the first find. path is copied; hash: 32 hex digits. Hash and pages
 * are checked before LMDB sees the file, always; check true: also the hash again in each process that fork() makes.
 */
mshard_status mshi_key_index_new(const char *path, uint64_t size, const char *hash, bool check, uint64_t record_count,
                                 struct mshi_key_index **index, mshard_error *err);
void mshi_key_index_free(struct mshi_key_index *index);
/* Thread-safe; opens on first use, once a process, again after fork. NOT_FOUND, TRUNCATED, CORRUPT, VERSION, IO. */
mshard_status mshi_key_index_find(struct mshi_key_index *index, const void *key, size_t key_size, uint64_t *record,
                                  mshard_error *err);
/* Walk all entries in key order (verify): non-MSHARD_OK from visit stops and is returned. */
mshard_status mshi_key_index_walk(struct mshi_key_index *index,
                                  mshard_status (*visit)(void *context, const void *key, size_t key_size,
                                                         uint64_t record, mshard_error *err),
                                  void *context, mshard_error *err);

struct mshi_key {
    const void *data;
    size_t size;
    uint64_t record;
};
/*
 * Sort keys (bytewise; the array is reordered) and write them to path through a temporary name. EXISTS names a
 * key that is there twice and both records. INVALID: an empty or too long key.
 */
mshard_status mshi_key_index_build(const char *path, struct mshi_key *keys, uint64_t n, bool sync, uint64_t *file_size,
                                   char hash[33], mshard_error *err);

#endif
