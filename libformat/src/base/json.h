/*
 * json.h - read-only JSON trees; json.c alone knows jansson
 *
 * Duplicate members, NUL in strings and depth above 64 are refused. Nodes belong to the document.
 */
#ifndef MSHI_BASE_JSON_H
#define MSHI_BASE_JSON_H

#include "base/fail.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct mshi_json mshi_json; /* a node */

/* One JSON value (any kind) in size bytes. CORRUPT with path, base_offset + position and the parser's words. */
mshard_status mshi_json_parse(const char *text, size_t size, const char *path, uint64_t base_offset, mshi_json **root,
                              mshard_error *err);
void mshi_json_free(mshi_json *root);

enum mshi_json_kind {
    MSHI_JSON_NULL,
    MSHI_JSON_BOOL,
    MSHI_JSON_INTEGER,
    MSHI_JSON_REAL,
    MSHI_JSON_STRING,
    MSHI_JSON_ARRAY,
    MSHI_JSON_OBJECT
};
enum mshi_json_kind mshi_json_kind(const mshi_json *node);
const mshi_json *mshi_json_member(const mshi_json *object, const char *name); /* NULL: not an object, or absent */
size_t mshi_json_count(const mshi_json *node);                                /* elements or members; 0 for others */
const mshi_json *mshi_json_at(const mshi_json *array, size_t i);
/* Members of an object in file order. *iterator NULL: the first; false: the end. */
bool mshi_json_next(const mshi_json *object, void **iterator, const char **name, const mshi_json **value);
bool mshi_json_uint(const mshi_json *node, uint64_t *value); /* false: not a non-negative integer */
bool mshi_json_int(const mshi_json *node, int64_t *value);
bool mshi_json_double(const mshi_json *node, double *value); /* integers too */
/* NULL: not a string; NUL-terminated; size may be NULL. */
const char *mshi_json_string(const mshi_json *node, size_t *size);
bool mshi_json_bool(const mshi_json *node, bool *value);
/* Compact text, members in file order; malloc'd; NULL: out of memory. */
char *mshi_json_text(const mshi_json *node);

#endif
