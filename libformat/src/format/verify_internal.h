/*
 * verify_internal.h - between the files of the checker
 *
 * verify.c decides what to check, verify_shard.c checks one shard, verify_blocks.c its blocks (in threads),
 * verify_keys.c the key index; findings gather in verify_findings.c and are reported in order by the thread that
 * called mshard_verify.
 */
#ifndef MSHI_FORMAT_VERIFY_INTERNAL_H
#define MSHI_FORMAT_VERIFY_INTERNAL_H

#include "format/manifest.h"
#include "format/shard_reader.h"
#include <mshard/verify.h>

struct mshi_record_range {
    uint64_t begin, end; /* inside a shard */
};

/* Records of one shard touched by damage, as sorted disjoint ranges after mshi_ranges_count. */
struct mshi_ranges {
    struct mshi_record_range *items;
    uint64_t count, capacity, limit; /* limit: merge when so many are there */
};
mshard_status mshi_ranges_add(struct mshi_ranges *ranges, uint64_t begin, uint64_t end, mshard_error *err);
uint64_t mshi_ranges_count(struct mshi_ranges *ranges); /* distinct records */
void mshi_ranges_clear(struct mshi_ranges *ranges);

struct mshi_found {
    mshard_status code;
    int32_t sys_errno;
    uint64_t at; /* of the error; orders the report */
    uint64_t offset, size;
    uint32_t field;        /* MSHI_NO_FIELD: none */
    uint64_t first, count; /* records inside the shard */
    char *text;
};
struct mshi_findings {
    struct mshi_found *items;
    uint64_t count, capacity;
};
/* Takes nothing; text is formatted. */
mshard_status mshi_findings_add(struct mshi_findings *list, const struct mshi_found *found, mshard_error *err,
                                const char *format, ...) MSHI_PRINTF(4, 5);
void mshi_findings_sort(struct mshi_findings *list); /* by offset, then field */
void mshi_findings_clear(struct mshi_findings *list);

/* One call of mshard_verify. */
struct mshi_verify {
    const mshard_verify_options *options;
    mshard_verify_result *result;
    uint64_t done, total; /* bytes, for progress */
    bool partial;         /* subset or sample */
};
/* One finding that is not about a shard's bytes. */
void mshi_verify_report(struct mshi_verify *v, const mshard_error *error, const char *shard_name, uint64_t first,
                        uint64_t count);
mshard_status mshi_verify_progress(struct mshi_verify *v, uint64_t bytes, mshard_error *err); /* CANCELLED */

/* One shard to check. */
struct mshi_verify_shard {
    struct mshi_verify *verify;
    const char *path, *name;
    const struct mshi_shard_expect *expect; /* NULL: alone */
    const struct mshi_manifest *manifest;   /* NULL: alone */
    uint64_t index, first_record;
    /* while it is being checked */
    struct mshi_file file;
    struct mshi_header *header;
    mshi_le64 *sums;
    bool sums_bad;
    bool index_bad[MSHARD_MAX_FIELDS]; /* ends of this field cannot be searched */
    struct mshi_findings findings;
    struct mshi_ranges ranges;
    uint64_t reported;
};
mshard_status mshi_verify_shard(struct mshi_verify_shard *s, mshard_error *err);
/* Report what has gathered and forget it. */
void mshi_verify_flush(struct mshi_verify_shard *s);
mshard_status mshi_verify_blocks(struct mshi_verify_shard *s, mshard_error *err);
/* ends and dims of all variable fields */
mshard_status mshi_verify_index(struct mshi_verify_shard *s, mshard_error *err);
/* Records of a field that bytes [begin, end) of one of its sections belong to; count 0: cannot be said. */
void mshi_verify_records(const struct mshi_verify_shard *s, const struct mshi_section *section, uint64_t begin,
                         uint64_t end, uint64_t *first, uint64_t *count);

/* keys.mdb of the data set: size and hash, and with store not NULL each entry against the records' keys. */
mshard_status mshi_verify_keys(struct mshi_verify *v, const char *path, const struct mshi_manifest *manifest,
                               const mshard_store *store, mshard_error *err);

#endif
