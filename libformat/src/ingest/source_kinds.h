/*
 * source_kinds.h - the kinds of source behind source.h, and what they share
 *
 * Each open function gets all inputs of one run, sets *source only on success, and frees what it made otherwise. A
 * source's destroy frees its own members; mshi_source_free frees the shared ones and the struct.
 */
#ifndef MSHI_INGEST_SOURCE_KINDS_H
#define MSHI_INGEST_SOURCE_KINDS_H

#include "ingest/names.h"
#include "ingest/source.h"

struct mshi_inputs {
    const char *const *paths;
    size_t count;
    const struct mshi_listing *listing;
};

mshard_status mshi_source_open_folders(const struct mshi_inputs *inputs, struct mshi_source **source,
                                       mshard_error *err);
mshard_status mshi_source_open_flat(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err);
mshard_status mshi_source_open_bytes(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err);
mshard_status mshi_source_open_lists(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err);
/* .npy and .npz, bare or as NAME=PATH or NAME=PATH:MEMBER */
mshard_status mshi_source_open_arrays(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err);
mshard_status mshi_source_open_cifar(const struct mshi_inputs *inputs, bool hundred, struct mshi_source **source,
                                     mshard_error *err);
mshard_status mshi_source_open_idx(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err);
mshard_status mshi_source_open_raw(const struct mshi_inputs *inputs, struct mshi_source **source, mshard_error *err);
enum mshi_archive_layout { MSHI_LAYOUT_AUTO, MSHI_LAYOUT_CLASSES, MSHI_LAYOUT_SAMPLES, MSHI_LAYOUT_BYTES };
mshard_status mshi_source_open_archives(const struct mshi_inputs *inputs, enum mshi_archive_layout layout,
                                        struct mshi_source **source, mshard_error *err);

/* ---- recognition by the first bytes ---- */
bool mshi_head_is_npy(const void *head, size_t size);
bool mshi_head_is_npz(const void *head, size_t size); /* a zip whose first member is an .npy */
bool mshi_head_is_idx(const void *head, size_t size);
bool mshi_head_is_gzip(const void *head, size_t size);
/* The type of an image by its first bytes, one we read or one we refuse by name; NULL: no image. */
const char *mshi_head_image_type(const void *head, size_t size);
bool mshi_head_is_pickle(const void *head, size_t size);
/* NAME=... with a path that does not exist as a whole; *name_size bytes of it are the name. */
bool mshi_input_is_named(const char *input, size_t *name_size);
/* 10 or 100 when the file looks like a CIFAR binary by name, size and labels; 0 otherwise. */
int mshi_file_is_cifar(const char *path);
int mshi_folder_is_cifar(const char *path);
/* "3c 21 44 4f "<!DO..."": the first bytes for messages; static length. */
#define MSHI_SHOWN_BYTES 128
void mshi_show_bytes(const void *head, size_t size, char text[MSHI_SHOWN_BYTES]);

/* ---- shared ---- */
mshard_status mshi_source_add_field(struct mshi_source *source, const char *name, enum mshi_part_kind kind,
                                    mshard_dtype dtype, mshard_content content, uint32_t ndim, const uint64_t *shape,
                                    mshard_error *err);
/* An identifier from any text: other characters become '_', a leading digit gets one before it. */
void mshi_field_name(const char *text, size_t size, char name[MSHARD_MAX_NAME + 1]);
/* The file name without folders and without its last extension. */
void mshi_path_stem(const char *path, const char **stem, size_t *size);
/* uint8 records of shape [h, w], [h, w, 1] or [h, w, 3] are pictures; everything else is numbers. */
mshard_content mshi_array_content(mshard_dtype dtype, uint32_t ndim, const uint64_t *shape);

mshard_status mshi_payload_reserve(struct mshi_payload *payload, uint64_t size, mshard_error *err);
void mshi_note(const struct mshi_listing *listing, const char *format, ...) MSHI_PRINTF(2, 3);
void mshi_problem(const struct mshi_listing *listing, const char *path, mshard_status code, const char *format, ...)
    MSHI_PRINTF(4, 5);
uint64_t mshi_max_member(const struct mshi_listing *listing);

/* Left aside wherever they are met: hidden files, resource forks, thumbnails of file managers. */
bool mshi_name_ignored(const char *name, size_t size);
/* What was left aside, by extension: counted, then told in one note. */
struct mshi_ignored {
    uint64_t hidden, links;
    struct mshi_names extensions;
    uint64_t *counts;
    uint64_t capacity, others;
};
mshard_status mshi_ignored_add(struct mshi_ignored *ignored, const char *name, mshard_error *err);
void mshi_ignored_tell(const struct mshi_ignored *ignored, const struct mshi_listing *listing);
uint64_t mshi_ignored_total(const struct mshi_ignored *ignored);
void mshi_ignored_clear(struct mshi_ignored *ignored);

#endif
