/*
 * inspect.c - the bytes of one shard, named
 *
 * Reads the header (64 KiB at most) and nothing else. The spans told cover the whole file once, in order. Every
 * problem that mshi_header_scan finds is put on the span whose bytes it concerns. Numbers of a damaged file are
 * only ever used after being cut to the limits, so the walk always ends.
 */
#include <mshard/inspect.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "format/field_rules.h"
#include "format/header.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_PROBLEMS 4096u

struct noted {
    uint64_t offset;
    char *text;
    bool told;
};

struct walk {
    const uint8_t *bytes;
    size_t size; /* of the header's bytes that are there */
    uint64_t file_size;
    uint64_t at; /* all before it has been told */
    struct mshi_header *header;
    bool readable;
    struct noted *noted;
    uint64_t noted_count, noted_capacity;
    void (*visit)(void *context, const mshard_span *span);
    void *context;
    mshard_shard_summary summary;
    mshard_status status; /* NOMEM while walking */
};

/* ---- problems ---- */

static void note_problem(void *context, uint64_t offset, const char *text)
{
    struct walk *w = context;
    char *copy;

    if (w->noted_count >= MAX_PROBLEMS || w->status != MSHARD_OK)
        return;
    w->status = mshi_grow(&w->noted, &w->noted_capacity, w->noted_count + 1, sizeof(*w->noted), NULL);
    if (w->status == MSHARD_OK)
        w->status = mshi_strdup(text, &copy, NULL);
    if (w->status == MSHARD_OK)
        w->noted[w->noted_count++] = (struct noted){.offset = offset, .text = copy};
}

/* Problems of bytes [offset, offset + size), joined; also own, when not NULL. */
static void gather(struct walk *w, struct mshi_buf *text, uint64_t offset, uint64_t size, const char *own)
{
    if (own != NULL)
        mshi_buf_text(text, own);
    for (uint64_t i = 0; i < w->noted_count; i++) {
        if (w->noted[i].told || w->noted[i].offset < offset || w->noted[i].offset - offset >= size)
            continue;
        if (text->size > 0)
            mshi_buf_text(text, "; ");
        mshi_buf_text(text, w->noted[i].text);
        w->noted[i].told = true;
    }
}

/* ---- spans ---- */

/* Tell one span; it is cut at the end of the file, and then says so. */
static void tell(struct walk *w, uint64_t size, bool in_header, const char *name, const char *type, const char *value,
                 const char *problem)
{
    const uint64_t left = w->file_size - w->at, here = size < left ? size : left;
    struct mshi_buf text = {.data = NULL};
    char cut[96];

    if (here < size) {
        (void)snprintf(cut, sizeof(cut), "cut: %" PRIu64 " of %" PRIu64 " bytes are in the file", here, size);
        problem = cut;
        value = NULL;
    }
    gather(w, &text, w->at, here, problem);
    if (text.failed)
        w->status = MSHARD_E_NOMEM;
    w->summary.problems += text.size > 0;
    if (w->visit != NULL)
        w->visit(w->context, &(mshard_span){.offset = w->at,
                                            .size = here,
                                            .name = name,
                                            .type = type,
                                            .value = value,
                                            .problem = text.size > 0 ? text.data : NULL,
                                            .in_header = in_header});
    w->at += here;
    mshi_buf_clear(&text);
}

static bool header_has(const struct walk *w, uint64_t size)
{
    return w->at + size <= w->size;
}

enum form { FORM_HEX, FORM_NUMBER, FORM_SUM, FORM_INCOMPAT, FORM_COMPAT, FORM_ZERO };

static void add_bits(char *text, size_t room, uint64_t value, const char *const *names, unsigned count)
{
    int used = snprintf(text, room, "0x%" PRIx64, value);

    for (unsigned i = 0; i < count; i++)
        if ((value >> i & 1) != 0 && used > 0 && (size_t)used < room)
            used += snprintf(text + used, room - (size_t)used, " %s", names[i]);
}

