/*
 * vips_decode.c - what decoding alone costs: the files named on standard input, through libvips, to memory
 *
 * The reference of bench_pack_images.py. Same steps as any program over libvips needs for RGB pixels: load by content,
 * EXIF turn, sRGB, no alpha, pixels written to memory; one vips thread.
 */
#include <stdio.h>
#include <string.h>
#include <vips/vips.h>

static int decode(const char *path)
{
    VipsImage *in = vips_image_new_from_file(path, "access", VIPS_ACCESS_SEQUENTIAL, NULL), *turned = NULL, *rgb = NULL;
    size_t size = 0;
    void *pixels = NULL;

    if (in && vips_autorot(in, &turned, NULL) == 0 && vips_colourspace(turned, &rgb, VIPS_INTERPRETATION_sRGB, NULL) == 0)
        pixels = vips_image_write_to_memory(rgb, &size);
    if (rgb)
        g_object_unref(rgb);
    if (turned)
        g_object_unref(turned);
    if (in)
        g_object_unref(in);
    g_free(pixels);
    return pixels ? 0 : 1;
}

int main(int argc, char **argv)
{
    char line[4096];
    unsigned long done = 0, failed = 0;

    (void)argc;
    if (VIPS_INIT(argv[0]))
        return 3;
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        failed += (unsigned long)decode(line);
        done++;
    }
    printf("%lu decoded, %lu failed\n", done - failed, failed);
    vips_shutdown();
    return 0;
}
