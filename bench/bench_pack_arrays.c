/*
 * bench_pack_arrays.c - a data set from arrays in memory, against cp and sync of the same bytes
 *
 * usage: bench_pack_arrays FOLDER [RECORDS [ROUNDS]]
 *
 * RECORDS images of 224x224x3 uint8 with labels are written with mshard_writer_write_batch and committed: checksums,
 * statistics, sync and the read-back of every byte included. Against it: cp of one file of the same size (in the page
 * cache) and sync of the copy. Rounds alternate; one JSON line of median rates, the target of their ratio is 0.85.
 */
#include "harness.h"
#include <mshard/mshard.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE ((size_t)224 * 224 * 3)
#define RECORD (IMAGE + sizeof(int64_t))

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

/* Bytes a second. */
static double pack(const char *path, const uint8_t *images, const int64_t *labels, uint64_t n)
{
    const mshard_field fields[] = {
        {.name = "image", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {224, 224, 3}},
        {.name = "label", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL},
    };
    const void *data[] = {images, labels};
    const double begin = bench_now();
    mshard_writer *writer;
    mshard_error err;

    if (mshard_writer_create(path, fields, 2, NULL, &writer, &err) != MSHARD_OK ||
        mshard_writer_write_batch(writer, data, n, &err) != MSHARD_OK ||
        mshard_writer_commit(writer, &err) != MSHARD_OK)
        die("pack:", &err);
    mshard_writer_unref(writer);
    return (double)(n * RECORD) / (bench_now() - begin);
}

/* The same images and labels as one file: what cp copies. */
static void write_source(const char *path, const uint8_t *images, const int64_t *labels, uint64_t n)
{
    FILE *f = fopen(path, "wb");

    if (f == NULL || fwrite(images, IMAGE, n, f) != n || fwrite(labels, sizeof(*labels), n, f) != n || fclose(f) != 0)
        die("cannot write the source file", NULL);
}

static void fill(uint8_t *images, int64_t *labels, uint64_t n)
{
    uint64_t seed = 1;

    for (size_t i = 0; i < n * IMAGE / 8; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        memcpy(images + i * 8, &seed, 8);
    }
    for (uint64_t i = 0; i < n; i++)
        labels[i] = (int64_t)(i % 1000);
}

static void run(const char *dir, uint64_t n, int rounds, const uint8_t *images, const int64_t *labels)
{
    struct bench_series ours = {.n = 0}, theirs = {.n = 0};
    char source[1024], copy[1024], path[1024], command[4096];

    snprintf(source, sizeof(source), "%s/source", dir);
    snprintf(copy, sizeof(copy), "%s/copy", dir);
    snprintf(path, sizeof(path), "%s/dataset", dir);
    write_source(source, images, labels, n);
    for (int r = 0; r < rounds; r++) {
        double begin;

        bench_remove_tree(path);
        snprintf(command, sizeof(command), "sync -f '%s'", dir); /* what came before is not on our account */
        shell(command);
        snprintf(command, sizeof(command), "cp '%s' '%s' && sync '%s'", source, copy, copy);
        begin = bench_now();
        shell(command);
        bench_add(&theirs, (double)(n * RECORD) / (bench_now() - begin));
        bench_remove_tree(copy);
        snprintf(command, sizeof(command), "sync -f '%s'", dir);
        shell(command);
        bench_add(&ours, pack(path, images, labels, n));
    }
    bench_remove_tree(path);
    bench_remove_tree(source);
    bench_report("pack_arrays", "B/s", &ours, &theirs, "cp and sync of one file of the same bytes");
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : NULL;
    const uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 8000;
    const int rounds = argc > 3 ? atoi(argv[3]) : 5;
    uint8_t *images;
    int64_t *labels;

    if (dir == NULL || n == 0 || rounds < 1 || rounds > BENCH_MAX_RUNS) {
        fprintf(stderr, "usage: bench_pack_arrays FOLDER [RECORDS [ROUNDS]]\n");
        return 2;
    }
    images = malloc(n * IMAGE);
    labels = malloc(n * sizeof(*labels));
    if (images == NULL || labels == NULL)
        die("out of memory", NULL);
    fill(images, labels, n);
    run(dir, n, rounds, images, labels);
    free(images);
    free(labels);
    return 0;
}
