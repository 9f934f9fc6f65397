/*
 * source.h - where records come from: a list of items in a fixed order, each read to raw values or image bytes
 *
 * Opening a source lists it (the plan): names, sizes, labels, fields. Reading comes after. The order and all that
 * is listed depend on the inputs' content and names alone (bytewise order), never on the folder's order or locale.
 */
#ifndef MSHI_INGEST_SOURCE_H
#define MSHI_INGEST_SOURCE_H

#include "base/fail.h"
#include <mshard/pack.h>
#include <stdbool.h>

/* What an item's value for a field is, before conversion. */
enum mshi_part_kind {
    MSHI_PART_IMAGE,  /* bytes of an image file; decoded by the packer, or kept (--encoded) */
    MSHI_PART_VALUES, /* elements of source dtype, little-endian, C order, of the field's shape */
    MSHI_PART_LABEL,  /* one int64 class number (host order) */
    MSHI_PART_BYTES,  /* any bytes: a variable uint8 field (text, other members of a sample) */
};

/* A field as the source gives it; the packer derives the stored field (dtype options, image rules). */
struct mshi_source_field {
    char name[MSHARD_MAX_NAME + 1];
    enum mshi_part_kind kind;
    mshard_dtype dtype;     /* of VALUES as they are in the source */
    mshard_content content; /* what to store as content for VALUES and BYTES (IMAGE for uint8 HWC arrays) */
    uint32_t ndim;
    uint64_t shape[MSHARD_MAX_DIMS]; /* of one record; VALUES only */
};

/* One item: one record, unless it is skipped. Pointers live until the source is freed. */
struct mshi_item {
    const char *name; /* for messages and skipped.jsonl: path or archive member, as the user can find it */
    const char *key;  /* sample key (docs/packing.md); NULL when the source has none (arrays) */
    uint64_t size;    /* bytes to be read for it; 0 when unknown */
    uint64_t offset;  /* byte in name where it begins, or MSHARD_NO_OFFSET */
    uint64_t class_plus; /* class number + 1 when listing knows it; 0: only reading tells */
};

/* The values of one item. data[f] points into memory owned by the payload. */
struct mshi_payload {
    const void *data[MSHARD_MAX_FIELDS];
    size_t size[MSHARD_MAX_FIELDS];
    void *buffer; /* reused from call to call; owner frees with mshi_payload_clear */
    uint64_t capacity;
};
void mshi_payload_clear(struct mshi_payload *payload);

struct mshi_source;
struct mshi_source_ops {
    /* Fill payload with item i. Random access sources: any order, any thread. Others: i = 0, 1, 2, ... one thread. */
    mshard_status (*read)(struct mshi_source *source, uint64_t i, struct mshi_payload *payload, mshard_error *err);
    /* Optional, fixed VALUES/LABEL sources: n consecutive items at once, each part [n, shape...]. */
    mshard_status (*read_run)(struct mshi_source *source, uint64_t i, uint64_t n, struct mshi_payload *payload, mshard_error *err);
    void (*item)(const struct mshi_source *source, uint64_t i, struct mshi_item *item);
    void (*destroy)(struct mshi_source *source);
};

/* First member of every source's own struct. */
struct mshi_source {
    const struct mshi_source_ops *ops;
    const char *kind;  /* "folder", "npy", ... as in mshard_pack_options.format */
    bool random_access;
    uint64_t count;    /* items */
    uint64_t bytes;    /* of all items together, for progress */
    uint64_t ignored;  /* files left aside by rule: hidden, resource forks, not images */
    struct mshi_source_field fields[MSHARD_MAX_FIELDS];
    uint32_t field_count;
    char **classes; /* names of the label field; NULL: none. Owned by the source */
    uint64_t class_count;
};

/* Problems found while listing (dangling link, unreadable folder, sample without a label, ...): one call each. */
struct mshi_listing {
    const mshard_pack_options *options;
    const char *work_folder; /* for spool files (archive from stdin, shuffled archives); NULL in a dry run: then system temp */
    /* An input that cannot become a record. With on_error=skip packing goes on without it. */
    void (*problem)(void *context, const char *path, const mshard_error *error);
    void (*note)(void *context, const char *text);
    void *context;
};

/*
 * Recognise and list the inputs. Returns FORMAT with what was seen when nothing fits; the message says what
 * layouts would. Problems with single inputs go to listing->problem and do not fail the call.
 */
mshard_status mshi_source_open(const char *const *inputs, size_t n, const struct mshi_listing *listing,
                               struct mshi_source **source, mshard_error *err);
void mshi_source_free(struct mshi_source *source);

#endif
