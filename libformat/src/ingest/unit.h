/*
 * unit.h - a unit of work: a run of inputs becoming stored values
 *
 * One worker fills a unit; the thread that packs takes it over in order and hands it back empty. A record is kept
 * whole or not at all: an input that fails leaves its reason instead.
 */
#ifndef MSHI_INGEST_UNIT_H
#define MSHI_INGEST_UNIT_H

#include "format/stats.h"
#include "ingest/memory_gate.h"
#include "ingest/plan.h"

/* Values of one field, back to back. */
struct mshi_unit_column {
    uint8_t *data;
    uint64_t capacity, used;
    const uint8_t *direct; /* values stand in the payload instead */
    uint64_t *ends;        /* variable fields: end of each value */
    uint64_t ends_capacity;
    uint64_t (*shapes)[3]; /* images of any size */
    uint64_t shapes_capacity;
};

struct mshi_unit_failure {
    uint64_t item;
    bool mismatch; /* an image of another size: not a damaged input */
    mshard_error error;
};

struct mshi_unit {
    /* set by whoever hands it out */
    uint64_t number, first, end, shard;
    bool look_only; /* the pack has failed already: only bad inputs are of interest */
    /* what comes in */
    struct mshi_payload *payloads; /* sources read in order: one an input */
    mshard_status *read_statuses;
    mshard_error *read_errors;
    uint64_t payload_count;
    struct mshi_payload run;
    /* what comes out */
    uint64_t records;
    struct mshi_unit_column columns[MSHARD_MAX_FIELDS];
    struct mshi_stats *stats[MSHARD_MAX_FIELDS];
    uint64_t *items; /* of each record */
    uint64_t items_capacity;
    uint64_t *hashes; /* of each record's content */
    uint64_t hashes_capacity;
    struct mshi_unit_failure *failures;
    uint64_t failure_count, failure_capacity;
    struct mshi_conversion_report report;
    uint64_t bytes_in;
    uint64_t held;        /* bytes taken from the gate until the unit is taken over */
    mshard_status status; /* other than OK: the pack cannot go on */
    mshard_error error;
};

/* What one worker keeps from unit to unit. */
struct mshi_unit_tools {
    struct mshi_memory_gate *gate;
    struct mshi_payload payload;
    struct mshi_image image;
};
void mshi_unit_tools_clear(struct mshi_unit_tools *tools);

/* Read the inputs of a unit of a source that is read in order: units one after the other. */
void mshi_unit_read(struct mshi_unit *unit, const struct mshi_plan *plan);
/* Read what is not read yet, decode, convert, add up. Sets everything under "what comes out". */
void mshi_unit_fill(struct mshi_unit *unit, const struct mshi_plan *plan, struct mshi_unit_tools *tools);
/* Value of record r of the unit, for a field that is not the key. shape: 3 numbers for images of any size, else NULL. */
const uint8_t *mshi_unit_value(const struct mshi_unit *unit, const struct mshi_plan *plan, uint32_t field, uint64_t r,
                               uint64_t *size, const uint64_t **shape);
/* Forget what came out; large buffers are freed, others kept for the next use. */
void mshi_unit_reset(struct mshi_unit *unit);
void mshi_unit_clear(struct mshi_unit *unit);

#endif
