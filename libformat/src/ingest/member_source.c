/*
 * member_source.c - read the values of items that are archive members
 *
 * In-order reading keeps one archive open and goes forward; asking for an earlier item starts that archive again. Each
 * value begins at a multiple of 64 bytes in the payload.
 */
#include "ingest/member_source.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

mshard_status mshi_member_source_add(struct mshi_member_source *source, uint64_t member, const char *key,
                                     size_t key_size, int64_t label, mshard_error *err)
{
    const struct mshi_members *members = &source->members;
    const char *name = mshi_members_name(members, member);
    struct mshi_member_item item = {.name = source->text.size, .label = label};

    mshi_buf_text(&source->text, members->archives[members->list[member].at.archive].path);
    mshi_buf_add(&source->text, ":", 1);
    mshi_buf_add(&source->text, name, strlen(name) + 1);
    if (key) {
        item.key = source->text.size;
        mshi_buf_add(&source->text, key, key_size);
        mshi_buf_add(&source->text, "", 1);
    } else {
        item.key = source->text.size - 1 - key_size;
    }
    MSHI_TRY(mshi_buf_status(&source->text, err));
    MSHI_TRY(mshi_grow(&source->items, &source->item_capacity, source->base.count + 1, sizeof(item), err));
    MSHI_TRY(mshi_grow(&source->values, &source->value_capacity, (source->base.count + 1) * source->value_count,
                       sizeof(*source->values), err));
    source->items[source->base.count++] = item;
    return MSHARD_OK;
}

mshard_status mshi_member_source_field(struct mshi_member_source *source, const char *name, enum mshi_part_kind kind,
                                       mshard_content content, const struct mshi_npy *npy, mshard_error *err)
{
    const mshard_dtype dtype = npy ? npy->dtype : kind == MSHI_PART_LABEL ? MSHARD_INT64 : MSHARD_UINT8;
    const uint32_t field = source->base.field_count;

    MSHI_TRY(mshi_source_add_field(&source->base, name, kind, dtype, content, npy ? npy->ndim : 0,
                                   npy ? npy->shape : NULL, err));
    if (kind == MSHI_PART_LABEL) {
        source->label_field = (int)field;
        return MSHARD_OK;
    }
    if (npy)
        source->value_npy[source->value_count] = *npy;
    source->value_field[source->value_count++] = field;
    return MSHARD_OK;
}

bool mshi_member_source_in_order(const struct mshi_member_source *source)
{
    uint64_t last_archive = 0, last = 0;

    for (uint64_t i = 0; i < source->base.count; i++) {
        uint64_t archive = last_archive, high = last;

        for (uint32_t v = 0; v < source->value_count; v++) {
            const struct mshi_located *at = &source->values[i * source->value_count + v];

            if (at->place != MSHI_IN_ORDER)
                continue;
            if (at->archive < last_archive || (at->archive == last_archive && at->where < last))
                return false;
            if (at->archive > archive || at->where + 1 > high)
                high = at->where + 1;
            archive = at->archive;
        }
        last_archive = archive;
        last = high;
    }
    return true;
}

/* ---- reading ---- */

static void stop_walk(struct mshi_member_source *source)
{
    mshi_archive_close(source->archive);
    source->archive = NULL;
    if (source->file_owned)
        mshi_file_close(&source->file);
    source->file_owned = false;
}

/* Go to a member by its number; the one archive that is open may be ahead of it, or another one. */
static mshard_status walk_to(struct mshi_member_source *source, const struct mshi_located *at, mshard_error *err)
{
    const struct mshi_archive_file *file = &source->members.archives[at->archive];
    struct mshi_member member;

    if (source->archive && (source->archive_number != at->archive || source->position > at->where))
        stop_walk(source);
    if (!source->archive) {
        MSHI_TRY(mshi_archive_file_open(file, &source->file, &source->file_owned, err));
        source->archive_number = at->archive;
        source->position = 0;
        const mshard_status status = mshi_archive_open(&source->file, file->path, &source->archive, err);
        if (status != MSHARD_OK) {
            stop_walk(source);
            return status;
        }
    }
    while (source->position <= at->where) {
        const mshard_status status = mshi_archive_next(source->archive, &member, err);

        if (status != MSHARD_OK) {
            stop_walk(source);
            return status == MSHARD_END ? mshi_fail(err, MSHARD_E_IO, file->path, MSHARD_NO_OFFSET,
                                                    "changed since it was listed: fewer members")
                                        : status;
        }
        source->position++;
    }
    return MSHARD_OK;
}

