/*
 * manifest_fields.c - dataset.json: fields, class names and statistics
 *
 * Half of the parser in manifest.c; fills the manifest as it goes, so that mshi_manifest_clear frees what a failed
 * parse has made.
 */
#include "format/manifest_parse.h"

#include "base/alloc.h"
#include "format/field_rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mshard_status parse_shape(const struct mshi_manifest_parse *p, const mshi_json *node, const char *where,
                                 mshard_field *field)
{
    const mshi_json *shape = mshi_json_member(node, "shape");
    const size_t n = mshi_json_count(shape);

    if (shape == NULL || mshi_json_kind(shape) != MSHI_JSON_ARRAY)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "shape", shape, "expected an array");
    if (n > MSHARD_MAX_DIMS)
        return mshi_manifest_bad(p, MSHARD_E_LIMIT, where, "shape", shape, "expected at most %d dimensions",
                                 MSHARD_MAX_DIMS);
    for (size_t d = 0; d < n; d++) {
        const mshi_json *dim = mshi_json_at(shape, d);

        if (mshi_json_kind(dim) == MSHI_JSON_NULL)
            field->shape[d] = MSHARD_DIM_UNKNOWN;
        else if (!mshi_json_uint(dim, &field->shape[d]))
            return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "shape", dim, "expected whole numbers or null");
    }
    field->ndim = (uint32_t)n;
    return MSHARD_OK;
}

static bool content_of(const char *name, mshard_content *content)
{
    for (*content = MSHARD_CONTENT_VALUES; mshard_content_name(*content) != NULL; ++*content)
        if (strcmp(mshard_content_name(*content), name) == 0)
            return true;
    return false;
}

static mshard_status parse_options(const struct mshi_manifest_parse *p, const mshi_json *node, const char *where,
                                   mshard_field *field)
{
    const mshi_json *aux = mshi_json_member(node, "auxiliary");
    const mshi_json *scale = mshi_json_member(node, "scale"), *offset = mshi_json_member(node, "offset");
    const char *content;
    bool is_aux = false;

    MSHI_TRY(mshi_manifest_string(p, node, where, "content", &content));
    if (!content_of(content, &field->content))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "content", mshi_json_member(node, "content"),
                                 "expected values, image, encoded, label or text");
    if (aux != NULL && !mshi_json_bool(aux, &is_aux))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "auxiliary", aux, "expected true or false");
    if (is_aux)
        field->flags |= MSHARD_FIELD_AUX;
    if (scale == NULL && offset == NULL)
        return MSHARD_OK;
    field->flags |= MSHARD_FIELD_SCALED;
    if (scale == NULL || !mshi_json_double(scale, &field->scale))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "scale", scale, "expected a number");
    if (offset == NULL || !mshi_json_double(offset, &field->offset))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "offset", offset, "expected a number");
    return MSHARD_OK;
}

static mshard_status parse_field(const struct mshi_manifest_parse *p, const mshi_json *node, uint32_t i, char *name)
{
    mshard_field *field = &p->manifest->fields[i];
    char where[40], text[MSHI_RULE_TEXT];
    const char *string;
    size_t member;

    (void)snprintf(where, sizeof(where), "fields[%u].", i);
    field->name = name;
    MSHI_TRY(mshi_manifest_string(p, node, where, "name", &string));
    if (!mshi_field_name_valid(string))
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "name", mshi_json_member(node, "name"),
                                 "expected a letter or _ and up to 62 letters, digits or _");
    memcpy(name, string, strlen(string) + 1);
    MSHI_TRY(mshi_manifest_string(p, node, where, "dtype", &string));
    if (mshard_dtype_parse(string, &field->dtype, NULL) != MSHARD_OK)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "dtype", mshi_json_member(node, "dtype"),
                                 "expected a dtype");
    MSHI_TRY(parse_shape(p, node, where, field));
    MSHI_TRY(parse_options(p, node, where, field));
    const mshard_status status = mshi_field_rule(p->manifest->fields, i, &field->record_size, &member, text);
    if (status != MSHARD_OK)
        return mshi_fail(p->err, status, p->path, MSHARD_NO_OFFSET, "fields[%u]: %s", i, text);
    return MSHARD_OK;
}

