/*
 * store_internal.h - the store's struct, for store.c, store_open.c and store_keys.c
 *
 * All is fixed when the store is made, but for the shard pointers: each goes from NULL to an open shard once, by
 * compare-and-swap, and stays. No lock anywhere, so fork() cannot leave one held.
 */
#ifndef MSHI_FORMAT_STORE_INTERNAL_H
#define MSHI_FORMAT_STORE_INTERNAL_H

#include "format/key_index.h"
#include "format/manifest.h"
#include "format/shard_reader.h"

struct mshard_store {
    /* what each record view reads, together */
    uint64_t count, shard_count;
    uint64_t guess;                       /* 2^64 / records a shard: shard = high word of record * guess, about */
    uint64_t *first;                      /* shard_count + 1 prefix sums */
    _Atomic(struct mshi_shard *) *shards; /* acquire: what the pointer leads to; release: by the opener */
    const mshard_field *fields;           /* manifest.fields */
    uint32_t field_count;
    mshard_check check;

    _Atomic uint64_t references;
    char *path;   /* as the caller gave it */
    char *shown;  /* folder as errors show it */
    char *folder; /* absolute: a later chdir() or moved link changes nothing */
    char *text;   /* of dataset.json */
    size_t text_size;
    uint64_t bytes;
    struct mshi_manifest manifest;
    struct mshi_key_index *keys; /* NULL: none */
    uint32_t key_field;          /* number of "__key__"; MSHI_NO_FIELD: none */
    /* CHECK_ALL: why a shard is damaged, so that it is read whole once only; NULL: not known to be */
    _Atomic(mshard_error *) *damaged;
};

/* Prefix sums, guess and tables for the manifest that is there. */
mshard_status mshi_store_index(struct mshard_store *store, mshard_error *err);
/* The open shard, opened now if need be. */
mshard_status mshi_store_shard(const struct mshard_store *store, uint64_t shard, const struct mshi_shard **out,
                               mshard_error *err);

#endif
