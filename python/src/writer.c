/*
 * writer.c - make a data set from Python values
 *
 * Values are taken apart and checked in writer_value.c. The C writer is for one thread: a second one gets
 * RuntimeError, not a race.
 */
#include "writer.h"

static int usable(const struct mb_writer *self)
{
    if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "the writer is at work in another thread");
    else if (!self->handle)
        PyErr_SetString(PyExc_ValueError, "the writer is closed: it was committed or aborted");
    else
        return 0;
    return -1;
}

/* The bytes of a key; new reference. NULL without an exception: no key given. */
static PyObject *key_bytes(struct mb_writer *self, PyObject *key)
{
    if (!key || key == Py_None) {
        if (self->keys)
            PyErr_SetString(PyExc_ValueError, "this writer makes keys: each sample needs one");
        return NULL;
    }
    if (!self->keys) {
        PyErr_SetString(PyExc_ValueError, "a key was given, but the writer was made without keys=True");
        return NULL;
    }
    if (PyUnicode_Check(key))
        return PyUnicode_AsEncodedString(key, "utf-8", "surrogateescape");
    if (PyBytes_Check(key))
        return Py_NewRef(key);
    PyErr_Format(PyExc_TypeError, "a key is str or bytes, found %S", (PyObject *)Py_TYPE(key));
    return NULL;
}

/* The end of a call into the library. */
static int finish(struct mb_writer *self, mshard_status status, const mshard_error *err)
{
    self->busy = 0;
    self->count = mshard_writer_count(self->handle);
    if (status == MSHARD_OK)
        return 0;
    mb_raise(&self->state->errors, err);
    return -1;
}

static int write_values(struct mb_writer *self, PyObject *const *values, PyObject *key)
{
    struct mb_record record = {.used = 0};
    mshard_status status;
    mshard_error err;
    char *key_data = NULL;
    Py_ssize_t key_size = 0;
    int result = -1;

    PyObject *bytes = key_bytes(self, key);
    if (PyErr_Occurred() || (bytes && PyBytes_AsStringAndSize(bytes, &key_data, &key_size) < 0))
        goto out;
    for (uint32_t f = 0; f < self->fields; f++)
        if (mb_record_add(self, &record, f, values[f]) < 0)
            goto out;
    if (usable(self) < 0) /* conversion ran Python code */
        goto out;
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    status = mshard_writer_write(self->handle, record.values, key_data, (size_t)key_size, &err);
    Py_END_ALLOW_THREADS
    result = finish(self, status, &err);
out:
    mb_record_clear(&record);
    Py_XDECREF(bytes);
    return result;
}

PyDoc_STRVAR(
    write_doc,
    "write(sample, key=None) -> None\n\n"
    "Add one record. sample: dict of field name -> value, or a tuple or list in field order. A value is an\n"
    "array of the field's dtype and shape, or anything numpy turns into one without loss: wider types,\n"
    "fractions and numbers that do not fit are refused with TypeError or ValueError naming the field. bytes and\n"
    "str (UTF-8) are taken for uint8 fields of one unknown dimension. key: str or bytes, with keys=True only.");

