/*
 * members.c - list the members of archives
 */
#include "ingest/members.h"

#include "base/alloc.h"
#include "ingest/class_list.h"
#include "ingest/decode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_LABEL 4096 /* bytes of a .cls member */

/* State of the walk through one archive. */
struct walk {
    struct mshi_members *members;
    struct mshi_archive *archive;
    uint32_t number;         /* of the archive */
    uint64_t position;       /* of the member */
    struct mshi_names names; /* of its inputs so far: number + first is their place in the list */
    uint64_t first;
    struct mshi_payload content; /* of the member, when it was read */
    uint64_t content_size;
    struct mshi_buf name, link;
};

mshard_status mshi_members_problem(struct mshi_members *members, mshard_error *err, const char *path,
                                   mshard_status code, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    MSHI_TRY(mshi_grow(&members->problems, &members->problem_capacity, members->problem_count + 1,
                       sizeof(*members->problems), err));
    mshi_fail(&members->problems[members->problem_count++], code, path, MSHARD_NO_OFFSET, "%s", text);
    return MSHARD_OK;
}

void mshi_members_note(struct mshi_members *members, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    mshi_buf_add(&members->notes, text, strlen(text) + 1);
}

void mshi_members_tell(const struct mshi_members *members)
{
    for (uint64_t i = 0; i < members->problem_count; i++)
        if (members->listing->problem)
            members->listing->problem(members->listing->context, members->problems[i].path, &members->problems[i]);
    for (size_t at = 0; at < members->notes.size; at += strlen(members->notes.data + at) + 1)
        mshi_note(members->listing, "%s", members->notes.data + at);
    mshi_ignored_tell(&members->ignored, members->listing);
}

const char *mshi_members_name(const struct mshi_members *members, uint64_t i)
{
    return members->text.data + members->list[i].name;
}

/* ---- names ---- */

enum name_kind { NAME_GOOD, NAME_HIDDEN, NAME_UPWARD, NAME_EMPTY };

/* "/a//./b" becomes "a/b"; hidden and ".." components are told. Names are only names: nothing is opened by them. */
static enum name_kind clean_name(const char *raw, struct mshi_buf *name)
{
    enum name_kind kind = NAME_GOOD;

    name->size = 0;
    for (const char *at = raw; *at;) {
        const size_t size = strcspn(at, "/");

        if (size == 2 && at[0] == '.' && at[1] == '.')
            kind = NAME_UPWARD;
        else if (size && !(size == 1 && *at == '.')) {
            if (kind == NAME_GOOD && mshi_name_ignored(at, size))
                kind = NAME_HIDDEN;
            if (name->size)
                mshi_buf_add(name, "/", 1);
            mshi_text_escape(name, at, size);
        }
        at += size + (at[size] == '/');
    }
    return name->size ? kind : kind == NAME_UPWARD ? kind : NAME_EMPTY;
}

static const char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), e = strlen(end);

    return n >= e && strcasecmp(name + n - e, end) == 0;
}

/* ---- contents ---- */

/* The number + 1 of an npy header among the distinct ones. */
static mshard_status note_npy(struct walk *walk, struct mshi_listed *listed, mshard_error *err)
{
    struct mshi_members *members = walk->members;
    struct mshi_npy npy;

    if (mshi_npy_parse(walk->content.buffer, (size_t)walk->content_size, walk->name.data, 0, &npy, NULL) != MSHARD_OK)
        return MSHARD_OK; /* told when it is read as an array, if it ever is */
    for (uint64_t i = 0; i < members->npy_count; i++) {
        const struct mshi_npy *known = &members->npys[i];
        if (known->dtype == npy.dtype && known->ndim == npy.ndim &&
            memcmp(known->shape, npy.shape, npy.ndim * sizeof(*npy.shape)) == 0) {
            listed->npy = (uint32_t)i + 1;
            return MSHARD_OK;
        }
    }
    if (members->npy_count < 1000) {
        MSHI_TRY(mshi_grow(&members->npys, &members->npy_capacity, members->npy_count + 1, sizeof(npy), err));
        members->npys[members->npy_count++] = npy;
        listed->npy = (uint32_t)members->npy_count;
    }
    return MSHARD_OK;
}

