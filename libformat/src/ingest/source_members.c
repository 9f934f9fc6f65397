/*
 * source_members.c - archives as sources: which layout, and the two without samples (class folders, any bytes)
 *
 * A folder that holds everything is taken off first (what "tar c train" makes), so that keys and classes are those of
 * the folder itself. Records are in the order of the archive.
 */
#include "ingest/member_source.h"

#include "base/alloc.h"
#include "ingest/class_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Length of the folder (slash included) above the class folders of one archive; 0: none. Images decide. */
static size_t common_root(const struct mshi_members *members, uint32_t archive)
{
    const char *first = NULL;
    size_t length = 0;

    for (uint64_t i = 0; i < members->count; i++) {
        const char *name = mshi_members_name(members, i);

        if (members->list[i].at.archive != archive || !members->list[i].image)
            continue;
        const char *slash = strchr(name, '/');
        if (!slash || !strchr(slash + 1, '/'))
            return 0;
        if (!first) {
            first = name;
            length = (size_t)(slash - name) + 1;
        } else if (strncmp(first, name, length) != 0) {
            return 0;
        }
    }
    return length;
}

struct classes {
    struct mshi_member_source *source;
    struct mshi_names names; /* found, or given */
    struct mshi_names keys;  /* of several archives */
    bool given;
    uint64_t top_images, in_folders;
};

static mshard_status class_of(struct classes *classes, const char *key, const char *path, uint64_t *number,
                              mshard_error *err)
{
    const size_t size = strcspn(key, "/");

    if (!classes->given)
        return mshi_names_add(&classes->names, key, size, number, NULL, err);
    if (mshi_names_find(&classes->names, key, size, number))
        return MSHARD_OK;
    return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "class folder '%.*s' is not in the class list %s",
                     (int)size, key, classes->source->members.listing->options->labels);
}

/* The same key in two archives of one run is told, never merged. */
static mshard_status key_is_new(struct mshi_members *members, struct mshi_names *keys, uint64_t i, const char *key,
                                bool *is_new, mshard_error *err)
{
    uint64_t number;

    *is_new = true;
    if (members->archive_count < 2)
        return MSHARD_OK;
    MSHI_TRY(mshi_names_add(keys, key, strlen(key), &number, is_new, err));
    if (*is_new)
        return MSHARD_OK;
    return mshi_members_problem(members, err, members->archives[members->list[i].at.archive].path, MSHARD_E_FORMAT,
                                "key '%.300s' is there already in another archive", key);
}

static mshard_status add_image(struct classes *classes, uint64_t i, size_t root, mshard_error *err)
{
    struct mshi_member_source *source = classes->source;
    struct mshi_members *members = &source->members;
    const struct mshi_listed *listed = &members->list[i];
    const char *key = mshi_members_name(members, i) + root;
    uint64_t number = 0;
    bool is_new;

    if (!strchr(key, '/')) {
        classes->top_images++;
        return MSHARD_OK;
    }
    classes->in_folders++;
    MSHI_TRY(class_of(classes, key, members->archives[listed->at.archive].path, &number, err));
    MSHI_TRY(key_is_new(members, &classes->keys, i, key, &is_new, err));
    if (!is_new || listed->dropped)
        return MSHARD_OK;
    MSHI_TRY(mshi_member_source_add(source, i, NULL, strlen(key), (int64_t)number, err));
    source->values[source->base.count - 1] = listed->at;
    source->base.bytes += listed->at.size;
    return MSHARD_OK;
}

static mshard_status check_classes(const struct classes *classes, mshard_error *err)
{
    const struct mshi_members *members = &classes->source->members;
    const char *path = members->archives[0].path;

    if (classes->top_images && classes->in_folders)
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                         "%" PRIu64 " images at top level beside class folders: images must be in class folders",
                         classes->top_images);
    if (classes->top_images)
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                         "no class folders in it, %" PRIu64
                         " images at top level; use --format webdataset for records without labels",
                         classes->top_images);
    if (classes->in_folders || members->problem_count || members->listing->options->allow_empty)
        return MSHARD_OK;
    return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                     "no images in it (%" PRIu64 " other members; --format bytes packs any members as they are)",
                     members->count + mshi_ignored_total(&members->ignored));
}

static mshard_status fill_classes(struct classes *classes, mshard_error *err)
{
    struct mshi_member_source *source = classes->source;
    struct mshi_members *members = &source->members;
    const char *labels = members->listing->options->labels;
    size_t root = 0;
    uint64_t *rank = NULL;

    if (labels) {
        MSHI_TRY(mshi_class_list_load(labels, &classes->names, err));
        classes->given = true;
    }
    for (uint64_t i = 0; i < members->count; i++) {
        if (i == 0 || members->list[i].at.archive != members->list[i - 1].at.archive)
            root = common_root(members, members->list[i].at.archive);
        if (members->list[i].image)
            MSHI_TRY(add_image(classes, i, root, err));
        else
            MSHI_TRY(mshi_ignored_add(&members->ignored, mshi_members_name(members, i), err));
    }
    MSHI_TRY(check_classes(classes, err));
    const mshard_status status = mshi_class_list_take(&classes->names, !classes->given, &source->base.classes,
                                                      &source->base.class_count, &rank, err);
    for (uint64_t i = 0; i < source->base.count && status == MSHARD_OK && rank; i++)
        source->items[i].label = (int64_t)rank[source->items[i].label];
    free(rank);
    return status;
}