/* One member of the header at w->at. */
static void tell_member(struct walk *w, const char *name, const char *type, uint64_t size, enum form form)
{
    static const char *const incompat[] = {"variable", "scaled"}, *const compat[] = {"keys"};
    const uint8_t *p = w->bytes + w->at;
    char value[64];
    uint64_t number = 0;

    if (!header_has(w, size)) {
        tell(w, size, true, name, type, NULL, NULL);
        return;
    }
    for (uint64_t i = 0; i < size && i < 8; i++)
        number |= (uint64_t)p[i] << (8 * i);
    switch (form) {
    case FORM_HEX:
        (void)snprintf(value, sizeof(value), "%02x %02x %02x %02x %02x %02x %02x %02x", p[0], p[1], p[2], p[3], p[4],
                       p[5], p[6], p[7]);
        break;
    case FORM_SUM:
        (void)snprintf(value, sizeof(value), "%016" PRIx64, number);
        break;
    case FORM_INCOMPAT:
        add_bits(value, sizeof(value), number, incompat, 2);
        break;
    case FORM_COMPAT:
        add_bits(value, sizeof(value), number, compat, 1);
        break;
    case FORM_ZERO:
        (void)snprintf(value, sizeof(value), "reserved");
        break;
    default:
        (void)snprintf(value, sizeof(value), "%" PRIu64, number);
    }
    tell(w, size, true, name, type, value, NULL);
}

static void tell_prologue(struct walk *w)
{
    tell_member(w, "header.magic", "bytes", 8, FORM_HEX);
    tell_member(w, "header.major", "u16", 2, FORM_NUMBER);
    tell_member(w, "header.minor", "u16", 2, FORM_NUMBER);
    tell_member(w, "header.header_size", "u32", 4, FORM_NUMBER);
}

static void tell_fixed_part(struct walk *w)
{
    static const struct {
        const char *name, *type;
        uint8_t size;
        enum form form;
    } members[] = {
        {"header.incompat", "u64", 8, FORM_INCOMPAT},      {"header.compat", "u64", 8, FORM_COMPAT},
        {"header.file_size", "u64", 8, FORM_NUMBER},       {"header.records", "u64", 8, FORM_NUMBER},
        {"header.align", "u32", 4, FORM_NUMBER},           {"header.block_size", "u32", 4, FORM_NUMBER},
        {"header.checksum", "u32", 4, FORM_NUMBER},        {"header.field_count", "u32", 4, FORM_NUMBER},
        {"header.section_count", "u32", 4, FORM_NUMBER},   {"header.fields_offset", "u32", 4, FORM_NUMBER},
        {"header.sections_offset", "u32", 4, FORM_NUMBER}, {"header.reserved", "bytes", 36, FORM_ZERO},
        {"header.sums_root", "u64", 8, FORM_SUM},          {"header.header_sum", "u64", 8, FORM_SUM},
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        tell_member(w, members[i].name, members[i].type, members[i].size, members[i].form);
}

/* "[224, 224, 3]", "?" for an unknown dimension. */
static void format_shape(char *text, size_t room, const uint64_t *shape, uint32_t ndim)
{
    size_t used = 0;

    text[used++] = '[';
    for (uint32_t d = 0; d < ndim && d < MSHARD_MAX_DIMS && used + 24 < room; d++) {
        const char *comma = d == 0 ? "" : ", ";
        const int n = shape[d] == MSHARD_DIM_UNKNOWN
                          ? snprintf(text + used, room - used, "%s?", comma)
                          : snprintf(text + used, room - used, "%s%" PRIu64, comma, shape[d]);

        used += n > 0 ? (size_t)n : 0;
    }
    text[used++] = ']';
    text[used] = '\0';
}

/* Members of a field entry whose values need words. */
static void tell_field(struct walk *w, uint32_t i)
{
    static const char *const flags[] = {"auxiliary", "scaled"};
    const struct mshi_disk_field *disk = (const struct mshi_disk_field *)(w->bytes + w->at);
    char name[32], value[MSHARD_MAX_DIMS * 24 + 8];
    uint64_t shape[MSHARD_MAX_DIMS];
    double number;

#define MEMBER(member) ((void)snprintf(name, sizeof(name), "field[%" PRIu32 "]." member, i), name)
#define VALUE(...) ((void)snprintf(value, sizeof(value), __VA_ARGS__), value)
    if (!header_has(w, sizeof(*disk))) {
        (void)snprintf(name, sizeof(name), "field[%" PRIu32 "]", i);
        tell(w, sizeof(*disk), true, name, "bytes", NULL, NULL);
        return;
    }
    tell(w, 64, true, MEMBER("name"), "utf-8", VALUE("%.*s", (int)strnlen((const char *)disk->name, 64), disk->name),
         NULL);
    const char *word = mshard_dtype_name((mshard_dtype)disk->dtype);
    tell(w, 1, true, MEMBER("dtype"), "u8", VALUE("%u %s", disk->dtype, word == NULL ? "unknown" : word), NULL);
    word = mshard_content_name((mshard_content)disk->content);
    tell(w, 1, true, MEMBER("content"), "u8", VALUE("%u %s", disk->content, word == NULL ? "unknown" : word), NULL);
    tell(w, 1, true, MEMBER("ndim"), "u8", VALUE("%u", disk->ndim), NULL);
    tell(w, 1, true, MEMBER("reserved0"), "bytes", VALUE("reserved"), NULL);
    add_bits(value, sizeof(value), mshi_le32_load(&disk->flags), flags, 2);
    tell(w, 4, true, MEMBER("flags"), "u32", value, NULL);
    for (uint32_t d = 0; d < MSHARD_MAX_DIMS; d++)
        shape[d] = mshi_le64_load(&disk->shape[d]);
    format_shape(value, sizeof(value), shape, disk->ndim);
    tell(w, 64, true, MEMBER("shape"), "u64[8]", value, NULL);
    uint64_t bits = mshi_le64_load(&disk->scale);
    memcpy(&number, &bits, sizeof(number));
    tell(w, 8, true, MEMBER("scale"), "float64", VALUE("%.17g", number), NULL);
    bits = mshi_le64_load(&disk->offset);
    memcpy(&number, &bits, sizeof(number));
    tell(w, 8, true, MEMBER("offset"), "float64", VALUE("%.17g", number), NULL);
    tell(w, 8, true, MEMBER("reserved1"), "bytes", VALUE("reserved"), NULL);
#undef MEMBER
#undef VALUE
}

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {"unknown", "column", "values", "ends", "dims", "sums"};

    return names[kind < sizeof(names) / sizeof(names[0]) ? kind : 0];
}

