/*
 * manifest.h - dataset.json: parse, check, emit (spec/manifest.md)
 *
 * Everything in a parsed manifest has been checked against
 * the limits; nothing in it has been checked against the shards.
 */
#ifndef MSHI_FORMAT_MANIFEST_H
#define MSHI_FORMAT_MANIFEST_H

#include "base/buf.h"
#include <mshard/store.h>

#define MSHI_MANIFEST_NAME "dataset.json"
#define MSHI_WORK_FOLDER ".mshard-pack" /* inside the data set's folder, while it is being made */

struct mshi_manifest_shard {
    char *name;
    uint64_t records, size, header_sum;
};

struct mshi_manifest_keys {
    bool present;
    char *file; /* "keys.mdb" */
    uint64_t size, count;
    char hash[33]; /* XXH3-128 of the file */
};

struct mshi_manifest {
    uint64_t generation, records;
    mshard_field *fields; /* auxiliary ones last */
    uint32_t field_count;
    struct mshi_manifest_shard *shards;
    uint64_t shard_count;
    char ***classes;      /* a list a field; NULL: none */
    uint64_t *class_count;
    mshard_stats **stats; /* one a field; NULL: none */
    struct mshi_manifest_keys keys;
    char *source_json;  /* member "source" as compact JSON text, "{}" when absent: inputs, skipped, duplicates, kind */
    char *options_json; /* member "options": what the packer was told, defaults left out */
    char id[33];
};

/* text: the whole file. check_id: compare the id with the bytes. Errors carry path and, where known, the offset. */
mshard_status mshi_manifest_parse(const char *text, size_t size, const char *path, bool check_id,
                                  struct mshi_manifest *manifest, mshard_error *err);
/* Canonical text with its id at the end; id is also written into manifest->id. */
mshard_status mshi_manifest_emit(struct mshi_manifest *manifest, struct mshi_buf *text, mshard_error *err);
void mshi_manifest_clear(struct mshi_manifest *manifest); /* frees what parse made */

#endif
