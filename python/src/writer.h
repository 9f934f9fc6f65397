/*
 * writer.h - the writer's object, and one record on its way into it
 */
#ifndef MSHARD_PYTHON_WRITER_H
#define MSHARD_PYTHON_WRITER_H

#include "binding.h"

struct mb_slot {
    PyObject *name;
    PyArray_Descr *descr;
    mshard_field field; /* name points into `name` */
};

struct mb_writer {
    PyObject_HEAD mshard_writer *handle; /* NULL after commit or abort */
    struct mb_state *state;
    struct mb_slot *slots;
    uint32_t fields;
    int keys, busy, variable; /* variable: any field is */
    uint64_t count;           /* as of the last write */
};

/* One record's values, and what keeps them alive. */
struct mb_record {
    mshard_value values[MSHARD_MAX_FIELDS];
    PyObject *held[MSHARD_MAX_FIELDS];
    uint64_t shapes[MSHARD_MAX_FIELDS][MSHARD_MAX_DIMS];
    int64_t numbers[MSHARD_MAX_FIELDS];
    uint32_t used;
};

/* writer_setup.c: specs and classes are lists made by mshard/_writer.py; -1: exception. */
int mb_writer_setup(struct mb_writer *self, const char *path, PyObject *specs, PyObject *classes,
                    const mshard_writer_options *options);

/* writer_value.c; -1: exception, naming the field. */
int mb_take_apart(struct mb_writer *self, PyObject *sample, PyObject **values); /* borrowed, in field order */
int mb_record_add(struct mb_writer *self, struct mb_record *record, uint32_t f, PyObject *given);
void mb_record_clear(struct mb_record *record);
PyArrayObject *mb_writer_array(struct mb_writer *self, const struct mb_slot *slot, PyObject *value); /* new reference */
int mb_check_shape(const struct mb_slot *slot, PyArrayObject *array,
                   int batch); /* batch: leading dimension of records */

#endif
