/*
 * view.c - bytes of a map as numpy arrays and Python scalars
 *
 * A view is a read-only ndarray over the map, its base the store object: no copy, one allocation. Scalars are
 * Python's own int, float and bool: what labels are used as, and cheaper to make than numpy's.
 */
#include "binding.h"

#include <math.h>

static int type_number(mshard_dtype dtype)
{
    switch (dtype) {
    case MSHARD_UINT8:
        return NPY_UINT8;
    case MSHARD_FLOAT16:
        return NPY_FLOAT16;
    case MSHARD_INT8:
        return NPY_INT8;
    case MSHARD_INT16:
        return NPY_INT16;
    case MSHARD_INT32:
        return NPY_INT32;
    case MSHARD_INT64:
        return NPY_INT64;
    case MSHARD_UINT16:
    case MSHARD_BFLOAT16: /* bits, where ml_dtypes is not installed */
        return NPY_UINT16;
    case MSHARD_UINT32:
        return NPY_UINT32;
    case MSHARD_UINT64:
        return NPY_UINT64;
    case MSHARD_FLOAT32:
        return NPY_FLOAT32;
    case MSHARD_FLOAT64:
        return NPY_FLOAT64;
    case MSHARD_BOOL:
        return NPY_BOOL;
    }
    return NPY_UINT8;
}

/* numpy.dtype(ml_dtypes.bfloat16); NULL without an exception when the package is absent. */
static PyArray_Descr *bfloat16_descr(void)
{
    PyObject *package = PyImport_ImportModule("ml_dtypes");
    if (!package) {
        if (PyErr_ExceptionMatches(PyExc_ImportError))
            PyErr_Clear();
        return NULL;
    }
    PyObject *type = PyObject_GetAttrString(package, "bfloat16");
    PyArray_Descr *descr = NULL;
    Py_DECREF(package);
    if (type)
        PyArray_DescrConverter(type, &descr);
    Py_XDECREF(type);
    return descr;
}

PyArray_Descr *mb_descr(mshard_dtype dtype)
{
    if (dtype == MSHARD_BFLOAT16) {
        PyArray_Descr *descr = bfloat16_descr();
        if (descr || PyErr_Occurred())
            return descr;
    }
    return PyArray_DescrFromType(type_number(dtype));
}

/* Exact: every half is a double. */
static double half_value(uint16_t bits)
{
    unsigned exponent = (bits >> 10) & 31u, mantissa = bits & 1023u;
    double value;

    if (exponent == 31)
        value = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp((double)mantissa, -24);
    else
        value = ldexp((double)(mantissa | 1024u), (int)exponent - 25);
    return bits & 0x8000u ? -value : value;
}

#define LOAD(type, name) \
    type name;           \
    memcpy(&name, data, sizeof(name))

PyObject *mb_scalar(mshard_dtype dtype, const void *data)
{
    switch (dtype) {
    case MSHARD_INT64: {
        LOAD(int64_t, v);
        return PyLong_FromLongLong(v);
    }
    case MSHARD_INT32: {
        LOAD(int32_t, v);
        return PyLong_FromLong(v);
    }
    case MSHARD_UINT8:
        return PyLong_FromLong(*(const uint8_t *)data);
    case MSHARD_INT8:
        return PyLong_FromLong(*(const int8_t *)data);
    case MSHARD_INT16: {
        LOAD(int16_t, v);
        return PyLong_FromLong(v);
    }
    case MSHARD_UINT16: {
        LOAD(uint16_t, v);
        return PyLong_FromLong(v);
    }
    case MSHARD_UINT32: {
        LOAD(uint32_t, v);
        return PyLong_FromUnsignedLong(v);
    }
    case MSHARD_UINT64: {
        LOAD(uint64_t, v);
        return PyLong_FromUnsignedLongLong(v);
    }
    case MSHARD_FLOAT32: {
        LOAD(float, v);
        return PyFloat_FromDouble((double)v);
    }
    case MSHARD_FLOAT64: {
        LOAD(double, v);
        return PyFloat_FromDouble(v);
    }
    case MSHARD_FLOAT16: {
        LOAD(uint16_t, v);
        return PyFloat_FromDouble(half_value(v));
    }
    case MSHARD_BFLOAT16: {
        LOAD(uint16_t, v);
        uint32_t wide = (uint32_t)v << 16;
        float value;
        memcpy(&value, &wide, sizeof(value));
        return PyFloat_FromDouble((double)value);
    }
    case MSHARD_BOOL:
        return PyBool_FromLong(*(const uint8_t *)data != 0);
    }
    PyErr_SetString(PyExc_SystemError, "a dtype the module does not know");
    return NULL;
}

PyObject *mb_view(struct mb_store *store, PyArray_Descr *descr, int ndim, const npy_intp *dims, const void *data)
{
    static const uint64_t nothing = 0; /* numpy would allocate for a NULL pointer */
    void *at = data ? (void *)(uintptr_t)data : (void *)(uintptr_t)&nothing;

    Py_INCREF((PyObject *)descr); /* stolen by the next call */
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, dims, NULL, at,
                                           NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED, NULL);
    if (!array)
        return NULL;
    Py_INCREF((PyObject *)store);
    if (PyArray_SetBaseObject((PyArrayObject *)array, (PyObject *)store) < 0)
        Py_CLEAR(array);
    return array;
}

PyObject *mb_empty(PyArray_Descr *descr, int ndim, const npy_intp *dims)
{
    Py_INCREF((PyObject *)descr);
    return PyArray_NewFromDescr(&PyArray_Type, descr, ndim, dims, NULL, NULL, 0, NULL);
}
