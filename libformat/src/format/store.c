/*
 * store.c - records of an open data set
 *
 * A record view is: guess the shard, walk the prefix sums, load the shard's pointer, multiply. Everything else
 * (opening a shard, variable fields, sums) is off that path.
 *
 * Threads: shared. A shard is opened by whoever needs it first; two at once both open it and the loser closes its
 * own, so that nobody waits and no lock can be left held by fork().
 */
#include "format/store_internal.h"

#include "base/alloc.h"
#include "format/field_rules.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- shards ---- */

/* Was the data set replaced since it was opened? Then a shard that does not fit has a simple cause. */
static void explain(const struct mshard_store *store, mshard_status status, mshard_error *err)
{
    char *path = NULL, *text = NULL;
    size_t size;

    if (err == NULL || store->text_size == 0 ||
        (status != MSHARD_E_CORRUPT && status != MSHARD_E_NOT_FOUND && status != MSHARD_E_TRUNCATED))
        return;
    if (mshi_path_join(store->folder, MSHI_MANIFEST_NAME, &path, NULL) == MSHARD_OK &&
        mshi_file_slurp(path, MSHARD_MAX_MANIFEST, &text, &size, NULL) == MSHARD_OK &&
        (size != store->text_size || memcmp(text, store->text, size) != 0))
        mshi_error_context(err, "dataset.json has changed since the data set was opened: open it again");
    free(text);
    free(path);
}

/* CHECK_ALL: keep the verdict on a shard that took a whole read to reach. */
static void remember(const struct mshard_store *store, uint64_t i, mshard_status status, const mshard_error *err)
{
    mshard_error *copy, *none = NULL;

    if (store->check != MSHARD_CHECK_ALL || status != MSHARD_E_CORRUPT ||
        mshi_alloc(1, sizeof(*copy), &copy, NULL) != MSHARD_OK)
        return;
    *copy = *err;
    if (!atomic_compare_exchange_strong_explicit(&store->damaged[i], &none, copy, memory_order_release,
                                                 memory_order_relaxed))
        free(copy);
}

static mshard_status open_shard(const struct mshard_store *store, uint64_t i, struct mshi_shard **shard,
                                mshard_error *err)
{
    const struct mshi_manifest_shard *m = &store->manifest.shards[i];
    const struct mshi_shard_expect expect = {.fields = store->fields,
                                             .field_count = store->field_count,
                                             .records = m->records,
                                             .size = m->size,
                                             .header_sum = m->header_sum};
    mshard_error cause;
    char *where = NULL, *path = NULL;
    mshard_status status = mshi_path_join(store->folder, m->name, &where, &cause);

    if (status == MSHARD_OK)
        status = mshi_path_join(store->shown, m->name, &path, &cause);
    if (status == MSHARD_OK)
        status = mshi_shard_open(where, path, store->check, &expect, shard, NULL, &cause);
    free(where);
    free(path);
    if (status != MSHARD_OK) {
        explain(store, status, &cause);
        remember(store, i, status, &cause);
        if (err != NULL)
            *err = cause;
    }
    return status;
}

mshard_status mshi_store_shard(const struct mshard_store *store, uint64_t i, const struct mshi_shard **out,
                               mshard_error *err)
{
    struct mshi_shard *shard = atomic_load_explicit(&store->shards[i], memory_order_acquire), *fresh;

    if (shard == NULL) {
        const mshard_error *known =
            store->damaged == NULL ? NULL : atomic_load_explicit(&store->damaged[i], memory_order_acquire);

        if (known != NULL) {
            if (err != NULL)
                *err = *known;
            return known->code;
        }
        MSHI_TRY(open_shard(store, i, &fresh, err));
        if (atomic_compare_exchange_strong_explicit(&store->shards[i], &shard, fresh, memory_order_acq_rel,
                                                    memory_order_acquire))
            shard = fresh;
        else
            mshi_shard_free(fresh); /* another thread was first */
    }
    *out = shard;
    return MSHARD_OK;
}

