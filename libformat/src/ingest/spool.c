/*
 * spool.c - unlinked temporary files, written in pieces of 1 MiB
 */
#include "ingest/spool.h"

#include "base/alloc.h"
#include "os/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE (UINT32_C(1) << 20)

mshard_status mshi_spool_open(struct mshi_spool *spool, const struct mshi_listing *listing, mshard_error *err)
{
    const char *folder = listing->work_folder ? listing->work_folder : P_tmpdir;
    const struct mshi_fs *fs = &mshi_fs_posix;
    char name[64];

    *spool = (struct mshi_spool)MSHI_SPOOL_CLOSED;
    MSHI_TRY(mshi_alloc(PIECE, 1, &spool->buffer, err));
    for (unsigned n = 0; n < 10000; n++) {
        snprintf(name, sizeof(name), "mshard-spool-%" PRId64 "-%u", mshi_process_id(), n);
        free(spool->path);
        spool->path = NULL;
        MSHI_TRY(mshi_path_join(folder, name, &spool->path, err));
        spool->file.fd = fs->create(fs->context, spool->path, true);
        if (spool->file.fd >= 0 || errno != EEXIST)
            break;
    }
    if (spool->file.fd < 0)
        return mshi_fail_errno(err, errno, spool->path, MSHARD_NO_OFFSET, "cannot create a temporary file");
    if (fs->unlink(fs->context, spool->path) < 0)
        return mshi_fail_errno(err, errno, spool->path, MSHARD_NO_OFFSET, "cannot unlink the temporary file");
    return MSHARD_OK;
}

static mshard_status flush(struct mshi_spool *spool, mshard_error *err)
{
    const uint64_t at = spool->size - spool->held;

    MSHI_TRY(mshi_fs_write_all(&mshi_fs_posix, spool->file.fd, spool->buffer, spool->held, at, spool->path, err));
    spool->held = 0;
    return MSHARD_OK;
}

mshard_status mshi_spool_add(struct mshi_spool *spool, const void *data, size_t size, mshard_error *err)
{
    const uint8_t *from = data;

    while (size) {
        const size_t room = PIECE - spool->held;
        const size_t part = size < room ? size : room;

        memcpy(spool->buffer + spool->held, from, part);
        spool->held += part;
        spool->size += part;
        from += part;
        size -= part;
        if (spool->held == PIECE)
            MSHI_TRY(flush(spool, err));
    }
    return MSHARD_OK;
}

mshard_status mshi_spool_finish(struct mshi_spool *spool, mshard_error *err)
{
    MSHI_TRY(flush(spool, err));
    free(spool->buffer);
    spool->buffer = NULL;
    spool->file.size = spool->size;
    return MSHARD_OK;
}

void mshi_spool_close(struct mshi_spool *spool)
{
    mshi_file_close(&spool->file);
    free(spool->path);
    free(spool->buffer);
    *spool = (struct mshi_spool)MSHI_SPOOL_CLOSED;
}
