/*
 * column.c - one field of all records, as a sequence and an array
 *
 * A record of a fixed field, and a slice that lies in one shard, are views. What spans shards or follows an index
 * array is a copy (gather.c). Columns belong to a data set, but hold the store only, so there is no cycle.
 */
#include "binding.h"

struct mb_column *mb_column_new(struct mb_store *store, uint32_t field)
{
    struct mb_column *column = (struct mb_column *)PyType_GenericAlloc(store->state->column_type, 0);
    if (!column)
        return NULL;
    const mshard_field *info = mshard_store_field(store->handle, field);
    Py_INCREF((PyObject *)store);
    store->internal++;
    column->store = store;
    column->info = info;
    column->field = field;
    column->dtype = info->dtype;
    column->variable = mshard_field_is_variable(info);
    column->ndim = (int)info->ndim;
    column->count = mshard_store_count(store->handle);
    column->record_size = (size_t)info->record_size;
    column->shape[0] = (npy_intp)column->count;
    for (uint32_t d = 0; d < info->ndim; d++)
        column->shape[1 + d] = info->shape[d] == MSHARD_DIM_UNKNOWN ? -1 : (npy_intp)info->shape[d];
    column->descr = mb_descr(info->dtype);
    if (!column->descr) {
        Py_DECREF(column);
        return NULL;
    }
    return column;
}

