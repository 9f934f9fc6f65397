/*
 * image_type.c - what a file is, by its first bytes; which names are taken for images
 *
 * The type decides which decoder sees the bytes, never the file's name. Unsupported types are recognized too, so
 * that the refusal can say what the file really is.
 */
#include "ingest/decode.h"

#include <string.h>

struct signature {
    const char *type;
    uint16_t offset, size;
    const char *bytes;
};

static const struct signature signatures[] = {
    {"jpeg", 0, 3, "\xff\xd8\xff"},
    {"png", 0, 8, "\x89PNG\r\n\x1a\n"},
    {"gif", 0, 6, "GIF87a"},
    {"gif", 0, 6, "GIF89a"},
    {"tiff", 0, 4, "II*\0"},
    {"tiff", 0, 4, "MM\0*"},
    {"tiff", 0, 4, "II+\0"},
    {"tiff", 0, 4, "MM\0+"},
    {"bmp", 0, 2, "BM"},
    {"gzip", 0, 2, "\x1f\x8b"},
    {"zip", 0, 4, "PK\3\4"},
    {"bzip2", 0, 3, "BZh"},
    {"xz", 0, 6,
     "\xfd"
     "7zXZ\0"},
    {"zstd", 0, 4, "\x28\xb5\x2f\xfd"},
    {"7z", 0, 6, "7z\xbc\xaf\x27\x1c"},
    {"pdf", 0, 5, "%PDF-"},
    {"postscript", 0, 4, "%!PS"},
    {"photoshop", 0, 4, "8BPS"},
    {"openexr", 0, 4, "\x76\x2f\x31\x01"},
    {"jpeg xl", 0, 2, "\xff\x0a"},
    {"jpeg xl", 4, 8, "JXL \r\n\x87\n"},
    {"jpeg 2000", 4, 8, "jP  \r\n\x87\n"},
    {"jpeg 2000", 0, 4, "\xff\x4f\xff\x51"},
    {"heif", 4, 8, "ftypheic"},
    {"heif", 4, 8, "ftypheix"},
    {"heif", 4, 8, "ftypmif1"},
    {"avif", 4, 8, "ftypavif"},
    {"mp4", 4, 4, "ftyp"},
    {"icon", 0, 4, "\0\0\1\0"},
    {"qoi", 0, 4, "qoif"},
    {"dds", 0, 4, "DDS "},
    {"numpy array", 0, 6, "\x93NUMPY"},
    {"hdf5", 0, 8, "\x89HDF\r\n\x1a\n"},
    {"tar", 257, 5, "ustar"},
};

static bool starts_with_tag(const uint8_t *p, size_t size, const char *tag)
{
    size_t i = 0;

    while (i < size && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r' || p[i] == '\n'))
        i++;
    for (; *tag != '\0'; tag++, i++)
        if (i >= size || (p[i] | 0x20) != (*tag | 0x20))
            return false;
    return true;
}

static bool is_text(const uint8_t *p, size_t size)
{
    const size_t n = size < 64 ? size : 64;

    for (size_t i = 0; i < n; i++)
        if ((p[i] < 0x20 && p[i] != '\t' && p[i] != '\r' && p[i] != '\n') || p[i] > 0x7e)
            return false;
    return true;
}

const char *mshi_image_type(const void *data, size_t size)
{
    const uint8_t *p = data;

    if (size == 0)
        return "empty";
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *s = &signatures[i];
        const size_t end = (size_t)s->offset + s->size;

        if (end <= size && memcmp(p + s->offset, s->bytes, s->size) == 0)
            return s->type;
    }
    if (size >= 12 && memcmp(p, "RIFF", 4) == 0 && memcmp(p + 8, "WEBP", 4) == 0)
        return "webp";
    if (size >= 3 && p[0] == 'P' && p[1] >= '1' && p[1] <= '7' && (p[2] == '\n' || p[2] == ' ' || p[2] == '\r'))
        return "pnm";
    if (starts_with_tag(p, size, "<svg"))
        return "svg";
    if (starts_with_tag(p, size, "<?xml"))
        return "xml";
    if (starts_with_tag(p, size, "<!doctype html") || starts_with_tag(p, size, "<html"))
        return "html";
    return is_text(p, size) ? "text" : "unknown";
}

bool mshi_image_type_supported(const char *type)
{
    static const char *const supported[] = {"jpeg", "png", "webp", "gif", "tiff"};

    for (size_t i = 0; i < sizeof supported / sizeof *supported; i++)
        if (strcmp(type, supported[i]) == 0)
            return true;
    return false;
}

mshard_status mshi_image_type_refuse(const char *type, mshard_error *err)
{
    char name[32];
    size_t n = 0;

    if (strcmp(type, "empty") == 0)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET, "expected an image, found an empty file");
    for (; type[n] != '\0' && n < sizeof name - 1; n++) /* as people write them: BMP, PDF, GZIP */
        name[n] = type[n] >= 'a' && type[n] <= 'z' ? (char)(type[n] - 'a' + 'A') : type[n];
    name[n] = '\0';
    return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET,
                     "%s not supported: expected JPEG, PNG, WebP, GIF or TIFF data", name);
}

bool mshi_image_name(const char *name)
{
    /* Types we refuse stand here too: an image that cannot be packed is named, not left aside. */
    static const char *const extensions[] = {"jpg", "jpeg", "jpe", "jfif", "png",  "webp", "gif",  "tif", "tiff", "bmp",
                                             "ppm", "pgm",  "pbm", "pnm",  "heic", "heif", "avif", "jp2", "jxl"};
    const char *slash = strrchr(name, '/');
    const char *dot = strrchr(slash != NULL ? slash + 1 : name, '.');

    if (dot == NULL)
        return false;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        const char *a = dot + 1;
        const char *b = extensions[i];

        while (*a != '\0' && (*a | 0x20) == *b) {
            a++;
            b++;
        }
        if (*a == '\0' && *b == '\0')
            return true;
    }
    return false;
}
