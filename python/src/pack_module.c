/*
 * pack_module.c - mshard._pack: raw files into a data set
 *
 * Apart from mshard._mshard because it loads libvips and libarchive, which reading never needs. Takes the members
 * of mshard_pack_options as a dict; mshard/_packing.py turns the command line's options into it. Events come from
 * worker threads; an exception raised by the listener stops the pack and is raised again by the caller's thread.
 */
#include "errors.h"

#include <mshard/pack.h>
#include <mshard/version.h>

struct pack_state {
    struct mb_errors errors;
};

struct listener {
    const struct mb_errors *errors;
    PyObject *event;
    PyObject *type, *value, *trace; /* first exception of the listener; by GIL */
};

/* --- options from a dict --- */

enum member_kind { TEXT, U32, U64 };
struct member {
    const char *name;
    enum member_kind kind;
    size_t offset;
};
#define MEMBER(name, kind)                               \
    {                                                    \
#name, kind, offsetof(mshard_pack_options, name) \
    }
static const struct member members[] = {
    MEMBER(format, TEXT),     MEMBER(resize, U64),       MEMBER(resize_width, U64), MEMBER(resize_height, U64),
    MEMBER(crop_width, U64),  MEMBER(crop_height, U64),  MEMBER(gray, U32),         MEMBER(encoded, U32),
    MEMBER(variable, U32),    MEMBER(raw_dtype, TEXT),   MEMBER(raw_shape, TEXT),   MEMBER(raw_skip, U64),
    MEMBER(labels, TEXT),     MEMBER(shards, U64),       MEMBER(shard_size, U64),   MEMBER(align, U32),
    MEMBER(shuffle, U32),     MEMBER(shuffle_seed, U64), MEMBER(keys, U32),         MEMBER(on_error, U32),
    MEMBER(on_overflow, U32), MEMBER(dry_run, U32),      MEMBER(overwrite, U32),    MEMBER(allow_empty, U32),
    MEMBER(no_sync, U32),     MEMBER(jobs, U32),         MEMBER(max_pixels, U64),   MEMBER(max_member, U64),
};
_Static_assert(sizeof(mshard_on_error) == 4 && sizeof(mshard_on_overflow) == 4, "enum members are set as U32");

/* Texts stay alive with the dict. */
static int set_member(mshard_pack_options *options, const struct member *member, PyObject *value)
{
    char *at = (char *)options + member->offset;

    if (member->kind == TEXT) {
        const char *text = PyBytes_Check(value) ? PyBytes_AsString(value) : PyUnicode_AsUTF8AndSize(value, NULL);
        memcpy(at, &text, sizeof(text));
        return text ? 0 : -1;
    }
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred())
        return -1;
    if (member->kind == U64) {
        uint64_t wide = number;
        memcpy(at, &wide, sizeof(wide));
        return 0;
    }
    uint32_t narrow = (uint32_t)number;
    if (narrow != number) {
        PyErr_Format(PyExc_ValueError, "%s: %llu is too large", member->name, number);
        return -1;
    }
    memcpy(at, &narrow, sizeof(narrow));
    return 0;
}

static int set_members(mshard_pack_options *options, PyObject *dict)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        PyObject *name = PyUnicode_FromString(members[i].name);
        PyObject *value = name ? PyDict_GetItemWithError(dict, name) : NULL;
        Py_XDECREF(name);
        if (!value && PyErr_Occurred())
            return -1;
        if (value && set_member(options, &members[i], value) < 0)
            return -1;
    }
    return 0;
}

/* A NULL-terminated array of the strings of a list of bytes, which stay the list's. */
static const char **strings(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    const char **texts = PyMem_Calloc((size_t)n + 1, sizeof(*texts));

    if (!texts)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; texts && i < n; i++) {
        texts[i] = PyBytes_AsString(PyList_GetItem(list, i));
        if (!texts[i]) {
            PyMem_Free(texts);
            return NULL;
        }
    }
    return texts;
}

/* --- events --- */

