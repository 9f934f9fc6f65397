/*
 * layout.h - the bytes of a shard, and nothing else (spec/shard.md)
 *
 *   [header: header_size bytes] [sections, each at a multiple of align, gaps zero] [sums]
 *
 * Offsets asserted at the end. No functions.
 */
#ifndef MSHI_FORMAT_LAYOUT_H
#define MSHI_FORMAT_LAYOUT_H

#include "base/bytes.h"
#include <assert.h>
#include <mshard/types.h>

#define MSHI_MAGIC "\x89MSH\r\n\x1a\n" /* 8 bytes; all zero until the shard is sealed */
#define MSHI_MAGIC_SIZE 8
#define MSHI_MAJOR 1
#define MSHI_MINOR 0

#define MSHI_HEADER_UNIT 4096u      /* header_size is a multiple of it: the smallest that holds the tables */
#define MSHI_HEADER_MAX 65536u
#define MSHI_ALIGN_MIN 4096u
#define MSHI_ALIGN_MAX (1u << 20)
#define MSHI_BLOCK_SIZE 65536u      /* bytes under one sum */
#define MSHI_CHECKSUM_XXH3_64 1u

#define MSHI_INCOMPAT_VARIABLE (UINT64_C(1) << 0) /* some field has an unknown dimension */
#define MSHI_INCOMPAT_SCALED (UINT64_C(1) << 1)   /* some field has scale and offset */
#define MSHI_INCOMPAT_KNOWN (MSHI_INCOMPAT_VARIABLE | MSHI_INCOMPAT_SCALED)
#define MSHI_COMPAT_KEYS (UINT64_C(1) << 0)       /* auxiliary field "__key__" holds each record's key */
#define MSHI_COMPAT_KNOWN MSHI_COMPAT_KEYS

#define MSHI_KEY_FIELD "__key__" /* name of the auxiliary field: uint8 [unknown], content text */

struct mshi_disk_header {
    uint8_t magic[8];
    mshi_le16 major, minor;
    mshi_le32 header_size;
    mshi_le64 incompat, compat;
    mshi_le64 file_size;
    mshi_le64 records;
    mshi_le32 align;
    mshi_le32 block_size;      /* 65536 */
    mshi_le32 checksum;        /* 1: XXH3-64 */
    mshi_le32 field_count;
    mshi_le32 section_count;   /* sums included */
    mshi_le32 fields_offset;   /* 128 */
    mshi_le32 sections_offset; /* fields_offset + 160 * field_count */
    uint8_t reserved[36];      /* zero */
    mshi_le64 sums_root;       /* XXH3-64, seed 0, of the sums section */
    mshi_le64 header_sum;      /* XXH3-64, seed 0, of header_size bytes with this field zero */
};

struct mshi_disk_field {
    uint8_t name[64]; /* NUL-padded */
    uint8_t dtype, content, ndim, reserved0;
    mshi_le32 flags; /* MSHARD_FIELD_* */
    mshi_le64 shape[8]; /* 2^64-1: unknown; beyond ndim: zero */
    mshi_le64 scale, offset; /* IEEE double bits; zero without MSHARD_FIELD_SCALED */
    uint8_t reserved1[8];
};

enum mshi_section_kind {
    MSHI_SECTION_COLUMN = 1, /* fixed field: [records, shape...] */
    MSHI_SECTION_VALUES = 2, /* variable field: values back to back, each at a multiple of the dtype's size by itself */
    MSHI_SECTION_ENDS = 3,   /* variable field: u64 [records], end of each value in VALUES, in bytes */
    MSHI_SECTION_DIMS = 4,   /* variable field with ndim > 1: u32 [records, ndim], the whole shape of each value */
    MSHI_SECTION_SUMS = 5,   /* u64 a block; last section; field = 2^32-1; offset a multiple of align too */
};
#define MSHI_NO_FIELD UINT32_MAX

struct mshi_disk_section {
    mshi_le32 kind, field;
    mshi_le64 offset, size;
    uint8_t reserved[8];
};

/*
 * Block b covers file bytes [header_size + b * 65536, + 65536), cut at the sums section's offset; its
 * sum is XXH3-64 with seed b. Sections stand in file order in the table; every column, values, ends and
 * dims section that a field needs is there exactly once, also with 0 bytes; file_size is the end of sums.
 */

_Static_assert(sizeof(struct mshi_disk_header) == 128 && _Alignof(struct mshi_disk_header) == 1, "header");
_Static_assert(offsetof(struct mshi_disk_header, header_size) == 12, "header_size");
_Static_assert(offsetof(struct mshi_disk_header, incompat) == 16, "incompat");
_Static_assert(offsetof(struct mshi_disk_header, compat) == 24, "compat");
_Static_assert(offsetof(struct mshi_disk_header, file_size) == 32, "file_size");
_Static_assert(offsetof(struct mshi_disk_header, records) == 40, "records");
_Static_assert(offsetof(struct mshi_disk_header, align) == 48, "align");
_Static_assert(offsetof(struct mshi_disk_header, block_size) == 52, "block_size");
_Static_assert(offsetof(struct mshi_disk_header, checksum) == 56, "checksum");
_Static_assert(offsetof(struct mshi_disk_header, field_count) == 60, "field_count");
_Static_assert(offsetof(struct mshi_disk_header, section_count) == 64, "section_count");
_Static_assert(offsetof(struct mshi_disk_header, fields_offset) == 68, "fields_offset");
_Static_assert(offsetof(struct mshi_disk_header, sections_offset) == 72, "sections_offset");
_Static_assert(offsetof(struct mshi_disk_header, reserved) == 76, "reserved");
_Static_assert(offsetof(struct mshi_disk_header, sums_root) == 112, "sums_root");
_Static_assert(offsetof(struct mshi_disk_header, header_sum) == 120, "header_sum");
_Static_assert(sizeof(struct mshi_disk_field) == 160 && _Alignof(struct mshi_disk_field) == 1, "field");
_Static_assert(offsetof(struct mshi_disk_field, dtype) == 64, "dtype");
_Static_assert(offsetof(struct mshi_disk_field, flags) == 68, "flags");
_Static_assert(offsetof(struct mshi_disk_field, shape) == 72, "shape");
_Static_assert(offsetof(struct mshi_disk_field, scale) == 136, "scale");
_Static_assert(offsetof(struct mshi_disk_field, offset) == 144, "offset");
_Static_assert(sizeof(struct mshi_disk_section) == 32 && _Alignof(struct mshi_disk_section) == 1, "section");
_Static_assert(offsetof(struct mshi_disk_section, offset) == 8, "section offset");
_Static_assert(offsetof(struct mshi_disk_section, size) == 16, "section size");

#endif