static PyObject *writer_write(PyObject *object, PyObject *args, PyObject *keywords)
{
    struct mb_writer *self = (struct mb_writer *)object;
    static const char *const names[] = {"sample", "key", NULL};
    PyObject *values[MSHARD_MAX_FIELDS];
    PyObject *sample, *key = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O", (char **)names, &sample, &key) || usable(self) < 0 ||
        mb_take_apart(self, sample, values) < 0 || write_values(self, values, key) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* --- batches --- */

static Py_ssize_t batch_length(struct mb_writer *self, PyObject *const *values)
{
    Py_ssize_t n = -1;

    for (uint32_t f = 0; f < self->fields; f++) {
        Py_ssize_t size = PyObject_Size(values[f]);
        if (size < 0)
            return -1;
        if (n >= 0 && size != n) {
            PyErr_Format(PyExc_ValueError, "field %U: %zd records, the fields before have %zd", self->slots[f].name,
                         size, n);
            return -1;
        }
        n = size;
    }
    return n;
}

static int write_arrays(struct mb_writer *self, PyObject *const *values, Py_ssize_t n)
{
    PyArrayObject *arrays[MSHARD_MAX_FIELDS] = {NULL};
    const void *data[MSHARD_MAX_FIELDS];
    mshard_status status;
    mshard_error err;
    int result = -1;

    for (uint32_t f = 0; f < self->fields; f++) {
        arrays[f] = mb_writer_array(self, &self->slots[f], values[f]);
        if (!arrays[f] || mb_check_shape(&self->slots[f], arrays[f], 1) < 0)
            goto out;
        data[f] = PyArray_DATA(arrays[f]);
    }
    if (usable(self) < 0)
        goto out;
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    status = mshard_writer_write_batch(self->handle, data, (uint64_t)n, &err);
    Py_END_ALLOW_THREADS
    result = finish(self, status, &err);
out:
    for (uint32_t f = 0; f < self->fields; f++)
        Py_XDECREF((PyObject *)arrays[f]);
    return result;
}

/* Record by record: variable fields and keys. */
static int write_each(struct mb_writer *self, PyObject *const *values, Py_ssize_t n, PyObject *keys)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *parts[MSHARD_MAX_FIELDS] = {NULL};
        PyObject *key = keys ? PySequence_GetItem(keys, i) : NULL;
        int bad = keys && !key;
        for (uint32_t f = 0; !bad && f < self->fields; f++)
            bad = !(parts[f] = PySequence_GetItem(values[f], i));
        bad = bad || write_values(self, parts, key) < 0;
        for (uint32_t f = 0; f < self->fields; f++)
            Py_XDECREF(parts[f]);
        Py_XDECREF(key);
        if (bad)
            return -1;
    }
    return 0;
}

PyDoc_STRVAR(
    write_batch_doc,
    "write_batch(batch, keys=None) -> None\n\n"
    "Add n records. batch: dict of field name -> array [n, shape...], or a tuple or list in field order; for\n"
    "variable fields a sequence of n values. keys: sequence of n keys, with keys=True only. With fixed fields\n"
    "and no keys nothing is added when an error is raised; else the records before the faulty one are.");

static PyObject *writer_write_batch(PyObject *object, PyObject *args, PyObject *keywords)
{
    struct mb_writer *self = (struct mb_writer *)object;
    static const char *const names[] = {"batch", "keys", NULL};
    PyObject *values[MSHARD_MAX_FIELDS];
    PyObject *batch, *keys = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O", (char **)names, &batch, &keys) || usable(self) < 0 ||
        mb_take_apart(self, batch, values) < 0)
        return NULL;
    if (keys == Py_None)
        keys = NULL;
    Py_ssize_t n = batch_length(self, values);
    if (n < 0)
        return NULL;
    Py_ssize_t given = keys ? PyObject_Size(keys) : n;
    if (given != n) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "%zd keys for %zd records", given, n);
        return NULL;
    }
    int bad;
    if (n == 0)
        bad = 0;
    else if (self->variable || self->keys || keys)
        bad = write_each(self, values, n, keys);
    else
        bad = write_arrays(self, values, n);
    if (bad < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* --- making and ending --- */

static void drop(struct mb_writer *self)
{
    mshard_writer *handle = self->handle;

    self->handle = NULL;
    if (!handle)
        return;
    Py_BEGIN_ALLOW_THREADS
    mshard_writer_unref(handle);
    Py_END_ALLOW_THREADS
}

PyDoc_STRVAR(commit_doc,
             "commit() -> None\n\nSeal, check and publish the data set; the writer is closed then. ValueError: no "
             "records.\nFileExistsError: a key was given twice. OSError: the disk is full, ...; nothing is published.");

static PyObject *writer_commit(PyObject *object, PyObject *Py_UNUSED(none))
{
    struct mb_writer *self = (struct mb_writer *)object;
    mshard_status status;
    mshard_error err;

    if (usable(self) < 0)
        return NULL;
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    status = mshard_writer_commit(self->handle, &err);
    Py_END_ALLOW_THREADS
    int bad = finish(self, status, &err);
    if (bad < 0) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        drop(self);
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    drop(self);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    abort_doc,
    "abort() -> None\n\nDrop the writer and remove what it wrote; nothing is published. Harmless when closed.");

static PyObject *writer_abort(PyObject *object, PyObject *Py_UNUSED(none))
{
    struct mb_writer *self = (struct mb_writer *)object;

    if (self->handle && usable(self) < 0)
        return NULL;
    drop(self);
    Py_RETURN_NONE;
}

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"path",  "fields", "classes",   "shard_size", "records_per_shard",
                                        "align", "keys",   "overwrite", "sync",       NULL};
    mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT};
    PyObject *path = NULL, *specs, *classes;
    unsigned long long shard_size = 0, records = 0;
    unsigned int align = 0;
    int keys = 0, overwrite = 0, sync = 1;

    struct mb_state *state = mb_state_of(type);
    if (!state || !PyArg_ParseTupleAndKeywords(args, keywords, "O&O!O!KKIppp:Writer", (char **)names,
                                               PyUnicode_FSConverter, &path, &PyList_Type, &specs, &PyList_Type,
                                               &classes, &shard_size, &records, &align, &keys, &overwrite, &sync))
        return NULL;
    options.shard_size = shard_size;
    options.records_per_shard = records;
    options.align = align;
    options.keys = (uint32_t)keys;
    options.overwrite = (uint32_t)overwrite;
    options.no_sync = !sync;
    struct mb_writer *self = (struct mb_writer *)PyType_GenericAlloc(type, 0);
    if (self) {
        self->state = state;
        self->keys = keys;
        if (mb_writer_setup(self, PyBytes_AsString(path), specs, classes, &options) < 0) {
            PyObject *kind, *value, *trace;
            PyErr_Fetch(&kind, &value, &trace);
            drop(self); /* before the finalizer would warn */
            Py_CLEAR(self);
            PyErr_Restore(kind, value, trace);
        }
    }
    Py_DECREF(path);
    return (PyObject *)self;
}

