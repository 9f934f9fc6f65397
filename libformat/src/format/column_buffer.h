/*
 * column_buffer.h - bytes held back until the shard is sealed: in memory up to a limit, then in a file beside it
 */
#ifndef MSHI_FORMAT_COLUMN_BUFFER_H
#define MSHI_FORMAT_COLUMN_BUFFER_H

#include "format/block_writer.h"

struct mshi_column_buffer {
    const struct mshi_fs *fs;
    char *path; /* of the file */
    int fd;     /* -1: nothing was spilled */
    uint8_t *data;
    uint64_t used, capacity, limit; /* of data */
    uint64_t spilled;               /* bytes in the file, a multiple of limit until the drain */
    uint64_t
        chain; /* XXH3-64 over the pieces in the file, each seeded by the one before: what comes back is what went in */
};

/* The file will be "<stem>.<field><suffix>". The struct is valid for clear in every case; zeroed is valid too. */
mshard_status mshi_column_buffer_init(struct mshi_column_buffer *b, const struct mshi_fs *fs, const char *stem,
                                      const char *field, const char *suffix, uint64_t limit, mshard_error *err);
mshard_status mshi_column_buffer_add(struct mshi_column_buffer *b, const void *data, uint64_t size, mshard_error *err);
/* Append everything to w. Nothing can be added after. */
mshard_status mshi_column_buffer_drain(struct mshi_column_buffer *b, struct mshi_block_writer *w, mshard_error *err);
uint64_t mshi_column_buffer_size(const struct mshi_column_buffer *b);
/* Removes the file and frees; again does nothing. */
void mshi_column_buffer_clear(struct mshi_column_buffer *b);

#endif
