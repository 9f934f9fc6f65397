/*
 * png_check.c - is a PNG file whole? See png_check.h
 *
 * Rules are those of the PNG specification, 2nd edition. Damage in ancillary chunks (text, profiles, time) is let
 * pass: they do not shape pixels. Compressed text that grows beyond 1 MiB is refused, as Pillow refuses it. What
 * follows IEND is not looked at.
 */
#include "ingest/png_check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct png {
    const uint8_t *data;
    size_t size;
    uint32_t width, height;
    uint32_t depth, color, interlace;
    uint32_t palette;    /* entries in PLTE; 0: none */
    size_t first_idat;   /* offset of the first IDAT chunk */
    uint64_t compressed; /* bytes of all of them */
    bool ended;          /* IEND was seen */
};

struct chunk {
    size_t at; /* offset of its length */
    uint32_t length;
    const uint8_t *type, *body;
};

#define MAX_TEXT (1u << 20) /* bytes of one text chunk, inflated */

enum { COLOR_GRAY = 0, COLOR_RGB = 2, COLOR_PALETTE = 3, COLOR_GRAY_ALPHA = 4, COLOR_RGB_ALPHA = 6 };

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool is_type(const struct chunk *c, const char *type)
{
    return memcmp(c->type, type, 4) == 0;
}

static mshard_status next_chunk(const struct png *png, size_t at, struct chunk *c, mshard_error *err)
{
    const size_t left = png->size - at;

    if (left < 12)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, at, "PNG is cut: expected a chunk, found %zu bytes", left);
    *c = (struct chunk){
        .at = at, .length = be32(png->data + at), .type = png->data + at + 4, .body = png->data + at + 8};
    for (int i = 0; i < 4; i++)
        if ((c->type[i] | 0x20) < 'a' || (c->type[i] | 0x20) > 'z')
            return mshi_fail(err, MSHARD_E_DECODE, NULL, at + 4, "PNG chunk type expected, found %02x%02x%02x%02x",
                             c->type[0], c->type[1], c->type[2], c->type[3]);
    if (c->length > left - 12)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, at, "PNG is cut: chunk %.4s says %" PRIu32 " bytes, found %zu",
                         (const char *)c->type, c->length, left - 12);
    return MSHARD_OK;
}

static bool depth_fits(uint32_t color, uint32_t depth)
{
    switch (color) {
    case COLOR_GRAY:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case COLOR_PALETTE:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case COLOR_RGB:
    case COLOR_GRAY_ALPHA:
    case COLOR_RGB_ALPHA:
        return depth == 8 || depth == 16;
    default:
        return false;
    }
}

static mshard_status read_header(struct png *png, uint64_t max_pixels, mshard_error *err)
{
    struct chunk c;

    MSHI_TRY(next_chunk(png, 8, &c, err));
    if (!is_type(&c, "IHDR") || c.length != 13)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, 8,
                         "PNG must begin with a 13-byte IHDR chunk, found %" PRIu32 " bytes of %.4s", c.length,
                         (const char *)c.type);
    png->width = be32(c.body);
    png->height = be32(c.body + 4);
    png->depth = c.body[8];
    png->color = c.body[9];
    png->interlace = c.body[12];
    if (png->width == 0 || png->height == 0 || png->width > INT32_MAX || png->height > INT32_MAX ||
        !depth_fits(png->color, png->depth) || c.body[10] != 0 || c.body[11] != 0 || png->interlace > 1)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, 16, "PNG header has a value that is not allowed");
    if ((uint64_t)png->width * png->height > max_pixels)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, 16,
                         "image of %" PRIu32 "x%" PRIu32 " exceeds pixel limit %" PRIu64 " (--max-pixels)", png->width,
                         png->height, max_pixels);
    return MSHARD_OK;
}

