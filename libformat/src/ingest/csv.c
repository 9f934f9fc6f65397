/*
 * csv.c - CSV and JSON lines to a table of text cells
 *
 * Quotes, doubled quotes, separators and line ends inside quotes, LF, CRLF and CR line ends, a byte order mark and a
 * missing last line end are read as RFC 4180 and common practice have them; empty lines are skipped.
 */
#include "ingest/csv.h"

#include "base/alloc.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    const char *at, *end;
    uint64_t line;
    char separator;
    struct mshi_table *table;
};

const char *mshi_table_cell(const struct mshi_table *table, uint64_t row, uint64_t column)
{
    const uint64_t offset = table->cells[row * table->columns + column];

    return offset == MSHI_NO_CELL ? NULL : table->text.data + offset;
}

void mshi_table_clear(struct mshi_table *table)
{
    mshi_buf_clear(&table->text);
    mshi_names_clear(&table->names);
    free(table->cells);
    free(table->lines);
    free(table->texts);
    *table = (struct mshi_table){.rows = 0};
}

static mshard_status check_text(const char *path, const char *data, size_t size, mshard_error *err)
{
    const char *nul = size ? memchr(data, 0, size) : NULL;

    if (size >= 2 && (memcmp(data, "\xFF\xFE", 2) == 0 || memcmp(data, "\xFE\xFF", 2) == 0))
        return mshi_fail(err, MSHARD_E_FORMAT, path, 0, "UTF-16 text; save the list as UTF-8");
    if (nul)
        return mshi_fail(err, MSHARD_E_FORMAT, path, (uint64_t)(nul - data), "a zero byte: this is not a text file");
    return MSHARD_OK;
}

static bool at_line_end(struct reader *r)
{
    if (r->at == r->end)
        return true;
    if (*r->at == '\r') {
        r->at += 1 + (r->end - r->at > 1 && r->at[1] == '\n');
        r->line++;
        return true;
    }
    if (*r->at == '\n') {
        r->at++;
        r->line++;
        return true;
    }
    return false;
}

static mshard_status quoted(struct reader *r, mshard_error *err)
{
    const uint64_t began = r->line;

    for (r->at++;;) {
        const char *stop = memchr(r->at, '"', (size_t)(r->end - r->at));
        if (!stop)
            return mshi_fail(err, MSHARD_E_FORMAT, r->path, MSHARD_NO_OFFSET,
                             "line %" PRIu64 ": a quote that is never closed", began);
        for (const char *c = r->at; c < stop; c++)
            r->line += *c == '\n';
        mshi_buf_add(&r->table->text, r->at, (size_t)(stop - r->at));
        r->at = stop + 1;
        if (r->at == r->end || *r->at != '"')
            return MSHARD_OK;
        mshi_buf_add(&r->table->text, "\"", 1); /* two quotes are one */
        r->at++;
    }
}

/* One cell, its NUL added; *last when the line ends after it. */
static mshard_status read_cell(struct reader *r, uint64_t *offset, bool *last, mshard_error *err)
{
    *offset = r->table->text.size;
    if (r->at < r->end && *r->at == '"') {
        MSHI_TRY(quoted(r, err));
        if (r->at < r->end && *r->at != r->separator && *r->at != '\r' && *r->at != '\n')
            return mshi_fail(err, MSHARD_E_FORMAT, r->path, MSHARD_NO_OFFSET,
                             "line %" PRIu64 ": text after a closing quote", r->line);
    } else {
        const char *from = r->at;
        while (r->at < r->end && *r->at != r->separator && *r->at != '\r' && *r->at != '\n')
            r->at++;
        mshi_buf_add(&r->table->text, from, (size_t)(r->at - from));
    }
    mshi_buf_add(&r->table->text, "", 1);
    *last = at_line_end(r);
    if (!*last)
        r->at++; /* the separator */
    return mshi_buf_status(&r->table->text, err);
}