static mshard_status read_bytes(const struct mshi_file *file, const char *path, const struct mshi_located *at,
                                struct mshi_payload *payload, uint64_t to, mshard_error *err)
{
    size_t got = 0;

    MSHI_TRY(mshi_payload_reserve(payload, to + at->size, err));
    MSHI_TRY(mshi_file_read(file, (uint8_t *)payload->buffer + to, (size_t)at->size, at->where, &got, path, err));
    if (got != at->size)
        return mshi_fail(err, MSHARD_E_TRUNCATED, path, at->where + got, "expected %" PRIu64 " bytes here, found %zu",
                         at->size, got);
    return MSHARD_OK;
}

/* One value to payload at byte to; *size is what it has. */
static mshard_status read_value(struct mshi_member_source *source, const struct mshi_located *at,
                                struct mshi_payload *payload, uint64_t to, uint64_t *size, mshard_error *err)
{
    const struct mshi_archive_file *archive = &source->members.archives[at->archive];
    struct mshi_file file;
    bool owned;

    *size = at->size;
    if (at->place == MSHI_IN_SPOOL)
        return read_bytes(&source->members.spool.file, archive->path, at, payload, to, err);
    if (at->place == MSHI_IN_ORDER) {
        MSHI_TRY(walk_to(source, at, err));
        return mshi_archive_read_all(source->archive, source->max_member, payload, to, size, err);
    }
    MSHI_TRY(mshi_archive_file_open(archive, &file, &owned, err));
    const mshard_status status = read_bytes(&file, archive->path, at, payload, to, err);
    if (owned)
        mshi_file_close(&file);
    return status;
}

/* The numbers of an .npy member, as the field has them; begin is where the member is in the payload. */
static mshard_status unwrap_npy(const struct mshi_npy *wanted, struct mshi_payload *payload, uint64_t *begin,
                                uint64_t *size, uint64_t *end, const char *name, mshard_error *err)
{
    struct mshi_npy npy;
    uint64_t elements = 1;

    MSHI_TRY(mshi_npy_parse((uint8_t *)payload->buffer + *begin, (size_t)*size, name, 0, &npy, err));
    if (npy.dtype != wanted->dtype || npy.ndim != wanted->ndim ||
        memcmp(npy.shape, wanted->shape, npy.ndim * sizeof(*npy.shape)) != 0)
        return mshi_fail(err, MSHARD_E_FORMAT, name, MSHARD_NO_OFFSET,
                         "an array of another dtype or shape than the others");
    if (*size - npy.data_offset != npy.data_size)
        return mshi_fail(err, MSHARD_E_TRUNCATED, name, npy.data_offset,
                         "expected %" PRIu64 " bytes of values, found %" PRIu64, npy.data_size,
                         *size - npy.data_offset);
    for (uint32_t d = 0; d < npy.ndim; d++)
        elements *= npy.shape[d];
    if (npy.fortran) {
        const uint64_t to = *end;
        MSHI_TRY(mshi_payload_reserve(payload, to + npy.data_size, err));
        mshi_gather_fortran((uint8_t *)payload->buffer + *begin + npy.data_offset, 1, npy.ndim, npy.shape,
                            mshard_dtype_size(npy.dtype), 0, 1, (uint8_t *)payload->buffer + to);
        *begin = to;
        *end = to + npy.data_size;
    } else {
        uint8_t *at = (uint8_t *)payload->buffer + *begin; /* to the front, where it is aligned */
        memmove(at, at + npy.data_offset, (size_t)npy.data_size);
    }
    *size = npy.data_size;
    if (npy.swap)
        mshi_swap_bytes((uint8_t *)payload->buffer + *begin, elements, mshard_dtype_size(npy.dtype));
    if (npy.dtype == MSHARD_BOOL)
        mshi_make_bool((uint8_t *)payload->buffer + *begin, elements);
    return MSHARD_OK;
}