mshard_status mshi_store_index(struct mshard_store *store, mshard_error *err)
{
    const struct mshi_manifest *m = &store->manifest;
    uint64_t usual = 0;

    store->shard_count = m->shard_count;
    store->fields = m->fields;
    store->field_count = m->field_count;
    MSHI_TRY(mshi_alloc(m->shard_count + 1, sizeof(*store->first), &store->first, err));
    MSHI_TRY(mshi_alloc(m->shard_count, sizeof(*store->shards), &store->shards, err));
    if (store->check == MSHARD_CHECK_ALL)
        MSHI_TRY(mshi_alloc(m->shard_count, sizeof(*store->damaged), &store->damaged, err));
    for (uint64_t i = 0; i < m->shard_count; i++) {
        store->first[i + 1] = store->first[i] + m->shards[i].records;
        store->bytes += m->shards[i].size;
    }
    store->count = store->first[m->shard_count];
    /* All shards but the last are about alike. 2^64 / usual, rounded up: exact for equal shards below 2^40 records. */
    if (m->shard_count > 1)
        usual = store->first[m->shard_count - 1] / (m->shard_count - 1);
    store->guess = m->shard_count <= 1 ? 0 : usual <= 1 ? UINT64_MAX : UINT64_MAX / usual + 1;
    store->key_field =
        m->field_count > 0 && mshi_field_is_key(&m->fields[m->field_count - 1]) ? m->field_count - 1 : MSHI_NO_FIELD;
    return MSHARD_OK;
}

/* ---- records ---- */

