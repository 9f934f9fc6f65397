/*
 * pack_run.h - the state of one pack that all its parts share: what was asked, what has happened, whom to tell
 *
 * Threads: confined to the thread that called mshard_pack; workers touch only the atomic members.
 */
#ifndef MSHI_INGEST_PACK_RUN_H
#define MSHI_INGEST_PACK_RUN_H

#include "ingest/duplicates.h"
#include "ingest/skipped.h"
#include <mshard/pack.h>
#include <stdatomic.h>

#define MSHI_SHARD_SIZE (UINT64_C(256) << 20) /* bytes of values a shard aims at by default */

/* From here on more bad inputs would not help anybody: the pack stops looking. */
#define MSHI_MAX_FAILURES 10000

struct mshi_pack_run {
    mshard_pack_options options; /* the caller's, defaults filled in */
    const char *const *inputs;
    size_t input_count;
    mshard_pack_result *result;
    mshard_pack_event progress; /* figures of the latest event */
    struct mshi_skipped skipped;
    struct mshi_duplicates duplicates;
    mshard_error first; /* failure; valid when failed */
    bool cancelled;     /* a callback asked to stop */
    bool mismatched;    /* images of different sizes were told */
    atomic_bool failed; /* an input stops the pack; the rest is looked at, nothing is written. Relaxed: a hint */
    uint64_t started_ns, told_ns;
};

/* Each of these calls the event function; CANCELLED when it asks to stop. */
mshard_status mshi_run_phase(struct mshi_pack_run *run, const char *text, mshard_error *err);
mshard_status mshi_run_note(struct mshi_pack_run *run, mshard_error *err, const char *format, ...) MSHI_PRINTF(3, 4);
/* At most ten times a second, unless force. */
mshard_status mshi_run_progress(struct mshi_pack_run *run, bool force, mshard_error *err);

/*
 * Input path cannot become a record. on_error decides: it is listed as skipped, or the pack has failed with it. In
 * the latter case OK is returned too, so that all others are looked at; CANCELLED when there are too many.
 */
mshard_status mshi_run_bad_input(struct mshi_pack_run *run, const char *path, const mshard_error *reason,
                                 mshard_error *err);
/* The same for what on_error=skip does not cover (images of different sizes): the first one counts, and is told. */
mshard_status mshi_run_mismatch(struct mshi_pack_run *run, const char *path, const mshard_error *reason,
                                mshard_error *err);
/* OK, or the first failure. */
mshard_status mshi_run_verdict(const struct mshi_pack_run *run, mshard_error *err);
void mshi_run_clear(struct mshi_pack_run *run);

/* mshard_pack with another file system below the writing: for tests. */
mshard_status mshi_pack_on(const struct mshi_fs *fs, const char *const *inputs, size_t n, const char *out,
                           const mshard_pack_options *options, mshard_pack_result *result, mshard_error *err);

#endif
