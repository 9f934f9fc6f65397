/*
 * header_check.c - read a shard header with every rule of spec/shard.md
 *
 * The bytes are untrusted. One pass finds every problem; the first is the error. Each step is safe after any
 * failure of the steps before it: counts are cut to the limits and to the bytes that are there, and sizes are
 * computed with overflow checks. After OK all sections lie inside the file, disjoint, with exact sizes.
 */
#include "format/header.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "format/field_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define AT(member) offsetof(struct mshi_disk_header, member)

static void problem(struct mshi_header_scan *scan, mshard_status code, uint64_t offset, const char *format, ...)
    MSHI_PRINTF(4, 5);

static void problem(struct mshi_header_scan *scan, mshard_status code, uint64_t offset, const char *format, ...)
{
    char text[480];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (scan->status == MSHARD_OK)
        scan->status = mshi_fail(scan->err, code, scan->path, offset, "%s", text);
    if (scan->problem != NULL)
        scan->problem(scan->context, offset, text);
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* What a transfer does to the magic, each with its name (the idea is PNG's). */
static const struct {
    uint8_t size;
    uint8_t bytes[11];
    const char *cause;
} damages[] = {
    {8, {0x09, 'M', 'S', 'H', '\r', '\n', 0x1a, '\n'}, "bit 7 was stripped from every byte"},
    {7, {0x89, 'M', 'S', 'H', '\n', 0x1a, '\n'}, "CR LF was translated to LF: copied in text mode"},
    {8, {0x89, 'M', 'S', 'H', '\r', '\n', 0x1a, '\r'}, "LF was translated to CR LF: copied in text mode"},
    {8, {0x89, 'M', 'S', 'H', '\r', '\r', '\n', 0x1a}, "LF was translated to CR LF: copied in text mode"},
    {7, {0x89, 'M', 'S', 'H', '\r', 0x1a, '\r'}, "line ends were translated to CR: copied in text mode"},
    {8, {0x89, 'M', 'S', 'H', '\r', '\r', 0x1a, '\r'}, "LF was translated to CR: copied in text mode"},
    {8, {0x89, 'M', 'S', 'H', '\n', '\n', 0x1a, '\n'}, "CR was translated to LF: copied in text mode"},
    {5, {0xc2, 0x89, 'M', 'S', 'H'}, "its bytes were re-encoded from Latin-1 to UTF-8"},
    {6, {0xef, 0xbf, 0xbd, 'M', 'S', 'H'}, "its bytes were decoded as UTF-8 text"},
    {4, {0x89, 'M', 'S', 'H'}, "the first 8 bytes are damaged"},
};

static void hex8(const uint8_t *bytes, size_t size, char text[25])
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;

    for (size_t i = 0; i < size && i < 8; i++) {
        text[at++] = digits[bytes[i] >> 4];
        text[at++] = digits[bytes[i] & 15];
        text[at++] = ' ';
    }
    text[at == 0 ? 0 : at - 1] = '\0';
}

/* True when the rest of the header is worth reading. */
static bool check_magic(struct mshi_header_scan *scan)
{
    const size_t here = scan->size < MSHI_MAGIC_SIZE ? scan->size : MSHI_MAGIC_SIZE;
    char hex[25];

    if (memcmp(scan->bytes, MSHI_MAGIC, here) == 0) {
        if (here == MSHI_MAGIC_SIZE)
            return true;
        problem(scan, MSHARD_E_TRUNCATED, scan->file_size,
                "expected a shard header of at least %u bytes, found a file of %" PRIu64, MSHI_HEADER_UNIT,
                scan->file_size);
        return false;
    }
    if (all_zero(scan->bytes, here)) {
        problem(scan, MSHARD_E_FORMAT, 0, "not sealed: packing of this shard did not finish");
        return scan->size >= sizeof(struct mshi_disk_header) && !all_zero(scan->bytes, sizeof(struct mshi_disk_header));
    }
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++)
        if (scan->size >= damages[i].size && memcmp(scan->bytes, damages[i].bytes, damages[i].size) == 0) {
            problem(scan, MSHARD_E_FORMAT, 0, "not a shard any more: %s", damages[i].cause);
            return false;
        }
    hex8(scan->bytes, here, hex);
    problem(scan, MSHARD_E_FORMAT, 0, "not a shard: expected magic 89 4d 53 48 0d 0a 1a 0a, found %s", hex);
    return false;
}

