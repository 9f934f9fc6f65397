/*
 * gather.c - records into fresh memory: index arrays, strided slices and slices over several shards
 *
 * The copy runs with the GIL released. Numbers were checked by index.c. Fields of one size become one array with
 * a leading dimension; variable fields become a list of views.
 */
#include "binding.h"

#define MB_CHUNK 256 /* views taken at once: 4 KiB of stack */

/* No GIL here. */
static mshard_status copy_records(const struct mb_column *column, const uint64_t *records, uint64_t count, uint8_t *to,
                                  mshard_error *err)
{
    mshard_view views[MB_CHUNK];

    for (uint64_t done = 0; done < count;) {
        size_t n = count - done < MB_CHUNK ? (size_t)(count - done) : MB_CHUNK;
        mshard_status status =
            mshard_store_batch(column->store->handle, records + done, n, column->field, views, NULL, err);
        if (status != MSHARD_OK)
            return status;
        for (size_t k = 0; k < n; k++, to += column->record_size)
            memcpy(to, views[k].data, column->record_size);
        done += n;
    }
    return MSHARD_OK;
}

/* No GIL here. */
static mshard_status copy_run(const struct mb_column *column, uint64_t first, uint64_t count, uint8_t *to,
                              mshard_error *err)
{
    while (count > 0) {
        uint64_t n = mshard_store_run(column->store->handle, first);
        mshard_view view;

        n = n < count ? n : count;
        mshard_status status = mshard_store_column(column->store->handle, first, n, column->field, &view, err);
        if (status != MSHARD_OK)
            return status;
        memcpy(to, view.data, view.size);
        to += view.size;
        first += n;
        count -= n;
    }
    return MSHARD_OK;
}

/* A list of one array a record; records NULL: count from first on. */
static PyObject *list_of_values(struct mb_column *column, const uint64_t *records, uint64_t first, uint64_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);

    for (uint64_t k = 0; list && k < count; k++) {
        uint64_t record = records ? records[k] : first + k;
        PyObject *value = mb_store_ready(column->store, record) < 0 ? NULL : mb_column_value(column, record);
        if (!value || PyList_SetItem(list, (Py_ssize_t)k, value) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *fresh(struct mb_column *column, uint64_t count)
{
    npy_intp dims[1 + MSHARD_MAX_DIMS];

    memcpy(dims, column->shape, sizeof(dims));
    dims[0] = (npy_intp)count;
    return mb_empty(column->descr, column->ndim + 1, dims);
}

/* records NULL: count from first on. */
static PyObject *copy_out(struct mb_column *column, const uint64_t *records, uint64_t first, uint64_t count)
{
    if (mb_store_alive(column->store) < 0)
        return NULL;
    if (column->variable)
        return list_of_values(column, records, first, count);
    PyObject *array = fresh(column, count);
    if (!array)
        return NULL;
    uint8_t *to = PyArray_DATA((PyArrayObject *)array);
    mshard_status status;
    mshard_error err;
    Py_INCREF((PyObject *)column->store);
    Py_BEGIN_ALLOW_THREADS
    status = records ? copy_records(column, records, count, to, &err) : copy_run(column, first, count, to, &err);
    Py_END_ALLOW_THREADS
    if (status != MSHARD_OK) {
        mb_raise(&column->store->state->errors, &err);
        Py_CLEAR(array);
    }
    Py_DECREF(column->store);
    return array;
}

PyObject *mb_column_gather(struct mb_column *column, const uint64_t *records, uint64_t count)
{
    return copy_out(column, records, 0, count);
}

PyObject *mb_column_stitch(struct mb_column *column, uint64_t first, uint64_t count)
{
    return copy_out(column, NULL, first, count);
}

static PyObject *gather_span(struct mb_column *column, const struct mb_index *index)
{
    uint64_t *records = malloc((size_t)index->count * sizeof(*records) + 1);

    if (!records)
        return PyErr_NoMemory();
    for (uint64_t k = 0; k < index->count; k++)
        records[k] = index->first + (index->backwards ? index->count - 1 - k : k) * index->step;
    PyObject *made = mb_column_gather(column, records, index->count);
    free(records);
    return made;
}

PyObject *mb_column_get(struct mb_column *column, const struct mb_index *index)
{
    switch (index->kind) {
    case MB_ONE:
        return mb_store_ready(column->store, index->first) < 0 ? NULL : mb_column_value(column, index->first);
    case MB_SPAN: {
        PyObject *view = mb_column_span(column, index);
        if (view != Py_None)
            return view;
        Py_DECREF(view);
        if (index->step == 1 && !index->backwards)
            return mb_column_stitch(column, index->first, index->count);
        return gather_span(column, index);
    }
    case MB_LIST:
        break;
    }
    return mb_column_gather(column, PyArray_DATA(index->list), index->count);
}