static PyObject *path_or_none(const char *path)
{
    return path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

static PyObject *event_tuple(const struct listener *to, const mshard_pack_event *e)
{
    return Py_BuildValue("(iNNNKKKKKKKK)", (int)e->kind, e->text ? mb_text(e->text) : Py_NewRef(Py_None),
                         path_or_none(e->path), e->error ? mb_error_object(to->errors, e->error) : Py_NewRef(Py_None),
                         (unsigned long long)e->done, (unsigned long long)e->total, (unsigned long long)e->bytes_in,
                         (unsigned long long)e->bytes_out, (unsigned long long)e->skipped,
                         (unsigned long long)e->shards_done, (unsigned long long)e->shards,
                         (unsigned long long)e->memory_limit);
}

static int on_event(void *context, const mshard_pack_event *event)
{
    struct listener *to = context;
    PyGILState_STATE gil = PyGILState_Ensure();

    if (!to->type) {
        PyObject *tuple = event_tuple(to, event);
        PyObject *made = tuple ? PyObject_CallFunctionObjArgs(to->event, tuple, NULL) : NULL;
        if (!made)
            PyErr_Fetch(&to->type, &to->value, &to->trace);
        Py_XDECREF(tuple);
        Py_XDECREF(made);
    }
    int stop = to->type != NULL;
    PyGILState_Release(gil);
    return stop;
}

/* --- the call --- */

static PyObject *result_dict(const mshard_pack_result *r)
{
    return Py_BuildValue("{sKsKsKsKsKsKsKsKsKsKsdsKsdsdssss}", "inputs", (unsigned long long)r->inputs, "records",
                         (unsigned long long)r->records, "skipped", (unsigned long long)r->skipped, "failed",
                         (unsigned long long)r->failed, "ignored", (unsigned long long)r->ignored, "duplicates",
                         (unsigned long long)r->duplicates, "bytes_in", (unsigned long long)r->bytes_in, "bytes_out",
                         (unsigned long long)r->bytes_out, "shards", (unsigned long long)r->shards, "memory_limit",
                         (unsigned long long)r->memory_limit, "largest_error", r->largest_error, "overflowed",
                         (unsigned long long)r->overflowed, "elapsed", (double)r->elapsed_ns / 1e9, "verify_elapsed",
                         (double)r->verify_ns / 1e9, "id", r->id, "plan_json", r->plan_json);
}

static PyObject *run(struct listener *to, PyObject *inputs, const char *out, const mshard_pack_options *options)
{
    const char **texts = strings(inputs);
    mshard_pack_result result;
    mshard_status status;
    mshard_error err;
    PyObject *made = NULL;

    if (!texts)
        return NULL;
    memset(&result, 0, sizeof(result));
    Py_BEGIN_ALLOW_THREADS
    status = mshard_pack(texts, (size_t)PyList_Size(inputs), out, options, &result, &err);
    Py_END_ALLOW_THREADS
    if (to->type) {
        PyErr_Restore(to->type, to->value, to->trace);
        to->type = NULL;
    } else {
        made = status == MSHARD_OK ? result_dict(&result) : mb_raise(to->errors, &err);
    }
    mshard_pack_result_clear(&result);
    PyMem_Free(texts);
    return made;
}

PyDoc_STRVAR(pack_doc,
             "pack(inputs: list of bytes, out: bytes or None, options: dict, dtypes: list of bytes, event) -> dict\n\n"
             "mshard_pack(); see mshard.pack.");

static PyObject *pack(PyObject *module, PyObject *args)
{
    struct pack_state *state = PyModule_GetState(module);
    struct listener to = {.errors = &state->errors};
    mshard_pack_options options = {MSHARD_PACK_OPTIONS_INIT, .event = on_event, .context = &to};
    PyObject *inputs, *out, *dict, *dtypes;

    if (!PyArg_ParseTuple(args, "O!OO!O!O", &PyList_Type, &inputs, &out, &PyDict_Type, &dict, &PyList_Type, &dtypes,
                          &to.event))
        return NULL;
    const char *out_text = out == Py_None ? NULL : PyBytes_AsString(out);
    if ((out != Py_None && !out_text) || set_members(&options, dict) < 0)
        return NULL;
    const char **dtype_texts = strings(dtypes);
    if (!dtype_texts)
        return NULL;
    options.dtypes = PyList_Size(dtypes) > 0 ? dtype_texts : NULL;
    PyObject *made = run(&to, inputs, out_text, &options);
    PyMem_Free(dtype_texts);
    return made;
}

/* --- the module --- */

static int module_exec(PyObject *module)
{
    struct pack_state *state = PyModule_GetState(module);

    if (mb_errors_import(&state->errors) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "version", mshard_version());
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct pack_state *state = PyModule_GetState(module);

    Py_VISIT(state->errors.format);
    Py_VISIT(state->errors.incomplete);
    return 0;
}

static int module_clear(PyObject *module)
{
    struct pack_state *state = PyModule_GetState(module);

    Py_CLEAR(state->errors.format);
    Py_CLEAR(state->errors.incomplete);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

static PyMethodDef module_methods[] = {
    {"pack", pack, METH_VARARGS, pack_doc},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};
static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "mshard._pack",
    .m_doc = "Packing of raw files.",
    .m_size = sizeof(struct pack_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__pack(void);
PyMODINIT_FUNC PyInit__pack(void)
{
    return PyModuleDef_Init(&module_def);
}
