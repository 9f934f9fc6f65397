/*
 * source_cifar.c - CIFAR-10 and CIFAR-100, binary version: label bytes, then 32 x 32 pixels plane by plane
 *
 * Pixels become [32, 32, 3]. Class names come from batches.meta.txt or fine_label_names.txt beside the files. A folder
 * stands for its training files, in bytewise order; the test file is given by name.
 */
#include "ingest/source_kinds.h"

#include "base/alloc.h"
#include "ingest/class_list.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SIDE 32
#define PLANE (SIDE * SIDE)
#define PIXELS (3 * PLANE)
#define MAX_OPEN 48

struct part {
    char *path;
    struct mshi_file file; /* fd -1: opened for each run */
    uint64_t first, count;
};

struct cifar_source {
    struct mshi_source base;
    struct part *parts;
    uint64_t part_count, part_capacity;
    uint64_t record; /* bytes: 3073 or 3074 */
    bool hundred;
};

/* Does the first record's label, and that of each following up to eight, lie in range? */
static bool labels_in_range(const struct mshi_file *file, const char *path, bool hundred)
{
    const uint64_t record = PIXELS + (hundred ? 2 : 1);
    uint8_t labels[2];
    size_t got;

    for (uint64_t i = 0; i < 8 && i < file->size / record; i++) {
        if (mshi_file_read(file, labels, sizeof(labels), i * record, &got, path, NULL) != MSHARD_OK || got < 2 ||
            labels[0] >= (hundred ? 20 : 10) || (hundred && labels[1] >= 100))
            return false;
    }
    return true;
}

int mshi_file_is_cifar(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const size_t length = strlen(name);
    struct mshi_file file;
    int kind = 0;

    if (length < 4 || strcasecmp(name + length - 4, ".bin") != 0 ||
        !(strstr(name, "batch") || strstr(name, "train") || strstr(name, "test")) ||
        mshi_file_open(path, &file, NULL) != MSHARD_OK)
        return 0;
    if (file.size && file.size % (PIXELS + 1) == 0 && labels_in_range(&file, path, false))
        kind = 10;
    else if (file.size && file.size % (PIXELS + 2) == 0 && labels_in_range(&file, path, true))
        kind = 100;
    mshi_file_close(&file);
    return kind;
}

static bool is_training_file(const char *name, bool hundred)
{
    const size_t length = strlen(name);

    if (hundred)
        return strcmp(name, "train.bin") == 0;
    return strncmp(name, "data_batch_", 11) == 0 && length > 15 && strcmp(name + length - 4, ".bin") == 0;
}

int mshi_folder_is_cifar(const char *path)
{
    static const char *const names[] = {"data_batch_1.bin", "train.bin"};
    int kind = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !kind; i++) {
        char *inner;

        if (mshi_path_join(path, names[i], &inner, NULL) != MSHARD_OK)
            continue;
        if (mshi_path_kind(inner, NULL) == MSHI_FILE)
            kind = mshi_file_is_cifar(inner);
        free(inner);
    }
    return kind;
}

/* ---- reading ---- */

static mshard_status read_part(const struct cifar_source *source, const struct part *part, uint64_t skip, uint64_t n,
                               uint8_t *to, mshard_error *err)
{
    struct mshi_file file = part->file;
    const uint64_t at = skip * source->record;
    size_t got = 0;

    if (part->file.fd < 0)
        MSHI_TRY(mshi_file_open(part->path, &file, err));
    mshard_status status = mshi_file_read(&file, to, (size_t)(n * source->record), at, &got, part->path, err);
    if (part->file.fd < 0)
        mshi_file_close(&file);
    if (status == MSHARD_OK && got != n * source->record)
        status = mshi_fail(err, MSHARD_E_TRUNCATED, part->path, at + got, "changed since it was listed");
    return status;
}

static mshard_status take_records(const struct cifar_source *source, const struct part *part, uint64_t skip, uint64_t n,
                                  const uint8_t *from, uint8_t *pixels, int64_t *coarse, int64_t *labels,
                                  mshard_error *err)
{
    const unsigned classes = source->hundred ? 100 : 10;

    for (uint64_t i = 0; i < n; i++, from += source->record, pixels += PIXELS) {
        const uint8_t *planes = from + (source->hundred ? 2 : 1);
        const uint8_t label = from[source->hundred ? 1 : 0];

        if (label >= classes || (source->hundred && from[0] >= 20))
            return mshi_fail(err, MSHARD_E_CORRUPT, part->path, (skip + i) * source->record,
                             "a label below %u expected, found %u: not CIFAR-%u, or another record size",
                             label >= classes ? classes : 20, label >= classes ? label : from[0], classes);
        labels[i] = label;
        if (coarse)
            coarse[i] = from[0];
        for (size_t p = 0; p < PLANE; p++) {
            pixels[3 * p] = planes[p];
            pixels[3 * p + 1] = planes[PLANE + p];
            pixels[3 * p + 2] = planes[2 * PLANE + p];
        }
    }
    return MSHARD_OK;
}

