/*
 * source_list.c - records listed in a CSV or JSON lines file: path, label, and any other columns
 *
 * Paths are relative to the list's folder; the order is that of the lines. Labels are integers when all are, else class
 * names, sorted bytewise. A column of numbers is a scalar field (int64, or float64), any other a text field.
 */
#include "ingest/source_kinds.h"

#include "base/alloc.h"
#include "ingest/class_list.h"
#include "ingest/csv.h"
#include "ingest/file_items.h"
#include "os/file.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum column_type { INTEGERS, REALS, TEXTS };

struct column {
    enum column_type type;
    int64_t *integers; /* one of the three, a value a record */
    double *reals;
    const char **texts;
    uint64_t capacity;
};

struct list_file {
    const char *path;
    struct mshi_table table;
    uint64_t *columns;                  /* of the extra fields in table */
    uint64_t path_column, label_column; /* MSHI_NO_CELL: no label */
    const struct mshi_listing *listing;
};

struct list_source {
    struct mshi_source base;
    struct mshi_file_items files;
    struct list_file *lists;
    size_t list_count;
    struct column *extras;
    uint64_t extra_count;
    uint64_t max_member;
    bool labelled, unique; /* unique: keys are wanted, so a path may stand there once */
    struct mshi_names keys;
    struct mshi_names label_texts; /* distinct labels as written; items hold their numbers until settled */
};

static void bad_row(void *context, uint64_t line, const char *message)
{
    const struct list_file *list = context;

    mshi_problem(list->listing, list->path, MSHARD_E_FORMAT, "line %" PRIu64 ": %s", line, message);
}

static mshard_status parse(struct list_file *list, uint64_t max, mshard_error *err)
{
    const char *dot = strrchr(list->path, '.');
    const bool json = dot && (strcasecmp(dot, ".jsonl") == 0 || strcasecmp(dot, ".ndjson") == 0);
    const char separator = dot && strcasecmp(dot, ".tsv") == 0 ? '\t' : ',';
    char *data;
    size_t size;

    MSHI_TRY(mshi_file_slurp(list->path, max, &data, &size, err));
    const mshard_status status =
        json ? mshi_jsonl_parse(list->path, data, size, bad_row, list, &list->table, err)
             : mshi_csv_parse(list->path, data, size, separator, bad_row, list, &list->table, err);
    free(data);
    return status;
}

static uint64_t find_column(const struct mshi_table *table, const char *const *names)
{
    for (; *names; names++)
        for (uint64_t c = 0; c < table->columns; c++)
            if (strcasecmp(mshi_names_at(&table->names, c), *names) == 0)
                return c;
    return MSHI_NO_CELL;
}

static mshard_status find_columns(struct list_file *list, mshard_error *err)
{
    static const char *const path_names[] = {"path", "file", "file_name", "filename", NULL};
    static const char *const label_names[] = {"label", "class", NULL};
    struct mshi_buf found = {.data = NULL};
    mshard_status status;

    list->path_column = find_column(&list->table, path_names);
    list->label_column = find_column(&list->table, label_names);
    if (list->path_column != MSHI_NO_CELL)
        return MSHARD_OK;
    for (uint64_t c = 0; c < list->table.columns && c < 12; c++) {
        mshi_buf_text(&found, c ? ", " : "");
        mshi_text_escape(&found, mshi_names_at(&list->table.names, c), mshi_names_size(&list->table.names, c));
    }
    status = mshi_fail(err, MSHARD_E_FORMAT, list->path, MSHARD_NO_OFFSET,
                       "line 1: a column named path, file, file_name or filename is needed, found: %.200s",
                       found.data ? found.data : "none");
    mshi_buf_clear(&found);
    return status;
}

static bool parse_real(const char *text, locale_t locale, double *value)
{
    char *end;

    if (!*text || strspn(text, " \t") == strlen(text)) {
        *value = NAN;
        return true;
    }
    if (strpbrk(text, "xXpP")) /* no hexadecimal: an identifier such as 0x1f is text */
        return false;
    *value = strtod_l(text, &end, locale);
    return end != text && strspn(end, " \t") == strlen(end);
}

/* Type of one extra column over all lists. Empty cells among numbers are NaN. */
static enum column_type column_type(const struct list_source *source, uint64_t extra, locale_t locale)
{
    enum column_type type = INTEGERS;
    bool number = false;

