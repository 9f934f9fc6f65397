/*
 * image_geometry.c - sizes of an image through orientation, resize and crop
 *
 * Sizes are below 2^31 a side when they come in; products stay within 64 bits.
 */
#include "ingest/image_geometry.h"

#include <inttypes.h>

static mshard_status check_pixels(uint64_t width, uint64_t height, uint64_t max_pixels, const char *what,
                                  mshard_error *err)
{
    if (width != 0 && height > max_pixels / width)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET,
                         "image of %" PRIu64 "x%" PRIu64 "%s exceeds pixel limit %" PRIu64 " (--max-pixels)", width,
                         height, what, max_pixels);
    return MSHARD_OK;
}

/* The longer side keeps the aspect, rounded down, as torchvision's Resize does. */
static void resize(struct mshi_geometry *g, const struct mshi_image_rule *rule)
{
    if (rule->resize_width != 0) {
        g->resized_width = rule->resize_width;
        g->resized_height = rule->resize_height;
    } else if (rule->resize != 0) {
        const uint64_t w = g->turned_width, h = g->turned_height;

        g->resized_width = w <= h ? rule->resize : rule->resize * w / h;
        g->resized_height = w <= h ? rule->resize * h / w : rule->resize;
    }
}

mshard_status mshi_geometry_set(struct mshi_geometry *g, const struct mshi_image_rule *rule, uint64_t width,
                                uint64_t height, int orientation, mshard_error *err)
{
    const bool swapped = orientation >= 5 && orientation <= 8;

    MSHI_TRY(check_pixels(width, height, rule->max_pixels, "", err));
    *g = (struct mshi_geometry){.width = width, .height = height, .orientation = orientation};
    g->turned_width = swapped ? height : width;
    g->turned_height = swapped ? width : height;
    g->resized_width = g->turned_width;
    g->resized_height = g->turned_height;
    resize(g, rule);
    MSHI_TRY(check_pixels(g->resized_width, g->resized_height, rule->max_pixels, " after resizing", err));
    g->out_width = g->resized_width;
    g->out_height = g->resized_height;
    if (rule->crop_width == 0)
        return MSHARD_OK;
    if (rule->crop_width > g->resized_width || rule->crop_height > g->resized_height)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET,
                         "image of %" PRIu64 "x%" PRIu64 " is smaller than the crop of %" PRIu64 "x%" PRIu64,
                         g->resized_width, g->resized_height, rule->crop_width, rule->crop_height);
    g->crop_x = (g->resized_width - rule->crop_width) / 2;
    g->crop_y = (g->resized_height - rule->crop_height) / 2;
    g->out_width = rule->crop_width;
    g->out_height = rule->crop_height;
    return MSHARD_OK;
}

struct mshi_turn mshi_geometry_turn(const struct mshi_geometry *g, uint64_t channels)
{
    const uint64_t last_x = (g->turned_width - 1) * channels;
    const uint64_t last_y = (g->turned_height - 1) * g->turned_width * channels;
    const int64_t x = (int64_t)channels;
    const int64_t y = (int64_t)(g->turned_width * channels);

    switch (g->orientation) {
    case 2: /* mirrored left to right */
        return (struct mshi_turn){last_x, -x, y};
    case 3: /* upside down */
        return (struct mshi_turn){last_x + last_y, -x, -y};
    case 4: /* mirrored top to bottom */
        return (struct mshi_turn){last_y, x, -y};
    case 5: /* transposed */
        return (struct mshi_turn){0, y, x};
    case 6: /* to be turned right */
        return (struct mshi_turn){last_x, y, -x};
    case 7: /* transposed along the other diagonal */
        return (struct mshi_turn){last_x + last_y, -y, -x};
    case 8: /* to be turned left */
        return (struct mshi_turn){last_y, -y, x};
    default:
        return (struct mshi_turn){0, x, y};
    }
}
