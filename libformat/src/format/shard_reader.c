/*
 * shard_reader.c - one sealed shard, mapped and checked
 *
 * The header is read with pread, validated as a copy and never looked at again: what a hostile writer changes in
 * the file afterwards can change values, not where we read. Ends and dims are untrusted at every access.
 * A file cut after it was mapped raises SIGBUS on touch (docs/guide.md); a cut before that is TRUNCATED here.
 */
#include "format/shard_reader.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "format/field_rules.h"
#include "os/map.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- header ---- */

mshard_status mshi_shard_compare(const struct mshi_header *header, const char *path, bool check_sum,
                                 const struct mshi_shard_expect *expect, mshard_error *err)
{
    char text[MSHI_RULE_TEXT];

    if (check_sum && header->header_sum != expect->header_sum)
        return mshi_fail(err, MSHARD_E_CORRUPT, path, offsetof(struct mshi_disk_header, header_sum),
                         "this shard belongs to another data set or place: dataset.json expects header_sum %016" PRIx64
                         ", found %016" PRIx64,
                         expect->header_sum, header->header_sum);
    if (header->records != expect->records)
        return mshi_fail(err, MSHARD_E_CORRUPT, path, offsetof(struct mshi_disk_header, records),
                         "dataset.json expects %" PRIu64 " records, found %" PRIu64, expect->records, header->records);
    if (header->field_count != expect->field_count)
        return mshi_fail(err, MSHARD_E_CORRUPT, path, offsetof(struct mshi_disk_header, field_count),
                         "dataset.json expects %" PRIu32 " fields, found %" PRIu32, expect->field_count,
                         header->field_count);
    for (uint32_t f = 0; f < expect->field_count; f++)
        if (!mshi_field_same(&expect->fields[f], &header->fields[f], text))
            return mshi_fail(err, MSHARD_E_CORRUPT, path,
                             sizeof(struct mshi_disk_header) + (uint64_t)f * sizeof(struct mshi_disk_field),
                             "fields are not those of dataset.json: %s", text);
    return MSHARD_OK;
}

mshard_status mshi_shard_read_header(const struct mshi_file *file, const char *path, bool check_sum,
                                     const struct mshi_shard_expect *expect, struct mshi_header *header,
                                     mshard_error *err)
{
    uint8_t *bytes;
    size_t want = MSHI_HEADER_UNIT, got;
    mshard_status status;

    if (expect != NULL && file->size != expect->size)
        return mshi_fail(err, file->size < expect->size ? MSHARD_E_TRUNCATED : MSHARD_E_CORRUPT, path,
                         file->size < expect->size ? file->size : expect->size,
                         "dataset.json expects a file of %" PRIu64 " bytes, found %" PRIu64, expect->size, file->size);
    MSHI_TRY(mshi_alloc(MSHI_HEADER_MAX, 1, &bytes, err));
    status = mshi_file_read(file, bytes, want, 0, &got, path, err);
    if (status == MSHARD_OK && got == want && mshi_header_size_stated(bytes) > want) {
        want = mshi_header_size_stated(bytes);
        status = mshi_file_read(file, bytes, want, 0, &got, path, err);
    }
    /* a file that shrinks between open and read: what was read counts */
    if (status == MSHARD_OK)
        status = mshi_header_parse(bytes, got, got < want ? got : file->size, path, check_sum, header, err);
    if (status == MSHARD_OK && expect != NULL)
        status = mshi_shard_compare(header, path, check_sum, expect, err);
    free(bytes);
    return status;
}

/* ---- open ---- */

static void place_columns(struct mshi_shard *shard, const struct mshi_header *header)
{
    for (uint32_t i = 0; i < header->section_count; i++) {
        const struct mshi_section *s = &header->sections[i];
        const uint8_t *at = shard->map + s->offset;

        switch (s->kind) {
        case MSHI_SECTION_COLUMN:
        case MSHI_SECTION_VALUES:
            shard->columns[s->field].data = at;
            shard->columns[s->field].size = s->size;
            break;
        case MSHI_SECTION_ENDS:
            shard->columns[s->field].ends = (const mshi_le64 *)at;
            break;
        case MSHI_SECTION_DIMS:
            shard->columns[s->field].dims = (const mshi_le32 *)at;
            break;
        default:
            shard->sums = (const mshi_le64 *)at;
            shard->data_end = s->offset;
        }
    }
}

static mshard_status check_sums_root(const struct mshi_shard *shard, const struct mshi_header *header,
                                     mshard_error *err)
{
    const uint64_t size = mshi_header_block_count(header) * sizeof(mshi_le64);
    const uint64_t found = mshi_hash64(shard->sums, size, 0);

    if (found != header->sums_root)
        return mshi_fail(err, MSHARD_E_CORRUPT, shard->path, shard->data_end,
                         "the block sums are damaged: the header expects their sum to be %016" PRIx64
                         ", found %016" PRIx64,
                         header->sums_root, found);
    return MSHARD_OK;
}

