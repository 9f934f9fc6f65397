/*
 * dataset.c - the records of a store as a sequence of samples
 *
 * ds[i] is a named tuple made in one allocation, its arrays views. The classes of samples and batches come from
 * mshard._sample and are shared by all data sets with the same field names. Data sets share a store when copied;
 * closing one lets go of its own share.
 */
#include "dataset.h"

/* Apply a transform to item k of a fresh sample. */
static int transformed(PyObject *sample, uint32_t k, PyObject *transform)
{
    Py_INCREF(transform); /* it may replace itself */
    PyObject *made = PyObject_CallFunctionObjArgs(transform, PyTuple_GetItem(sample, (Py_ssize_t)k), NULL);
    Py_DECREF(transform);
    if (!made)
        return -1;
    /* PyTuple_SetItem wants a tuple nobody else has; the transform saw the item only */
    return PyTuple_SetItem(sample, (Py_ssize_t)k, made);
}

static PyObject *sample_of(struct mb_dataset *self, uint64_t record)
{
    if (mb_dataset_alive(self) < 0 || mb_store_ready(self->store, record) < 0)
        return NULL;
    PyObject *columns = Py_XNewRef(self->columns); /* wherever the GIL is released another thread may close us */
    /* A fresh tuple of the sample's class, several times faster than calling the class (bench_python_access.py). */
    PyObject *sample = PyType_GenericAlloc(self->sample_type, (Py_ssize_t)self->fields);
    for (uint32_t f = 0; sample && f < self->fields; f++) {
        PyObject *value = mb_dataset_alive(self) < 0 ? NULL : mb_column_value(self->column[f], record);
        if (!value || PyTuple_SetItem(sample, (Py_ssize_t)f, value) < 0)
            Py_CLEAR(sample);
    }
    Py_XDECREF(columns);
    if (sample && self->transform && self->fields > 0 && transformed(sample, 0, self->transform) < 0)
        Py_CLEAR(sample);
    if (sample && self->target_transform && self->target < self->fields &&
        transformed(sample, self->target, self->target_transform) < 0)
        Py_CLEAR(sample);
    return sample;
}

static PyObject *batch_of(struct mb_dataset *self, const struct mb_index *index)
{
    if (mb_dataset_alive(self) < 0)
        return NULL;
    PyObject *batch = PyType_GenericAlloc(self->batch_type, (Py_ssize_t)self->fields);
    PyObject *columns = Py_NewRef(self->columns); /* as in sample_of */
    for (uint32_t f = 0; batch && f < self->fields; f++) {
        PyObject *value = mb_dataset_alive(self) < 0 ? NULL : mb_column_get(self->column[f], index);
        if (!value || PyTuple_SetItem(batch, (Py_ssize_t)f, value) < 0)
            Py_CLEAR(batch);
    }
    Py_DECREF(columns);
    return batch;
}

static PyObject *column_of(struct mb_dataset *self, PyObject *name)
{
    if (mb_dataset_alive(self) < 0)
        return NULL;
    PyObject *column = PyDict_GetItemWithError(self->columns, name);
    if (column)
        return Py_NewRef(column);
    if (!PyErr_Occurred()) {
        PyObject *names = PyDict_Keys(self->columns);
        PyErr_Format(PyExc_KeyError, "no field %R; fields: %S", name, names ? names : Py_None);
        Py_XDECREF(names);
    }
    return NULL;
}

static PyObject *dataset_subscript(PyObject *object, PyObject *key)
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    struct mb_index index;

    if (PyUnicode_Check(key))
        return column_of(self, key);
    if (mb_index_parse(key, self->count, &index) < 0)
        return NULL;
    if (index.kind == MB_ONE)
        return sample_of(self, index.first);
    PyObject *made = batch_of(self, &index);
    if (index.kind == MB_LIST)
        mb_index_clear(&index);
    return made;
}

static PyObject *dataset_item(PyObject *object, Py_ssize_t i)
{
    struct mb_dataset *self = (struct mb_dataset *)object;

    if (i < 0 || (uint64_t)i >= self->count) {
        PyErr_SetString(PyExc_IndexError, "record number out of range");
        return NULL;
    }
    return sample_of(self, (uint64_t)i);
}

static Py_ssize_t dataset_length(PyObject *self)
{
    return (Py_ssize_t)((struct mb_dataset *)self)->count;
}

static PyObject *dataset_iter(PyObject *self)
{
    return PySeqIter_New(self);
}