static mshard_status csv_header(struct reader *r, mshard_error *err)
{
    struct mshi_table *table = r->table;
    bool last = false;

    while (!last) {
        uint64_t offset, number;
        bool added;

        MSHI_TRY(read_cell(r, &offset, &last, err));
        const char *name = table->text.data + offset;
        MSHI_TRY(mshi_names_add(&table->names, name, strlen(name), &number, &added, err));
        if (!added)
            return mshi_fail(err, MSHARD_E_FORMAT, r->path, MSHARD_NO_OFFSET, "line 1: column '%s' is there twice",
                             name);
        if (table->names.count > MSHI_MAX_COLUMNS)
            return mshi_fail(err, MSHARD_E_LIMIT, r->path, MSHARD_NO_OFFSET, "line 1: more than %d columns",
                             MSHI_MAX_COLUMNS);
    }
    table->columns = table->names.count;
    return mshi_grow(&table->texts, &table->text_capacity, table->columns, 1, err);
}

static mshard_status csv_row(struct reader *r, mshi_bad_row *bad, void *context, mshard_error *err)
{
    struct mshi_table *table = r->table;
    const uint64_t line = r->line, begin = table->text.size;
    uint64_t found = 0;
    bool last = false;

    if (at_line_end(r)) /* empty */
        return MSHARD_OK;
    MSHI_TRY(
        mshi_grow(&table->cells, &table->cell_capacity, (table->rows + 1) * table->columns, sizeof(uint64_t), err));
    while (!last) {
        uint64_t offset;

        MSHI_TRY(read_cell(r, &offset, &last, err));
        if (found < table->columns)
            table->cells[table->rows * table->columns + found] = offset;
        found++;
    }
    if (found != table->columns) {
        char message[128];
        snprintf(message, sizeof(message), "%" PRIu64 " cells, the header has %" PRIu64, found, table->columns);
        bad(context, line, message);
        table->text.size = begin;
        return MSHARD_OK;
    }
    MSHI_TRY(mshi_grow(&table->lines, &table->line_capacity, table->rows + 1, sizeof(uint64_t), err));
    table->lines[table->rows++] = line;
    return MSHARD_OK;
}

mshard_status mshi_csv_parse(const char *path, const char *data, size_t size, char separator, mshi_bad_row *bad,
                             void *context, struct mshi_table *table, mshard_error *err)
{
    struct reader r = {path, data, data + size, 1, separator, table};

    MSHI_TRY(check_text(path, data, size, err));
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)
        r.at += 3;
    if (r.at == r.end)
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "the list is empty: a header line is needed");
    MSHI_TRY(csv_header(&r, err));
    memset(table->texts, 0, (size_t)table->columns);
    while (r.at < r.end)
        MSHI_TRY(csv_row(&r, bad, context, err));
    return MSHARD_OK;
}

/* ---- JSON lines ---- */

/* More columns: move the rows there are to the wider stride. */
static mshard_status widen(struct mshi_table *table, uint64_t columns, mshard_error *err)
{
    const uint64_t old = table->columns, before = table->text_capacity;

    MSHI_TRY(mshi_grow(&table->texts, &table->text_capacity, columns, 1, err));
    if (table->text_capacity > before)
        memset(table->texts + before, 0, (size_t)(table->text_capacity - before));
    MSHI_TRY(mshi_grow(&table->cells, &table->cell_capacity, (table->rows + 1) * columns, sizeof(uint64_t), err));
    for (uint64_t row = table->rows; row-- > 0;) {
        for (uint64_t c = columns; c-- > 0;)
            table->cells[row * columns + c] = c < old ? table->cells[row * old + c] : MSHI_NO_CELL;
    }
    table->columns = columns;
    return MSHARD_OK;
}