static const char *field_name(const struct walk *w, uint32_t field)
{
    return field < w->header->field_count ? w->header->fields[field].name : "none";
}

static void tell_section_entry(struct walk *w, uint32_t i)
{
    const struct mshi_disk_section *disk = (const struct mshi_disk_section *)(w->bytes + w->at);
    char name[32], value[96];

    if (!header_has(w, sizeof(*disk))) {
        (void)snprintf(name, sizeof(name), "section[%" PRIu32 "]", i);
        tell(w, sizeof(*disk), true, name, "bytes", NULL, NULL);
        return;
    }
    (void)snprintf(name, sizeof(name), "section[%" PRIu32 "].kind", i);
    (void)snprintf(value, sizeof(value), "%" PRIu32 " %s", mshi_le32_load(&disk->kind),
                   kind_name(mshi_le32_load(&disk->kind)));
    tell(w, 4, true, name, "u32", value, NULL);
    (void)snprintf(name, sizeof(name), "section[%" PRIu32 "].field", i);
    (void)snprintf(value, sizeof(value), "%" PRIu32 " %s", mshi_le32_load(&disk->field),
                   field_name(w, mshi_le32_load(&disk->field)));
    tell(w, 4, true, name, "u32", value, NULL);
    (void)snprintf(name, sizeof(name), "section[%" PRIu32 "].offset", i);
    tell_member(w, name, "u64", 8, FORM_NUMBER);
    (void)snprintf(name, sizeof(name), "section[%" PRIu32 "].size", i);
    tell_member(w, name, "u64", 8, FORM_NUMBER);
    (void)snprintf(name, sizeof(name), "section[%" PRIu32 "].reserved", i);
    tell_member(w, name, "bytes", 8, FORM_ZERO);
}

/* ---- data ---- */

