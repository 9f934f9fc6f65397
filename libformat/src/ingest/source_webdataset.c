/*
 * source_webdataset.c - archives of samples: members KEY.EXT that share a key are the fields of one record
 *
 * The key is the folder and the file name up to its first dot; the extension is the rest, in lower case. Members of a
 * sample may lie anywhere in the archive. A sample is whole or it is reported and left out.
 */
#include "ingest/member_source.h"

#include "base/alloc.h"
#include "ingest/class_list.h"
#include "ingest/decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NONE UINT64_MAX
#define MAX_EXTENSIONS 1000

struct sample {
    uint64_t first;    /* member */
    uint64_t reported; /* archive + 1 that has the key too */
    bool image, other, bad;
};

/* Which sample and extension each member has. */
struct grouping {
    struct mshi_names keys, extensions;
    struct sample *samples;
    uint64_t capacity;
    uint64_t *sample_of, *extension_of; /* of each member; NONE: belongs to no sample */
};

enum role { IMAGE, LABEL, ARRAY, TEXT, OTHER };

/* One field to be: an extension, or all plain image extensions together. */
struct slot {
    char name[MSHARD_MAX_NAME + 1];
    enum role role;
    uint64_t samples; /* that have it */
    uint64_t extension;
    bool kept;
    bool same_array; /* ARRAY: all have one dtype and shape */
    uint32_t npy;
};

struct plan {
    struct mshi_member_source *source;
    struct grouping groups;
    struct slot *slots;
    uint64_t slot_count;
    uint64_t *slot_of; /* of each extension */
    uint64_t *order;   /* of slots: the fields */
    uint64_t *found;   /* samples * slots: member, or NONE */
    struct mshi_names labels;
};

static void grouping_clear(struct grouping *groups)
{
    mshi_names_clear(&groups->keys);
    mshi_names_clear(&groups->extensions);
    free(groups->samples);
    free(groups->sample_of);
    free(groups->extension_of);
}

static bool image_extension(const char *extension)
{
    char name[80];

    snprintf(name, sizeof(name), "x.%.70s", extension);
    return mshi_image_name(name);
}

static enum role role_of(const char *extension)
{
    const char *dot = strrchr(extension, '.');
    const char *last = dot ? dot + 1 : extension;

    if (image_extension(last))
        return IMAGE;
    if (strcmp(extension, "cls") == 0)
        return LABEL;
    if (strcmp(last, "npy") == 0)
        return ARRAY;
    return strcmp(last, "txt") == 0 || strcmp(last, "json") == 0 ? TEXT : OTHER;
}

static mshard_status group_member(struct grouping *groups, const struct mshi_members *members, uint64_t i,
                                  mshard_error *err)
{
    const char *name = mshi_members_name(members, i);
    const char *slash = strrchr(name, '/');
    const char *dot = strchr(slash ? slash + 1 : name, '.');
    char extension[64];
    size_t n = 0;
    uint64_t key;
    bool added;

    groups->sample_of[i] = groups->extension_of[i] = NONE;
    if (!dot || !dot[1] || strlen(dot + 1) >= sizeof(extension))
        return MSHARD_OK;
    for (; dot[1 + n]; n++)
        extension[n] = dot[1 + n] >= 'A' && dot[1 + n] <= 'Z' ? (char)(dot[1 + n] + 'a' - 'A') : dot[1 + n];
    extension[n] = '\0';
    MSHI_TRY(mshi_names_add(&groups->keys, name, (size_t)(dot - name), &key, &added, err));
    if (added) {
        MSHI_TRY(mshi_grow(&groups->samples, &groups->capacity, key + 1, sizeof(*groups->samples), err));
        groups->samples[key] = (struct sample){.first = i};
    }
    groups->sample_of[i] = key;
    if (role_of(extension) == IMAGE)
        groups->samples[key].image = true;
    else
        groups->samples[key].other = true;
    return mshi_names_add(&groups->extensions, extension, n, &groups->extension_of[i], NULL, err);
}

static mshard_status group(struct grouping *groups, const struct mshi_members *members, mshard_error *err)
{
    MSHI_TRY(mshi_alloc(members->count, sizeof(uint64_t), &groups->sample_of, err));
    MSHI_TRY(mshi_alloc(members->count, sizeof(uint64_t), &groups->extension_of, err));
    for (uint64_t i = 0; i < members->count; i++)
        MSHI_TRY(group_member(groups, members, i, err));
    return MSHARD_OK;
}

