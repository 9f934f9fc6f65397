/*
 * verify.h - check a data set or a single shard against its checksums and rules
 *
 * Every fault is reported, not only the first, each with the records it touches. Works on damaged
 * and unfinished data sets. Threads: shared (no state of its own); the report and progress calls
 * come from one thread at a time, in file order of the data set.
 */
#ifndef MSHARD_VERIFY_H
#define MSHARD_VERIFY_H

#include <mshard/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mshard_verify_level {
    MSHARD_VERIFY_DEFAULT = 0, /* ALL */
    MSHARD_VERIFY_HEADERS = 1, /* dataset.json, shard headers, sizes, the chain of sums; O(shards) */
    MSHARD_VERIFY_INDEX = 2,   /* HEADERS, and end offsets and dims of variable fields, keys.mdb */
    MSHARD_VERIFY_ALL = 3,     /* INDEX, and every byte against its block's sum, gaps are zero, bools are 0/1,
                                  labels below the class count, keys.mdb against the records' keys */
} mshard_verify_level;

/* One fault. Pointers live during the report call only. */
typedef struct mshard_finding {
    const mshard_error *error;  /* code, path, offset, message */
    const char *shard_name;     /* NULL: not about one shard */
    const char *field_name;     /* NULL: not about one field */
    uint64_t offset, size;      /* the bytes concerned in the shard; size 0 when not about a byte range */
    uint64_t first_record;      /* in the data set (in the shard, when a shard is checked alone) */
    uint64_t record_count;      /* 0: no record is touched, or it cannot be said */
} mshard_finding;

typedef struct mshard_verify_options {
    size_t struct_size; /* set by MSHARD_VERIFY_OPTIONS_INIT */
    mshard_verify_level level;
    uint32_t threads;              /* 0: as many as the machine gives */
    uint64_t subset, subset_count; /* check part subset of subset_count (1-based; 2/5), by 64 KiB blocks; 0/0: all */
    double sample;                 /* 0 or 1: all; else the share of blocks to check, chosen by seed */
    uint64_t seed;
    void (*report)(void *context, const mshard_finding *finding);                      /* may be NULL */
    int (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);         /* non-zero: stop (CANCELLED) */
    void *context;
} mshard_verify_options;
#define MSHARD_VERIFY_OPTIONS_INIT .struct_size = sizeof(mshard_verify_options)

typedef struct mshard_verify_result {
    uint64_t findings;
    uint64_t shards, bad_shards;
    uint64_t blocks, bad_blocks;       /* blocks checked, and those among them that differ */
    uint64_t bytes;                    /* read and compared */
    uint64_t bad_records;              /* distinct records touched by bad blocks */
    mshard_status worst;               /* code of the first finding, MSHARD_OK when there is none */
} mshard_verify_result;

/*
 * Check the data set (folder, or the dataset.json in it) or shard (file) at path. Returns OK when the
 * check ran to its end: result->findings says whether all is well; result and options may be NULL.
 * Returns NOT_FOUND, FORMAT, VERSION, IO, CANCELLED, INVALID, NOMEM when it could not run. Without a
 * readable dataset.json each shard of the folder is checked by itself. Shard files that dataset.json
 * does not name are left alone. Cost: reads what the level says, sequentially, with options.threads threads.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_verify(const char *path, const mshard_verify_options *options,
                                                         mshard_verify_result *result, mshard_error *err);

#ifdef __cplusplus
}
#endif
#endif
