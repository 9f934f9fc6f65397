/* plan_json.h - what would be packed, as JSON (mshard_pack_result.plan_json) */
#ifndef MSHI_INGEST_PLAN_JSON_H
#define MSHI_INGEST_PLAN_JSON_H

#include "ingest/plan.h"

/* Looks at up to 32 inputs spread over all and decodes some of them for the time. text: malloc'd. */
mshard_status mshi_plan_json(const struct mshi_plan *plan, const struct mshi_pack_run *run, char **text,
                             mshard_error *err);

#endif
