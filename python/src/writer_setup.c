/*
 * writer_setup.c - the fields, classes and options of a new writer
 *
 * mshard/_writer.py has brought them into one form; whether they make a data set is the library's to say.
 */
#include "writer.h"

static int dim_of(PyObject *item, uint64_t *dim)
{
    if (item == Py_None) {
        *dim = MSHARD_DIM_UNKNOWN;
        return 0;
    }
    Py_ssize_t n = PyNumber_AsSsize_t(item, PyExc_ValueError);
    if (n < 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "a dimension is a number from 0 on, or None, found %zd", n);
        return -1;
    }
    *dim = (uint64_t)n;
    return 0;
}

static int content_of(const char *name, mshard_content *content)
{
    for (int c = 0; mshard_content_name((mshard_content)c); c++)
        if (strcmp(mshard_content_name((mshard_content)c), name) == 0) {
            *content = (mshard_content)c;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "'%s' is no content: values, image, encoded, label or text", name);
    return -1;
}

/* spec: (name, dtype, shape, content, scale or None, offset), made by mshard/_writer.py */
static int add_slot(struct mb_writer *self, PyObject *spec)
{
    struct mb_slot *slot = &self->slots[self->fields];
    mshard_field *field = &slot->field;
    const char *dtype, *content;
    PyObject *name, *shape, *scale;
    mshard_error err;

    if (!PyArg_ParseTuple(spec, "UsO!sOd", &name, &dtype, &PyTuple_Type, &shape, &content, &scale, &field->offset))
        return -1;
    if (mshard_dtype_parse(dtype, &field->dtype, &err) != MSHARD_OK) {
        PyErr_Format(PyExc_TypeError, "field %U: '%s' is no dtype of mshard", name, dtype);
        return -1;
    }
    if (content_of(content, &field->content) < 0)
        return -1;
    Py_ssize_t ndim = PyTuple_Size(shape);
    if (ndim > MSHARD_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "field %U: %zd dimensions, at most %d are possible", name, ndim,
                     MSHARD_MAX_DIMS);
        return -1;
    }
    field->ndim = (uint32_t)ndim;
    for (Py_ssize_t d = 0; d < ndim; d++)
        if (dim_of(PyTuple_GetItem(shape, d), &field->shape[d]) < 0)
            return -1;
    if (scale != Py_None) {
        field->scale = PyFloat_AsDouble(scale);
        field->flags = MSHARD_FIELD_SCALED;
        if (PyErr_Occurred())
            return -1;
    } else {
        field->offset = 0;
    }
    slot->descr = mb_descr(field->dtype);
    if (!slot->descr)
        return -1;
    slot->name = Py_NewRef(name);
    self->fields++;
    self->variable |= mshard_field_is_variable(field);
    field->name = PyUnicode_AsUTF8AndSize(name, NULL);
    return field->name ? 0 : -1;
}

static int set_classes(struct mb_writer *self, PyObject *field, PyObject *names)
{
    Py_ssize_t n = PyList_Size(names);
    const char **texts = PyMem_Calloc((size_t)n + 1, sizeof(*texts));
    const char *field_name = PyUnicode_AsUTF8AndSize(field, NULL);
    mshard_error err;
    int bad = !texts || !field_name;

    for (Py_ssize_t i = 0; !bad && i < n; i++)
        bad = !(texts[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(names, i), NULL));
    if (!texts)
        PyErr_NoMemory();
    if (!bad && mshard_writer_set_classes(self->handle, field_name, texts, (uint64_t)n, &err) != MSHARD_OK) {
        mb_raise(&self->state->errors, &err);
        bad = 1;
    }
    PyMem_Free(texts);
    return bad ? -1 : 0;
}

static int create(struct mb_writer *self, const char *path, const mshard_writer_options *options)
{
    mshard_field *fields = PyMem_Calloc(self->fields + 1, sizeof(*fields));
    mshard_status status;
    mshard_error err;

    if (!fields) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t f = 0; f < self->fields; f++)
        fields[f] = self->slots[f].field;
    Py_BEGIN_ALLOW_THREADS
    status = mshard_writer_create(path, fields, self->fields, options, &self->handle, &err);
    Py_END_ALLOW_THREADS
    PyMem_Free(fields);
    if (status == MSHARD_OK)
        return 0;
    mb_raise(&self->state->errors, &err);
    return -1;
}

int mb_writer_setup(struct mb_writer *self, const char *path, PyObject *specs, PyObject *classes,
                    const mshard_writer_options *options)
{
    Py_ssize_t n = PyList_Size(specs);

    if (n < 1 || n > MSHARD_MAX_FIELDS) {
        PyErr_Format(PyExc_ValueError, "a data set has 1 to %d fields, found %zd", MSHARD_MAX_FIELDS, n);
        return -1;
    }
    self->slots = PyMem_Calloc((size_t)n, sizeof(*self->slots));
    if (!self->slots) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t f = 0; f < n; f++)
        if (add_slot(self, PyList_GetItem(specs, f)) < 0)
            return -1;
    if (create(self, path, options) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < PyList_Size(classes); i++) {
        PyObject *field, *names;
        if (!PyArg_ParseTuple(PyList_GetItem(classes, i), "UO!", &field, &PyList_Type, &names) ||
            set_classes(self, field, names) < 0)
            return -1;
    }
    return 0;
}
