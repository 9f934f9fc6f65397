/*
 * decode_vips.c - image files to pixels; the one file that knows libvips and GLib
 *
 * Only the loader of the sniffed type is ever called, on memory, and its rows are pulled in the calling thread, so
 * libvips starts no threads of its own. libvips keeps one error text for the whole process; to give each bad file
 * its own words, a file that fails is decoded again with nobody else inside (the writer's side of a lock whose
 * reader's side every decode holds). GLib warnings of a decode are caught in the calling thread and never printed.
 *
 * Threads: shared after mshi_decode_start. The memory gate, which may wait for other decodes, is entered and left
 * while the lock is not held.
 */
#include "ingest/decode.h"

#include "ingest/image_exif.h"
#include "ingest/image_geometry.h"
#include "ingest/image_resize.h"
#include "ingest/image_rows.h"
#include "ingest/memory_gate.h"
#include "ingest/png_check.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>

/* How often GLib warned in this thread since the decode began. */
struct warnings {
    uint32_t count;
};

/*
 * libvips is one per process by its own design; its lock is too. The warnings belong to the decode that runs in the
 * thread: GLib's log handler has no other way to find it.
 */
static GRWLock alone;
static _Thread_local struct warnings *listener;

struct job {
    const void *data;
    size_t size;
    const struct mshi_image_rule *rule;
    const char *type;
    bool words; /* nobody else is inside: libvips' error text is about this file */
};

/* ---- start ---- */

static void on_log(const char *domain, GLogLevelFlags level, const char *text, void *context)
{
    (void)domain;
    (void)level;
    (void)text; /* may hold another thread's words: only its being said counts */
    (void)context;
    if (listener != NULL)
        listener->count++;
}

static gpointer start(gpointer error_text)
{
    if (VIPS_INIT("mshard") != 0) {
        snprintf(error_text, 256, "%s", vips_error_buffer());
        return error_text;
    }
    g_log_set_handler("VIPS", (GLogLevelFlags)(G_LOG_LEVEL_MASK & ~G_LOG_LEVEL_ERROR), on_log, NULL);
    g_rw_lock_init(&alone);
    vips_block_untrusted_set(TRUE);
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    return NULL;
}

mshard_status mshi_decode_start(mshard_error *err)
{
    static GOnce once = G_ONCE_INIT;
    static char error_text[256];

    g_once(&once, start, error_text);
    if (error_text[0] != '\0')
        return mshi_fail(err, MSHARD_E_UNSUPPORTED, NULL, MSHARD_NO_OFFSET, "libvips does not start: %s", error_text);
    return MSHARD_OK;
}

void mshi_decode_thread_end(void)
{
    vips_thread_shutdown();
}

/* ---- errors ---- */

/* libvips' own words, on one line and without the names of its modules. */
static mshard_status fail_vips(const struct job *job, mshard_error *err)
{
    char text[400];
    size_t n = 0;

    if (!job->words)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET, "damaged %s", job->type);

    char *const words = vips_error_buffer_copy();

    for (const char *line = words; *line != '\0' && n < sizeof text - 4;) {
        const size_t size = strcspn(line, "\n");
        const char *colon = memchr(line, ':', size);
        const char *from =
            colon != NULL && colon[1] == ' ' && memchr(line, ' ', (size_t)(colon - line)) == NULL ? colon + 2 : line;
        const size_t length = (size_t)(line + size - from);

        if (length > 0 && length < sizeof text - 4 - n) {
            if (n > 0) {
                memcpy(text + n, "; ", 2);
                n += 2;
            }
            memcpy(text + n, from, length);
            n += length;
        }
        line += size + (line[size] == '\n');
    }
    text[n] = '\0';
    g_free(words);
    return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET, "damaged %s: %s", job->type,
                     n > 0 ? text : "the decoder gave up");
}

static mshard_status fail_memory(uint64_t bytes, mshard_error *err)
{
    return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "out of memory: %" PRIu64 " bytes for an image",
                     bytes);
}

/* ---- opening ---- */

static VipsImage *load(const struct job *job)
{
    VipsImage *image = NULL;
    void *const data = (void *)(uintptr_t)job->data; /* libvips does not write to it */
    int rc = -1;

    if (strcmp(job->type, "jpeg") == 0)
        rc = vips_jpegload_buffer(data, job->size, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                                  VIPS_FAIL_ON_TRUNCATED, NULL);
    else if (strcmp(job->type, "png") == 0)
        rc = vips_pngload_buffer(data, job->size, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                                 VIPS_FAIL_ON_TRUNCATED, NULL);
    else if (strcmp(job->type, "webp") == 0)
        rc = vips_webpload_buffer(data, job->size, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                                  VIPS_FAIL_ON_TRUNCATED, NULL);
    else if (strcmp(job->type, "gif") == 0)
        rc = vips_gifload_buffer(data, job->size, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                                 VIPS_FAIL_ON_TRUNCATED, NULL);
    else if (strcmp(job->type, "tiff") == 0)
        rc = vips_tiffload_buffer(data, job->size, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                                  VIPS_FAIL_ON_TRUNCATED, NULL);
    return rc == 0 ? image : NULL;
}

