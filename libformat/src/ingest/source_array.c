/*
 * source_array.c - arrays of numpy as fields: .npy files, and members of .npz files
 *
 * Inputs are PATH, NAME=PATH, NAME=PATH:MEMBER or PATH:MEMBER. All arrays must have as many rows. Members stored in the
 * npz are read in place (after one pass that checks their CRC); deflated ones are unpacked into a spool once.
 */
#include "ingest/source_kinds.h"

#include "base/alloc.h"
#include "ingest/archive.h"
#include "ingest/npy_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An input taken apart. */
struct wanted {
    char name[MSHARD_MAX_NAME + 1]; /* "": from the file or member */
    char *path;
    const char *member; /* in path's memory; NULL: all */
};

static bool is_label_name(const char *name)
{
    static const char *const names[] = {"label", "labels", "y", "target", "targets"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static mshard_content content_of(const char *name, const struct mshi_npy *npy)
{
    const bool integer = npy->dtype != MSHARD_FLOAT16 && npy->dtype != MSHARD_FLOAT32 && npy->dtype != MSHARD_FLOAT64 &&
                         npy->dtype != MSHARD_BOOL;

    if (npy->ndim == 1 && integer && is_label_name(name))
        return MSHARD_CONTENT_LABEL;
    return mshi_array_content(npy->dtype, npy->ndim - 1, npy->shape + 1);
}

/* Declare the field of an opened array; the segment is taken, also on failure. */
static mshard_status add_array(struct mshi_columns *columns, const char *name, const struct mshi_npy *npy,
                               const struct mshi_segment *segment, mshard_error *err)
{
    mshard_status status = mshi_columns_add(columns, name, npy->dtype, npy->swap, content_of(name, npy), npy->ndim - 1,
                                            npy->shape + 1, err);

    if (status == MSHARD_OK)
        return mshi_columns_segment(columns, segment, err);
    if (err && !err->path[0])
        snprintf(err->path, sizeof(err->path), "%.490s", segment->path);
    if (!segment->shared) {
        struct mshi_file file = segment->file;
        mshi_file_close(&file);
    }
    free(segment->path);
    return status;
}

static mshard_status add_npy(struct mshi_columns *columns, const struct wanted *wanted, mshard_error *err)
{
    struct mshi_segment segment = {.file = {.fd = -1}};
    struct mshi_npy npy;
    char name[MSHARD_MAX_NAME + 1];
    const char *stem;
    size_t size;

    MSHI_TRY(mshi_npy_open(wanted->path, &npy, &segment, err));
    mshi_path_stem(wanted->path, &stem, &size);
    mshi_field_name(stem, size, name);
    return add_array(columns, *wanted->name ? wanted->name : name, &npy, &segment, err);
}

/* ---- npz ---- */

/* One member at a time: walk, check, and keep what a field needs. */
struct npz {
    struct mshi_columns *columns;
    const struct wanted *wanted;
    const struct mshi_listing *listing;
    struct mshi_file file;
    uint64_t found;
};

/* Read to the end, so that a wrong CRC shows. */
static mshard_status drain(struct mshi_archive *archive, mshard_error *err)
{
    const size_t size = 256 << 10;
    size_t got = size;
    uint8_t *piece;

    MSHI_TRY(mshi_alloc(size, 1, &piece, err));
    mshard_status status = MSHARD_OK;
    while (status == MSHARD_OK && got == size)
        status = mshi_archive_read(archive, piece, size, &got, err);
    free(piece);
    return status;
}

static mshard_status stored_member(struct npz *npz, struct mshi_archive *archive, const struct mshi_member *member,
                                   const char *shown, struct mshi_npy *npy, struct mshi_segment *segment,
                                   mshard_error *err)
{
    struct mshi_file again;
    const uint64_t begin = member->data_offset, size = member->size;

    MSHI_TRY(drain(archive, err));
    MSHI_TRY(mshi_file_open(npz->wanted->path, &again, err));
    const mshard_status status = mshi_npy_open_at(&again, shown, begin, size, npy, segment, err);
    if (status != MSHARD_OK)
        mshi_file_close(&again);
    return status;
}

static mshard_status packed_member(struct npz *npz, struct mshi_archive *archive, const char *shown,
                                   struct mshi_npy *npy, struct mshi_segment *segment, mshard_error *err)
{
    struct mshi_spool spool = MSHI_SPOOL_CLOSED;
    uint64_t size = 0;
    mshard_status status = mshi_spool_open(&spool, npz->listing, err);

    if (status == MSHARD_OK)
        status = mshi_archive_spool(archive, mshi_max_member(npz->listing), &spool, &size, err);
    if (status == MSHARD_OK)
        status = mshi_spool_finish(&spool, err);
    if (status == MSHARD_OK)
        status = mshi_npy_open_at(&spool.file, shown, 0, size, npy, segment, err);
    if (status == MSHARD_OK)
        spool.file.fd = -1; /* the segment's now */
    mshi_spool_close(&spool);
    return status;
}

static bool ends_npy(const char *name, size_t *size)
{
    *size = strlen(name);
    if (*size > 4 && strcmp(name + *size - 4, ".npy") == 0) {
        *size -= 4;
        return true;
    }
    return false;
}

static mshard_status add_member(struct npz *npz, struct mshi_archive *archive, const struct mshi_member *member,
                                mshard_error *err)
{
    struct mshi_segment segment = {.file = {.fd = -1}};
    const struct wanted *wanted = npz->wanted;
    struct mshi_npy npy;
    char name[MSHARD_MAX_NAME + 1], shown[512];
    size_t size;
    const bool npy_name = ends_npy(member->name, &size);

    if (member->type != MSHI_MEMBER_FILE)
        return MSHARD_OK;
    if (wanted->member && (strlen(wanted->member) != size || memcmp(wanted->member, member->name, size) != 0) &&
        strcmp(wanted->member, member->name) != 0)
        return MSHARD_OK;
    snprintf(shown, sizeof(shown), "%.340s:%.160s", wanted->path, member->name);
    if (!npy_name)
        return mshi_fail(err, MSHARD_E_FORMAT, shown, MSHARD_NO_OFFSET,
                         "not a .npy array; NAME=FILE.npz:MEMBER picks members");
    if (member->encrypted)
        return mshi_fail(err, MSHARD_E_UNSUPPORTED, shown, MSHARD_NO_OFFSET, "the member is encrypted");
    mshi_field_name(member->name, size, name);
    npz->found++;
    const mshard_status status = member->data_offset != MSHARD_NO_OFFSET
                                     ? stored_member(npz, archive, member, shown, &npy, &segment, err)
                                     : packed_member(npz, archive, shown, &npy, &segment, err);
    if (status == MSHARD_E_FORMAT && !wanted->member)
        mshi_error_context(err, "not every member can be a field (NAME=FILE.npz:MEMBER picks members)");
    MSHI_TRY(status);
    return add_array(npz->columns, *wanted->name ? wanted->name : name, &npy, &segment, err);
}

static mshard_status walk_npz(struct npz *npz, mshard_error *err)
{
    const struct wanted *wanted = npz->wanted;
    struct mshi_archive *archive;
    struct mshi_member member;
    mshard_status status = mshi_archive_open(&npz->file, wanted->path, &archive, err);

    while (status == MSHARD_OK) {
        status = mshi_archive_next(archive, &member, err);
        if (status == MSHARD_OK)
            status = add_member(npz, archive, &member, err);
    }
    mshi_archive_close(archive);
    if (status != MSHARD_END)
        return status;
    if (npz->found == 0)
        return mshi_fail(err, wanted->member ? MSHARD_E_NOT_FOUND : MSHARD_E_FORMAT, wanted->path, MSHARD_NO_OFFSET,
                         wanted->member ? "no member '%.200s' in it" : "no array in it%s",
                         wanted->member ? wanted->member : "");
    if (*wanted->name && npz->found > 1)
        return mshi_fail(err, MSHARD_E_INVALID, wanted->path, MSHARD_NO_OFFSET,
                         "'%s=' names one array, the file holds %" PRIu64 ": say which with %s=FILE.npz:MEMBER",
                         wanted->name, npz->found, wanted->name);
    return MSHARD_OK;
}

/* ---- inputs ---- */

static mshard_status take_apart(const char *input, struct wanted *wanted, mshard_error *err)
{
    size_t name_size = 0;

    *wanted = (struct wanted){.path = NULL};
    if (mshi_input_is_named(input, &name_size)) {
        if (name_size > MSHARD_MAX_NAME)
            return mshi_fail(err, MSHARD_E_INVALID, input, MSHARD_NO_OFFSET, "field names have at most %d bytes",
                             MSHARD_MAX_NAME);
        memcpy(wanted->name, input, name_size);
        input += name_size + 1;
    }
    MSHI_TRY(mshi_strdup(input, &wanted->path, err));
    char *colon = strrchr(wanted->path, ':');
    if (colon && mshi_path_kind(wanted->path, NULL) == MSHI_MISSING) {
        *colon = '\0';
        wanted->member = colon + 1;
    }
    return MSHARD_OK;
}

static mshard_status add_input(struct mshi_columns *columns, const struct wanted *wanted,
                               const struct mshi_listing *listing, mshard_error *err)
{
    struct npz npz = {.columns = columns, .wanted = wanted, .listing = listing};
    uint8_t head[64];
    size_t got = 0;

    MSHI_TRY(mshi_file_open(wanted->path, &npz.file, err));
    mshard_status status = mshi_file_read(&npz.file, head, sizeof(head), 0, &got, wanted->path, err);
    if (status == MSHARD_OK && got >= 4 && memcmp(head, "PK\3\4", 4) == 0) {
        columns->base.kind = "npz";
        status = walk_npz(&npz, err);
        mshi_file_close(&npz.file);
        return status;
    }
    mshi_file_close(&npz.file);
    MSHI_TRY(status);
    if (mshi_head_is_pickle(head, got))
        return mshi_fail(err, MSHARD_E_FORMAT, wanted->path, 0,
                         "a Python pickle, which is never loaded; save it with numpy.save");
    if (wanted->member)
        return mshi_fail(err, MSHARD_E_INVALID, wanted->path, MSHARD_NO_OFFSET, "only an .npz file has members");
    return add_npy(columns, wanted, err);
}

mshard_status mshi_source_open_arrays(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err)
{
    struct mshi_columns *columns;
    mshard_status status = mshi_columns_new("npy", &columns, err);

    MSHI_TRY(status);
    for (size_t i = 0; i < inputs->count && status == MSHARD_OK; i++) {
        struct wanted wanted;

        status = take_apart(inputs->paths[i], &wanted, err);
        if (status == MSHARD_OK)
            status = add_input(columns, &wanted, inputs->listing, err);
        free(wanted.path);
    }
    if (status == MSHARD_OK)
        status = mshi_columns_finish(columns, inputs->listing, err);
    if (status == MSHARD_OK)
        *source = &columns->base;
    else
        mshi_source_free(&columns->base);
    return status;
}