mshard_status mshi_manifest_parse_fields(const struct mshi_manifest_parse *p, const mshi_json *root)
{
    const mshi_json *node = mshi_json_member(root, "fields");
    const size_t n = mshi_json_count(node);
    struct mshi_manifest *m = p->manifest;

    if (node == NULL || mshi_json_kind(node) != MSHI_JSON_ARRAY || n == 0)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "fields", node, "expected an array of 1 to %d fields",
                                 MSHARD_MAX_FIELDS);
    if (n > MSHARD_MAX_FIELDS)
        return mshi_fail(p->err, MSHARD_E_LIMIT, p->path, MSHARD_NO_OFFSET, "fields: expected at most %d, found %zu",
                         MSHARD_MAX_FIELDS, n);
    MSHI_TRY(mshi_alloc(n, sizeof(*m->fields) + MSHARD_MAX_NAME + 1, &m->fields, p->err)); /* names behind the fields */
    for (uint32_t i = 0; i < n; i++)
        MSHI_TRY(parse_field(p, mshi_json_at(node, i), i, (char *)(m->fields + n) + (size_t)i * (MSHARD_MAX_NAME + 1)));
    m->field_count = (uint32_t)n;
    MSHI_TRY(mshi_alloc(n, sizeof(*m->classes), &m->classes, p->err));
    MSHI_TRY(mshi_alloc(n, sizeof(*m->class_count), &m->class_count, p->err));
    return mshi_alloc(n, sizeof(*m->stats), &m->stats, p->err);
}

/* The field a member of classes or statistics is about. */
static mshard_status find_field(const struct mshi_manifest_parse *p, const char *where, const char *name, uint32_t *f)
{
    for (*f = 0; *f < p->manifest->field_count; (*f)++)
        if (strcmp(p->manifest->fields[*f].name, name) == 0)
            return MSHARD_OK;
    return mshi_fail(p->err, MSHARD_E_CORRUPT, p->path, MSHARD_NO_OFFSET,
                     "%s: expected names of fields, found \"%.64s\"", where, name);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static mshard_status check_classes_unique(const struct mshi_manifest_parse *p, const char *where, char **names,
                                          uint64_t n)
{
    mshard_status status = MSHARD_OK;
    char **sorted;

    MSHI_TRY(mshi_alloc(n, sizeof(*sorted), &sorted, p->err));
    memcpy(sorted, names, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), compare_names);
    for (uint64_t i = 1; i < n && status == MSHARD_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = mshi_fail(p->err, MSHARD_E_CORRUPT, p->path, MSHARD_NO_OFFSET,
                               "%s: class \"%.100s\" stands there twice", where, sorted[i]);
    free(sorted);
    return status;
}

static mshard_status parse_class_list(const struct mshi_manifest_parse *p, const char *name, const mshi_json *list)
{
    struct mshi_manifest *m = p->manifest;
    const size_t n = mshi_json_count(list);
    char where[96];
    uint32_t f;

    MSHI_TRY(find_field(p, "classes", name, &f));
    (void)snprintf(where, sizeof(where), "classes.%s", name);
    if (m->fields[f].content != MSHARD_CONTENT_LABEL)
        return mshi_fail(p->err, MSHARD_E_CORRUPT, p->path, MSHARD_NO_OFFSET, "%s: expected a label field", where);
    if (mshi_json_kind(list) != MSHI_JSON_ARRAY || n == 0)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "", list, "expected an array of names");
    MSHI_TRY(mshi_alloc(n, sizeof(**m->classes), &m->classes[f], p->err));
    m->class_count[f] = n;
    for (size_t i = 0; i < n; i++) {
        size_t size = 0;
        const char *text = mshi_json_string(mshi_json_at(list, i), &size);

        if (text == NULL || size == 0)
            return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "", mshi_json_at(list, i),
                                     "expected names that are not empty");
        MSHI_TRY(mshi_strdup(text, &m->classes[f][i], p->err));
    }
    return check_classes_unique(p, where, m->classes[f], n);
}

mshard_status mshi_manifest_parse_classes(const struct mshi_manifest_parse *p, const mshi_json *root)
{
    const mshi_json *node = mshi_json_member(root, "classes"), *list;
    void *iterator = NULL;
    const char *name;

    if (node == NULL)
        return MSHARD_OK;
    if (mshi_json_kind(node) != MSHI_JSON_OBJECT)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "classes", node, "expected an object");
    while (mshi_json_next(node, &iterator, &name, &list))
        MSHI_TRY(parse_class_list(p, name, list));
    return MSHARD_OK;
}

