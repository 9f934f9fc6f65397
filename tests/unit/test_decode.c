/*
 * test_decode.c - image files to pixels: types, orientation, colors, limits, refusals
 *
 * PNG files are made here; the two JPEG files were made with Pillow 13 (16x8 pixels, left half red, right half blue;
 * 8x8 pixels of one CMYK color). Where the folder of real files is (MSHARD_CASES, or ../shared/cases), every image
 * in it must give the pixels Pillow gave, or be refused.
 */
#include "support/main.h"

#include "base/json.h"
#include "ingest/decode.h"
#include "ingest/image_exif.h"
#include "ingest/image_resize.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>

static const uint8_t jpeg[] = {
    0xff, 0xd8, 0xff, 0xdb, 0x00, 0x43, 0x00, 0x0d, 0x09, 0x0a, 0x0b, 0x0a, 0x08, 0x0d, 0x0b, 0x0a, 0x0b, 0x0e, 0x0e,
    0x0d, 0x0f, 0x13, 0x20, 0x15, 0x13, 0x12, 0x12, 0x13, 0x27, 0x1c, 0x1e, 0x17, 0x20, 0x2e, 0x29, 0x31, 0x30, 0x2e,
    0x29, 0x2d, 0x2c, 0x33, 0x3a, 0x4a, 0x3e, 0x33, 0x36, 0x46, 0x37, 0x2c, 0x2d, 0x40, 0x57, 0x41, 0x46, 0x4c, 0x4e,
    0x52, 0x53, 0x52, 0x32, 0x3e, 0x5a, 0x61, 0x5a, 0x50, 0x60, 0x4a, 0x51, 0x52, 0x4f, 0xff, 0xdb, 0x00, 0x43, 0x01,
    0x0e, 0x0e, 0x0e, 0x13, 0x11, 0x13, 0x26, 0x15, 0x15, 0x26, 0x4f, 0x35, 0x2d, 0x35, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f,
    0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f,
    0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f,
    0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f, 0xff, 0xc0, 0x00, 0x11, 0x08, 0x00, 0x08, 0x00, 0x10, 0x03, 0x01, 0x11,
    0x00, 0x02, 0x11, 0x01, 0x03, 0x11, 0x01, 0xff, 0xc4, 0x00, 0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0x06, 0xff, 0xc4, 0x00, 0x14, 0x10, 0x01, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xc4, 0x00, 0x15, 0x01,
    0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x05, 0xff,
    0xc4, 0x00, 0x14, 0x11, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0xff, 0xda, 0x00, 0x0c, 0x03, 0x01, 0x00, 0x02, 0x11, 0x03, 0x11, 0x00, 0x3f, 0x00, 0x9f, 0x46, 0x24,
    0x82, 0x31, 0x0a, 0x9f, 0xff, 0xd9,
};

static const uint8_t cmyk_jpeg[] = {
    0xff, 0xd8, 0xff, 0xee, 0x00, 0x0e, 0x41, 0x64, 0x6f, 0x62, 0x65, 0x00, 0x64, 0x00, 0x00, 0x00, 0x00, 0x00,
    0xff, 0xdb, 0x00, 0x43, 0x00, 0x0d, 0x09, 0x0a, 0x0b, 0x0a, 0x08, 0x0d, 0x0b, 0x0a, 0x0b, 0x0e, 0x0e, 0x0d,
    0x0f, 0x13, 0x20, 0x15, 0x13, 0x12, 0x12, 0x13, 0x27, 0x1c, 0x1e, 0x17, 0x20, 0x2e, 0x29, 0x31, 0x30, 0x2e,
    0x29, 0x2d, 0x2c, 0x33, 0x3a, 0x4a, 0x3e, 0x33, 0x36, 0x46, 0x37, 0x2c, 0x2d, 0x40, 0x57, 0x41, 0x46, 0x4c,
    0x4e, 0x52, 0x53, 0x52, 0x32, 0x3e, 0x5a, 0x61, 0x5a, 0x50, 0x60, 0x4a, 0x51, 0x52, 0x4f, 0xff, 0xc0, 0x00,
    0x14, 0x08, 0x00, 0x08, 0x00, 0x08, 0x04, 0x43, 0x11, 0x00, 0x4d, 0x11, 0x00, 0x59, 0x11, 0x00, 0x4b, 0x11,
    0x00, 0xff, 0xc4, 0x00, 0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x06, 0x07, 0xff, 0xc4, 0x00, 0x14, 0x10, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xda, 0x00, 0x0e, 0x04, 0x43, 0x00, 0x4d,
    0x00, 0x59, 0x00, 0x4b, 0x00, 0x00, 0x3f, 0x00, 0xa4, 0x09, 0x1e, 0x14, 0xbf, 0xff, 0xd9,
};

