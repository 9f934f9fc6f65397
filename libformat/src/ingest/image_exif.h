/* image_exif.h - the orientation of an image from its EXIF or XMP metadata */
#ifndef MSHI_INGEST_IMAGE_EXIF_H
#define MSHI_INGEST_IMAGE_EXIF_H

#include <stddef.h>

/* 1 to 8; 0 when there is no orientation, or the metadata is malformed, or the value is none. */
int mshi_exif_orientation(const void *exif, size_t size);
int mshi_xmp_orientation(const void *xmp, size_t size);

#endif
