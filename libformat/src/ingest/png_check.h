/*
 * png_check.h - is a PNG file whole? png_check.c alone knows zlib
 *
 * libvips ignores the Adler-32, never looks past the last row and does not see palette indices that are out of
 * range; a damaged file could become a record without a word. These checks come before the decoder.
 */
#ifndef MSHI_INGEST_PNG_CHECK_H
#define MSHI_INGEST_PNG_CHECK_H

#include "base/fail.h"
#include <stddef.h>

/*
 * Header and chunk structure only; no pixels are touched. DECODE with the offset of the chunk; LIMIT when the
 * header claims more than max_pixels.
 */
mshard_status mshi_png_check_header(const void *data, size_t size, uint64_t max_pixels, mshard_error *err);

/*
 * Also: CRC of every critical chunk, the compressed stream (its end, length and Adler-32), filter types, palette
 * indices. Cost: one inflate; memory: about two rows.
 */
mshard_status mshi_png_check(const void *data, size_t size, uint64_t max_pixels, mshard_error *err);

#endif