/* The last shard whose first record is not above this one: right also beside shards of 0 records. */
static uint64_t search_shard(const struct mshard_store *store, uint64_t record)
{
    uint64_t low = 0, high = store->shard_count;

    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;

        if (store->first[middle] <= record)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* record is below count. */
static inline uint64_t find_shard(const struct mshard_store *store, uint64_t record)
{
    uint64_t s = (uint64_t)((unsigned __int128)record * store->guess >> 64);

    if (s >= store->shard_count)
        s = store->shard_count - 1;
    for (int steps = 0; steps < 4; steps++) {
        if (record < store->first[s])
            s--;
        else if (record >= store->first[s + 1])
            s++;
        else
            return s;
    }
    return search_shard(store, record);
}

static mshard_status bad_record(const struct mshard_store *store, uint64_t record, mshard_error *err)
{
    return mshi_fail(err, MSHARD_E_RANGE, store->path, MSHARD_NO_OFFSET,
                     "record must be below %" PRIu64 ", found %" PRIu64, store->count, record);
}

static mshard_status bad_field(const struct mshard_store *store, uint32_t field, mshard_error *err)
{
    return mshi_fail(err, MSHARD_E_INVALID, store->path, MSHARD_NO_OFFSET,
                     "field number must be below %" PRIu32 ", found %" PRIu32, store->field_count, field);
}

/* Everything but a fixed field of an open shard without touch checks. */
static __attribute__((noinline)) mshard_status record_slowly(const struct mshard_store *store, uint64_t s,
                                                             uint64_t record, uint32_t field, mshard_view *view,
                                                             mshard_error *err)
{
    const mshard_field *f = &store->fields[field];
    const struct mshi_shard *shard;
    const uint64_t index = record - store->first[s];
    mshard_view found;

    MSHI_TRY(mshi_store_shard(store, s, &shard, err));
    if (f->record_size != 0)
        found = (mshard_view){shard->columns[field].data + index * f->record_size, f->record_size};
    else
        MSHI_TRY(mshi_shard_variable(shard, field, f, index, &found, NULL, err));
    if (shard->touched != NULL)
        MSHI_TRY(mshi_shard_touch(shard, found.data, found.size, err));
    *view = found;
    return MSHARD_OK;
}

static inline mshard_status take_record(const struct mshard_store *store, uint64_t record, uint32_t field,
                                        mshard_view *view, mshard_error *err)
{
    if (record >= store->count)
        return bad_record(store, record, err);
    const uint64_t s = find_shard(store, record), size = store->fields[field].record_size;
    const struct mshi_shard *shard = atomic_load_explicit(&store->shards[s], memory_order_acquire);

    if (shard == NULL || size == 0 || shard->touched != NULL)
        return record_slowly(store, s, record, field, view, err);
    view->data = shard->columns[field].data + (record - store->first[s]) * size;
    view->size = size;
    return MSHARD_OK;
}

mshard_status mshard_store_record(const mshard_store *store, uint64_t record, uint32_t field, mshard_view *view,
                                  mshard_error *err)
{
    if (field >= store->field_count)
        return bad_field(store, field, err);
    return take_record(store, record, field, view, err);
}

mshard_status mshard_store_batch(const mshard_store *store, const uint64_t *records, size_t n, uint32_t field,
                                 mshard_view *views, size_t *failed, mshard_error *err)
{
    if (failed != NULL)
        *failed = 0;
    if (field >= store->field_count)
        return bad_field(store, field, err);
    for (size_t i = 0; i < n; i++) {
        const mshard_status status = take_record(store, records[i], field, &views[i], err);

        if (status != MSHARD_OK) {
            if (failed != NULL)
                *failed = i;
            return status;
        }
    }
    return MSHARD_OK;
}

mshard_status mshard_store_shape(const mshard_store *store, uint64_t record, uint32_t field,
                                 uint64_t shape[MSHARD_MAX_DIMS], mshard_error *err)
{
    const struct mshi_shard *shard;
    mshard_view view;

    if (field >= store->field_count)
        return bad_field(store, field, err);
    if (record >= store->count)
        return bad_record(store, record, err);
    const mshard_field *f = &store->fields[field];
    if (f->record_size != 0) {
        memcpy(shape, f->shape, f->ndim * sizeof(shape[0]));
        return MSHARD_OK;
    }
    const uint64_t s = find_shard(store, record);
    uint64_t found[MSHARD_MAX_DIMS];
    MSHI_TRY(mshi_store_shard(store, s, &shard, err));
    MSHI_TRY(mshi_shard_variable(shard, field, f, record - store->first[s], &view, found, err));
    memcpy(shape, found, f->ndim * sizeof(shape[0]));
    return MSHARD_OK;
}

mshard_status mshard_store_column(const mshard_store *store, uint64_t first, uint64_t count, uint32_t field,
                                  mshard_view *view, mshard_error *err)
{
    const struct mshi_shard *shard;

    if (field >= store->field_count)
        return bad_field(store, field, err);
    if (first > store->count || count > store->count - first)
        return mshi_fail(err, MSHARD_E_RANGE, store->path, MSHARD_NO_OFFSET,
                         "%" PRIu64 " records from %" PRIu64 " on must lie below %" PRIu64, count, first, store->count);
    const mshard_field *f = &store->fields[field];
    if (f->record_size == 0)
        return mshi_fail(err, MSHARD_E_INVALID, store->path, MSHARD_NO_OFFSET,
                         "field \"%s\" is variable: its values have no column, take them one by one", f->name);
    if (count == 0) {
        *view = (mshard_view){.data = NULL, .size = 0};
        return MSHARD_OK;
    }
    const uint64_t s = find_shard(store, first);
    if (count > store->first[s + 1] - first)
        return mshi_fail(err, MSHARD_E_INVALID, store->path, MSHARD_NO_OFFSET,
                         "records %" PRIu64 " to %" PRIu64 " must lie in one shard, which ends before record %" PRIu64,
                         first, first + count - 1, store->first[s + 1]);
    MSHI_TRY(mshi_store_shard(store, s, &shard, err));
    const uint8_t *data = shard->columns[field].data + (first - store->first[s]) * f->record_size;
    if (shard->touched != NULL)
        MSHI_TRY(mshi_shard_touch(shard, data, count * f->record_size, err));
    *view = (mshard_view){.data = data, .size = count * f->record_size};
    return MSHARD_OK;
}

uint64_t mshard_store_run(const mshard_store *store, uint64_t record)
{
    return record >= store->count ? 0 : store->first[find_shard(store, record) + 1] - record;
}

mshard_status mshard_store_locate(const mshard_store *store, uint64_t record, uint64_t *shard, uint64_t *index,
                                  mshard_error *err)
{
    if (record >= store->count)
        return bad_record(store, record, err);
    *shard = find_shard(store, record);
    *index = record - store->first[*shard];
    return MSHARD_OK;
}

static mshard_status bad_shard(const struct mshard_store *store, uint64_t shard, mshard_error *err)
{
    return mshi_fail(err, MSHARD_E_RANGE, store->path, MSHARD_NO_OFFSET,
                     "shard must be below %" PRIu64 ", found %" PRIu64, store->shard_count, shard);
}

mshard_status mshard_store_open_shard(const mshard_store *store, uint64_t shard, mshard_error *err)
{
    const struct mshi_shard *opened;

    if (shard >= store->shard_count)
        return bad_shard(store, shard, err);
    return mshi_store_shard(store, shard, &opened, err);
}

mshard_status mshard_store_column_offset(const mshard_store *store, uint64_t shard, uint32_t field, uint64_t *offset,
                                         mshard_error *err)
{
    const struct mshi_shard *opened;

    if (shard >= store->shard_count)
        return bad_shard(store, shard, err);
    if (field >= store->field_count)
        return bad_field(store, field, err);
    if (store->fields[field].record_size == 0)
        return mshi_fail(err, MSHARD_E_INVALID, store->path, MSHARD_NO_OFFSET,
                         "field \"%s\" is variable: it has no column", store->fields[field].name);
    MSHI_TRY(mshi_store_shard(store, shard, &opened, err));
    *offset = (uint64_t)(opened->columns[field].data - opened->map);
    return MSHARD_OK;
}
