/*
 * pack.c - raw files into a data set: listing, plan, units, shards, commit
 *
 * The order of things: the output is claimed, the inputs are listed, the plan is fixed, units are filled and
 * appended in order, the data set becomes visible. Whatever fails, nothing is left at the output. Bad inputs do not
 * end the search for others.
 */
#include "ingest/pack_commit.h"
#include "ingest/pack_memory.h"
#include "ingest/pipeline.h"
#include "ingest/plan_json.h"

#include "base/options.h"
#include "format/layout.h"
#include "os/clock.h"
#include "os/real_path.h"
#include "os/thread.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIXELS (UINT64_C(1) << 28)
#define MAX_MEMBER (UINT64_C(4) << 30)
#define MAX_JOBS 1024

struct packing {
    struct mshi_pack_run *run;
    struct mshi_plan *plan;
    struct mshi_shard_stage stage;
    struct mshi_memory_gate gate;
    uint64_t fixed_memory;
};

/* ---- options ---- */

static mshard_status load_options(struct mshi_pack_run *run, const mshard_pack_options *given, mshard_error *err)
{
    mshard_pack_options *o = &run->options;

    MSHI_TRY(mshi_options_load(o, sizeof *o, given, err));
    if (o->on_error != MSHARD_ON_ERROR_STOP && o->on_error != MSHARD_ON_ERROR_SKIP)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "on_error is 0 or 1, found %d",
                         (int)o->on_error);
    if (o->on_overflow < MSHARD_ON_OVERFLOW_ERROR || o->on_overflow > MSHARD_ON_OVERFLOW_INF)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "on_overflow is 0 to 2, found %d",
                         (int)o->on_overflow);
    if (o->align != 0 && (o->align < MSHI_ALIGN_MIN || o->align > MSHI_ALIGN_MAX || (o->align & (o->align - 1)) != 0))
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "align must be a power of two from %u to %u, found %" PRIu32, MSHI_ALIGN_MIN, MSHI_ALIGN_MAX,
                         o->align);
    if (o->shards != 0 && o->shard_size != 0)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "give a number of shards or their size, not both");
    if (o->shard_size == 0)
        o->shard_size = MSHI_SHARD_SIZE;
    if (o->jobs == 0)
        o->jobs = mshi_cpu_count();
    if (o->jobs > MAX_JOBS)
        o->jobs = MAX_JOBS;
    if (o->max_pixels == 0)
        o->max_pixels = MAX_PIXELS;
    if (o->max_member == 0)
        o->max_member = MAX_MEMBER;
    return MSHARD_OK;
}

/* ---- listing ---- */

struct listing_context {
    struct mshi_pack_run *run;
    uint64_t problems;
    mshard_status status; /* of telling */
    mshard_error error;
};

static void on_problem(void *context, const char *path, const mshard_error *error)
{
    struct listing_context *c = context;

    c->problems++;
    if (c->status == MSHARD_OK)
        c->status = mshi_run_bad_input(c->run, path, error, &c->error);
}

static void on_note(void *context, const char *text)
{
    struct listing_context *c = context;

    if (c->status == MSHARD_OK)
        c->status = mshi_run_note(c->run, &c->error, "%s", text);
}

static mshard_status list(struct mshi_pack_run *run, const char *work_folder, struct mshi_source **source,
                          mshard_error *err)
{
    struct listing_context context = {.run = run};
    const struct mshi_listing listing = {.options = &run->options,
                                         .work_folder = work_folder,
                                         .problem = on_problem,
                                         .note = on_note,
                                         .context = &context};
    mshard_status status;

    MSHI_TRY(mshi_run_phase(run, "listing", err));
    status = mshi_source_open(run->inputs, run->input_count, &listing, source, err);
    if (context.status != MSHARD_OK) {
        *err = context.error;
        return context.status;
    }
    if (status != MSHARD_OK) { /* what was wrong with an input says more than that nothing is left */
        MSHI_TRY(mshi_run_verdict(run, err));
        return status;
    }
    run->result->inputs = (*source)->count + context.problems;
    run->result->ignored = (*source)->ignored;
    run->progress.total = (*source)->count;
    return MSHARD_OK;
}

/* ---- packing ---- */