static void data_name(const struct walk *w, const struct mshi_section *s, char *name, size_t name_room, char *type,
                      size_t type_room)
{
    const mshard_field *f = s->field < w->header->field_count ? &w->header->fields[s->field] : NULL;
    const char *dtype = f == NULL ? NULL : mshard_dtype_name(f->dtype);

    (void)snprintf(name, name_room, s->kind == MSHI_SECTION_SUMS ? "%s" : "%s %s", kind_name(s->kind),
                   field_name(w, s->field));
    (void)snprintf(type, type_room, "bytes");
    if (s->kind == MSHI_SECTION_ENDS || s->kind == MSHI_SECTION_SUMS)
        (void)snprintf(type, type_room, "u64[%" PRIu64 "]", s->size / 8);
    else if (s->kind == MSHI_SECTION_DIMS && f != NULL)
        (void)snprintf(type, type_room, "u32[%" PRIu64 ", %" PRIu32 "]", w->header->records, f->ndim);
    else if (dtype != NULL) {
        char shape[MSHARD_MAX_DIMS * 24 + 8];
        uint64_t dims[MSHARD_MAX_DIMS];
        uint32_t n = s->kind == MSHI_SECTION_COLUMN ? f->ndim : 1;

        memcpy(dims, f->shape, sizeof(dims));
        if (s->kind != MSHI_SECTION_COLUMN)
            dims[0] = s->size / mshard_dtype_size(f->dtype);
        format_shape(shape, sizeof(shape), dims, n);
        if (s->kind == MSHI_SECTION_COLUMN) /* records first */
            (void)snprintf(type, type_room, "%s[%" PRIu64 "%s%s", dtype, w->header->records, n > 0 ? ", " : "",
                           shape + 1);
        else
            (void)snprintf(type, type_room, "%s%s", dtype, shape);
    }
}

/* The next section to tell: lowest offset from w->at on, table order among equals. */
static const struct mshi_section *next_section(const struct walk *w, const bool told[MSHI_MAX_SECTIONS],
                                               uint32_t *which)
{
    const struct mshi_section *best = NULL;

    for (uint32_t i = 0; i < w->header->section_count; i++) {
        const struct mshi_section *s = &w->header->sections[i];

        if (!told[i] && s->offset >= w->at && (best == NULL || s->offset < best->offset)) {
            best = s;
            *which = i;
        }
    }
    return best;
}

static void tell_data(struct walk *w)
{
    bool told[MSHI_MAX_SECTIONS] = {false};
    const struct mshi_section *s;
    uint32_t i = 0;

    while ((s = next_section(w, told, &i)) != NULL) {
        char name[96], type[256], missing[96];

        told[i] = true;
        data_name(w, s, name, sizeof(name), type, sizeof(type));
        if (s->offset > w->at && w->at < w->file_size) {
            const uint64_t end = s->offset < w->file_size ? s->offset : w->file_size;

            tell(w, end - w->at, false, "gap", "zero", NULL, NULL);
        }
        if (s->offset > w->file_size) {
            (void)snprintf(missing, sizeof(missing), "missing: begins at byte %" PRIu64 ", the file ends at %" PRIu64,
                           s->offset, w->file_size);
            tell(w, 0, false, name, type, NULL, missing);
            continue;
        }
        tell(w, s->size, false, name, type, NULL, NULL);
    }
    if (w->at < w->file_size)
        tell(w, w->file_size - w->at, false, "trailing bytes", "bytes", NULL, "after the end that the header states");
}

/* ---- the file ---- */

/* Counts of tables in a header that the scan could not reach (the file ends within it). */
static void cut_counts(struct walk *w)
{
    const struct mshi_disk_header *disk = (const struct mshi_disk_header *)w->bytes;
    struct mshi_header *h = w->header;

    if (w->size < sizeof(*disk) || h->major != MSHI_MAJOR)
        return;
    h->header_size = mshi_header_size_stated(w->bytes);
    h->field_count = mshi_le32_load(&disk->field_count);
    h->section_count = mshi_le32_load(&disk->section_count);
    if (h->field_count > MSHARD_MAX_FIELDS || h->section_count > MSHI_MAX_SECTIONS ||
        mshi_header_size_for(h->field_count, h->section_count) > h->header_size)
        h->field_count = h->section_count = 0;
}

static void tell_header(struct walk *w)
{
    if (!w->readable &&
        (w->size < MSHI_MAGIC_SIZE || memcmp(w->bytes, MSHI_MAGIC, MSHI_MAGIC_SIZE) !=
                                          0)) { /* foreign, unsealed and empty, or shorter than the magic */
        if (w->file_size > 0)
            tell(w, MSHI_MAGIC_SIZE, true, "header.magic", "bytes", NULL, NULL);
        if (w->at < w->file_size)
            tell(w, w->file_size - w->at, false, "unknown bytes", "bytes", NULL, NULL);
        return;
    }
    tell_prologue(w);
    if (!w->readable && w->size >= sizeof(struct mshi_disk_header) && w->header->major != MSHI_MAJOR) {
        tell(w, w->file_size - w->at, false, "unknown bytes", "bytes", NULL, "of a format this version does not know");
        return;
    }
    if (!w->readable)
        cut_counts(w);
    if (w->at < w->file_size)
        tell_fixed_part(w);
    for (uint32_t i = 0; i < w->header->field_count && w->at < w->file_size; i++)
        tell_field(w, i);
    for (uint32_t i = 0; i < w->header->section_count && w->at < w->file_size; i++)
        tell_section_entry(w, i);
    if (w->at < w->header->header_size && w->at < w->file_size)
        tell(w, w->header->header_size - w->at, true, "header.padding", "zero", NULL, NULL);
}

