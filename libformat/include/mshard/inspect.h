/*
 * inspect.h - the bytes of one shard, named
 *
 * What the dump tool prints. Works on damaged, cut and foreign files: says what can still be proved,
 * never reads outside the file, and always ends. Threads: shared.
 */
#ifndef MSHARD_INSPECT_H
#define MSHARD_INSPECT_H

#include <mshard/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A run of bytes of the file, in file order, none overlapping. Pointers live during the call only. */
typedef struct mshard_span {
    uint64_t offset, size;
    const char *name;    /* "header.magic", "field[0].name", "section[2].offset", "column image", "gap", "sums", ... */
    const char *type;    /* "u32", "u64", "bytes", "utf-8", "float16[8,32]", ... */
    const char *value;   /* decoded, for header members; NULL for data */
    const char *problem; /* what is wrong with it; NULL when nothing is */
    uint32_t in_header;  /* 1: part of the header, print every byte; 0: data, print a part */
} mshard_span;

/* What could be made out of the header. Counts of damaged files are those that passed the checks. */
typedef struct mshard_shard_summary {
    uint64_t file_size;   /* of the file as it is */
    uint64_t stated_size; /* as the header says; 0 when unreadable */
    uint16_t major, minor;
    uint64_t incompat, compat;
    uint64_t records;
    uint64_t header_sum;
    uint32_t field_count;
    mshard_field fields[MSHARD_MAX_FIELDS]; /* names live during the call only */
    uint64_t column_offset[MSHARD_MAX_FIELDS]; /* fixed fields: file offset; 0 for others */
    uint32_t problems;    /* number of spans with a problem */
} mshard_shard_summary;

/*
 * Walk the shard file at path. visit (may be NULL) is called for every span; done (may be NULL) once at
 * the end. Returns OK when the header could be followed without a problem, else the first problem's
 * error (FORMAT, VERSION, TRUNCATED, CORRUPT, LIMIT) after having visited all that could be. IO and
 * NOT_FOUND when the file could not be read at all. Cost: reads the header only.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_inspect_shard(const char *path,
                                                                void (*visit)(void *context, const mshard_span *span),
                                                                void (*done)(void *context, const mshard_shard_summary *summary),
                                                                void *context, mshard_error *err);

/*
 * Open one shard file alone, as a store of its records (classes, statistics and key index are not in a
 * shard and so absent; its id is that of its header: 16 hex digits, then 16 zeros).
 */
struct mshard_store;
struct mshard_store_options;
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_store_open_single(const char *path, const struct mshard_store_options *options,
                                                                    struct mshard_store **store, mshard_error *err);

#ifdef __cplusplus
}
#endif
#endif