static int orientation_of(const struct job *job, VipsImage *image)
{
    const void *blob;
    size_t size;
    int orientation = 0;

    if (strcmp(job->type, "tiff") == 0)
        return vips_image_get_orientation(image);
    if (vips_image_get_typeof(image, VIPS_META_EXIF_NAME) != 0 &&
        vips_image_get_blob(image, VIPS_META_EXIF_NAME, &blob, &size) == 0)
        orientation = mshi_exif_orientation(blob, size);
    if (orientation == 0 && vips_image_get_typeof(image, VIPS_META_XMP_NAME) != 0 &&
        vips_image_get_blob(image, VIPS_META_XMP_NAME, &blob, &size) == 0)
        orientation = mshi_xmp_orientation(blob, size);
    return orientation != 0 ? orientation : 1;
}

static mshard_status row_form(const struct job *job, VipsImage *image, struct mshi_row_form *form, mshard_error *err)
{
    const int bands = vips_image_get_bands(image);
    const VipsBandFormat format = vips_image_get_format(image);
    const VipsInterpretation meaning = vips_image_get_interpretation(image);
    const bool gray = meaning == VIPS_INTERPRETATION_B_W || meaning == VIPS_INTERPRETATION_GREY16;
    const bool rgb = meaning == VIPS_INTERPRETATION_sRGB || meaning == VIPS_INTERPRETATION_RGB ||
                     meaning == VIPS_INTERPRETATION_RGB16;
    const bool cmyk = meaning == VIPS_INTERPRETATION_CMYK;

    if ((format != VIPS_FORMAT_UCHAR && format != VIPS_FORMAT_USHORT) ||
        !((gray && bands >= 1) || (rgb && bands >= 3) || (cmyk && bands >= 4)) || bands > 8)
        return mshi_fail(err, MSHARD_E_DECODE, NULL, MSHARD_NO_OFFSET,
                         "%s of kind %s with %d bands of %s not supported: expected 8 or 16 bits of gray, RGB or CMYK",
                         job->type, vips_enum_nick(VIPS_TYPE_INTERPRETATION, meaning), bands,
                         vips_enum_nick(VIPS_TYPE_BAND_FORMAT, format));
    *form = (struct mshi_row_form){.kind = gray  ? MSHI_ROW_GRAY
                                           : rgb ? MSHI_ROW_RGB
                                                 : MSHI_ROW_CMYK,
                                   .bands = (uint32_t)bands,
                                   .wide = format == VIPS_FORMAT_USHORT};
    return MSHARD_OK;
}

/* ---- pixels ---- */

enum { STRIP = 64 }; /* rows pulled at once: a multiple of what the loaders work in */

/* A pixel of a region, which may be larger than what was asked for. */
static const void *address(VipsRegion *region, const VipsRect *strip, int y)
{
    const ptrdiff_t right = strip->left - region->valid.left, down = strip->top + y - region->valid.top;

    return region->data + down * region->bpl +
           right * (ptrdiff_t)vips_image_get_bands(region->im) *
               (ptrdiff_t)vips_format_sizeof(vips_image_get_format(region->im));
}

struct turning {
    const struct mshi_row_form *form;
    struct mshi_turn turn;
    uint64_t width, channels;
    uint8_t *line; /* NULL: rows are written where they belong */
    uint8_t *out;
};

static void place_row(const struct turning *t, const void *row, int y)
{
    uint8_t *at = t->out + (int64_t)t->turn.origin + t->turn.down * y;

    if (t->line == NULL) {
        mshi_row_convert(t->form, row, t->width, t->channels == 1, at);
        return;
    }
    mshi_row_convert(t->form, row, t->width, t->channels == 1, t->line);
    for (uint64_t x = 0; x < t->width; x++, at += t->turn.right)
        memcpy(at, t->line + x * t->channels, t->channels);
}

static int pull_rows(VipsImage *image, const struct turning *turning)
{
    VipsRegion *region = vips_region_new(image);
    const int height = vips_image_get_height(image);
    int rc = region == NULL ? -1 : 0;

    for (int top = 0; rc == 0 && top < height; top += STRIP) {
        const VipsRect strip = {0, top, vips_image_get_width(image), VIPS_MIN(STRIP, height - top)};

        rc = vips_region_prepare(region, &strip);
        for (int y = 0; rc == 0 && y < strip.height; y++)
            place_row(turning, address(region, &strip, y), top + y);
    }
    if (region != NULL)
        g_object_unref(region);
    return rc;
}

