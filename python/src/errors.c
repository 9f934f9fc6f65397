/*
 * errors.c - the only mapping from mshard_error to a Python exception
 *
 * Faults of the file become mshard.FormatError with .code .path .offset; everything else becomes the built-in
 * exception a Python user expects. Texts come from untrusted files and pass through mshard_error_format(), which
 * escapes control bytes.
 */
#include "errors.h"

#include <errno.h>

PyDoc_STRVAR(format_doc, "A file is damaged, foreign, or needs a newer version.\n\n"
                         "code: str, one of 'format', 'version', 'truncated', 'corrupt', 'limit', 'decode',\n"
                         "    'incomplete'\n"
                         "path: str, the file concerned ('' when there is none)\n"
                         "offset: int or None, the byte in it");
PyDoc_STRVAR(incomplete_doc, "Packing this data set did not finish: there are shards but no dataset.json.");

static PyObject *class_with_members(const char *name, const char *doc, PyObject *base)
{
    PyObject *dict = Py_BuildValue("{s:s,s:s,s:O}", "code", "", "path", "", "offset", Py_None);
    if (!dict)
        return NULL;
    PyObject *made = PyErr_NewExceptionWithDoc(name, doc, base, dict);
    Py_DECREF(dict);
    return made;
}

int mb_errors_make(struct mb_errors *errors, PyObject *module)
{
    errors->format = class_with_members("mshard.FormatError", format_doc, PyExc_ValueError);
    if (!errors->format || PyModule_AddObjectRef(module, "FormatError", errors->format) < 0)
        return -1;
    errors->incomplete = class_with_members("mshard.IncompleteError", incomplete_doc, errors->format);
    if (!errors->incomplete)
        return -1;
    return PyModule_AddObjectRef(module, "IncompleteError", errors->incomplete);
}

int mb_errors_import(struct mb_errors *errors)
{
    PyObject *core = PyImport_ImportModule("mshard._mshard");
    if (!core)
        return -1;
    errors->format = PyObject_GetAttrString(core, "FormatError");
    errors->incomplete = PyObject_GetAttrString(core, "IncompleteError");
    Py_DECREF(core);
    return errors->format && errors->incomplete ? 0 : -1;
}

PyObject *mb_text(const char *utf8)
{
    return PyUnicode_DecodeUTF8(utf8, (Py_ssize_t)strlen(utf8), "replace");
}

/* OSError and its children: (errno, message, filename). */
static PyObject *os_error(PyObject *type, int number, const mshard_error *err)
{
    PyObject *message = mb_text(err->message);
    PyObject *path = err->path[0] ? PyUnicode_DecodeFSDefault(err->path) : Py_NewRef(Py_None);
    PyObject *made = NULL;
    if (message && path)
        made = PyObject_CallFunction(type, "iOO", number, message, path);
    Py_XDECREF(message);
    Py_XDECREF(path);
    return made;
}

static PyObject *plain_error(PyObject *type, const mshard_error *err)
{
    char text[2560]; /* path and message with every byte escaped may be longer: then cut */
    mshard_error_format(err, text, sizeof(text));
    PyObject *message = mb_text(text);
    if (!message)
        return NULL;
    PyObject *made = PyObject_CallFunctionObjArgs(type, message, NULL);
    Py_DECREF(message);
    return made;
}

static PyObject *format_error(PyObject *type, const mshard_error *err)
{
    PyObject *made = plain_error(type, err);
    if (!made)
        return NULL;
    PyObject *code = PyUnicode_FromString(mshard_status_name(err->code));
    PyObject *path = PyUnicode_DecodeFSDefault(err->path);
    PyObject *offset = err->offset == MSHARD_NO_OFFSET ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(err->offset);
    int bad = !code || !path || !offset || PyObject_SetAttrString(made, "code", code) < 0 ||
              PyObject_SetAttrString(made, "path", path) < 0 || PyObject_SetAttrString(made, "offset", offset) < 0;
    Py_XDECREF(code);
    Py_XDECREF(path);
    Py_XDECREF(offset);
    if (bad)
        Py_CLEAR(made);
    return made;
}

PyObject *mb_error_object(const struct mb_errors *errors, const mshard_error *err)
{
    switch (err->code) {
    case MSHARD_E_RANGE:
        return plain_error(PyExc_IndexError, err);
    case MSHARD_E_NOT_FOUND:
        return os_error(PyExc_FileNotFoundError, ENOENT, err);
    case MSHARD_E_EXISTS:
        return os_error(PyExc_FileExistsError, EEXIST, err);
    case MSHARD_E_CANCELLED:
        return plain_error(PyExc_InterruptedError, err);
    case MSHARD_E_NOMEM:
        return plain_error(PyExc_MemoryError, err);
    case MSHARD_E_IO:
        return os_error(PyExc_OSError, err->sys_errno ? err->sys_errno : EIO, err);
    case MSHARD_E_UNSUPPORTED:
        return plain_error(PyExc_NotImplementedError, err);
    case MSHARD_E_INCOMPLETE:
        return format_error(errors->incomplete, err);
    case MSHARD_E_FORMAT:
    case MSHARD_E_VERSION:
    case MSHARD_E_TRUNCATED:
    case MSHARD_E_CORRUPT:
    case MSHARD_E_LIMIT:
    case MSHARD_E_DECODE:
        return format_error(errors->format, err);
    case MSHARD_E_INVALID:
    case MSHARD_OK:
    case MSHARD_END:
        break;
    }
    return plain_error(PyExc_ValueError, err);
}

static PyObject *set(PyObject *exception)
{
    if (exception) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
    return NULL;
}

PyObject *mb_raise(const struct mb_errors *errors, const mshard_error *err)
{
    return set(mb_error_object(errors, err));
}

PyObject *mb_raise_key(const struct mb_errors *errors, const mshard_error *err)
{
    if (err->code == MSHARD_E_NOT_FOUND)
        return set(plain_error(PyExc_KeyError, err));
    return mb_raise(errors, err);
}
