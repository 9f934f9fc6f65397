/*
 * source.c - which kind of source the inputs are, and the entry of source.h
 *
 * Content decides before names do; what is not recognised is named with its first bytes. All inputs of a run are of one
 * kind.
 */
#include "ingest/source_kinds.h"

#include "base/alloc.h"
#include "ingest/archive.h"
#include "ingest/class_list.h"
#include "ingest/decode.h"
#include "ingest/gzip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEAD 512
#define FORMATS "folder, flat, list, npy, npz, cifar10, cifar100, idx, raw, archive, webdataset, bytes"

enum kind { UNKNOWN, FOLDERS, FLAT, LISTS, ARRAYS, CIFAR10, CIFAR100, IDX, RAW, ARCHIVES, WEBDATASET, BYTES };

static const struct {
    const char *name;
    enum kind kind;
} formats[] = {
    {"folder", FOLDERS},        {"flat", FLAT},         {"list", LISTS}, {"npy", ARRAYS}, {"npz", ARRAYS},
    {"cifar10", CIFAR10},       {"cifar100", CIFAR100}, {"idx", IDX},    {"raw", RAW},    {"archive", ARCHIVES},
    {"webdataset", WEBDATASET}, {"bytes", BYTES},
};

bool mshi_head_is_npy(const void *head, size_t size)
{
    return size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

bool mshi_head_is_npz(const void *head, size_t size)
{
    const uint8_t *bytes = head;

    if (size < 30 || memcmp(bytes, "PK\3\4", 4) != 0)
        return false;
    const size_t length = (size_t)(bytes[26] | bytes[27] << 8);
    return length >= 4 && 30 + length <= size && memcmp(bytes + 30 + length - 4, ".npy", 4) == 0;
}

bool mshi_head_is_pickle(const void *head, size_t size)
{
    const uint8_t *bytes = head;

    return size >= 3 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5 && strchr("}]()cX\x95\x8c", bytes[2]);
}

bool mshi_input_is_named(const char *input, size_t *name_size)
{
    char name[MSHARD_MAX_NAME + 1];
    const char *equals = strchr(input, '=');

    if (!equals || equals == input || (size_t)(equals - input) > MSHARD_MAX_NAME ||
        mshi_path_kind(input, NULL) != MSHI_MISSING)
        return false;
    *name_size = (size_t)(equals - input);
    mshi_field_name(input, *name_size, name);
    return strlen(name) == *name_size && memcmp(name, input, *name_size) == 0;
}

static bool has_extension(const char *path, const char *const *extensions)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');

    for (; dot && *extensions; extensions++)
        if (strcasecmp(dot, *extensions) == 0)
            return true;
    return false;
}

/* ---- folders ---- */

/* Names of a folder's files that tell what it is; idx files are told by their content. */
struct look {
    uint64_t idx, archives, pickles;
    struct mshi_buf idx_names;
};

static void look_at(struct look *look, const char *folder, const char *name)
{
    static const char *const archives[] = {".tar", ".zip", ".tgz", ".7z", NULL};
    uint8_t head[16];
    struct mshi_file file;
    size_t got = 0;
    char *path;

    look->archives += has_extension(name, archives);
    const bool ubyte = strstr(name, "ubyte") || strstr(name, "idx");
    const bool batch = strcmp(name, "data_batch_1") == 0 || strcmp(name, "train") == 0;
    if ((!ubyte && !batch) || mshi_path_join(folder, name, &path, NULL) != MSHARD_OK)
        return;
    if (mshi_file_open(path, &file, NULL) == MSHARD_OK) {
        const bool read = mshi_file_read(&file, head, sizeof(head), 0, &got, path, NULL) == MSHARD_OK;
        const bool idx = read && ubyte && (mshi_head_is_idx(head, got) || mshi_head_is_gzip(head, got));

        look->pickles += read && batch && mshi_head_is_pickle(head, got);
        if (idx && ++look->idx <= 6)
            mshi_buf_printf(&look->idx_names, "%s%.60s", look->idx_names.size ? ", " : "", name);
        mshi_file_close(&file);
    }
    free(path);
}

