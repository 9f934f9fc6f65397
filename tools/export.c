/*
 * export.c - a value as a file others read: PNG, .npy
 *
 * The PNG is plain: 8 bits, one IDAT, rows filtered by Paeth. zlib is touched here only.
 */
#include "export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static void put32(uint8_t *to, uint32_t n)
{
    to[0] = (uint8_t)(n >> 24);
    to[1] = (uint8_t)(n >> 16);
    to[2] = (uint8_t)(n >> 8);
    to[3] = (uint8_t)n;
}

static void put_chunk(struct blob *blob, const char *type, const void *data, uint32_t size)
{
    uint8_t *at = blob->data + blob->size;

    put32(at, size);
    memcpy(at + 4, type, 4);
    if (size > 0)
        memcpy(at + 8, data, size);
    put32(at + 8 + size, (uint32_t)crc32(crc32(0, NULL, 0), at + 4, size + 4));
    blob->size += 12 + (size_t)size;
}

static uint8_t paeth(int a, int b, int c)
{
    const int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);

    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* Rows with their filter byte, as PNG compresses them. */
static uint8_t *filtered(const uint8_t *pixels, size_t row, size_t height, size_t channels)
{
    uint8_t *rows = malloc((row + 1) * height);

    for (size_t y = 0; rows != NULL && y < height; y++) {
        const uint8_t *line = pixels + y * row, *above = y > 0 ? line - row : NULL;
        uint8_t *to = rows + y * (row + 1);
        *to++ = 4;
        for (size_t x = 0; x < row; x++) {
            const int a = x >= channels ? line[x - channels] : 0, b = above != NULL ? above[x] : 0;
            const int c = above != NULL && x >= channels ? above[x - channels] : 0;
            to[x] = (uint8_t)(line[x] - paeth(a, b, c));
        }
    }
    return rows;
}

bool export_png(const uint8_t *pixels, uint64_t width, uint64_t height, uint32_t channels, struct blob *blob)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t header[13] = {[8] = 8, [9] = channels == 3 ? 2 : 0};
    size_t row, raw;
    uLongf packed_size;
    bool good = false;

    if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX ||
        __builtin_mul_overflow((size_t)width, (size_t)channels, &row) ||
        __builtin_mul_overflow(row + 1, (size_t)height, &raw) || raw > INT32_MAX)
        return false;
    uint8_t *rows = filtered(pixels, row, (size_t)height, channels);
    packed_size = compressBound(raw);
    uint8_t *packed = malloc(packed_size);
    blob->data = malloc(packed_size + 64);
    blob->size = 0;
    if (rows != NULL && packed != NULL && blob->data != NULL && compress2(packed, &packed_size, rows, raw, 6) == Z_OK) {
        memcpy(blob->data, signature, sizeof signature);
        blob->size = sizeof signature;
        put32(header, (uint32_t)width);
        put32(header + 4, (uint32_t)height);
        put_chunk(blob, "IHDR", header, sizeof header);
        put_chunk(blob, "IDAT", packed, (uint32_t)packed_size);
        put_chunk(blob, "IEND", NULL, 0);
        good = true;
    }
    free(rows);
    free(packed);
    if (!good)
        free(blob->data);
    return good;
}

static const char *npy_descr(mshard_dtype dtype)
{
    switch (dtype) {
    case MSHARD_INT8:
        return "|i1";
    case MSHARD_BOOL:
        return "|b1";
    case MSHARD_INT16:
        return "<i2";
    case MSHARD_INT32:
        return "<i4";
    case MSHARD_INT64:
        return "<i8";
    case MSHARD_UINT16:
    case MSHARD_BFLOAT16:
        return "<u2";
    case MSHARD_UINT32:
        return "<u4";
    case MSHARD_UINT64:
        return "<u8";
    case MSHARD_FLOAT16:
        return "<f2";
    case MSHARD_FLOAT32:
        return "<f4";
    case MSHARD_FLOAT64:
        return "<f8";
    default:
        return "|u1";
    }
}

const char *export_numpy_dtype(mshard_dtype dtype)
{
    return dtype == MSHARD_BFLOAT16 ? "uint16" : mshard_dtype_name(dtype);
}

bool export_npy(const void *data, size_t size, mshard_dtype dtype, const uint64_t *shape, uint32_t ndim,
                struct blob *blob)
{
    char head[512];
    size_t n =
        (size_t)snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (", npy_descr(dtype));

    for (uint32_t d = 0; d < ndim; d++)
        n += (size_t)snprintf(head + n, sizeof head - n, "%llu%s", (unsigned long long)shape[d],
                              d + 1 < ndim ? ", "
                              : ndim == 1  ? ","
                                           : "");
    n += (size_t)snprintf(head + n, sizeof head - n, "), }");
    const size_t padded = (10 + n + 1 + 63) / 64 * 64 - 10;
    blob->size = 10 + padded + size;
    blob->data = malloc(blob->size);
    if (blob->data == NULL)
        return false;
    memcpy(blob->data, "\x93NUMPY\x01\x00", 8);
    blob->data[8] = (uint8_t)padded;
    blob->data[9] = (uint8_t)(padded >> 8);
    memset(blob->data + 10, ' ', padded);
    memcpy(blob->data + 10, head, n);
    blob->data[10 + padded - 1] = '\n';
    if (size > 0)
        memcpy(blob->data + 10 + padded, data, size);
    return true;
}

static int write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

static int write_direct(const char *path, const void *data, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    int code;

    if (fd < 0)
        return errno;
    code = write_all(fd, data, size);
    if (close(fd) != 0 && code == 0)
        code = errno;
    return code;
}

int export_file(const char *path, const void *data, size_t size)
{
    struct stat info;
    const bool there = stat(path, &info) == 0;
    char *temporary = malloc(strlen(path) + 12);
    int code, fd;

    if (there && !S_ISREG(info.st_mode)) {
        free(temporary);
        return S_ISDIR(info.st_mode) ? EISDIR : write_direct(path, data, size);
    }
    if (temporary == NULL)
        return ENOMEM;
    (void)sprintf(temporary, "%s.tmp-XXXXXX", path);
    fd = mkstemp(temporary);
    if (fd < 0) {
        code = errno;
        free(temporary);
        return code;
    }
    const mode_t mask = umask(0);
    (void)umask(mask);
    code = write_all(fd, data, size);
    if (code == 0 && fchmod(fd, there ? info.st_mode & 0777 : 0666 & ~mask) != 0)
        code = errno;
    if (close(fd) != 0 && code == 0)
        code = errno;
    if (code == 0 && rename(temporary, path) != 0)
        code = errno;
    if (code != 0)
        (void)unlink(temporary);
    free(temporary);
    return code;
}

const char *export_image_type(const void *data, size_t size)
{
    static const struct {
        const char *name, *bytes;
        size_t at, length;
    } types[] = {
        {"jpeg", "\xff\xd8\xff", 0, 3},
        {"png", "\x89PNG\r\n\x1a\n", 0, 8},
        {"gif", "GIF8", 0, 4},
        {"webp", "WEBP", 8, 4},
        {"tiff", "II*\0", 0, 4},
        {"tiff", "MM\0*", 0, 4},
        {"bmp", "BM", 0, 2},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (size >= types[i].at + types[i].length &&
            memcmp((const uint8_t *)data + types[i].at, types[i].bytes, types[i].length) == 0)
            return types[i].name;
    return NULL;
}
