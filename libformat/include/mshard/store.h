/*
 * store.h - open a packed data set and take views of its records
 *
 * A store is immutable: it shows one generation of the data set for as long as it lives. Shards
 * are opened and mapped on first use; a mapped shard holds no file descriptor. Every pointer
 * handed out (fields, names, views) lives until the last mshard_store_unref().
 *
 * Threads: shared, all functions. Fork: a store opened before fork() works in the child, for
 * records, columns and keys alike.
 */
#ifndef MSHARD_STORE_H
#define MSHARD_STORE_H

#include <mshard/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mshard_store mshard_store;

/* What is checked, and when. DEFAULT is OPEN. */
typedef enum mshard_check {
    MSHARD_CHECK_DEFAULT = 0,
    MSHARD_CHECK_NONE = 1,  /* geometry only: nothing can be read outside the files, no sums compared */
    MSHARD_CHECK_OPEN = 2,  /* dataset.json's id, and each shard's header when it is first used */
    MSHARD_CHECK_TOUCH = 3, /* OPEN, and each 64 KiB block once, when first touched by a call here; a bad block is
                               CORRUPT each time */
    MSHARD_CHECK_ALL = 4,   /* OPEN, and every byte of a shard when it is first used; a bad shard is CORRUPT for good */
} mshard_check;

typedef struct mshard_store_options {
    size_t struct_size; /* set by MSHARD_STORE_OPTIONS_INIT */
    mshard_check check;
} mshard_store_options;
#define MSHARD_STORE_OPTIONS_INIT .struct_size = sizeof(mshard_store_options)

typedef struct mshard_shard_info {
    const char *name;      /* file name inside the data set's folder */
    uint64_t first_record; /* number in the data set of the shard's first record */
    uint64_t records;
    uint64_t size; /* bytes of the file */
    uint64_t header_sum;
} mshard_shard_info;

/*
 * Figures of one field, taken while packing. Channels: 3 or 1 for images (by last dimension), else
 * 1. All in stored units (before scale/offset). mean and std (population, not sample) leave NaN and
 * infinities out. counts: records of each class, for labels; NULL otherwise.
 */
#define MSHARD_MAX_CHANNELS 4
typedef struct mshard_stats {
    uint32_t channels;
    uint64_t values; /* a channel, NaN and infinities included */
    uint64_t nan, inf;
    double min[MSHARD_MAX_CHANNELS], max[MSHARD_MAX_CHANNELS];
    double mean[MSHARD_MAX_CHANNELS], std[MSHARD_MAX_CHANNELS];
    uint64_t count_length; /* length of counts */
    const uint64_t *counts;
    uint64_t min_size, max_size; /* variable fields: bytes of the smallest and largest value */
} mshard_stats;

/*
 * Open the data set at path (its folder, or the dataset.json in it); options NULL: all defaults.
 * Returns NOT_FOUND (nothing there), FORMAT (a folder or file of another kind), INCOMPLETE (packing
 * did not finish), VERSION, CORRUPT, TRUNCATED, LIMIT, IO. Where path leads is fixed now: a later chdir() or moved
 * link changes nothing. Owns: the caller unrefs. Cost: reads dataset.json; O(shards), not O(records).
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_open(const char *path, const mshard_store_options *options,
                                                             mshard_store **store, mshard_error *err);
MSHARD_API mshard_store *mshard_store_ref(mshard_store *store);
MSHARD_API void mshard_store_unref(mshard_store *store); /* NULL does nothing */

MSHARD_API const char *mshard_store_path(const mshard_store *store);
MSHARD_API const char *mshard_store_id(const mshard_store *store); /* 32 lower-case hex digits */
MSHARD_API uint64_t mshard_store_generation(const mshard_store *store); /* 1 when packed, +1 for each append */
MSHARD_API uint64_t mshard_store_count(const mshard_store *store); /* records */
MSHARD_API uint64_t mshard_store_bytes(const mshard_store *store); /* of all shard files together */

/* The text of dataset.json as it was read (NUL-terminated); size (may be NULL) without the NUL. A single shard: "". */
MSHARD_API const char *mshard_store_manifest(const mshard_store *store, size_t *size);