static mshard_status make_room(struct mshi_image *image, uint64_t bytes, mshard_error *err)
{
    if (image->borrowed && image->capacity != bytes)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "image of %" PRIu64 "x%" PRIu64 " pixels where another size is expected", image->width,
                         image->height);
    if (image->capacity >= bytes)
        return MSHARD_OK;
    free(image->pixels);
    image->capacity = 0;
    image->pixels = malloc(bytes);
    if (image->pixels == NULL)
        return fail_memory(bytes, err);
    image->capacity = bytes;
    return MSHARD_OK;
}

/* Stored rows into image->pixels, turned; then resized and cropped when the rule says so. */
static mshard_status read_pixels(const struct job *job, VipsImage *vips, const struct mshi_geometry *g,
                                 const struct mshi_row_form *form, struct mshi_image *image, mshard_error *err)
{
    const uint64_t channels = job->rule->gray ? 1 : 3;
    const uint64_t turned_size = g->turned_width * g->turned_height * channels;
    const bool more = g->resized_width != g->turned_width || g->resized_height != g->turned_height ||
                      g->out_width != g->turned_width || g->out_height != g->turned_height;
    mshard_status status = MSHARD_OK;
    struct turning turning = {
        .form = form, .turn = mshi_geometry_turn(g, channels), .width = g->width, .channels = channels};
    uint8_t *turned = NULL;

    image->width = g->out_width;
    image->height = g->out_height;
    image->channels = channels;
    MSHI_TRY(make_room(image, g->out_width * g->out_height * channels, err));
    if (more && (turned = malloc(turned_size)) == NULL)
        return fail_memory(turned_size, err);
    if (g->orientation != 1 && (turning.line = malloc(g->width * channels)) == NULL) {
        status = fail_memory(g->width * channels, err);
        goto out;
    }
    turning.out = more ? turned : image->pixels;
    if (pull_rows(vips, &turning) != 0)
        status = fail_vips(job, err);
    else if (more)
        status = mshi_image_resize(g, turned, (uint32_t)channels, image->pixels, err);
out:
    free(turning.line);
    free(turned);
    return status;
}

/* Bytes that decoding takes at most, libvips' own copies included: those that grow with the image. */
static uint64_t memory_for(const struct mshi_geometry *g, const struct job *job, VipsImage *vips)
{
    const uint64_t channels = job->rule->gray ? 1 : 3;
    const uint64_t pixels = g->width * g->height;
    const uint64_t stored = vips_format_sizeof(vips_image_get_format(vips)) * (uint64_t)vips_image_get_bands(vips);
    uint64_t bytes = pixels * channels + g->out_width * g->out_height * channels;

    if (job->rule->value_size > 1)
        bytes += g->out_width * g->out_height * channels * job->rule->value_size;
    if (g->resized_width != g->width)
        bytes += g->resized_width * g->height * channels;
    if (strcmp(job->type, "jpeg") == 0) /* a progressive file holds its coefficients, 16 bits each */
        return bytes + (vips_image_get_typeof(vips, "jpeg-multiscan") != 0 ? pixels * stored * 2 : 0);
    if (strcmp(job->type, "png") == 0)
        return bytes + (vips_image_get_typeof(vips, "interlaced") != 0 ? pixels * stored : 0);
    return bytes + pixels * (stored + 8); /* whole frames, strips and canvases */
}

/* ---- one decode ---- */

/* libjpeg's complaints that say nothing about the pixels. */
static bool is_harmless(const char *text)
{
    return strstr(text, "extraneous bytes before marker") != NULL || strstr(text, "unknown JFIF revision") != NULL ||
           strstr(text, "Unknown Adobe color transform") != NULL ||
           strstr(text, "Invalid SOS parameters for sequential JPEG") != NULL;
}

/*
 * At the close of a JPEG libvips tells that libjpeg complained. It keeps the words of the first complaint only, so
 * that one decides: junk between markers is let pass, as Pillow lets it; missing or impossible data is refused.
 */
static mshard_status judge_closing(const struct job *job, const struct warnings *closing, bool *again,
                                   mshard_error *err)
{
    if (strcmp(job->type, "jpeg") != 0 || closing->count == 0)
        return MSHARD_OK;
    if (!job->words) {
        *again = true;
        return MSHARD_OK;
    }
    return is_harmless(vips_error_buffer()) ? MSHARD_OK : fail_vips(job, err);
}

/* An image that was opened: its header is read and stands within the rules. */
struct opened {
    VipsImage *vips; /* NULL: it was not opened */
    struct mshi_geometry geometry;
    struct mshi_row_form form;
    uint64_t memory; /* bytes to ask for before its pixels are read */
};

static void close_image(struct opened *o, struct warnings *closing)
{
    listener = closing;
    g_clear_object(&o->vips);
    listener = NULL;
}

