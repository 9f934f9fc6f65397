/*
 * source_folder.c - folders of image files: one class folder a label, or flat without labels
 *
 * Walks each folder once: a folder that is its own ancestor (through a link) is not entered. Order is the bytewise
 * order of the paths below the root, input after input. One stat a file while listing, one open while reading.
 */
#include "ingest/source_kinds.h"

#include "base/alloc.h"
#include "ingest/class_list.h"
#include "ingest/decode.h"
#include "ingest/file_items.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 200

enum folder_mode { CLASS_FOLDERS, FLAT, ANY_BYTES };

struct folder_source {
    struct mshi_source base;
    struct mshi_file_items files;
    uint64_t max_member;
    enum folder_mode mode;
};

struct walk {
    const struct mshi_listing *listing;
    struct mshi_file_items *files;
    struct mshi_ignored ignored;
    struct mshi_names classes; /* names of class folders with at least one image */
    struct mshi_names given;   /* --labels */
    bool has_given;
    enum folder_mode mode;
    size_t root_length; /* of the input and the slash after it */
    uint64_t top_images, top_folders, loops, empty_classes;
};

/* The folders from the root down to the one being walked. */
struct chain {
    const struct chain *up;
    const char *root; /* of the first one, whose device and inode no listing gives */
    uint64_t device, inode;
    unsigned depth;
};

static mshard_status walk_folder(struct walk *walk, const char *path, const struct chain *chain, int64_t label,
                                 mshard_error *err);

/* Names without a dot say nothing: look inside. Any other extension is a type of its own. */
static mshard_status looks_like_image(const char *path, bool *image, mshard_error *err)
{
    char head[64];
    struct mshi_file file;
    size_t got = 0;

    *image = false;
    MSHI_TRY(mshi_file_open(path, &file, err));
    const mshard_status status = mshi_file_read(&file, head, sizeof(head), 0, &got, path, err);
    mshi_file_close(&file);
    *image = status == MSHARD_OK && mshi_head_image_type(head, got) != NULL;
    return status;
}

static mshard_status add_file(struct walk *walk, const char *path, const struct mshi_entry *entry, int64_t label,
                              mshard_error *err)
{
    bool image = walk->mode == ANY_BYTES || mshi_image_name(entry->name);
    mshard_error problem;

    if (!image && !strchr(entry->name, '.') && looks_like_image(path, &image, &problem) != MSHARD_OK) {
        mshi_problem(walk->listing, path, problem.code, "%s", problem.message);
        return MSHARD_OK;
    }
    if (!image)
        return mshi_ignored_add(&walk->ignored, entry->name, err);
    return mshi_file_items_add(walk->files, path, path + walk->root_length, entry->size, label, err);
}

static mshard_status walk_entry(struct walk *walk, const char *path, const struct mshi_entry *entry,
                                const struct chain *chain, int64_t label, mshard_error *err)
{
    if (mshi_name_ignored(entry->name, strlen(entry->name))) {
        walk->ignored.hidden++;
        return MSHARD_OK;
    }
    switch (entry->kind) {
    case MSHI_MISSING:
        mshi_problem(walk->listing, path, MSHARD_E_NOT_FOUND, "the link leads nowhere");
        return MSHARD_OK;
    case MSHI_OTHER:
        if (walk->mode != ANY_BYTES && !mshi_image_name(entry->name))
            return mshi_ignored_add(&walk->ignored, entry->name, err);
        mshi_problem(walk->listing, path, MSHARD_E_FORMAT, "not a regular file, or not readable");
        return MSHARD_OK;
    case MSHI_FILE:
        return add_file(walk, path, entry, label, err);
    case MSHI_FOLDER:
        break;
    }
    for (const struct chain *c = chain; c; c = c->up)
        if (c->root ? mshi_path_same(c->root, path) : c->device == entry->device && c->inode == entry->inode) {
            walk->loops++;
            return MSHARD_OK;
        }
    if (chain->depth >= MAX_DEPTH) {
        mshi_problem(walk->listing, path, MSHARD_E_LIMIT, "folders nest deeper than %d", MAX_DEPTH);
        return MSHARD_OK;
    }
    const struct chain below = {chain, NULL, entry->device, entry->inode, chain->depth + 1};
    return walk_folder(walk, path, &below, label, err);
}