/* Where the zlib stream of a text chunk begins; 0: it is not compressed, or malformed (and then nobody inflates it). */
static size_t compressed_text(const struct chunk *c)
{
    const uint8_t *nul = memchr(c->body, 0, c->length);
    const size_t at = nul != NULL ? (size_t)(nul - c->body) + 1 : 0;

    if (at == 0)
        return 0;
    if (is_type(c, "zTXt"))
        return c->length - at >= 1 ? at + 1 : 0;
    if (!is_type(c, "iTXt") || c->length - at < 2 || c->body[at] != 1)
        return 0;

    const uint8_t *language = c->body + at + 2, *const end = c->body + c->length;
    const uint8_t *keyword = memchr(language, 0, (size_t)(end - language));

    if (keyword == NULL)
        return 0;
    keyword = memchr(keyword + 1, 0, (size_t)(end - keyword - 1));
    return keyword != NULL ? (size_t)(keyword - c->body) + 1 : 0;
}

static mshard_status check_text(const struct chunk *c, mshard_error *err)
{
    const size_t at = compressed_text(c);
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)(c->body + at), .avail_in = c->length - (uInt)at};
    uint8_t out[4096];
    int rc = Z_OK;

    if (at == 0)
        return MSHARD_OK;
    if (inflateInit(&z) != Z_OK)
        return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "out of memory");
    while (rc == Z_OK && z.total_out <= MAX_TEXT) {
        z.next_out = out;
        z.avail_out = sizeof out;
        rc = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    if (z.total_out > MAX_TEXT)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, c->at,
                         "PNG text chunk of %" PRIu32 " bytes inflates to more than %u", c->length, MAX_TEXT);
    return MSHARD_OK;
}

static mshard_status take_chunk(struct png *png, const struct chunk *c, mshard_error *err)
{
    if (is_type(c, "PLTE")) {
        if (c->length == 0 || c->length % 3 != 0 || c->length > 768 || png->palette != 0)
            return mshi_fail(err, MSHARD_E_DECODE, NULL, c->at, "PNG palette of %" PRIu32 " bytes is not allowed",
                             c->length);
        png->palette = c->length / 3;
    } else if (is_type(c, "IDAT")) {
        if (png->first_idat == 0)
            png->first_idat = c->at;
        png->compressed += c->length;
    } else if (is_type(c, "acTL")) {
        if (c->length != 8 || be32(c->body) == 0)
            return mshi_fail(err, MSHARD_E_DECODE, NULL, c->at, "animated PNG says it has no frames");
    } else if (is_type(c, "zTXt") || is_type(c, "iTXt")) {
        return check_text(c, err);
    }
    return MSHARD_OK;
}

static mshard_status walk(struct png *png, uint64_t max_pixels, bool check_sums, mshard_error *err)
{
    size_t at = 8;

    if (png->size < 8)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, 0, "PNG is cut: found %zu bytes", png->size);
    MSHI_TRY(read_header(png, max_pixels, err));
    while (!png->ended) {
        struct chunk c;

        MSHI_TRY(next_chunk(png, at, &c, err));
        if (check_sums && (c.type[0] & 0x20) == 0) { /* critical */
            const uint32_t expected = be32(c.body + c.length);
            const uint32_t found = (uint32_t)crc32_z(0, c.type, (size_t)c.length + 4);

            if (expected != found)
                return mshi_fail(err, MSHARD_E_DECODE, NULL, at,
                                 "PNG chunk %.4s: CRC in the file is %08" PRIx32 ", its bytes give %08" PRIx32,
                                 (const char *)c.type, expected, found);
        }
        MSHI_TRY(take_chunk(png, &c, err));
        png->ended = is_type(&c, "IEND");
        at += (size_t)c.length + 12;
    }
    if (png->first_idat == 0)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, at - 12, "PNG holds no image data");
    if (png->color == COLOR_PALETTE && png->palette == 0)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, png->first_idat, "PNG of palette type holds no palette");
    return MSHARD_OK;
}

/* ---- the compressed stream ---- */

