/*
 * manifest_parse.h - between the two halves of the dataset.json parser: manifest.c and manifest_fields.c
 */
#ifndef MSHI_FORMAT_MANIFEST_PARSE_H
#define MSHI_FORMAT_MANIFEST_PARSE_H

#include "base/json.h"
#include "format/manifest.h"

struct mshi_manifest_parse {
    const char *path;
    struct mshi_manifest *manifest;
    mshard_error *err;
};

/* "<where><name>: <expected>, found <node as JSON>"; node NULL: "found nothing". */
mshard_status mshi_manifest_bad(const struct mshi_manifest_parse *p, mshard_status code, const char *where,
                                const char *name, const mshi_json *node, const char *format, ...) MSHI_PRINTF(6, 7);
/* Required members of object. LIMIT above max. where: "shards[3]." or "". */
mshard_status mshi_manifest_uint(const struct mshi_manifest_parse *p, const mshi_json *object, const char *where,
                                 const char *name, uint64_t max, uint64_t *value);
mshard_status mshi_manifest_string(const struct mshi_manifest_parse *p, const mshi_json *object, const char *where,
                                   const char *name, const char **value);
/* digits lower-case hex digits, copied to text with a NUL. */
mshard_status mshi_manifest_hex(const struct mshi_manifest_parse *p, const mshi_json *object, const char *where,
                                const char *name, size_t digits, char *text);

mshard_status mshi_manifest_parse_fields(const struct mshi_manifest_parse *p, const mshi_json *root);
mshard_status mshi_manifest_parse_classes(const struct mshi_manifest_parse *p, const mshi_json *root);
mshard_status mshi_manifest_parse_statistics(const struct mshi_manifest_parse *p, const mshi_json *root);

#endif
