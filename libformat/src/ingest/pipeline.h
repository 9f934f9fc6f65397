/*
 * pipeline.h - jobs threads fill units, the caller takes them over in order
 *
 * At most a fixed number of units is on its way at any moment. Results, and the order in which they arrive, do not
 * depend on the number of threads.
 */
#ifndef MSHI_INGEST_PIPELINE_H
#define MSHI_INGEST_PIPELINE_H

#include "ingest/unit.h"

struct mshi_pipeline_options {
    uint32_t jobs;
    uint64_t units; /* on their way at most, at least 2 */
    struct mshi_memory_gate *gate;
    const struct mshi_pack_run *run; /* its failed flag: units begun after it are only looked at */
};

/* Units on their way, for a number of jobs: less when units are large. */
uint64_t mshi_pipeline_units(const struct mshi_plan *plan, uint32_t jobs);

/*
 * Fill all units of the plan; take is called in this thread for each, in order. Stops at the first that take refuses, or
 * whose status is not OK. All threads have ended when it returns.
 */
mshard_status mshi_pipeline_run(const struct mshi_plan *plan, const struct mshi_pipeline_options *options,
                                mshard_status (*take)(void *context, struct mshi_unit *unit, mshard_error *err),
                                void *context, mshard_error *err);

#endif
