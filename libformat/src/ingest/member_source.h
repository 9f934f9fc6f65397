/*
 * member_source.h - a source over archive members: one item has one value, or several (WebDataset samples)
 *
 * Layouts fill the items; reading is the same for all: from the archive's file, from the spool, or by walking the
 * archives a second time in the same order. Cost: 24 bytes, the names, and 24 bytes a value an item.
 */
#ifndef MSHI_INGEST_MEMBER_SOURCE_H
#define MSHI_INGEST_MEMBER_SOURCE_H

#include "ingest/members.h"

struct mshi_member_item {
    uint64_t name, key; /* in text */
    int64_t label;
};

struct mshi_member_source {
    struct mshi_source base;
    struct mshi_members members;
    struct mshi_buf text;
    struct mshi_member_item *items;
    uint64_t item_capacity;
    struct mshi_located *values; /* base.count * value_count */
    uint64_t value_capacity;
    uint32_t value_count;                         /* values an item: fields but the label */
    uint32_t value_field[MSHARD_MAX_FIELDS];      /* field of each value */
    struct mshi_npy value_npy[MSHARD_MAX_FIELDS]; /* VALUES: what each must be */
    int label_field;                              /* -1: none */
    uint64_t max_member;
    /* The walk of sources that are read in order: */
    struct mshi_file file;
    bool file_owned;
    struct mshi_archive *archive;
    uint32_t archive_number;
    uint64_t position; /* of the next member */
};

/* A new item from members: name shown as ARCHIVE:MEMBER; key NULL: the last key_size bytes of the name. */
mshard_status mshi_member_source_add(struct mshi_member_source *source, uint64_t member, const char *key,
                                     size_t key_size, int64_t label, mshard_error *err);
/* Declare a field; those that are not labels take the next value. */
mshard_status mshi_member_source_field(struct mshi_member_source *source, const char *name, enum mshi_part_kind kind,
                                       mshard_content content, const struct mshi_npy *npy, mshard_error *err);
/* Can all values be read in order, item by item? Otherwise a spool is needed. */
bool mshi_member_source_in_order(const struct mshi_member_source *source);
extern const struct mshi_source_ops mshi_member_source_ops;

/* Layouts: make fields and items of the members. FORMAT when they are not laid out so. */
mshard_status mshi_layout_classes(struct mshi_member_source *source, mshard_error *err);
mshard_status mshi_layout_bytes(struct mshi_member_source *source, mshard_error *err);
mshard_status mshi_layout_samples(struct mshi_member_source *source, mshard_error *err);
/* Do most images have a companion of another type under the same key? */
mshard_status mshi_members_are_samples(const struct mshi_members *members, bool *samples, mshard_error *err);

#endif
