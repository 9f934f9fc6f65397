/*
 * manifest_emit.c - dataset.json: the canonical text (spec/manifest.md)
 *
 * The same manifest gives the same bytes: member order, line breaks and number forms are fixed; nothing depends on
 * locale, time or place. What is emitted parses back to the same manifest.
 */
#include "format/manifest.h"

#include "base/hash.h"
#include "base/json.h"
#include "format/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_string(struct mshi_buf *text, const char *name, const char *value)
{
    mshi_buf_printf(text, "\"%s\": ", name);
    mshi_buf_json_string(text, value, strlen(value));
}

static void add_field(struct mshi_buf *text, const mshard_field *field)
{
    mshi_buf_text(text, " {");
    add_string(text, "name", field->name);
    mshi_buf_text(text, ", ");
    add_string(text, "dtype", mshard_dtype_name(field->dtype));
    mshi_buf_text(text, ", \"shape\": [");
    for (uint32_t d = 0; d < field->ndim; d++) {
        mshi_buf_text(text, d == 0 ? "" : ", ");
        if (field->shape[d] == MSHARD_DIM_UNKNOWN)
            mshi_buf_text(text, "null");
        else
            mshi_buf_printf(text, "%" PRIu64, field->shape[d]);
    }
    mshi_buf_text(text, "], ");
    add_string(text, "content", mshard_content_name(field->content));
    if ((field->flags & MSHARD_FIELD_AUX) != 0)
        mshi_buf_text(text, ", \"auxiliary\": true");
    if ((field->flags & MSHARD_FIELD_SCALED) != 0) {
        mshi_buf_text(text, ", \"scale\": ");
        mshi_buf_json_double(text, field->scale);
        mshi_buf_text(text, ", \"offset\": ");
        mshi_buf_json_double(text, field->offset);
    }
    mshi_buf_text(text, "}");
}

static void add_fields(struct mshi_buf *text, const struct mshi_manifest *m)
{
    mshi_buf_text(text, "\"fields\": [\n");
    for (uint32_t i = 0; i < m->field_count; i++) {
        add_field(text, &m->fields[i]);
        mshi_buf_text(text, i + 1 < m->field_count ? ",\n" : "\n");
    }
    mshi_buf_text(text, "],\n");
}

static void add_classes(struct mshi_buf *text, const struct mshi_manifest *m)
{
    bool any = false;

    for (uint32_t f = 0; m->classes != NULL && f < m->field_count; f++) {
        if (m->classes[f] == NULL || m->class_count[f] == 0)
            continue;
        mshi_buf_printf(text, any ? ", \"%s\": [" : "\"classes\": {\"%s\": [", m->fields[f].name);
        any = true;
        for (uint64_t i = 0; i < m->class_count[f]; i++) {
            mshi_buf_text(text, i == 0 ? "" : ", ");
            mshi_buf_json_string(text, m->classes[f][i], strlen(m->classes[f][i]));
        }
        mshi_buf_text(text, "]");
    }
    if (any)
        mshi_buf_text(text, "},\n");
}

static void add_figures(struct mshi_buf *text, const char *name, uint32_t channels, const double *figures)
{
    mshi_buf_printf(text, ", \"%s\": [", name);
    for (uint32_t c = 0; c < channels; c++) {
        mshi_buf_text(text, c == 0 ? "" : ", ");
        mshi_buf_json_double(text, figures[c]);
    }
    mshi_buf_text(text, "]");
}

