/*
 * shard_reader.h - one sealed shard, mapped and checked: values by record number inside it
 *
 * After mshi_shard_open every column, ends, dims and sums pointer lies inside the map with room for all records.
 * What the header does not bound (ends, dims) is checked at each access. Threads: shared. No descriptor is held.
 */
#ifndef MSHI_FORMAT_SHARD_READER_H
#define MSHI_FORMAT_SHARD_READER_H

#include "format/header.h"
#include "os/file.h"
#include <mshard/store.h>
#include <stdatomic.h>

struct mshi_column {
    const uint8_t *data;   /* column or values */
    uint64_t size;         /* bytes of it */
    const mshi_le64 *ends; /* variable fields */
    const mshi_le32 *dims; /* variable fields with more than one dimension */
};

struct mshi_shard {
    char *path; /* as errors show it */
    const uint8_t *map;
    uint64_t size, records;
    uint64_t data_begin, data_end; /* file offsets of what the blocks cover: header_size, offset of the sums */
    const mshi_le64 *sums;
    _Atomic uint64_t *touched;    /* CHECK_TOUCH: a bit for each block found good; NULL: blocks are not checked */
    struct mshi_column columns[]; /* one a field */
};

/* What a shard must be to belong to a data set; from dataset.json. */
struct mshi_shard_expect {
    const mshard_field *fields; /* NULL: a single shard, nothing is expected */
    uint32_t field_count;
    uint64_t records, size, header_sum;
};

/*
 * Read the header of an open file into *header, with every rule, then compare it with expect (may be NULL). It is read
 * once with pread and judged as a copy.
 */
mshard_status mshi_shard_read_header(const struct mshi_file *file, const char *path, bool check_sum,
                                     const struct mshi_shard_expect *expect, struct mshi_header *header,
                                     mshard_error *err);
/* The comparison alone. */
mshard_status mshi_shard_compare(const struct mshi_header *header, const char *path, bool check_sum,
                                 const struct mshi_shard_expect *expect, mshard_error *err);
/* Fields of a single shard, for a caller that has no dataset.json. */
struct mshi_shard_schema {
    mshard_field *fields; /* one block, names behind; free() */
    uint32_t field_count;
    uint64_t header_sum;
};
/*
 * Open the file at where, check as check says, map, close. path: as errors show it. schema may be NULL; filled on OK.
 */
mshard_status mshi_shard_open(const char *where, const char *path, mshard_check check,
                              const struct mshi_shard_expect *expect, struct mshi_shard **shard,
                              struct mshi_shard_schema *schema, mshard_error *err);
void mshi_shard_free(struct mshi_shard *shard); /* unmaps; NULL does nothing */

/* Value i (below records) of a variable field: bounds and shape checked, and with CHECK_TOUCH the blocks under the index.
 * shape may be NULL. */
mshard_status mshi_shard_variable(const struct mshi_shard *shard, uint32_t f, const mshard_field *field, uint64_t i,
                                  mshard_view *view, uint64_t *shape, mshard_error *err);
/* CHECK_TOUCH: check the blocks under size bytes at data (inside the map), each once while good. */
mshard_status mshi_shard_touch(const struct mshi_shard *shard, const void *data, uint64_t size, mshard_error *err);

#endif
