/*
 * keys.c - the keys of records, as a sequence of str that also finds
 *
 * Keys are bytes on disk, most often UTF-8. Other bytes survive as surrogate escapes, as file names do in Python,
 * so keys[keys.find(k)] == k for every key. The index opens on the first find, in each process of its own.
 */
#include "binding.h"

struct mb_keys *mb_keys_new(struct mb_store *store)
{
    struct mb_keys *keys = (struct mb_keys *)PyType_GenericAlloc(store->state->keys_type, 0);
    if (!keys)
        return NULL;
    Py_INCREF((PyObject *)store);
    store->internal++;
    keys->store = store;
    return keys;
}

static void keys_dealloc(PyObject *self)
{
    struct mb_keys *keys = (struct mb_keys *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (keys->store) {
        keys->store->internal--;
        Py_DECREF(keys->store);
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *key_of(struct mb_store *store, uint64_t record)
{
    mshard_view view;
    mshard_status status;
    mshard_error err;

    if (mb_store_ready(store, record) < 0)
        return NULL;
    if (store->careful) {
        Py_INCREF((PyObject *)store);
        Py_BEGIN_ALLOW_THREADS
        status = mshard_store_key(store->handle, record, &view, &err);
        Py_END_ALLOW_THREADS
        Py_DECREF((PyObject *)store);
    } else {
        status = mshard_store_key(store->handle, record, &view, &err);
    }
    if (status != MSHARD_OK)
        return mb_raise_key(&store->state->errors, &err);
    return PyUnicode_DecodeUTF8(view.data, (Py_ssize_t)view.size, "surrogateescape");
}

static Py_ssize_t keys_length(PyObject *self)
{
    struct mb_keys *keys = (struct mb_keys *)self;
    return mb_store_alive(keys->store) < 0 ? -1 : (Py_ssize_t)mshard_store_count(keys->store->handle);
}

static PyObject *keys_item(PyObject *self, Py_ssize_t i)
{
    Py_ssize_t n = keys_length(self);

    if (n < 0)
        return NULL;
    if (i < 0 || i >= n) {
        PyErr_SetString(PyExc_IndexError, "record number out of range");
        return NULL;
    }
    return key_of(((struct mb_keys *)self)->store, (uint64_t)i);
}

static uint64_t nth(const struct mb_index *index, uint64_t k)
{
    if (index->kind == MB_LIST)
        return ((const uint64_t *)PyArray_DATA(index->list))[k];
    return index->first + (index->backwards ? index->count - 1 - k : k) * index->step;
}

static PyObject *keys_subscript(PyObject *self, PyObject *key)
{
    struct mb_store *store = ((struct mb_keys *)self)->store;
    Py_ssize_t n = keys_length(self);
    struct mb_index index;

    if (n < 0 || mb_index_parse(key, (uint64_t)n, &index) < 0)
        return NULL;
    if (index.kind == MB_ONE)
        return key_of(store, index.first);
    PyObject *list = PyList_New((Py_ssize_t)index.count);
    for (uint64_t k = 0; list && k < index.count; k++) {
        PyObject *text = key_of(store, nth(&index, k));
        if (!text || PyList_SetItem(list, (Py_ssize_t)k, text) < 0)
            Py_CLEAR(list);
    }
    mb_index_clear(&index);
    return list;
}

/* Record by record, for data sets whose records have keys but no index. No GIL here. */
static mshard_status scan(const mshard_store *handle, const void *key, size_t size, uint64_t *record, mshard_error *err)
{
    uint64_t count = mshard_store_count(handle);

    for (uint64_t i = 0; i < count; i++) {
        mshard_view view;
        mshard_status status = mshard_store_key(handle, i, &view, err);
        if (status != MSHARD_OK)
            return status;
        if (view.size == size && memcmp(view.data, key, size) == 0) {
            *record = i;
            return MSHARD_OK;
        }
    }
    return MSHARD_E_NOT_FOUND;
}

/* NOT_FOUND means no such key, or no index: an index knows the first record's key. No GIL here. */
static mshard_status search(const mshard_store *handle, const void *key, size_t size, uint64_t *record,
                            mshard_error *err)
{
    mshard_status status = mshard_store_find_key(handle, key, size, record, err);
    mshard_view first;
    uint64_t zero;

    if (status != MSHARD_E_NOT_FOUND || mshard_store_count(handle) == 0)
        return status;
    status = mshard_store_key(handle, 0, &first, err);
    if (status == MSHARD_OK)
        status = mshard_store_find_key(handle, first.data, first.size, &zero, err);
    if (status == MSHARD_OK)
        return MSHARD_E_NOT_FOUND;
    return status == MSHARD_E_NOT_FOUND ? scan(handle, key, size, record, err) : status;
}

/* 0: found, 1: no such key (no exception), -1: exception. */
static int find(struct mb_store *store, PyObject *key, uint64_t *record)
{
    PyObject *bytes = PyBytes_Check(key) ? Py_NewRef(key) : NULL;
    mshard_status status;
    mshard_error err;
    char *data;
    Py_ssize_t size;

    if (!bytes && PyUnicode_Check(key))
        bytes = PyUnicode_AsEncodedString(key, "utf-8", "surrogateescape");
    else if (!bytes)
        PyErr_Format(PyExc_TypeError, "a key is str or bytes, found %S", (PyObject *)Py_TYPE(key));
    if (!bytes || mb_store_alive(store) < 0 || PyBytes_AsStringAndSize(bytes, &data, &size) < 0) {
        Py_XDECREF(bytes);
        return -1;
    }
    Py_INCREF((PyObject *)store);
    Py_BEGIN_ALLOW_THREADS
    status = search(store->handle, data, (size_t)size, record, &err);
    Py_END_ALLOW_THREADS
    Py_DECREF((PyObject *)store);
    Py_DECREF(bytes);
    if (status == MSHARD_OK)
        return 0;
    if (status == MSHARD_E_NOT_FOUND || status == MSHARD_E_INVALID) /* INVALID: longer than a key can be */
        return 1;
    mb_raise(&store->state->errors, &err);
    return -1;
}

PyDoc_STRVAR(find_doc,
             "find(key) -> int\n\nThe number of the record with this key (str or bytes). KeyError: no such key.\n"
             "mshard.FormatError: the key index is damaged or belongs to another data set.");

static PyObject *keys_find(PyObject *self, PyObject *key)
{
    uint64_t record;
    int found = find(((struct mb_keys *)self)->store, key, &record);

    if (found == 0)
        return PyLong_FromUnsignedLongLong(record);
    if (found > 0)
        PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

static int keys_contains(PyObject *self, PyObject *key)
{
    uint64_t record;
    int found;

    if (!PyUnicode_Check(key) && !PyBytes_Check(key))
        return 0;
    found = find(((struct mb_keys *)self)->store, key, &record);
    return found < 0 ? -1 : found == 0;
}

static PyObject *keys_iter(PyObject *self)
{
    return PySeqIter_New(self);
}

static PyObject *keys_repr(PyObject *self)
{
    if (!((struct mb_keys *)self)->store->handle)
        return PyUnicode_FromString("<mshard keys, closed>");
    return PyUnicode_FromFormat("<mshard keys of %zd records>", keys_length(self));
}

static PyMethodDef keys_methods[] = {
    {"find", keys_find, METH_O, find_doc},
    {NULL, NULL, 0, NULL},
};
PyDoc_STRVAR(keys_doc,
             "The keys of the records: len, keys[i] -> str, keys[a:b] -> list of str, iteration in record order,\n"
             "`key in keys` and keys.find(key) -> record number: one B-tree descent, or a scan of the keys where\n"
             "the data set has no index.");
static PyType_Slot keys_slots[] = {
    {Py_tp_dealloc, keys_dealloc},
    {Py_tp_doc, (void *)keys_doc},
    {Py_tp_repr, keys_repr},
    {Py_tp_iter, keys_iter},
    {Py_tp_methods, keys_methods},
    {Py_mp_subscript, keys_subscript},
    {Py_mp_length, keys_length},
    {Py_sq_item, keys_item},
    {Py_sq_length, keys_length},
    {Py_sq_contains, keys_contains},
    {0, NULL},
};
PyType_Spec mb_keys_spec = {
    .name = "mshard.Keys",
    .basicsize = sizeof(struct mb_keys),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = keys_slots,
};