static mshard_status look_inside(struct walk *walk, struct mshi_listed *listed, mshard_error *err)
{
    struct mshi_members *members = walk->members;
    const char *name = walk->name.data;
    const char *text = walk->content.buffer;

    if (members->want_contents && ends_with(name, ".cls") && walk->content_size <= MAX_LABEL) {
        size_t begin = 0, end = (size_t)walk->content_size;
        while (begin < end && strchr(" \t\r\n", text[begin]))
            begin++;
        while (end > begin && strchr(" \t\r\n", text[end - 1]))
            end--;
        listed->label = members->text.size;
        mshi_buf_add(&members->text, text + begin, end - begin);
        mshi_buf_add(&members->text, "", 1);
        return mshi_buf_status(&members->text, err);
    }
    if (members->want_contents && ends_with(name, ".npy"))
        return note_npy(walk, listed, err);
    if (!strchr(base_name(name), '.'))
        listed->image = mshi_head_image_type(text, (size_t)walk->content_size) != NULL;
    return MSHARD_OK;
}

/* Read the member when something about it must be known now, or it goes to the spool. *bad: reported, left out. */
static mshard_status read_content(struct walk *walk, struct mshi_listed *listed, bool *bad, mshard_error *err)
{
    struct mshi_members *members = walk->members;
    const char *name = walk->name.data;
    const bool spool = listed->at.place == MSHI_IN_SPOOL;
    const bool look = (!members->any_bytes && !strchr(base_name(name), '.')) ||
                      (members->want_contents && (ends_with(name, ".cls") || ends_with(name, ".npy")));
    mshard_error problem;

    *bad = false;
    if (!spool && !look)
        return MSHARD_OK;
    const mshard_status status = mshi_archive_read_all(walk->archive, mshi_max_member(members->listing), &walk->content,
                                                       0, &walk->content_size, &problem);
    if (status == MSHARD_E_LIMIT || status == MSHARD_E_CORRUPT) { /* this member only; a cut archive is cut for all */
        *bad = true;
        return mshi_members_problem(members, err, problem.path, status, "%s", problem.message);
    }
    if (status != MSHARD_OK) {
        if (err)
            *err = problem;
        return status;
    }
    if (spool) {
        listed->at.where = members->spool.size;
        listed->at.size = walk->content_size;
        MSHI_TRY(mshi_spool_add(&members->spool, walk->content.buffer, (size_t)walk->content_size, err));
    }
    return look ? look_inside(walk, listed, err) : MSHARD_OK;
}

/* ---- members ---- */

/* A hard link has the content of a member before it; anything else it may name is refused. */
static mshard_status link_target(struct walk *walk, const struct mshi_member *member, struct mshi_listed *listed,
                                 bool *bad, mshard_error *err)
{
    struct mshi_members *members = walk->members;
    uint64_t target;

    *bad = false;
    clean_name(member->link, &walk->link);
    if (!walk->link.size || !mshi_names_find(&walk->names, walk->link.data, walk->link.size, &target)) {
        *bad = true;
        return mshi_members_problem(
            members, err, members->archives[walk->number].path, MSHARD_E_FORMAT,
            "member '%.150s' is a hard link to '%.150s', which is no input before it in the archive", walk->name.data,
            member->link);
    }
    const struct mshi_listed *original = &members->list[walk->first + target];
    listed->at = original->at;
    listed->label = original->label;
    listed->npy = original->npy;
    listed->image |= original->image && !strchr(base_name(walk->name.data), '.');
    members->need_spool |= listed->at.place == MSHI_IN_ORDER;
    return MSHARD_OK;
}

static mshard_status place_member(struct walk *walk, const struct mshi_member *member, struct mshi_listed *listed,
                                  bool *bad, mshard_error *err)
{
    struct mshi_members *members = walk->members;
    struct mshi_archive_file *file = &members->archives[walk->number];
    const uint64_t max = mshi_max_member(members->listing);

    *bad = false;
    listed->at.archive = walk->number;
    listed->at.size = member->size;
    if (member->size_known && member->size > max) {
        *bad = true;
        return mshi_members_problem(members, err, file->path, MSHARD_E_LIMIT,
                                    "member '%.200s' has %" PRIu64 " bytes, above the limit of %" PRIu64
                                    " for one input (max-member)",
                                    walk->name.data, member->size, max);
    }
    if (member->data_offset != MSHARD_NO_OFFSET && !mshi_archive_is_zip(walk->archive)) {
        listed->at.place = MSHI_IN_FILE;
        listed->at.where = member->data_offset;
    } else {
        file->unpacked = true;
        listed->at.place = members->spooling ? MSHI_IN_SPOOL : MSHI_IN_ORDER;
        listed->at.where = walk->position;
    }
    return read_content(walk, listed, bad, err);
}

