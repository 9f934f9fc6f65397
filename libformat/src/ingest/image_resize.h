/*
 * image_resize.h - resizing with antialiasing, the same bits on every machine
 *
 * The arithmetic is that of Pillow's Image.resize(size, BILINEAR), which is also torchvision's Resize: a triangle
 * filter as wide as the reduction, in fixed point, columns first. libvips' own resize rounds differently from CPU
 * to CPU and from release to release, and took five times as long (docs/packing.md, "Images").
 */
#ifndef MSHI_INGEST_IMAGE_RESIZE_H
#define MSHI_INGEST_IMAGE_RESIZE_H

#include "ingest/image_geometry.h"

/*
 * Turned pixels of g, channels bytes each, to its resized and cropped ones. out: out_height * out_width * channels
 * bytes.
 */
mshard_status mshi_image_resize(const struct mshi_geometry *g, const uint8_t *turned, uint32_t channels, uint8_t *out,
                                mshard_error *err);

#endif