/* One number a channel; null (nothing finite to say) reads as NaN. */
static mshard_status parse_figures(const struct mshi_manifest_parse *p, const mshi_json *node, const char *where,
                                   const char *name, uint32_t channels, double *figures)
{
    const mshi_json *list = mshi_json_member(node, name);

    if (list == NULL || mshi_json_kind(list) != MSHI_JSON_ARRAY || mshi_json_count(list) != channels)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, name, list, "expected an array of %u numbers", channels);
    for (uint32_t c = 0; c < channels; c++) {
        const mshi_json *figure = mshi_json_at(list, c);

        if (mshi_json_kind(figure) == MSHI_JSON_NULL)
            figures[c] = NAN;
        else if (!mshi_json_double(figure, &figures[c]))
            return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, name, figure, "expected numbers or null");
    }
    return MSHARD_OK;
}

static mshard_status parse_counts(const struct mshi_manifest_parse *p, const mshi_json *counts, const char *where,
                                  uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!mshi_json_uint(mshi_json_at(counts, i), &values[i]))
            return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "counts", mshi_json_at(counts, i),
                                     "expected whole numbers");
    return MSHARD_OK;
}

static mshard_status parse_stats(const struct mshi_manifest_parse *p, const char *name, const mshi_json *node)
{
    struct mshi_manifest *m = p->manifest;
    const mshi_json *counts = mshi_json_member(node, "counts");
    const size_t n = mshi_json_count(counts);
    char where[96];
    uint32_t f;
    uint64_t channels;
    mshard_stats *s;

    MSHI_TRY(find_field(p, "statistics", name, &f));
    (void)snprintf(where, sizeof(where), "statistics.%s.", name);
    if (counts != NULL && mshi_json_kind(counts) != MSHI_JSON_ARRAY)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "counts", counts, "expected an array");
    MSHI_TRY(mshi_alloc(1, sizeof(*s) + n * sizeof(uint64_t), &s, p->err)); /* counts behind the figures */
    m->stats[f] = s;
    MSHI_TRY(mshi_manifest_uint(p, node, where, "channels", MSHARD_MAX_CHANNELS, &channels));
    if (channels == 0)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, where, "channels", mshi_json_member(node, "channels"),
                                 "expected 1 or more");
    s->channels = (uint32_t)channels;
    MSHI_TRY(mshi_manifest_uint(p, node, where, "values", UINT64_MAX, &s->values));
    MSHI_TRY(mshi_manifest_uint(p, node, where, "nan", UINT64_MAX, &s->nan));
    MSHI_TRY(mshi_manifest_uint(p, node, where, "inf", UINT64_MAX, &s->inf));
    MSHI_TRY(parse_figures(p, node, where, "min", s->channels, s->min));
    MSHI_TRY(parse_figures(p, node, where, "max", s->channels, s->max));
    MSHI_TRY(parse_figures(p, node, where, "mean", s->channels, s->mean));
    MSHI_TRY(parse_figures(p, node, where, "std", s->channels, s->std));
    if (counts != NULL) {
        uint64_t *values = (uint64_t *)(s + 1);

        MSHI_TRY(parse_counts(p, counts, where, values, n));
        s->counts = values;
        s->count_length = n;
    }
    if (mshard_field_is_variable(&m->fields[f])) {
        MSHI_TRY(mshi_manifest_uint(p, node, where, "min_size", MSHARD_MAX_RECORD, &s->min_size));
        MSHI_TRY(mshi_manifest_uint(p, node, where, "max_size", MSHARD_MAX_RECORD, &s->max_size));
    }
    return MSHARD_OK;
}

mshard_status mshi_manifest_parse_statistics(const struct mshi_manifest_parse *p, const mshi_json *root)
{
    const mshi_json *node = mshi_json_member(root, "statistics"), *stats;
    void *iterator = NULL;
    const char *name;

    if (node == NULL)
        return MSHARD_OK;
    if (mshi_json_kind(node) != MSHI_JSON_OBJECT)
        return mshi_manifest_bad(p, MSHARD_E_CORRUPT, "", "statistics", node, "expected an object");
    while (mshi_json_next(node, &iterator, &name, &stats))
        MSHI_TRY(parse_stats(p, name, stats));
    return MSHARD_OK;
}
