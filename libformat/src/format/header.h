/*
 * header.h - shard header: parse with every rule of spec/shard.md, emit
 */
#ifndef MSHI_FORMAT_HEADER_H
#define MSHI_FORMAT_HEADER_H

#include "base/fail.h"
#include "format/layout.h"
#include <stdbool.h>

#define MSHI_MAX_SECTIONS (3 * MSHARD_MAX_FIELDS + 1)

struct mshi_section {
    uint32_t kind, field;
    uint64_t offset, size;
};

struct mshi_header {
    uint16_t major, minor;
    uint32_t header_size, align;
    uint64_t incompat, compat;
    uint64_t file_size, records;
    uint32_t field_count, section_count;
    mshard_field fields[MSHARD_MAX_FIELDS]; /* names point into names below: do not copy the struct by value */
    char names[MSHARD_MAX_FIELDS][MSHARD_MAX_NAME + 1];
    struct mshi_section sections[MSHI_MAX_SECTIONS];
    uint64_t sums_root, header_sum;
};

/*
 * bytes: the first size bytes of a file of file_size bytes. Returns TRUNCATED with err->offset = header_size needed
 * when size is too small for the header but the file is not (the caller reads more: see mshi_header_size_stated).
 * INCOMPLETE-like state (zero magic) is FORMAT with "not sealed". check_sum false skips header_sum only.
 */
mshard_status mshi_header_parse(const void *bytes, size_t size, uint64_t file_size, const char *path, bool check_sum,
                                struct mshi_header *header, mshard_error *err);

/*
 * The same as a walk that does not stop at the first problem: each one is told to problem() with the file offset of the
 * member concerned, in check order; the first also goes to err. What parse accepts is exactly what has no problem here.
 * The header is filled with what could be read; counts are cut to the limits and to the bytes that are there.
 */
struct mshi_header_scan {
    const uint8_t *bytes;
    size_t size;
    uint64_t file_size;
    const char *path;
    bool check_sum;
    void (*problem)(void *context, uint64_t offset, const char *text); /* may be NULL */
    void *context;
    mshard_error *err;
    mshard_status status; /* of the first problem */
    bool readable;        /* the tables could be reached */
};
mshard_status mshi_header_scan(struct mshi_header_scan *scan, struct mshi_header *header);
/* header_size as the first 16 bytes state it, 0 when it breaks its rule. */
uint32_t mshi_header_size_stated(const void *bytes);
/* Smallest legal header_size for these tables. */
uint32_t mshi_header_size_for(uint32_t field_count, uint32_t section_count);
/* Fill header->header_size bytes at out; computes and stores header->header_sum. Sections must be in file order. */
void mshi_header_emit(struct mshi_header *header, void *out);
/* Bytes of the values of a fixed field, or of the fixed-size sections of a variable one; false: more than 2^64. */
bool mshi_section_size(const struct mshi_header *header, uint32_t kind, const mshard_field *field, uint64_t *size);
/* Blocks of 64 KiB under the sums. */
uint64_t mshi_header_block_count(const struct mshi_header *header);
/* Section of a field; NULL when absent. */
const struct mshi_section *mshi_header_section(const struct mshi_header *header, uint32_t field, uint32_t kind);

#endif
