/*
 * decode_public.c - mshard_decode_image: an encoded value back to pixels, for tools and bindings
 *
 * A thin wrapper over decode.h: starts the decoder, applies no resize, hands the pixels to the caller.
 * Threads: shared.
 */
#include "ingest/decode.h"

#include <stdlib.h>

#define DEFAULT_MAX_PIXELS (UINT64_C(1) << 28)

mshard_status mshard_decode_image(const void *data, size_t size, uint64_t max_pixels, mshard_image *image,
                                  mshard_error *err)
{
    const struct mshi_image_rule rule = {.max_pixels = max_pixels != 0 ? max_pixels : DEFAULT_MAX_PIXELS};
    struct mshi_image decoded = {.pixels = NULL};

    MSHI_TRY(mshi_decode_start(err));
    const mshard_status status = mshi_image_decode(data, size, &rule, &decoded, err);
    mshi_decode_thread_end(); /* nobody tells when the caller's thread ends, and this costs little beside a decode */
    if (status != MSHARD_OK) {
        free(decoded.pixels);
        return status;
    }
    *image = (mshard_image){.pixels = decoded.pixels,
                            .size = (size_t)(decoded.width * decoded.height * decoded.channels),
                            .width = decoded.width,
                            .height = decoded.height,
                            .channels = decoded.channels};
    return MSHARD_OK;
}

void mshard_image_clear(mshard_image *image)
{
    if (image == NULL)
        return;
    free(image->pixels);
    *image = (mshard_image){.pixels = NULL};
}
