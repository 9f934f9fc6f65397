/*
 * json_scan.h - find members in JSON text without building anything
 */
#ifndef TOOL_JSON_SCAN_H
#define TOOL_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of JSON text: a whole value, or what is left of an object or array. */
struct json_scan {
    const char *at, *end;
};

/* Into an object or array; json_next then gives its items, name for objects (with its quotes), NULL for arrays. */
bool json_enter(struct json_scan value, struct json_scan *rest);
bool json_next(struct json_scan *rest, struct json_scan *name, struct json_scan *value);
/* The member of an object. */
bool json_member(struct json_scan object, const char *wanted, struct json_scan *value);
char json_kind(struct json_scan value); /* its first character */
bool json_to_count(struct json_scan value, uint64_t *number);
char *json_to_string(struct json_scan value); /* a string decoded, anything else as it stands; malloc'd, may be NULL */

#endif
