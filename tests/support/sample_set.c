/*
 * sample_set.c - a small data set with one field of every sort
 */
#include "support/sample_set.h"

#include "support/main.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t mshi_set_value(uint64_t record, uint32_t field, void *out)
{
    unsigned char *bytes = out;
    size_t size = 0;

    switch (field) {
    case SET_IMAGE:
        size = 60;
        break;
    case SET_LABEL: {
        const int64_t label = (int64_t)(record % 3);

        memcpy(out, &label, sizeof(label));
        return sizeof(label);
    }
    case SET_HALF:
        for (size_t i = 0; i < 7; i++) { /* finite: exponent below 31 */
            bytes[2 * i] = (unsigned char)(record + i);
            bytes[2 * i + 1] = (unsigned char)(0x30 + (record + i) % 16);
        }
        return 14;
    case SET_FLAG:
        bytes[0] = (unsigned char)(record % 2);
        return 1;
    case SET_TEXT:
        size = (size_t)(record * 37 % 101);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)('a' + (record + i) % 26);
        return size;
    case SET_BOXES:
        for (size_t i = 0; i < record % 4 * 4; i++) {
            const float value = (float)record + (float)i / 4;

            memcpy(bytes + 4 * i, &value, sizeof(value));
        }
        return (size_t)(record % 4 * 16);
    default:
        return (size_t)sprintf(out, "key-%06llu", (unsigned long long)record);
    }
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(record * 31 + i * 7 + field);
    return size;
}

void mshi_set_make(const char *path, uint64_t records, uint64_t records_per_shard)
{
    const mshard_field fields[] = {
        {.name = "image", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {4, 5, 3}},
        {.name = "label", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL},
        {.name = "half", .dtype = MSHARD_FLOAT16, .ndim = 1, .shape = {7}},
        {.name = "flag", .dtype = MSHARD_BOOL},
        {.name = "text",
         .dtype = MSHARD_UINT8,
         .content = MSHARD_CONTENT_TEXT,
         .ndim = 1,
         .shape = {MSHARD_DIM_UNKNOWN}},
        {.name = "boxes", .dtype = MSHARD_FLOAT32, .ndim = 2, .shape = {MSHARD_DIM_UNKNOWN, 4}},
    };
    static const char *const classes[] = {"ant", "bee", "cat"};
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .records_per_shard = records_per_shard,
                                           .keys = 1, .no_sync = 1};
    static unsigned char values[SET_FIELDS][4096];
    mshard_writer *writer;
    mshard_error err;

    ck_assert_msg(mshard_writer_create(path, fields, SET_KEY, &options, &writer, &err) == MSHARD_OK, "%s", err.message);
    ck_assert_msg(mshard_writer_set_classes(writer, "label", classes, 3, &err) == MSHARD_OK, "%s", err.message);
    for (uint64_t r = 0; r < records; r++) {
        const uint64_t boxes[2] = {r % 4, 4};
        mshard_value v[SET_KEY];
        size_t key_size;

        for (uint32_t f = 0; f < SET_KEY; f++)
            v[f] = (mshard_value){.data = values[f], .size = mshi_set_value(r, f, values[f])};
        v[SET_BOXES].shape = boxes;
        key_size = mshi_set_value(r, SET_KEY, values[SET_KEY]);
        ck_assert_msg(mshard_writer_write(writer, v, values[SET_KEY], key_size, &err) == MSHARD_OK, "%s", err.message);
    }
    ck_assert_msg(mshard_writer_commit(writer, &err) == MSHARD_OK, "%s", err.message);
    mshard_writer_unref(writer);
}

unsigned char *mshi_set_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data;
    long end;

    ck_assert_msg(file != NULL, "%s", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    end = ftell(file);
    ck_assert_int_ge(end, 0);
    rewind(file);
    data = malloc((size_t)end + 1);
    ck_assert_ptr_nonnull(data);
    ck_assert_uint_eq(fread(data, 1, (size_t)end, file), (size_t)end);
    data[end] = '\0';
    fclose(file);
    *size = (size_t)end;
    return data;
}

void mshi_set_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    ck_assert_msg(file != NULL, "%s", path);
    if (size > 0)
        ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

void mshi_set_flip(const char *path, uint64_t offset, unsigned char with)
{
    FILE *file = fopen(path, "r+b");
    int byte;

    ck_assert_msg(file != NULL, "%s", path);
    ck_assert_int_eq(fseek(file, (long)offset, SEEK_SET), 0);
    byte = fgetc(file);
    ck_assert_int_ne(byte, EOF);
    ck_assert_int_eq(fseek(file, (long)offset, SEEK_SET), 0);
    ck_assert_int_eq(fputc(byte ^ with, file), byte ^ with);
    ck_assert_int_eq(fclose(file), 0);
}