/* Find header_size; false when the tables cannot be reached. */
static bool check_size(struct mshi_header_scan *scan, struct mshi_header *h)
{
    const struct mshi_disk_header *disk = (const struct mshi_disk_header *)scan->bytes;

    if (scan->size < sizeof(*disk)) {
        problem(scan, MSHARD_E_TRUNCATED, scan->file_size,
                "expected a shard header of at least %u bytes, found a file of %" PRIu64, MSHI_HEADER_UNIT,
                scan->file_size);
        return false;
    }
    h->major = mshi_le16_load(&disk->major);
    h->minor = mshi_le16_load(&disk->minor);
    if (h->major != MSHI_MAJOR) {
        problem(scan, MSHARD_E_VERSION, AT(major), "expected shard format %d, found %u: made by another version",
                MSHI_MAJOR, h->major);
        return false;
    }
    h->header_size = mshi_header_size_stated(disk);
    if (h->header_size == 0) {
        const uint32_t stated = mshi_le32_load(&disk->header_size);

        problem(scan, MSHARD_E_CORRUPT, AT(header_size),
                "header_size must be a multiple of %u up to %u, found %" PRIu32, MSHI_HEADER_UNIT, MSHI_HEADER_MAX,
                stated);
        /* for inspect: the size the tables ask for */
        h->header_size = mshi_header_size_for(mshi_le32_load(&disk->field_count) & 0xffff,
                                              mshi_le32_load(&disk->section_count) & 0xffff);
        return h->header_size != 0 && h->header_size <= scan->size;
    }
    if (h->header_size > scan->size) {
        const bool cut = h->header_size > scan->file_size;

        problem(scan, MSHARD_E_TRUNCATED, cut ? scan->file_size : h->header_size,
                "expected a shard header of %" PRIu32 " bytes, found %" PRIu64, h->header_size,
                cut ? scan->file_size : (uint64_t)scan->size);
        return false;
    }
    return true;
}

static void check_header_sum(struct mshi_header_scan *scan, struct mshi_header *h)
{
    const struct mshi_disk_header *disk = (const struct mshi_disk_header *)scan->bytes;
    uint8_t *copy;
    uint64_t sum;

    h->header_sum = mshi_le64_load(&disk->header_sum);
    h->sums_root = mshi_le64_load(&disk->sums_root);
    if (!scan->check_sum)
        return;
    if (mshi_alloc(h->header_size, 1, &copy, scan->status == MSHARD_OK ? scan->err : NULL) != MSHARD_OK) {
        scan->status = scan->status == MSHARD_OK ? MSHARD_E_NOMEM : scan->status;
        return;
    }
    memcpy(copy, scan->bytes, h->header_size);
    memset(copy + AT(header_sum), 0, sizeof(mshi_le64));
    sum = mshi_hash64(copy, h->header_size, 0);
    free(copy);
    if (sum != h->header_sum)
        problem(scan, MSHARD_E_CORRUPT, AT(header_sum),
                "header is damaged: header_sum says %016" PRIx64 ", the bytes give %016" PRIx64, h->header_sum, sum);
}