static mshard_status walk_folder(struct walk *walk, const char *path, const struct chain *chain, int64_t label,
                                 mshard_error *err)
{
    struct mshi_entry *entries;
    size_t count;
    mshard_error problem;
    mshard_status status = MSHARD_OK;

    if (mshi_folder_list(path, true, &entries, &count, &problem) != MSHARD_OK) {
        mshi_problem(walk->listing, path, problem.code, "%s", problem.message);
        return MSHARD_OK;
    }
    for (size_t i = 0; i < count && status == MSHARD_OK; i++) {
        char *inner;

        status = mshi_path_join(path, entries[i].name, &inner, err);
        if (status == MSHARD_OK) {
            status = walk_entry(walk, inner, &entries[i], chain, label, err);
            free(inner);
        }
    }
    mshi_folder_free(entries, count);
    return status;
}

/* A folder at the top is a class: its images get its number among the classes found so far. */
static mshard_status walk_class(struct walk *walk, const char *path, const struct mshi_entry *entry,
                                const struct chain *chain, mshard_error *err)
{
    const struct mshi_names *known = walk->has_given ? &walk->given : &walk->classes;
    const size_t size = strlen(entry->name);
    const uint64_t before = walk->files->count, loops = walk->loops;
    uint64_t number = known->count;
    const bool found = mshi_names_find(known, entry->name, size, &number);

    walk->top_folders++;
    MSHI_TRY(walk_entry(walk, path, entry, chain, (int64_t)number, err));
    if (walk->files->count == before) {
        if (walk->loops > loops) { /* a link back to the root is no class */
            walk->top_folders--;
        } else if (!found || !walk->has_given) {
            walk->empty_classes++;
            mshi_problem(walk->listing, path, MSHARD_E_FORMAT, "class folder '%s' holds no image", entry->name);
        }
        return MSHARD_OK;
    }
    if (walk->has_given && !found)
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "class folder '%s' is not in the class list %s",
                         entry->name, walk->listing->options->labels);
    if (!walk->has_given)
        return mshi_names_add(&walk->classes, entry->name, size, &number, NULL, err);
    return MSHARD_OK;
}

static mshard_status walk_top(struct walk *walk, const char *root, const struct mshi_entry *entries, size_t count,
                              const struct chain *chain, mshard_error *err)
{
    mshard_status status = MSHARD_OK;

    for (size_t i = 0; i < count && status == MSHARD_OK; i++) {
        const struct mshi_entry *entry = &entries[i];
        char *path;

        status = mshi_path_join(root, entry->name, &path, err);
        if (status != MSHARD_OK)
            break;
        if (walk->mode == CLASS_FOLDERS && entry->kind == MSHI_FOLDER &&
            !mshi_name_ignored(entry->name, strlen(entry->name)))
            status = walk_class(walk, path, entry, chain, err);
        else if (walk->mode == CLASS_FOLDERS && entry->kind == MSHI_FILE && mshi_image_name(entry->name) &&
                 entry->name[0] != '.')
            walk->top_images++;
        else
            status = walk_entry(walk, path, entry, chain, 0, err);
        free(path);
    }
    return status;
}

