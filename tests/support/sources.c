/* sources.c - inputs for the tests of ingest sources */
#include "support/sources.h"

#include "support/main.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *mshi_test_write(const char *dir, const char *name, const void *data, size_t size)
{
    const char *path = mshi_test_path(dir, name);
    char folder[4096];

    snprintf(folder, sizeof(folder), "%s", path);
    for (char *slash = folder + strlen(dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        ck_assert(mkdir(folder, 0777) == 0 || errno == EEXIST);
    }
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

const char *mshi_test_text(const char *dir, const char *name, const char *text)
{
    return mshi_test_write(dir, name, text, strlen(text));
}

const char *mshi_test_jpeg(const char *dir, const char *name)
{
    return mshi_test_write(dir, name, "\xFF\xD8\xFF\xE0picture", 11);
}

/* ---- tar ---- */

static void tar_header(struct mshi_test_tar *tar, const char *name, char type, size_t size, const char *target)
{
    uint8_t *h = tar->data + tar->size;
    char field[24];
    unsigned sum = 0;

    ck_assert_uint_le(tar->size + 512, sizeof(tar->data));
    memset(h, 0, 512);
    memcpy(h, name, strlen(name));
    memcpy(h + 100, "0000644", 7);
    memcpy(h + 108, "0000000", 7);
    memcpy(h + 116, "0000000", 7);
    snprintf(field, sizeof(field), "%011zo", size);
    memcpy(h + 124, field, 11);
    memcpy(h + 136, "00000000000", 11);
    memset(h + 148, ' ', 8);
    h[156] = (uint8_t)type;
    memcpy(h + 157, target, strlen(target));
    memcpy(h + 257, "ustar\00000", 8);
    for (size_t i = 0; i < 512; i++)
        sum += h[i];
    snprintf(field, sizeof(field), "%06o", sum);
    memcpy(h + 148, field, 7);
    tar->size += 512;
}

void mshi_test_tar_add(struct mshi_test_tar *tar, const char *name, const void *data, size_t size)
{
    const size_t padded = (size + 511) / 512 * 512;

    tar_header(tar, name, '0', size, "");
    ck_assert_uint_le(tar->size + padded, sizeof(tar->data));
    memset(tar->data + tar->size, 0, padded);
    memcpy(tar->data + tar->size, data, size);
    tar->size += padded;
}

void mshi_test_tar_link(struct mshi_test_tar *tar, const char *name, char type, const char *target)
{
    tar_header(tar, name, type, 0, target);
}

const char *mshi_test_tar_write(struct mshi_test_tar *tar, const char *dir, const char *name)
{
    ck_assert_uint_le(tar->size + 1024, sizeof(tar->data));
    memset(tar->data + tar->size, 0, 1024);
    return mshi_test_write(dir, name, tar->data, tar->size + 1024);
}

/* ---- gzip and zip ---- */

static void put(uint8_t **at, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *(*at)++ = (uint8_t)(value >> (8 * i));
}

static uint32_t crc32_of(const uint8_t *data, size_t size)
{
    uint32_t crc = ~UINT32_C(0);

    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? UINT32_C(0xEDB88320) ^ crc >> 1 : crc >> 1;
    }
    return ~crc;
}

static void put_deflate(uint8_t **at, const uint8_t *data, size_t size)
{
    size_t part;

    do {
        part = size < 65535 ? size : 65535;
        put(at, part == size, 1);
        put(at, (uint32_t)part, 2);
        put(at, ~(uint32_t)part & 0xFFFF, 2);
        memcpy(*at, data, part);
        *at += part;
        data += part;
        size -= part;
    } while (size);
}

size_t mshi_test_gzip(const void *data, size_t size, uint8_t *out)
{
    uint8_t *at = out;

    memcpy(at, "\x1F\x8B\x08\0\0\0\0\0\0\3", 10);
    at += 10;
    put_deflate(&at, data, size);
    put(&at, crc32_of(data, size), 4);
    put(&at, (uint32_t)size, 4);
    return (size_t)(at - out);
}

/* The part that local and central headers share, from "version needed" to "extra length". */
static void put_zip_common(uint8_t **at, const struct mshi_test_member *m, bool deflate, size_t packed)
{
    put(at, 20, 2);
    put(at, 0, 2);
    put(at, deflate ? 8 : 0, 2);
    put(at, 0x00210000, 4); /* 1980-01-01 */
    put(at, crc32_of(m->data, m->size), 4);
    put(at, (uint32_t)packed, 4);
    put(at, (uint32_t)m->size, 4);
    put(at, (uint32_t)strlen(m->name), 2);
    put(at, 0, 2);
}

const char *mshi_test_zip(const char *dir, const char *name, const struct mshi_test_member *members, size_t n,
                          bool deflate)
{
    static uint8_t out[64 * 1024], central[8 * 1024];
    uint8_t *at = out, *c = central;

    for (size_t i = 0; i < n; i++) {
        const struct mshi_test_member *m = &members[i];
        const size_t packed = m->size + (deflate ? 5 : 0), offset = (size_t)(at - out);

        ck_assert_uint_lt(m->size, 30000);
        put(&at, 0x04034B50, 4);
        put_zip_common(&at, m, deflate, packed);
        memcpy(at, m->name, strlen(m->name));
        at += strlen(m->name);
        if (deflate)
            put_deflate(&at, m->data, m->size);
        else
            at = (uint8_t *)memcpy(at, m->data, m->size) + m->size;
        put(&c, 0x02014B50, 4);
        put(&c, 20, 2);
        put_zip_common(&c, m, deflate, packed);
        put(&c, 0, 2);
        put(&c, 0, 4);
        put(&c, 0, 4);
        put(&c, (uint32_t)offset, 4);
        memcpy(c, m->name, strlen(m->name));
        c += strlen(m->name);
    }
    const uint32_t start = (uint32_t)(at - out), size = (uint32_t)(c - central);
    memcpy(at, central, size);
    at += size;
    put(&at, 0x06054B50, 4);
    put(&at, 0, 4);
    put(&at, (uint32_t)n, 2);
    put(&at, (uint32_t)n, 2);
    put(&at, size, 4);
    put(&at, start, 4);
    put(&at, 0, 2);
    return mshi_test_write(dir, name, out, (size_t)(at - out));
}

/* ---- npy ---- */

size_t mshi_test_npy(uint8_t *out, const char *descr, bool fortran, const char *shape, const void *values, size_t size)
{
    char text[256];
    const int length = snprintf(text, sizeof(text), "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr,
                                fortran ? "True" : "False", shape);

    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (uint8_t)length;
    out[9] = (uint8_t)(length >> 8);
    memcpy(out + 10, text, (size_t)length);
    memcpy(out + 10 + length, values, size);
    return 10 + (size_t)length + size;
}

/* ---- listing ---- */

static void on_problem(void *context, const char *path, const mshard_error *error)
{
    struct mshi_test_listing *listing = context;

    (void)path;
    if (listing->problem_count < 16)
        mshard_error_format(error, listing->problems[listing->problem_count], sizeof(listing->problems[0]));
    listing->problem_count++;
}

static void on_note(void *context, const char *text)
{
    struct mshi_test_listing *listing = context;

    if (listing->note_count < 16)
        snprintf(listing->notes[listing->note_count], sizeof(listing->notes[0]), "%s", text);
    listing->note_count++;
}

void mshi_test_listing_init(struct mshi_test_listing *listing, const char *work_folder)
{
    memset(listing, 0, sizeof(*listing));
    listing->options = (mshard_pack_options){MSHARD_PACK_OPTIONS_INIT};
    listing->listing = (struct mshi_listing){.options = &listing->options,
                                             .work_folder = work_folder,
                                             .problem = on_problem,
                                             .note = on_note,
                                             .context = listing};
}

struct mshi_source *mshi_test_open(struct mshi_test_listing *listing, const char *input, ...)
{
    const char *inputs[16] = {input};
    struct mshi_source *source = NULL;
    mshard_error error;
    char text[1600];
    size_t n = 1;
    va_list more;

    va_start(more, input);
    while ((inputs[n] = va_arg(more, const char *)))
        n++;
    va_end(more);
    listing->problem_count = listing->note_count = 0;
    if (mshi_source_open(inputs, n, &listing->listing, &source, &error) != MSHARD_OK) {
        mshard_error_format(&error, text, sizeof(text));
        ck_abort_msg("%s", text);
    }
    return source;
}

mshard_status mshi_test_refused(struct mshi_test_listing *listing, const char *input, char message[1600])
{
    struct mshi_source *source = NULL;
    mshard_error error;
    const mshard_status status = mshi_source_open(&input, 1, &listing->listing, &source, &error);

    ck_assert_int_ne(status, MSHARD_OK);
    ck_assert_ptr_null(source);
    ck_assert_int_eq(error.code, status);
    mshard_error_format(&error, message, 1600);
    return status;
}

int64_t mshi_test_label(struct mshi_source *source, uint64_t i)
{
    struct mshi_payload payload = {.buffer = NULL};
    int64_t label = INT64_MIN;

    ck_assert_int_eq(source->ops->read(source, i, &payload, NULL), MSHARD_OK);
    for (uint32_t f = 0; f < source->field_count; f++)
        if (source->fields[f].kind == MSHI_PART_LABEL)
            memcpy(&label, payload.data[f], sizeof(label));
    mshi_payload_clear(&payload);
    return label;
}

const char *mshi_test_key(const struct mshi_source *source, uint64_t i)
{
    struct mshi_item item;

    source->ops->item(source, i, &item);
    return item.key;
}
