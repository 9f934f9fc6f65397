/*
 * pipeline.c - jobs threads fill units, the caller takes them over in order
 *
 * Unit n lives in slot n % units. A worker claims the next unit when its slot is free; sources that are read in
 * order are read by whoever holds the reading turn, so claims and reads happen in the same order. One mutex guards
 * the numbers; nothing slow is done under it.
 */
#include "ingest/pipeline.h"

#include "base/alloc.h"
#include "os/thread.h"
#include <stdio.h>
#include <stdlib.h>

#define UNITS_BYTES (UINT64_C(256) << 20) /* of all units on their way, when units are large */

struct pipeline {
    const struct mshi_plan *plan;
    const struct mshi_pipeline_options *options;
    struct mshi_unit *units;
    bool *filled; /* by mutex; a slot a unit */
    mshi_mutex mutex;
    mshi_cond slot_free;   /* taken moved, or stop, or the reading turn is free */
    mshi_cond unit_filled; /* some filled[] was set */
    uint64_t claimed;      /* by mutex: number of the next unit to claim */
    uint64_t taken;        /* by mutex: units taken over */
    uint64_t place, shard; /* by mutex: where the next unit begins */
    bool reading;          /* by mutex: somebody reads */
    bool stop;             /* by mutex */
};

uint64_t mshi_pipeline_units(const struct mshi_plan *plan, uint32_t jobs)
{
    const uint64_t bytes = mshi_plan_unit_bytes(plan);
    const uint64_t wanted = 2 * (uint64_t)jobs + 2;
    const uint64_t fit = bytes > 0 ? UNITS_BYTES / bytes : wanted;

    return fit < 2 ? 2 : fit < wanted ? fit : wanted;
}

/* Claim the next unit: NULL when there is none, or the pipeline stops. Under the mutex. */
static struct mshi_unit *claim(struct pipeline *p)
{
    const uint64_t count = p->plan->source->count;
    const bool in_order = !p->plan->source->random_access;

    while (!p->stop && p->place < count && (p->claimed - p->taken >= p->options->units || (in_order && p->reading)))
        mshi_cond_wait(&p->slot_free, &p->mutex);
    if (p->stop || p->place >= count)
        return NULL;

    struct mshi_unit *unit = &p->units[p->claimed % p->options->units];

    while (p->plan->shard_ends[p->shard] <= p->place)
        p->shard++;
    unit->number = p->claimed++;
    unit->first = p->place;
    unit->shard = p->shard;
    unit->end = mshi_plan_unit_end(p->plan, p->place, p->shard);
    unit->look_only = atomic_load_explicit(&p->options->run->failed, memory_order_relaxed);
    p->place = unit->end;
    p->reading = in_order;
    return unit;
}

static void *work(void *argument)
{
    struct pipeline *p = argument;
    struct mshi_unit_tools tools = {.gate = p->options->gate};

    mshi_mutex_lock(&p->mutex);
    for (;;) {
        struct mshi_unit *unit = claim(p);

        if (unit == NULL)
            break;
        mshi_mutex_unlock(&p->mutex);
        if (!p->plan->source->random_access && !p->plan->runs) {
            mshi_unit_read(unit, p->plan);
            mshi_mutex_lock(&p->mutex);
            p->reading = false;
            mshi_cond_broadcast(&p->slot_free);
            mshi_mutex_unlock(&p->mutex);
        }
        mshi_unit_fill(unit, p->plan, &tools);
        mshi_mutex_lock(&p->mutex);
        if (p->plan->runs)
            p->reading = false;
        p->filled[unit->number % p->options->units] = true;
        mshi_cond_broadcast(&p->unit_filled);
        if (p->plan->runs)
            mshi_cond_broadcast(&p->slot_free);
    }
    mshi_cond_broadcast(&p->unit_filled);
    mshi_mutex_unlock(&p->mutex);
    mshi_unit_tools_clear(&tools);
    if (p->plan->decodes)
        mshi_decode_thread_end();
    return NULL;
}