/* Fields, in the order they were declared; auxiliary ones come last. i below the count. */
MSHARD_API uint32_t mshard_store_field_count(const mshard_store *store);
MSHARD_API const mshard_field *mshard_store_field(const mshard_store *store, uint32_t i);
/* Returns NOT_FOUND when no field has this name. */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_find_field(const mshard_store *store, const char *name,
                                                                   uint32_t *i, mshard_error *err);

/* Shards, in record order. i below the count. */
MSHARD_API uint64_t mshard_store_shard_count(const mshard_store *store);
MSHARD_API void mshard_store_shard(const mshard_store *store, uint64_t i, mshard_shard_info *info);

/* Class names of a label field; 0 when it has none. NULL when i is not below the count. */
MSHARD_API uint64_t mshard_store_class_count(const mshard_store *store, uint32_t field);
MSHARD_API const char *mshard_store_class_name(const mshard_store *store, uint32_t field, uint64_t i);

/* Figures taken at packing; NULL when the data set has none for this field. */
MSHARD_API const mshard_stats *mshard_store_stats(const mshard_store *store, uint32_t field);

/*
 * One value of one field. Returns RANGE; the first use of a shard may return any error of the file.
 * Cost: no allocation and no system call once the shard is open; the first touch of the data may
 * fault. A file cut after it was mapped raises SIGBUS when touched (docs/guide.md).
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_record(const mshard_store *store, uint64_t record,
                                                               uint32_t field, mshard_view *view, mshard_error *err);

/* The shape of one value: field->ndim entries of shape are written. Returns RANGE and file errors. */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_shape(const mshard_store *store, uint64_t record, uint32_t field,
                                                              uint64_t shape[MSHARD_MAX_DIMS], mshard_error *err);

/*
 * count records of a fixed field from first on, as one view without a copy: C order, [count, shape...].
 * They must lie in one shard (mshard_store_run tells), else INVALID. Fields that are variable: INVALID. RANGE. A
 * count of 0 gives a view of 0 bytes.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_column(const mshard_store *store, uint64_t first, uint64_t count,
                                                               uint32_t field, mshard_view *view, mshard_error *err);

/* How many records from this one on (itself included) lie in the same shard; 0 when out of range. */
MSHARD_API uint64_t mshard_store_run(const mshard_store *store, uint64_t record);

/*
 * Views of n records of one field, in the order given. Returns the first failure; *failed (may be
 * NULL) is then its position in records. The views before it are good.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_batch(const mshard_store *store, const uint64_t *records, size_t n,
                                                              uint32_t field, mshard_view *views, size_t *failed,
                                                              mshard_error *err);

/* Shard number and number inside that shard of a record. Returns RANGE. */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_locate(const mshard_store *store, uint64_t record, uint64_t *shard,
                                                               uint64_t *index, mshard_error *err);

/*
 * Open (map and check) one shard now rather than at first use; report any error of the file.
 * Already open: no cost.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_open_shard(const mshard_store *store, uint64_t shard,
                                                                   mshard_error *err);

/* File offset of a fixed field's column in a shard: what numpy.memmap needs. INVALID when variable. */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_column_offset(const mshard_store *store, uint64_t shard,
                                                                      uint32_t field, uint64_t *offset, mshard_error *err);

/* Non-zero when the data set was packed with keys (records have them) or with a key index. */
MSHARD_API int mshard_store_has_keys(const mshard_store *store);

/* The key of a record: bytes, not NUL-terminated. Returns NOT_FOUND when the data set has no keys. */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_key(const mshard_store *store, uint64_t record, mshard_view *key,
                                                            mshard_error *err);

/*
 * The record of a key. Returns NOT_FOUND (no such key, or no index), CORRUPT (keys.mdb is damaged or
 * foreign: its checksum is compared before LMDB sees it). The index opens on first use, once a
 * process and again after fork(). Cost: one B-tree descent.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_find_key(const mshard_store *store, const void *key, size_t size,
                                                                 uint64_t *record, mshard_error *err);

#ifdef __cplusplus
}
#endif
#endif