static void add_stats(struct mshi_buf *text, const mshard_field *field, const mshard_stats *s)
{
    mshi_buf_printf(
        text, " \"%s\": {\"channels\": %" PRIu32 ", \"values\": %" PRIu64 ", \"nan\": %" PRIu64 ", \"inf\": %" PRIu64,
        field->name, s->channels, s->values, s->nan, s->inf);
    add_figures(text, "min", s->channels, s->min);
    add_figures(text, "max", s->channels, s->max);
    add_figures(text, "mean", s->channels, s->mean);
    add_figures(text, "std", s->channels, s->std);
    if (s->counts != NULL) {
        mshi_buf_text(text, ", \"counts\": [");
        for (uint64_t i = 0; i < s->count_length; i++)
            mshi_buf_printf(text, i == 0 ? "%" PRIu64 : ", %" PRIu64, s->counts[i]);
        mshi_buf_text(text, "]");
    }
    if (mshard_field_is_variable(field))
        mshi_buf_printf(text, ", \"min_size\": %" PRIu64 ", \"max_size\": %" PRIu64, s->min_size, s->max_size);
    mshi_buf_text(text, "}");
}

static void add_statistics(struct mshi_buf *text, const struct mshi_manifest *m)
{
    bool any = false;

    for (uint32_t f = 0; m->stats != NULL && f < m->field_count; f++) {
        if (m->stats[f] == NULL)
            continue;
        mshi_buf_text(text, any ? ",\n" : "\"statistics\": {\n");
        any = true;
        add_stats(text, &m->fields[f], m->stats[f]);
    }
    if (any)
        mshi_buf_text(text, "\n},\n");
}

static void add_shards(struct mshi_buf *text, const struct mshi_manifest *m)
{
    mshi_buf_text(text, "\"shards\": [\n");
    for (uint64_t i = 0; i < m->shard_count; i++) {
        const struct mshi_manifest_shard *s = &m->shards[i];

        mshi_buf_text(text, " {");
        add_string(text, "name", s->name);
        mshi_buf_printf(text,
                        ", \"records\": %" PRIu64 ", \"size\": %" PRIu64 ", \"header_sum\": \"%016" PRIx64 "\"}%s\n",
                        s->records, s->size, s->header_sum, i + 1 < m->shard_count ? "," : "");
    }
    mshi_buf_text(text, "],\n");
}

/* source and options, brought into compact form whatever form the caller gave. */
static mshard_status add_object(struct mshi_buf *text, const char *name, const char *json, mshard_error *err)
{
    const char *given = json == NULL ? "{}" : json;
    mshi_json *root;
    char *compact;

    MSHI_TRY(mshi_json_parse(given, strlen(given), NULL, 0, &root, err));
    compact = mshi_json_text(root);
    mshi_json_free(root);
    if (compact == NULL)
        return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "out of memory for \"%s\"", name);
    mshi_buf_printf(text, "\"%s\": ", name);
    mshi_buf_text(text, compact);
    mshi_buf_text(text, ",\n");
    free(compact);
    return MSHARD_OK;
}

mshard_status mshi_manifest_emit(struct mshi_manifest *manifest, struct mshi_buf *text, mshard_error *err)
{
    const size_t begin = text->size;

    mshi_buf_printf(text, "{\n\"format\": \"mshard\",\n\"version\": [%d, %d],\n\"requires\": [],\n", MSHI_MAJOR,
                    MSHI_MINOR);
    mshi_buf_printf(text, "\"generation\": %" PRIu64 ",\n\"records\": %" PRIu64 ",\n", manifest->generation,
                    manifest->records);
    add_fields(text, manifest);
    add_classes(text, manifest);
    add_statistics(text, manifest);
    add_shards(text, manifest);
    if (manifest->keys.present) {
        mshi_buf_text(text, "\"keys\": {");
        add_string(text, "file", manifest->keys.file);
        mshi_buf_printf(text, ", \"size\": %" PRIu64 ", \"count\": %" PRIu64 ", \"xxh3_128\": \"%s\"},\n",
                        manifest->keys.size, manifest->keys.count, manifest->keys.hash);
    }
    MSHI_TRY(add_object(text, "source", manifest->source_json, err));
    MSHI_TRY(add_object(text, "options", manifest->options_json, err));
    MSHI_TRY(mshi_buf_status(text, err));
    mshi_hash128_hex(mshi_hash128(text->data + begin, text->size - begin), manifest->id);
    mshi_buf_printf(text, "\"id\": \"%s\"\n}\n", manifest->id);
    return mshi_buf_status(text, err);
}
