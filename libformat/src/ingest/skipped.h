/* skipped.h - the inputs that were left out: skipped.jsonl, one JSON object a line, in input order */
#ifndef MSHI_INGEST_SKIPPED_H
#define MSHI_INGEST_SKIPPED_H

#include "base/buf.h"
#include "os/file.h"

#define MSHI_SKIPPED_NAME "skipped.jsonl"

struct mshi_skipped {
    uint64_t count;
    struct mshi_buf lines;
};

/*
 * The part of path that does not depend on where the inputs lie: below the input folder it is in, or with the
 * input file's own name. Points into path.
 */
const char *mshi_skipped_relative(const char *const *inputs, size_t n, const char *path);

/* {"path": ..., "status": ..., "reason": ...} and "offset" where it is known. */
void mshi_skipped_add(struct mshi_skipped *skipped, const char *path, const mshard_error *reason);
/* Write it into folder; nothing when nothing was left out. */
mshard_status mshi_skipped_write(const struct mshi_skipped *skipped, const struct mshi_fs *fs, const char *folder,
                                 bool sync, mshard_error *err);
void mshi_skipped_clear(struct mshi_skipped *skipped);

#endif
