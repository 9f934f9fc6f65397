/*
 * store.c - the object that owns a mshard_store
 *
 * Every view's base is this object, so the map lives until the last view is gone, whatever happens to the data
 * set. It is not part of a reference cycle: it holds no Python object.
 *
 * Taking a view costs no system call once its shard is open. The first use of a shard opens it with the GIL
 * released, and pages in its scalar columns so that reading a label under the GIL does not wait for the disk.
 */
#include "binding.h"

/* Scalar columns up to this size are read ahead when their shard opens; 4 MiB holds half a million labels. */
#define MB_PREFAULT_LIMIT ((size_t)4 << 20)
#define MB_PAGE 4096

/* A data set, or a single shard (*.mshard). What is wrong with a shard is said of the shard. No GIL here. */
static mshard_status open_any(const char *path, const mshard_store_options *options, mshard_store **handle,
                              mshard_error *err)
{
    size_t length = strlen(path), suffix = strlen(".mshard");
    mshard_error alone;

    mshard_status status = mshard_store_open(path, options, handle, err);
    if (status != MSHARD_E_FORMAT || length <= suffix || strcmp(path + length - suffix, ".mshard") != 0)
        return status;
    mshard_status single = mshard_store_open_single(path, options, handle, &alone);
    if (single != MSHARD_OK && (single == MSHARD_E_FORMAT || single == MSHARD_E_IO))
        return status;
    if (single != MSHARD_OK)
        *err = alone;
    return single;
}

struct mb_store *mb_store_open(struct mb_state *state, const char *path, mshard_check check)
{
    mshard_store_options options = {MSHARD_STORE_OPTIONS_INIT, .check = check};
    mshard_store *handle = NULL;
    mshard_error err;
    mshard_status status;

    Py_BEGIN_ALLOW_THREADS
    status = open_any(path, &options, &handle, &err);
    Py_END_ALLOW_THREADS
    if (status != MSHARD_OK) {
        mb_raise(&state->errors, &err);
        return NULL;
    }
    uint64_t shards = mshard_store_shard_count(handle);
    struct mb_store *store = (struct mb_store *)PyType_GenericAlloc(state->store_type, 0);
    uint8_t *ready = calloc(shards ? (size_t)shards : 1, 1);
    if (!store || !ready) {
        Py_XDECREF((PyObject *)store);
        free(ready);
        mshard_store_unref(handle);
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return NULL;
    }
    store->handle = handle;
    store->state = state;
    store->ready = ready;
    store->shards = store->not_ready = shards;
    store->careful = check == MSHARD_CHECK_TOUCH;
    return store;
}

void mb_store_close(struct mb_store *store)
{
    mshard_store *handle = store->handle;

    store->handle = NULL;
    if (!handle)
        return;
    Py_BEGIN_ALLOW_THREADS /* unmapping gigabytes takes milliseconds */
    mshard_store_unref(handle);
    Py_END_ALLOW_THREADS
}

static void store_dealloc(PyObject *self)
{
    struct mb_store *store = (struct mb_store *)self;
    PyTypeObject *type = Py_TYPE(self);

    mb_store_close(store);
    free(store->ready);
    PyObject_Free(self);
    Py_DECREF(type);
}

Py_ssize_t mb_store_exported(const struct mb_store *store)
{
    /* From CPython 3.14 on the upper half of the field holds flags; the count is the lower half in every version. */
    uint32_t references = (uint32_t)((uint64_t)Py_REFCNT((PyObject *)store) & UINT32_MAX);
    return (Py_ssize_t)references - store->internal;
}

int mb_store_alive(const struct mb_store *store)
{
    if (store && store->handle)
        return 0;
    PyErr_SetString(PyExc_ValueError, "the data set is closed");
    return -1;
}

/* Read a byte of every page of the shard's scalar columns. No GIL here. */
static unsigned page_in_scalars(const mshard_store *handle, uint64_t shard)
{
    uint32_t fields = mshard_store_field_count(handle);
    mshard_shard_info info;
    unsigned sum = 0;

    mshard_store_shard(handle, shard, &info);
    for (uint32_t f = 0; f < fields && info.records > 0; f++) {
        const mshard_field *field = mshard_store_field(handle, f);
        mshard_view view;
        if (field->ndim != 0 ||
            mshard_store_column(handle, info.first_record, info.records, f, &view, NULL) != MSHARD_OK)
            continue;
        for (size_t at = 0; at < view.size && view.size <= MB_PREFAULT_LIMIT; at += MB_PAGE)
            sum += ((const volatile uint8_t *)view.data)[at];
    }
    return sum;
}

static int open_shard(struct mb_store *store, uint64_t shard)
{
    mshard_status status;
    mshard_error err;

    Py_INCREF((PyObject *)store);
    Py_BEGIN_ALLOW_THREADS
    status = mshard_store_open_shard(store->handle, shard, &err);
    if (status == MSHARD_OK && !store->careful)
        (void)page_in_scalars(store->handle, shard);
    Py_END_ALLOW_THREADS
    if (status != MSHARD_OK)
        mb_raise(&store->state->errors, &err);
    else if (!store->ready[shard]) {
        store->ready[shard] = 1;
        store->not_ready--;
    }
    Py_DECREF((PyObject *)store);
    return status == MSHARD_OK ? 0 : -1;
}

int mb_store_ready(struct mb_store *store, uint64_t record)
{
    uint64_t shard, index;
    mshard_error err;

    if (mb_store_alive(store) < 0)
        return -1;
    if (store->not_ready == 0)
        return 0;
    if (mshard_store_locate(store->handle, record, &shard, &index, &err) != MSHARD_OK) {
        mb_raise(&store->state->errors, &err);
        return -1;
    }
    return store->ready[shard] ? 0 : open_shard(store, shard);
}

int mb_store_record(struct mb_store *store, uint64_t record, uint32_t field, mshard_view *view)
{
    mshard_status status;
    mshard_error err;

    if (store->careful) {
        Py_INCREF((PyObject *)store);
        Py_BEGIN_ALLOW_THREADS
        status = mshard_store_record(store->handle, record, field, view, &err);
        Py_END_ALLOW_THREADS
        Py_DECREF((PyObject *)store);
    } else {
        status = mshard_store_record(store->handle, record, field, view, &err);
    }
    if (status == MSHARD_OK)
        return 0;
    mb_raise(&store->state->errors, &err);
    return -1;
}

static PyType_Slot store_slots[] = {
    {Py_tp_dealloc, store_dealloc},
    {Py_tp_doc, (void *)"Owner of the mapped files; the base of every view."},
    {0, NULL},
};
PyType_Spec mb_store_spec = {
    .name = "mshard._mshard.Store",
    .basicsize = sizeof(struct mb_store),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = store_slots,
};