mshard_status mshi_layout_classes(struct mshi_member_source *source, mshard_error *err)
{
    struct classes classes = {.source = source};

    source->base.kind = "archive";
    MSHI_TRY(mshi_member_source_field(source, "image", MSHI_PART_IMAGE, MSHARD_CONTENT_IMAGE, NULL, err));
    MSHI_TRY(mshi_member_source_field(source, "label", MSHI_PART_LABEL, MSHARD_CONTENT_LABEL, NULL, err));
    const mshard_status status = fill_classes(&classes, err);
    mshi_names_clear(&classes.names);
    mshi_names_clear(&classes.keys);
    return status;
}

mshard_status mshi_layout_bytes(struct mshi_member_source *source, mshard_error *err)
{
    struct mshi_members *members = &source->members;
    struct mshi_names keys = {.count = 0};
    mshard_status status;

    source->base.kind = "bytes";
    status = mshi_member_source_field(source, "data", MSHI_PART_BYTES, MSHARD_CONTENT_VALUES, NULL, err);
    for (uint64_t i = 0; i < members->count && status == MSHARD_OK; i++) {
        const char *key = mshi_members_name(members, i);
        bool is_new;

        status = key_is_new(members, &keys, i, key, &is_new, err);
        if (status != MSHARD_OK || !is_new || members->list[i].dropped)
            continue;
        status = mshi_member_source_add(source, i, NULL, strlen(key), 0, err);
        if (status == MSHARD_OK)
            source->values[source->base.count - 1] = members->list[i].at;
        source->base.bytes += members->list[i].at.size;
    }
    mshi_names_clear(&keys);
    if (status == MSHARD_OK && members->count == 0 && !members->problem_count &&
        !members->listing->options->allow_empty)
        return mshi_fail(err, MSHARD_E_FORMAT, members->archives[0].path, MSHARD_NO_OFFSET, "no files in it");
    return status;
}

/* ---- opening ---- */

static mshard_status lay_out(struct mshi_member_source *source, enum mshi_archive_layout layout, mshard_error *err)
{
    bool samples = layout == MSHI_LAYOUT_SAMPLES;

    if (layout == MSHI_LAYOUT_BYTES)
        return mshi_layout_bytes(source, err);
    if (layout == MSHI_LAYOUT_AUTO)
        MSHI_TRY(mshi_members_are_samples(&source->members, &samples, err));
    return samples ? mshi_layout_samples(source, err) : mshi_layout_classes(source, err);
}

/* Back to a source without fields and items, for a second listing. */
static void start_again(struct mshi_member_source *source)
{
    struct mshi_source *base = &source->base;

    for (uint64_t c = 0; c < base->class_count; c++)
        free(base->classes[c]);
    free(base->classes);
    base->classes = NULL;
    base->class_count = base->count = base->bytes = 0;
    base->field_count = 0;
    source->value_count = 0;
    source->label_field = -1;
    source->text.size = 0;
}

static mshard_status list_all(struct mshi_member_source *source, const struct mshi_inputs *inputs,
                              enum mshi_archive_layout layout, mshard_error *err)
{
    struct mshi_members *members = &source->members;
    bool spooling = inputs->listing->options->shuffle != 0;

    members->any_bytes = layout == MSHI_LAYOUT_BYTES;
    members->want_contents = layout == MSHI_LAYOUT_AUTO || layout == MSHI_LAYOUT_SAMPLES;
    MSHI_TRY(mshi_members_open(members, inputs, err));
    for (;;) {
        MSHI_TRY(mshi_members_list(members, spooling, err));
        if (!members->need_spool) {
            MSHI_TRY(lay_out(source, layout, err));
            if (mshi_member_source_in_order(source))
                break;
        }
        start_again(source);
        spooling = true; /* a hard link, or samples whose members lie apart, in a packed archive */
    }
    mshi_members_tell(members);
    source->base.ignored = mshi_ignored_total(&members->ignored);
    source->base.random_access = true;
    for (uint64_t i = 0; i < source->base.count * source->value_count; i++)
        source->base.random_access &= source->values[i].place != MSHI_IN_ORDER;
    free(members->list); /* all that is needed of it is in the items */
    members->list = NULL;
    members->listing = NULL; /* the caller's; it may be gone when records are read */
    members->count = members->capacity = 0;
    mshi_buf_clear(&members->text);
    return MSHARD_OK;
}

mshard_status mshi_source_open_archives(const struct mshi_inputs *inputs, enum mshi_archive_layout layout,
                                        struct mshi_source **out, mshard_error *err)
{
    struct mshi_member_source *source;

    MSHI_TRY(mshi_alloc(1, sizeof(*source), &source, err));
    source->base.ops = &mshi_member_source_ops;
    source->base.kind = "archive";
    source->label_field = -1;
    source->max_member = mshi_max_member(inputs->listing);
    source->members.listing = inputs->listing;
    const mshard_status status = list_all(source, inputs, layout, err);
    if (status == MSHARD_OK)
        *out = &source->base;
    else
        mshi_source_free(&source->base);
    return status;
}
