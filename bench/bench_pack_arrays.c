/*
 * bench_pack_arrays.c - a data set from arrays in memory, against cp and sync of the same bytes
 *
 * usage: bench_pack_arrays FOLDER [RECORDS [ROUNDS]]
 *
 * RECORDS images of 224x224x3 uint8 with labels are written with mshard_writer_write_batch and committed: checksums,
 * statistics, sync and the read-back of every byte included. Against it: cp of one file of the same size (in the page
 * cache) and sync of the copy. Rounds alternate; medians. One JSON line: ratio is cp's time over ours.
 */
#include <mshard/mshard.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IMAGE ((size_t)224 * 224 * 3)
#define MAX_ROUNDS 99

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what, const mshard_error *err)
{
    char text[1200] = "";

    if (err != NULL)
        mshard_error_format(err, text, sizeof(text));
    fprintf(stderr, "bench_pack_arrays: %s %s\n", what, text);
    exit(1);
}

static void shell(const char *command)
{
    if (system(command) != 0)
        die(command, NULL);
}

static double pack(const char *path, const uint8_t *images, const int64_t *labels, uint64_t n)
{
    const mshard_field fields[] = {
        {.name = "image", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {224, 224, 3}},
        {.name = "label", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL},
    };
    const void *data[] = {images, labels};
    const double begin = now();
    mshard_writer *writer;
    mshard_error err;

    if (mshard_writer_create(path, fields, 2, NULL, &writer, &err) != MSHARD_OK ||
        mshard_writer_write_batch(writer, data, n, &err) != MSHARD_OK ||
        mshard_writer_commit(writer, &err) != MSHARD_OK)
        die("pack:", &err);
    mshard_writer_unref(writer);
    return now() - begin;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), by_value);
    return values[n / 2];
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : NULL;
    const uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 8000;
    const int rounds = argc > 3 ? atoi(argv[3]) : 5;
    double ours[MAX_ROUNDS], theirs[MAX_ROUNDS], pack_s, copy_s;
    char source[1024], copy[1024], path[1024], command[4096];
    uint64_t seed = 1;
    int64_t *labels;
    uint8_t *images;
    FILE *f;

    if (dir == NULL || n == 0 || rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: bench_pack_arrays FOLDER [RECORDS [ROUNDS]]\n");
        return 2;
    }
    images = malloc(n * IMAGE);
    labels = malloc(n * sizeof(*labels));
    if (images == NULL || labels == NULL)
        die("out of memory", NULL);
    for (size_t i = 0; i < n * IMAGE / 8; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        memcpy(images + i * 8, &seed, 8);
    }
    for (uint64_t i = 0; i < n; i++)
        labels[i] = (int64_t)(i % 1000);
    snprintf(source, sizeof(source), "%s/source", dir);
    snprintf(copy, sizeof(copy), "%s/copy", dir);
    snprintf(path, sizeof(path), "%s/dataset", dir);
    f = fopen(source, "wb");
    if (f == NULL || fwrite(images, IMAGE, n, f) != n || fwrite(labels, 8, n, f) != n || fclose(f) != 0)
        die("cannot write the source file", NULL);
    for (int r = 0; r < rounds; r++) {
        double begin;

        snprintf(command, sizeof(command), "rm -rf '%s' '%s' && sync -f '%s'", copy, path, dir);
        shell(command);
        snprintf(command, sizeof(command), "cp '%s' '%s' && sync '%s'", source, copy, copy);
        begin = now();
        shell(command);
        theirs[r] = now() - begin;
        snprintf(command, sizeof(command), "rm -rf '%s' && sync -f '%s'", copy, dir);
        shell(command);
        ours[r] = pack(path, images, labels, n);
    }
    snprintf(command, sizeof(command), "rm -rf '%s' '%s' '%s'", copy, path, source);
    shell(command);
    pack_s = median(ours, rounds);
    copy_s = median(theirs, rounds);
    printf("{\"bench\": \"pack_arrays\", \"records\": %" PRIu64 ", \"bytes\": %" PRIu64
           ", \"rounds\": %d, \"pack_s\": %.4f, \"cp_sync_s\": %.4f, \"pack_min_s\": %.4f, \"pack_max_s\": %.4f"
           ", \"cp_min_s\": %.4f, \"cp_max_s\": %.4f, \"ratio\": %.3f}\n",
           n, n * (IMAGE + 8), rounds, pack_s, copy_s, ours[0], ours[rounds - 1], theirs[0], theirs[rounds - 1],
           copy_s / pack_s);
    free(images);
    free(labels);
    return 0;
}