/* Values in the order their members lie in, so that one walk forward reads them all. */
static void reading_order(const struct mshi_located *values, uint32_t count, uint32_t order[MSHARD_MAX_FIELDS])
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;

        for (; at > 0 && values[order[at - 1]].where > values[i].where; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static mshard_status member_read(struct mshi_source *base, uint64_t i, struct mshi_payload *payload, mshard_error *err)
{
    struct mshi_member_source *source = (struct mshi_member_source *)base;
    const struct mshi_located *values = &source->values[i * source->value_count];
    const char *name = source->text.data + source->items[i].name;
    uint64_t begin[MSHARD_MAX_FIELDS], size[MSHARD_MAX_FIELDS], end = 0;
    uint32_t order[MSHARD_MAX_FIELDS];

    reading_order(values, source->value_count, order);
    for (uint32_t k = 0; k < source->value_count; k++) {
        const uint32_t v = order[k];
        const struct mshi_source_field *field = &base->fields[source->value_field[v]];

        if (!mshi_align_up(end, 64, &begin[v]))
            return mshi_fail(err, MSHARD_E_LIMIT, name, MSHARD_NO_OFFSET, "too large");
        MSHI_TRY(read_value(source, &values[v], payload, begin[v], &size[v], err));
        end = begin[v] + size[v];
        if (field->kind == MSHI_PART_VALUES)
            MSHI_TRY(unwrap_npy(&source->value_npy[v], payload, &begin[v], &size[v], &end, name, err));
        if (field->content == MSHARD_CONTENT_TEXT &&
            !mshi_text_is_utf8((char *)payload->buffer + begin[v], (size_t)size[v]))
            return mshi_fail(err, MSHARD_E_DECODE, name, MSHARD_NO_OFFSET, "field '%s' is not UTF-8 text", field->name);
    }
    for (uint32_t v = 0; v < source->value_count; v++) { /* the buffer moves while it grows: pointers come last */
        payload->data[source->value_field[v]] = (uint8_t *)payload->buffer + begin[v];
        payload->size[source->value_field[v]] = (size_t)size[v];
    }
    if (source->label_field >= 0) {
        payload->data[source->label_field] = &source->items[i].label;
        payload->size[source->label_field] = sizeof(int64_t);
    }
    return MSHARD_OK;
}

static void member_item(const struct mshi_source *base, uint64_t i, struct mshi_item *item)
{
    const struct mshi_member_source *source = (const struct mshi_member_source *)base;

    *item = (struct mshi_item){.name = source->text.data + source->items[i].name,
                               .key = source->text.data + source->items[i].key,
                               .offset = MSHARD_NO_OFFSET};
    if (source->base.class_count)
        item->class_plus = (uint64_t)source->items[i].label + 1;
    for (uint32_t v = 0; v < source->value_count; v++)
        item->size += source->values[i * source->value_count + v].size;
    if (source->value_count && source->values[i * source->value_count].place == MSHI_IN_FILE)
        item->offset = source->values[i * source->value_count].where;
}

static void member_destroy(struct mshi_source *base)
{
    struct mshi_member_source *source = (struct mshi_member_source *)base;

    stop_walk(source);
    mshi_members_clear(&source->members);
    mshi_buf_clear(&source->text);
    free(source->items);
    free(source->values);
}

const struct mshi_source_ops mshi_member_source_ops = {
    .read = member_read,
    .item = member_item,
    .destroy = member_destroy,
};
