/*
 * writer_commit.c - make a data set from values in memory: class names, and the commit
 *
 * The commit checks what a validator of the finished data set would: labels stay below their class count, keys are
 * there once. Then keys.mdb, then dataset.json.
 */
#include "format/writer_internal.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_utf8(const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        const size_t n = mshi_utf8_length(text, left);

        if (n == 0)
            return false;
        text += n;
        left -= n;
    }
    return true;
}

static mshard_status check_names(const char *field, const char *const *names, uint64_t n, mshard_error *err)
{
    const char **sorted;
    const char *twice = NULL;

    for (uint64_t i = 0; i < n; i++)
        if (names[i] == NULL || names[i][0] == '\0' || !is_utf8(names[i]))
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "classes of \"%s\": name %" PRIu64 " is empty or no UTF-8", field, i);
    MSHI_TRY(mshi_alloc(n, sizeof(*sorted), &sorted, err));
    memcpy(sorted, names, (size_t)n * sizeof(*sorted));
    qsort(sorted, (size_t)n, sizeof(*sorted), compare_names);
    for (uint64_t i = 1; i < n && twice == NULL; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            twice = sorted[i];
    free(sorted);
    if (twice != NULL)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "classes of \"%s\": \"%.80s\" is there twice",
                         field, twice);
    return MSHARD_OK;
}

static mshard_status find_label(const mshard_writer *w, const char *name, uint32_t *field, mshard_error *err)
{
    for (uint32_t f = 0; name != NULL && f < w->value_count; f++) {
        if (strcmp(w->fields[f].name, name) != 0)
            continue;
        if (w->fields[f].content != MSHARD_CONTENT_LABEL)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "field \"%s\" is no label: only labels have classes", name);
        *field = f;
        return MSHARD_OK;
    }
    return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "there is no field \"%.80s\"",
                     name == NULL ? "" : name);
}

mshard_status mshard_writer_set_classes(mshard_writer *writer, const char *field, const char *const *names, uint64_t n,
                                        mshard_error *err)
{
    uint32_t f = 0;

    MSHI_TRY(mshi_writer_check_state(writer, err));
    MSHI_TRY(find_label(writer, field, &f, err));
    if (names == NULL || n == 0)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "classes of \"%s\": at least one name is needed", field);
    MSHI_TRY(check_names(field, names, n, err));
    mshi_writer_clear_classes(writer, f);
    MSHI_TRY(mshi_alloc(n, sizeof(writer->classes[f][0]), &writer->classes[f], err));
    for (uint64_t i = 0; i < n; i++) {
        MSHI_TRY(mshi_strdup(names[i], &writer->classes[f][i], err));
        writer->class_count[f] = i + 1;
    }
    return MSHARD_OK;
}

/* The figures know the smallest and the largest label. */
static mshard_status check_labels(const mshard_writer *w, mshard_error *err)
{
    for (uint32_t f = 0; f < w->value_count; f++) {
        mshard_stats figures;

        if (w->class_count[f] == 0)
            continue;
        mshi_stats_result(w->stats[f], &figures);
        if (figures.min[0] < 0 || figures.max[0] >= (double)w->class_count[f])
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "labels of \"%s\" must be 0 to %" PRIu64 " (it has %" PRIu64 " class names), found %.17g",
                             w->fields[f].name, w->class_count[f] - 1, w->class_count[f],
                             figures.min[0] < 0 ? figures.min[0] : figures.max[0]);
    }
    return MSHARD_OK;
}

static mshard_status build_keys(mshard_writer *w, struct mshi_manifest_keys *keys, mshard_error *err)
{
    char *path;
    mshard_status status;

    MSHI_TRY(mshi_path_join(w->publish.folder, "keys.mdb", &path, err));
    status = mshi_key_index_build(path, w->keys, w->records, w->options.no_sync == 0, &keys->size, keys->hash, err);
    free(path);
    if (status != MSHARD_OK)
        return status;
    keys->present = true;
    keys->count = w->records;
    return mshi_strdup("keys.mdb", &keys->file, err);
}

static void add_option(struct mshi_buf *json, const char *name, uint64_t value)
{
    if (value != 0)
        mshi_buf_printf(json, "%s\"%s\": %" PRIu64, json->size > 1 ? ", " : "", name, value);
}

/* What the bytes depend on beside the values; defaults left out. */
static void describe(const mshard_writer *w, struct mshi_buf *source, struct mshi_buf *options)
{
    mshi_buf_printf(
        source, "{\"kind\": \"writer\", \"inputs\": %" PRIu64 ", \"skipped\": 0, \"ignored\": 0, \"duplicates\": 0}",
        w->records);
    mshi_buf_text(options, "{");
    add_option(options, "shard_size", w->options.shard_size);
    add_option(options, "records_per_shard", w->options.records_per_shard);
    add_option(options, "align", w->options.align);
    if (w->options.keys != 0)
        mshi_buf_printf(options, "%s\"keys\": true", options->size > 1 ? ", " : "");
    mshi_buf_text(options, "}");
}

static mshard_status publish(mshard_writer *w, struct mshi_manifest *m, struct mshi_buf *source,
                             struct mshi_buf *options, mshard_error *err)
{
    describe(w, source, options);
    MSHI_TRY(mshi_buf_status(source, err));
    MSHI_TRY(mshi_buf_status(options, err));
    if (w->options.keys != 0)
        MSHI_TRY(build_keys(w, &m->keys, err));
    m->generation = 1;
    m->records = w->records;
    m->fields = w->fields;
    m->field_count = w->field_count;
    m->shards = w->shards;
    m->shard_count = w->shard_count;
    m->classes = w->classes;
    m->class_count = w->class_count;
    m->source_json = source->data;
    m->options_json = options->data;
    return mshi_publish_commit(&w->publish, m, err);
}

static mshard_status commit(mshard_writer *w, mshard_error *err)
{
    struct mshi_manifest manifest = {0}; /* borrows from w: not cleared */
    struct mshi_buf source = {0}, options = {0};
    mshard_stats *figures = NULL, **stats = NULL;
    mshard_status status = mshi_alloc(w->field_count, sizeof(*figures), &figures, err);

    if (status == MSHARD_OK)
        status = mshi_alloc(w->field_count, sizeof(*stats), &stats, err);
    if (status == MSHARD_OK) {
        for (uint32_t f = 0; f < w->value_count; f++) {
            mshi_stats_result(w->stats[f], &figures[f]);
            stats[f] = &figures[f];
        }
        manifest.stats = stats;
        status = publish(w, &manifest, &source, &options, err);
    }
    free(manifest.keys.file);
    free(stats);
    free(figures);
    mshi_buf_clear(&source);
    mshi_buf_clear(&options);
    return status;
}

mshard_status mshard_writer_commit(mshard_writer *writer, mshard_error *err)
{
    mshard_status status;

    MSHI_TRY(mshi_writer_check_state(writer, err));
    if (writer->records == 0)
        return mshi_fail(err, MSHARD_E_INVALID, writer->publish.target, MSHARD_NO_OFFSET,
                         "a data set needs at least one record");
    writer->failed = true; /* until proved otherwise */
    MSHI_TRY(mshi_writer_finish_shard(writer, err));
    MSHI_TRY(mshi_writer_settle(writer, err));
    status = check_labels(writer, err);
    if (status != MSHARD_OK) { /* the caller can give other class names and commit again */
        writer->failed = false;
        return status;
    }
    MSHI_TRY(commit(writer, err));
    writer->failed = false;
    writer->committed = true;
    return MSHARD_OK;
}
