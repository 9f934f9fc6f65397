/*
 * store_keys.c - keys of records, and records of keys
 *
 * The key of a record stands in its shard, in the auxiliary field "__key__"; keys.mdb is derived from it and only
 * needed for the way back. Training never opens it.
 */
#include "format/store_internal.h"

int mshard_store_has_keys(const mshard_store *store)
{
    return store->key_field != MSHI_NO_FIELD || store->keys != NULL;
}

mshard_status mshard_store_key(const mshard_store *store, uint64_t record, mshard_view *key, mshard_error *err)
{
    if (store->key_field == MSHI_NO_FIELD)
        return mshi_fail(err, MSHARD_E_NOT_FOUND, store->path, MSHARD_NO_OFFSET,
                         "the data set was packed without keys");
    return mshard_store_record(store, record, store->key_field, key, err);
}

mshard_status mshard_store_find_key(const mshard_store *store, const void *key, size_t size, uint64_t *record,
                                    mshard_error *err)
{
    if (store->keys == NULL)
        return mshi_fail(err, MSHARD_E_NOT_FOUND, store->path, MSHARD_NO_OFFSET,
                         store->text_size == 0 ? "a single shard has no key index: open its data set"
                                               : "the data set was packed without a key index");
    return mshi_key_index_find(store->keys, key, size, record, err);
}
