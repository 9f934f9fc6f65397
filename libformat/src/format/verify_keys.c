/*
 * verify_keys.c - keys.mdb: its bytes, then each entry against the key that the record itself holds
 *
 * LMDB sees the file only after its hash was found right. As keys in it are unique, as many entries as records, each
 * leading to a record of that key, mean that every record's key is found.
 */
#include "format/verify_internal.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "format/key_index.h"

#include <inttypes.h>
#include <stdlib.h>

#define READ_SIZE (1u << 20)

/* XXH3-128 of the whole file. */
static mshard_status hash_file(const struct mshi_file *file, const char *path, char hash[33], mshard_error *err)
{
    struct mshi_hash_stream *stream = NULL;
    uint8_t *buffer;
    mshard_status status;
    size_t got = READ_SIZE;

    MSHI_TRY(mshi_alloc(READ_SIZE, 1, &buffer, err));
    stream = mshi_hash_stream_new();
    status = stream != NULL ? MSHARD_OK : mshi_fail(err, MSHARD_E_NOMEM, path, MSHARD_NO_OFFSET, "out of memory");
    for (uint64_t at = 0; status == MSHARD_OK && got == READ_SIZE; at += got) {
        status = mshi_file_read(file, buffer, READ_SIZE, at, &got, path, err);
        if (status == MSHARD_OK)
            mshi_hash_stream_add(stream, buffer, got);
    }
    if (stream != NULL)
        mshi_hash128_hex(mshi_hash_stream_end(stream), hash);
    free(buffer);
    return status;
}

static mshard_status check_bytes(const char *path, const struct mshi_manifest_keys *keys, mshard_error *err)
{
    struct mshi_file file;
    char hash[33];
    mshard_status status;

    MSHI_TRY(mshi_file_open(path, &file, err));
    if (file.size != keys->size)
        status =
            mshi_fail(err, file.size < keys->size ? MSHARD_E_TRUNCATED : MSHARD_E_CORRUPT, path, MSHARD_NO_OFFSET,
                      "dataset.json expects a key index of %" PRIu64 " bytes, found %" PRIu64, keys->size, file.size);
    else
        status = hash_file(&file, path, hash, err);
    if (status == MSHARD_OK && strcmp(hash, keys->hash) != 0)
        status = mshi_fail(err, MSHARD_E_CORRUPT, path, MSHARD_NO_OFFSET,
                           "the key index is damaged: dataset.json expects XXH3-128 %s, found %s", keys->hash, hash);
    mshi_file_close(&file);
    return status;
}

struct key_walk {
    struct mshi_verify *verify;
    const mshard_store *store;
    const char *path;
    uint64_t entries;
};

static mshard_status check_entry(void *context, const void *key, size_t size, uint64_t record, mshard_error *err)
{
    struct key_walk *w = context;
    mshard_error fault;
    mshard_view found;

    w->entries++;
    if (record < mshard_store_count(w->store) && mshard_store_key(w->store, record, &found, &fault) == MSHARD_OK &&
        found.size == size && (size == 0 || memcmp(found.data, key, size) == 0))
        return MSHARD_OK;
    (void)mshi_fail(&fault, MSHARD_E_CORRUPT, w->path, MSHARD_NO_OFFSET,
                    "key \"%.*s\" leads to record %" PRIu64 ", which does not have it", (int)(size < 200 ? size : 200),
                    (const char *)key, record);
    mshi_verify_report(w->verify, &fault, NULL, record, record < mshard_store_count(w->store));
    return mshi_verify_progress(w->verify, 0, err);
}

static mshard_status check_entries(struct mshi_verify *v, const char *path, const struct mshi_manifest *manifest,
                                   const mshard_store *store, mshard_error *err)
{
    struct key_walk walk = {.verify = v, .store = store, .path = path};
    struct mshi_key_index *index;
    mshard_error fault;
    mshard_status status;

    MSHI_TRY(mshi_key_index_new(path, manifest->keys.size, manifest->keys.hash, false, manifest->records, &index, err));
    status = mshi_key_index_walk(index, check_entry, &walk, &fault);
    mshi_key_index_free(index);
    if (status == MSHARD_E_CANCELLED || status == MSHARD_E_NOMEM) {
        if (err != NULL)
            *err = fault;
        return status;
    }
    if (status == MSHARD_OK && walk.entries != manifest->records)
        status = mshi_fail(&fault, MSHARD_E_CORRUPT, path, MSHARD_NO_OFFSET,
                           "the key index must have an entry for each of %" PRIu64 " records, found %" PRIu64,
                           manifest->records, walk.entries);
    if (status != MSHARD_OK)
        mshi_verify_report(v, &fault, NULL, 0, 0);
    return MSHARD_OK;
}

mshard_status mshi_verify_keys(struct mshi_verify *v, const char *path, const struct mshi_manifest *manifest,
                               const mshard_store *store, mshard_error *err)
{
    mshard_error fault;
    const mshard_status status = check_bytes(path, &manifest->keys, &fault);

    if (status == MSHARD_E_NOMEM) {
        if (err != NULL)
            *err = fault;
        return status;
    }
    if (status != MSHARD_OK) {
        mshi_verify_report(v, &fault, NULL, 0, 0);
        return MSHARD_OK;
    }
    return store == NULL ? MSHARD_OK : check_entries(v, path, manifest, store, err);
}
