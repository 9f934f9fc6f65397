/*
 * store_info.c - what a store says about itself: names, counts, fields, classes, figures
 *
 * Everything comes from dataset.json as it was when the store was opened; no file is touched.
 */
#include "format/store_internal.h"

const char *mshard_store_path(const mshard_store *store)
{
    return store->path;
}

const char *mshard_store_id(const mshard_store *store)
{
    return store->manifest.id;
}

uint64_t mshard_store_generation(const mshard_store *store)
{
    return store->manifest.generation;
}

uint64_t mshard_store_count(const mshard_store *store)
{
    return store->count;
}

uint64_t mshard_store_bytes(const mshard_store *store)
{
    return store->bytes;
}

const char *mshard_store_manifest(const mshard_store *store, size_t *size)
{
    if (size != NULL)
        *size = store->text_size;
    return store->text;
}

uint32_t mshard_store_field_count(const mshard_store *store)
{
    return store->field_count;
}

const mshard_field *mshard_store_field(const mshard_store *store, uint32_t i)
{
    return i < store->field_count ? &store->fields[i] : NULL;
}

mshard_status mshard_store_find_field(const mshard_store *store, const char *name, uint32_t *i, mshard_error *err)
{
    char names[400] = "";
    size_t used = 0;

    for (uint32_t f = 0; f < store->field_count; f++)
        if (strcmp(store->fields[f].name, name) == 0) {
            *i = f;
            return MSHARD_OK;
        }
    for (uint32_t f = 0; f < store->field_count; f++) {
        const size_t size = strlen(store->fields[f].name);

        if (used + size + 3 > sizeof(names))
            break;
        if (used > 0) {
            memcpy(names + used, ", ", 2);
            used += 2;
        }
        memcpy(names + used, store->fields[f].name, size + 1);
        used += size;
    }
    return mshi_fail(err, MSHARD_E_NOT_FOUND, store->path, MSHARD_NO_OFFSET, "no field \"%.64s\"; there are: %s", name,
                     names);
}

uint64_t mshard_store_shard_count(const mshard_store *store)
{
    return store->shard_count;
}

void mshard_store_shard(const mshard_store *store, uint64_t i, mshard_shard_info *info)
{
    const struct mshi_manifest_shard *shard = &store->manifest.shards[i];

    *info = (mshard_shard_info){.name = shard->name,
                                .first_record = store->first[i],
                                .records = shard->records,
                                .size = shard->size,
                                .header_sum = shard->header_sum};
}

uint64_t mshard_store_class_count(const mshard_store *store, uint32_t field)
{
    return field < store->field_count && store->manifest.class_count != NULL ? store->manifest.class_count[field] : 0;
}

const char *mshard_store_class_name(const mshard_store *store, uint32_t field, uint64_t i)
{
    return i < mshard_store_class_count(store, field) ? store->manifest.classes[field][i] : NULL;
}

const mshard_stats *mshard_store_stats(const mshard_store *store, uint32_t field)
{
    return field < store->field_count && store->manifest.stats != NULL ? store->manifest.stats[field] : NULL;
}
