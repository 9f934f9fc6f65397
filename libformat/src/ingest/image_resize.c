/*
 * image_resize.c - resizing with antialiasing, the same bits on every machine
 *
 * Weights are computed in doubles by + - * / alone, then rounded to 22 bits: sums of integers do not depend on
 * their order or on vector units. Only what the crop keeps is computed.
 */
#include "ingest/image_resize.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION 22
#define BLOCK 256 /* bytes of a row summed at once */

/* For each output place: where its input begins, how many there are, their weights. */
struct weights {
    uint64_t count, taps; /* taps: room of one place */
    uint64_t *first;
    uint32_t *used;
    int32_t *weight;
};

static void clear_weights(struct weights *w)
{
    free(w->first);
    free(w->used);
    free(w->weight);
}

static void set_place(struct weights *w, uint64_t i, double center, double support, double reduction, uint64_t in_size,
                      double *exact)
{
    const double begin = center - support + 0.5, end = center + support + 0.5;
    const uint64_t first = begin < 0 ? 0 : (uint64_t)begin;
    const uint64_t last = (uint64_t)end > in_size ? in_size : (uint64_t)end;
    double sum = 0;

    for (uint64_t k = first; k < last; k++) {
        const double distance = fabs(((double)k - center + 0.5) * (1.0 / reduction));

        exact[k - first] = distance < 1.0 ? 1.0 - distance : 0.0;
        sum += exact[k - first];
    }
    for (uint64_t k = 0; k < last - first; k++) {
        if (sum != 0)
            exact[k] /= sum;
        w->weight[i * w->taps + k] = (int32_t)(0.5 + exact[k] * (1 << PRECISION));
    }
    w->first[i] = first;
    w->used[i] = (uint32_t)(last - first);
}

/* Places skip..skip+count-1 of out_size from in_size. */
static mshard_status make_weights(struct weights *w, uint64_t in_size, uint64_t out_size, uint64_t skip, uint64_t count,
                                  mshard_error *err)
{
    const double scale = (double)in_size / (double)out_size;
    const double reduction = scale < 1.0 ? 1.0 : scale;
    double *exact = NULL;

    w->count = count;
    w->taps = (uint64_t)ceil(reduction) * 2 + 1;
    MSHI_TRY(mshi_alloc(count, sizeof w->first[0], &w->first, err));
    MSHI_TRY(mshi_alloc(count, sizeof w->used[0], &w->used, err));
    MSHI_TRY(mshi_alloc(count * w->taps, sizeof w->weight[0], &w->weight, err));
    MSHI_TRY(mshi_alloc(w->taps, sizeof exact[0], &exact, err));
    for (uint64_t i = 0; i < count; i++)
        set_place(w, i, ((double)(skip + i) + 0.5) * scale, reduction, reduction, in_size, exact);
    free(exact);
    return MSHARD_OK;
}

static uint8_t clip(int32_t sum)
{
    const int32_t v = sum >> PRECISION;

    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static void across_rgb(const struct weights *w, const uint8_t *in, uint8_t *out)
{
    for (uint64_t x = 0; x < w->count; x++) {
        const uint8_t *p = in + w->first[x] * 3;
        const int32_t *k = w->weight + x * w->taps;
        int32_t r = 1 << (PRECISION - 1), g = r, b = r;

        for (uint32_t i = 0; i < w->used[x]; i++, p += 3) {
            r += p[0] * k[i];
            g += p[1] * k[i];
            b += p[2] * k[i];
        }
        out[3 * x] = clip(r);
        out[3 * x + 1] = clip(g);
        out[3 * x + 2] = clip(b);
    }
}

static void across_gray(const struct weights *w, const uint8_t *in, uint8_t *out)
{
    for (uint64_t x = 0; x < w->count; x++) {
        const uint8_t *p = in + w->first[x];
        const int32_t *k = w->weight + x * w->taps;
        int32_t sum = 1 << (PRECISION - 1);

        for (uint32_t i = 0; i < w->used[x]; i++)
            sum += p[i] * k[i];
        out[x] = clip(sum);
    }
}

static void down(const uint8_t *in, uint64_t row_size, const int32_t *weight, uint32_t used, uint8_t *out)
{
    int32_t sums[BLOCK];

    for (uint64_t at = 0; at < row_size; at += BLOCK) {
        const uint64_t n = row_size - at < BLOCK ? row_size - at : BLOCK;

        for (uint64_t x = 0; x < n; x++)
            sums[x] = 1 << (PRECISION - 1);
        for (uint32_t i = 0; i < used; i++) {
            const uint8_t *row = in + i * row_size + at;
            const int32_t k = weight[i];

            for (uint64_t x = 0; x < n; x++)
                sums[x] += row[x] * k;
        }
        for (uint64_t x = 0; x < n; x++)
            out[at + x] = clip(sums[x]);
    }
}

/* Rows first..last-1 of the input, made narrower, into rows of their own. */
static void narrow(const struct mshi_geometry *g, const struct weights *across, const uint8_t *in, uint32_t channels,
                   uint64_t first, uint64_t last, uint8_t *out)
{
    const uint64_t in_size = g->turned_width * channels, out_size = g->out_width * channels;

    for (uint64_t y = first; y < last; y++, out += out_size) {
        if (g->resized_width == g->turned_width)
            memcpy(out, in + y * in_size + g->crop_x * channels, (size_t)out_size);
        else if (channels == 3)
            across_rgb(across, in + y * in_size, out);
        else
            across_gray(across, in + y * in_size, out);
    }
}

static mshard_status resize(const struct mshi_geometry *g, const uint8_t *in, uint32_t channels, struct weights *across,
                            struct weights *below, uint8_t **narrowed, uint8_t *out, mshard_error *err)
{
    const uint64_t row_size = g->out_width * channels;

    MSHI_TRY(make_weights(across, g->turned_width, g->resized_width, g->crop_x, g->out_width, err));
    if (g->resized_height == g->turned_height) {
        narrow(g, across, in, channels, g->crop_y, g->crop_y + g->out_height, out);
        return MSHARD_OK;
    }
    MSHI_TRY(make_weights(below, g->turned_height, g->resized_height, g->crop_y, g->out_height, err));

    const uint64_t first = below->first[0], n = g->out_height - 1;
    const uint64_t last = below->first[n] + below->used[n];

    MSHI_TRY(mshi_alloc(last - first, row_size, narrowed, err));
    narrow(g, across, in, channels, first, last, *narrowed);
    for (uint64_t y = 0; y <= n; y++)
        down(*narrowed + (below->first[y] - first) * row_size, row_size, below->weight + y * below->taps,
             below->used[y], out + y * row_size);
    return MSHARD_OK;
}

mshard_status mshi_image_resize(const struct mshi_geometry *g, const uint8_t *turned, uint32_t channels, uint8_t *out,
                                mshard_error *err)
{
    struct weights across = {.count = 0}, below = {.count = 0};
    uint8_t *narrowed = NULL;
    const mshard_status status = resize(g, turned, channels, &across, &below, &narrowed, out, err);

    free(narrowed);
    clear_weights(&below);
    clear_weights(&across);
    return status;
}