static mshard_status folder_kind(const char *path, enum kind *kind, mshard_error *err)
{
    struct mshi_entry *entries;
    struct look look = {.idx = 0};
    size_t count;

    if (mshi_is_data_set(path))
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "this is a packed data set already");
    const int cifar = mshi_folder_is_cifar(path);
    *kind = cifar == 10 ? CIFAR10 : cifar == 100 ? CIFAR100 : FOLDERS;
    if (cifar)
        return MSHARD_OK;
    MSHI_TRY(mshi_folder_list(path, false, &entries, &count, err));
    bool images = false, folders = false;
    for (size_t i = 0; i < count; i++) {
        folders |= entries[i].kind == MSHI_FOLDER && entries[i].name[0] != '.';
        images |= mshi_image_name(entries[i].name);
        if (entries[i].kind == MSHI_FILE)
            look_at(&look, path, entries[i].name);
    }
    mshi_folder_free(entries, count);
    mshard_status status = MSHARD_OK;
    if (!images && !folders && look.idx)
        status = mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                           "a folder of idx files: give the files themselves, images and labels of one part (%.300s)",
                           look.idx_names.data);
    else if (!images && look.pickles)
        status = mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                           "CIFAR's Python version: pickles, which are never loaded; the binary version is needed");
    else if (!images && !folders && look.archives)
        status = mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                           "a folder of archives: give the archives themselves, in the order wanted");
    mshi_buf_clear(&look.idx_names);
    return status;
}

/* ---- files ---- */

static mshard_status unknown(const char *path, const uint8_t *head, size_t size, mshard_error *err)
{
    static const char *const packed[] = {".gz", NULL};
    char shown[MSHI_SHOWN_BYTES];

    mshi_show_bytes(head, size, shown);
    if (size == 0)
        return mshi_fail(err, MSHARD_E_FORMAT, path, 0, "the file is empty");
    if (has_extension(path, packed) || strstr(path, "ubyte"))
        return mshi_fail(err, MSHARD_E_FORMAT, path, 0, "not gzip, not idx: begins with %s", shown);
    return mshi_fail(err, MSHARD_E_FORMAT, path, 0,
                     "not a known input: begins with %s; formats are " FORMATS " (--format says which)", shown);
}

static bool is_archive(const struct mshi_file *file, const char *path)
{
    struct mshi_archive *archive;
    struct mshi_member member;
    mshard_error error;

    if (mshi_archive_open(file, path, &archive, &error) != MSHARD_OK)
        return false;
    const mshard_status status = mshi_archive_next(archive, &member, &error);
    mshi_archive_close(archive);
    return status != MSHARD_E_FORMAT && status != MSHARD_E_IO; /* a damaged or empty one is one */
}

static mshard_status gzip_kind(const struct mshi_file *file, const char *path, enum kind *kind, mshard_error *err)
{
    uint8_t inside[HEAD];
    char shown[MSHI_SHOWN_BYTES];
    size_t got;

    *kind = IDX;
    const mshard_status status = mshi_gzip_peek(file, path, inside, sizeof(inside), &got, err);
    if (status == MSHARD_OK && mshi_head_is_idx(inside, got))
        return MSHARD_OK;
    *kind = ARCHIVES;
    if (is_archive(file, path))
        return MSHARD_OK;
    MSHI_TRY(status);
    mshi_show_bytes(inside, got, shown);
    return mshi_fail(err, MSHARD_E_FORMAT, path, 0, "gzip, but neither idx nor an archive inside: begins with %s",
                     shown);
}

static mshard_status known_head(const char *path, const struct mshi_file *file, const uint8_t *head, size_t got,
                                enum kind *kind, mshard_error *err)
{
    static const char *const lists[] = {".csv", ".tsv", ".jsonl", ".ndjson", NULL};
    const int cifar = mshi_file_is_cifar(path);

    if (mshi_head_is_npy(head, got) || mshi_head_is_npz(head, got))
        *kind = ARRAYS;
    else if (cifar)
        *kind = cifar == 10 ? CIFAR10 : CIFAR100;
    else if (mshi_head_is_gzip(head, got))
        return gzip_kind(file, path, kind, err);
    else if (mshi_head_is_idx(head, got))
        *kind = IDX;
    else if (has_extension(path, lists))
        *kind = LISTS;
    else if (mshi_head_is_pickle(head, got))
        return mshi_fail(err, MSHARD_E_FORMAT, path, 0, "a Python pickle, which is never loaded");
    else if (mshi_head_image_type(head, got))
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                         "a single image (%s); use --format flat for image files without labels",
                         mshi_head_image_type(head, got));
    else if (is_archive(file, path))
        *kind = ARCHIVES;
    else
        return unknown(path, head, got, err);
    return MSHARD_OK;
}

static mshard_status file_kind(const char *path, enum kind *kind, mshard_error *err)
{
    uint8_t head[HEAD];
    struct mshi_file file;
    size_t got = 0;

    if (mshi_is_data_set(path))
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "this belongs to a packed data set");
    MSHI_TRY(mshi_file_open(path, &file, err));
    mshard_status status = mshi_file_read(&file, head, sizeof(head), 0, &got, path, err);
    if (status == MSHARD_OK)
        status = known_head(path, &file, head, got, kind, err);
    mshi_file_close(&file);
    return status;
}

