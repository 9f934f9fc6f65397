/*
 * out_json.c - JSON on standard output, always valid and always UTF-8
 *
 * Numbers are exact: integers as integers, doubles in the shortest form that reads back the same. Output is made of
 * calls in document order; nesting is kept here, so a forgotten comma cannot happen.
 */
#include "out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 16 };

static struct {
    bool lines; /* one value, one line */
    int depth;
    char kind[MAX_DEPTH];
    bool filled[MAX_DEPTH];
    bool inline_array[MAX_DEPTH]; /* arrays stay on one line until something is opened in them */
} json;

void json_begin(bool lines)
{
    json.lines = lines;
    json.depth = 0;
}

static void new_line(int depth)
{
    if (json.lines)
        return;
    out("\n%*s", depth * 2, "");
}

static void quote(const void *bytes, size_t size)
{
    const char *p = bytes;
    size_t step, begin = 0;

    out_bytes("\"", 1);
    for (size_t i = 0; i < size; i += step) {
        uint32_t code = 0;
        step = utf8_next(p + i, size - i, &code);
        const bool bad = step == 0;
        const bool plain = !bad && code >= 0x20 && code != '"' && code != '\\' && !(code >= 0x7f && code < 0xa0) &&
                           !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
        if (bad)
            step = 1;
        if (plain)
            continue;
        out_bytes(p + begin, i - begin);
        begin = i + step;
        if (bad)
            out_bytes("\xef\xbf\xbd", 3);
        else if (code == '"' || code == '\\')
            out("\\%c", (char)code);
        else if (code == '\n')
            out_bytes("\\n", 2);
        else if (code == '\t')
            out_bytes("\\t", 2);
        else
            out("\\u%04x", code);
    }
    out_bytes(p + begin, size - begin);
    out_bytes("\"", 1);
}

/* Everything before a value: comma, line, name. */
static void lead(const char *name, bool scalar)
{
    const int d = json.depth;

    if (d > 0) {
        const bool same_line = json.kind[d - 1] == '[' && scalar && json.inline_array[d - 1];
        if (json.filled[d - 1])
            out_bytes(json.lines || same_line ? ", " : ",", json.lines || same_line ? 2 : 1);
        if (!same_line) {
            json.inline_array[d - 1] = false;
            new_line(d);
        }
        json.filled[d - 1] = true;
    }
    if (name != NULL) {
        quote(name, strlen(name));
        out_bytes(": ", 2);
    }
}

void json_open(const char *name, char kind)
{
    lead(name, false);
    out_bytes(&kind, 1);
    if (json.depth < MAX_DEPTH) {
        json.kind[json.depth] = kind;
        json.filled[json.depth] = false;
        json.inline_array[json.depth] = true;
        json.depth++;
    }
}

void json_close(void)
{
    const int d = --json.depth;

    if (json.filled[d] && !(json.kind[d] == '[' && json.inline_array[d]))
        new_line(d);
    out_bytes(json.kind[d] == '{' ? "}" : "]", 1);
    if (d == 0)
        out_bytes("\n", 1);
}

void json_text(const char *name, const void *bytes, size_t size)
{
    lead(name, true);
    quote(bytes, size);
}

void json_string(const char *name, const char *text)
{
    json_text(name, text, strlen(text));
}

void json_count(const char *name, uint64_t value)
{
    lead(name, true);
    out("%llu", (unsigned long long)value);
}

void json_int(const char *name, int64_t value)
{
    lead(name, true);
    out("%lld", (long long)value);
}

void json_real(const char *name, double value)
{
    char text[TEXT_SIZE];

    lead(name, true);
    if (isnan(value))
        out("\"NaN\"");
    else if (isinf(value))
        out(value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    else
        out("%s", text_exact(text, value));
}

void json_bool(const char *name, bool value)
{
    lead(name, true);
    out(value ? "true" : "false");
}

void json_null(const char *name)
{
    lead(name, true);
    out("null");
}

void json_hex(const char *name, uint64_t value)
{
    lead(name, true);
    out("\"%016llx\"", (unsigned long long)value);
}

void json_raw(const char *name, const char *text, size_t size)
{
    lead(name, true);
    out_bytes(text, size);
}
