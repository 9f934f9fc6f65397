/*
 * errors.h - exceptions of both extension modules
 *
 * mshard._mshard makes the classes; mshard._pack, which has its own copy of the library, borrows them.
 */
#ifndef MSHARD_PYTHON_ERRORS_H
#define MSHARD_PYTHON_ERRORS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mshard/error.h>

struct mb_errors {
    PyObject *format;     /* mshard.FormatError(ValueError) */
    PyObject *incomplete; /* mshard.IncompleteError(FormatError) */
};
int mb_errors_make(struct mb_errors *errors, PyObject *module);
int mb_errors_import(struct mb_errors *errors);                                     /* those of mshard._mshard */
PyObject *mb_error_object(const struct mb_errors *errors, const mshard_error *err); /* an exception, not raised */
PyObject *mb_raise(const struct mb_errors *errors, const mshard_error *err);        /* always NULL */
PyObject *mb_raise_key(const struct mb_errors *errors, const mshard_error *err);    /* NOT_FOUND is KeyError */
PyObject *mb_text(const char *utf8); /* str of untrusted text; invalid bytes as U+FFFD */

#endif