    for (size_t l = 0; l < source->list_count; l++) {
        const struct list_file *list = &source->lists[l];
        const uint64_t column = list->columns[extra];

        if (list->table.texts[column])
            return TEXTS;
        for (uint64_t row = 0; row < list->table.rows; row++) {
            const char *cell = mshi_table_cell(&list->table, row, column);
            int64_t integer;
            double real;

            if (cell && mshi_parse_integer(cell, strlen(cell), &integer)) {
                number = true;
                continue;
            }
            if (cell && !parse_real(cell, locale, &real))
                return TEXTS;
            number |= cell && *cell;
            type = REALS;
        }
    }
    return number ? type : TEXTS;
}

/* The columns that are neither path nor label become fields; every list must have the same. */
static mshard_status find_extras(struct list_source *source, locale_t locale, mshard_error *err)
{
    const struct list_file *first = &source->lists[0];
    const uint64_t special = 1 + (first->label_column != MSHI_NO_CELL);

    MSHI_TRY(mshi_alloc(first->table.columns, sizeof(*source->extras), &source->extras, err));
    for (size_t l = 0; l < source->list_count; l++) {
        struct list_file *list = &source->lists[l];

        MSHI_TRY(mshi_alloc(first->table.columns, sizeof(*list->columns), &list->columns, err));
        if (list->table.columns != first->table.columns ||
            (list->label_column == MSHI_NO_CELL) != (first->label_column == MSHI_NO_CELL))
            return mshi_fail(err, MSHARD_E_FORMAT, list->path, MSHARD_NO_OFFSET, "other columns than %s", first->path);
        uint64_t n = 0;
        for (uint64_t c = 0; c < first->table.columns; c++) {
            const char *name = mshi_names_at(&first->table.names, c);

            if (c == first->path_column || c == first->label_column)
                continue;
            if (!mshi_names_find(&list->table.names, name, strlen(name), &list->columns[n++]))
                return mshi_fail(err, MSHARD_E_FORMAT, list->path, MSHARD_NO_OFFSET, "column '%s' of %s is missing",
                                 name, first->path);
        }
    }
    source->extra_count = first->table.columns - special;
    for (uint64_t e = 0; e < source->extra_count; e++) {
        const char *text = mshi_names_at(&first->table.names, first->columns[e]);
        char name[MSHARD_MAX_NAME + 1];
        const enum column_type type = source->extras[e].type = column_type(source, e, locale);

        mshi_field_name(text, strlen(text), name);
        MSHI_TRY(mshi_source_add_field(&source->base, name, type == TEXTS ? MSHI_PART_BYTES : MSHI_PART_VALUES,
                                       type == TEXTS   ? MSHARD_UINT8
                                       : type == REALS ? MSHARD_FLOAT64
                                                       : MSHARD_INT64,
                                       type == TEXTS ? MSHARD_CONTENT_TEXT : MSHARD_CONTENT_VALUES, 0, NULL, err));
    }
    return MSHARD_OK;
}

static mshard_status add_extra(struct column *column, uint64_t record, const char *cell, locale_t locale,
                               mshard_error *err)
{
    if (column->type == TEXTS) {
        MSHI_TRY(mshi_grow(&column->texts, &column->capacity, record + 1, sizeof(*column->texts), err));
        column->texts[record] = cell;
    } else if (column->type == INTEGERS) {
        MSHI_TRY(mshi_grow(&column->integers, &column->capacity, record + 1, sizeof(*column->integers), err));
        (void)mshi_parse_integer(cell, strlen(cell), &column->integers[record]);
    } else {
        MSHI_TRY(mshi_grow(&column->reals, &column->capacity, record + 1, sizeof(*column->reals), err));
        (void)parse_real(cell ? cell : "", locale, &column->reals[record]);
    }
    return MSHARD_OK;
}

