/*
 * json.c - read-only JSON trees, the only place that knows jansson
 *
 * A node is jansson's json_t under another name. Depth is checked before jansson sees the text, so that its
 * recursion is bounded by us.
 */
#include "base/json.h"

#include "base/buf.h"

#include <jansson.h>

enum { MAX_DEPTH = 64 };

/* jansson's accessors that only read take json_t * in places. */
static json_t *value_of(const mshi_json *node)
{
    return (json_t *)(void *)(uintptr_t)node;
}

static mshi_json *node_of(json_t *value)
{
    return (mshi_json *)(void *)value;
}

/* Position of the bracket that nests too deep; size when there is none. */
static size_t too_deep(const char *text, size_t size)
{
    size_t depth = 0;
    bool quoted = false;

    for (size_t i = 0; i < size; i++) {
        const char c = text[i];

        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++depth > MAX_DEPTH)
                return i;
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return size;
}

mshard_status mshi_json_parse(const char *text, size_t size, const char *path, uint64_t base_offset, mshi_json **root,
                              mshard_error *err)
{
    json_error_t error;
    json_t *value;
    const size_t deep = too_deep(text, size);

    *root = NULL;
    if (deep < size)
        return mshi_fail(err, MSHARD_E_CORRUPT, path, base_offset + deep, "JSON nested deeper than %d levels",
                         MAX_DEPTH);
    value = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!value && json_error_code(&error) == json_error_out_of_memory)
        return mshi_fail(err, MSHARD_E_NOMEM, path, MSHARD_NO_OFFSET, "no memory for a JSON text of %zu bytes", size);
    if (!value)
        return mshi_fail(err, MSHARD_E_CORRUPT, path, base_offset + (error.position > 0 ? (uint64_t)error.position : 0),
                         "JSON expected, found: %s (line %d)", error.text, error.line);
    *root = node_of(value);
    return MSHARD_OK;
}

void mshi_json_free(mshi_json *root)
{
    json_decref(value_of(root));
}

enum mshi_json_kind mshi_json_kind(const mshi_json *node)
{
    switch (json_typeof(value_of(node))) {
    case JSON_OBJECT:
        return MSHI_JSON_OBJECT;
    case JSON_ARRAY:
        return MSHI_JSON_ARRAY;
    case JSON_STRING:
        return MSHI_JSON_STRING;
    case JSON_INTEGER:
        return MSHI_JSON_INTEGER;
    case JSON_REAL:
        return MSHI_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return MSHI_JSON_BOOL;
    case JSON_NULL:
        break;
    }
    return MSHI_JSON_NULL;
}

const mshi_json *mshi_json_member(const mshi_json *object, const char *name)
{
    return node_of(json_object_get(value_of(object), name));
}

size_t mshi_json_count(const mshi_json *node)
{
    const json_t *value = value_of(node);

    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}

const mshi_json *mshi_json_at(const mshi_json *array, size_t i)
{
    return node_of(json_array_get(value_of(array), i));
}

bool mshi_json_next(const mshi_json *object, void **iterator, const char **name, const mshi_json **value)
{
    json_t *from = value_of(object);

    *iterator = *iterator ? json_object_iter_next(from, *iterator) : json_object_iter(from);
    if (!*iterator)
        return false;
    *name = json_object_iter_key(*iterator);
    *value = node_of(json_object_iter_value(*iterator));
    return true;
}

bool mshi_json_int(const mshi_json *node, int64_t *value)
{
    if (!json_is_integer(value_of(node)))
        return false;
    *value = json_integer_value(value_of(node));
    return true;
}

bool mshi_json_uint(const mshi_json *node, uint64_t *value)
{
    int64_t v;

    if (!mshi_json_int(node, &v) || v < 0)
        return false;
    *value = (uint64_t)v;
    return true;
}

bool mshi_json_double(const mshi_json *node, double *value)
{
    if (!json_is_number(value_of(node)))
        return false;
    *value = json_number_value(value_of(node));
    return true;
}

const char *mshi_json_string(const mshi_json *node, size_t *size)
{
    if (!json_is_string(value_of(node)))
        return NULL;
    if (size)
        *size = json_string_length(value_of(node));
    return json_string_value(value_of(node));
}

bool mshi_json_bool(const mshi_json *node, bool *value)
{
    if (!json_is_boolean(value_of(node)))
        return false;
    *value = json_is_true(value_of(node));
    return true;
}

static int add_text(const char *data, size_t size, void *buf)
{
    mshi_buf_add(buf, data, size);
    return 0;
}

char *mshi_json_text(const mshi_json *node)
{
    struct mshi_buf buf = {.data = NULL};

    /* json_dumps would use jansson's allocator, which the process may have replaced */
    if (json_dump_callback(value_of(node), add_text, &buf, JSON_COMPACT | JSON_ENCODE_ANY) != 0 || buf.failed)
        mshi_buf_clear(&buf);
    return buf.data;
}