/* A second member of the same name: neither can be trusted to be the one that is meant. */
static mshard_status duplicate(struct walk *walk, uint64_t number, mshard_error *err)
{
    struct mshi_members *members = walk->members;
    struct mshi_listed *first = &members->list[walk->first + number];

    if (first->dropped)
        return MSHARD_OK;
    first->dropped = true;
    return mshi_members_problem(members, err, members->archives[walk->number].path, MSHARD_E_FORMAT,
                                "duplicate member '%.300s'", walk->name.data);
}

static mshard_status add_member(struct walk *walk, const struct mshi_member *member, mshard_error *err)
{
    struct mshi_members *members = walk->members;
    struct mshi_listed listed = {.label = MSHI_NO_TEXT, .image = mshi_image_name(base_name(walk->name.data))};
    uint64_t number;
    bool added, bad;

    if (mshi_names_find(&walk->names, walk->name.data, walk->name.size, &number))
        return duplicate(walk, number, err);
    if (member->type == MSHI_MEMBER_HARDLINK && !(member->size_known && member->size > 0))
        MSHI_TRY(link_target(walk, member, &listed, &bad, err));
    else
        MSHI_TRY(place_member(walk, member, &listed, &bad, err));
    if (bad)
        return MSHARD_OK;
    MSHI_TRY(mshi_names_add(&walk->names, walk->name.data, walk->name.size, &number, &added, err));
    listed.name = members->text.size;
    mshi_buf_add(&members->text, walk->name.data, walk->name.size + 1);
    MSHI_TRY(mshi_buf_status(&members->text, err));
    MSHI_TRY(mshi_grow(&members->list, &members->capacity, members->count + 1, sizeof(listed), err));
    members->list[members->count++] = listed;
    return MSHARD_OK;
}

static mshard_status take_member(struct walk *walk, const struct mshi_member *member, mshard_error *err)
{
    struct mshi_members *members = walk->members;
    const char *path = members->archives[walk->number].path;

    if (member->type == MSHI_MEMBER_FOLDER)
        return MSHARD_OK;
    const enum name_kind kind = clean_name(member->name, &walk->name);
    MSHI_TRY(mshi_buf_status(&walk->name, err));
    if (kind == NAME_HIDDEN) {
        members->ignored.hidden++;
        return MSHARD_OK;
    }
    if (kind != NAME_GOOD)
        return mshi_members_problem(members, err, path, MSHARD_E_FORMAT, "member '%.300s': %s", member->name,
                                    kind == NAME_UPWARD ? "'..' in its name" : "no name");
    if (member->type == MSHI_MEMBER_SYMLINK) {
        members->ignored.links++;
        return MSHARD_OK;
    }
    if (member->type == MSHI_MEMBER_OTHER)
        return mshi_ignored_add(&members->ignored, walk->name.data, err);
    if (member->encrypted)
        return mshi_fail(err, MSHARD_E_UNSUPPORTED, path, MSHARD_NO_OFFSET,
                         "member '%.200s' is encrypted: unpack the archive first", walk->name.data);
    return add_member(walk, member, err);
}

static mshard_status walk_archive(struct mshi_members *members, uint32_t number, mshard_error *err)
{
    struct mshi_archive_file *file = &members->archives[number];
    struct walk walk = {.members = members, .number = number, .first = members->count};
    struct mshi_file open;
    bool owned;

    MSHI_TRY(mshi_archive_file_open(file, &open, &owned, err));
    mshard_status status = mshi_archive_open(&open, file->path, &walk.archive, err);
    while (status == MSHARD_OK) {
        struct mshi_member member;

        status = mshi_archive_next(walk.archive, &member, err);
        if (status == MSHARD_OK)
            status = take_member(&walk, &member, err);
        walk.position++;
    }
    if (status == MSHARD_END && mshi_archive_left_aside(walk.archive))
        mshi_members_note(members, "%" PRIu64 " bytes after the end of archive %.300s are no archive: left aside",
                          mshi_archive_left_aside(walk.archive), file->path);
    mshi_archive_close(walk.archive);
    if (owned)
        mshi_file_close(&open);
    mshi_names_clear(&walk.names);
    mshi_payload_clear(&walk.content);
    mshi_buf_clear(&walk.name);
    mshi_buf_clear(&walk.link);
    return status == MSHARD_END ? MSHARD_OK : status;
}

