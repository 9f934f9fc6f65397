/*
 * out.h - all that is printed: data on standard output, words on standard error
 *
 * Commands never call printf for data: names in data sets come from strangers, and everything here escapes what
 * could steer a terminal. One program, one standard output: the state is in out_text.c.
 */
#ifndef TOOL_OUT_H
#define TOOL_OUT_H

#include <mshard/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OUT_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- words: one line on standard error, "mshard: " first, escaped ---- */
void say(const char *format, ...) OUT_PRINTF(1, 2);
/* The error's line; next (may be NULL): a command worth running, added in brackets. */
void say_error(const mshard_error *err, const char *next, ...) OUT_PRINTF(2, 3);
/* What to print before and after each line of words (progress clears its block); NULL: nothing. */
void say_around(void (*before)(void *context), void (*after)(void *context), void *context);
/* Exit code for a status. */
int exit_of(mshard_status status);

/* ---- text ---- */
enum out_style { OUT_PLAIN, OUT_BOLD, OUT_DIM, OUT_GOOD, OUT_BAD };
void out_color(bool on);
bool out_has_color(void);
void out_style(enum out_style style);
void out(const char *format, ...) OUT_PRINTF(1, 2);
void out_to(FILE *file);                        /* instead of standard output; NULL: back */
void out_bytes(const void *bytes, size_t size); /* as they are */
void out_name(const char *name);                /* escaped */
void out_escaped(const void *bytes, size_t size);
bool out_lost(void); /* a write to standard output has failed: stop */
bool out_is_terminal(void);
void out_flush(void);
int out_finish(int code); /* flush; code, or TOOL_FAILED after saying so when a write failed */

/* Escaped copy: control bytes, bidirectional overrides and invalid UTF-8 as \xNN. malloc'd; never NULL (exits when out
 * of memory). */
char *escaped(const void *bytes, size_t size);
/* Length of the valid UTF-8 sequence at bytes, 0 when there is none; the character through *code. */
size_t utf8_next(const void *bytes, size_t size, uint32_t *code);
size_t text_width(const char *text); /* terminal columns */
/* Cut to so many columns, "..." last when something was cut. In place. */
void text_cut(char *text, size_t columns);

/* "146.5 MiB"; "50,000"; the shortest "0.491" that reads well; exact round-trip form for JSON. Returns text. */
#define TEXT_SIZE 40
const char *text_bytes(char text[TEXT_SIZE], uint64_t bytes);
const char *text_count(char text[TEXT_SIZE], uint64_t count);
const char *text_real(char text[TEXT_SIZE], double value);
const char *text_exact(char text[TEXT_SIZE], double value);
const char *text_plural(uint64_t n); /* "" or "s" */

/* ---- tables: columns as wide as their cells ---- */
struct table;
struct table *table_new(const char *align, const char *gap);                    /* "lrr": one letter a column */
void table_cell(struct table *table, const char *format, ...) OUT_PRINTF(2, 3); /* escaped */
void table_cell_columns(struct table *table, size_t most); /* cut the last column's cells to the line */
void table_print(struct table *table, bool heading);       /* and free */

/* ---- JSON ---- */
void json_begin(bool lines);                 /* lines: everything of one value on one line */
void json_open(const char *name, char kind); /* kind: '{' or '['; name NULL inside arrays and at the top */
void json_close(void);
void json_string(const char *name, const char *text);
void json_text(const char *name, const void *bytes, size_t size); /* invalid UTF-8 becomes U+FFFD */
void json_count(const char *name, uint64_t value);
void json_int(const char *name, int64_t value);
void json_real(const char *name, double value); /* NaN and infinities: "NaN", "Infinity", "-Infinity" */
void json_bool(const char *name, bool value);
void json_null(const char *name);
void json_hex(const char *name, uint64_t value);                /* "16 hex digits" */
void json_raw(const char *name, const char *text, size_t size); /* JSON already */

/* ---- the terminal ---- */
size_t terminal_columns(int fd); /* COLUMNS, the terminal's, else 100 */
size_t terminal_rows(int fd);
bool terminal_utf8(void);

#endif
