/* unit_add.h - one input's values into the columns of a unit */
#ifndef MSHI_INGEST_UNIT_ADD_H
#define MSHI_INGEST_UNIT_ADD_H

#include "ingest/unit.h"

/*
 * Add the values of an item as one record, or nothing. Failures of the input come back as its status and *mismatch;
 * NOMEM is ours.
 */
mshard_status mshi_unit_add(struct mshi_unit *unit, const struct mshi_plan *plan, struct mshi_unit_tools *tools,
                            uint64_t item, const struct mshi_payload *payload, bool *mismatch, mshard_error *err);

#endif