mshard_status mshi_members_list(struct mshi_members *members, bool spooling, mshard_error *err)
{
    members->count = members->npy_count = members->problem_count = 0;
    members->text.size = members->notes.size = 0;
    members->need_spool = false;
    members->spooling = spooling;
    mshi_ignored_clear(&members->ignored);
    if (spooling)
        MSHI_TRY(mshi_spool_open(&members->spool, members->listing, err));
    for (size_t i = 0; i < members->archive_count; i++)
        MSHI_TRY(walk_archive(members, (uint32_t)i, err));
    return spooling ? mshi_spool_finish(&members->spool, err) : MSHARD_OK;
}

/* ---- files ---- */

mshard_status mshi_archive_file_open(const struct mshi_archive_file *archive, struct mshi_file *file, bool *owned,
                                     mshard_error *err)
{
    *owned = archive->file.fd < 0 && archive->stream.file.fd < 0;
    if (!*owned) {
        *file = archive->stream.file.fd >= 0 ? archive->stream.file : archive->file;
        return MSHARD_OK;
    }
    MSHI_TRY(mshi_file_open(archive->path, file, err));
    if (file->size == archive->size && file->mtime_ns == archive->mtime_ns)
        return MSHARD_OK;
    mshi_file_close(file);
    return mshi_fail(err, MSHARD_E_IO, archive->path, MSHARD_NO_OFFSET, "changed since it was listed");
}

/* All of standard input into a spool: zip and 7z need to be read from their end. */
static mshard_status read_stream(struct mshi_spool *spool, const struct mshi_listing *listing, mshard_error *err)
{
    const size_t size = 256 << 10;
    uint8_t *piece;
    size_t got = 1;

    MSHI_TRY(mshi_spool_open(spool, listing, err));
    MSHI_TRY(mshi_alloc(size, 1, &piece, err));
    mshard_status status = MSHARD_OK;
    while (status == MSHARD_OK && got) {
        got = fread(piece, 1, size, stdin);
        status = mshi_spool_add(spool, piece, got, err);
        if (status == MSHARD_OK && got < size && ferror(stdin))
            status = mshi_fail_errno(err, errno, "-", MSHARD_NO_OFFSET, "cannot read standard input");
    }
    free(piece);
    return status == MSHARD_OK ? mshi_spool_finish(spool, err) : status;
}

static mshard_status open_input(struct mshi_archive_file *archive, const char *input, size_t number,
                                const struct mshi_listing *listing, mshard_error *err)
{
    MSHI_TRY(mshi_strdup(strcmp(input, "-") == 0 ? "(standard input)" : input, &archive->path, err));
    if (strcmp(input, "-") == 0) {
        MSHI_TRY(read_stream(&archive->stream, listing, err));
        archive->size = archive->stream.size;
        return MSHARD_OK;
    }
    MSHI_TRY(mshi_file_open(input, &archive->file, err));
    archive->size = archive->file.size;
    archive->mtime_ns = archive->file.mtime_ns;
    if (number >= MSHI_OPEN_ARCHIVES)
        mshi_file_close(&archive->file);
    return MSHARD_OK;
}

mshard_status mshi_members_open(struct mshi_members *members, const struct mshi_inputs *inputs, mshard_error *err)
{
    members->spool.file.fd = -1;
    if (inputs->count > UINT32_MAX)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "too many inputs");
    MSHI_TRY(mshi_alloc(inputs->count, sizeof(*members->archives), &members->archives, err));
    for (size_t i = 0; i < inputs->count; i++)
        members->archives[i].file.fd = members->archives[i].stream.file.fd = -1;
    members->archive_count = inputs->count;
    for (size_t i = 0; i < inputs->count; i++)
        MSHI_TRY(open_input(&members->archives[i], inputs->paths[i], i, inputs->listing, err));
    return MSHARD_OK;
}

void mshi_members_clear(struct mshi_members *members)
{
    for (size_t i = 0; i < members->archive_count; i++) {
        mshi_file_close(&members->archives[i].file);
        mshi_spool_close(&members->archives[i].stream);
        free(members->archives[i].path);
    }
    free(members->archives);
    free(members->list);
    free(members->npys);
    free(members->problems);
    mshi_buf_clear(&members->text);
    mshi_buf_clear(&members->notes);
    mshi_ignored_clear(&members->ignored);
    if (members->archive_count)
        mshi_spool_close(&members->spool);
    *members = (struct mshi_members){.spool = MSHI_SPOOL_CLOSED};
}
