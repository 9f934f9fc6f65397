/*
 * dry_run.c - what a dry run found, printed
 *
 * Knows no member by name, apart from units: scalars become "name  value", arrays of objects tables of their members,
 * so whatever the packer plans is shown.
 */
#include "dry_run.h"

#include "json_scan.h"
#include "out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 20, NAME_WIDTH = 18 };

/* The text without white space between values, so that it is one line. */
static void print_line(const char *plan)
{
    bool quoted = false;

    for (const char *p = plan; *p != '\0'; p++) {
        if (*p == '"')
            quoted = !quoted;
        if (*p == '\\' && quoted && p[1] != '\0') {
            out_bytes(p++, 1);
            out_bytes(p, 1);
            continue;
        }
        if (quoted || strchr(" \n\t\r", *p) == NULL)
            out_bytes(p, 1);
    }
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A scalar or short array, as a person reads it. malloc'd. */
static char *value_text(const char *name, struct json_scan value)
{
    char number[TEXT_SIZE], *text;
    uint64_t count;

    if (json_to_count(value, &count)) {
        const bool bytes = strstr(name, "bytes") != NULL || strstr(name, "memory") != NULL || ends_with(name, "size");
        return strdup(bytes ? text_bytes(number, count) : text_count(number, count));
    }
    if (json_kind(value) == '[') {
        struct json_scan rest, item;
        size_t n = 0, capacity = (size_t)(value.end - value.at) * 2 + 3;
        text = malloc(capacity);
        if (text == NULL || !json_enter(value, &rest))
            return text;
        text[0] = '\0';
        while (json_next(&rest, NULL, &item)) {
            char *one = json_to_string(item);
            if (one != NULL && n + strlen(one) + 3 < capacity)
                n += (size_t)snprintf(text + n, capacity - n, "%s%s", n > 0 ? ", " : "",
                                      strcmp(one, "null") == 0 ? "?" : one);
            free(one);
        }
        return text;
    }
    text = json_to_string(value);
    return text;
}

/* A member's name for people; malloc'd. */
static char *name_text(struct json_scan key)
{
    char *name = json_to_string(key);

    for (char *p = name; p != NULL && *p != '\0'; p++)
        if (*p == '_')
            *p = ' ';
    return name;
}

static void print_pair(const char *name, struct json_scan value, int indent)
{
    char *text = value_text(name, value);

    out("%*s", indent, "");
    out_name(name);
    out("%*s", (int)(strlen(name) < NAME_WIDTH ? NAME_WIDTH - strlen(name) : 1), "");
    if (text != NULL)
        out_name(text);
    out("\n");
    free(text);
}

/* Rows of objects: one line each, all members by name of the first. */
static void print_rows(const char *name, struct json_scan array)
{
    struct json_scan rest, item, members, key, value;
    struct table *table = NULL;
    size_t columns = 0, row = 0, total = 0;
    static const char align[] = "llllllllllllllll";

    if (!json_enter(array, &rest))
        return;
    for (struct json_scan all = rest; json_next(&all, NULL, &item);)
        total++;
    while (row < MAX_ROWS && json_next(&rest, NULL, &item)) {
        if (!json_enter(item, &members))
            break;
        if (row == 0) {
            struct json_scan m = members;
            while (json_next(&m, &key, &value) && columns < 8)
                columns++;
            if (columns == 0)
                break;
            table = table_new(align + sizeof align - 1 - columns, "  ");
            m = members;
            for (size_t c = 0; c < columns && json_next(&m, &key, &value); c++) {
                char *text = name_text(key);
                table_cell(table, "%s%s", c == 0 ? "  " : "", text != NULL ? text : "");
                free(text);
            }
        }
        for (size_t c = 0; c < columns; c++) {
            char *text = NULL, *label = NULL;
            if (json_next(&members, &key, &value)) {
                label = name_text(key);
                text = value_text(label != NULL ? label : "", value);
            }
            table_cell(table, "%s%s", c == 0 ? "  " : "", text != NULL ? text : "");
            free(text);
            free(label);
        }
        row++;
    }
    if (table == NULL)
        return;
    out_name(name);
    out("\n");
    table_cell_columns(table, terminal_columns(1));
    table_print(table, true);
    if (total > row)
        out("  ... %zu more\n", total - row);
}

static bool is_array_of_objects(struct json_scan value)
{
    struct json_scan rest, item;

    return json_kind(value) == '[' && json_enter(value, &rest) && json_next(&rest, NULL, &item) &&
           json_kind(item) == '{';
}

static void print_object(struct json_scan object, int indent)
{
    struct json_scan rest, key, value;

    if (!json_enter(object, &rest))
        return;
    while (json_next(&rest, &key, &value)) {
        char *name = name_text(key);
        if (name == NULL)
            return;
        if (is_array_of_objects(value) && indent == 0) {
            print_rows(name, value);
        } else if (json_kind(value) == '{' && indent == 0) {
            out_name(name);
            out("\n");
            print_object(value, 2);
        } else {
            print_pair(name, value, indent);
        }
        free(name);
    }
}

void plan_print(const char *plan, bool json)
{
    if (json) {
        out("{\"message_type\": \"plan\", \"plan\": ");
        print_line(plan);
        out("}\n");
        return;
    }
    print_object((struct json_scan){.at = plan, .end = plan + strlen(plan)}, 0);
}
