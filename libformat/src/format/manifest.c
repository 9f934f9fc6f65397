/*
 * manifest.c - dataset.json: parse and check
 *
 * The text is untrusted. Everything in a parsed manifest keeps the limits of spec/README.md, sums of counts do not
 * overflow, names are plain file names, and (when asked) the id has been compared with the bytes. Fields, classes
 * and statistics are parsed in manifest_fields.c.
 */
#include "format/manifest.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "format/field_rules.h"
#include "format/layout.h"
#include "format/manifest_parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TAIL_SIZE 43 /* "id": "<32 hex>"\n}\n */
#define TAIL_ID 7    /* of the digits in the tail */

mshard_status mshi_manifest_bad(const struct mshi_manifest_parse *p, mshard_status code, const char *where,
                                const char *name, const mshi_json *node, const char *format, ...)
{
    char expected[320];
    char *found = node == NULL ? NULL : mshi_json_text(node);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(expected, sizeof(expected), format, arguments);
    va_end(arguments);
    (void)mshi_fail(p->err, code, p->path, MSHARD_NO_OFFSET, "%s%s: %s, found %.80s", where, name, expected,
                    node == NULL    ? "nothing"
                    : found == NULL ? "something else"
                                    : found);
    free(found);
    return code;
}

mshard_status mshi_manifest_uint(const struct mshi_manifest_parse *p, const mshi_json *object, const char *where,
                                 const char *name, uint64_t max, uint64_t *value)
{
    const mshi_json *node = mshi_json_member(object, name);

    if (node == NULL || !mshi_json_uint(node, value))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, name, node, "expected a whole number");
    if (*value > max)
        return mshi_manifest_bad(p, MSHARD_E_LIMIT, where, name, node, "expected at most %" PRIu64, max);
    return MSHARD_OK;
}

mshard_status mshi_manifest_string(const struct mshi_manifest_parse *p, const mshi_json *object, const char *where,
                                   const char *name, const char **value)
{
    const mshi_json *node = mshi_json_member(object, name);

    *value = node == NULL ? NULL : mshi_json_string(node, NULL);
    return *value == NULL ? mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, name, node, "expected a string") : MSHARD_OK;
}

static bool is_hex(const char *text, size_t digits)
{
    for (size_t i = 0; i < digits; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    return true;
}

mshard_status mshi_manifest_hex(const struct mshi_manifest_parse *p, const mshi_json *object, const char *where,
                                const char *name, size_t digits, char *text)
{
    const mshi_json *node = mshi_json_member(object, name);
    size_t size = 0;
    const char *value = node == NULL ? NULL : mshi_json_string(node, &size);

    if (value == NULL || size != digits || !is_hex(value, digits))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, name, node, "expected %zu lower-case hex digits", digits);
    memcpy(text, value, digits + 1);
    return MSHARD_OK;
}

/* [A-Za-z0-9][A-Za-z0-9._-]{0,126}, ending in .mshard */
static bool is_shard_name(const char *name)
{
    static const char end[] = ".mshard";
    const size_t size = strlen(name), end_size = sizeof(end) - 1;

    if (size <= end_size || size > 127 || strcmp(name + size - end_size, end) != 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = name[i];
        const bool word = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        if (!word && (i == 0 || (c != '.' && c != '_' && c != '-')))
            return false;
    }
    return true;
}

static bool has_tail(const char *text, size_t size)
{
    const char *tail = text + size - TAIL_SIZE;

    return size > TAIL_SIZE && memcmp(tail, "\"id\": \"", TAIL_ID) == 0 && is_hex(tail + TAIL_ID, 32) &&
           memcmp(tail + TAIL_ID + 32, "\"\n}\n", 4) == 0;
}

/* format, version, requires: is this ours, and can we read it? */
static mshard_status check_version(const struct mshi_manifest_parse *p, const mshi_json *root)
{
    const mshi_json *format = mshi_json_member(root, "format"), *version = mshi_json_member(root, "version");
    const mshi_json *needs = mshi_json_member(root, "requires");
    const char *name = format == NULL ? NULL : mshi_json_string(format, NULL);
    uint64_t major, minor;

    if (name == NULL || strcmp(name, "mshard") != 0)
        return mshi_manifest_bad(p, MSHARD_E_FORMAT, "not a data set of mshard: ", "format", format,
                                 "expected \"mshard\"");
    if (version == NULL || mshi_json_count(version) != 2 || !mshi_json_uint(mshi_json_at(version, 0), &major) ||
        !mshi_json_uint(mshi_json_at(version, 1), &minor))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "version", version, "expected two whole numbers");
    if (major != MSHI_MAJOR)
        return mshi_manifest_bad(p, MSHARD_E_VERSION, "", "version", version, "expected format %d (this is mshard %s)",
                                 MSHI_MAJOR, MSHARD_VERSION);
    if (needs == NULL || mshi_json_kind(needs) != MSHI_JSON_ARRAY)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "requires", needs, "expected an array of strings");
    for (size_t i = 0; i < mshi_json_count(needs); i++) {
        const mshi_json *node = mshi_json_at(needs, i);

        if (mshi_json_string(node, NULL) == NULL)
            return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "requires", node, "expected strings");
        return mshi_fail(p->err, MSHARD_E_VERSION, p->path, MSHARD_NO_OFFSET,
                         "requires: the data set needs \"%.100s\", which mshard %s does not know",
                         mshi_json_string(node, NULL), MSHARD_VERSION);
    }
    return MSHARD_OK;
}