mshard_status mshi_members_are_samples(const struct mshi_members *members, bool *samples, mshard_error *err)
{
    struct grouping groups = {.capacity = 0};
    uint64_t images = 0, whole = 0, others = 0;
    const mshard_status status = group(&groups, members, err);

    for (uint64_t k = 0; k < groups.keys.count && status == MSHARD_OK; k++) {
        images += groups.samples[k].image;
        whole += groups.samples[k].image && groups.samples[k].other;
        others += groups.samples[k].other;
    }
    /* Without any image: samples of arrays, labels and texts, when there are fewer keys than members. */
    *samples = images ? whole * 2 >= images : others && groups.keys.count < members->count;
    grouping_clear(&groups);
    return status;
}

/* ---- fields ---- */

/* Plain image extensions are one field, unless a sample has two of them. */
static mshard_status one_image_a_sample(const struct plan *plan, bool *one, mshard_error *err)
{
    const struct grouping *groups = &plan->groups;
    uint8_t *seen;

    MSHI_TRY(mshi_alloc(groups->keys.count, 1, &seen, err));
    *one = true;
    for (uint64_t i = 0; i < plan->source->members.count; i++) {
        const uint64_t e = groups->extension_of[i];
        if (e == NONE || strchr(mshi_names_at(&groups->extensions, e), '.') ||
            role_of(mshi_names_at(&groups->extensions, e)) != IMAGE)
            continue;
        *one &= !seen[groups->sample_of[i]];
        seen[groups->sample_of[i]] = 1;
    }
    free(seen);
    return MSHARD_OK;
}

static mshard_status make_slots(struct plan *plan, mshard_error *err)
{
    const struct mshi_names *extensions = &plan->groups.extensions;
    uint64_t image = NONE;
    bool one;

    MSHI_TRY(one_image_a_sample(plan, &one, err));
    MSHI_TRY(mshi_alloc(extensions->count, sizeof(*plan->slots), &plan->slots, err));
    MSHI_TRY(mshi_alloc(extensions->count, sizeof(*plan->slot_of), &plan->slot_of, err));
    for (uint64_t e = 0; e < extensions->count; e++) {
        const char *extension = mshi_names_at(extensions, e);
        struct slot slot = {.role = role_of(extension), .extension = e, .same_array = true};
        const bool plain = slot.role == IMAGE && one && !strchr(extension, '.');

        if (plain && image != NONE) {
            plan->slot_of[e] = image;
            continue;
        }
        if (plain)
            image = plan->slot_count;
        if (plain || slot.role == LABEL)
            snprintf(slot.name, sizeof(slot.name), "%s", plain ? "image" : "label");
        else
            mshi_field_name(extension, strlen(extension), slot.name);
        plan->slot_of[e] = plan->slot_count;
        plan->slots[plan->slot_count++] = slot;
    }
    return MSHARD_OK;
}

/* The member of each sample and slot; doubles and keys of two archives are told. */
static mshard_status fill_table(struct plan *plan, mshard_error *err)
{
    struct mshi_members *members = &plan->source->members;
    struct grouping *groups = &plan->groups;

    MSHI_TRY(mshi_alloc(groups->keys.count * plan->slot_count, sizeof(*plan->found), &plan->found, err));
    for (uint64_t i = 0; i < groups->keys.count * plan->slot_count; i++)
        plan->found[i] = NONE;
    for (uint64_t i = 0; i < members->count; i++) {
        const uint64_t s = groups->sample_of[i];
        const uint32_t archive = members->list[i].at.archive;

        if (s == NONE) {
            MSHI_TRY(mshi_ignored_add(&members->ignored, mshi_members_name(members, i), err));
            continue;
        }
        struct sample *sample = &groups->samples[s];
        struct slot *slot = &plan->slots[plan->slot_of[groups->extension_of[i]]];
        uint64_t *found = &plan->found[s * plan->slot_count + (uint64_t)(slot - plan->slots)];

        if (archive != members->list[sample->first].at.archive) {
            if (sample->reported != archive + 1u)
                MSHI_TRY(mshi_members_problem(members, err, members->archives[archive].path, MSHARD_E_FORMAT,
                                              "key '%.300s' is there already in %.120s",
                                              mshi_names_at(&groups->keys, s),
                                              members->archives[members->list[sample->first].at.archive].path));
            sample->reported = archive + 1u;
            continue;
        }
        sample->bad |= members->list[i].dropped;
        if (*found != NONE) {
            if (!sample->bad)
                MSHI_TRY(mshi_members_problem(members, err, members->archives[archive].path, MSHARD_E_FORMAT,
                                              "sample '%.200s' has two members for field %s",
                                              mshi_names_at(&groups->keys, s), slot->name));
            sample->bad = true;
            continue;
        }
        *found = i;
        slot->samples++;
    }
    return MSHARD_OK;
}

