/*
 * block_writer.h - a file written from front to back, summed by 64 KiB blocks on the way
 *
 * Knows blocks and positions, nothing of fields. Block 0 begins at start (the header's size); what is before
 * start stays zero until the owner writes it. Sums and bytes do not depend on how the data came in.
 */
#ifndef MSHI_FORMAT_BLOCK_WRITER_H
#define MSHI_FORMAT_BLOCK_WRITER_H

#include "base/bytes.h"
#include "os/file.h"

#define MSHI_BLOCKS_BUFFER (UINT64_C(4) << 20) /* collects small pieces; a multiple of MSHI_BLOCK_SIZE */

struct mshi_block_writer {
    const struct mshi_fs *fs;
    const char *path;         /* the owner's */
    int fd;                   /* -1: not open */
    bool drop;                /* leave the page cache behind the writing */
    uint8_t *buffer;          /* MSHI_BLOCKS_BUFFER bytes */
    size_t used, summed;      /* bytes in the buffer, and those among them that are in sums */
    uint64_t start, position; /* position: file offset of the next byte that comes in */
    uint64_t behind, dropped; /* write-out was asked for up to behind; the page cache holds nothing before dropped */
    mshi_le64 *sums;
    uint64_t sum_count, sum_capacity;
};

/* Make (or truncate) path. The struct is valid for mshi_blocks_close afterwards in every case. */
mshard_status mshi_blocks_open(struct mshi_block_writer *w, const struct mshi_fs *fs, const char *path, uint64_t start,
                               bool drop, mshard_error *err);
mshard_status mshi_blocks_add(struct mshi_block_writer *w, const void *data, uint64_t size, mshard_error *err);
/* Zeros up to the next multiple of align. */
mshard_status mshi_blocks_pad(struct mshi_block_writer *w, uint64_t align, mshard_error *err);
/* Sum the last, shorter block and write all out; nothing can be added after. */
mshard_status mshi_blocks_finish(struct mshi_block_writer *w, mshard_error *err);
/* Re-read [start, position) from the file and compare with the sums. CORRUPT names the first block that differs. */
mshard_status mshi_blocks_check(struct mshi_block_writer *w, mshard_error *err);
/* Let the page cache go of the whole file when drop was asked for. */
void mshi_blocks_drop(struct mshi_block_writer *w, uint64_t file_size);
void mshi_blocks_close(struct mshi_block_writer *w); /* closes and frees; again does nothing */

#endif