static void writer_finalize(PyObject *object)
{
    struct mb_writer *self = (struct mb_writer *)object;
    PyObject *type, *value, *trace;

    if (!self->handle)
        return;
    PyErr_Fetch(&type, &value, &trace);
    if (PyErr_ResourceWarning(object, 1,
                              "a mshard.Writer was neither committed nor aborted: what it wrote is removed") < 0)
        PyErr_WriteUnraisable(object);
    drop(self);
    PyErr_Restore(type, value, trace);
}

static int writer_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static void writer_dealloc(PyObject *object)
{
    struct mb_writer *self = (struct mb_writer *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    PyObject_GC_UnTrack(object);
    drop(self);
    for (uint32_t f = 0; f < self->fields; f++) {
        Py_XDECREF(self->slots[f].name);
        Py_XDECREF((PyObject *)self->slots[f].descr);
    }
    PyMem_Free(self->slots);
    release(object);
    Py_DECREF(type);
}

static Py_ssize_t writer_length(PyObject *object)
{
    return (Py_ssize_t)((struct mb_writer *)object)->count;
}

static PyObject *get_closed(PyObject *object, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((struct mb_writer *)object)->handle == NULL);
}

static PyMethodDef writer_methods[] = {
    {"write", (PyCFunction)(void (*)(void))writer_write, METH_VARARGS | METH_KEYWORDS, write_doc},
    {"write_batch", (PyCFunction)(void (*)(void))writer_write_batch, METH_VARARGS | METH_KEYWORDS, write_batch_doc},
    {"commit", writer_commit, METH_NOARGS, commit_doc},
    {"abort", writer_abort, METH_NOARGS, abort_doc},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef writer_getset[] = {
    {"closed", get_closed, NULL, "bool: committed or aborted", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot writer_slots[] = {
    {Py_tp_new, writer_new},
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_finalize, writer_finalize},
    {Py_tp_traverse, writer_traverse},
    {Py_tp_doc, (void *)"Writes records; the base of mshard.Writer."},
    {Py_tp_methods, writer_methods},
    {Py_tp_getset, writer_getset},
    {Py_mp_length, writer_length},
    {0, NULL},
};
PyType_Spec mb_writer_spec = {
    .name = "mshard._mshard.Writer",
    .basicsize = sizeof(struct mb_writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = writer_slots,
};