struct pixels {
    struct png *png;
    z_stream z;
    size_t at;               /* chunk that input comes from */
    uint32_t used;           /* bytes of it given to zlib */
    bool ended;              /* zlib saw the end of its stream */
    uint8_t *row, *previous; /* filter byte and row */
};

/* Next IDAT piece. IDAT chunks follow each other: another type ends the data. False: no more. */
static bool more_input(struct pixels *p)
{
    for (;;) {
        const uint8_t *chunk = p->png->data + p->at;
        const uint32_t length = be32(chunk);

        if (memcmp(chunk + 4, "IDAT", 4) != 0)
            return false;
        if (p->used < length) {
            p->z.next_in = (z_const Bytef *)(uintptr_t)(chunk + 8 + p->used);
            p->z.avail_in = length - p->used;
            p->used = length;
            return true;
        }
        p->at += (size_t)length + 12;
        p->used = 0;
    }
}

static mshard_status inflate_bytes(struct pixels *p, uint8_t *out, size_t size, size_t *got, mshard_error *err)
{
    p->z.next_out = out;
    p->z.avail_out = (uInt)size;
    while (p->z.avail_out > 0 && !p->ended) {
        if (p->z.avail_in == 0 && !more_input(p))
            return mshi_fail(err, MSHARD_E_DECODE, NULL, p->at, "PNG image data ends too early");

        const int rc = inflate(&p->z, Z_NO_FLUSH);

        if (rc == Z_STREAM_END)
            p->ended = true;
        else if (rc == Z_MEM_ERROR)
            return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "out of memory");
        else if (rc != Z_OK && rc != Z_BUF_ERROR)
            return mshi_fail(err, MSHARD_E_DECODE, NULL, p->at, "PNG image data is damaged: %s",
                             p->z.msg != NULL ? p->z.msg : "not a zlib stream");
    }
    *got = size - p->z.avail_out;
    return MSHARD_OK;
}

static uint8_t paeth(int a, int b, int c)
{
    const int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);

    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* Undo the filter of a palette row: one byte a pixel or less, so the left neighbour is one byte back. */
static void unfilter(uint8_t *row, const uint8_t *up, uint8_t filter, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const uint8_t a = i > 0 ? row[i - 1] : 0;
        const uint8_t c = i > 0 ? up[i - 1] : 0;

        switch (filter) {
        case 1:
            row[i] = (uint8_t)(row[i] + a);
            break;
        case 2:
            row[i] = (uint8_t)(row[i] + up[i]);
            break;
        case 3:
            row[i] = (uint8_t)(row[i] + (a + up[i]) / 2);
            break;
        case 4:
            row[i] = (uint8_t)(row[i] + paeth(a, up[i], c));
            break;
        default:
            break;
        }
    }
}

static bool palette_fits(const struct png *png, const uint8_t *row, uint32_t width)
{
    const uint32_t depth = png->depth;
    const uint32_t mask = (1u << depth) - 1;

    for (uint32_t x = 0; x < width; x++) {
        const uint32_t bit = x * depth % 8;

        if (((uint32_t)row[(uint64_t)x * depth / 8] >> (8 - depth - bit) & mask) >= png->palette)
            return false;
    }
    return true;
}

