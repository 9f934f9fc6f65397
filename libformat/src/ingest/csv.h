/*
 * csv.h - tables from CSV (RFC 4180) and JSON lines: cells as text, with the line each row began on
 *
 * Cost: the file's text and 8 bytes a cell. A cell that is absent (JSON member missing or null) is MSHI_NO_CELL.
 */
#ifndef MSHI_INGEST_CSV_H
#define MSHI_INGEST_CSV_H

#include "base/buf.h"
#include "ingest/names.h"

#define MSHI_NO_CELL UINT64_MAX
#define MSHI_MAX_COLUMNS 1024

struct mshi_table {
    struct mshi_buf text;    /* cells, each with a NUL */
    struct mshi_names names; /* of columns */
    uint64_t *cells;         /* rows * columns offsets in text */
    uint64_t cell_capacity;
    uint64_t *lines; /* of each row */
    uint64_t line_capacity;
    uint64_t rows, columns; /* cells are stored with this stride */
    uint8_t *texts;         /* per column: a JSON string was seen, so it is no column of numbers */
    uint64_t text_capacity;
};

/* Called for a row that is left out; the table goes on. */
typedef void mshi_bad_row(void *context, uint64_t line, const char *message);

/* Header line required; separator ',' or '\t'. Errors name the line. */
mshard_status mshi_csv_parse(const char *path, const char *data, size_t size, char separator, mshi_bad_row *bad,
                             void *context, struct mshi_table *table, mshard_error *err);
/* One JSON object a line; columns in order of first appearance. */
mshard_status mshi_jsonl_parse(const char *path, const char *data, size_t size, mshi_bad_row *bad, void *context,
                               struct mshi_table *table, mshard_error *err);
const char *mshi_table_cell(const struct mshi_table *table, uint64_t row, uint64_t column); /* NULL: absent */
void mshi_table_clear(struct mshi_table *table);

#endif
