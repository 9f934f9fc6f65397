/* npy_file.h - one .npy array in a file, or inside an npz, as a segment of a column */
#ifndef MSHI_INGEST_NPY_FILE_H
#define MSHI_INGEST_NPY_FILE_H

#include "ingest/columns.h"
#include "ingest/npy.h"

/*
 * Open the array at path; on success the segment holds its open file. Errors: what mshi_npy_parse finds, no
 * dimension, more or fewer bytes than the header says.
 */
mshard_status mshi_npy_open(const char *path, struct mshi_npy *npy, struct mshi_segment *segment, mshard_error *err);
/* The same for the array of size bytes at begin of an open file, which stays the caller's. name: for messages. */
mshard_status mshi_npy_open_at(const struct mshi_file *file, const char *name, uint64_t begin, uint64_t size,
                               struct mshi_npy *npy, struct mshi_segment *segment, mshard_error *err);

#endif
