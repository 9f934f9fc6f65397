/*
 * spool.h - a temporary file without a name: written once front to back, then read anywhere
 *
 * Lives in the work folder of the run, or the system's folder for temporary files; gone when closed or when the
 * process ends. Threads: one writes; after mshi_spool_finish any number read.
 */
#ifndef MSHI_INGEST_SPOOL_H
#define MSHI_INGEST_SPOOL_H

#include "ingest/source.h"
#include "os/file.h"

struct mshi_spool {
    struct mshi_file file; /* fd -1: not open */
    char *path;            /* its former name, for messages */
    uint8_t *buffer;
    size_t held;
    uint64_t size; /* written so far, held bytes included */
};

mshard_status mshi_spool_open(struct mshi_spool *spool, const struct mshi_listing *listing, mshard_error *err);
mshard_status mshi_spool_add(struct mshi_spool *spool, const void *data, size_t size, mshard_error *err);
mshard_status mshi_spool_finish(struct mshi_spool *spool, mshard_error *err);
void mshi_spool_close(struct mshi_spool *spool); /* one that was never opened but zeroed with fd -1 is fine */
#define MSHI_SPOOL_CLOSED   \
    {                       \
        .file = {.fd = -1 } \
    }

#endif