/* Fields are what at least half of the samples have: one stray member makes no field of all. */
static mshard_status keep_slots(struct plan *plan, mshard_error *err)
{
    struct mshi_members *members = &plan->source->members;
    const struct grouping *groups = &plan->groups;

    for (uint64_t k = 0; k < plan->slot_count; k++) {
        struct slot *slot = &plan->slots[k];

        slot->kept = slot->samples * 2 >= groups->keys.count;
        for (uint64_t s = 0; s < groups->keys.count; s++) {
            const uint64_t i = plan->found[s * plan->slot_count + k];

            if (i == NONE)
                continue;
            if (!slot->kept)
                MSHI_TRY(mshi_ignored_add(&members->ignored, mshi_members_name(members, i), err));
            if (slot->npy == 0)
                slot->npy = members->list[i].npy;
            slot->same_array &= members->list[i].npy != 0 && members->list[i].npy == slot->npy;
        }
        if (!slot->kept)
            mshi_members_note(members, "members .%s left aside: fewer than half of the samples have one",
                              mshi_names_at(&groups->extensions, slot->extension));
    }
    return MSHARD_OK;
}

static int by_role(const void *a, const void *b, void *context)
{
    const struct plan *plan = context;
    const struct slot *x = &plan->slots[*(const uint64_t *)a], *y = &plan->slots[*(const uint64_t *)b];
    const int rx = x->role < ARRAY ? (int)x->role : (int)ARRAY, ry = y->role < ARRAY ? (int)y->role : (int)ARRAY;

    return rx != ry ? rx - ry : strcmp(x->name, y->name);
}

static mshard_status declare(struct plan *plan, mshard_error *err)
{
    struct mshi_member_source *source = plan->source;
    struct mshi_members *members = &source->members;

    MSHI_TRY(mshi_alloc(plan->slot_count, sizeof(*plan->order), &plan->order, err));
    for (uint64_t k = 0; k < plan->slot_count; k++)
        plan->order[k] = k;
    if (plan->slot_count)
        qsort_r(plan->order, (size_t)plan->slot_count, sizeof(*plan->order), by_role, plan);
    for (uint64_t k = 0; k < plan->slot_count; k++) {
        const struct slot *slot = &plan->slots[plan->order[k]];
        const bool array = slot->role == ARRAY && slot->same_array;
        const struct mshi_npy *npy = array ? &members->npys[slot->npy - 1] : NULL;

        if (!slot->kept)
            continue;
        if (slot->role == ARRAY && !array)
            mshi_members_note(members, "field %s: arrays of different dtypes or shapes, kept as bytes of .npy files",
                              slot->name);
        MSHI_TRY(mshi_member_source_field(source, slot->name,
                                          slot->role == IMAGE   ? MSHI_PART_IMAGE
                                          : slot->role == LABEL ? MSHI_PART_LABEL
                                          : array               ? MSHI_PART_VALUES
                                                                : MSHI_PART_BYTES,
                                          slot->role == IMAGE   ? MSHARD_CONTENT_IMAGE
                                          : slot->role == LABEL ? MSHARD_CONTENT_LABEL
                                          : slot->role == TEXT  ? MSHARD_CONTENT_TEXT
                                          : array               ? mshi_array_content(npy->dtype, npy->ndim, npy->shape)
                                                                : MSHARD_CONTENT_VALUES,
                                          npy, err));
    }
    return MSHARD_OK;
}

/* ---- records ---- */

