/*
 * header.c - the shard header: emit, and the small questions about a parsed one
 *
 * Reading with every rule is in header_check.c. mshi_header_emit writes what mshi_header_parse accepts, byte for
 * byte the same for the same header.
 */
#include "format/header.h"

#include "base/hash.h"

mshard_status mshi_header_parse(const void *bytes, size_t size, uint64_t file_size, const char *path, bool check_sum,
                                struct mshi_header *header, mshard_error *err)
{
    struct mshi_header_scan scan = {
        .bytes = bytes, .size = size, .file_size = file_size, .path = path, .check_sum = check_sum, .err = err};

    return mshi_header_scan(&scan, header);
}

uint32_t mshi_header_size_stated(const void *bytes)
{
    const struct mshi_disk_header *disk = bytes;
    const uint32_t size = mshi_le32_load(&disk->header_size);

    return size == 0 || size > MSHI_HEADER_MAX || size % MSHI_HEADER_UNIT != 0 ? 0 : size;
}

uint32_t mshi_header_size_for(uint32_t field_count, uint32_t section_count)
{
    const uint64_t tables = sizeof(struct mshi_disk_header) + (uint64_t)field_count * sizeof(struct mshi_disk_field) +
                            (uint64_t)section_count * sizeof(struct mshi_disk_section);

    if (tables > MSHI_HEADER_MAX)
        return 0;
    return (uint32_t)((tables + MSHI_HEADER_UNIT - 1) / MSHI_HEADER_UNIT * MSHI_HEADER_UNIT);
}

static void store_double(mshi_le64 *to, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    mshi_le64_store(to, bits);
}

static void emit_field(const mshard_field *field, struct mshi_disk_field *disk)
{
    memcpy(disk->name, field->name, strlen(field->name));
    disk->dtype = (uint8_t)field->dtype;
    disk->content = (uint8_t)field->content;
    disk->ndim = (uint8_t)field->ndim;
    mshi_le32_store(&disk->flags, field->flags);
    for (uint32_t d = 0; d < field->ndim; d++)
        mshi_le64_store(&disk->shape[d], field->shape[d]);
    if ((field->flags & MSHARD_FIELD_SCALED) != 0) {
        store_double(&disk->scale, field->scale);
        store_double(&disk->offset, field->offset);
    }
}

void mshi_header_emit(struct mshi_header *header, void *out)
{
    struct mshi_disk_header *disk = out;
    struct mshi_disk_field *fields = (struct mshi_disk_field *)(disk + 1);
    struct mshi_disk_section *sections = (struct mshi_disk_section *)(fields + header->field_count);

    memset(out, 0, header->header_size);
    memcpy(disk->magic, MSHI_MAGIC, MSHI_MAGIC_SIZE);
    mshi_le16_store(&disk->major, header->major);
    mshi_le16_store(&disk->minor, header->minor);
    mshi_le32_store(&disk->header_size, header->header_size);
    mshi_le64_store(&disk->incompat, header->incompat);
    mshi_le64_store(&disk->compat, header->compat);
    mshi_le64_store(&disk->file_size, header->file_size);
    mshi_le64_store(&disk->records, header->records);
    mshi_le32_store(&disk->align, header->align);
    mshi_le32_store(&disk->block_size, MSHI_BLOCK_SIZE);
    mshi_le32_store(&disk->checksum, MSHI_CHECKSUM_XXH3_64);
    mshi_le32_store(&disk->field_count, header->field_count);
    mshi_le32_store(&disk->section_count, header->section_count);
    mshi_le32_store(&disk->fields_offset, sizeof(*disk));
    mshi_le32_store(&disk->sections_offset, (uint32_t)(sizeof(*disk) + header->field_count * sizeof(*fields)));
    mshi_le64_store(&disk->sums_root, header->sums_root);
    for (uint32_t i = 0; i < header->field_count; i++)
        emit_field(&header->fields[i], &fields[i]);
    for (uint32_t i = 0; i < header->section_count; i++) {
        mshi_le32_store(&sections[i].kind, header->sections[i].kind);
        mshi_le32_store(&sections[i].field, header->sections[i].field);
        mshi_le64_store(&sections[i].offset, header->sections[i].offset);
        mshi_le64_store(&sections[i].size, header->sections[i].size);
    }
    header->header_sum = mshi_hash64(out, header->header_size, 0); /* header_sum itself is still zero */
    mshi_le64_store(&disk->header_sum, header->header_sum);
}

bool mshi_section_size(const struct mshi_header *header, uint32_t kind, const mshard_field *field, uint64_t *size)
{
    uint64_t unit = 0;

    if (kind == MSHI_SECTION_COLUMN)
        unit = field->record_size;
    else if (kind == MSHI_SECTION_ENDS)
        unit = sizeof(mshi_le64);
    else if (kind == MSHI_SECTION_DIMS)
        unit = sizeof(mshi_le32) * (uint64_t)field->ndim;
    return !mshi_mul_overflow(header->records, unit, size);
}

uint64_t mshi_header_block_count(const struct mshi_header *header)
{
    const uint64_t data = header->sections[header->section_count - 1].offset - header->header_size;

    return data / MSHI_BLOCK_SIZE + (data % MSHI_BLOCK_SIZE != 0);
}

const struct mshi_section *mshi_header_section(const struct mshi_header *header, uint32_t field, uint32_t kind)
{
    for (uint32_t i = 0; i < header->section_count; i++)
        if (header->sections[i].field == field && header->sections[i].kind == kind)
            return &header->sections[i];
    return NULL;
}
