/*
 * dataset.h - the data set's object
 */
#ifndef MSHARD_PYTHON_DATASET_H
#define MSHARD_PYTHON_DATASET_H

#include "binding.h"

struct mb_dataset {
    PyObject_HEAD struct mb_store *store; /* NULL once closed */
    struct mb_state *state;
    PyObject *columns;         /* dict: name -> column, in field order */
    struct mb_column **column; /* borrowed from columns */
    PyObject *keys;            /* mb_keys or None */
    PyTypeObject *sample_type, *batch_type;
    PyObject *transform, *target_transform; /* NULL: none */
    uint32_t fields, target;                /* target: field target_transform works on; fields: there is none */
    mshard_check check;
    uint64_t count;
};

static inline int mb_dataset_alive(const struct mb_dataset *self)
{
    if (self->store)
        return 0;
    PyErr_SetString(PyExc_ValueError, "the data set is closed");
    return -1;
}

/* dataset_info.c */
int mb_check_parse(const char *name, mshard_check *check); /* ValueError: no such level */
extern PyGetSetDef mb_dataset_getset[];
PyObject *mb_dataset_fields(PyObject *self, PyObject *none);
PyObject *mb_dataset_stats(PyObject *self, PyObject *none);
PyObject *mb_dataset_shards(PyObject *self, PyObject *none);
PyObject *mb_dataset_manifest(PyObject *self, PyObject *none);

#endif
