/*
 * verify.c - mshard_verify with findings as tuples
 *
 * The callbacks may come from a thread Python has never seen; they take the GIL, and an exception raised in one
 * stops the check and is raised again by the caller's thread. mshard/_verify.py gives the result its names.
 */
#include "binding.h"

struct listener {
    const struct mb_errors *errors;
    PyObject *findings;             /* list */
    PyObject *progress;             /* callable or NULL */
    PyObject *type, *value, *trace; /* the first exception of a callback; by GIL */
};

static void keep_exception(struct listener *to)
{
    if (!to->type)
        PyErr_Fetch(&to->type, &to->value, &to->trace);
    else
        PyErr_Clear();
}

static PyObject *text_or_none(const char *text)
{
    return text ? mb_text(text) : Py_NewRef(Py_None);
}

static PyObject *finding_tuple(const mshard_finding *f)
{
    char text[2560];
    mshard_error_format(f->error, text, sizeof(text));
    return Py_BuildValue(
        "(NsNNNNKKKK)", mb_text(text), mshard_status_name(f->error->code), PyUnicode_DecodeFSDefault(f->error->path),
        f->error->offset == MSHARD_NO_OFFSET ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(f->error->offset),
        text_or_none(f->shard_name), text_or_none(f->field_name), (unsigned long long)f->offset,
        (unsigned long long)f->size, (unsigned long long)f->first_record, (unsigned long long)f->record_count);
}

static void on_finding(void *context, const mshard_finding *finding)
{
    struct listener *to = context;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *item = finding_tuple(finding);

    if (!item || PyList_Append(to->findings, item) < 0)
        keep_exception(to);
    Py_XDECREF(item);
    PyGILState_Release(gil);
}

static int on_progress(void *context, uint64_t done, uint64_t total)
{
    struct listener *to = context;
    PyGILState_STATE gil = PyGILState_Ensure();

    if (to->progress && !to->type) {
        PyObject *made = PyObject_CallFunction(to->progress, "KK", (unsigned long long)done, (unsigned long long)total);
        if (!made)
            keep_exception(to);
        Py_XDECREF(made);
    }
    int stop = to->type != NULL;
    PyGILState_Release(gil);
    return stop;
}

static PyObject *result_tuple(struct listener *to, const mshard_verify_result *r)
{
    return Py_BuildValue("(OKKKKKK)", to->findings, (unsigned long long)r->shards, (unsigned long long)r->bad_shards,
                         (unsigned long long)r->blocks, (unsigned long long)r->bad_blocks, (unsigned long long)r->bytes,
                         (unsigned long long)r->bad_records);
}

static PyObject *run(struct listener *to, const char *path, const mshard_verify_options *options)
{
    mshard_verify_result result = {0};
    mshard_status status;
    mshard_error err;

    Py_BEGIN_ALLOW_THREADS
    status = mshard_verify(path, options, &result, &err);
    Py_END_ALLOW_THREADS
    if (to->type) {
        PyErr_Restore(to->type, to->value, to->trace);
        to->type = NULL;
        return NULL;
    }
    return status == MSHARD_OK ? result_tuple(to, &result) : mb_raise(to->errors, &err);
}

/* _verify(path, level, threads, subset, subset_count, sample, seed, progress) */
PyObject *mb_verify(PyObject *module, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"path",   "level", "threads",  "subset", "subset_count",
                                        "sample", "seed",  "progress", NULL};
    struct mb_state *state = PyModule_GetState(module);
    struct listener to = {.errors = &state->errors};
    mshard_verify_options options = {MSHARD_VERIFY_OPTIONS_INIT, .report = on_finding, .progress = on_progress,
                                     .context = &to};
    unsigned long long subset, subset_count, seed;
    PyObject *path = NULL, *progress;
    int level;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&iIKKdKO", (char **)names, PyUnicode_FSConverter, &path, &level,
                                     &options.threads, &subset, &subset_count, &options.sample, &seed, &progress))
        return NULL;
    options.level = (mshard_verify_level)level;
    options.subset = subset;
    options.subset_count = subset_count;
    options.seed = seed;
    to.progress = progress == Py_None ? NULL : progress;
    to.findings = PyList_New(0);
    PyObject *made = to.findings ? run(&to, PyBytes_AsString(path), &options) : NULL;
    Py_XDECREF(to.findings);
    Py_DECREF(path);
    return made;
}