static mshard_status check_block(const struct mshi_shard *shard, uint64_t block, mshard_error *err)
{
    const uint64_t begin = shard->data_begin + block * MSHI_BLOCK_SIZE;
    const uint64_t left = shard->data_end - begin, size = left < MSHI_BLOCK_SIZE ? left : MSHI_BLOCK_SIZE;
    const uint64_t expected = mshi_le64_load(&shard->sums[block]);
    const uint64_t found = mshi_hash64(shard->map + begin, size, block);

    if (found != expected)
        return mshi_fail(err, MSHARD_E_CORRUPT, shard->path, begin,
                         "block %" PRIu64 " (%" PRIu64 " bytes) is damaged: expected sum %016" PRIx64
                         ", found %016" PRIx64,
                         block, size, expected, found);
    return MSHARD_OK;
}

static mshard_status check_content(struct mshi_shard *shard, const struct mshi_header *header, mshard_check check,
                                   mshard_error *err)
{
    const uint64_t blocks = mshi_header_block_count(header);

    if (check != MSHARD_CHECK_TOUCH && check != MSHARD_CHECK_ALL)
        return MSHARD_OK;
    MSHI_TRY(check_sums_root(shard, header, err));
    if (check == MSHARD_CHECK_TOUCH)
        return mshi_alloc(blocks / 64 + 1, sizeof(*shard->touched), &shard->touched, err);
    mshi_map_advise(shard->map, shard->size, MSHI_ADVICE_SEQUENTIAL);
    for (uint64_t b = 0; b < blocks; b++)
        MSHI_TRY(check_block(shard, b, err));
    mshi_map_advise(shard->map, shard->size, MSHI_ADVICE_NORMAL);
    return MSHARD_OK;
}

/* Fields of a header as one block, names behind. */
static mshard_status copy_fields(const struct mshi_header *header, mshard_field **fields, mshard_error *err)
{
    const uint32_t n = header->field_count;
    mshard_field *copy;

    MSHI_TRY(mshi_alloc(n, sizeof(*copy) + sizeof(header->names[0]), &copy, err));
    memcpy(copy, header->fields, n * sizeof(*copy));
    memcpy(copy + n, header->names, n * sizeof(header->names[0]));
    for (uint32_t f = 0; f < n; f++)
        copy[f].name = (const char *)(copy + n) + f * sizeof(header->names[0]);
    *fields = copy;
    return MSHARD_OK;
}

static mshard_status map_shard(const struct mshi_file *file, const struct mshi_header *header, const char *path,
                               mshard_check check, struct mshi_shard **out, mshard_error *err)
{
    struct mshi_shard *shard;
    const void *map;
    mshard_status status;

    MSHI_TRY(mshi_alloc(1, sizeof(*shard) + header->field_count * sizeof(shard->columns[0]), &shard, err));
    status = mshi_strdup(path, &shard->path, err);
    if (status == MSHARD_OK)
        status = mshi_map_file(file, path, &map, err);
    if (status == MSHARD_OK) {
        shard->map = map;
        shard->size = file->size;
        shard->records = header->records;
        shard->data_begin = header->header_size;
        place_columns(shard, header);
        status = check_content(shard, header, check, err);
    }
    if (status != MSHARD_OK) {
        mshi_shard_free(shard);
        return status;
    }
    *out = shard;
    return MSHARD_OK;
}

/* mshi_file_open, with the path that errors are to show. */
static mshard_status open_file(const char *where, const char *path, struct mshi_file *file, mshard_error *err)
{
    mshard_error cause;
    const mshard_status status = mshi_file_open(where, file, &cause);

    if (status != MSHARD_OK && err != NULL) {
        (void)mshi_fail(err, status, path, cause.offset, "%s", cause.message);
        err->sys_errno = cause.sys_errno;
    }
    return status;
}

mshard_status mshi_shard_open(const char *where, const char *path, mshard_check check,
                              const struct mshi_shard_expect *expect, struct mshi_shard **shard,
                              struct mshi_shard_schema *schema, mshard_error *err)
{
    struct mshi_header *header = NULL;
    struct mshi_file file = {.fd = -1};
    mshard_status status;

    *shard = NULL;
    MSHI_TRY(open_file(where, path, &file, err));
    status = mshi_alloc(1, sizeof(*header), &header, err);
    if (status == MSHARD_OK)
        status = mshi_shard_read_header(&file, path, check != MSHARD_CHECK_NONE, expect, header, err);
    if (status == MSHARD_OK)
        status = map_shard(&file, header, path, check, shard, err);
    if (status == MSHARD_OK && schema != NULL) {
        schema->field_count = header->field_count;
        schema->header_sum = header->header_sum;
        status = copy_fields(header, &schema->fields, err);
        if (status != MSHARD_OK) {
            mshi_shard_free(*shard);
            *shard = NULL;
        }
    }
    mshi_file_close(&file);
    free(header);
    return status;
}