static uint64_t part_of(const struct cifar_source *source, uint64_t i)
{
    uint64_t p = 0;

    while (p + 1 < source->part_count && source->parts[p + 1].first <= i)
        p++;
    return p;
}

static mshard_status cifar_read_run(struct mshi_source *base, uint64_t i, uint64_t n, struct mshi_payload *payload,
                                    mshard_error *err)
{
    const struct cifar_source *source = (const struct cifar_source *)base;
    const uint64_t label_size = n * sizeof(int64_t);

    MSHI_TRY(mshi_payload_reserve(payload, 2 * label_size + n * PIXELS + n * source->record, err));
    int64_t *labels = payload->buffer, *coarse = source->hundred ? labels + n : NULL;
    uint8_t *pixels = (uint8_t *)(labels + 2 * n), *raw = pixels + n * PIXELS;

    for (uint64_t done = 0, p = part_of(source, i); done < n; p++) {
        const struct part *part = &source->parts[p];
        const uint64_t skip = i + done - part->first;
        const uint64_t take = n - done < part->count - skip ? n - done : part->count - skip;

        MSHI_TRY(read_part(source, part, skip, take, raw, err));
        MSHI_TRY(take_records(source, part, skip, take, raw, pixels + done * PIXELS, coarse ? coarse + done : NULL,
                              labels + done, err));
        done += take;
    }
    payload->data[0] = pixels;
    payload->size[0] = (size_t)(n * PIXELS);
    payload->data[1] = source->hundred ? coarse : labels;
    payload->data[2] = labels;
    payload->size[1] = payload->size[2] = (size_t)label_size;
    return MSHARD_OK;
}

static mshard_status cifar_read(struct mshi_source *base, uint64_t i, struct mshi_payload *payload, mshard_error *err)
{
    return cifar_read_run(base, i, 1, payload, err);
}

static void cifar_item(const struct mshi_source *base, uint64_t i, struct mshi_item *item)
{
    const struct cifar_source *source = (const struct cifar_source *)base;
    const struct part *part = &source->parts[part_of(source, i)];

    *item =
        (struct mshi_item){.name = part->path, .size = source->record, .offset = (i - part->first) * source->record};
}

static void cifar_destroy(struct mshi_source *base)
{
    struct cifar_source *source = (struct cifar_source *)base;

    for (uint64_t p = 0; p < source->part_count; p++) {
        mshi_file_close(&source->parts[p].file);
        free(source->parts[p].path);
    }
    free(source->parts);
}

static const struct mshi_source_ops cifar_ops = {
    .read = cifar_read,
    .read_run = cifar_read_run,
    .item = cifar_item,
    .destroy = cifar_destroy,
};

/* ---- listing ---- */

static mshard_status check_file(const struct cifar_source *source, const char *path, const struct mshi_file *file,
                                mshard_error *err)
{
    uint8_t head[4];
    size_t got = 0;

    MSHI_TRY(mshi_file_read(file, head, sizeof(head), 0, &got, path, err));
    if (mshi_head_is_pickle(head, got))
        return mshi_fail(
            err, MSHARD_E_FORMAT, path, 0,
            "this is CIFAR's Python version, a pickle, which is never loaded; the binary version is needed");
    if (file->size % source->record || file->size == 0)
        return mshi_fail(err, MSHARD_E_TRUNCATED, path, file->size - file->size % source->record,
                         "%" PRIu64 " bytes are not a multiple of %" PRIu64 " bytes a record", file->size,
                         source->record);
    return MSHARD_OK;
}

static mshard_status add_file(struct cifar_source *source, const char *path, mshard_error *err)
{
    struct part part = {.first = source->base.count};

    MSHI_TRY(mshi_grow(&source->parts, &source->part_capacity, source->part_count + 1, sizeof(part), err));
    MSHI_TRY(mshi_file_open(path, &part.file, err));
    mshard_status status = check_file(source, path, &part.file, err);
    if (status == MSHARD_OK)
        status = mshi_strdup(path, &part.path, err);
    if (status != MSHARD_OK) {
        mshi_file_close(&part.file);
        return status;
    }
    part.count = part.file.size / source->record;
    source->base.count += part.count;
    source->base.bytes += part.file.size;
    if (source->part_count >= MAX_OPEN)
        mshi_file_close(&part.file);
    source->parts[source->part_count++] = part;
    return MSHARD_OK;
}