static mshard_status open_image(const struct job *job, struct opened *o, mshard_error *err)
{
    struct warnings opening = {0}; /* about metadata: of no interest */
    mshard_status status;

    if (job->words)
        vips_error_clear();
    listener = &opening;
    o->vips = load(job);
    if (o->vips == NULL) {
        status = fail_vips(job, err);
    } else {
        status = mshi_geometry_set(&o->geometry, job->rule, (uint64_t)vips_image_get_width(o->vips),
                                   (uint64_t)vips_image_get_height(o->vips), orientation_of(job, o->vips), err);
        if (status == MSHARD_OK)
            status = row_form(job, o->vips, &o->form, err);
        if (status == MSHARD_OK)
            o->memory = memory_for(&o->geometry, job, o->vips);
        else
            g_clear_object(&o->vips);
    }
    listener = NULL;
    return status;
}

/* Read the pixels and close. *again: only a second look with nobody else inside can tell what is wrong. */
static mshard_status finish_image(const struct job *job, struct opened *o, struct mshi_image *image, bool *again,
                                  mshard_error *err)
{
    struct warnings reading = {0}, closing = {0};
    mshard_status status;

    listener = &reading;
    status = read_pixels(job, o->vips, &o->geometry, &o->form, image, err);
    close_image(o, &closing);
    *again = status == MSHARD_E_DECODE && !job->words;
    return status == MSHARD_OK ? judge_closing(job, &closing, again, err) : status;
}

/* The whole of it once more, alone, for words about this file. image NULL: only the header. */
static mshard_status look_again(struct job *job, struct mshi_image *image, mshard_error *err)
{
    struct opened o = {.vips = NULL};
    struct warnings closing = {0};
    bool again;
    mshard_status status;

    job->words = true;
    g_rw_lock_writer_lock(&alone);
    status = open_image(job, &o, err);
    if (status == MSHARD_OK && image != NULL)
        status = finish_image(job, &o, image, &again, err);
    close_image(&o, &closing);
    vips_error_clear();
    g_rw_lock_writer_unlock(&alone);
    return status;
}

/* Open; the caller closes. */
static mshard_status begin(struct job *job, bool deep, struct opened *o, mshard_error *err)
{
    mshard_status status;

    job->type = mshi_image_type(job->data, job->size);
    if (!mshi_image_type_supported(job->type))
        return mshi_image_type_refuse(job->type, err);
    if (strcmp(job->type, "png") == 0)
        MSHI_TRY(deep ? mshi_png_check(job->data, job->size, job->rule->max_pixels, err)
                      : mshi_png_check_header(job->data, job->size, job->rule->max_pixels, err));
    g_rw_lock_reader_lock(&alone);
    status = open_image(job, o, err);
    g_rw_lock_reader_unlock(&alone);
    if (status == MSHARD_E_DECODE)
        look_again(job, NULL, err); /* for its words; that it fails is settled */
    return status;
}

mshard_status mshi_image_probe(const void *data, size_t size, const struct mshi_image_rule *rule, uint64_t *width,
                               uint64_t *height, mshard_error *err)
{
    struct job job = {.data = data, .size = size, .rule = rule};
    struct opened o = {.vips = NULL};
    struct warnings closing = {0};
    mshard_status status = begin(&job, false, &o, err);

    if (status == MSHARD_OK) {
        *width = o.geometry.out_width;
        *height = o.geometry.out_height;
    }
    close_image(&o, &closing);
    return status;
}

mshard_status mshi_image_decode(const void *data, size_t size, const struct mshi_image_rule *rule,
                                struct mshi_image *image, mshard_error *err)
{
    struct job job = {.data = data, .size = size, .rule = rule};
    struct opened o = {.vips = NULL};
    bool again = false;
    mshard_status status;

    image->held = 0;
    MSHI_TRY(begin(&job, true, &o, err));
    mshi_memory_gate_enter(rule->gate, o.memory, rule->gate_ticket);
    g_rw_lock_reader_lock(&alone);
    status = finish_image(&job, &o, image, &again, err);
    g_rw_lock_reader_unlock(&alone);
    if (again)
        status = look_again(&job, image, err);
    if (status == MSHARD_OK && rule->gate_keep)
        image->held = image->width * image->height * image->channels * (rule->value_size > 1 ? rule->value_size : 1);
    mshi_memory_gate_leave(rule->gate, o.memory - image->held);
    return status;
}

mshard_status mshi_image_check(const void *data, size_t size, const struct mshi_image_rule *rule, mshard_error *err)
{
    struct mshi_image image = {.pixels = NULL};
    struct mshi_image_rule keep_nothing = *rule;

    keep_nothing.gate_keep = false;

    const mshard_status status = mshi_image_decode(data, size, &keep_nothing, &image, err);

    free(image.pixels);
    return status;
}