static int dataset_contains(PyObject *object, PyObject *name)
{
    struct mb_dataset *self = (struct mb_dataset *)object;

    if (mb_dataset_alive(self) < 0)
        return -1;
    if (PyUnicode_Check(name))
        return PyDict_Contains(self->columns, name);
    PyErr_SetString(PyExc_TypeError, "`in` takes the name of a field; for sample keys use `key in ds.keys`");
    return -1;
}

PyDoc_STRVAR(getitems_doc,
             "__getitems__(indices) -> list\n\nThe samples of a list of record numbers, transforms applied: "
             "what torch's DataLoader\ncalls with the numbers of a batch. IndexError: no such record.");

static PyObject *dataset_getitems(PyObject *object, PyObject *indices)
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    struct mb_index index;
    PyObject *numbers = PySequence_List(indices);

    if (!numbers)
        return NULL;
    int bad = mb_index_parse(numbers, self->count, &index);
    Py_DECREF(numbers);
    if (bad < 0)
        return NULL;
    const uint64_t *record = PyArray_DATA(index.list);
    PyObject *list = PyList_New((Py_ssize_t)index.count);
    for (uint64_t k = 0; list && k < index.count; k++) {
        PyObject *sample = sample_of(self, record[k]);
        if (!sample || PyList_SetItem(list, (Py_ssize_t)k, sample) < 0)
            Py_CLEAR(list);
    }
    mb_index_clear(&index);
    return list;
}

/* --- making and closing --- */

static void let_go(struct mb_dataset *self)
{
    struct mb_store *store = self->store;

    if (!store)
        return;
    self->store = NULL;
    store->users--;
    store->internal--;
    Py_CLEAR(self->columns);
    Py_CLEAR(self->keys);
    PyMem_Free(self->column);
    self->column = NULL;
    Py_DECREF((PyObject *)store);
}

static int add_columns(struct mb_dataset *self)
{
    const mshard_store *handle = self->store->handle;
    uint32_t all = mshard_store_field_count(handle);

    self->columns = PyDict_New();
    self->column = PyMem_Calloc(all + 1, sizeof(*self->column));
    if (!self->columns || !self->column)
        return -1;
    for (uint32_t f = 0; f < all; f++) {
        if (mshard_store_field(handle, f)->flags & MSHARD_FIELD_AUX)
            continue;
        struct mb_column *column = mb_column_new(self->store, f);
        if (!column)
            return -1;
        int bad = PyDict_SetItemString(self->columns, column->info->name, (PyObject *)column);
        Py_DECREF(column);
        if (bad < 0)
            return -1;
        self->column[self->fields++] = column;
    }
    return 0;
}

/* torchvision's target: the label, else the second field. */
static uint32_t target_field(const struct mb_dataset *self)
{
    for (uint32_t f = 0; f < self->fields; f++)
        if (self->column[f]->info->content == MSHARD_CONTENT_LABEL)
            return f;
    return self->fields > 1 ? 1 : self->fields;
}

static int add_types(struct mb_dataset *self)
{
    PyObject *keys = PyDict_Keys(self->columns);
    PyObject *names = keys ? PyList_AsTuple(keys) : NULL;
    PyObject *types = names ? PyObject_CallFunctionObjArgs(self->state->sample_types, names, NULL) : NULL;

    Py_XDECREF(keys);
    Py_XDECREF(names);
    if (!types)
        return -1;
    self->sample_type = (PyTypeObject *)Py_NewRef(PyTuple_GetItem(types, 0));
    self->batch_type = (PyTypeObject *)Py_NewRef(PyTuple_GetItem(types, 1));
    Py_DECREF(types);
    return 0;
}

/* A data set over store, whose reference is taken. */
static PyObject *dataset_over(PyTypeObject *type, struct mb_store *store, mshard_check check)
{
    struct mb_dataset *self = (struct mb_dataset *)PyType_GenericAlloc(type, 0);

    if (!self) {
        Py_DECREF((PyObject *)store);
        return NULL;
    }
    self->store = store;
    store->internal++;
    store->users++;
    self->state = store->state;
    self->check = check;
    self->count = mshard_store_count(store->handle);
    if (add_columns(self) < 0 || add_types(self) < 0)
        goto failed;
    self->target = target_field(self);
    self->keys = mshard_store_has_keys(store->handle) ? (PyObject *)mb_keys_new(store) : Py_NewRef(Py_None);
    if (!self->keys)
        goto failed;
    return (PyObject *)self;
failed:
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    Py_DECREF(self);
    return NULL;
}

static PyObject *dataset_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"path", "check", NULL};
    PyObject *path = NULL;
    const char *text = "open";
    mshard_check check;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|s:Dataset", (char **)names, PyUnicode_FSConverter, &path,
                                     &text))
        return NULL;
    struct mb_state *state = mb_state_of(type);
    struct mb_store *store = NULL;
    if (state && mb_check_parse(text, &check) == 0)
        store = mb_store_open(state, PyBytes_AsString(path), check);
    Py_DECREF(path);
    return store ? dataset_over(type, store, check) : NULL;
}

