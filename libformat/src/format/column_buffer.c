/*
 * column_buffer.c - bytes held back until the shard is sealed
 *
 * data holds the bytes after the spilled ones. The file is made when data is full for the first time, grows in
 * pieces of limit bytes, and is read back in the same pieces so that one chained sum covers it without a table.
 *
 * Threads: confined.
 */
#include "format/column_buffer.h"

#include "base/hash.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096u

mshard_status mshi_column_buffer_init(struct mshi_column_buffer *b, const struct mshi_fs *fs, const char *stem,
                                      const char *field, const char *suffix, uint64_t limit, mshard_error *err)
{
    const size_t size = strlen(stem) + strlen(field) + strlen(suffix) + 2;

    *b = (struct mshi_column_buffer){.fs = fs, .fd = -1, .limit = limit};
    b->path = malloc(size);
    if (b->path == NULL)
        return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "cannot allocate %zu bytes", size);
    (void)snprintf(b->path, size, "%s.%s%s", stem, field, suffix);
    return MSHARD_OK;
}

static mshard_status spill(struct mshi_column_buffer *b, mshard_error *err)
{
    if (b->fd < 0) {
        b->fd = b->fs->create(b->fs->context, b->path, false);
        if (b->fd < 0)
            return mshi_fail_errno(err, errno, b->path, MSHARD_NO_OFFSET, "cannot create");
    }
    MSHI_TRY(mshi_fs_write_all(b->fs, b->fd, b->data, b->used, b->spilled, b->path, err));
    b->chain = mshi_hash64(b->data, b->used, b->chain);
    b->spilled += b->used;
    b->used = 0;
    return MSHARD_OK;
}

/* Room for at least one more byte. */
static mshard_status make_room(struct mshi_column_buffer *b, uint64_t wanted, mshard_error *err)
{
    uint64_t capacity = b->capacity * 2 > FIRST_CAPACITY ? b->capacity * 2 : FIRST_CAPACITY;
    uint8_t *data;

    if (b->used == b->limit)
        return spill(b, err);
    if (b->used < b->capacity)
        return MSHARD_OK;
    if (wanted < b->limit && capacity < b->used + wanted)
        capacity = b->used + wanted;
    if (wanted >= b->limit || capacity > b->limit)
        capacity = b->limit;
    data = realloc(b->data, capacity);
    if (data == NULL)
        return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "cannot allocate %" PRIu64 " bytes", capacity);
    b->data = data;
    b->capacity = capacity;
    return MSHARD_OK;
}

mshard_status mshi_column_buffer_add(struct mshi_column_buffer *b, const void *data, uint64_t size, mshard_error *err)
{
    const uint8_t *bytes = data;

    while (size > 0) {
        uint64_t n;

        MSHI_TRY(make_room(b, size, err));
        n = b->capacity - b->used < size ? b->capacity - b->used : size;
        memcpy(b->data + b->used, bytes, n);
        b->used += n;
        bytes += n;
        size -= n;
    }
    return MSHARD_OK;
}

/* The tail joins the file, then data is free to read the pieces back into. */
static mshard_status drain_file(struct mshi_column_buffer *b, struct mshi_block_writer *w, mshard_error *err)
{
    uint64_t chain = 0;

    if (b->used > 0)
        MSHI_TRY(spill(b, err));
    for (uint64_t at = 0; at < b->spilled; at += b->limit) {
        const uint64_t n = b->spilled - at < b->limit ? b->spilled - at : b->limit;

        MSHI_TRY(mshi_fs_read_all(b->fs, b->fd, b->data, n, at, b->path, err));
        chain = mshi_hash64(b->data, n, chain);
        MSHI_TRY(mshi_blocks_add(w, b->data, n, err));
    }
    if (chain != b->chain)
        return mshi_fail(err, MSHARD_E_CORRUPT, b->path, MSHARD_NO_OFFSET,
                         "held back values do not read back: sum must be %016" PRIx64 ", found %016" PRIx64, b->chain,
                         chain);
    return MSHARD_OK;
}

mshard_status mshi_column_buffer_drain(struct mshi_column_buffer *b, struct mshi_block_writer *w, mshard_error *err)
{
    return b->fd >= 0 ? drain_file(b, w, err) : mshi_blocks_add(w, b->data, b->used, err);
}

uint64_t mshi_column_buffer_size(const struct mshi_column_buffer *b)
{
    return b->spilled + b->used;
}

void mshi_column_buffer_clear(struct mshi_column_buffer *b)
{
    if (b->fs != NULL && b->fd >= 0) {
        (void)b->fs->close(b->fs->context, b->fd);
        (void)b->fs->unlink(b->fs->context, b->path);
    }
    free(b->path);
    free(b->data);
    *b = (struct mshi_column_buffer){.fd = -1};
}
