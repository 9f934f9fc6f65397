/* pack_run.c - the state of one pack that all its parts share; see pack_run.h */
#include "ingest/pack_run.h"

#include "os/clock.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TELL_NS UINT64_C(100000000)

static mshard_status cancelled(mshard_error *err)
{
    return mshi_fail(err, MSHARD_E_CANCELLED, NULL, MSHARD_NO_OFFSET, "packing was stopped on request");
}

static mshard_status tell(struct mshi_pack_run *run, const mshard_pack_event *event, mshard_error *err)
{
    if (run->cancelled)
        return cancelled(err);
    if (run->options.event == NULL || run->options.event(run->options.context, event) == 0)
        return MSHARD_OK;
    run->cancelled = true;
    return cancelled(err);
}

mshard_status mshi_run_phase(struct mshi_pack_run *run, const char *text, mshard_error *err)
{
    mshard_pack_event event = run->progress;

    event.kind = MSHARD_PACK_PHASE;
    event.text = text;
    return tell(run, &event, err);
}

mshard_status mshi_run_note(struct mshi_pack_run *run, mshard_error *err, const char *format, ...)
{
    char text[512];
    mshard_pack_event event = run->progress;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    event.kind = MSHARD_PACK_NOTE;
    event.text = text;
    return tell(run, &event, err);
}

mshard_status mshi_run_progress(struct mshi_pack_run *run, bool force, mshard_error *err)
{
    const uint64_t now = mshi_clock_ns();
    mshard_pack_event event = run->progress;

    if (!force && now - run->told_ns < TELL_NS)
        return MSHARD_OK;
    run->told_ns = now;
    event.kind = MSHARD_PACK_PROGRESS;
    return tell(run, &event, err);
}

static void set_first(struct mshi_pack_run *run, const char *path, const mshard_error *reason)
{
    if (atomic_load_explicit(&run->failed, memory_order_relaxed))
        return;
    mshi_fail(&run->first, reason->code, path, reason->offset, "%s", reason->message);
    run->first.sys_errno = reason->sys_errno;
    atomic_store_explicit(&run->failed, true, memory_order_relaxed);
}

static mshard_status tell_bad(struct mshi_pack_run *run, const char *path, const mshard_error *reason, bool skip,
                              mshard_error *err)
{
    mshard_pack_event event = run->progress;

    event.kind = skip ? MSHARD_PACK_SKIPPED : MSHARD_PACK_FAILED;
    event.path = path;
    event.error = reason;
    return tell(run, &event, err);
}

mshard_status mshi_run_bad_input(struct mshi_pack_run *run, const char *path, const mshard_error *reason,
                                 mshard_error *err)
{
    const bool skip = run->options.on_error == MSHARD_ON_ERROR_SKIP;

    if (skip) {
        mshi_skipped_add(&run->skipped, mshi_skipped_relative(run->inputs, run->input_count, path), reason);
        run->progress.skipped = run->skipped.count;
        run->result->skipped = run->skipped.count;
    } else {
        set_first(run, path, reason);
        run->result->failed++;
        if (run->result->failed > MSHI_MAX_FAILURES) {
            *err = run->first;
            return run->first.code;
        }
    }
    return tell_bad(run, path, reason, skip, err);
}

mshard_status mshi_run_mismatch(struct mshi_pack_run *run, const char *path, const mshard_error *reason,
                                mshard_error *err)
{
    run->result->failed++;
    if (run->mismatched)
        return MSHARD_OK;
    run->mismatched = true;
    set_first(run, path, reason);
    return tell_bad(run, path, reason, false, err);
}

mshard_status mshi_run_verdict(const struct mshi_pack_run *run, mshard_error *err)
{
    if (!atomic_load_explicit(&run->failed, memory_order_relaxed))
        return MSHARD_OK;
    if (err != NULL)
        *err = run->first;
    return run->first.code;
}

void mshi_run_clear(struct mshi_pack_run *run)
{
    mshi_skipped_clear(&run->skipped);
    mshi_duplicates_clear(&run->duplicates);
}