static mshard_status add_folder(struct cifar_source *source, const char *path, mshard_error *err)
{
    struct mshi_entry *entries;
    size_t count;
    const uint64_t before = source->part_count;

    MSHI_TRY(mshi_folder_list(path, false, &entries, &count, err));
    mshard_status status = MSHARD_OK;
    for (size_t i = 0; i < count && status == MSHARD_OK; i++) {
        char *inner;

        if (!is_training_file(entries[i].name, source->hundred))
            continue;
        status = mshi_path_join(path, entries[i].name, &inner, err);
        if (status == MSHARD_OK) {
            status = add_file(source, inner, err);
            free(inner);
        }
    }
    mshi_folder_free(entries, count);
    if (status == MSHARD_OK && source->part_count == before)
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "no %s in it",
                         source->hundred ? "train.bin" : "data_batch_N.bin");
    return status;
}

/* Names from the list beside the first file; none when there is no list, or it has another number of names. */
static mshard_status class_names(struct cifar_source *source, const struct mshi_listing *listing, mshard_error *err)
{
    const uint64_t expected = source->hundred ? 100 : 10;
    const char *given = listing->options->labels;
    struct mshi_names names = {.count = 0};
    char *folder, *path = NULL;
    mshard_status status;

    MSHI_TRY(mshi_strdup(source->parts[0].path, &folder, err));
    char *slash = strrchr(folder, '/');
    folder[slash ? slash - folder + 1 : 0] = '\0';
    status = given ? mshi_strdup(given, &path, err)
                   : mshi_path_join(folder, source->hundred ? "fine_label_names.txt" : "batches.meta.txt", &path, err);
    free(folder);
    if (status == MSHARD_OK && (given || mshi_path_kind(path, NULL) == MSHI_FILE)) {
        status = mshi_class_list_load(path, &names, err);
        if (status == MSHARD_OK && names.count != expected)
            status = mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                               "expected %" PRIu64 " class names, found %" PRIu64, expected, names.count);
        if (status == MSHARD_OK)
            status = mshi_class_list_take(&names, false, &source->base.classes, &source->base.class_count, NULL, err);
    }
    mshi_names_clear(&names);
    free(path);
    return status;
}

static mshard_status list_all(struct cifar_source *source, const struct mshi_inputs *inputs, mshard_error *err)
{
    static const uint64_t shape[] = {SIDE, SIDE, 3};
    struct mshi_source *base = &source->base;

    MSHI_TRY(mshi_source_add_field(base, "image", MSHI_PART_VALUES, MSHARD_UINT8, MSHARD_CONTENT_IMAGE, 3, shape, err));
    if (source->hundred)
        MSHI_TRY(mshi_source_add_field(base, "coarse_label", MSHI_PART_VALUES, MSHARD_INT64, MSHARD_CONTENT_LABEL, 0,
                                       NULL, err));
    MSHI_TRY(mshi_source_add_field(base, "label", MSHI_PART_LABEL, MSHARD_INT64, MSHARD_CONTENT_LABEL, 0, NULL, err));
    for (size_t i = 0; i < inputs->count; i++) {
        const bool folder = mshi_path_kind(inputs->paths[i], NULL) == MSHI_FOLDER;
        MSHI_TRY(folder ? add_folder(source, inputs->paths[i], err) : add_file(source, inputs->paths[i], err));
    }
    return class_names(source, inputs->listing, err);
}

mshard_status mshi_source_open_cifar(const struct mshi_inputs *inputs, bool hundred, struct mshi_source **out,
                                     mshard_error *err)
{
    struct cifar_source *source;

    MSHI_TRY(mshi_alloc(1, sizeof(*source), &source, err));
    source->base.ops = &cifar_ops;
    source->base.kind = hundred ? "cifar100" : "cifar10";
    source->base.random_access = true;
    source->record = PIXELS + (hundred ? 2 : 1);
    source->hundred = hundred;
    const mshard_status status = list_all(source, inputs, err);
    if (status == MSHARD_OK)
        *out = &source->base;
    else
        mshi_source_free(&source->base);
    return status;
}