/* What keeps a row from becoming a record; NULL: nothing. */
static const char *row_problem(const struct list_source *source, const struct list_file *list, uint64_t row)
{
    const char *path = mshi_table_cell(&list->table, row, list->path_column);
    const char *label =
        list->label_column == MSHI_NO_CELL ? "" : mshi_table_cell(&list->table, row, list->label_column);

    if (!path || !*path)
        return "no path";
    if (!label || (list->label_column != MSHI_NO_CELL && !*label))
        return "no label";
    for (uint64_t e = 0; e < source->extra_count; e++) {
        const char *cell = mshi_table_cell(&list->table, row, list->columns[e]);

        if (source->extras[e].type == TEXTS && !cell)
            return "a member is missing that other lines have";
        if (source->extras[e].type == TEXTS && !mshi_text_is_utf8(cell, strlen(cell)))
            return "text that is not UTF-8";
    }
    return NULL;
}

static mshard_status add_row(struct list_source *source, struct list_file *list, uint64_t row, const char *folder,
                             locale_t locale, mshard_error *err)
{
    const char *trouble = row_problem(source, list, row);
    const uint64_t line = list->table.lines[row], record = source->files.count;
    const char *written = mshi_table_cell(&list->table, row, list->path_column);
    uint64_t size = 0, label = 0;
    char *path;

    if (!trouble && source->unique) {
        bool added;
        uint64_t number;
        MSHI_TRY(mshi_names_add(&source->keys, written, strlen(written), &number, &added, err));
        trouble = added ? NULL : "the path is there already, and keys must differ";
    }
    if (trouble) {
        bad_row(list, line, trouble);
        return MSHARD_OK;
    }
    MSHI_TRY(mshi_path_join(folder, written, &path, err));
    const enum mshi_kind kind = mshi_path_kind(path, &size);
    if (kind != MSHI_FILE) {
        mshi_problem(list->listing, path, kind == MSHI_MISSING ? MSHARD_E_NOT_FOUND : MSHARD_E_FORMAT,
                     "%s (line %" PRIu64 " of %s)", kind == MSHI_MISSING ? "no such file" : "not a regular file", line,
                     list->path);
        free(path);
        return MSHARD_OK;
    }
    mshard_status status = MSHARD_OK;
    if (source->labelled) {
        const char *text = mshi_table_cell(&list->table, row, list->label_column);
        status = mshi_names_add(&source->label_texts, text, strlen(text), &label, NULL, err);
    }
    if (status == MSHARD_OK) {
        const size_t tail = strlen(path) - strlen(written); /* the key: the path as written */
        status = mshi_file_items_add(&source->files, path, path + tail, size, (int64_t)label, err);
    }
    free(path);
    for (uint64_t e = 0; e < source->extra_count && status == MSHARD_OK; e++)
        status =
            add_extra(&source->extras[e], record, mshi_table_cell(&list->table, row, list->columns[e]), locale, err);
    return status;
}

static mshard_status add_rows(struct list_source *source, locale_t locale, mshard_error *err)
{
    for (size_t l = 0; l < source->list_count; l++) {
        struct list_file *list = &source->lists[l];
        const char *slash = strrchr(list->path, '/');
        char *folder;
        mshard_status status = MSHARD_OK;

        MSHI_TRY(mshi_strdup(list->path, &folder, err));
        folder[slash ? slash - list->path + 1 : 0] = '\0';
        for (uint64_t row = 0; row < list->table.rows && status == MSHARD_OK; row++)
            status = add_row(source, list, row, folder, locale, err);
        free(folder);
        MSHI_TRY(status);
        free(list->table.cells); /* the texts of cells stay: fields point to them */
        list->table.cells = NULL;
    }
    return MSHARD_OK;
}

static mshard_status settle_labels(struct list_source *source, const char *given, mshard_error *err)
{
    int64_t *values;

    if (given && !source->labelled)
        return mshi_fail(err, MSHARD_E_INVALID, source->lists[0].path, MSHARD_NO_OFFSET,
                         "a class list was given, but there is no column named label or class");
    MSHI_TRY(mshi_alloc(source->label_texts.count, sizeof(*values), &values, err));
    const mshard_status status = mshi_label_values(&source->label_texts, given, source->lists[0].path, values,
                                                   &source->base.classes, &source->base.class_count, err);
    for (uint64_t i = 0; i < source->files.count && status == MSHARD_OK && source->labelled; i++)
        source->files.items[i].label = values[source->files.items[i].label];
    free(values);
    mshi_names_clear(&source->label_texts);
    return status;
}

