/*
 * columns.h - a source made of fixed-size records that lie one after another in files: npy, npz, idx, raw
 *
 * A column is a field; its records come from one or more segments, each a run of equal records in a file or in memory.
 * Reading is one pread a segment and run. Threads: shared once open.
 */
#ifndef MSHI_INGEST_COLUMNS_H
#define MSHI_INGEST_COLUMNS_H

#include "ingest/source_kinds.h"
#include "ingest/spool.h"

struct mshi_segment {
    char *path;            /* for messages, and to open again when reopen */
    struct mshi_file file; /* fd -1: values in memory, or reopen */
    bool reopen;           /* too many files to keep open: opened for each run */
    bool shared;           /* the descriptor belongs to another segment */
    bool fortran;
    uint64_t base;         /* of the first record in the file */
    uint64_t first, count; /* records of the column it holds */
    const void *memory;    /* fortran order: the file's map; or values in memory */
    uint64_t map_size;     /* to unmap; 0: memory is malloc'd */
};

struct mshi_column {
    struct mshi_segment *segments;
    uint64_t segment_count, segment_capacity;
    uint64_t records;
    uint64_t record_size; /* bytes */
    uint64_t record_elements;
    size_t element_size;
    bool swap;
    mshard_dtype label_dtype; /* of a LABEL field in the file: widened to int64 when read; 0: other kinds */
};

struct mshi_columns {
    struct mshi_source base;
    struct mshi_column columns[MSHARD_MAX_FIELDS]; /* one a field */
};

/* A new source of this kind, without fields. */
mshard_status mshi_columns_new(const char *kind, struct mshi_columns **columns, mshard_error *err);
/* A new field; its column has no segments yet. */
mshard_status mshi_columns_add(struct mshi_columns *columns, const char *name, mshard_dtype dtype, bool swap,
                               mshard_content content, uint32_t ndim, const uint64_t *shape, mshard_error *err);
/* The last field's next segment. Its path, file and memory belong to the column from now on, also on failure. */
mshard_status mshi_columns_segment(struct mshi_columns *columns, const struct mshi_segment *segment, mshard_error *err);
/* The label field gets kind LABEL, as fields with class names have. */
void mshi_columns_widen_label(struct mshi_columns *columns, uint32_t field);
/* n records of one field from i on, into payload->data[0]. */
mshard_status mshi_columns_read_field(const struct mshi_columns *columns, uint32_t field, uint64_t i, uint64_t n,
                                      struct mshi_payload *payload, mshard_error *err);
/* --labels: an array of labels, or class names for the label field there is. Then check counts and settle. */
mshard_status mshi_columns_finish(struct mshi_columns *columns, const struct mshi_listing *listing, mshard_error *err);

#endif