PyDoc_STRVAR(share_doc, "_share() -> Dataset\n\nAnother data set over the same open files, with the same transforms.");

static PyObject *dataset_share(PyObject *object, PyObject *Py_UNUSED(none))
{
    struct mb_dataset *self = (struct mb_dataset *)object;

    if (mb_dataset_alive(self) < 0)
        return NULL;
    Py_INCREF((PyObject *)self->store);
    PyObject *made = dataset_over(Py_TYPE(object), self->store, self->check);
    if (made) {
        ((struct mb_dataset *)made)->transform = Py_XNewRef(self->transform);
        ((struct mb_dataset *)made)->target_transform = Py_XNewRef(self->target_transform);
    }
    return made;
}

PyDoc_STRVAR(close_doc,
             "close() -> None\n\n"
             "Unmap the files now. BufferError while views are alive (they would dangle): delete them, or let\n"
             "`del ds` or a with block do it, which unmap when the last view goes. Closing twice is harmless.");

static PyObject *dataset_close(PyObject *object, PyObject *Py_UNUSED(none))
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    struct mb_store *store = self->store;

    if (!store)
        Py_RETURN_NONE;
    if (store->users == 1) {
        Py_ssize_t views = mb_store_exported(store);
        if (views > 0) {
            PyErr_Format(PyExc_BufferError, "%zd views of this data set are alive", views);
            return NULL;
        }
        Py_INCREF((PyObject *)store);
        let_go(self);
        mb_store_close(store);
        Py_DECREF((PyObject *)store);
    } else {
        let_go(self);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(release_doc,
             "_release() -> None\n\nEnd the use of this object; the files stay mapped until the last view goes.");

static PyObject *dataset_release(PyObject *object, PyObject *Py_UNUSED(none))
{
    let_go((struct mb_dataset *)object);
    Py_RETURN_NONE;
}

static int dataset_traverse(PyObject *object, visitproc visit, void *arg)
{
    struct mb_dataset *self = (struct mb_dataset *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->columns);
    Py_VISIT(self->keys);
    Py_VISIT(self->sample_type);
    Py_VISIT(self->batch_type);
    Py_VISIT(self->transform);
    Py_VISIT(self->target_transform);
    return 0;
}

static int dataset_clear(PyObject *object)
{
    struct mb_dataset *self = (struct mb_dataset *)object;

    let_go(self);
    Py_CLEAR(self->transform);
    Py_CLEAR(self->target_transform);
    return 0;
}

static void dataset_dealloc(PyObject *object)
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    PyObject_GC_UnTrack(object);
    dataset_clear(object);
    Py_XDECREF((PyObject *)self->sample_type);
    Py_XDECREF((PyObject *)self->batch_type);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef dataset_methods[] = {
    {"__getitems__", dataset_getitems, METH_O, getitems_doc},
    {"close", dataset_close, METH_NOARGS, close_doc},
    {"_share", dataset_share, METH_NOARGS, share_doc},
    {"_release", dataset_release, METH_NOARGS, release_doc},
    {"_fields_", mb_dataset_fields, METH_NOARGS,
     "Fields as tuples: name, dtype, shape, content, scale, offset, classes."},
    {"_stats_", mb_dataset_stats, METH_NOARGS, "Statistics as a dict of tuples."},
    {"_shards_", mb_dataset_shards, METH_NOARGS, "Shards as tuples: name, first_record, records, size, header_sum."},
    {"_manifest_", mb_dataset_manifest, METH_NOARGS, "The text of dataset.json."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot dataset_slots[] = {
    {Py_tp_new, dataset_new},
    {Py_tp_dealloc, dataset_dealloc},
    {Py_tp_traverse, dataset_traverse},
    {Py_tp_clear, dataset_clear},
    {Py_tp_doc, (void *)"Records as samples; the base of mshard.Dataset."},
    {Py_tp_iter, dataset_iter},
    {Py_tp_methods, dataset_methods},
    {Py_tp_getset, mb_dataset_getset},
    {Py_mp_subscript, dataset_subscript},
    {Py_mp_length, dataset_length},
    {Py_sq_item, dataset_item},
    {Py_sq_length, dataset_length},
    {Py_sq_contains, dataset_contains},
    {0, NULL},
};
PyType_Spec mb_dataset_spec = {
    .name = "mshard._mshard.Dataset",
    .basicsize = sizeof(struct mb_dataset),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = dataset_slots,
};
