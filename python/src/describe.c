/*
 * describe.c - what a store says about itself, as plain tuples and dicts
 *
 * mshard/_dataset.py gives them names. Texts come from dataset.json, which is untrusted but valid UTF-8.
 */
#include "binding.h"

static PyObject *shape_of(const mshard_field *field)
{
    PyObject *shape = PyTuple_New((Py_ssize_t)field->ndim);

    for (uint32_t d = 0; shape && d < field->ndim; d++) {
        PyObject *dim =
            field->shape[d] == MSHARD_DIM_UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(field->shape[d]);
        if (!dim || PyTuple_SetItem(shape, (Py_ssize_t)d, dim) < 0)
            Py_CLEAR(shape);
    }
    return shape;
}

static PyObject *classes_of(const mshard_store *handle, uint32_t f)
{
    uint64_t n = mshard_store_class_count(handle, f);
    if (n == 0)
        return Py_NewRef(Py_None);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (uint64_t i = 0; list && i < n; i++) {
        PyObject *name = mb_text(mshard_store_class_name(handle, f, i));
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static int append(PyObject **list, PyObject *item)
{
    int bad = !item || PyList_Append(*list, item) < 0;

    Py_XDECREF(item);
    if (bad)
        Py_CLEAR(*list);
    return bad ? -1 : 0;
}

PyObject *mb_describe_fields(const struct mb_store *store)
{
    const mshard_store *handle = store->handle;
    PyObject *list = PyList_New(0);

    for (uint32_t f = 0; list && f < mshard_store_field_count(handle); f++) {
        const mshard_field *field = mshard_store_field(handle, f);
        if (field->flags & MSHARD_FIELD_AUX)
            continue;
        int scaled = (field->flags & MSHARD_FIELD_SCALED) != 0;
        append(&list, Py_BuildValue("(ssNsddN)", field->name, mshard_dtype_name(field->dtype), shape_of(field),
                                    mshard_content_name(field->content), scaled ? field->scale : 1.0,
                                    scaled ? field->offset : 0.0, classes_of(handle, f)));
    }
    return list;
}

static PyObject *doubles(const double *values, uint32_t n)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);

    for (uint32_t i = 0; tuple && i < n; i++) {
        PyObject *value = PyFloat_FromDouble(values[i]);
        if (!value || PyTuple_SetItem(tuple, (Py_ssize_t)i, value) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *counts_of(const mshard_stats *stats)
{
    if (!stats->counts)
        return Py_NewRef(Py_None);
    PyObject *tuple = PyTuple_New((Py_ssize_t)stats->count_length);
    for (uint64_t i = 0; tuple && i < stats->count_length; i++) {
        PyObject *value = PyLong_FromUnsignedLongLong(stats->counts[i]);
        if (!value || PyTuple_SetItem(tuple, (Py_ssize_t)i, value) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

PyObject *mb_describe_stats(const struct mb_store *store)
{
    const mshard_store *handle = store->handle;
    PyObject *dict = PyDict_New();

    for (uint32_t f = 0; dict && f < mshard_store_field_count(handle); f++) {
        const mshard_field *field = mshard_store_field(handle, f);
        const mshard_stats *s = mshard_store_stats(handle, f);
        if (!s || field->flags & MSHARD_FIELD_AUX)
            continue;
        uint32_t n = s->channels < MSHARD_MAX_CHANNELS ? s->channels : MSHARD_MAX_CHANNELS;
        PyObject *sizes = mshard_field_is_variable(field)
                              ? Py_BuildValue("(KK)", (unsigned long long)s->min_size, (unsigned long long)s->max_size)
                              : Py_BuildValue("(OO)", Py_None, Py_None);
        PyObject *item = Py_BuildValue("(IKKKNNNNNN)", n, (unsigned long long)s->values, (unsigned long long)s->nan,
                                       (unsigned long long)s->inf, doubles(s->min, n), doubles(s->max, n),
                                       doubles(s->mean, n), doubles(s->std, n), counts_of(s), sizes);
        if (!item || PyDict_SetItemString(dict, field->name, item) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(item);
    }
    return dict;
}

PyObject *mb_describe_shards(const struct mb_store *store)
{
    PyObject *list = PyList_New(0);

    for (uint64_t i = 0; list && i < store->shards; i++) {
        mshard_shard_info info;
        mshard_store_shard(store->handle, i, &info);
        append(&list, Py_BuildValue("(NKKKK)", mb_text(info.name), (unsigned long long)info.first_record,
                                    (unsigned long long)info.records, (unsigned long long)info.size,
                                    (unsigned long long)info.header_sum));
    }
    return list;
}