/* The id is the hash of all bytes before the tail. */
static mshard_status check_id(const struct mshi_manifest_parse *p, const char *text, size_t size)
{
    char found[33];

    if (!has_tail(text, size))
        return mshi_fail(p->err, MSHARD_E_CORRUPT, p->path, size < TAIL_SIZE ? 0 : size - TAIL_SIZE,
                         "the file must end with its id alone on the last line but one: it was changed after packing");
    mshi_hash128_hex(mshi_hash128(text, size - TAIL_SIZE), found);
    if (memcmp(found, text + size - TAIL_SIZE + TAIL_ID, 32) != 0)
        return mshi_fail(p->err, MSHARD_E_CORRUPT, p->path, size - TAIL_SIZE + TAIL_ID,
                         "dataset.json is damaged or was changed: its id says %.32s, its bytes give %s",
                         text + size - TAIL_SIZE + TAIL_ID, found);
    return MSHARD_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static mshard_status check_names_unique(const struct mshi_manifest_parse *p)
{
    const struct mshi_manifest *m = p->manifest;
    const char **names;
    mshard_status status = MSHARD_OK;

    MSHI_TRY(mshi_alloc(m->shard_count, sizeof(*names), &names, p->err));
    for (uint64_t i = 0; i < m->shard_count; i++)
        names[i] = m->shards[i].name;
    qsort(names, m->shard_count, sizeof(*names), compare_names);
    for (uint64_t i = 1; i < m->shard_count && status == MSHARD_OK; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            status = mshi_fail(p->err, MSHARD_E_CORRUPT, p->path, MSHARD_NO_OFFSET, "shards: \"%s\" is listed twice",
                               names[i]);
    free(names);
    return status;
}

static mshard_status parse_shard(const struct mshi_manifest_parse *p, const mshi_json *node, uint64_t i)
{
    struct mshi_manifest_shard *s = &p->manifest->shards[i];
    char where[40], sum[17];
    const char *name;

    (void)snprintf(where, sizeof(where), "shards[%" PRIu64 "].", i);
    MSHI_TRY(mshi_manifest_string(p, node, where, "name", &name));
    if (!is_shard_name(name))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "name", mshi_json_member(node, "name"),
                                 "expected letters, digits, '.', '_', '-' and the ending .mshard");
    MSHI_TRY(mshi_strdup(name, &s->name, p->err));
    MSHI_TRY(mshi_manifest_uint(p, node, where, "records", MSHARD_MAX_RECORDS, &s->records));
    MSHI_TRY(mshi_manifest_uint(p, node, where, "size", MSHARD_MAX_FILE, &s->size));
    MSHI_TRY(mshi_manifest_hex(p, node, where, "header_sum", 16, sum));
    s->header_sum = strtoull(sum, NULL, 16);
    return MSHARD_OK;
}

static mshard_status parse_shards(const struct mshi_manifest_parse *p, const mshi_json *root)
{
    const mshi_json *node = mshi_json_member(root, "shards");
    const size_t n = mshi_json_count(node);
    struct mshi_manifest *m = p->manifest;
    uint64_t records = 0;

    if (node == NULL || mshi_json_kind(node) != MSHI_JSON_ARRAY)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "shards", node, "expected an array");
    if (n > MSHARD_MAX_SHARDS)
        return mshi_fail(p->err, MSHARD_E_LIMIT, p->path, MSHARD_NO_OFFSET,
                         "shards: expected at most %" PRIu64 ", found %zu", (uint64_t)MSHARD_MAX_SHARDS, n);
    MSHI_TRY(mshi_alloc(n, sizeof(*m->shards), &m->shards, p->err));
    m->shard_count = n;
    for (size_t i = 0; i < n; i++) {
        MSHI_TRY(parse_shard(p, mshi_json_at(node, i), i));
        records += m->shards[i].records; /* 2^20 shards of 2^40 records: fits */
    }
    if (records != m->records)
        return mshi_fail(p->err, MSHARD_E_CORRUPT, p->path, MSHARD_NO_OFFSET,
                         "records: expected the shards' sum, %" PRIu64 ", found %" PRIu64, records, m->records);
    return check_names_unique(p);
}