static void column_dealloc(PyObject *self)
{
    struct mb_column *column = (struct mb_column *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (column->store) {
        column->store->internal--;
        Py_DECREF(column->store);
    }
    Py_XDECREF((PyObject *)column->descr);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* The shape of one value of a variable field. */
static int value_shape(struct mb_column *column, uint64_t record, size_t size, npy_intp *dims)
{
    uint64_t shape[MSHARD_MAX_DIMS];
    mshard_error err;

    if (column->ndim == 1) {
        dims[0] = (npy_intp)(size / mshard_dtype_size(column->dtype));
        return 0;
    }
    if (mshard_store_shape(column->store->handle, record, column->field, shape, &err) != MSHARD_OK) {
        mb_raise(&column->store->state->errors, &err);
        return -1;
    }
    for (int d = 0; d < column->ndim; d++)
        dims[d] = (npy_intp)shape[d];
    return 0;
}

PyObject *mb_column_value(struct mb_column *column, uint64_t record)
{
    npy_intp dims[MSHARD_MAX_DIMS];
    mshard_view view;

    if (mb_store_record(column->store, record, column->field, &view) < 0)
        return NULL;
    if (column->ndim == 0)
        return mb_scalar(column->dtype, view.data);
    if (!column->variable)
        return mb_view(column->store, column->descr, column->ndim, column->shape + 1, view.data);
    if (value_shape(column, record, view.size, dims) < 0)
        return NULL;
    return mb_view(column->store, column->descr, column->ndim, dims, view.data);
}

static PyObject *strided(PyObject *view, const struct mb_index *span)
{
    PyObject *step = PyLong_FromLongLong(span->backwards ? -(long long)span->step : (long long)span->step);
    PyObject *slice = step ? PySlice_New(NULL, NULL, step) : NULL;
    PyObject *made = slice ? PyObject_GetItem(view, slice) : NULL;

    Py_XDECREF(step);
    Py_XDECREF(slice);
    Py_DECREF(view);
    return made;
}

PyObject *mb_column_span(struct mb_column *column, const struct mb_index *span)
{
    if (mb_store_alive(column->store) < 0)
        return NULL;
    if (column->variable || span->count == 0)
        return Py_NewRef(Py_None);
    uint64_t reach = (span->count - 1) * span->step + 1; /* below the record count */
    mshard_status status = MSHARD_OK;
    mshard_view view;
    mshard_error err;
    uint64_t run;

    Py_INCREF((PyObject *)column->store);
    Py_BEGIN_ALLOW_THREADS
    run = mshard_store_run(column->store->handle, span->first);
    if (run >= reach)
        status = mshard_store_column(column->store->handle, span->first, reach, column->field, &view, &err);
    Py_END_ALLOW_THREADS
    PyObject *made = NULL;
    if (status != MSHARD_OK) {
        mb_raise(&column->store->state->errors, &err);
    } else if (run < reach) {
        made = Py_NewRef(Py_None);
    } else {
        npy_intp dims[1 + MSHARD_MAX_DIMS];
        memcpy(dims, column->shape, sizeof(dims));
        dims[0] = (npy_intp)reach;
        made = mb_view(column->store, column->descr, column->ndim + 1, dims, view.data);
        if (made && (span->step != 1 || span->backwards))
            made = strided(made, span);
    }
    Py_DECREF(column->store);
    return made;
}

/* column[i, ...]: the rest of the tuple goes to numpy. */
static PyObject *nested(PyObject *self, PyObject *key)
{
    Py_ssize_t n = PyTuple_Size(key);
    if (n == 0) {
        PyErr_SetString(PyExc_IndexError, "an empty tuple chooses no record");
        return NULL;
    }
    PyObject *first = PyTuple_GetItem(key, 0);
    PyObject *part = PyObject_GetItem(self, first);
    if (!part || n == 1)
        return part;
    PyObject *rest = PyTuple_GetSlice(key, 1, n);
    int batch = PySlice_Check(first) || PyList_Check(first) ||
                (PyArray_Check(first) && PyArray_NDIM((PyArrayObject *)first) > 0);
    if (rest && batch) { /* keep the leading dimension */
        PyObject *all = PySlice_New(NULL, NULL, NULL);
        PyObject *lead = all ? PyTuple_Pack(1, all) : NULL;
        PyObject *joined = lead ? PySequence_Concat(lead, rest) : NULL;
        Py_XDECREF(all);
        Py_XDECREF(lead);
        mb_replace(&rest, joined);
    }
    PyObject *made = rest ? PyObject_GetItem(part, rest) : NULL;
    Py_XDECREF(rest);
    Py_DECREF(part);
    return made;
}

static PyObject *column_subscript(PyObject *self, PyObject *key)
{
    struct mb_column *column = (struct mb_column *)self;
    struct mb_index index;

    if (PyTuple_Check(key))
        return nested(self, key);
    if (mb_index_parse(key, column->count, &index) < 0)
        return NULL;
    PyObject *made = mb_column_get(column, &index);
    if (index.kind == MB_LIST)
        mb_index_clear(&index);
    return made;
}

static PyObject *column_item(PyObject *self, Py_ssize_t i)
{
    struct mb_column *column = (struct mb_column *)self;

    if (i < 0 || (uint64_t)i >= column->count) {
        PyErr_SetString(PyExc_IndexError, "record number out of range");
        return NULL;
    }
    return mb_store_ready(column->store, (uint64_t)i) < 0 ? NULL : mb_column_value(column, (uint64_t)i);
}

static Py_ssize_t column_length(PyObject *self)
{
    return (Py_ssize_t)((struct mb_column *)self)->count;
}

static PyObject *column_iter(PyObject *self)
{
    return PySeqIter_New(self);
}

/* Without this Python would compare record by record, and arrays do not compare to one truth. */
static int column_contains(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(value))
{
    PyErr_SetString(PyExc_TypeError, "`in` is not offered for columns; use numpy on column[a:b]");
    return -1;
}

PyDoc_STRVAR(array_doc,
             "__array__(dtype=None, copy=None) -> numpy.ndarray\n\n"
             "All records, [len(column), shape...]: a read-only view when the data set is one shard, else a\n"
             "copy (copy=False then raises ValueError). TypeError for fields of variable shape.");

static PyObject *convert(PyObject *array, PyObject *dtype, int may_copy)
{
    PyArray_Descr *wanted = NULL;

    if (!PyArray_DescrConverter2(dtype, &wanted)) {
        Py_DECREF(array);
        return NULL;
    }
    if (!wanted || PyArray_EquivTypes(wanted, PyArray_DESCR((PyArrayObject *)array))) {
        Py_XDECREF((PyObject *)wanted);
        return array;
    }
    if (!may_copy) {
        PyErr_SetString(PyExc_ValueError, "another dtype needs a copy");
        Py_DECREF((PyObject *)wanted);
        Py_DECREF(array);
        return NULL;
    }
    PyObject *made = PyArray_CastToType((PyArrayObject *)array, wanted, 0); /* steals wanted */
    Py_DECREF(array);
    return made;
}

static PyObject *column_array(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct mb_column *column = (struct mb_column *)self;
    static const char *const names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO", (char **)names, &dtype, &copy) ||
        mb_store_alive(column->store) < 0)
        return NULL;
    if (column->variable) {
        PyErr_Format(PyExc_TypeError, "field %s differs in shape from record to record: use list(column)",
                     column->info->name);
        return NULL;
    }
    int want = copy == Py_None ? -1 : PyObject_IsTrue(copy);
    if (want == -1 && PyErr_Occurred())
        return NULL;
    struct mb_index all = {.kind = MB_SPAN, .count = column->count, .step = 1};
    PyObject *array = mb_column_span(column, &all);
    if (!array)
        return NULL;
    if (array == Py_None) {
        Py_DECREF(array);
        if (want == 0 && column->count > 0) {
            PyErr_SetString(PyExc_ValueError, "the column spans several shards: one array of it needs a copy");
            return NULL;
        }
        array = mb_column_stitch(column, 0, column->count);
    } else if (want == 1) {
        mb_replace(&array, PyArray_NewCopy((PyArrayObject *)array, NPY_CORDER));
    }
    return array ? convert(array, dtype, want != 0) : NULL;
}

PyDoc_STRVAR(views_doc, "views() -> list of numpy.ndarray\n\nOne view of each shard, [records, shape...], without a "
                        "copy.\nTypeError for fields of variable shape.");

static PyObject *column_views(PyObject *self, PyObject *Py_UNUSED(none))
{
    struct mb_column *column = (struct mb_column *)self;

    if (mb_store_alive(column->store) < 0)
        return NULL;
    if (column->variable) {
        PyErr_Format(PyExc_TypeError, "field %s differs in shape from record to record", column->info->name);
        return NULL;
    }
    PyObject *list = PyList_New(0);
    for (uint64_t s = 0; list && s < column->store->shards; s++) {
        mshard_shard_info info;
        mshard_store_shard(column->store->handle, s, &info);
        if (info.records == 0)
            continue;
        struct mb_index span = {.kind = MB_SPAN, .first = info.first_record, .count = info.records, .step = 1};
        PyObject *view = mb_column_span(column, &span);
        if (!view || PyList_Append(list, view) < 0)
            Py_CLEAR(list);
        Py_XDECREF(view);
    }
    return list;
}

PyDoc_STRVAR(offset_doc,
             "offset(shard=0) -> int\n\nByte in the shard's file where this column starts: what numpy.memmap "
             "takes.\nIndexError: no such shard. ValueError: a field of variable shape.");

static PyObject *column_offset(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct mb_column *column = (struct mb_column *)self;
    static const char *const names[] = {"shard", NULL};
    unsigned long long shard = 0;
    uint64_t offset;
    mshard_status status;
    mshard_error err;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|K", (char **)names, &shard) || mb_store_alive(column->store) < 0)
        return NULL;
    if (shard >= column->store->shards) {
        PyErr_Format(PyExc_IndexError, "shard %llu: there are %llu", shard, (unsigned long long)column->store->shards);
        return NULL;
    }
    Py_INCREF((PyObject *)column->store);
    Py_BEGIN_ALLOW_THREADS
    status = mshard_store_column_offset(column->store->handle, shard, column->field, &offset, &err);
    Py_END_ALLOW_THREADS
    Py_DECREF(column->store);
    if (status != MSHARD_OK)
        return mb_raise(&column->store->state->errors, &err);
    return PyLong_FromUnsignedLongLong(offset);
}

static PyObject *dims_tuple(const npy_intp *dims, int n)
{
    PyObject *tuple = PyTuple_New(n);

    for (int d = 0; tuple && d < n; d++) {
        PyObject *dim = dims[d] < 0 ? Py_NewRef(Py_None) : PyLong_FromSsize_t(dims[d]);
        if (!dim || PyTuple_SetItem(tuple, d, dim) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *column_shape(PyObject *self, void *Py_UNUSED(closure))
{
    struct mb_column *column = (struct mb_column *)self;
    return dims_tuple(column->shape, column->ndim + 1);
}

static PyObject *column_dtype(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef((PyObject *)((struct mb_column *)self)->descr);
}

static PyObject *column_ndim(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(((struct mb_column *)self)->ndim + 1);
}

static PyObject *column_name(PyObject *self, void *Py_UNUSED(closure))
{
    struct mb_column *column = (struct mb_column *)self;
    return mb_store_alive(column->store) < 0 ? NULL : PyUnicode_FromString(column->info->name);
}

static PyObject *column_repr(PyObject *self)
{
    struct mb_column *column = (struct mb_column *)self;
    if (!column->store->handle)
        return PyUnicode_FromString("<mshard column, closed>");
    PyObject *shape = column_shape(self, NULL);
    if (!shape)
        return NULL;
    PyObject *made = PyUnicode_FromFormat("<mshard column %s, %s, shape %S>", column->info->name,
                                          mshard_dtype_name(column->dtype), shape);
    Py_DECREF(shape);
    return made;
}

static PyMethodDef column_methods[] = {
    {"__array__", (PyCFunction)(void (*)(void))column_array, METH_VARARGS | METH_KEYWORDS, array_doc},
    {"views", column_views, METH_NOARGS, views_doc},
    {"offset", (PyCFunction)(void (*)(void))column_offset, METH_VARARGS | METH_KEYWORDS, offset_doc},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef column_getset[] = {
    {"name", column_name, NULL, "str: the field's name", NULL},
    {"dtype", column_dtype, NULL, "numpy.dtype of the values", NULL},
    {"shape", column_shape, NULL, "tuple: (records, shape of one value...); None where it differs by record", NULL},
    {"ndim", column_ndim, NULL, "int: len(shape)", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(column_doc,
             "One field of all records: ds[\"image\"].\n\n"
             "column[i]       one value: a read-only view of the field's shape; int, float or bool for scalars\n"
             "column[a:b:c]   [n, shape...]: a view when the slice lies in one shard, else a copy\n"
             "column[array]   [n, shape...]: a copy; also lists, ranges and masks of bool\n"
             "column[i, ...]  column[i] indexed further, by numpy\n"
             "Slices and arrays of a variable field give a list of views. Encoded images and text are uint8.\n"
             "bfloat16 needs ml_dtypes; without it values are uint16, the bits.\n"
             "IndexError: no such record. mshard.FormatError: the shard is damaged.");

static PyType_Slot column_slots[] = {
    {Py_tp_dealloc, column_dealloc},     {Py_tp_doc, (void *)column_doc},   {Py_tp_repr, column_repr},
    {Py_tp_iter, column_iter},           {Py_tp_methods, column_methods},   {Py_tp_getset, column_getset},
    {Py_mp_subscript, column_subscript}, {Py_mp_length, column_length},     {Py_sq_item, column_item},
    {Py_sq_length, column_length},       {Py_sq_contains, column_contains}, {0, NULL},
};
PyType_Spec mb_column_spec = {
    .name = "mshard.Column",
    .basicsize = sizeof(struct mb_column),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = column_slots,
};