/* What passed the checks. */
static void summarize(struct walk *w)
{
    const struct mshi_header *h = w->header;
    mshard_shard_summary *s = &w->summary;
    uint32_t good = 0;

    s->file_size = w->file_size;
    if (!w->readable)
        return;
    s->stated_size = h->file_size;
    s->major = h->major;
    s->minor = h->minor;
    s->incompat = h->incompat;
    s->compat = h->compat;
    s->records = h->records;
    s->header_sum = h->header_sum;
    for (bool bad = false; good < h->field_count; good++) {
        const uint64_t at = sizeof(struct mshi_disk_header) + (uint64_t)good * sizeof(struct mshi_disk_field);

        for (uint64_t i = 0; i < w->noted_count; i++)
            bad = bad || (w->noted[i].offset >= at && w->noted[i].offset < at + sizeof(struct mshi_disk_field));
        if (bad)
            break;
        const struct mshi_section *column = mshi_header_section(h, good, MSHI_SECTION_COLUMN);
        s->fields[good] = h->fields[good];
        s->column_offset[good] = column == NULL || column->offset > w->file_size ? 0 : column->offset;
    }
    s->field_count = good;
}

static mshard_status inspect(struct walk *w, const char *path, mshard_error *err)
{
    struct mshi_header_scan scan = {.bytes = w->bytes,
                                    .size = w->size,
                                    .file_size = w->file_size,
                                    .path = path,
                                    .check_sum = true,
                                    .problem = note_problem,
                                    .context = w,
                                    .err = err};
    const mshard_status status = mshi_header_scan(&scan, w->header);

    w->readable = scan.readable;
    summarize(w);
    tell_header(w);
    if (w->readable)
        tell_data(w);
    else if (w->at < w->file_size)
        tell(w, w->file_size - w->at, false, "unknown bytes", "bytes", NULL, "cannot be located without the header");
    for (uint64_t i = 0; i < w->noted_count; i++) /* those at the end of the file, or beyond all spans */
        if (!w->noted[i].told)
            tell(w, 0, false, "file", "bytes", NULL, w->noted[i].text);
    if (w->status != MSHARD_OK && status == MSHARD_OK)
        return mshi_fail(err, w->status, path, MSHARD_NO_OFFSET, "out of memory");
    return status;
}

mshard_status mshard_inspect_shard(const char *path, void (*visit)(void *context, const mshard_span *span),
                                   void (*done)(void *context, const mshard_shard_summary *summary), void *context,
                                   mshard_error *err)
{
    struct mshi_file file;
    struct walk *w = NULL;
    uint8_t *bytes = NULL;
    mshard_status status;

    MSHI_TRY(mshi_file_open(path, &file, err));
    status = mshi_alloc(1, sizeof(*w) + sizeof(*w->header), &w, err);
    if (status == MSHARD_OK)
        status = mshi_alloc(MSHI_HEADER_MAX, 1, &bytes, err);
    if (status == MSHARD_OK) {
        w->header = (struct mshi_header *)(w + 1);
        w->bytes = bytes;
        w->visit = visit;
        w->context = context;
        status = mshi_file_read(&file, bytes, MSHI_HEADER_MAX, 0, &w->size, path, err);
    }
    if (status == MSHARD_OK) {
        w->file_size = w->size < MSHI_HEADER_MAX && file.size > w->size ? w->size : file.size; /* shrunk meanwhile */
        if (w->file_size < w->size)
            w->size = w->file_size;
        status = inspect(w, path, err);
        if (done != NULL)
            done(context, &w->summary);
    }
    for (uint64_t i = 0; w != NULL && i < w->noted_count; i++)
        free(w->noted[i].text);
    if (w != NULL)
        free(w->noted);
    free(w);
    free(bytes);
    mshi_file_close(&file);
    return status;
}