static const struct mshi_image_rule plain = {.max_pixels = 1 << 20};

/* ---- making PNG files ---- */

struct file {
    uint8_t data[65536];
    size_t size;
};

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void begin_png(struct file *f)
{
    memcpy(f->data, "\x89PNG\r\n\x1a\n", 8);
    f->size = 8;
}

static void chunk(struct file *f, const char *type, const void *body, size_t size)
{
    uint8_t *p = f->data + f->size;

    put32(p, (uint32_t)size);
    memcpy(p + 4, type, 4);
    if (size > 0)
        memcpy(p + 8, body, size);
    put32(p + 8 + size, (uint32_t)crc32(0, p + 4, (uInt)size + 4));
    f->size += size + 12;
}

static void header(struct file *f, uint32_t width, uint32_t height, uint8_t depth, uint8_t color)
{
    uint8_t body[13] = {0};

    put32(body, width);
    put32(body + 4, height);
    body[8] = depth;
    body[9] = color;
    begin_png(f);
    chunk(f, "IHDR", body, sizeof body);
}

static void pixels(struct file *f, const uint8_t *rows, size_t size)
{
    uint8_t packed[4096];
    uLongf n = sizeof packed;

    ck_assert_int_eq(compress(packed, &n, rows, size), Z_OK);
    chunk(f, "IDAT", packed, n);
}

static void end_png(struct file *f)
{
    chunk(f, "IEND", NULL, 0);
}

/* 2x1 RGB: (10, 20, 30) (200, 100, 50) */
static void small_png(struct file *f)
{
    static const uint8_t row[] = {0, 10, 20, 30, 200, 100, 50};

    header(f, 2, 1, 8, 2);
    pixels(f, row, sizeof row);
    end_png(f);
}

static void decode_ok(const void *data, size_t size, const struct mshi_image_rule *rule, struct mshi_image *image)
{
    mshard_error err;
    uint64_t width, height;
    const mshard_status status = mshi_image_decode(data, size, rule, image, &err);

    ck_assert_msg(status == MSHARD_OK, "%s", err.message);
    ck_assert_int_eq(mshi_image_probe(data, size, rule, &width, &height, &err), MSHARD_OK);
    ck_assert_uint_eq(width, image->width);
    ck_assert_uint_eq(height, image->height);
}

static void decode_fails(const void *data, size_t size, mshard_status code, const char *words)
{
    struct mshi_image image = {.pixels = NULL};
    mshard_error err = {.code = MSHARD_OK};

    ck_assert_int_eq(mshi_image_decode(data, size, &plain, &image, &err), code);
    ck_assert_int_eq(err.code, code);
    ck_assert_msg(strstr(err.message, words) != NULL, "'%s' is not in '%s'", words, err.message);
    free(image.pixels);
}

static void setup(void)
{
    mshard_error err;

    ck_assert_int_eq(mshi_decode_start(&err), MSHARD_OK);
}

/* ---- types ---- */

START_TEST(types_are_told_by_content)
{
    ck_assert_str_eq(mshi_image_type(jpeg, sizeof jpeg), "jpeg");
    ck_assert_str_eq(mshi_image_type("", 0), "empty");
    ck_assert_str_eq(mshi_image_type("BM123", 5), "bmp");
    ck_assert_str_eq(mshi_image_type("\x1f\x8b\x08", 3), "gzip");
    ck_assert_str_eq(mshi_image_type("RIFF1234WEBPVP8 ", 16), "webp");
    ck_assert_str_eq(mshi_image_type(" <!DOCTYPE html>", 16), "html");
    ck_assert_str_eq(mshi_image_type("<svg xmlns", 10), "svg");
    ck_assert_str_eq(mshi_image_type("hello", 5), "text");
    ck_assert_str_eq(mshi_image_type("\0\1\2", 3), "unknown");
    ck_assert(mshi_image_type_supported("webp"));
    ck_assert(!mshi_image_type_supported("bmp"));
}
END_TEST

