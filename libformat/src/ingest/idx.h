/* idx.h - idx files (MNIST's format) as columns */
#ifndef MSHI_INGEST_IDX_H
#define MSHI_INGEST_IDX_H

#include "ingest/columns.h"

/* A further field "label" from an idx file of rank 1, plain or gzip. */
mshard_status mshi_idx_add_labels(struct mshi_columns *columns, const char *path, const struct mshi_listing *listing,
                                  mshard_error *err);

#endif