/* Layouts that are not class folders, told so that the way out is clear. */
static mshard_status check_layout(const struct walk *walk, const char *root, mshard_error *err)
{
    if (walk->mode != CLASS_FOLDERS || (walk->top_images == 0 && walk->top_folders > 0))
        return MSHARD_OK;
    if (walk->top_images && walk->top_folders)
        return mshi_fail(err, MSHARD_E_FORMAT, root, MSHARD_NO_OFFSET,
                         "%" PRIu64 " images at top level beside %" PRIu64
                         " class folders: images must be in the class "
                         "folders (or use --format flat for records without labels)",
                         walk->top_images, walk->top_folders);
    if (walk->top_images)
        return mshi_fail(err, MSHARD_E_FORMAT, root, MSHARD_NO_OFFSET,
                         "no class folders in %s, %" PRIu64
                         " images at top level; use --format flat for records without "
                         "labels, or give a CSV list (path,label)",
                         root, walk->top_images);
    if (walk->listing->options->allow_empty)
        return MSHARD_OK;
    return mshi_fail(err, MSHARD_E_FORMAT, root, MSHARD_NO_OFFSET,
                     "no class folders and no images in %s (%" PRIu64
                     " files of other types; --format bytes packs any files as "
                     "they are)",
                     root, mshi_ignored_total(&walk->ignored));
}

/* An image file given by name: only a flat source takes those. Its key is its file name. */
static mshard_status add_single(struct walk *walk, const char *path, uint64_t size, mshard_error *err)
{
    const char *slash = strrchr(path, '/');

    return mshi_file_items_add(walk->files, path, slash ? slash + 1 : path, size, 0, err);
}

static mshard_status walk_root(struct walk *walk, const char *root, mshard_error *err)
{
    const uint64_t begin = walk->files->count;
    const size_t length = strlen(root);
    struct mshi_entry *entries;
    uint64_t size;
    size_t count;

    if (walk->mode != CLASS_FOLDERS && mshi_path_kind(root, &size) == MSHI_FILE)
        return add_single(walk, root, size, err);
    MSHI_TRY(mshi_folder_list(root, true, &entries, &count, err));
    walk->root_length = length + (length && root[length - 1] != '/');
    walk->top_images = walk->top_folders = 0;

    const struct chain chain = {.root = root};
    const mshard_status status = walk_top(walk, root, entries, count, &chain, err);
    mshi_folder_free(entries, count);
    MSHI_TRY(status);
    mshi_file_items_sort(walk->files, begin);
    return check_layout(walk, root, err);
}

/* Class numbers become those of the sorted names, or stay those of the list that was given. */
static mshard_status settle_classes(struct folder_source *source, struct walk *walk, mshard_error *err)
{
    uint64_t *rank = NULL;
    mshard_status status;

    if (walk->has_given)
        return mshi_class_list_take(&walk->given, false, &source->base.classes, &source->base.class_count, NULL, err);
    status = mshi_class_list_take(&walk->classes, true, &source->base.classes, &source->base.class_count, &rank, err);
    for (uint64_t i = 0; i < source->files.count && status == MSHARD_OK; i++)
        source->files.items[i].label = (int64_t)rank[source->files.items[i].label];
    free(rank);
    return status;
}

static mshard_status list_all(struct folder_source *source, struct walk *walk, const struct mshi_inputs *inputs,
                              mshard_error *err)
{
    const char *labels = inputs->listing->options->labels;

    if (labels && source->mode != CLASS_FOLDERS)
        return mshi_fail(err, MSHARD_E_INVALID, labels, MSHARD_NO_OFFSET,
                         "a flat source has no labels: a class list says nothing about it");
    if (labels) {
        MSHI_TRY(mshi_class_list_load(labels, &walk->given, err));
        walk->has_given = true;
    }
    for (size_t i = 0; i < inputs->count; i++)
        MSHI_TRY(walk_root(walk, inputs->paths[i], err));
    if (inputs->count > 1)
        MSHI_TRY(mshi_file_items_unique(&source->files, inputs->listing, err));
    if (source->mode == CLASS_FOLDERS)
        MSHI_TRY(settle_classes(source, walk, err));
    if (source->files.count == 0 && !inputs->listing->options->allow_empty && !walk->empty_classes)
        return mshi_fail(err, MSHARD_E_FORMAT, inputs->paths[0], MSHARD_NO_OFFSET,
                         "no %s found (%" PRIu64 " files left aside)", source->mode == ANY_BYTES ? "files" : "images",
                         mshi_ignored_total(&walk->ignored));
    mshi_ignored_tell(&walk->ignored, inputs->listing);
    if (walk->loops)
        mshi_note(inputs->listing, "%" PRIu64 " links lead back into their own folder: not followed", walk->loops);
    source->base.ignored = mshi_ignored_total(&walk->ignored);
    source->base.count = source->files.count;
    source->base.bytes = source->files.bytes;
    return MSHARD_OK;
}