static mshard_status list_read(struct mshi_source *base, uint64_t i, struct mshi_payload *payload, mshard_error *err)
{
    struct list_source *source = (struct list_source *)base;
    uint32_t f = 1;

    MSHI_TRY(mshi_file_items_read(&source->files, i, source->max_member, payload, err));
    if (source->labelled) {
        payload->data[f] = &source->files.items[i].label;
        payload->size[f++] = sizeof(int64_t);
    }
    for (uint64_t e = 0; e < source->extra_count; e++, f++) {
        const struct column *column = &source->extras[e];

        payload->data[f] = column->type == TEXTS      ? (const void *)column->texts[i]
                           : column->type == INTEGERS ? (const void *)&column->integers[i]
                                                      : (const void *)&column->reals[i];
        payload->size[f] = column->type == TEXTS ? strlen(column->texts[i]) : 8;
    }
    return MSHARD_OK;
}

static void list_item(const struct mshi_source *base, uint64_t i, struct mshi_item *item)
{
    const struct list_source *source = (const struct list_source *)base;

    *item = (struct mshi_item){.name = mshi_file_items_path(&source->files, i),
                               .key = mshi_file_items_key(&source->files, i),
                               .size = source->files.items[i].size,
                               .offset = MSHARD_NO_OFFSET};
    if (source->base.class_count)
        item->class_plus = (uint64_t)source->files.items[i].label + 1;
}

static void list_destroy(struct mshi_source *base)
{
    struct list_source *source = (struct list_source *)base;

    mshi_file_items_clear(&source->files);
    for (size_t l = 0; l < source->list_count; l++) {
        mshi_table_clear(&source->lists[l].table);
        free(source->lists[l].columns);
    }
    for (uint64_t e = 0; source->extras && e < source->extra_count; e++) {
        free(source->extras[e].integers);
        free(source->extras[e].reals);
        free(source->extras[e].texts);
    }
    free(source->lists);
    free(source->extras);
    mshi_names_clear(&source->label_texts);
    mshi_names_clear(&source->keys);
}

static const struct mshi_source_ops list_ops = {.read = list_read, .item = list_item, .destroy = list_destroy};

static mshard_status list_all(struct list_source *source, const struct mshi_inputs *inputs, locale_t locale,
                              mshard_error *err)
{
    struct mshi_source *base = &source->base;

    MSHI_TRY(mshi_alloc(inputs->count, sizeof(*source->lists), &source->lists, err));
    source->list_count = inputs->count;
    for (size_t l = 0; l < inputs->count; l++) {
        source->lists[l].path = inputs->paths[l];
        source->lists[l].listing = inputs->listing;
        MSHI_TRY(parse(&source->lists[l], source->max_member, err));
        MSHI_TRY(find_columns(&source->lists[l], err));
    }
    source->unique = inputs->listing->options->keys != 0;
    source->labelled = source->lists[0].label_column != MSHI_NO_CELL;
    MSHI_TRY(mshi_source_add_field(base, "image", MSHI_PART_IMAGE, MSHARD_UINT8, MSHARD_CONTENT_IMAGE, 0, NULL, err));
    if (source->labelled)
        MSHI_TRY(
            mshi_source_add_field(base, "label", MSHI_PART_LABEL, MSHARD_INT64, MSHARD_CONTENT_LABEL, 0, NULL, err));
    MSHI_TRY(find_extras(source, locale, err));
    MSHI_TRY(add_rows(source, locale, err));
    mshi_names_clear(&source->keys);
    MSHI_TRY(settle_labels(source, inputs->listing->options->labels, err));
    base->count = source->files.count;
    base->bytes = source->files.bytes;
    return MSHARD_OK;
}

mshard_status mshi_source_open_lists(const struct mshi_inputs *inputs, struct mshi_source **out, mshard_error *err)
{
    struct list_source *source;
    const locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* "." is the decimal point for everyone */

    if (!locale)
        return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "no memory for a locale");
    mshard_status status = mshi_alloc(1, sizeof(*source), &source, err);
    if (status != MSHARD_OK) {
        freelocale(locale);
        return status;
    }
    source->base.ops = &list_ops;
    source->base.kind = "list";
    source->base.random_access = true;
    source->max_member = mshi_max_member(inputs->listing);
    status = list_all(source, inputs, locale, err);
    freelocale(locale);
    if (status == MSHARD_OK)
        *out = &source->base;
    else
        mshi_source_free(&source->base);
    return status;
}
