/* gzip.h - single files under gzip: look at their beginning, or unpack them into a spool */
#ifndef MSHI_INGEST_GZIP_H
#define MSHI_INGEST_GZIP_H

#include "ingest/spool.h"

mshard_status mshi_gzip_peek(const struct mshi_file *file, const char *path, void *head, size_t size, size_t *got,
                             mshard_error *err);
/* All of it, checked against the CRC at its end; LIMIT above the listing's max_member. spool is opened here. */
mshard_status mshi_gzip_inflate(const struct mshi_file *file, const char *path, const struct mshi_listing *listing,
                                struct mshi_spool *spool, mshard_error *err);

#endif
