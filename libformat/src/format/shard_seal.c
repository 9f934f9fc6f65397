/*
 * shard_seal.c - one shard being written: the file is made whole
 *
 * Order: held back columns, sums, fsync, header over the zero first page, fsync, and everything read back and
 * compared. Until the header is written the magic is zero and nothing takes the file for a shard.
 */
#include "format/shard_writer_internal.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "format/field_rules.h"
#include "os/clock.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void note_section(struct mshi_header *h, uint32_t kind, uint32_t field, uint64_t offset, uint64_t size)
{
    h->sections[h->section_count++] =
        (struct mshi_section){.kind = kind, .field = field, .offset = offset, .size = size};
}

/* Append what buffer holds as the next section. */
static mshard_status add_section(struct mshi_shard_writer *w, struct mshi_header *h, uint32_t kind, uint32_t field,
                                 struct mshi_column_buffer *buffer, mshard_error *err)
{
    const uint64_t size = mshi_column_buffer_size(buffer);

    MSHI_TRY(mshi_blocks_pad(&w->file, w->align, err));
    note_section(h, kind, field, w->file.position, size);
    MSHI_TRY(mshi_column_buffer_drain(buffer, &w->file, err));
    mshi_column_buffer_clear(buffer);
    return MSHARD_OK;
}

static mshard_status add_sections(struct mshi_shard_writer *w, struct mshi_header *h, uint32_t f, mshard_error *err)
{
    struct mshi_shard_column *c = &w->columns[f];
    const bool variable = mshard_field_is_variable(&w->fields[f]);
    const uint32_t kind = variable ? MSHI_SECTION_VALUES : MSHI_SECTION_COLUMN;

    if (f == w->streamed)
        note_section(h, kind, f, w->file.position - c->size, c->size);
    else
        MSHI_TRY(add_section(w, h, kind, f, &c->values, err));
    if (variable)
        MSHI_TRY(add_section(w, h, MSHI_SECTION_ENDS, f, &c->ends, err));
    if (variable && w->fields[f].ndim > 1)
        MSHI_TRY(add_section(w, h, MSHI_SECTION_DIMS, f, &c->dims, err));
    return MSHARD_OK;
}

static mshard_status write_sums(struct mshi_shard_writer *w, struct mshi_header *h, mshard_error *err)
{
    const uint64_t size = w->file.sum_count * sizeof(w->file.sums[0]);

    note_section(h, MSHI_SECTION_SUMS, MSHI_NO_FIELD, w->file.position, size);
    h->sums_root = mshi_hash64(w->file.sums, size, 0);
    h->file_size = w->file.position + size;
    if (h->file_size > MSHARD_MAX_FILE)
        return mshi_fail(err, MSHARD_E_LIMIT, w->temp_path, MSHARD_NO_OFFSET,
                         "a shard can have %" PRIu64 " bytes at most, found %" PRIu64, MSHARD_MAX_FILE, h->file_size);
    if (size == 0) /* no blocks: the file ends with its header, which is written later */
        return MSHARD_OK;
    return mshi_fs_write_all(w->fs, w->file.fd, w->file.sums, size, w->file.position, w->temp_path, err);
}

static mshard_status sync_file(struct mshi_shard_writer *w, mshard_error *err)
{
    if (w->sync && w->fs->sync(w->fs->context, w->file.fd) != 0)
        return mshi_fail_errno(err, errno, w->temp_path, MSHARD_NO_OFFSET, "cannot sync");
    return MSHARD_OK;
}

static void fill_header(const struct mshi_shard_writer *w, struct mshi_header *h)
{
    h->major = MSHI_MAJOR;
    h->minor = MSHI_MINOR;
    h->header_size = w->header_size;
    h->align = w->align;
    h->records = w->records;
    h->field_count = w->field_count;
    for (uint32_t f = 0; f < w->field_count; f++) {
        const mshard_field *field = &w->fields[f];

        h->fields[f] = *field;
        if (mshard_field_is_variable(field))
            h->incompat |= MSHI_INCOMPAT_VARIABLE;
        if ((field->flags & MSHARD_FIELD_SCALED) != 0)
            h->incompat |= MSHI_INCOMPAT_SCALED;
        if (mshi_field_is_key(field))
            h->compat |= MSHI_COMPAT_KEYS;
    }
}

/* The sums section and the end of the file; the blocks before it are mshi_blocks_check's. */
static mshard_status check_sums(struct mshi_shard_writer *w, const struct mshi_header *h, mshard_error *err)
{
    const uint64_t size = h->file_size - w->file.position;
    mshi_le64 *found;
    uint64_t root;
    mshard_status status;
    uint8_t beyond;
    int64_t got;

    MSHI_TRY(mshi_alloc(size, 1, &found, err));
    status = mshi_fs_read_all(w->fs, w->file.fd, found, size, w->file.position, w->temp_path, err);
    root = mshi_hash64(found, size, 0);
    free(found);
    if (status != MSHARD_OK)
        return status;
    if (root != h->sums_root)
        return mshi_fail(err, MSHARD_E_CORRUPT, w->temp_path, w->file.position,
                         "the sums do not read back: their sum must be %016" PRIx64 ", found %016" PRIx64, h->sums_root,
                         root);
    got = w->fs->pread(w->fs->context, w->file.fd, &beyond, 1, h->file_size);
    if (got < 0)
        return mshi_fail_errno(err, errno, w->temp_path, h->file_size, "cannot read at the end");
    if (got > 0)
        return mshi_fail(err, MSHARD_E_CORRUPT, w->temp_path, h->file_size, "the file must end here, found more bytes");
    return MSHARD_OK;
}

