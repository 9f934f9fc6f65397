/* image_rows.h - one row of decoded values to RGB or gray bytes, as Pillow's convert("RGB") and convert("L") */
#ifndef MSHI_INGEST_IMAGE_ROWS_H
#define MSHI_INGEST_IMAGE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

enum mshi_row_kind { MSHI_ROW_GRAY, MSHI_ROW_RGB, MSHI_ROW_CMYK };

struct mshi_row_form {
    enum mshi_row_kind kind;
    uint32_t bands; /* values a pixel, alpha and others beyond the color included; they are dropped */
    bool wide;      /* 16-bit values in host order: the high byte counts */
};

/* width pixels; out: 3 bytes a pixel, or 1 when gray. in and out do not overlap. */
void mshi_row_convert(const struct mshi_row_form *form, const void *in, uint64_t width, bool gray, uint8_t *out);

#endif
