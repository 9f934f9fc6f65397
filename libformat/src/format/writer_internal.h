/*
 * writer_internal.h - the state of a data set being written, shared by writer.c (records come in), writer_shards.c
 * (shards begin and end) and writer_commit.c (keys, dataset.json); and how tests put another file system below it
 */
#ifndef MSHI_FORMAT_WRITER_INTERNAL_H
#define MSHI_FORMAT_WRITER_INTERNAL_H

#include "format/key_index.h"
#include "format/publish.h"
#include "format/shard_writer.h"
#include "os/thread.h"
#include <mshard/writer.h>

struct mshi_key_chunk; /* keys back to back; grown by whole chunks so that pointers stay good */

/* A shard that takes no more records: sealed and published by a thread while the next one is written. */
struct mshi_sealing {
    struct mshi_shard_writer *shard; /* NULL: nothing is under way; else the thread's until it is joined */
    char *path;
    mshi_thread thread;
    bool threaded;
    struct mshi_shard_result result;
    mshard_status status;
    mshard_error error;
};

struct mshard_writer {
    int64_t owner; /* process that made it: a child's copy after fork() must leave the files alone */
    const struct mshi_fs *fs;
    struct mshi_publish publish;
    struct mshard_writer_options options;
    mshard_field *fields;
    uint32_t field_count;   /* "__key__" included */
    uint32_t value_count;   /* what callers give: without it */
    uint64_t shard_records; /* records of a shard; 0: by shard_bytes_max */
    uint64_t shard_bytes_max;
    uint64_t held_max;               /* as in mshi_shard_options */
    uint64_t shard_bytes;            /* of values in the open shard, keys left out */
    struct mshi_shard_writer *shard; /* open one; NULL: none */
    char *shard_path;                /* where the open shard will be */
    uint64_t shards_begun;
    uint64_t background_min; /* bytes of values from which on a shard is sealed by a thread */
    struct mshi_sealing sealing;
    struct mshi_manifest_shard *shards; /* finished ones */
    uint64_t shard_count, shard_capacity;
    uint64_t records;          /* in finished shards and the open one */
    struct mshi_stats **stats; /* of finished shards, one a field; NULL for auxiliary ones */
    char ***classes;
    uint64_t *class_count;
    struct mshi_key *keys; /* records entries when options.keys */
    uint64_t key_capacity;
    struct mshi_key_chunk *key_chunk; /* newest first */
    bool failed, committed;
};

/* mshard_writer_create on another file system. */
mshard_status mshi_writer_create_on(const struct mshi_fs *fs, const char *path, const mshard_field *fields, uint32_t n,
                                    const mshard_writer_options *options, mshard_writer **writer, mshard_error *err);
mshard_status mshi_writer_start_shard(mshard_writer *w, mshard_error *err);
/* End the open shard, if any. Its failure may be told by the next call of this or of settle. */
mshard_status mshi_writer_finish_shard(mshard_writer *w, mshard_error *err);
/* Wait for the shard that is being sealed, list it and take over its figures. Nothing under way: OK. */
mshard_status mshi_writer_settle(mshard_writer *w, mshard_error *err);
void mshi_writer_drop_shards(mshard_writer *w); /* frees all about shards, files that are not published included */
/* INVALID when the writer takes no more calls. */
mshard_status mshi_writer_check_state(const mshard_writer *w, mshard_error *err);
void mshi_writer_clear_classes(mshard_writer *w, uint32_t field);

#endif
