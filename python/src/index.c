/*
 * index.c - what stands between the brackets: one number, a slice, numbers, a mask
 *
 * After mb_index_parse() every record number is checked and counted from the front, so no later step can be out
 * of range. Numbers follow numpy: negative ones count from the end, floats are refused.
 */
#include "binding.h"

static void range_error(long long i, uint64_t count)
{
    PyErr_Format(PyExc_IndexError, "record %lld is out of range: there are %llu", i, (unsigned long long)count);
}

static int parse_one(PyObject *key, uint64_t count, struct mb_index *index)
{
    Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);

    if (i == -1 && PyErr_Occurred())
        return -1;
    uint64_t at = i < 0 ? count - (uint64_t) - (i + 1) - 1 : (uint64_t)i;
    if (at >= count) { /* a negative number below -count wraps to a huge one */
        range_error(i, count);
        return -1;
    }
    *index = (struct mb_index){.kind = MB_ONE, .first = at, .count = 1, .step = 1};
    return 0;
}

static int parse_slice(PyObject *key, uint64_t count, struct mb_index *index)
{
    Py_ssize_t start, stop, step;

    if (PySlice_Unpack(key, &start, &stop, &step) < 0)
        return -1;
    Py_ssize_t n = PySlice_AdjustIndices((Py_ssize_t)count, &start, &stop, step);
    *index = (struct mb_index){.kind = MB_SPAN, .first = (uint64_t)start, .count = (uint64_t)n};
    index->backwards = step < 0;
    index->step = step < 0 ? (uint64_t)-step : (uint64_t)step;
    if (n == 0)
        index->first = 0;
    else if (step < 0)
        index->first = (uint64_t)(start + (n - 1) * step);
    return 0;
}

/* Wrap negative numbers and check, in place: int64 in, uint64 out (same size, same array). */
static int check_numbers(PyArrayObject *numbers, uint64_t count)
{
    int64_t *at = PyArray_DATA(numbers);
    npy_intp n = PyArray_SIZE(numbers);

    for (npy_intp k = 0; k < n; k++) {
        uint64_t i = at[k] < 0 ? (uint64_t)at[k] + count : (uint64_t)at[k];
        if (i >= count) {
            range_error(at[k], count);
            return -1;
        }
        memcpy(&at[k], &i, sizeof(i));
    }
    return 0;
}

static PyArrayObject *numbers_of_mask(PyArrayObject *mask, uint64_t count)
{
    if ((uint64_t)PyArray_SIZE(mask) != count) {
        PyErr_Format(PyExc_IndexError, "mask of %zd entries for %llu records", (Py_ssize_t)PyArray_SIZE(mask),
                     (unsigned long long)count);
        return NULL;
    }
    PyObject *parts = PyArray_Nonzero(mask);
    if (!parts)
        return NULL;
    PyObject *numbers = PyTuple_GetItem(parts, 0);
    PyArrayObject *made = NULL;
    if (numbers)
        made = (PyArrayObject *)PyArray_FROMANY(numbers, NPY_INT64, 1, 1, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY);
    Py_DECREF(parts);
    return made;
}

static PyArrayObject *numbers_of_array(PyArrayObject *given, uint64_t count)
{
    if (PyArray_SIZE(given) == 0) { /* an empty list is float64 for numpy */
        npy_intp none = 0;
        return (PyArrayObject *)PyArray_SimpleNew(1, &none, NPY_INT64);
    }
    if (PyArray_ISBOOL(given))
        return numbers_of_mask(given, count);
    if (!PyArray_ISINTEGER(given)) {
        PyErr_Format(PyExc_IndexError, "records are numbered by integers or chosen by a mask of bool, not by %S",
                     (PyObject *)PyArray_DESCR(given));
        return NULL;
    }
    /* uint64 above 2^63 becomes negative here and must not pass as counted from the end */
    PyArrayObject *numbers = (PyArrayObject *)PyArray_FROMANY(
        (PyObject *)given, NPY_INT64, 1, 1, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY | NPY_ARRAY_FORCECAST);
    if (numbers && PyArray_ISUNSIGNED(given) && PyArray_ITEMSIZE(given) == 8)
        for (npy_intp k = 0; k < PyArray_SIZE(numbers); k++)
            if (((int64_t *)PyArray_DATA(numbers))[k] < 0)
                ((int64_t *)PyArray_DATA(numbers))[k] = INT64_MAX;
    return numbers;
}

static int parse_list(PyObject *key, uint64_t count, struct mb_index *index)
{
    PyArrayObject *given = (PyArrayObject *)PyArray_FROM_O(key);
    if (!given)
        return -1;
    if (PyArray_NDIM(given) != 1) {
        PyErr_Format(PyExc_IndexError, "record numbers must have one dimension, found %d", PyArray_NDIM(given));
        Py_DECREF(given);
        return -1;
    }
    PyArrayObject *numbers = numbers_of_array(given, count);
    Py_DECREF(given);
    if (!numbers)
        return -1;
    if (check_numbers(numbers, count) < 0) {
        Py_DECREF(numbers);
        return -1;
    }
    *index = (struct mb_index){.kind = MB_LIST, .count = (uint64_t)PyArray_SIZE(numbers), .list = numbers};
    return 0;
}

int mb_index_parse(PyObject *key, uint64_t count, struct mb_index *index)
{
    if (PyLong_CheckExact(key))
        return parse_one(key, count, index);
    if (PySlice_Check(key))
        return parse_slice(key, count, index);
    if (PyArray_Check(key) ? PyArray_NDIM((PyArrayObject *)key) > 0
                           : PyList_Check(key) || PyObject_TypeCheck(key, &PyRange_Type))
        return parse_list(key, count, index);
    if (PyIndex_Check(key))
        return parse_one(key, count, index);
    PyErr_Format(PyExc_TypeError, "expected a record number, a slice, a list or array of numbers, or a mask, found %S",
                 (PyObject *)Py_TYPE(key));
    return -1;
}

void mb_index_clear(struct mb_index *index)
{
    Py_CLEAR(index->list);
}