static mshard_status json_cell(struct mshi_table *table, const mshi_json *value, uint64_t column, uint64_t *offset,
                               mshard_error *err)
{
    const enum mshi_json_kind kind = mshi_json_kind(value);
    const char *string;
    char *text;
    size_t size;

    *offset = MSHI_NO_CELL;
    if (kind == MSHI_JSON_NULL)
        return MSHARD_OK;
    *offset = table->text.size;
    string = mshi_json_string(value, &size);
    if (string) {
        table->texts[column] = 1;
        mshi_buf_add(&table->text, string, size + 1);
        return mshi_buf_status(&table->text, err);
    }
    if (kind != MSHI_JSON_INTEGER && kind != MSHI_JSON_REAL)
        table->texts[column] = 1;
    text = mshi_json_text(value);
    if (!text)
        return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "no memory for a JSON value");
    mshi_buf_add(&table->text, text, strlen(text) + 1);
    free(text);
    return mshi_buf_status(&table->text, err);
}

static mshard_status json_row(struct mshi_table *table, const mshi_json *object, const char *path, uint64_t line,
                              mshard_error *err)
{
    void *iterator = NULL;
    const char *name;
    const mshi_json *value;

    MSHI_TRY(mshi_grow(&table->cells, &table->cell_capacity, (table->rows + 1) * (table->columns + 1), sizeof(uint64_t),
                       err));
    for (uint64_t c = 0; c < table->columns; c++)
        table->cells[table->rows * table->columns + c] = MSHI_NO_CELL;
    while (mshi_json_next(object, &iterator, &name, &value)) {
        uint64_t column, offset;
        bool added;

        MSHI_TRY(mshi_names_add(&table->names, name, strlen(name), &column, &added, err));
        if (table->names.count > MSHI_MAX_COLUMNS)
            return mshi_fail(err, MSHARD_E_LIMIT, path, MSHARD_NO_OFFSET, "line %" PRIu64 ": more than %d members",
                             line, MSHI_MAX_COLUMNS);
        if (added) {
            table->rows++; /* the row being filled moves too */
            const mshard_status status = widen(table, table->names.count, err);
            table->rows--;
            MSHI_TRY(status);
        }
        MSHI_TRY(json_cell(table, value, column, &offset, err));
        table->cells[table->rows * table->columns + column] = offset;
    }
    MSHI_TRY(mshi_grow(&table->lines, &table->line_capacity, table->rows + 1, sizeof(uint64_t), err));
    table->lines[table->rows++] = line;
    return MSHARD_OK;
}

static mshard_status json_line(struct mshi_table *table, const char *path, const char *text, size_t size,
                               uint64_t offset, uint64_t line, mshi_bad_row *bad, void *context, mshard_error *err)
{
    mshi_json *root;
    mshard_error problem;
    mshard_status status = mshi_json_parse(text, size, path, offset, &root, &problem);

    if (status != MSHARD_OK) {
        bad(context, line, problem.message);
        return MSHARD_OK;
    }
    if (mshi_json_kind(root) == MSHI_JSON_OBJECT)
        status = json_row(table, root, path, line, err);
    else
        bad(context, line, "not a JSON object");
    mshi_json_free(root);
    return status;
}

mshard_status mshi_jsonl_parse(const char *path, const char *data, size_t size, mshi_bad_row *bad, void *context,
                               struct mshi_table *table, mshard_error *err)
{
    const char *at = data, *end = data + size;

    MSHI_TRY(check_text(path, data, size, err));
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    for (uint64_t line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *next = stop ? stop + 1 : end;

        stop = stop ? stop : end;
        const char *ink = at;
        while (ink < stop && (*ink == ' ' || *ink == '\t' || *ink == '\r'))
            ink++;
        if (ink < stop)
            MSHI_TRY(json_line(table, path, at, (size_t)(stop - at), (uint64_t)(at - data), line, bad, context, err));
        at = next;
    }
    if (table->rows == 0)
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "no line of it is a JSON object");
    return MSHARD_OK;
}
