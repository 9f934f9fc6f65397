/*
 * module.c - mshard._mshard: state, types, functions
 *
 * Multi-phase initialization; everything the module owns is in its state. numpy's table of functions is the one
 * exception: numpy itself is once a process.
 */
#define MB_IMPORT_ARRAY
#include "binding.h"

static int module_exec(PyObject *module);

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct mb_state *state = PyModule_GetState(module);

    Py_VISIT(state->errors.format);
    Py_VISIT(state->errors.incomplete);
    Py_VISIT(state->store_type);
    Py_VISIT(state->dataset_type);
    Py_VISIT(state->column_type);
    Py_VISIT(state->keys_type);
    Py_VISIT(state->writer_type);
    Py_VISIT(state->sample_types);
    Py_VISIT(state->coerce);
    return 0;
}

static int module_clear(PyObject *module)
{
    struct mb_state *state = PyModule_GetState(module);

    Py_CLEAR(state->errors.format);
    Py_CLEAR(state->errors.incomplete);
    Py_CLEAR(state->store_type);
    Py_CLEAR(state->dataset_type);
    Py_CLEAR(state->column_type);
    Py_CLEAR(state->keys_type);
    Py_CLEAR(state->writer_type);
    Py_CLEAR(state->sample_types);
    Py_CLEAR(state->coerce);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

PyDoc_STRVAR(verify_doc, "Check a data set or shard; see mshard.verify, which names the arguments and the result.");

static PyMethodDef module_methods[] = {
    {"verify", (PyCFunction)(void (*)(void))mb_verify, METH_VARARGS | METH_KEYWORDS, verify_doc},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};
static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "mshard._mshard",
    .m_doc = "The C core of mshard: read, write and check data sets.",
    .m_size = sizeof(struct mb_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

struct mb_state *mb_state_of(PyTypeObject *type)
{
    for (; type; type = PyType_GetSlot(type, Py_tp_base)) {
        PyObject *module = PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE ? PyType_GetModule(type) : NULL;
        if (module && PyModule_GetDef(module) == &module_def)
            return PyModule_GetState(module);
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_TypeError, "not a type of mshard._mshard");
    return NULL;
}

PyTypeObject *mb_type_add(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

    if (type && PyModule_AddType(module, (PyTypeObject *)type) < 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static PyObject *from_module(const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *made = module ? PyObject_GetAttrString(module, name) : NULL;

    Py_XDECREF(module);
    return made;
}

static int module_exec(PyObject *module)
{
    struct mb_state *state = PyModule_GetState(module);

    if (_import_array() < 0) /* in the headers of numpy 1 and 2 alike */
        return -1;
    if (mb_errors_make(&state->errors, module) < 0)
        return -1;
    if (!(state->store_type = mb_type_add(module, &mb_store_spec)) ||
        !(state->column_type = mb_type_add(module, &mb_column_spec)) ||
        !(state->keys_type = mb_type_add(module, &mb_keys_spec)) ||
        !(state->dataset_type = mb_type_add(module, &mb_dataset_spec)) ||
        !(state->writer_type = mb_type_add(module, &mb_writer_spec)))
        return -1;
    if (!(state->sample_types = from_module("mshard._sample", "sample_types")) ||
        !(state->coerce = from_module("mshard._convert", "coerce")))
        return -1;
    return PyModule_AddStringConstant(module, "version", mshard_version());
}

PyMODINIT_FUNC PyInit__mshard(void);
PyMODINIT_FUNC PyInit__mshard(void)
{
    return PyModuleDef_Init(&module_def);
}
