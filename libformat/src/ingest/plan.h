/*
 * plan.h - what a pack will write, fixed before the first byte: stored fields, order, shards, units of work
 *
 * Depends on the inputs and the options alone. Shards and units are ranges of places 0..count-1 of inputs in
 * packing order (mshi_plan_item turns a place into an item of the source); an input that is left out moves nothing.
 */
#ifndef MSHI_INGEST_PLAN_H
#define MSHI_INGEST_PLAN_H

#include "base/rng.h"
#include "ingest/convert.h"
#include "ingest/decode.h"
#include "ingest/pack_run.h"
#include "ingest/source.h"

#define MSHI_UNIT_BYTES (UINT64_C(1) << 20) /* what a unit of work aims at */

/* How a value of the source becomes a value of the stored field with the same number. */
struct mshi_plan_part {
    enum mshi_part_kind kind;
    bool encoded; /* an image whose file is kept */
    struct mshi_conversion conversion; /* of decoded pixels too */
    uint64_t elements;  /* of one record; fixed fields */
    uint64_t reference; /* image of fixed size: item that its size comes from; UINT64_MAX: from the options */
};

/* Items of the first places, read while planning; packing takes them from here: no input is read twice. */
struct mshi_lookahead {
    struct mshi_payload *payloads;
    mshard_status *statuses;
    mshard_error *errors;
    uint64_t count;
};

struct mshi_plan {
    const mshard_pack_options *options;
    struct mshi_source *source;
    mshard_field fields[MSHARD_MAX_FIELDS]; /* record_size set; names belong to the source; the key comes last */
    struct mshi_plan_part parts[MSHARD_MAX_FIELDS];
    uint32_t value_count; /* fields without the key */
    uint32_t field_count;
    bool images;   /* some field holds decoded images */
    bool decodes;  /* some field is decoded, if only to check it */
    bool variable; /* some field but the key is variable */
    bool variable_images;
    bool runs; /* whole runs of records can be read at once */
    struct mshi_image_rule rule;
    struct mshi_lookahead lookahead;
    bool
        shapeless; /* fixed size asked for, but none of the first images could be read: packing only finds the bad ones */
    mshard_error shapeless_reason;
    struct mshi_permutation order;
    bool shuffled;
    uint64_t fixed_bytes;      /* of one record: its fixed fields */
    uint64_t estimate, sample; /* variable images: bytes of the first one's pixels, and of its file */
    uint64_t largest_item;     /* bytes to be read for one, where known */
    uint64_t listing_bytes;    /* held by the source: names and keys */
    uint64_t run_bytes;        /* of one record as the source has it; numbers only */
    uint64_t *shard_ends;      /* place after the last of each shard */
    uint64_t shard_count;
    uint64_t estimated_bytes;
};

/* INVALID: options that do not fit the source. Notes go to run. */
mshard_status mshi_plan_make(struct mshi_plan *plan, struct mshi_pack_run *run, struct mshi_source *source,
                             mshard_error *err);
void mshi_plan_clear(struct mshi_plan *plan);

uint64_t mshi_plan_item(const struct mshi_plan *plan, uint64_t place);
/* Bytes that the record of this place will take, as far as can be told beforehand. */
uint64_t mshi_plan_record_bytes(const struct mshi_plan *plan, uint64_t place);
/* Place after the last of the unit that begins here, within shard. */
uint64_t mshi_plan_unit_end(const struct mshi_plan *plan, uint64_t first, uint64_t shard);
/* Bytes of values in the largest unit, at most (images of unknown size: one image of estimate bytes). */
uint64_t mshi_plan_unit_bytes(const struct mshi_plan *plan);
uint64_t mshi_plan_unit_records(const struct mshi_plan *plan); /* at most */

/* ---- the parts of mshi_plan_make ---- */
mshard_status mshi_plan_fields(struct mshi_plan *plan, struct mshi_pack_run *run, mshard_error *err);
mshard_status mshi_plan_shapes(struct mshi_plan *plan, mshard_error *err);
mshard_status mshi_plan_shards(struct mshi_plan *plan, mshard_error *err);

#endif