/* Read the header back as a reader would. */
static mshard_status check_header(struct mshi_shard_writer *w, const struct mshi_header *h, uint8_t *page,
                                  struct mshi_header *found, mshard_error *err)
{
    MSHI_TRY(mshi_fs_read_all(w->fs, w->file.fd, page, w->header_size, 0, w->temp_path, err));
    MSHI_TRY(mshi_header_parse(page, w->header_size, h->file_size, w->temp_path, true, found, err));
    if (found->header_sum != h->header_sum)
        return mshi_fail(err, MSHARD_E_CORRUPT, w->temp_path, 0,
                         "the header does not read back: its sum must be %016" PRIx64 ", found %016" PRIx64,
                         h->header_sum, found->header_sum);
    return MSHARD_OK;
}

/* Everything from the file again, before it leaves the page cache. */
static mshard_status read_back(struct mshi_shard_writer *w, const struct mshi_header *h, struct mshi_header *found,
                               uint8_t *page, mshard_error *err)
{
    MSHI_TRY(mshi_blocks_check(&w->file, err));
    MSHI_TRY(check_sums(w, h, err));
    return check_header(w, h, page, found, err);
}

static mshard_status seal(struct mshi_shard_writer *w, struct mshi_header *h, struct mshi_header *found, uint8_t *page,
                          uint64_t *check_ns, mshard_error *err)
{
    uint64_t begin;

    MSHI_TRY(add_sections(w, h, w->streamed, err));
    for (uint32_t f = 0; f < w->field_count; f++)
        if (f != w->streamed)
            MSHI_TRY(add_sections(w, h, f, err));
    MSHI_TRY(mshi_blocks_pad(&w->file, w->align, err));
    MSHI_TRY(mshi_blocks_finish(&w->file, err));
    MSHI_TRY(write_sums(w, h, err));
    MSHI_TRY(sync_file(w, err));
    fill_header(w, h);
    mshi_header_emit(h, page);
    MSHI_TRY(mshi_fs_write_all(w->fs, w->file.fd, page, w->header_size, 0, w->temp_path, err));
    MSHI_TRY(sync_file(w, err));
    begin = mshi_clock_ns();
    MSHI_TRY(read_back(w, h, found, page, err));
    *check_ns = mshi_clock_ns() - begin;
    mshi_blocks_drop(&w->file, h->file_size);
    return MSHARD_OK;
}

mshard_status mshi_shard_writer_seal(struct mshi_shard_writer *w, struct mshi_shard_result *result, mshard_error *err)
{
    struct mshi_header *headers = NULL;
    uint8_t *page = NULL;
    uint64_t check_ns = 0;
    mshard_status status;

    if (w->broken || w->sealed)
        return mshi_fail(err, MSHARD_E_INVALID, w->temp_path, MSHARD_NO_OFFSET,
                         w->broken ? "writing failed before: this shard can only be dropped" : "the shard is sealed");
    status = mshi_alloc(2, sizeof(*headers), &headers, err);
    if (status == MSHARD_OK)
        status = mshi_alloc(w->header_size, 1, &page, err);
    if (status == MSHARD_OK)
        status = seal(w, &headers[0], &headers[1], page, &check_ns, err);
    if (status == MSHARD_OK) {
        w->sealed = true;
        *result = (struct mshi_shard_result){.records = w->records,
                                             .size = headers[0].file_size,
                                             .header_sum = headers[0].header_sum,
                                             .check_ns = check_ns};
    } else {
        w->broken = true;
    }
    free(page);
    free(headers);
    return status;
}

mshard_status mshi_shard_writer_publish(struct mshi_shard_writer *w, const char *path, mshard_error *err)
{
    if (!w->sealed || w->published)
        return mshi_fail(err, MSHARD_E_INVALID, w->temp_path, MSHARD_NO_OFFSET,
                         w->published ? "the shard is published" : "the shard is not sealed");
    if (w->fs->close(w->fs->context, w->file.fd) != 0) {
        w->file.fd = -1;
        w->broken = true;
        return mshi_fail_errno(err, errno, w->temp_path, MSHARD_NO_OFFSET, "cannot close");
    }
    w->file.fd = -1;
    if (w->fs->rename(w->fs->context, w->temp_path, path) != 0)
        return mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot rename \"%s\" to this", w->temp_path);
    w->published = true;
    return MSHARD_OK;
}
