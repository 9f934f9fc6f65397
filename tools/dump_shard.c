/*
 * dump_shard.c - the bytes of one shard, named: sections, header members, hex, numpy lines
 *
 * Works on any file: what cannot be followed is said, and what can be is shown. All offsets come from
 * mshard_inspect_shard, which stays inside the file.
 */
#include "dump.h"

#include "export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct walk {
    const struct dump_options *options;
    const char *path;
    FILE *file; /* for hex */
    size_t name_width, type_width;
    uint64_t problems;
};

static void print_problem(const char *problem)
{
    out_style(OUT_BAD);
    out("  <- ");
    out_name(problem);
    out_style(OUT_PLAIN);
}

static void print_hex_line(uint64_t offset, const uint8_t *bytes, size_t n)
{
    out("%08llx ", (unsigned long long)offset);
    for (size_t i = 0; i < 16; i++) {
        if (i == 8)
            out(" ");
        if (i < n)
            out(" %02x", bytes[i]);
        else
            out("   ");
    }
    out("  |");
    for (size_t i = 0; i < n; i++)
        out("%c", bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '.');
    out("|%*s", (int)(16 - n), "");
}

static void print_annotation(const mshard_span *span)
{
    out("  ");
    out_style(OUT_BOLD);
    out_name(span->name);
    out_style(OUT_PLAIN);
    out(" %s", span->type != NULL ? span->type : "");
    if (span->value != NULL) {
        out(" = ");
        out_name(span->value);
    }
    if (!span->in_header)
        out(", %llu bytes", (unsigned long long)span->size);
    if (span->problem != NULL)
        print_problem(span->problem);
}

static bool read_at(FILE *file, uint64_t at, uint8_t *bytes, size_t n)
{
    return file != NULL && fseeko(file, (off_t)at, SEEK_SET) == 0 && fread(bytes, 1, n, file) == n;
}

/*
 * Lines of 16 bytes. Unless all is wanted: of data the first two and the last, and lines equal to the one before as
 * one "*", as hexdump has it.
 */
static void visit_hex(void *context, const mshard_span *span)
{
    struct walk *w = context;
    const uint64_t lines = (span->size + 15) / 16;
    const bool whole = span->in_header || w->options->full || lines <= 4;
    uint8_t before[16] = {0};
    bool starred = false;

    w->problems += span->problem != NULL;
    if (span->size == 0) {
        out("%08llx %*s", (unsigned long long)span->offset, 68, "");
        print_annotation(span);
        out("\n");
        return;
    }
    for (uint64_t line = 0; line < lines && !out_lost(); line++) {
        const uint64_t at = span->offset + line * 16;
        const size_t n = span->size - line * 16 < 16 ? (size_t)(span->size - line * 16) : 16;
        uint8_t bytes[16];
        if (!whole && line == 2) {
            out("...       %llu bytes more\n", (unsigned long long)((lines - 3) * 16));
            line = lines - 2;
            continue;
        }
        if (!read_at(w->file, at, bytes, n)) {
            out("%08llx  (cannot be read)\n", (unsigned long long)at);
            return;
        }
        if (whole && !w->options->full && line > 0 && line + 1 < lines && memcmp(bytes, before, 16) == 0) {
            out("%s", starred ? "" : "*\n");
            starred = true;
            continue;
        }
        starred = false;
        memcpy(before, bytes, n);
        print_hex_line(at, bytes, n);
        if (line == 0)
            print_annotation(span);
        out("\n");
    }
}

/* Of several shards, sections and what is wrong. */
static bool is_hidden(const struct walk *w, const mshard_span *span)
{
    return !w->options->header && span->problem == NULL && (span->in_header || strcmp(span->name, "gap") == 0);
}

static void visit_text(void *context, const mshard_span *span)
{
    struct walk *w = context;
    char size[TEXT_SIZE];

    w->problems += span->problem != NULL;
    if (is_hidden(w, span))
        return;
    out("  %12llu  %15s  ", (unsigned long long)span->offset, text_count(size, span->size));
    char *name = escaped(span->name, strlen(span->name));
    char *type = escaped(span->type != NULL ? span->type : "", strlen(span->type != NULL ? span->type : ""));
    const bool more = span->value != NULL || span->problem != NULL;
    out("%s%*s  %s", name, (int)(text_width(name) < w->name_width ? w->name_width - text_width(name) : 0), "", type);
    if (more)
        out("%*s  ", (int)(text_width(type) < w->type_width ? w->type_width - text_width(type) : 0), "");
    if (span->value != NULL)
        out_name(span->value);
    if (span->problem != NULL)
        print_problem(span->problem);
    out("\n");
    free(name);
    free(type);
}