/* Wait for unit number n, which must exist. */
static struct mshi_unit *wait_for(struct pipeline *p, uint64_t n)
{
    const uint64_t slot = n % p->options->units;

    mshi_mutex_lock(&p->mutex);
    while (!p->filled[slot])
        mshi_cond_wait(&p->unit_filled, &p->mutex);
    p->filled[slot] = false;
    mshi_mutex_unlock(&p->mutex);
    return &p->units[slot];
}

static mshard_status take_all(struct pipeline *p, mshard_status (*take)(void *, struct mshi_unit *, mshard_error *),
                              void *context, mshard_error *err)
{
    uint64_t place = 0;

    for (uint64_t n = 0; place < p->plan->source->count; n++) {
        struct mshi_unit *unit = wait_for(p, n);
        mshard_status status = unit->status;

        place = unit->end;
        if (status != MSHARD_OK)
            *err = unit->error;
        else
            status = take(context, unit, err);
        mshi_memory_gate_leave(p->options->gate, unit->held);
        mshi_unit_reset(unit);
        mshi_memory_gate_advance(p->options->gate, n + 1);
        mshi_mutex_lock(&p->mutex);
        p->taken = n + 1;
        p->stop = status != MSHARD_OK;
        mshi_cond_broadcast(&p->slot_free);
        mshi_mutex_unlock(&p->mutex);
        if (status != MSHARD_OK)
            return status;
    }
    return MSHARD_OK;
}

/* Units that were filled after the stop still hold bytes of the gate; let every worker out. */
static void let_out(struct pipeline *p)
{
    mshi_mutex_lock(&p->mutex);
    p->stop = true;
    mshi_cond_broadcast(&p->slot_free);
    mshi_mutex_unlock(&p->mutex);
    mshi_memory_gate_advance(p->options->gate, UINT64_MAX);
}

static mshard_status start(struct pipeline *p, mshi_thread *threads, uint32_t *started, mshard_error *err)
{
    for (uint32_t i = 0; i < p->options->jobs; i++) {
        char name[16];

        snprintf(name, sizeof name, "pack-%u", i % 10000u);

        const mshard_status status = mshi_thread_start(&threads[i], work, p, name, err);

        if (status != MSHARD_OK) /* fewer threads do as well; the output is the same */
            return i > 0 ? MSHARD_OK : status;
        *started = i + 1;
    }
    return MSHARD_OK;
}

mshard_status mshi_pipeline_run(const struct mshi_plan *plan, const struct mshi_pipeline_options *options,
                                mshard_status (*take)(void *context, struct mshi_unit *unit, mshard_error *err),
                                void *context, mshard_error *err)
{
    struct pipeline p = {.plan = plan, .options = options};
    mshi_thread *threads = NULL;
    uint32_t started = 0;
    mshard_status status;

    mshi_mutex_init(&p.mutex);
    mshi_cond_init(&p.slot_free);
    mshi_cond_init(&p.unit_filled);
    status = mshi_alloc(options->units, sizeof p.units[0], &p.units, err);
    if (status == MSHARD_OK)
        status = mshi_alloc(options->units, sizeof p.filled[0], &p.filled, err);
    if (status == MSHARD_OK)
        status = mshi_alloc(options->jobs, sizeof threads[0], &threads, err);
    if (status == MSHARD_OK)
        status = start(&p, threads, &started, err);
    if (status == MSHARD_OK)
        status = take_all(&p, take, context, err);
    let_out(&p);
    for (uint32_t i = 0; i < started; i++)
        mshi_thread_join(threads[i]);
    for (uint64_t i = 0; i < options->units && p.units != NULL; i++)
        mshi_unit_clear(&p.units[i]);
    free(threads);
    free(p.filled);
    free(p.units);
    mshi_cond_destroy(&p.unit_filled);
    mshi_cond_destroy(&p.slot_free);
    mshi_mutex_destroy(&p.mutex);
    return status;
}
