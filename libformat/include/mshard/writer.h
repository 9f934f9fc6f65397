/*
 * writer.h - make a data set from values in memory
 *
 *   mshard_writer_create -> mshard_writer_write ... -> mshard_writer_commit -> mshard_writer_unref
 *
 * Nothing opens as a data set before commit returns OK; a writer dropped before that removes what
 * it wrote. Threads: confined. Same calls, same bytes.
 */
#ifndef MSHARD_WRITER_H
#define MSHARD_WRITER_H

#include <mshard/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mshard_writer mshard_writer;

typedef struct mshard_writer_options {
    size_t struct_size;         /* set by MSHARD_WRITER_OPTIONS_INIT */
    uint64_t shard_size;        /* bytes of values a shard aims at; 0: 256 MiB */
    uint64_t records_per_shard; /* exact number; 0: by shard_size */
    uint32_t align;             /* of columns in the file: power of two, 4096 to 1 MiB; 0: 4096 */
    uint32_t keys;              /* non-zero: each write gives a key, and keys.mdb is made */
    uint32_t overwrite;         /* non-zero: replace a data set at path, atomically, when committed */
    uint32_t no_sync;           /* non-zero: leave out fsync (tests, scratch data) */
} mshard_writer_options;
#define MSHARD_WRITER_OPTIONS_INIT .struct_size = sizeof(mshard_writer_options)

/* One value handed to the writer. shape: for variable fields, ndim entries; NULL when ndim is 1. */
typedef struct mshard_value {
    const void *data; /* C order, the field's dtype, host (little-endian) bytes; any alignment */
    size_t size;      /* bytes; must be what dtype and shape make */
    const uint64_t *shape;
} mshard_value;

/*
 * Start a data set at path. Fields are copied. Returns EXISTS (something is at path and overwrite is
 * off, or another writer is at work there), INVALID (a field breaks a rule: the message names it), IO.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_writer_create(const char *path, const mshard_field *fields, uint32_t n,
                                                                const mshard_writer_options *options,
                                                                mshard_writer **writer, mshard_error *err);

/* Names of the classes of a label field. Returns INVALID (not a label field, a name twice or empty). */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_writer_set_classes(mshard_writer *writer, const char *field,
                                                                     const char *const *names, uint64_t n,
                                                                     mshard_error *err);

/*
 * Add one record: a value for each field, in their order. key (may be NULL without options.keys): its
 * key. Returns INVALID (size or shape does not fit; nothing was added), EXISTS (at commit, for keys
 * given twice), IO. After IO the writer can only be dropped.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_writer_write(mshard_writer *writer, const mshard_value *values,
                                                               const void *key, size_t key_size, mshard_error *err);

/*
 * Add n records of fixed fields at once: data[f] points to [n, shape...] in C order. No keys.
 * Cost: one copy of the data. Returns as mshard_writer_write.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_writer_write_batch(mshard_writer *writer, const void *const *data, uint64_t n,
                                                                     mshard_error *err);

/* Records added so far. */
MSHARD_API uint64_t mshard_writer_count(const mshard_writer *writer);

/*
 * Seal the last shard, check all shards against what was written, publish. After OK the data set is
 * on disk and complete; the writer takes no more records. No records: INVALID.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_writer_commit(mshard_writer *writer, mshard_error *err);

/* Drop the writer; without a commit, what it wrote is removed. NULL does nothing. */
MSHARD_API void mshard_writer_unref(mshard_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
