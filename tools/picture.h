/*
 * picture.h - pictures in the terminal
 */
#ifndef TOOL_PICTURE_H
#define TOOL_PICTURE_H

#include "out.h"

enum picture_mode {
    PICTURE_24BIT, /* half blocks in 16 million colors */
    PICTURE_256,   /* half blocks in 256 colors */
    PICTURE_ASCII, /* brightness by letters */
};

/* One tile: pixels scaled to columns x lines of half cells, and its caption. */
struct tile {
    uint8_t *pixels; /* RGB, [2 * lines][columns][3]; malloc'd */
    size_t columns, lines;
    char *caption; /* malloc'd, escaped */
};

/* The mode for this terminal; color: 0 auto, 1 always, 2 never. */
enum picture_mode picture_mode(uint64_t color);

/* Scale [height, width, channels] pixels to at most columns x lines cells, aspect kept, never enlarged. False: no memory. */
bool picture_scale(struct tile *tile, const uint8_t *pixels, uint64_t width, uint64_t height, uint32_t channels,
                   size_t columns, size_t lines);

/* Tiles side by side, each in a box of box columns, captions below. */
void picture_row(const struct tile *tiles, size_t count, size_t box, enum picture_mode mode);

#endif