/* PATH:MEMBER of an npz that is there. */
static bool is_member_of(const char *input)
{
    const char *colon = strrchr(input, ':');
    char *path;

    if (!colon || mshi_path_kind(input, NULL) != MSHI_MISSING || mshi_strdup(input, &path, NULL) != MSHARD_OK)
        return false;
    path[colon - input] = '\0';
    const bool found = mshi_path_kind(path, NULL) == MSHI_FILE;
    free(path);
    return found;
}

static mshard_status input_kind(const char *input, enum kind *kind, mshard_error *err)
{
    size_t name_size;

    if (strcmp(input, "-") == 0) {
        *kind = ARCHIVES;
        return MSHARD_OK;
    }
    if (mshi_input_is_named(input, &name_size) || is_member_of(input)) {
        *kind = ARRAYS;
        return MSHARD_OK;
    }
    switch (mshi_path_kind(input, NULL)) {
    case MSHI_MISSING:
        return mshi_fail(err, MSHARD_E_NOT_FOUND, input, MSHARD_NO_OFFSET, "no such file or folder");
    case MSHI_FOLDER:
        return folder_kind(input, kind, err);
    case MSHI_OTHER:
        return mshi_fail(err, MSHARD_E_FORMAT, input, MSHARD_NO_OFFSET,
                         "neither a file nor a folder (use - to read an archive from standard input)");
    case MSHI_FILE:
        break;
    }
    return file_kind(input, kind, err);
}

static mshard_status recognise(const struct mshi_inputs *inputs, enum kind *kind, mshard_error *err)
{
    const char *wanted = inputs->listing->options->format;

    *kind = UNKNOWN;
    for (size_t f = 0; wanted && f < sizeof(formats) / sizeof(*formats); f++)
        if (strcmp(formats[f].name, wanted) == 0)
            *kind = formats[f].kind;
    if (wanted)
        return *kind ? MSHARD_OK
                     : mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                                 "no input format '%.40s'; there are " FORMATS, wanted);
    for (size_t i = 0; i < inputs->count; i++) {
        enum kind one = UNKNOWN;

        MSHI_TRY(input_kind(inputs->paths[i], &one, err));
        if (i && one != *kind)
            return mshi_fail(err, MSHARD_E_INVALID, inputs->paths[i], MSHARD_NO_OFFSET,
                             "of another kind than %s: all inputs of one run must be of one kind", inputs->paths[0]);
        *kind = one;
    }
    return MSHARD_OK;
}

/* "bytes" takes folders or archives. */
static mshard_status open_bytes(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (mshi_path_kind(inputs->paths[i], NULL) == MSHI_FOLDER)
            return mshi_source_open_bytes(inputs, source, err);
    return mshi_source_open_archives(inputs, MSHI_LAYOUT_BYTES, source, err);
}

mshard_status mshi_source_open(const char *const *paths, size_t n, const struct mshi_listing *listing,
                               struct mshi_source **source, mshard_error *err)
{
    const struct mshi_inputs inputs = {paths, n, listing};
    enum kind kind;

    *source = NULL;
    if (n == 0)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "no inputs");
    MSHI_TRY(recognise(&inputs, &kind, err));
    switch (kind) {
    case UNKNOWN:
        break;
    case FOLDERS:
        return mshi_source_open_folders(&inputs, source, err);
    case FLAT:
        return mshi_source_open_flat(&inputs, source, err);
    case LISTS:
        return mshi_source_open_lists(&inputs, source, err);
    case ARRAYS:
        return mshi_source_open_arrays(&inputs, source, err);
    case CIFAR10:
    case CIFAR100:
        return mshi_source_open_cifar(&inputs, kind == CIFAR100, source, err);
    case IDX:
        return mshi_source_open_idx(&inputs, source, err);
    case RAW:
        return mshi_source_open_raw(&inputs, source, err);
    case ARCHIVES: /* by name: class folders, whatever the members look like */
        return mshi_source_open_archives(&inputs, listing->options->format ? MSHI_LAYOUT_CLASSES : MSHI_LAYOUT_AUTO,
                                         source, err);
    case WEBDATASET:
        return mshi_source_open_archives(&inputs, MSHI_LAYOUT_SAMPLES, source, err);
    case BYTES:
        return open_bytes(&inputs, source, err);
    }
    return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "no input format");
}

void mshi_source_free(struct mshi_source *source)
{
    if (!source)
        return;
    source->ops->destroy(source);
    for (uint64_t i = 0; i < source->class_count; i++)
        free(source->classes[i]);
    free(source->classes);
    free(source);
}