START_TEST(names_of_images)
{
    ck_assert(mshi_image_name("a.JPG"));
    ck_assert(mshi_image_name("x/y.tar/b.Png"));
    ck_assert(mshi_image_name("a.bmp"));
    ck_assert(!mshi_image_name("a.jpg.txt"));
    ck_assert(!mshi_image_name("jpg"));
    ck_assert(!mshi_image_name("a.jpg/b"));
}
END_TEST

START_TEST(other_types_are_refused_by_name)
{
    decode_fails("BM......", 8, MSHARD_E_DECODE, "BMP not supported");
    decode_fails("\x1f\x8b......", 8, MSHARD_E_DECODE, "GZIP not supported");
    decode_fails("<svg xmlns='x'/>", 16, MSHARD_E_DECODE, "SVG not supported");
    decode_fails("%PDF-1.4", 8, MSHARD_E_DECODE, "PDF not supported");
    decode_fails("", 0, MSHARD_E_DECODE, "empty file");
}
END_TEST

/* ---- pixels ---- */

START_TEST(png_pixels_are_exact)
{
    static const uint8_t expected[] = {10, 20, 30, 200, 100, 50};
    struct file f;
    struct mshi_image image = {.pixels = NULL};

    small_png(&f);
    decode_ok(f.data, f.size, &plain, &image);
    ck_assert_uint_eq(image.width, 2);
    ck_assert_uint_eq(image.height, 1);
    ck_assert_uint_eq(image.channels, 3);
    ck_assert_mem_eq(image.pixels, expected, sizeof expected);
    free(image.pixels);
}
END_TEST

START_TEST(sixteen_bits_alpha_and_palette)
{
    static const uint8_t deep[] = {0, 0x12, 0x34, 0xff, 0xff};                 /* gray and alpha, 16 bits */
    static const uint8_t palette[] = {1, 2, 3, 40, 50, 60}, row[] = {0, 0x40}; /* 2 pixels of 1 bit: 0 1 */
    static const uint8_t transparent[] = {0, 255};
    struct file f;
    struct mshi_image image = {.pixels = NULL};

    header(&f, 1, 1, 16, 4);
    pixels(&f, deep, sizeof deep);
    end_png(&f);
    decode_ok(f.data, f.size, &plain, &image);
    ck_assert_mem_eq(image.pixels, "\x12\x12\x12", 3);

    header(&f, 2, 1, 1, 3);
    chunk(&f, "PLTE", palette, sizeof palette);
    chunk(&f, "tRNS", transparent, sizeof transparent);
    pixels(&f, row, sizeof row);
    end_png(&f);
    decode_ok(f.data, f.size, &plain, &image);
    ck_assert_mem_eq(image.pixels, palette, sizeof palette);
    free(image.pixels);
}
END_TEST

START_TEST(gray_is_luma)
{
    struct mshi_image_rule rule = plain;
    struct mshi_image image = {.pixels = NULL};
    struct file f;

    rule.gray = true;
    small_png(&f);
    decode_ok(f.data, f.size, &rule, &image);
    ck_assert_uint_eq(image.channels, 1);
    ck_assert_uint_eq(image.pixels[0], (19595 * 10 + 38470 * 20 + 7471 * 30 + 0x8000) >> 16);
    ck_assert_uint_eq(image.pixels[1], (19595 * 200 + 38470 * 100 + 7471 * 50 + 0x8000) >> 16);
    free(image.pixels);
}
END_TEST

START_TEST(cmyk_as_pillow)
{
    static const uint8_t expected[] = {187, 42, 173};
    struct mshi_image image = {.pixels = NULL};

    decode_ok(cmyk_jpeg, sizeof cmyk_jpeg, &plain, &image);
    for (int i = 0; i < 64; i++)
        ck_assert_mem_eq(image.pixels + 3 * i, expected, 3);
    free(image.pixels);
}
END_TEST

