/*
 * dataset_info.c - attributes of a data set, and the names of its levels of checking
 */
#include "dataset.h"

static const struct {
    const char *name;
    mshard_check check;
} checks[] = {
    {"open", MSHARD_CHECK_OPEN},
    {"none", MSHARD_CHECK_NONE},
    {"touch", MSHARD_CHECK_TOUCH},
    {"all", MSHARD_CHECK_ALL},
};

int mb_check_parse(const char *name, mshard_check *check)
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        if (strcmp(checks[i].name, name) == 0) {
            *check = checks[i].check;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "check must be 'open', 'none', 'touch' or 'all', found '%s'", name);
    return -1;
}

static PyObject *get_path(PyObject *object, void *Py_UNUSED(closure))
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    return mb_dataset_alive(self) < 0 ? NULL : PyUnicode_DecodeFSDefault(mshard_store_path(self->store->handle));
}

static PyObject *get_id(PyObject *object, void *Py_UNUSED(closure))
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    return mb_dataset_alive(self) < 0 ? NULL : PyUnicode_FromString(mshard_store_id(self->store->handle));
}

static PyObject *get_generation(PyObject *object, void *Py_UNUSED(closure))
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    return mb_dataset_alive(self) < 0 ? NULL
                                      : PyLong_FromUnsignedLongLong(mshard_store_generation(self->store->handle));
}

static PyObject *get_nbytes(PyObject *object, void *Py_UNUSED(closure))
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    return mb_dataset_alive(self) < 0 ? NULL : PyLong_FromUnsignedLongLong(mshard_store_bytes(self->store->handle));
}

static PyObject *get_keys(PyObject *object, void *Py_UNUSED(closure))
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    return mb_dataset_alive(self) < 0 ? NULL : Py_NewRef(self->keys);
}

static PyObject *get_check(PyObject *object, void *Py_UNUSED(closure))
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        if (checks[i].check == ((struct mb_dataset *)object)->check)
            return PyUnicode_FromString(checks[i].name);
    Py_RETURN_NONE;
}

static PyObject *get_closed(PyObject *object, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((struct mb_dataset *)object)->store == NULL);
}

static PyObject *get_sample_type(PyObject *object, void *Py_UNUSED(closure))
{
    return Py_NewRef((PyObject *)((struct mb_dataset *)object)->sample_type);
}

/* closure: non-NULL for target_transform */
static PyObject **transform_place(PyObject *object, const void *closure)
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    return closure ? &self->target_transform : &self->transform;
}

static PyObject *get_transform(PyObject *object, void *closure)
{
    PyObject *value = *transform_place(object, closure);
    return Py_NewRef(value ? value : Py_None);
}

static int set_transform(PyObject *object, PyObject *value, void *closure)
{
    if (value && value != Py_None && !PyCallable_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "a transform is a callable or None");
        return -1;
    }
    mb_replace(transform_place(object, closure), value && value != Py_None ? Py_NewRef(value) : NULL);
    return 0;
}

static PyObject *describe(PyObject *object, PyObject *(*what)(const struct mb_store *))
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    return mb_dataset_alive(self) < 0 ? NULL : what(self->store);
}

PyObject *mb_dataset_fields(PyObject *object, PyObject *Py_UNUSED(none))
{
    return describe(object, mb_describe_fields);
}

PyObject *mb_dataset_stats(PyObject *object, PyObject *Py_UNUSED(none))
{
    return describe(object, mb_describe_stats);
}

PyObject *mb_dataset_shards(PyObject *object, PyObject *Py_UNUSED(none))
{
    return describe(object, mb_describe_shards);
}

PyObject *mb_dataset_manifest(PyObject *object, PyObject *Py_UNUSED(none))
{
    struct mb_dataset *self = (struct mb_dataset *)object;
    size_t size = 0;

    if (mb_dataset_alive(self) < 0)
        return NULL;
    const char *text = mshard_store_manifest(self->store->handle, &size);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
}

PyGetSetDef mb_dataset_getset[] = {
    {"path", get_path, NULL, "str: the folder, as given to open", NULL},
    {"id", get_id, NULL, "str: 32 hex digits that stand for every byte of the data set", NULL},
    {"generation", get_generation, NULL, "int: 1 when packed, one more for each append", NULL},
    {"nbytes", get_nbytes, NULL, "int: bytes of all shard files together", NULL},
    {"keys", get_keys, NULL, "Keys, or None when the data set was packed without keys", NULL},
    {"check", get_check, NULL, "str: what is checked while reading", NULL},
    {"closed", get_closed, NULL, "bool: close() was called or the with block has ended", NULL},
    {"sample_type", get_sample_type, NULL, "type: the class of ds[i], a named tuple", NULL},
    {"transform", get_transform, set_transform, "callable or None: applied to the first field of ds[i]", NULL},
    {"target_transform", get_transform, set_transform,
     "callable or None: applied to the label of ds[i] (the second field where none is a label)", (void *)"target"},
    {NULL, NULL, NULL, NULL, NULL},
};