static mshard_status folder_read(struct mshi_source *base, uint64_t i, struct mshi_payload *payload, mshard_error *err)
{
    struct folder_source *source = (struct folder_source *)base;

    MSHI_TRY(mshi_file_items_read(&source->files, i, source->max_member, payload, err));
    if (source->mode == CLASS_FOLDERS) {
        payload->data[1] = &source->files.items[i].label;
        payload->size[1] = sizeof(int64_t);
    }
    return MSHARD_OK;
}

static void folder_item(const struct mshi_source *base, uint64_t i, struct mshi_item *item)
{
    const struct folder_source *source = (const struct folder_source *)base;

    *item = (struct mshi_item){.name = mshi_file_items_path(&source->files, i),
                               .key = mshi_file_items_key(&source->files, i),
                               .size = source->files.items[i].size,
                               .offset = MSHARD_NO_OFFSET};
    if (source->mode == CLASS_FOLDERS)
        item->class_plus = (uint64_t)source->files.items[i].label + 1;
}

static void folder_destroy(struct mshi_source *base)
{
    mshi_file_items_clear(&((struct folder_source *)base)->files);
}

static const struct mshi_source_ops folder_ops = {
    .read = folder_read,
    .item = folder_item,
    .destroy = folder_destroy,
};

static mshard_status declare(struct folder_source *source, mshard_error *err)
{
    struct mshi_source *base = &source->base;

    if (source->mode == ANY_BYTES)
        return mshi_source_add_field(base, "data", MSHI_PART_BYTES, MSHARD_UINT8, MSHARD_CONTENT_VALUES, 0, NULL, err);
    MSHI_TRY(mshi_source_add_field(base, "image", MSHI_PART_IMAGE, MSHARD_UINT8, MSHARD_CONTENT_IMAGE, 0, NULL, err));
    if (source->mode == FLAT)
        return MSHARD_OK;
    return mshi_source_add_field(base, "label", MSHI_PART_LABEL, MSHARD_INT64, MSHARD_CONTENT_LABEL, 0, NULL, err);
}

static mshard_status open_folders(const struct mshi_inputs *inputs, enum folder_mode mode, const char *kind,
                                  struct mshi_source **out, mshard_error *err)
{
    struct folder_source *source;
    struct walk walk = {.listing = inputs->listing, .mode = mode};
    mshard_status status;

    MSHI_TRY(mshi_alloc(1, sizeof(*source), &source, err));
    source->base.ops = &folder_ops;
    source->base.kind = kind;
    source->base.random_access = true;
    source->max_member = mshi_max_member(inputs->listing);
    source->mode = mode;
    walk.files = &source->files;
    status = declare(source, err);
    if (status == MSHARD_OK)
        status = list_all(source, &walk, inputs, err);
    mshi_names_clear(&walk.classes);
    mshi_names_clear(&walk.given);
    mshi_ignored_clear(&walk.ignored);
    if (status == MSHARD_OK)
        *out = &source->base;
    else
        mshi_source_free(&source->base);
    return status;
}

mshard_status mshi_source_open_folders(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err)
{
    return open_folders(inputs, CLASS_FOLDERS, "folder", source, err);
}

mshard_status mshi_source_open_flat(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err)
{
    return open_folders(inputs, FLAT, "flat", source, err);
}

mshard_status mshi_source_open_bytes(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err)
{
    return open_folders(inputs, ANY_BYTES, "bytes", source, err);
}