/* ---- orientation ---- */

static size_t with_exif(uint8_t *out, uint16_t tag, uint16_t value)
{
    uint8_t segment[] = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8,
                         0,    1,    0, 0,  0,   3,   0,   0,   0, 1, 0,   0,   0, 0,  0, 0, 0, 0};

    segment[20] = (uint8_t)(tag >> 8);
    segment[21] = (uint8_t)tag;
    segment[28] = (uint8_t)(value >> 8);
    segment[29] = (uint8_t)value;
    memcpy(out, jpeg, 2);
    memcpy(out + 2, segment, sizeof segment);
    memcpy(out + 2 + sizeof segment, jpeg + 2, sizeof jpeg - 2);
    return sizeof jpeg + sizeof segment;
}

START_TEST(orientation_is_applied)
{
    static const bool red_first[] = {false, true, false, false, true, true, true, false, false};
    uint8_t data[1024];
    struct mshi_image image = {.pixels = NULL};

    for (uint16_t o = 0; o <= 9; o++) {
        const size_t size = with_exif(data, 0x0112, o);
        const bool turned = o >= 5 && o <= 8;

        decode_ok(data, size, &plain, &image);
        ck_assert_uint_eq(image.width, turned ? 8 : 16);
        ck_assert_uint_eq(image.height, turned ? 16 : 8);

        const bool first_is_red = image.pixels[0] > 128;
        const bool last_is_red = image.pixels[16 * 8 * 3 - 3] > 128;
        const bool expected = o >= 1 && o <= 8 ? red_first[o] : true;

        ck_assert_msg(first_is_red == expected && last_is_red != expected, "orientation %d", o);
    }
    free(image.pixels);
}
END_TEST

