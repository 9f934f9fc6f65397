/*
 * npy.h - the header of a .npy array (format versions 1.0, 2.0, 3.0)
 *
 * A strict parser of the one Python literal numpy writes; bounded, no recursion. Pickles are never loaded. Values are
 * left where they are: what is parsed says where and how they lie.
 */
#ifndef MSHI_INGEST_NPY_H
#define MSHI_INGEST_NPY_H

#include "base/fail.h"
#include <mshard/types.h>
#include <stdbool.h>

#define MSHI_NPY_MAX_HEADER (UINT32_C(1) << 20)
#define MSHI_NPY_MAX_DIMS (MSHARD_MAX_DIMS + 1) /* the first one counts records */

struct mshi_npy {
    mshard_dtype dtype;
    bool swap;    /* big-endian elements of more than one byte */
    bool fortran; /* first index runs fastest; false when it makes no difference */
    uint32_t ndim;
    uint64_t shape[MSHI_NPY_MAX_DIMS];
    uint64_t data_offset; /* from the magic on */
    uint64_t data_size;   /* what the shape says */
};

/* "<f4", "|u1", ">i8", ...: false when it is none of ours. */
bool mshi_npy_dtype(const char *descr, mshard_dtype *dtype, bool *swap);

/* Bytes the magic and header take, from the first 12: FORMAT, VERSION, LIMIT. */
mshard_status mshi_npy_header_size(const void *head, size_t size, const char *path, uint64_t *header_size,
                                   mshard_error *err);
/* size is at least what mshi_npy_header_size said. offset is where the array begins in path, for messages. */
mshard_status mshi_npy_parse(const void *head, size_t size, const char *path, uint64_t offset, struct mshi_npy *npy,
                             mshard_error *err);

/* n elements of size bytes to the other byte order, in place. */
void mshi_swap_bytes(void *data, uint64_t n, size_t size);
/* Bytes other than 0 become 1. */
void mshi_make_bool(void *data, uint64_t n);
/*
 * n records from record i on of a Fortran-order array of shape [all, shape...] at data (any alignment), to C order.
 * size is that of an element.
 */
void mshi_gather_fortran(const void *data, uint64_t all, uint32_t ndim, const uint64_t *shape, size_t size, uint64_t i,
                         uint64_t n, void *to);

#endif
