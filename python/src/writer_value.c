/*
 * writer_value.c - Python values as what the C writer takes
 *
 * Values that already are arrays of the field's dtype in C order go to the library as they are; all others pass
 * through mshard._convert.coerce, which converts only what loses nothing. Shapes are checked here, so that the
 * message can name the field.
 */
#include "writer.h"

void mb_record_clear(struct mb_record *record)
{
    for (uint32_t f = 0; f < record->used; f++)
        Py_CLEAR(record->held[f]);
    record->used = 0;
}

/* --- one value --- */

static int fits(mshard_dtype dtype, long long v)
{
    switch (dtype) {
    case MSHARD_INT8:
        return v >= INT8_MIN && v <= INT8_MAX;
    case MSHARD_INT16:
        return v >= INT16_MIN && v <= INT16_MAX;
    case MSHARD_INT32:
        return v >= INT32_MIN && v <= INT32_MAX;
    case MSHARD_INT64:
        return 1;
    case MSHARD_UINT8:
        return v >= 0 && v <= UINT8_MAX;
    case MSHARD_UINT16:
        return v >= 0 && v <= UINT16_MAX;
    case MSHARD_UINT32:
        return v >= 0 && v <= (long long)UINT32_MAX;
    case MSHARD_UINT64:
        return v >= 0;
    default:
        return 0; /* floats and bool: coerce */
    }
}

/* A Python int for an integer scalar, without numpy. 1: done; 0: not such a value. */
static int plain_int(const struct mb_slot *slot, PyObject *value, int64_t *number)
{
    int overflow = 0;

    if (slot->field.ndim != 0 || !PyLong_CheckExact(value))
        return 0;
    long long v = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow || !fits(slot->field.dtype, v))
        return 0;
    *number = v; /* little-endian: the low bytes are the value in every width */
    return 1;
}

static int exact(const struct mb_slot *slot, PyObject *value)
{
    if (!PyArray_Check(value))
        return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    return PyArray_ISNOTSWAPPED(array) && PyArray_IS_C_CONTIGUOUS(array) &&
           PyArray_EquivTypes(PyArray_DESCR(array), slot->descr);
}

/* An array of the field's dtype in C order; new reference. */
PyArrayObject *mb_writer_array(struct mb_writer *self, const struct mb_slot *slot, PyObject *value)
{
    if (exact(slot, value))
        return (PyArrayObject *)Py_NewRef(value);
    PyObject *made =
        PyObject_CallFunction(self->state->coerce, "OOsOs", value, slot->name, mshard_dtype_name(slot->field.dtype),
                              (PyObject *)slot->descr, mshard_content_name(slot->field.content));
    if (made && !exact(slot, made)) {
        PyErr_SetString(PyExc_SystemError, "coerce returned another array than asked for");
        Py_CLEAR(made);
    }
    return (PyArrayObject *)made;
}

static PyObject *shape_text(const struct mb_slot *slot, int batch)
{
    PyObject *list = PyList_New(0);

    for (uint32_t d = 0; list && d < slot->field.ndim + (uint32_t)batch; d++) {
        uint64_t dim = batch && d == 0 ? MSHARD_DIM_UNKNOWN : slot->field.shape[d - (uint32_t)batch];
        PyObject *item = dim == MSHARD_DIM_UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(dim);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

/* batch: 1 when the array has a leading dimension of records. */
int mb_check_shape(const struct mb_slot *slot, PyArrayObject *array, int batch)
{
    int ndim = PyArray_NDIM(array);
    int good = ndim == (int)slot->field.ndim + batch;

    for (int d = batch; good && d < ndim; d++) {
        uint64_t want = slot->field.shape[d - batch];
        good = want == MSHARD_DIM_UNKNOWN || want == (uint64_t)PyArray_DIM(array, d);
    }
    if (good)
        return 0;
    PyObject *want = shape_text(slot, batch);
    PyObject *found = PyObject_GetAttrString((PyObject *)array, "shape");
    if (want && found)
        PyErr_Format(PyExc_ValueError, "field %U: expected shape %S, found %S", slot->name, want, found);
    Py_XDECREF(want);
    Py_XDECREF(found);
    return -1;
}

int mb_record_add(struct mb_writer *self, struct mb_record *record, uint32_t f, PyObject *given)
{
    const struct mb_slot *slot = &self->slots[f];
    mshard_value *value = &record->values[f];

    record->held[f] = NULL;
    record->used = f + 1;
    if (plain_int(slot, given, &record->numbers[f])) {
        *value = (mshard_value){.data = &record->numbers[f], .size = mshard_dtype_size(slot->field.dtype)};
        return 0;
    }
    PyArrayObject *array = mb_writer_array(self, slot, given);
    record->held[f] = (PyObject *)array;
    if (!array || mb_check_shape(slot, array, 0) < 0)
        return -1;
    for (uint32_t d = 0; d < slot->field.ndim; d++)
        record->shapes[f][d] = (uint64_t)PyArray_DIM(array, (int)d);
    *value = (mshard_value){.data = PyArray_DATA(array),
                            .size = (size_t)PyArray_NBYTES(array),
                            .shape = mshard_field_is_variable(&slot->field) ? record->shapes[f] : NULL};
    return 0;
}

/* --- a sample: dict by name, or a tuple or list in field order --- */

static int names_error(struct mb_writer *self, PyObject *sample)
{
    for (uint32_t f = 0; f < self->fields; f++) {
        int has = PyDict_Contains(sample, self->slots[f].name);
        if (has == 0)
            PyErr_Format(PyExc_ValueError, "field %U is missing", self->slots[f].name);
        if (has <= 0)
            return -1;
    }
    PyObject *names = PyDict_Keys(sample);
    PyErr_Format(PyExc_ValueError, "the sample has names that are no fields: %S", names ? names : Py_None);
    Py_XDECREF(names);
    return -1;
}

/* Borrowed values of a sample or batch, in field order. */
int mb_take_apart(struct mb_writer *self, PyObject *sample, PyObject **values)
{
    int is_dict = PyDict_Check(sample), is_tuple = PyTuple_Check(sample);

    if (!is_dict && !is_tuple && !PyList_Check(sample)) {
        PyErr_Format(PyExc_TypeError, "expected a dict, tuple or list of %u values, found %S", self->fields,
                     (PyObject *)Py_TYPE(sample));
        return -1;
    }
    Py_ssize_t n = PyObject_Size(sample);
    if (n != (Py_ssize_t)self->fields) {
        if (is_dict)
            return names_error(self, sample);
        PyErr_Format(PyExc_ValueError, "expected %u values, found %zd", self->fields, n);
        return -1;
    }
    for (uint32_t f = 0; f < self->fields; f++) {
        if (is_dict)
            values[f] = PyDict_GetItemWithError(sample, self->slots[f].name);
        else
            values[f] = is_tuple ? PyTuple_GetItem(sample, (Py_ssize_t)f) : PyList_GetItem(sample, (Py_ssize_t)f);
        if (!values[f])
            return PyErr_Occurred() ? -1 : names_error(self, sample);
    }
    return 0;
}