/* A whole sample becomes a record; its label is the number of its text until all are known. */
static mshard_status add_sample(struct plan *plan, uint64_t s, mshard_error *err)
{
    struct mshi_member_source *source = plan->source;
    struct mshi_members *members = &source->members;
    const struct sample *sample = &plan->groups.samples[s];
    const uint64_t *found = &plan->found[s * plan->slot_count];
    const char *key = mshi_names_at(&plan->groups.keys, s);
    const char *path = members->archives[members->list[sample->first].at.archive].path;
    uint64_t label = 0;
    uint32_t v = 0;

    if (sample->bad)
        return MSHARD_OK;
    for (uint64_t k = 0; k < plan->slot_count; k++) {
        const struct slot *slot = &plan->slots[k];

        if (slot->kept && found[k] == NONE)
            return mshi_members_problem(members, err, path, MSHARD_E_FORMAT, "sample '%.300s' has no .%s member", key,
                                        mshi_names_at(&plan->groups.extensions, slot->extension));
        if (!slot->kept || slot->role != LABEL)
            continue;
        const uint64_t text = members->list[found[k]].label;
        if (text == MSHI_NO_TEXT || !members->text.data[text])
            return mshi_members_problem(members, err, path, MSHARD_E_FORMAT,
                                        "sample '%.300s': its .cls member holds no label", key);
        MSHI_TRY(mshi_names_add(&plan->labels, members->text.data + text, strlen(members->text.data + text), &label,
                                NULL, err));
    }
    MSHI_TRY(mshi_member_source_add(source, sample->first, key, strlen(key), (int64_t)label, err));
    for (uint64_t k = 0; k < plan->slot_count; k++) {
        const struct slot *slot = &plan->slots[plan->order[k]];

        if (!slot->kept || slot->role == LABEL)
            continue;
        const struct mshi_located at = members->list[found[plan->order[k]]].at;
        source->values[(source->base.count - 1) * source->value_count + v++] = at;
        source->base.bytes += at.size;
    }
    return MSHARD_OK;
}

static mshard_status settle_labels(struct plan *plan, mshard_error *err)
{
    struct mshi_member_source *source = plan->source;
    const struct mshi_members *members = &source->members;
    const char *given = members->listing->options->labels;
    int64_t *values;

    if (source->label_field < 0)
        return given ? mshi_fail(err, MSHARD_E_INVALID, members->archives[0].path, MSHARD_NO_OFFSET,
                                 "a class list was given, but the samples have no .cls member")
                     : MSHARD_OK;
    MSHI_TRY(mshi_alloc(plan->labels.count, sizeof(*values), &values, err));
    const mshard_status status = mshi_label_values(&plan->labels, given, members->archives[0].path, values,
                                                   &source->base.classes, &source->base.class_count, err);
    for (uint64_t i = 0; i < source->base.count && status == MSHARD_OK; i++)
        source->items[i].label = values[source->items[i].label];
    free(values);
    return status;
}

static mshard_status plan_samples(struct plan *plan, mshard_error *err)
{
    struct mshi_members *members = &plan->source->members;

    MSHI_TRY(group(&plan->groups, members, err));
    if (plan->groups.keys.count == 0 && !members->problem_count && !members->listing->options->allow_empty)
        return mshi_fail(err, MSHARD_E_FORMAT, members->archives[0].path, MSHARD_NO_OFFSET,
                         "no samples in it: no member is named KEY.EXT (%" PRIu64 " members)", members->count);
    if (plan->groups.extensions.count > MAX_EXTENSIONS)
        return mshi_fail(err, MSHARD_E_FORMAT, members->archives[0].path, MSHARD_NO_OFFSET,
                         "no samples in it: %" PRIu64 " different extensions (a key ends at the first dot of a name)",
                         plan->groups.extensions.count);
    MSHI_TRY(make_slots(plan, err));
    MSHI_TRY(fill_table(plan, err));
    MSHI_TRY(keep_slots(plan, err));
    MSHI_TRY(declare(plan, err));
    for (uint64_t s = 0; s < plan->groups.keys.count; s++)
        MSHI_TRY(add_sample(plan, s, err));
    return settle_labels(plan, err);
}

mshard_status mshi_layout_samples(struct mshi_member_source *source, mshard_error *err)
{
    struct plan plan = {.source = source};

    source->base.kind = "webdataset";
    const mshard_status status = plan_samples(&plan, err);
    grouping_clear(&plan.groups);
    free(plan.slots);
    free(plan.slot_of);
    free(plan.order);
    free(plan.found);
    mshi_names_clear(&plan.labels);
    return status;
}