/* Members of the fixed part that depend on nothing else. */
static void check_members(struct mshi_header_scan *scan, struct mshi_header *h)
{
    const struct mshi_disk_header *disk = (const struct mshi_disk_header *)scan->bytes;
    const uint32_t block_size = mshi_le32_load(&disk->block_size), checksum = mshi_le32_load(&disk->checksum);

    h->incompat = mshi_le64_load(&disk->incompat);
    h->compat = mshi_le64_load(&disk->compat);
    h->file_size = mshi_le64_load(&disk->file_size);
    h->records = mshi_le64_load(&disk->records);
    h->align = mshi_le32_load(&disk->align);
    if ((h->incompat & ~MSHI_INCOMPAT_KNOWN) != 0)
        problem(scan, MSHARD_E_VERSION, AT(incompat), "needs incompat feature bit %d, which this version does not know",
                __builtin_ctzll(h->incompat & ~MSHI_INCOMPAT_KNOWN));
    if (h->file_size > MSHARD_MAX_FILE)
        problem(scan, MSHARD_E_LIMIT, AT(file_size), "file_size must be at most %" PRIu64 ", found %" PRIu64,
                (uint64_t)MSHARD_MAX_FILE, h->file_size);
    else if (scan->file_size < h->file_size)
        problem(scan, MSHARD_E_TRUNCATED, scan->file_size, "expected a file of %" PRIu64 " bytes, found %" PRIu64,
                h->file_size, scan->file_size);
    else if (scan->file_size > h->file_size)
        problem(scan, MSHARD_E_CORRUPT, AT(file_size), "expected a file of %" PRIu64 " bytes, found %" PRIu64,
                h->file_size, scan->file_size);
    if (h->records > MSHARD_MAX_RECORDS)
        problem(scan, MSHARD_E_LIMIT, AT(records), "records must be at most %" PRIu64 ", found %" PRIu64,
                (uint64_t)MSHARD_MAX_RECORDS, h->records);
    if (h->align < MSHI_ALIGN_MIN || h->align > MSHI_ALIGN_MAX || (h->align & (h->align - 1)) != 0) {
        problem(scan, MSHARD_E_CORRUPT, AT(align), "align must be a power of two from %u to %u, found %" PRIu32,
                MSHI_ALIGN_MIN, MSHI_ALIGN_MAX, h->align);
        h->align = MSHI_ALIGN_MIN;
    }
    if (block_size != MSHI_BLOCK_SIZE)
        problem(scan, MSHARD_E_CORRUPT, AT(block_size), "block_size must be %u, found %" PRIu32, MSHI_BLOCK_SIZE,
                block_size);
    if (checksum != MSHI_CHECKSUM_XXH3_64)
        problem(scan, MSHARD_E_CORRUPT, AT(checksum), "checksum must be 1 (XXH3-64), found %" PRIu32, checksum);
}

/* Counts and places of the tables; afterwards both tables, as counted in h, lie inside the header. */
static void check_counts(struct mshi_header_scan *scan, struct mshi_header *h)
{
    const struct mshi_disk_header *disk = (const struct mshi_disk_header *)scan->bytes;
    const uint32_t fields = mshi_le32_load(&disk->field_count), sections = mshi_le32_load(&disk->section_count);
    const uint32_t fields_at = mshi_le32_load(&disk->fields_offset),
                   sections_at = mshi_le32_load(&disk->sections_offset);
    const uint64_t expected_at = sizeof(*disk) + (uint64_t)fields * sizeof(struct mshi_disk_field);
    const uint32_t room = (h->header_size - (uint32_t)sizeof(*disk));

    if (fields == 0 || fields > MSHARD_MAX_FIELDS)
        problem(scan, fields == 0 ? MSHARD_E_CORRUPT : MSHARD_E_LIMIT, AT(field_count),
                "field_count must be from 1 to %d, found %" PRIu32, MSHARD_MAX_FIELDS, fields);
    if (fields_at != sizeof(*disk))
        problem(scan, MSHARD_E_CORRUPT, AT(fields_offset), "fields_offset must be %zu, found %" PRIu32, sizeof(*disk),
                fields_at);
    if (sections_at != expected_at)
        problem(scan, MSHARD_E_CORRUPT, AT(sections_offset), "sections_offset must be %" PRIu64 ", found %" PRIu32,
                expected_at, sections_at);
    if (sections > MSHI_MAX_SECTIONS)
        problem(scan, MSHARD_E_CORRUPT, AT(section_count), "section_count must be at most %d, found %" PRIu32,
                MSHI_MAX_SECTIONS, sections);
    else if (expected_at + sections * sizeof(struct mshi_disk_section) > h->header_size)
        problem(scan, MSHARD_E_CORRUPT, AT(header_size),
                "header_size must hold %" PRIu32 " fields and %" PRIu32 " sections, found %" PRIu32, fields, sections,
                h->header_size);
    for (size_t i = 0; i < sizeof(disk->reserved); i++)
        if (disk->reserved[i] != 0) {
            problem(scan, MSHARD_E_CORRUPT, AT(reserved) + i, "reserved byte must be 0, found %u", disk->reserved[i]);
            break;
        }

    h->field_count = fields > MSHARD_MAX_FIELDS ? MSHARD_MAX_FIELDS : fields;
    if (h->field_count > room / sizeof(struct mshi_disk_field))
        h->field_count = room / (uint32_t)sizeof(struct mshi_disk_field);
    h->section_count = sections > MSHI_MAX_SECTIONS ? MSHI_MAX_SECTIONS : sections;
    const uint32_t left = room - h->field_count * (uint32_t)sizeof(struct mshi_disk_field);
    if (h->section_count > left / sizeof(struct mshi_disk_section))
        h->section_count = left / (uint32_t)sizeof(struct mshi_disk_section);
}

