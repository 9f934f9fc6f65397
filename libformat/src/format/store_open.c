/*
 * store_open.c - open a data set by its folder or dataset.json, or one shard alone
 *
 * What is not a data set is refused by name: nothing there, a folder or file of another kind, a single shard, an
 * unfinished pack. Opening reads dataset.json only; its cost grows with the number of shards, not of records.
 */
#include "format/store_internal.h"

#include "base/alloc.h"
#include "base/options.h"
#include "os/real_path.h"
#include <mshard/inspect.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static mshard_status load_options(const mshard_store_options *options, mshard_store_options *o, mshard_error *err)
{
    MSHI_TRY(mshi_options_load(o, sizeof(*o), options, err));
    if (o->check == MSHARD_CHECK_DEFAULT)
        o->check = MSHARD_CHECK_OPEN;
    if (o->check < MSHARD_CHECK_NONE || o->check > MSHARD_CHECK_ALL)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "check must be one of MSHARD_CHECK_*, found %d",
                         (int)o->check);
    return MSHARD_OK;
}

static mshard_status new_store(const char *path, const mshard_store_options *o, mshard_store **store, mshard_error *err)
{
    MSHI_TRY(mshi_alloc(1, sizeof(**store), store, err));
    (*store)->check = o->check;
    atomic_init(&(*store)->references, 1);
    return mshi_strdup(path, &(*store)->path, err);
}

mshard_store *mshard_store_ref(mshard_store *store)
{
    atomic_fetch_add_explicit(&store->references, 1, memory_order_relaxed);
    return store;
}

void mshard_store_unref(mshard_store *store)
{
    /* acq_rel: all that other threads did with the store comes before its end */
    if (store == NULL || atomic_fetch_sub_explicit(&store->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint64_t i = 0; i < store->shard_count; i++) {
        if (store->shards != NULL)
            mshi_shard_free(atomic_load_explicit(&store->shards[i], memory_order_relaxed));
        if (store->damaged != NULL)
            free(atomic_load_explicit(&store->damaged[i], memory_order_relaxed));
    }
    mshi_key_index_free(store->keys);
    mshi_manifest_clear(&store->manifest);
    free(store->first);
    free(store->shards);
    free(store->damaged);
    free(store->path);
    free(store->shown);
    free(store->folder);
    free(store->text);
    free(store);
}

/* ---- what is at path ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

static bool is_shard_file(const char *path)
{
    struct mshi_file file;
    char magic[MSHI_MAGIC_SIZE];
    size_t got = 0;

    if (mshi_file_open(path, &file, NULL) != MSHARD_OK)
        return false;
    if (mshi_file_read(&file, magic, sizeof(magic), 0, &got, path, NULL) != MSHARD_OK)
        got = 0;
    mshi_file_close(&file);
    return got == sizeof(magic) && memcmp(magic, MSHI_MAGIC, sizeof(magic)) == 0;
}

/* A folder without dataset.json. */
static mshard_status refuse_folder(const char *path, mshard_error *err)
{
    struct mshi_entry *entries;
    size_t count, shards = 0;
    bool work = false;

    MSHI_TRY(mshi_folder_list(path, false, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(entries[i].name);

        work = work || strcmp(entries[i].name, MSHI_WORK_FOLDER) == 0;
        shards += size > 7 && strcmp(entries[i].name + size - 7, ".mshard") == 0;
    }
    mshi_folder_free(entries, count);
    if (work || shards > 0)
        return mshi_fail(
            err, MSHARD_E_INCOMPLETE, path, MSHARD_NO_OFFSET,
            "packing did not finish: %zu shard%s but no dataset.json; run the same mshard pack command again", shards,
            shards == 1 ? "" : "s");
    return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                     count == 0 ? "not a data set: the folder is empty"
                                : "not a data set: the folder has no dataset.json");
}

/* The folder of the data set at path, as errors show it. */
static mshard_status find_folder(const char *path, char **folder, mshard_error *err)
{
    const char *name = base_name(path);

    switch (mshi_path_kind(path, NULL)) {
    case MSHI_MISSING: {
        struct mshi_file file; /* for the system's own words: missing, forbidden, ... */
        const mshard_status status = mshi_file_open(path, &file, err);

        if (status != MSHARD_OK)
            return status;
        mshi_file_close(&file);
        return mshi_fail(err, MSHARD_E_NOT_FOUND, path, MSHARD_NO_OFFSET, "no such file or folder");
    }
    case MSHI_FOLDER:
        return mshi_strdup(path, folder, err);
    case MSHI_FILE:
        break;
    default:
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                         "not a data set: expected its folder or its dataset.json, found a device or pipe");
    }
    if (strcmp(name, MSHI_MANIFEST_NAME) == 0) {
        MSHI_TRY(mshi_strdup(path, folder, err));
        (*folder)[name > path + 1 ? name - path - 1 : name - path] = '\0'; /* "/dataset.json" stands in "/" */
        return MSHARD_OK;
    }
    if (is_shard_file(path))
        return mshi_fail(err, MSHARD_E_FORMAT, path, 0,
                         "a single shard, not a data set; open it with mshard_store_open_single() or mshard dump");
    return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                     "not a data set: expected its folder or its dataset.json, found another file");
}