static mshard_status tell_failures(struct packing *p, const struct mshi_unit *unit, mshard_error *err)
{
    for (uint64_t i = 0; i < unit->failure_count; i++) {
        const struct mshi_unit_failure *failure = &unit->failures[i];
        struct mshi_item item = {.name = "", .offset = MSHARD_NO_OFFSET};
        mshard_error reason = failure->error;

        p->plan->source->ops->item(p->plan->source, failure->item, &item);
        if (reason.offset == MSHARD_NO_OFFSET) /* where it begins, in an archive or array */
            reason.offset = item.offset;
        mshi_fail(&reason, reason.code, item.name, reason.offset, "%s", failure->error.message);
        reason.sys_errno = failure->error.sys_errno;
        if (item.key == NULL) /* many records stand in one file */
            mshi_error_context(&reason, "record %" PRIu64, failure->item);
        if (failure->mismatch)
            MSHI_TRY(mshi_run_mismatch(p->run, item.name, &reason, err));
        else
            MSHI_TRY(mshi_run_bad_input(p->run, item.name, &reason, err));
    }
    return MSHARD_OK;
}

static void add_figures(struct packing *p, const struct mshi_unit *unit)
{
    mshard_pack_result *r = p->run->result;
    mshard_pack_event *progress = &p->run->progress;

    r->bytes_in += unit->bytes_in;
    r->overflowed += unit->report.overflowed;
    if (unit->report.largest_error > r->largest_error)
        r->largest_error = unit->report.largest_error;
    r->memory_limit = p->fixed_memory + (p->plan->decodes ? mshi_memory_gate_limit(&p->gate) : 0);
    progress->done = unit->end;
    progress->bytes_in = r->bytes_in;
    progress->bytes_out = mshi_shard_stage_bytes(&p->stage);
    progress->shards_done = p->stage.shards_done;
    progress->memory_limit = r->memory_limit;
}

static mshard_status take(void *context, struct mshi_unit *unit, mshard_error *err)
{
    struct packing *p = context;

    MSHI_TRY(tell_failures(p, unit, err));
    if (!atomic_load_explicit(&p->run->failed, memory_order_relaxed)) {
        if (unit->hashes != NULL)
            MSHI_TRY(mshi_duplicates_add(&p->run->duplicates, unit->hashes, unit->records, err));
        MSHI_TRY(mshi_shard_stage_add(&p->stage, unit, err));
    }
    add_figures(p, unit);
    return mshi_run_progress(p->run, false, err);
}

static mshard_status check_records(const struct packing *p, mshard_error *err)
{
    const struct mshi_plan *plan = p->plan;

    MSHI_TRY(mshi_run_verdict(p->run, err));
    if (p->stage.records == 0 && !p->run->options.allow_empty)
        return mshi_fail(err, MSHARD_E_FORMAT, p->run->inputs[0], MSHARD_NO_OFFSET,
                         "no samples: %" PRIu64 " inputs, %" PRIu64
                         " left out (--allow-empty makes a data set without records)",
                         p->run->result->inputs, p->run->result->skipped);
    if (plan->shapeless && p->stage.records > 0) {
        *err = plan->shapeless_reason;
        mshi_error_context(err,
                           "none of the first images could be read, so that the size is not known "
                           "(--resize WxH, --crop or --variable would do without): %s",
                           plan->shapeless_reason.path);
        return err->code;
    }
    return MSHARD_OK;
}

static mshard_status pack_units(struct packing *p, struct mshi_publish *publish, mshard_error *err)
{
    const uint32_t jobs = p->run->options.jobs;
    const struct mshi_pipeline_options options = {
        .jobs = jobs, .units = mshi_pipeline_units(p->plan, jobs), .gate = &p->gate, .run = p->run};
    mshard_pack_result *r = p->run->result;

    MSHI_TRY(mshi_run_phase(p->run, "packing", err));
    MSHI_TRY(mshi_run_progress(p->run, true, err));
    MSHI_TRY(mshi_pipeline_run(p->plan, &options, take, p, err));
    if (!atomic_load_explicit(&p->run->failed, memory_order_relaxed)) {
        MSHI_TRY(mshi_run_phase(p->run, "checking", err));
        MSHI_TRY(mshi_shard_stage_finish(&p->stage, err));
    }
    MSHI_TRY(check_records(p, err));
    r->records = p->stage.records;
    r->shards = p->stage.shards_done;
    r->verify_ns = p->stage.check_ns;
    r->duplicates = mshi_duplicates_count(&p->run->duplicates);
    for (uint64_t i = 0; i < p->stage.shards_done; i++)
        r->bytes_out += p->stage.shards[i].size;
    p->run->progress.shards_done = p->stage.shards_done;
    p->run->progress.bytes_out = r->bytes_out;
    MSHI_TRY(mshi_run_progress(p->run, true, err));
    MSHI_TRY(mshi_run_phase(p->run, "publishing", err));
    return mshi_pack_commit(p->run, p->plan, &p->stage, publish, err);
}