static void load_field(const struct mshi_disk_field *disk, char *name, mshard_field *field)
{
    uint64_t bits;

    memcpy(name, disk->name, MSHARD_MAX_NAME);
    name[MSHARD_MAX_NAME] = '\0';
    *field = (mshard_field){.name = name,
                            .dtype = (mshard_dtype)disk->dtype,
                            .content = (mshard_content)disk->content,
                            .flags = mshi_le32_load(&disk->flags),
                            .ndim = disk->ndim};
    for (uint32_t d = 0; d < field->ndim && d < MSHARD_MAX_DIMS; d++)
        field->shape[d] = mshi_le64_load(&disk->shape[d]);
    bits = mshi_le64_load(&disk->scale);
    memcpy(&field->scale, &bits, sizeof(bits));
    bits = mshi_le64_load(&disk->offset);
    memcpy(&field->offset, &bits, sizeof(bits));
}

/* Bytes of a field entry that must be zero. */
static void check_field_padding(struct mshi_header_scan *scan, const struct mshi_disk_field *disk, uint64_t at)
{
    const size_t length = strnlen((const char *)disk->name, sizeof(disk->name));
    const uint32_t ndim = disk->ndim > MSHARD_MAX_DIMS ? MSHARD_MAX_DIMS : disk->ndim;

    if (length == sizeof(disk->name))
        problem(scan, MSHARD_E_CORRUPT, at, "a field name must end with a 0 byte within %zu bytes", sizeof(disk->name));
    if (!all_zero(disk->name + length, sizeof(disk->name) - length))
        problem(scan, MSHARD_E_CORRUPT, at, "bytes after the end of the field name must be 0");
    if (disk->reserved0 != 0)
        problem(scan, MSHARD_E_CORRUPT, at + offsetof(struct mshi_disk_field, reserved0),
                "reserved byte must be 0, found %u", disk->reserved0);
    for (uint32_t d = ndim; d < MSHARD_MAX_DIMS; d++)
        if (mshi_le64_load(&disk->shape[d]) != 0)
            problem(scan, MSHARD_E_CORRUPT, at + offsetof(struct mshi_disk_field, shape) + 8 * d,
                    "shape[%u] of a field with %u dimensions must be 0, found %" PRIu64, d, disk->ndim,
                    mshi_le64_load(&disk->shape[d]));
    if ((mshi_le32_load(&disk->flags) & MSHARD_FIELD_SCALED) == 0 &&
        (mshi_le64_load(&disk->scale) != 0 || mshi_le64_load(&disk->offset) != 0))
        problem(scan, MSHARD_E_CORRUPT, at + offsetof(struct mshi_disk_field, scale),
                "scale and offset of a field that is not scaled must be 0");
    if (!all_zero(disk->reserved1, sizeof(disk->reserved1)))
        problem(scan, MSHARD_E_CORRUPT, at + offsetof(struct mshi_disk_field, reserved1), "reserved bytes must be 0");
}

/* Returns a bit for each field that keeps the rules. */
static uint64_t check_fields(struct mshi_header_scan *scan, struct mshi_header *h)
{
    const struct mshi_disk_field *disk =
        (const struct mshi_disk_field *)(scan->bytes + sizeof(struct mshi_disk_header));
    uint64_t good = 0;
    bool variable = false, scaled = false, keys = false;

    for (uint32_t i = 0; i < h->field_count; i++) {
        const uint64_t at = sizeof(struct mshi_disk_header) + (uint64_t)i * sizeof(*disk);
        char text[MSHI_RULE_TEXT];
        size_t member = 0;
        mshard_field *f = &h->fields[i];

        load_field(&disk[i], h->names[i], f);
        const mshard_status status = mshi_field_rule(h->fields, i, &f->record_size, &member, text);
        if (status != MSHARD_OK)
            problem(scan, status, at + member, "%s", text);
        else
            good |= UINT64_C(1) << i;
        if (f->ndim > MSHARD_MAX_DIMS)
            f->ndim = MSHARD_MAX_DIMS; /* bad, but safe for the checks below */
        check_field_padding(scan, &disk[i], at);
        variable = variable || mshard_field_is_variable(f);
        scaled = scaled || (f->flags & MSHARD_FIELD_SCALED) != 0;
        keys = keys || mshi_field_is_key(f);
    }
    if (variable != ((h->incompat & MSHI_INCOMPAT_VARIABLE) != 0))
        problem(scan, MSHARD_E_CORRUPT, AT(incompat), "incompat bit 0 (variable fields) must be %d, found %d", variable,
                !variable);
    if (scaled != ((h->incompat & MSHI_INCOMPAT_SCALED) != 0))
        problem(scan, MSHARD_E_CORRUPT, AT(incompat), "incompat bit 1 (scaled fields) must be %d, found %d", scaled,
                !scaled);
    if (keys != ((h->compat & MSHI_COMPAT_KEYS) != 0))
        problem(scan, MSHARD_E_CORRUPT, AT(compat), "compat bit 0 (keys) must be %d, found %d", keys, !keys);
    return good;
}