void mshi_shard_free(struct mshi_shard *shard)
{
    if (shard == NULL)
        return;
    mshi_map_unmap(shard->map, shard->size);
    free(shard->touched);
    free(shard->path);
    free(shard);
}

/* ---- values ---- */

static uint64_t file_offset(const struct mshi_shard *shard, const void *at)
{
    return (uint64_t)((const uint8_t *)at - shard->map);
}

/* Shape of a value of size bytes, against the field and the size. */
static mshard_status check_dims(const struct mshi_shard *shard, const mshard_field *field, const mshi_le32 *dims,
                                uint64_t i, uint64_t size, uint64_t *shape, mshard_error *err)
{
    uint64_t product = mshard_dtype_size(field->dtype);
    bool overflow = false;

    for (uint32_t d = 0; d < field->ndim; d++) {
        const uint64_t dim = mshi_le32_load(&dims[d]);

        if (field->shape[d] != MSHARD_DIM_UNKNOWN && field->shape[d] != dim)
            return mshi_fail(err, MSHARD_E_CORRUPT, shard->path, file_offset(shard, &dims[d]),
                             "record %" PRIu64 " of this shard, field \"%s\": dimension %u must be %" PRIu64
                             ", found %" PRIu64,
                             i, field->name, d, field->shape[d], dim);
        overflow = mshi_mul_overflow(product, dim, &product) || overflow; /* a later 0 may not hide it */
        if (shape != NULL)
            shape[d] = dim;
    }
    if (overflow || product != size)
        return mshi_fail(err, MSHARD_E_CORRUPT, shard->path, file_offset(shard, dims),
                         "record %" PRIu64 " of this shard, field \"%s\": its dimensions do not make its %" PRIu64
                         " bytes",
                         i, field->name, size);
    return MSHARD_OK;
}

mshard_status mshi_shard_variable(const struct mshi_shard *shard, uint32_t f, const mshard_field *field, uint64_t i,
                                  mshard_view *view, uint64_t *shape, mshard_error *err)
{
    const struct mshi_column *c = &shard->columns[f];

    if (shard->touched != NULL) {
        const uint64_t before = i == 0 ? 0 : i - 1;

        MSHI_TRY(mshi_shard_touch(shard, &c->ends[before], (i - before + 1) * sizeof(c->ends[0]), err));
        if (c->dims != NULL)
            MSHI_TRY(mshi_shard_touch(shard, &c->dims[i * field->ndim], field->ndim * sizeof(c->dims[0]), err));
    }
    const uint64_t begin = i == 0 ? 0 : mshi_le64_load(&c->ends[i - 1]), end = mshi_le64_load(&c->ends[i]);
    const uint64_t unit = mshard_dtype_size(field->dtype); /* a power of two */

    if (begin > end || end > c->size || ((begin | end) & (unit - 1)) != 0)
        return mshi_fail(err, MSHARD_E_CORRUPT, shard->path, file_offset(shard, &c->ends[i]),
                         "record %" PRIu64 " of this shard, field \"%s\": must lie in %" PRIu64
                         " bytes of values in units of %" PRIu64 ", found bytes %" PRIu64 " to %" PRIu64,
                         i, field->name, c->size, unit, begin, end);
    if (end - begin > MSHARD_MAX_RECORD)
        return mshi_fail(err, MSHARD_E_LIMIT, shard->path, file_offset(shard, &c->ends[i]),
                         "record %" PRIu64 " of this shard, field \"%s\": expected at most %" PRIu64
                         " bytes, found %" PRIu64,
                         i, field->name, (uint64_t)MSHARD_MAX_RECORD, end - begin);
    if (c->dims != NULL)
        MSHI_TRY(check_dims(shard, field, c->dims + i * field->ndim, i, end - begin, shape, err));
    else if (shape != NULL)
        shape[0] = (end - begin) / unit;
    view->data = c->data + begin;
    view->size = end - begin;
    return MSHARD_OK;
}

mshard_status mshi_shard_touch(const struct mshi_shard *shard, const void *data, uint64_t size, mshard_error *err)
{
    const uint64_t begin = file_offset(shard, data) - shard->data_begin;

    if (size == 0)
        return MSHARD_OK;
    for (uint64_t b = begin / MSHI_BLOCK_SIZE; b <= (begin + size - 1) / MSHI_BLOCK_SIZE; b++) {
        const uint64_t bit = UINT64_C(1) << (b % 64);

        /* Relaxed: the bit guards no other memory; two threads may check a block twice, which is harmless. */
        if ((atomic_load_explicit(&shard->touched[b / 64], memory_order_relaxed) & bit) != 0)
            continue;
        MSHI_TRY(check_block(shard, b, err));
        atomic_fetch_or_explicit(&shard->touched[b / 64], bit, memory_order_relaxed);
    }
    return MSHARD_OK;
}
