/*
 * binding.h - what the sources of the extension modules share
 *
 * Rules that hold in every file here: CPython's limited API of 3.11 only; heap types; all state in the module or
 * in the object; the GIL is released around whatever can read a file, wait, or copy much; during such a stretch
 * the store object is referenced, so nobody can close it. Objects keep `state`, valid because an object's type
 * keeps its module alive.
 */
#ifndef MSHARD_PYTHON_BINDING_H
#define MSHARD_PYTHON_BINDING_H

#include "errors.h"

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL mb_array_api
#ifndef MB_IMPORT_ARRAY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <mshard/mshard.h>

/* *place = value, dropping what was there: Py_SETREF, which the limited API lacks. */
static inline void mb_replace(PyObject **place, PyObject *value)
{
    PyObject *old = *place;
    *place = value;
    Py_XDECREF(old);
}

struct mb_state {
    struct mb_errors errors;
    PyTypeObject *store_type, *dataset_type, *column_type, *keys_type, *writer_type;
    PyObject *sample_types; /* mshard._sample.sample_types: names -> (Sample class, Batch class) */
    PyObject *coerce;       /* mshard._convert.coerce: any value -> array of a field's dtype */
};
struct mb_state *mb_state_of(PyTypeObject *type);               /* of a type or of a subclass made in Python */
PyTypeObject *mb_type_add(PyObject *module, PyType_Spec *spec); /* new reference */

/* store.c: the owner of a handle; base object of every view. */
struct mb_store {
    PyObject_HEAD mshard_store *handle; /* NULL once closed */
    struct mb_state *state;
    uint8_t *ready; /* by shard: open, and its scalars paged in; by GIL */
    uint64_t shards, not_ready;
    Py_ssize_t internal; /* references held by data sets, columns and keys: not views */
    Py_ssize_t users;    /* open data sets */
    int careful;         /* reading may compute checksums: never with the GIL held */
};
struct mb_store *mb_store_open(struct mb_state *state, const char *path, mshard_check check);
Py_ssize_t mb_store_exported(const struct mb_store *store); /* live views */
void mb_store_close(struct mb_store *store);
int mb_store_alive(const struct mb_store *store);            /* else ValueError */
int mb_store_ready(struct mb_store *store, uint64_t record); /* opens the record's shard; -1: exception */
int mb_store_record(struct mb_store *store, uint64_t record, uint32_t field, mshard_view *view);

/* view.c: values as Python objects. */
PyArray_Descr *mb_descr(mshard_dtype dtype); /* new reference; bfloat16: ml_dtypes', else uint16 */
PyObject *mb_scalar(mshard_dtype dtype, const void *data);
PyObject *mb_view(struct mb_store *store, PyArray_Descr *descr, int ndim, const npy_intp *dims, const void *data);
PyObject *mb_empty(PyArray_Descr *descr, int ndim, const npy_intp *dims);

/* column.c: one field of all records. */
struct mb_column {
    PyObject_HEAD struct mb_store *store;
    const mshard_field *info; /* lives as long as the handle */
    PyArray_Descr *descr;
    uint32_t field;
    mshard_dtype dtype;
    int variable, ndim;                  /* of one value */
    npy_intp shape[1 + MSHARD_MAX_DIMS]; /* shape[0] is for the number of records */
    uint64_t count;
    size_t record_size;
};
struct mb_column *mb_column_new(struct mb_store *store, uint32_t field);
PyObject *mb_column_value(struct mb_column *column, uint64_t record); /* after mb_store_ready() */

/* index.c: what stands between the brackets. */
enum mb_index_kind { MB_ONE, MB_SPAN, MB_LIST };
struct mb_index {
    enum mb_index_kind kind;
    uint64_t first, count, step; /* ONE: first. SPAN: lowest record, number of records, distance */
    int backwards;               /* SPAN: highest record first */
    PyArrayObject *list;         /* LIST: count checked record numbers, uint64; owned */
};
int mb_index_parse(PyObject *key, uint64_t count, struct mb_index *index);
void mb_index_clear(struct mb_index *index);
PyObject *mb_column_span(struct mb_column *column, const struct mb_index *span); /* None: takes a copy */

/* gather.c: records into fresh memory. */
PyObject *mb_column_gather(struct mb_column *column, const uint64_t *records, uint64_t count);
PyObject *mb_column_stitch(struct mb_column *column, uint64_t first, uint64_t count);
PyObject *mb_column_get(struct mb_column *column, const struct mb_index *index);

/* keys.c */
struct mb_keys {
    PyObject_HEAD struct mb_store *store;
};
struct mb_keys *mb_keys_new(struct mb_store *store);

/* describe.c: fields, classes, statistics, shards as plain tuples and dicts. */
PyObject *mb_describe_fields(const struct mb_store *store);
PyObject *mb_describe_stats(const struct mb_store *store);
PyObject *mb_describe_shards(const struct mb_store *store);

/* verify.c */
PyObject *mb_verify(PyObject *module, PyObject *args, PyObject *keywords);

extern PyType_Spec mb_store_spec, mb_column_spec, mb_dataset_spec, mb_keys_spec, mb_writer_spec;

#endif
