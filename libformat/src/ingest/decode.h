/*
 * decode.h - image files to pixels; decode_vips.c alone knows libvips
 *
 * Pixels are what Pillow's ImageOps.exif_transpose(im).convert("RGB") gives (docs/packing.md lists the rules and
 * where we refuse instead). Threads: shared after mshi_decode_start.
 */
#ifndef MSHI_INGEST_DECODE_H
#define MSHI_INGEST_DECODE_H

#include "base/fail.h"
#include <mshard/pack.h>
#include <stdbool.h>

struct mshi_image_rule { /* from mshard_pack_options */
    uint64_t resize;                      /* shorter side; 0: none */
    uint64_t resize_width, resize_height; /* exact; 0: none */
    uint64_t crop_width, crop_height;     /* center; 0: none; an image smaller than it is an error */
    bool gray;
    uint64_t max_pixels;
    uint32_t value_size; /* bytes of a number that each pixel value becomes after the decode; 0, 1: it stays a byte */
    struct mshi_memory_gate *gate; /* memory that grows with an image is asked for here (memory_gate.h); may be NULL */
    uint64_t gate_ticket;          /* whose turn it is when the gate is full */
    bool gate_keep;                /* the pixels' bytes stay taken after the decode: mshi_image.held, caller gives them back */
};

struct mshi_image {
    uint8_t *pixels; /* [height, width, channels]; malloc'd by decode, reused when large enough */
    uint64_t capacity;
    uint64_t width, height, channels;
    bool borrowed; /* pixels are the caller's, capacity is their only fitting size: INVALID for another, with sizes set */
    uint64_t held; /* bytes taken from the gate and kept */
};

mshard_status mshi_decode_start(mshard_error *err); /* once a process; blocks untrusted loaders, one vips thread a call */
void mshi_decode_thread_end(void); /* a thread that decoded is about to end: frees what libvips keeps for it */

/* Non-NULL: name of the image type by its first bytes ("jpeg" "png" "webp" "gif" "tiff" "bmp" ...), supported or not. */
const char *mshi_image_type(const void *data, size_t size);
bool mshi_image_type_supported(const char *type);
mshard_status mshi_image_type_refuse(const char *type, mshard_error *err); /* DECODE: "BMP not supported: ..." */
/* Would this file name be taken for an image (by extension, any case)? */
bool mshi_image_name(const char *name);

/* Size after orientation, resize and crop, from the header alone. Errors as decode. */
mshard_status mshi_image_probe(const void *data, size_t size, const struct mshi_image_rule *rule, uint64_t *width,
                               uint64_t *height, mshard_error *err);
/* DECODE: damaged, cut, wrong type (names the real one); LIMIT: pixels. err->path is left for the caller to fill. */
mshard_status mshi_image_decode(const void *data, size_t size, const struct mshi_image_rule *rule, struct mshi_image *image,
                                mshard_error *err);
/* Check that the bytes decode (for --encoded) without keeping pixels. */
mshard_status mshi_image_check(const void *data, size_t size, const struct mshi_image_rule *rule, mshard_error *err);

#endif