START_TEST(malformed_metadata_counts_as_none)
{
    static const char exif[] = "Exif\0\0II*\0\xff\xff\xff\xff";

    ck_assert_int_eq(mshi_exif_orientation(exif, sizeof exif - 1), 0);
    for (size_t n = 0; n < sizeof exif - 1; n++)
        ck_assert_int_eq(mshi_exif_orientation(exif, n), 0);
    ck_assert_int_eq(mshi_exif_orientation("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 22), 6);
    ck_assert_int_eq(mshi_exif_orientation("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 21), 0);
    ck_assert_int_eq(mshi_xmp_orientation("tiff:Orientation=\"6\"", 20), 6);
    ck_assert_int_eq(mshi_xmp_orientation("<tiff:Orientation>3<", 20), 3);
    ck_assert_int_eq(mshi_xmp_orientation("tiff:Orientatio", 15), 0);
    ck_assert_int_eq(mshi_xmp_orientation("tiff:Orientation", 16), 0);
}
END_TEST

/* ---- resize and crop ---- */

START_TEST(sizes_follow_the_rule)
{
    struct mshi_image_rule rule = {.resize = 4, .max_pixels = 1 << 20};
    struct mshi_image image = {.pixels = NULL};
    mshard_error err;

    decode_ok(jpeg, sizeof jpeg, &rule, &image);
    ck_assert_uint_eq(image.width, 8);
    ck_assert_uint_eq(image.height, 4);
    rule.crop_width = rule.crop_height = 3;
    decode_ok(jpeg, sizeof jpeg, &rule, &image);
    ck_assert_uint_eq(image.width, 3);
    ck_assert_uint_eq(image.height, 3);
    rule.crop_height = 5;
    ck_assert_int_eq(mshi_image_decode(jpeg, sizeof jpeg, &rule, &image, &err), MSHARD_E_DECODE);
    ck_assert_ptr_nonnull(strstr(err.message, "smaller than the crop"));
    rule = (struct mshi_image_rule){.resize_width = 5, .resize_height = 7, .max_pixels = 1 << 20};
    decode_ok(jpeg, sizeof jpeg, &rule, &image);
    ck_assert_uint_eq(image.width, 5);
    ck_assert_uint_eq(image.height, 7);
    free(image.pixels);
}
END_TEST

/* Made with Pillow: Image.frombytes("L", (5, 3), bytes(range(0, 150, 10))).resize((3, 2), BILINEAR) and (7, 4) */
START_TEST(resizing_is_bit_exact)
{
    static const uint8_t down[] = {23, 39, 55, 85, 101, 117};
    static const uint8_t up[] = {0,  6,  13, 20, 27, 34,  40,  31,  37,  44,  51,  58,  65,  71,
                                 69, 75, 82, 89, 96, 103, 109, 100, 106, 113, 120, 127, 134, 140};
    const struct mshi_image_rule small = {.resize_width = 3, .resize_height = 2, .max_pixels = 1000};
    const struct mshi_image_rule large = {.resize_width = 7, .resize_height = 4, .max_pixels = 1000};
    uint8_t in[15], out[28];
    struct mshi_geometry g;
    mshard_error err;

    for (int i = 0; i < 15; i++)
        in[i] = (uint8_t)(i * 10);
    ck_assert_int_eq(mshi_geometry_set(&g, &small, 5, 3, 1, &err), MSHARD_OK);
    ck_assert_int_eq(mshi_image_resize(&g, in, 1, out, &err), MSHARD_OK);
    ck_assert_mem_eq(out, down, sizeof down);
    ck_assert_int_eq(mshi_geometry_set(&g, &large, 5, 3, 1, &err), MSHARD_OK);
    ck_assert_int_eq(mshi_image_resize(&g, in, 1, out, &err), MSHARD_OK);
    ck_assert_mem_eq(out, up, sizeof up);
}
END_TEST

START_TEST(a_crop_is_a_part_of_the_whole)
{
    struct mshi_image_rule rule = {.resize_width = 13, .resize_height = 11, .max_pixels = 1000};
    struct mshi_image whole = {.pixels = NULL}, part = {.pixels = NULL};

    decode_ok(jpeg, sizeof jpeg, &rule, &whole);
    rule.crop_width = 6;
    rule.crop_height = 5;
    decode_ok(jpeg, sizeof jpeg, &rule, &part);
    for (uint64_t y = 0; y < 5; y++)
        ck_assert_mem_eq(part.pixels + y * 18, whole.pixels + ((y + 3) * 13 + 3) * 3, 18);
    free(whole.pixels);
    free(part.pixels);
}
END_TEST

/* ---- limits and damage ---- */

START_TEST(the_pixel_limit_is_checked_on_the_header)
{
    struct file f;

    header(&f, 60000, 60000, 8, 2);
    chunk(&f, "IDAT", NULL, 0);
    end_png(&f);
    decode_fails(f.data, f.size, MSHARD_E_LIMIT, "exceeds pixel limit 1048576 (--max-pixels)");
    header(&f, 1000, 1000, 8, 2);
    pixels(&f, (const uint8_t *)"", 1);
    end_png(&f);
    decode_fails(f.data, f.size, MSHARD_E_DECODE, "PNG image data ends");
}
END_TEST

START_TEST(damaged_png_files_are_refused)
{
    static const uint8_t palette[] = {1, 2, 3}, row[] = {0, 0x40}, filter[] = {5, 1, 2, 3, 4, 5, 6};
    static const uint8_t longer[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct file f, good;

    small_png(&good);
    f = good;
    f.data[good.size - 12 - 5] ^= 1; /* CRC of IDAT */
    decode_fails(f.data, f.size, MSHARD_E_DECODE, "CRC");

    const size_t idat = 33, adler = good.size - 12 - 4 - 4;

    f = good;
    f.data[adler] ^= 1;
    put32(f.data + adler + 4, (uint32_t)crc32(0, f.data + idat + 4, (uInt)(adler - idat)));
    decode_fails(f.data, f.size, MSHARD_E_DECODE, "incorrect data check");
    for (size_t n = 9; n < good.size; n++) /* wherever it is cut */
        decode_fails(good.data, n, MSHARD_E_DECODE, "PNG");

    header(&f, 2, 1, 1, 3);
    chunk(&f, "PLTE", palette, sizeof palette);
    pixels(&f, row, sizeof row);
    end_png(&f);
    decode_fails(f.data, f.size, MSHARD_E_DECODE, "palette has 1 entries");
    header(&f, 2, 1, 8, 2);
    pixels(&f, filter, sizeof filter);
    end_png(&f);
    decode_fails(f.data, f.size, MSHARD_E_DECODE, "filter type");
    header(&f, 2, 1, 8, 2);
    pixels(&f, longer, sizeof longer);
    end_png(&f);
    decode_fails(f.data, f.size, MSHARD_E_DECODE, "after the last row");
}
END_TEST

START_TEST(damage_beside_the_pixels_is_let_pass)
{
    struct file f, good;
    struct mshi_image image = {.pixels = NULL};

    small_png(&good);
    memcpy(f.data, good.data, 33);
    f.size = 33;
    chunk(&f, "tEXt", "Comment\0hello", 13);
    f.data[f.size - 1] ^= 1; /* its CRC */
    memcpy(f.data + f.size, good.data + 33, good.size - 33);
    f.size += good.size - 33;
    memcpy(f.data + f.size, "trailing", 8);
    decode_ok(f.data, f.size + 8, &plain, &image);
    ck_assert_uint_eq(image.pixels[0], 10);
    free(image.pixels);
}
END_TEST

START_TEST(text_bombs_are_refused)
{
    static uint8_t zeros[2 << 20];
    uint8_t body[8192] = "x";
    uLongf n = sizeof body - 3;
    struct file f;

    ck_assert_int_eq(compress(body + 3, &n, zeros, sizeof zeros), Z_OK);
    header(&f, 2, 1, 8, 2);
    chunk(&f, "zTXt", body, n + 3);
    pixels(&f, (const uint8_t *)"\0\1\2\3\4\5\6", 7);
    end_png(&f);
    decode_fails(f.data, f.size, MSHARD_E_DECODE, "inflates to more than");
}
END_TEST

START_TEST(cut_jpeg_files_are_refused)
{
    uint8_t data[sizeof jpeg + 2];

    for (size_t n = 3; n < sizeof jpeg - 4; n++)
        decode_fails(jpeg, n, MSHARD_E_DECODE, "damaged jpeg");
    memcpy(data, jpeg, sizeof jpeg - 8); /* and so is one with an end marker put behind the cut */
    memcpy(data + sizeof jpeg - 8, "\xff\xd9", 2);
    decode_fails(data, sizeof jpeg - 6, MSHARD_E_DECODE, "premature end of data segment");
}
END_TEST

START_TEST(junk_between_markers_is_let_pass)
{
    uint8_t data[sizeof jpeg + 3];
    struct mshi_image image = {.pixels = NULL}, clean = {.pixels = NULL};

    const size_t at = 4 + ((size_t)jpeg[4] << 8 | jpeg[5]); /* behind the first segment */

    memcpy(data, jpeg, at);
    memcpy(data + at, "abc", 3);
    memcpy(data + at + 3, jpeg + at, sizeof jpeg - at);
    decode_ok(data, sizeof data, &plain, &image);
    decode_ok(jpeg, sizeof jpeg, &plain, &clean);
    ck_assert_mem_eq(image.pixels, clean.pixels, 16 * 8 * 3);
    free(image.pixels);
    free(clean.pixels);
}
END_TEST

START_TEST(a_borrowed_buffer_takes_one_size_only)
{
    uint8_t room[16 * 8 * 3];
    struct mshi_image image = {.pixels = room, .capacity = sizeof room, .borrowed = true};
    struct file f;
    mshard_error err;

    ck_assert_int_eq(mshi_image_decode(jpeg, sizeof jpeg, &plain, &image, &err), MSHARD_OK);
    small_png(&f);
    ck_assert_int_eq(mshi_image_decode(f.data, f.size, &plain, &image, &err), MSHARD_E_INVALID);
    ck_assert_uint_eq(image.width, 2);
    ck_assert_ptr_eq(image.pixels, room);
}
END_TEST

/* ---- real files ---- */

static const char *cases_folder(char *path, size_t size)
{
    const char *given = getenv("MSHARD_CASES"), *tree = getenv("srcdir");

    snprintf(path, size, "%s", given != NULL ? given : "");
    if (given == NULL)
        snprintf(path, size, "%s/../shared/cases", tree != NULL ? tree : ".");
    return mshi_path_kind(path, NULL) == MSHI_FOLDER ? path : NULL;
}

/* Damaged, though Pillow decodes them (MANIFEST.md there leaves it to us): refused. */
static bool is_strict_case(const char *name)
{
    return strcmp(name, "png/libpng/badpal_regression-palette-8.png") == 0 ||
           strcmp(name, "png/libpng/crashers_badadler.png") == 0 || strcmp(name, "png/libpng/crashers_badcrc.png") == 0;
}

static void check_case(const char *folder, const char *name, const mshi_json *expected)
{
    struct mshi_image image = {.pixels = NULL};
    const struct mshi_image_rule rule = {.max_pixels = 1 << 28};
    const mshi_json *pixels_of = mshi_json_member(expected, "exif_transposed");
    char *data, hash[17];
    size_t size;
    bool good = false;
    mshard_error err;

    ck_assert_int_eq(mshi_file_slurp(mshi_test_path(folder, name), 1 << 24, &data, &size, &err), MSHARD_OK);
    mshi_json_bool(mshi_json_member(expected, "ok"), &good);

    const mshard_status status = mshi_image_decode(data, size, &rule, &image, &err);

    if (!good || is_strict_case(name)) {
        ck_assert_msg(status == MSHARD_E_DECODE, "%s must be refused", name);
    } else {
        ck_assert_msg(status == MSHARD_OK, "%s: %s", name, err.message);
        if (pixels_of == NULL)
            pixels_of = mshi_json_member(expected, "as_stored");
        snprintf(hash, sizeof hash, "%016" PRIx64,
                 (uint64_t)XXH64(image.pixels, (size_t)(image.width * image.height * image.channels), 0));
        ck_assert_msg(strcmp(hash, mshi_json_string(mshi_json_member(pixels_of, "xxh64"), NULL)) == 0, "%s", name);
    }
    free(image.pixels);
    free(data);
}

START_TEST(real_files_give_the_expected_pixels)
{
    char path[512];
    const char *folder = cases_folder(path, sizeof path);
    mshi_json *root;
    char *text;
    size_t size, checked = 0;
    void *iterator = NULL;
    const char *name;
    const mshi_json *value;
    mshard_error err;

    if (folder == NULL)
        return;
    ck_assert_int_eq(mshi_file_slurp(mshi_test_path(folder, "expected/images.json"), 1 << 26, &text, &size, &err),
                     MSHARD_OK);
    ck_assert_int_eq(mshi_json_parse(text, size, "images.json", 0, &root, &err), MSHARD_OK);
    while (mshi_json_next(mshi_json_member(root, "files"), &iterator, &name, &value)) {
        check_case(folder, name, mshi_json_member(value, "image"));
        checked++;
    }
    ck_assert_uint_ge(checked, 100);
    mshi_json_free(root);
    free(text);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("decode");
    TCase *c = tcase_create("decode");

    tcase_add_checked_fixture(c, setup, NULL);
    tcase_set_timeout(c, 120);
    tcase_add_test(c, types_are_told_by_content);
    tcase_add_test(c, names_of_images);
    tcase_add_test(c, other_types_are_refused_by_name);
    tcase_add_test(c, png_pixels_are_exact);
    tcase_add_test(c, sixteen_bits_alpha_and_palette);
    tcase_add_test(c, gray_is_luma);
    tcase_add_test(c, cmyk_as_pillow);
    tcase_add_test(c, orientation_is_applied);
    tcase_add_test(c, malformed_metadata_counts_as_none);
    tcase_add_test(c, sizes_follow_the_rule);
    tcase_add_test(c, resizing_is_bit_exact);
    tcase_add_test(c, a_crop_is_a_part_of_the_whole);
    tcase_add_test(c, the_pixel_limit_is_checked_on_the_header);
    tcase_add_test(c, damaged_png_files_are_refused);
    tcase_add_test(c, damage_beside_the_pixels_is_let_pass);
    tcase_add_test(c, text_bombs_are_refused);
    tcase_add_test(c, cut_jpeg_files_are_refused);
    tcase_add_test(c, junk_between_markers_is_let_pass);
    tcase_add_test(c, a_borrowed_buffer_takes_one_size_only);
    tcase_add_test(c, real_files_give_the_expected_pixels);
    suite_add_tcase(suite, c);
    return suite;
}
