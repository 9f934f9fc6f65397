/*
 * npy_file.c - find an array's values in a file and check that all of them are there
 */
#include "ingest/npy_file.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <inttypes.h>
#include <stdlib.h>

static mshard_status read_header(const struct mshi_file *file, const char *name, uint64_t begin, uint64_t size,
                                 struct mshi_npy *npy, mshard_error *err)
{
    uint8_t head[12];
    uint64_t header_size;
    size_t got = 0;
    uint8_t *header;

    MSHI_TRY(mshi_file_read(file, head, size < sizeof(head) ? (size_t)size : sizeof(head), begin, &got, name, err));
    MSHI_TRY(mshi_npy_header_size(head, got, name, &header_size, err));
    if (header_size > size)
        return mshi_fail(err, MSHARD_E_TRUNCATED, name, 8, "npy header: says %" PRIu64 " bytes, the file has %" PRIu64,
                         header_size, size);
    MSHI_TRY(mshi_alloc(header_size, 1, &header, err));
    mshard_status status = mshi_file_read(file, header, (size_t)header_size, begin, &got, name, err);
    if (status == MSHARD_OK)
        status = mshi_npy_parse(header, got, name, 0, npy, err);
    free(header);
    return status;
}

mshard_status mshi_npy_open_at(const struct mshi_file *file, const char *name, uint64_t begin, uint64_t size,
                               struct mshi_npy *npy, struct mshi_segment *segment, mshard_error *err)
{
    MSHI_TRY(read_header(file, name, begin, size, npy, err));
    if (npy->ndim == 0)
        return mshi_fail(err, MSHARD_E_FORMAT, name, MSHARD_NO_OFFSET,
                         "the array is a single value: needs at least one dimension, the one that counts records");
    const uint64_t found = size - npy->data_offset;
    if (found != npy->data_size)
        return mshi_fail(err, found < npy->data_size ? MSHARD_E_TRUNCATED : MSHARD_E_CORRUPT, name, npy->data_offset,
                         "expected %" PRIu64 " bytes of values after the header, found %" PRIu64, npy->data_size,
                         found);
    MSHI_TRY(mshi_strdup(name, &segment->path, err));
    segment->file = *file;
    segment->base = begin + npy->data_offset;
    segment->count = npy->shape[0];
    segment->fortran = npy->fortran && npy->data_size;
    return MSHARD_OK;
}

mshard_status mshi_npy_open(const char *path, struct mshi_npy *npy, struct mshi_segment *segment, mshard_error *err)
{
    struct mshi_file file;

    MSHI_TRY(mshi_file_open(path, &file, err));
    const mshard_status status = mshi_npy_open_at(&file, path, 0, file.size, npy, segment, err);
    if (status != MSHARD_OK)
        mshi_file_close(&file);
    return status;
}