static mshard_status check_pass(struct pixels *p, uint32_t width, uint32_t height, uint32_t channels, mshard_error *err)
{
    const struct png *png = p->png;
    const bool check_palette = png->color == COLOR_PALETTE && png->palette < 1u << png->depth;
    const size_t size = (size_t)(((uint64_t)width * channels * png->depth + 7) / 8);

    if (width == 0 || height == 0)
        return MSHARD_OK;
    memset(p->previous, 0, size + 1);
    for (uint32_t y = 0; y < height; y++) {
        size_t got;

        MSHI_TRY(inflate_bytes(p, p->row, size + 1, &got, err));
        if (got < size + 1)
            return mshi_fail(err, MSHARD_E_DECODE, NULL, p->at, "PNG image data ends in row %" PRIu32 " of %" PRIu32, y,
                             height);
        if (p->row[0] > 4)
            return mshi_fail(err, MSHARD_E_DECODE, NULL, p->at, "PNG filter type is 0 to 4, found %d in row %" PRIu32,
                             p->row[0], y);
        if (!check_palette)
            continue;
        unfilter(p->row + 1, p->previous + 1, p->row[0], size);
        if (!palette_fits(png, p->row + 1, width))
            return mshi_fail(err, MSHARD_E_DECODE, NULL, p->at,
                             "PNG palette has %" PRIu32 " entries, row %" PRIu32 " uses one beyond", png->palette, y);

        uint8_t *const swap = p->row;

        p->row = p->previous;
        p->previous = swap;
    }
    return MSHARD_OK;
}

/* All pixels were read: the stream must end here, with the right Adler-32. */
static mshard_status check_end(struct pixels *p, mshard_error *err)
{
    uint8_t extra[1];
    size_t got = 0;

    if (!p->ended)
        MSHI_TRY(inflate_bytes(p, extra, sizeof extra, &got, err));
    if (got != 0)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, p->at, "PNG image data goes on after the last row");
    return MSHARD_OK;
}

static mshard_status check_rows(struct pixels *p, mshard_error *err)
{
    static const uint8_t channels_of[] = {1, 0, 3, 1, 2, 0, 4};
    static const uint8_t x0[] = {0, 4, 0, 2, 0, 1, 0}, dx[] = {8, 8, 4, 4, 2, 2, 1};
    static const uint8_t y0[] = {0, 0, 4, 0, 2, 0, 1}, dy[] = {8, 8, 8, 4, 4, 2, 2};
    const struct png *png = p->png;
    const uint32_t channels = channels_of[png->color];

    if (png->interlace == 0)
        MSHI_TRY(check_pass(p, png->width, png->height, channels, err));
    for (int i = 0; png->interlace != 0 && i < 7; i++) {
        const uint32_t w = png->width > x0[i] ? (png->width - x0[i] + dx[i] - 1u) / dx[i] : 0;
        const uint32_t h = png->height > y0[i] ? (png->height - y0[i] + dy[i] - 1u) / dy[i] : 0;

        MSHI_TRY(check_pass(p, w, h, channels, err));
    }
    return check_end(p, err);
}

mshard_status mshi_png_check_header(const void *data, size_t size, uint64_t max_pixels, mshard_error *err)
{
    struct png png = {.data = data, .size = size};

    return walk(&png, max_pixels, false, err);
}

mshard_status mshi_png_check(const void *data, size_t size, uint64_t max_pixels, mshard_error *err)
{
    struct png png = {.data = data, .size = size};
    struct pixels p = {.png = &png};
    mshard_status status = MSHARD_E_NOMEM;

    MSHI_TRY(walk(&png, max_pixels, true, err));

    /* Deflate makes at most 1032 bytes of one: a larger claim is a lie, and no memory is taken for it. */
    const uint64_t row = ((uint64_t)png.width * 4 * png.depth + 7) / 8 + 1;

    if (png.height > png.compressed * 1032 || (uint64_t)png.width * png.depth / 8 > png.compressed * 1032)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, png.first_idat,
                         "PNG of %" PRIu32 "x%" PRIu32 " cannot come out of %" PRIu64 " bytes of image data", png.width,
                         png.height, png.compressed);
    p.at = png.first_idat;
    p.row = malloc(row);
    p.previous = malloc(row);
    if (p.row == NULL || p.previous == NULL || inflateInit(&p.z) != Z_OK) {
        status = mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "out of memory for a PNG row");
        goto out;
    }
    status = check_rows(&p, err);
    inflateEnd(&p.z);
out:
    free(p.previous);
    free(p.row);
    return status;
}
