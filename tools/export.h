/*
 * export.h - a value as a file others read: PNG, .npy
 */
#ifndef TOOL_EXPORT_H
#define TOOL_EXPORT_H

#include <mshard/types.h>
#include <stdbool.h>

/* Bytes built in memory; free(data). */
struct blob {
    uint8_t *data;
    size_t size;
};

/* PNG of 8-bit pixels, [height, width, channels], channels 1 or 3. False: out of memory or too large for PNG. */
bool export_png(const uint8_t *pixels, uint64_t width, uint64_t height, uint32_t channels, struct blob *blob);
/* One array as .npy, format 1.0. bfloat16, which numpy lacks, becomes uint16. */
bool export_npy(const void *data, size_t size, mshard_dtype dtype, const uint64_t *shape, uint32_t ndim,
                struct blob *blob);
const char *export_numpy_dtype(mshard_dtype dtype); /* "uint8", ...; "uint16" for bfloat16 */

/* Write a file that appears complete or not at all (devices and pipes are written to directly). 0 or errno. */
int export_file(const char *path, const void *data, size_t size);

/* "jpeg", "png", ... by the first bytes; NULL when not known. */
const char *export_image_type(const void *data, size_t size);

#endif
