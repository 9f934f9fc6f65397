/* image_geometry.h - sizes of an image through orientation, resize and crop; numbers only */
#ifndef MSHI_INGEST_IMAGE_GEOMETRY_H
#define MSHI_INGEST_IMAGE_GEOMETRY_H

#include "ingest/decode.h"

struct mshi_geometry {
    uint64_t width, height;                 /* as stored in the file */
    int orientation;                        /* 1 to 8 */
    uint64_t turned_width, turned_height;   /* after the orientation */
    uint64_t resized_width, resized_height; /* the same when nothing is resized */
    uint64_t crop_x, crop_y;
    uint64_t out_width, out_height;
};

/* DECODE: smaller than the crop. LIMIT: stored or resized size above rule->max_pixels. */
mshard_status mshi_geometry_set(struct mshi_geometry *g, const struct mshi_image_rule *rule, uint64_t width,
                                uint64_t height, int orientation, mshard_error *err);

/*
 * Where stored pixel (0, 0) goes in a turned image of channels bytes a pixel without gaps, and the byte steps for
 * one pixel to the right and one row down in the stored image.
 */
struct mshi_turn {
    uint64_t origin;
    int64_t right, down;
};
struct mshi_turn mshi_geometry_turn(const struct mshi_geometry *g, uint64_t channels);

#endif
