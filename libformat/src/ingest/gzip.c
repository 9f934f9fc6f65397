/*
 * gzip.c - unpack single gzip files
 *
 * libarchive does not compare the CRC-32 at the end of gzip data, so that is done here. A file of several gzip members
 * is accepted; only the last one's sum is known then, and nothing is compared.
 */
#include "ingest/gzip.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "ingest/archive.h"
#include "ingest/source_kinds.h"

#include <inttypes.h>
#include <stdlib.h>

#define PIECE (UINT32_C(256) << 10)

static void crc_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? UINT32_C(0xEDB88320) ^ c >> 1 : c >> 1;
        table[i] = c;
    }
}

static uint32_t crc_add(const uint32_t table[256], uint32_t crc, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ data[i]) & 0xFF] ^ crc >> 8;
    return crc;
}

/* The reader speaks of archives and members; this is about one file. */
static mshard_status own_words(mshard_status status, const char *path, mshard_error *err)
{
    if (status == MSHARD_E_TRUNCATED)
        return mshi_fail(err, status, path, MSHARD_NO_OFFSET, "truncated: the gzip data ends before its end mark");
    if (status == MSHARD_E_CORRUPT)
        return mshi_fail(err, status, path, MSHARD_NO_OFFSET, "the gzip data is damaged");
    return status;
}

mshard_status mshi_gzip_peek(const struct mshi_file *file, const char *path, void *head, size_t size, size_t *got,
                             mshard_error *err)
{
    struct mshi_archive *archive;
    mshard_status status = mshi_gzip_open(file, path, &archive, err);

    *got = 0;
    if (status == MSHARD_OK)
        status = mshi_archive_read(archive, head, size, got, err);
    mshi_archive_close(archive);
    return own_words(status, path, err);
}

static mshard_status copy(struct mshi_archive *archive, const char *path, uint64_t max, uint8_t *piece,
                          struct mshi_spool *spool, uint32_t *crc, mshard_error *err)
{
    uint32_t table[256];
    size_t got = PIECE;

    crc_table(table);
    for (*crc = ~UINT32_C(0); got == PIECE;) {
        MSHI_TRY(own_words(mshi_archive_read(archive, piece, PIECE, &got, err), path, err));
        *crc = crc_add(table, *crc, piece, got);
        MSHI_TRY(mshi_spool_add(spool, piece, got, err));
        if (spool->size > max)
            return mshi_fail(err, MSHARD_E_LIMIT, path, MSHARD_NO_OFFSET,
                             "unpacks to more than the limit of %" PRIu64 " bytes for one input (max-member)", max);
    }
    *crc = ~*crc;
    return mshi_spool_finish(spool, err);
}

static mshard_status check_sum(const struct mshi_file *file, const char *path, uint64_t size, uint32_t crc,
                               mshard_error *err)
{
    mshi_le32 tail[2];
    size_t got;

    if (file->size < 18)
        return mshi_fail(err, MSHARD_E_TRUNCATED, path, file->size, "truncated: too short for gzip data");
    MSHI_TRY(mshi_file_read(file, tail, sizeof(tail), file->size - sizeof(tail), &got, path, err));
    if (mshi_le32_load(&tail[1]) == (uint32_t)size && mshi_le32_load(&tail[0]) != crc)
        return mshi_fail(err, MSHARD_E_CORRUPT, path, file->size - sizeof(tail),
                         "the gzip data is damaged: CRC-32 %08" PRIx32 " expected, found %08" PRIx32,
                         mshi_le32_load(&tail[0]), crc);
    return MSHARD_OK;
}

mshard_status mshi_gzip_inflate(const struct mshi_file *file, const char *path, const struct mshi_listing *listing,
                                struct mshi_spool *spool, mshard_error *err)
{
    struct mshi_archive *archive;
    uint8_t *piece = NULL;
    uint32_t crc = 0;
    mshard_status status = mshi_gzip_open(file, path, &archive, err);

    *spool = (struct mshi_spool)MSHI_SPOOL_CLOSED;
    if (status != MSHARD_OK)
        return own_words(status, path, err);
    status = mshi_spool_open(spool, listing, err);
    if (status == MSHARD_OK)
        status = mshi_alloc(PIECE, 1, &piece, err);
    if (status == MSHARD_OK)
        status = copy(archive, path, mshi_max_member(listing), piece, spool, &crc, err);
    if (status == MSHARD_OK)
        status = check_sum(file, path, spool->size, crc, err);
    if (status != MSHARD_OK)
        mshi_spool_close(spool);
    free(piece);
    mshi_archive_close(archive);
    return status;
}