/* Is a section of this kind part of this field? */
static bool kind_fits(const mshard_field *f, uint32_t kind)
{
    if (!mshard_field_is_variable(f))
        return kind == MSHI_SECTION_COLUMN;
    return kind == MSHI_SECTION_VALUES || kind == MSHI_SECTION_ENDS || (kind == MSHI_SECTION_DIMS && f->ndim > 1);
}

/* Size of one section against what its kind and field ask for. at: of the table entry. */
static void check_section_size(struct mshi_header_scan *scan, const struct mshi_header *h, const struct mshi_section *s,
                               uint64_t at)
{
    const uint64_t size_at = at + offsetof(struct mshi_disk_section, size);
    uint64_t expected = 0;

    if (s->kind == MSHI_SECTION_VALUES) {
        const mshard_field *f = &h->fields[s->field];
        const size_t unit = mshard_dtype_size(f->dtype);

        if (s->size % unit != 0)
            problem(scan, MSHARD_E_CORRUPT, size_at, "values of \"%s\" must be a multiple of %zu bytes, found %" PRIu64,
                    f->name, unit, s->size);
        if (h->records == 0 && s->size != 0)
            problem(scan, MSHARD_E_CORRUPT, size_at, "values of \"%s\" must be 0 bytes for 0 records, found %" PRIu64,
                    f->name, s->size);
        return;
    }
    if (s->kind == MSHI_SECTION_SUMS) {
        const uint64_t data = s->offset < h->header_size ? 0 : s->offset - h->header_size;

        expected = (data / MSHI_BLOCK_SIZE + (data % MSHI_BLOCK_SIZE != 0)) * sizeof(mshi_le64);
    } else if (!mshi_section_size(h, s->kind, &h->fields[s->field], &expected)) {
        problem(scan, MSHARD_E_LIMIT, size_at, "section of \"%s\" would need more than 2^64 bytes",
                h->fields[s->field].name);
        return;
    }
    if (s->size != expected)
        problem(scan, MSHARD_E_CORRUPT, size_at, "expected a section of %" PRIu64 " bytes, found %" PRIu64, expected,
                s->size);
}

static void check_section_place(struct mshi_header_scan *scan, const struct mshi_header *h,
                                const struct mshi_section *s, uint64_t at, uint64_t *end)
{
    const uint64_t offset_at = at + offsetof(struct mshi_disk_section, offset);
    uint64_t begin = 0, stop;

    if (!mshi_align_up(*end, h->align, &begin) || s->offset != begin)
        problem(scan, MSHARD_E_CORRUPT, offset_at,
                "section must begin at byte %" PRIu64 " (the end of the one before, aligned to %" PRIu32
                "), found %" PRIu64,
                begin, h->align, s->offset);
    if (mshi_add_overflow(s->offset, s->size, &stop) || stop > h->file_size)
        problem(scan, MSHARD_E_CORRUPT, offset_at,
                "section of %" PRIu64 " bytes at %" PRIu64 " must end within %" PRIu64 " bytes", s->size, s->offset,
                h->file_size);
    else
        *end = stop;
}