static mshard_status parse_keys(const struct mshi_manifest_parse *p, const mshi_json *root)
{
    const mshi_json *node = mshi_json_member(root, "keys");
    struct mshi_manifest_keys *keys = &p->manifest->keys;
    const char *file;

    if (node == NULL)
        return MSHARD_OK;
    if (mshi_json_kind(node) != MSHI_JSON_OBJECT)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "keys", node, "expected an object");
    MSHI_TRY(mshi_manifest_string(p, node, "keys.", "file", &file));
    if (strcmp(file, "keys.mdb") != 0)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "keys.", "file", mshi_json_member(node, "file"),
                                 "expected \"keys.mdb\"");
    if (!mshi_field_is_key(&p->manifest->fields[p->manifest->field_count - 1]))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "keys", node, "expected a last field \"%s\" beside it",
                                 MSHI_KEY_FIELD);
    MSHI_TRY(mshi_strdup(file, &keys->file, p->err));
    MSHI_TRY(mshi_manifest_uint(p, node, "keys.", "size", MSHARD_MAX_FILE, &keys->size));
    MSHI_TRY(mshi_manifest_uint(p, node, "keys.", "count", MSHARD_MAX_RECORDS, &keys->count));
    if (keys->count != p->manifest->records)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "keys.", "count", mshi_json_member(node, "count"),
                                 "expected one for each of %" PRIu64 " records", p->manifest->records);
    MSHI_TRY(mshi_manifest_hex(p, node, "keys.", "xxh3_128", 32, keys->hash));
    keys->present = true;
    return MSHARD_OK;
}

/* source and options: kept as text. */
static mshard_status parse_text(const struct mshi_manifest_parse *p, const mshi_json *root, const char *name,
                                char **text)
{
    const mshi_json *node = mshi_json_member(root, name);

    if (node == NULL)
        return mshi_strdup("{}", text, p->err);
    if (mshi_json_kind(node) != MSHI_JSON_OBJECT)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", name, node, "expected an object");
    *text = mshi_json_text(node);
    return *text != NULL
               ? MSHARD_OK
               : mshi_fail(p->err, MSHARD_E_NOMEM, p->path, MSHARD_NO_OFFSET, "out of memory for \"%s\"", name);
}

static mshard_status parse_root(const struct mshi_manifest_parse *p, const mshi_json *root, const char *text,
                                size_t size, bool id)
{
    struct mshi_manifest *m = p->manifest;

    if (mshi_json_kind(root) != MSHI_JSON_OBJECT)
        return mshi_fail(p->err, MSHARD_E_FORMAT, p->path, 0, "not a data set of mshard: expected a JSON object");
    MSHI_TRY(check_version(p, root));
    if (id)
        MSHI_TRY(check_id(p, text, size));
    MSHI_TRY(mshi_manifest_hex(p, root, "", "id", 32, m->id));
    MSHI_TRY(mshi_manifest_uint(p, root, "", "generation", INT64_MAX, &m->generation));
    if (m->generation == 0)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "generation", mshi_json_member(root, "generation"),
                                 "expected 1 or more");
    MSHI_TRY(mshi_manifest_uint(p, root, "", "records", MSHARD_MAX_RECORDS, &m->records));
    MSHI_TRY(mshi_manifest_parse_fields(p, root));
    MSHI_TRY(mshi_manifest_parse_classes(p, root));
    MSHI_TRY(mshi_manifest_parse_statistics(p, root));
    MSHI_TRY(parse_shards(p, root));
    MSHI_TRY(parse_keys(p, root));
    MSHI_TRY(parse_text(p, root, "source", &m->source_json));
    return parse_text(p, root, "options", &m->options_json);
}

mshard_status mshi_manifest_parse(const char *text, size_t size, const char *path, bool id,
                                  struct mshi_manifest *manifest, mshard_error *err)
{
    const struct mshi_manifest_parse p = {.path = path, .manifest = manifest, .err = err};
    mshi_json *root = NULL;

    memset(manifest, 0, sizeof(*manifest));
    if (size == 0)
        return mshi_fail(err, MSHARD_E_CORRUPT, path, 0, "expected a JSON object, found an empty file");
    mshard_status status = mshi_json_parse(text, size, path, 0, &root, err);
    if (status == MSHARD_E_CORRUPT && !has_tail(text, size))
        mshi_error_context(err, "not dataset.json as it was packed (damaged, cut short or changed)");
    if (status == MSHARD_OK)
        status = parse_root(&p, root, text, size, id);
    mshi_json_free(root);
    if (status != MSHARD_OK)
        mshi_manifest_clear(manifest);
    return status;
}

void mshi_manifest_clear(struct mshi_manifest *m)
{
    for (uint32_t f = 0; m->classes != NULL && f < m->field_count; f++) {
        for (uint64_t i = 0; m->classes[f] != NULL && i < m->class_count[f]; i++)
            free(m->classes[f][i]);
        free(m->classes[f]);
    }
    free(m->classes);
    free(m->class_count);
    for (uint32_t f = 0; m->stats != NULL && f < m->field_count; f++)
        free(m->stats[f]);
    free(m->stats);
    for (uint64_t i = 0; m->shards != NULL && i < m->shard_count; i++)
        free(m->shards[i].name);
    free(m->shards);
    free(m->fields);
    free(m->keys.file);
    free(m->source_json);
    free(m->options_json);
    memset(m, 0, sizeof(*m));
}