static mshard_status read_manifest(struct mshard_store *store, mshard_error *err)
{
    char *path = NULL;
    mshard_status status;

    MSHI_TRY(mshi_path_join(store->shown, MSHI_MANIFEST_NAME, &path, err));
    if (mshi_path_kind(path, NULL) == MSHI_MISSING)
        status = refuse_folder(store->shown[0] == '\0' ? "." : store->shown, err);
    else
        status = mshi_file_slurp(path, MSHARD_MAX_MANIFEST, &store->text, &store->text_size, err);
    if (status == MSHARD_OK)
        status = mshi_manifest_parse(store->text, store->text_size, path, store->check != MSHARD_CHECK_NONE,
                                     &store->manifest, err);
    free(path);
    return status;
}

static mshard_status make_key_index(struct mshard_store *store, mshard_error *err)
{
    const struct mshi_manifest_keys *keys = &store->manifest.keys;
    char *path;
    mshard_status status;

    if (!keys->present)
        return MSHARD_OK;
    MSHI_TRY(mshi_path_join(store->folder, keys->file, &path, err));
    status = mshi_key_index_new(path, keys->size, keys->hash, store->check != MSHARD_CHECK_NONE, store->count,
                                &store->keys, err);
    free(path);
    return status;
}

static mshard_status open_folder(struct mshard_store *store, mshard_error *err)
{
    MSHI_TRY(find_folder(store->path, &store->shown, err));
    MSHI_TRY(mshi_real_path(store->shown[0] == '\0' ? "." : store->shown, &store->folder, err));
    MSHI_TRY(read_manifest(store, err));
    MSHI_TRY(mshi_store_index(store, err));
    return make_key_index(store, err);
}

mshard_status mshard_store_open(const char *path, const mshard_store_options *options, mshard_store **store,
                                mshard_error *err)
{
    mshard_store_options o;
    mshard_status status;

    *store = NULL;
    MSHI_TRY(load_options(options, &o, err));
    status = new_store(path, &o, store, err);
    if (status == MSHARD_OK)
        status = open_folder(*store, err);
    if (status != MSHARD_OK) {
        mshard_store_unref(*store);
        *store = NULL;
    }
    return status;
}

/* ---- one shard alone ---- */

static mshard_status open_single(struct mshard_store *store, mshard_error *err)
{
    struct mshi_manifest *m = &store->manifest;
    struct mshi_shard_schema schema = {.fields = NULL};
    struct mshi_shard *shard;

    MSHI_TRY(mshi_strdup("", &store->text, err));
    MSHI_TRY(mshi_alloc(1, sizeof(*m->shards), &m->shards, err));
    MSHI_TRY(mshi_strdup(base_name(store->path), &m->shards[0].name, err));
    m->shard_count = 1;
    MSHI_TRY(mshi_shard_open(store->path, store->path, store->check, NULL, &shard, &schema, err));
    m->generation = 1;
    m->records = m->shards[0].records = shard->records;
    m->shards[0].size = shard->size;
    m->shards[0].header_sum = schema.header_sum;
    m->fields = schema.fields;
    m->field_count = schema.field_count;
    (void)snprintf(m->id, sizeof(m->id), "%016" PRIx64 "%016d", schema.header_sum, 0);
    const mshard_status status = mshi_store_index(store, err);
    if (status != MSHARD_OK) {
        mshi_shard_free(shard);
        return status;
    }
    atomic_store_explicit(&store->shards[0], shard, memory_order_release);
    return MSHARD_OK;
}

mshard_status mshard_store_open_single(const char *path, const mshard_store_options *options, mshard_store **store,
                                       mshard_error *err)
{
    mshard_store_options o;
    mshard_status status;

    *store = NULL;
    MSHI_TRY(load_options(options, &o, err));
    status = new_store(path, &o, store, err);
    if (status == MSHARD_OK)
        status = open_single(*store, err);
    if (status != MSHARD_OK) {
        mshard_store_unref(*store);
        *store = NULL;
    }
    return status;
}
