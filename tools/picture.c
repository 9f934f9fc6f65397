/*
 * picture.c - pictures in the terminal: half blocks, two pixels a cell
 *
 * Colors are written only when they change. Without UTF-8 a cell is one averaged pixel, drawn as a colored space.
 */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum picture_mode picture_mode(uint64_t color)
{
    const char *term = getenv("TERM"), *colorterm = getenv("COLORTERM");

    if (color == 2 || (color == 0 && !out_has_color()))
        return PICTURE_ASCII;
    if (colorterm != NULL && (strstr(colorterm, "truecolor") != NULL || strstr(colorterm, "24bit") != NULL))
        return PICTURE_24BIT;
    if (term != NULL &&
        (strstr(term, "direct") != NULL || strstr(term, "kitty") != NULL || strstr(term, "ghostty") != NULL))
        return PICTURE_24BIT;
    return PICTURE_256;
}

/* Mean of the source pixels under one target pixel. */
static void average(const uint8_t *pixels, uint64_t width, uint32_t channels, const uint64_t box[4], uint8_t rgb[3])
{
    uint64_t sum[3] = {0, 0, 0}, n = 0;

    for (uint64_t y = box[1]; y < box[3]; y++) {
        const uint8_t *p = pixels + (y * width + box[0]) * channels;
        for (uint64_t x = box[0]; x < box[2]; x++, p += channels, n++)
            for (uint32_t c = 0; c < 3; c++)
                sum[c] += p[channels == 3 ? c : 0];
    }
    for (uint32_t c = 0; c < 3; c++)
        rgb[c] = (uint8_t)((sum[c] + n / 2) / n);
}

bool picture_scale(struct tile *tile, const uint8_t *pixels, uint64_t width, uint64_t height, uint32_t channels,
                   size_t columns, size_t lines)
{
    double scale = 1.0;

    if ((double)columns / (double)width < scale)
        scale = (double)columns / (double)width;
    if ((double)(lines * 2) / (double)height < scale)
        scale = (double)(lines * 2) / (double)height;
    size_t w = (size_t)((double)width * scale + 0.5), h = (size_t)((double)height * scale + 0.5);
    w = w < 1 ? 1 : w > columns ? columns : w;
    h = h < 1 ? 1 : h > lines * 2 ? lines * 2 : h;
    tile->columns = w;
    tile->lines = (h + 1) / 2;
    tile->pixels = calloc(tile->lines * 2 * w, 3);
    if (tile->pixels == NULL)
        return false;
    for (size_t y = 0; y < h; y++) {
        for (size_t x = 0; x < w; x++) {
            uint64_t box[4] = {x * width / w, y * height / h, (x + 1) * width / w, (y + 1) * height / h};
            box[2] = box[2] > box[0] ? box[2] : box[0] + 1;
            box[3] = box[3] > box[1] ? box[3] : box[1] + 1;
            average(pixels, width, channels, box, tile->pixels + (y * w + x) * 3);
        }
    }
    if ((h & 1) != 0) /* the half row below an odd height repeats the last one */
        memcpy(tile->pixels + h * w * 3, tile->pixels + (h - 1) * w * 3, w * 3);
    return true;
}

static unsigned cube_level(uint8_t v)
{
    return v < 48 ? 0 : v < 115 ? 1 : (v - 35u) / 40u;
}

/* Nearest of the 6x6x6 cube and of the 24 grays. */
static unsigned color_256(const uint8_t rgb[3])
{
    static const int levels[] = {0, 95, 135, 175, 215, 255};
    const unsigned r = cube_level(rgb[0]), g = cube_level(rgb[1]), b = cube_level(rgb[2]);
    const int mean = (rgb[0] + rgb[1] + rgb[2]) / 3;
    const int gray = mean < 8 ? 0 : mean > 238 ? 23 : (mean - 3) / 10;
    const int shade = 8 + 10 * gray;
    const int of_cube = abs(rgb[0] - levels[r]) + abs(rgb[1] - levels[g]) + abs(rgb[2] - levels[b]);
    const int of_gray = abs(rgb[0] - shade) + abs(rgb[1] - shade) + abs(rgb[2] - shade);

    return of_gray < of_cube ? 232u + (unsigned)gray : 16 + 36 * r + 6 * g + b;
}

static void set_color(bool front, const uint8_t rgb[3], enum picture_mode mode, uint32_t *current)
{
    const uint32_t code = mode == PICTURE_256 ? color_256(rgb) : (uint32_t)(rgb[0] << 16 | rgb[1] << 8 | rgb[2]);

    if (*current == code)
        return;
    *current = code;
    if (mode == PICTURE_256)
        out("\033[%u;5;%um", front ? 38u : 48u, code);
    else
        out("\033[%u;2;%u;%u;%um", front ? 38u : 48u, rgb[0], rgb[1], rgb[2]);
}

static void ascii_line(const struct tile *tile, size_t line)
{
    static const char ramp[] = " .:-=+*#%@";

    for (size_t x = 0; x < tile->columns; x++) {
        unsigned light = 0;
        for (size_t half = 0; half < 2; half++) {
            const uint8_t *p = tile->pixels + ((line * 2 + half) * tile->columns + x) * 3;
            light += 299u * p[0] + 587u * p[1] + 114u * p[2];
        }
        out_bytes(&ramp[light / 2000 * 9 / 255 > 9 ? 9 : light / 2000 * 9 / 255], 1);
    }
}

static void color_line(const struct tile *tile, size_t line, enum picture_mode mode, bool utf8)
{
    uint32_t front = UINT32_MAX, back = UINT32_MAX;

    for (size_t x = 0; x < tile->columns; x++) {
        const uint8_t *top = tile->pixels + (line * 2 * tile->columns + x) * 3, *low = top + tile->columns * 3;
        if (utf8) {
            set_color(true, top, mode, &front);
            set_color(false, low, mode, &back);
            out_bytes("\xe2\x96\x80", 3);
        } else {
            uint8_t mean[3];
            for (size_t c = 0; c < 3; c++)
                mean[c] = (uint8_t)((top[c] + low[c]) / 2);
            set_color(false, mean, mode, &back);
            out_bytes(" ", 1);
        }
    }
    out("\033[0m");
}

void picture_row(const struct tile *tiles, size_t count, size_t box, enum picture_mode mode)
{
    const bool utf8 = terminal_utf8();
    size_t lines = 0;

    for (size_t i = 0; i < count; i++)
        lines = tiles[i].lines > lines ? tiles[i].lines : lines;
    for (size_t line = 0; line < lines && !out_lost(); line++) {
        for (size_t i = 0; i < count; i++) {
            const bool filled = line < tiles[i].lines;
            if (filled && mode == PICTURE_ASCII)
                ascii_line(&tiles[i], line);
            else if (filled)
                color_line(&tiles[i], line, mode, utf8);
            if (i + 1 < count)
                out("%*s", (int)(box + 2 - (filled ? tiles[i].columns : 0)), "");
        }
        out("\n");
    }
    for (size_t i = 0; i < count; i++) {
        char *caption = tiles[i].caption;
        text_cut(caption, box);
        out("%s", caption);
        if (i + 1 < count)
            out("%*s", (int)(box + 2 - text_width(caption)), "");
    }
    out("\n");
}
