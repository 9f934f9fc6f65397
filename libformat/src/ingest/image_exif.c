/*
 * image_exif.c - the orientation of an image from its EXIF or XMP metadata
 *
 * Cameras and editors leave broken metadata behind: nothing here fails, whatever cannot be read counts as absent.
 * All offsets come from the file and are checked against the block's size.
 */
#include "ingest/image_exif.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct tiff {
    const uint8_t *data;
    size_t size;
    bool big_endian;
};

static uint32_t get16(const struct tiff *t, size_t at)
{
    const uint8_t *p = t->data + at;

    return t->big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t get32(const struct tiff *t, size_t at)
{
    return t->big_endian ? get16(t, at) << 16 | get16(t, at + 2) : get16(t, at + 2) << 16 | get16(t, at);
}

static int entry_value(const struct tiff *t, size_t at)
{
    const uint32_t type = get16(t, at + 2);
    const uint32_t count = get32(t, at + 4);
    uint32_t value = 0;

    if (count != 1)
        return 0;
    if (type == 1) /* byte */
        value = t->data[at + 8];
    else if (type == 3) /* short */
        value = get16(t, at + 8);
    else if (type == 4) /* long */
        value = get32(t, at + 8);
    return value >= 1 && value <= 8 ? (int)value : 0;
}

int mshi_exif_orientation(const void *exif, size_t size)
{
    struct tiff t = {.data = exif, .size = size};

    if (t.size >= 6 && memcmp(t.data, "Exif\0\0", 6) == 0) {
        t.data += 6;
        t.size -= 6;
    }
    if (t.size < 8 || (memcmp(t.data, "II*\0", 4) != 0 && memcmp(t.data, "MM\0*", 4) != 0))
        return 0;
    t.big_endian = t.data[0] == 'M';

    const size_t directory = get32(&t, 4);

    if (directory > t.size - 2)
        return 0;

    const uint32_t entries = get16(&t, directory);
    size_t at = directory + 2;

    for (uint32_t i = 0; i < entries && t.size - at >= 12; i++, at += 12)
        if (get16(&t, at) == 0x0112)
            return entry_value(&t, at);
    return 0;
}

int mshi_xmp_orientation(const void *xmp, size_t size)
{
    static const char name[] = "tiff:Orientation";
    const char *p = xmp;
    const char *const end = p + size;

    while (p != NULL && (size_t)(end - p) >= sizeof name - 1) {
        p = memchr(p, 't', (size_t)(end - p) - (sizeof name - 2));
        if (p == NULL)
            return 0;
        if (memcmp(p, name, sizeof name - 1) != 0) {
            p++;
            continue;
        }
        p += sizeof name - 1;

        const size_t left = (size_t)(end - p);
        const char *digit = left >= 2 && p[0] == '>' ? p + 1 : left >= 3 && p[0] == '=' && p[1] == '"' ? p + 2 : NULL;

        if (digit != NULL && *digit >= '0' && *digit <= '9')
            return *digit >= '1' && *digit <= '8' ? *digit - '0' : 0;
    }
    return 0;
}
