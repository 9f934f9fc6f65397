/*
 * table.c - columns as wide as their cells
 *
 * Cells are kept until all are known, so tables are for output that is small by nature; long lists are streamed.
 */
#include "out.h"

#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct table {
    const char *align, *gap;
    size_t columns;
    char **cells;
    size_t count, capacity;
    size_t line; /* cut the last column so that a row fits; 0: no */
};

static void *must(void *memory)
{
    if (memory == NULL) {
        (void)fputs("mshard: out of memory\n", stderr);
        exit(TOOL_FAILED);
    }
    return memory;
}

struct table *table_new(const char *align, const char *gap)
{
    struct table *table = must(malloc(sizeof *table));

    *table = (struct table){.align = align, .gap = gap, .columns = strlen(align)};
    return table;
}

void table_cell(struct table *table, const char *format, ...)
{
    char text[1024];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (table->count == table->capacity) {
        table->capacity = table->capacity * 2 + 32;
        table->cells = must(realloc(table->cells, table->capacity * sizeof *table->cells));
    }
    table->cells[table->count++] = escaped(text, strlen(text));
}

void table_cell_columns(struct table *table, size_t most)
{
    table->line = most;
}

static void print_row(const struct table *table, size_t row, const size_t *widths)
{
    size_t at = 0, last = table->columns;

    while (last > 0 && table->cells[row * table->columns + last - 1][0] == '\0')
        last--;
    for (size_t c = 0; c < last; c++) {
        char *cell = table->cells[row * table->columns + c];
        if (c > 0) {
            out_bytes(table->gap, strlen(table->gap));
            at += strlen(table->gap);
        }
        if (c + 1 == table->columns && table->line > at + 8)
            text_cut(cell, table->line - at);
        const size_t pad = widths[c] > text_width(cell) ? widths[c] - text_width(cell) : 0;
        if (table->align[c] == 'r')
            out("%*s", (int)pad, "");
        out_bytes(cell, strlen(cell));
        if (table->align[c] != 'r' && c + 1 < last)
            out("%*s", (int)pad, "");
        at += widths[c];
    }
    out_bytes("\n", 1);
}

void table_print(struct table *table, bool heading)
{
    size_t widths[16] = {0};
    const size_t rows = table->count / table->columns;

    for (size_t i = 0; i < rows * table->columns; i++) {
        const size_t width = text_width(table->cells[i]);
        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
    for (size_t row = 0; row < rows; row++) {
        if (heading && row == 0)
            out_style(OUT_DIM);
        print_row(table, row, widths);
        if (heading && row == 0)
            out_style(OUT_PLAIN);
    }
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}