static void visit_widths(void *context, const mshard_span *span)
{
    struct walk *w = context;
    const size_t name = text_width(span->name), type = span->type != NULL ? text_width(span->type) : 0;

    if (is_hidden(w, span))
        return;
    w->name_width = name > w->name_width && name < 40 ? name : w->name_width;
    w->type_width = type > w->type_width && type < 30 ? type : w->type_width;
}

static void print_summary(void *context, const mshard_shard_summary *s)
{
    const struct walk *w = context;
    char size[TEXT_SIZE], records[TEXT_SIZE], shape[256];

    out_style(OUT_BOLD);
    out_name(w->path);
    out_style(OUT_PLAIN);
    out("  %s bytes", text_count(size, s->file_size));
    if (s->stated_size != 0 && s->stated_size != s->file_size)
        out(" (header says %s)", text_count(size, s->stated_size));
    out("  %s record%s  format %u.%u  header sum %016llx\n", text_count(records, s->records), text_plural(s->records),
        s->major, s->minor, (unsigned long long)s->header_sum);
    for (uint32_t f = 0; f < s->field_count && f < MSHARD_MAX_FIELDS; f++) {
        const mshard_field *field = &s->fields[f];
        const char *dtype = mshard_dtype_name(field->dtype), *content = mshard_content_name(field->content);
        out("  field ");
        out_name(field->name != NULL ? field->name : "?");
        out("  %s %s  %s", dtype != NULL ? dtype : "?", text_shape(shape, field->shape, field->ndim),
            content != NULL ? content : "?");
        if ((field->flags & MSHARD_FIELD_AUX) != 0)
            out("  auxiliary");
        if ((field->flags & MSHARD_FIELD_SCALED) != 0)
            out("  value = stored * %s + %s", text_exact(size, field->scale), text_exact(records, field->offset));
        out("\n");
    }
}

/* Path as a Python literal: text when it is UTF-8, else bytes. */
static void print_python_path(const char *path)
{
    const size_t size = strlen(path);
    bool utf8 = true;
    uint32_t code;
    size_t step;

    for (size_t i = 0; i < size && utf8; i += step) {
        step = utf8_next(path + i, size - i, &code);
        utf8 = step != 0;
    }
    out(utf8 ? "\"" : "b\"");
    for (const char *p = path; *p != '\0'; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\')
            out("\\%c", c);
        else if (c < 0x20 || c == 0x7f || (!utf8 && c >= 0x80))
            out("\\x%02x", c);
        else
            out_bytes(p, 1);
    }
    out("\"");
}

static void print_numpy(void *context, const mshard_shard_summary *s)
{
    const struct walk *w = context;

    for (uint32_t f = 0; f < s->field_count && f < MSHARD_MAX_FIELDS; f++) {
        const mshard_field *field = &s->fields[f];
        const char *dtype = export_numpy_dtype(field->dtype);
        if (mshard_field_is_variable(field) || (s->column_offset[f] == 0 && s->records != 0) || dtype == NULL)
            continue;
        if (s->records == 0) {
            out("numpy.zeros(");
        } else {
            out("numpy.memmap(");
            print_python_path(w->path);
            out(", dtype=\"%s\", mode=\"r\", offset=%llu, shape=", dtype, (unsigned long long)s->column_offset[f]);
        }
        out("(%llu,", (unsigned long long)s->records);
        for (uint32_t d = 0; d < field->ndim; d++)
            out(" %llu%s", (unsigned long long)field->shape[d], d + 1 < field->ndim ? "," : "");
        out(")");
        if (s->records == 0)
            out(", dtype=\"%s\"", dtype);
        out(")  # %s%s\n", field->name != NULL ? field->name : "?",
            field->dtype == MSHARD_BFLOAT16 ? ": bfloat16, which numpy lacks: the upper 16 bits of float32" : "");
    }
}

