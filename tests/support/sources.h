/*
 * sources.h - inputs for the tests of ingest sources: files, tar archives, .npy headers; and a listing that remembers
 */
#ifndef MSHI_TESTS_SOURCES_H
#define MSHI_TESTS_SOURCES_H

#include "ingest/source.h"

/* Write size bytes to dir/name, folders in between made; returns the path (a ring, as mshi_test_path). */
const char *mshi_test_write(const char *dir, const char *name, const void *data, size_t size);
const char *mshi_test_text(const char *dir, const char *name, const char *text);
/* A file that begins as a JPEG does. */
const char *mshi_test_jpeg(const char *dir, const char *name);

/* A tar file being made in memory. */
struct mshi_test_tar {
    uint8_t data[256 * 1024];
    size_t size;
};
void mshi_test_tar_add(struct mshi_test_tar *tar, const char *name, const void *data, size_t size);
void mshi_test_tar_link(struct mshi_test_tar *tar, const char *name, char type,
                        const char *target); /* '1' hard, '2' symbolic */
const char *mshi_test_tar_write(struct mshi_test_tar *tar, const char *dir, const char *name); /* adds the end mark */

/* gzip data of it (deflate blocks without compression), written to out (size + 64 or more); the bytes of it in all. */
size_t mshi_test_gzip(const void *data, size_t size, uint8_t *out);
/* A zip of n members, stored or "deflated" (blocks without compression), to dir/name. */
struct mshi_test_member {
    const char *name;
    const void *data;
    size_t size;
};
const char *mshi_test_zip(const char *dir, const char *name, const struct mshi_test_member *members, size_t n,
                          bool deflate);

/* A version 1.0 .npy of size bytes of values; returns its bytes in all, written to out (large enough). */
size_t mshi_test_npy(uint8_t *out, const char *descr, bool fortran, const char *shape, const void *values, size_t size);

/* A listing whose notes and problems are kept as text. */
struct mshi_test_listing {
    mshard_pack_options options;
    struct mshi_listing listing;
    unsigned problem_count, note_count;
    char problems[16][1600]; /* as mshard_error_format gives them */
    char notes[16][512];
};
void mshi_test_listing_init(struct mshi_test_listing *listing, const char *work_folder);
/* Open these inputs (NULL-terminated); fails the test when that fails. */
struct mshi_source *mshi_test_open(struct mshi_test_listing *listing, const char *input, ...) __attribute__((sentinel));
/* Open one input that must be refused; the status, with the error's text in message. */
mshard_status mshi_test_refused(struct mshi_test_listing *listing, const char *input, char message[1600]);
int64_t mshi_test_label(struct mshi_source *source, uint64_t i); /* value of the LABEL field */
const char *mshi_test_key(const struct mshi_source *source, uint64_t i);

#endif
