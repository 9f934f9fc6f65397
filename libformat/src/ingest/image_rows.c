/*
 * image_rows.c - one row of decoded values to RGB or gray bytes
 *
 * The arithmetic is Pillow's, bit for bit: alpha dropped, 16-bit values by their high byte, CMYK by the
 * multiplication rounded as (a * b + 128) * 257 >> 16, gray by ITU-R 601 luma in 16-bit fixed point.
 */
#include "ingest/image_rows.h"

#include <string.h>

static uint8_t luma(uint32_t r, uint32_t g, uint32_t b)
{
    return (uint8_t)((19595 * r + 38470 * g + 7471 * b + 0x8000) >> 16);
}

static uint8_t ink(uint32_t color, uint32_t light)
{
    const uint32_t t = color * light + 128;

    return (uint8_t)(light - ((t + (t >> 8)) >> 8));
}

/* Value i of a row, by its high byte. */
static uint32_t value_at(const void *in, bool wide, uint64_t i)
{
    if (!wide)
        return ((const uint8_t *)in)[i];

    uint16_t v;

    memcpy(&v, (const uint8_t *)in + 2 * i, 2);
    return v >> 8;
}

static void put(uint8_t *out, uint64_t x, bool gray, uint32_t r, uint32_t g, uint32_t b)
{
    if (gray) {
        out[x] = luma(r, g, b);
        return;
    }
    out[3 * x] = (uint8_t)r;
    out[3 * x + 1] = (uint8_t)g;
    out[3 * x + 2] = (uint8_t)b;
}

void mshi_row_convert(const struct mshi_row_form *form, const void *in, uint64_t width, bool gray, uint8_t *out)
{
    const uint64_t bands = form->bands;
    const bool wide = form->wide;

    if (!gray && !wide && form->kind == MSHI_ROW_RGB && bands == 3) {
        memcpy(out, in, (size_t)width * 3);
        return;
    }
    for (uint64_t x = 0; x < width; x++) {
        const uint32_t first = value_at(in, wide, x * bands);

        if (form->kind == MSHI_ROW_GRAY) {
            put(out, x, gray, first, first, first);
            continue;
        }

        const uint32_t second = value_at(in, wide, x * bands + 1);
        const uint32_t third = value_at(in, wide, x * bands + 2);

        if (form->kind == MSHI_ROW_RGB) {
            put(out, x, gray, first, second, third);
        } else {
            const uint32_t light = 255 - value_at(in, wide, x * bands + 3);

            put(out, x, gray, ink(first, light), ink(second, light), ink(third, light));
        }
    }
}