/* Kind and field of one entry; true when its size can be judged. */
static bool check_section_kind(struct mshi_header_scan *scan, const struct mshi_header *h, const struct mshi_section *s,
                               uint64_t at, bool last, uint64_t good, uint8_t seen[MSHARD_MAX_FIELDS])
{
    const uint64_t field_at = at + offsetof(struct mshi_disk_section, field);

    if (s->kind < MSHI_SECTION_COLUMN || s->kind > MSHI_SECTION_SUMS) {
        problem(scan, MSHARD_E_CORRUPT, at, "section kind must be from 1 to 5, found %" PRIu32, s->kind);
        return false;
    }
    if (last != (s->kind == MSHI_SECTION_SUMS)) {
        problem(scan, MSHARD_E_CORRUPT, at,
                last ? "the last section must be the sums (5), found kind %" PRIu32
                     : "the sums (kind %" PRIu32 ") must be the last section",
                s->kind);
        return false;
    }
    if (last) {
        if (s->field != MSHI_NO_FIELD)
            problem(scan, MSHARD_E_CORRUPT, field_at, "field of the sums must be 4294967295, found %" PRIu32, s->field);
        return true;
    }
    if (s->field >= h->field_count) {
        problem(scan, MSHARD_E_CORRUPT, field_at, "field of a section must be below %" PRIu32 ", found %" PRIu32,
                h->field_count, s->field);
        return false;
    }
    if ((good >> s->field & 1) == 0)
        return false;
    if (!kind_fits(&h->fields[s->field], s->kind)) {
        problem(scan, MSHARD_E_CORRUPT, at, "section kind %" PRIu32 " does not belong to field \"%s\"", s->kind,
                h->fields[s->field].name);
        return false;
    }
    if ((seen[s->field] >> s->kind & 1) != 0)
        problem(scan, MSHARD_E_CORRUPT, at, "section kind %" PRIu32 " of field \"%s\" stands here twice", s->kind,
                h->fields[s->field].name);
    seen[s->field] |= (uint8_t)(1u << s->kind);
    return true;
}

static void check_sections(struct mshi_header_scan *scan, struct mshi_header *h, uint64_t good)
{
    const uint64_t table = sizeof(struct mshi_disk_header) + (uint64_t)h->field_count * sizeof(struct mshi_disk_field);
    const struct mshi_disk_section *disk = (const struct mshi_disk_section *)(scan->bytes + table);
    uint8_t seen[MSHARD_MAX_FIELDS] = {0};
    uint64_t end = h->header_size, expected = 1;

    for (uint32_t i = 0; i < h->field_count; i++)
        expected += mshi_field_section_count(&h->fields[i]);
    if (h->section_count != expected)
        problem(scan, MSHARD_E_CORRUPT, AT(section_count), "these fields need %" PRIu64 " sections, found %" PRIu32,
                expected, h->section_count);
    for (uint32_t i = 0; i < h->section_count; i++) {
        const uint64_t at = table + (uint64_t)i * sizeof(*disk);
        struct mshi_section *s = &h->sections[i];

        *s = (struct mshi_section){mshi_le32_load(&disk[i].kind), mshi_le32_load(&disk[i].field),
                                   mshi_le64_load(&disk[i].offset), mshi_le64_load(&disk[i].size)};
        if (check_section_kind(scan, h, s, at, i + 1 == h->section_count, good, seen))
            check_section_size(scan, h, s, at);
        check_section_place(scan, h, s, at, &end);
        if (!all_zero(disk[i].reserved, sizeof(disk[i].reserved)))
            problem(scan, MSHARD_E_CORRUPT, at + offsetof(struct mshi_disk_section, reserved),
                    "reserved bytes must be 0");
    }
    for (uint32_t i = 0; i < h->field_count; i++)
        if ((good >> i & 1) != 0 && (uint32_t)__builtin_popcount(seen[i]) != mshi_field_section_count(&h->fields[i]))
            problem(scan, MSHARD_E_CORRUPT, table, "a section of field \"%s\" is missing", h->fields[i].name);
    if (end != h->file_size)
        problem(scan, MSHARD_E_CORRUPT, AT(file_size),
                "the last section must end at file_size, %" PRIu64 ", it ends at %" PRIu64, h->file_size, end);
    const uint64_t tail = table + (uint64_t)h->section_count * sizeof(*disk);
    for (uint64_t i = tail; i < h->header_size; i++)
        if (scan->bytes[i] != 0) {
            problem(scan, MSHARD_E_CORRUPT, i, "bytes after the tables must be 0, found %u", scan->bytes[i]);
            break;
        }
}

mshard_status mshi_header_scan(struct mshi_header_scan *scan, struct mshi_header *header)
{
    memset(header, 0, sizeof(*header));
    scan->status = MSHARD_OK;
    scan->readable = false;
    if (!check_magic(scan) || !check_size(scan, header))
        return scan->status;
    scan->readable = true;
    check_header_sum(scan, header);
    check_members(scan, header);
    check_counts(scan, header);
    const uint64_t good = check_fields(scan, header);
    check_sections(scan, header, good);
    return scan->status;
}