static int end_of(const struct walk *w, mshard_status status, const mshard_error *err)
{
    if (status == MSHARD_OK)
        return w->problems > 0 ? TOOL_NO : TOOL_DONE;
    if (status == MSHARD_E_IO || status == MSHARD_E_NOT_FOUND || status == MSHARD_E_NOMEM) {
        say_error(err, NULL);
        return TOOL_FAILED;
    }
    say_error(err, NULL);
    return TOOL_NO;
}

int dump_shard(const char *path, const struct dump_options *options)
{
    struct walk w = {.options = options, .path = path, .name_width = 8, .type_width = 4};
    mshard_error err;
    mshard_status status;

    if (options->numpy) {
        status = mshard_inspect_shard(path, NULL, print_numpy, &w, &err);
        return end_of(&w, status, &err);
    }
    status = mshard_inspect_shard(path, visit_widths, NULL, &w, &err);
    if (status == MSHARD_E_IO || status == MSHARD_E_NOT_FOUND)
        return end_of(&w, status, &err);
    status = mshard_inspect_shard(path, NULL, print_summary, &w, &err);
    if (options->hex) {
        w.file = fopen(path, "rbe");
        if (w.file == NULL) {
            say("%s: %s", path, strerror(errno));
            return TOOL_FAILED;
        }
        status = mshard_inspect_shard(path, visit_hex, NULL, &w, &err);
        (void)fclose(w.file);
    } else {
        out_style(OUT_DIM);
        out("  %12s  %15s  %-*s  %-*s  %s\n", "offset", "bytes", (int)w.name_width, "part", (int)w.type_width, "type",
            options->header ? "value" : "");
        out_style(OUT_PLAIN);
        status = mshard_inspect_shard(path, visit_text, NULL, &w, &err);
    }
    return end_of(&w, status, &err);
}

static void visit_json(void *context, const mshard_span *span)
{
    struct walk *w = context;

    w->problems += span->problem != NULL;
    json_open(NULL, '{');
    json_count("offset", span->offset);
    json_count("size", span->size);
    json_string("name", span->name);
    json_string("type", span->type != NULL ? span->type : "");
    if (span->value != NULL)
        json_string("value", span->value);
    if (span->problem != NULL)
        json_string("problem", span->problem);
    json_bool("in_header", span->in_header != 0);
    json_close();
}

static void json_summary(void *context, const mshard_shard_summary *s)
{
    (void)context;
    json_close(); /* of spans */
    json_count("file_size", s->file_size);
    json_count("stated_size", s->stated_size);
    json_open("version", '[');
    json_count(NULL, s->major);
    json_count(NULL, s->minor);
    json_close();
    json_hex("incompat", s->incompat);
    json_hex("compat", s->compat);
    json_count("records", s->records);
    json_hex("header_sum", s->header_sum);
    json_open("fields", '[');
    for (uint32_t f = 0; f < s->field_count && f < MSHARD_MAX_FIELDS; f++) {
        mshard_field field = s->fields[f];
        if (field.name == NULL)
            field.name = "";
        json_open(NULL, '{');
        json_field(&field);
        if (s->column_offset[f] != 0)
            json_count("column_offset", s->column_offset[f]);
        json_close();
    }
    json_close();
}

static void mark_done(void *context, const mshard_shard_summary *s)
{
    (void)s;
    *(bool *)context = true;
}

int dump_shard_json(const char *path)
{
    struct walk w = {.path = path};
    mshard_error err;
    bool readable = false;
    mshard_status status = mshard_inspect_shard(path, NULL, mark_done, &readable, &err);

    json_open(NULL, '{');
    json_string("path", path);
    if (readable) {
        json_open("spans", '[');
        status = mshard_inspect_shard(path, visit_json, json_summary, &w, &err);
    }
    if (status != MSHARD_OK) {
        json_open("error", '{');
        json_string("code", mshard_status_name(status));
        if (err.offset != MSHARD_NO_OFFSET)
            json_count("offset", err.offset);
        else
            json_null("offset");
        json_string("message", err.message);
        json_close();
    } else {
        json_null("error");
    }
    json_close();
    return end_of(&w, status, &err);
}