static mshard_status pack_plan(struct mshi_pack_run *run, struct mshi_plan *plan, struct mshi_publish *publish,
                               mshard_error *err)
{
    struct packing p = {.run = run, .plan = plan};
    mshard_status status;

    mshi_memory_gate_init(&p.gate, mshi_pack_gate_budget(run->options.jobs));
    p.fixed_memory = mshi_pack_fixed_memory(plan, run->options.jobs);
    run->result->memory_limit = p.fixed_memory + (plan->decodes ? mshi_memory_gate_limit(&p.gate) : 0);
    run->progress.memory_limit = run->result->memory_limit;
    run->progress.shards = plan->shard_count;
    if (run->options.dry_run) {
        status = mshi_run_verdict(run, err);
        if (status == MSHARD_OK)
            status = mshi_plan_json(plan, run, &run->result->plan_json, err);
    } else {
        status = mshi_shard_stage_init(&p.stage, plan, publish, err);
        if (status == MSHARD_OK)
            status = pack_units(&p, publish, err);
        mshi_shard_stage_clear(&p.stage);
    }
    mshi_memory_gate_clear(&p.gate);
    return status;
}

/* ---- all of it ---- */

static mshard_status pack_into(struct mshi_pack_run *run, struct mshi_publish *publish, mshard_error *err)
{
    struct mshi_source *source = NULL;
    struct mshi_plan *plan;
    mshard_status status;

    MSHI_TRY(list(run, publish->work, &source, err));
    plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        mshi_source_free(source);
        return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "out of memory for the plan");
    }
    status = mshi_plan_make(plan, run, source, err);
    if (status == MSHARD_OK)
        status = pack_plan(run, plan, publish, err);
    mshi_plan_clear(plan);
    free(plan);
    mshi_source_free(source);
    return status;
}

/* An output inside an input folder would be listed as one of its inputs, now or the next time. */
static mshard_status check_place(const char *input, const char *out, mshard_error *err)
{
    char *folder = NULL, *parent = NULL, *real_parent = NULL;
    bool inside = false;

    if (mshi_path_kind(input, NULL) == MSHI_FOLDER && mshi_path_parent(out, &parent, NULL) == MSHARD_OK &&
        mshi_real_path(input, &folder, NULL) == MSHARD_OK && mshi_real_path(parent, &real_parent, NULL) == MSHARD_OK) {
        const size_t size = strlen(folder);

        inside = strncmp(real_parent, folder, size) == 0 && (real_parent[size] == '\0' || real_parent[size] == '/');
    }
    free(folder);
    free(parent);
    free(real_parent);
    if (inside)
        return mshi_fail(err, MSHARD_E_INVALID, out, MSHARD_NO_OFFSET, "the output lies inside the input %s", input);
    return MSHARD_OK;
}

static mshard_status pack(struct mshi_pack_run *run, const struct mshi_fs *fs, const char *out,
                          const mshard_pack_options *given, mshard_error *err)
{
    struct mshi_publish publish = {.lock_fd = -1, .old_fd = -1};
    mshard_status status;

    MSHI_TRY(load_options(run, given, err));
    if (run->input_count == 0 || run->inputs == NULL)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "no inputs are given");
    if (!run->options.dry_run && (out == NULL || out[0] == '\0'))
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "no output is given");
    if (run->options.dry_run)
        return pack_into(run, &publish, err);
    for (size_t i = 0; i < run->input_count; i++)
        MSHI_TRY(check_place(run->inputs[i], out, err));
    status = mshi_publish_begin(&publish, fs, out, run->options.overwrite != 0, run->options.no_sync == 0, err);
    if (status == MSHARD_OK)
        status = pack_into(run, &publish, err);
    mshi_publish_end(&publish);
    return status;
}

mshard_status mshard_pack(const char *const *inputs, size_t n, const char *out, const mshard_pack_options *options,
                          mshard_pack_result *result, mshard_error *err)
{
    return mshi_pack_on(&mshi_fs_posix, inputs, n, out, options, result, err);
}

mshard_status mshi_pack_on(const struct mshi_fs *fs, const char *const *inputs, size_t n, const char *out,
                           const mshard_pack_options *options, mshard_pack_result *result, mshard_error *err)
{
    mshard_pack_result own_result;
    mshard_error own_error;
    struct mshi_pack_run run = {.inputs = inputs, .input_count = n, .result = result != NULL ? result : &own_result};
    mshard_status status;

    *run.result = (mshard_pack_result){.inputs = 0};
    run.started_ns = mshi_clock_ns();
    status = pack(&run, fs, out, options, err != NULL ? err : &own_error);
    run.result->elapsed_ns = mshi_clock_ns() - run.started_ns;
    mshi_run_clear(&run);
    if (result == NULL)
        mshard_pack_result_clear(&own_result);
    return status;
}

void mshard_pack_result_clear(mshard_pack_result *result)
{
    if (result == NULL)
        return;
    free(result->plan_json);
    result->plan_json = NULL;
}
