/*
 * shard_writer_internal.h - the state of a shard being written, shared by shard_writer.c (values come in) and
 * shard_seal.c (the file is made whole)
 */
#ifndef MSHI_FORMAT_SHARD_WRITER_INTERNAL_H
#define MSHI_FORMAT_SHARD_WRITER_INTERNAL_H

#include "format/block_writer.h"
#include "format/column_buffer.h"
#include "format/header.h"
#include "format/shard_writer.h"

struct mshi_shard_column {
    struct mshi_column_buffer values;     /* column or values; unused for the streamed field */
    struct mshi_column_buffer ends, dims; /* variable fields */
    uint64_t size;                        /* bytes of values so far */
    struct mshi_stats *stats;
};

struct mshi_shard_writer {
    const struct mshi_fs *fs;
    char *temp_path;
    mshard_field *fields;
    uint32_t field_count;
    uint32_t align, header_size, section_count;
    bool sync, add_stats;
    bool broken; /* after IO or NOMEM in the middle: can only be freed */
    bool sealed, published;
    bool created;      /* the file at temp_path is ours */
    uint32_t streamed; /* the field that goes straight to the file */
    uint64_t records, bytes;
    struct mshi_shard_column *columns; /* one a field */
    struct mshi_block_writer file;
};

#endif
