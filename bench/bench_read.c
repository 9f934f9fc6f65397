/*
 * bench_read.c - what reading costs: open and first record, one view, a scan of every byte, verify
 *
 *     bench_read SCRATCH-FOLDER [RUNS]
 *
 * Writes its own data sets (about 700 MB) under the folder, reads them once so that the page cache is warm, and removes
 * them. References in the same run: the same loop over one bare map of the same file, and a plain read of cached memory.
 */
#include "harness.h"

#include <fcntl.h>
#include <inttypes.h>
#include <mshard/mshard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[3072];

static void check(mshard_status st, const mshard_error *err)
{
    char text[1200];

    if (st >= MSHARD_OK)
        return;
    mshard_error_format(err, text, sizeof text);
    fprintf(stderr, "bench_read: %s\n", text);
    exit(3);
}

static const char *path_of(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/%s", scratch, name);
    return path;
}

static void make(const char *name, uint64_t n, uint64_t side, uint64_t records_per_shard)
{
    mshard_error err;
    mshard_writer *w;
    mshard_field fields[2] = {
        {.name = "image", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {side, side, 3}},
        {.name = "label", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL},
    };
    mshard_writer_options o = {MSHARD_WRITER_OPTIONS_INIT, .records_per_shard = records_per_shard, .overwrite = 1, .no_sync = 1};
    size_t size = side * side * 3;
    uint8_t *pixels = malloc(size);

    if (!pixels)
        exit(3);
    check(mshard_writer_create(path_of(name), fields, 2, &o, &w, &err), &err);
    for (uint64_t i = 0; i < n; i++) {
        int64_t label = (int64_t)(i % 10);

        memset(pixels, (int)(i * 7), size);
        mshard_value values[2] = {{.data = pixels, .size = size}, {.data = &label, .size = sizeof label}};
        check(mshard_writer_write(w, values, NULL, 0, &err), &err);
    }
    check(mshard_writer_commit(w, &err), &err);
    mshard_writer_unref(w);
    free(pixels);
}

static uint64_t sum_words(const void *data, size_t size)
{
    const uint64_t *p = data; /* columns and records of these sizes start on 8-byte boundaries */
    uint64_t s = 0;

    for (size_t i = 0; i < size / 8; i++)
        s += p[i];
    return s;
}

static void bench_open(const char *name, const char *title, double bound_s, int runs)
{
    struct bench_series t = {.n = 0};

    for (int r = 0; r < runs + 1; r++) {
        mshard_error err;
        mshard_store *store;
        mshard_view view;
        double start = bench_now();

        check(mshard_store_open(path_of(name), NULL, &store, &err), &err);
        check(mshard_store_record(store, 0, 0, &view, &err), &err);
        bench_sink += *(const uint8_t *)view.data;
        if (r) /* the first one warms up */
            bench_add(&t, bench_now() - start);
        mshard_store_unref(store);
    }
    bench_report_bound(title, "s", &t, bound_s);
}

static void bench_record(int runs)
{
    struct bench_series t = {.n = 0}, one = {.n = 0};
    mshard_error err;
    mshard_store *store;

    check(mshard_store_open(path_of("many.msd"), NULL, &store, &err), &err);
    uint64_t n = mshard_store_count(store);
    for (int r = 0; r < runs + 1; r++) {
        uint64_t at = 1, sum = 0;
        double start = bench_now();

        for (uint64_t i = 0; i < 1000000; i++) {
            mshard_view view;

            at = at * 6364136223846793005u + 1442695040888963407u;
            check(mshard_store_record(store, (at >> 33) % n, 0, &view, &err), &err);
            sum += (uint64_t)(uintptr_t)view.data; /* the pointer, not the bytes: this is the cost of a view */
        }
        bench_sink += sum;
        if (r)
            bench_add(&t, (bench_now() - start) * 1e9 / 1e6);
    }
    mshard_store_unref(store);
    bench_report_bound("record view, random, 1,000 shards", "ns", &t, 30);

    check(mshard_store_open(path_of("large.msd"), NULL, &store, &err), &err);
    n = mshard_store_count(store);
    for (int r = 0; r < runs + 1; r++) {
        uint64_t sum = 0, at = 1;
        double start = bench_now();

        for (uint64_t i = 0; i < 1000000; i++) {
            mshard_view view;

            at = at * 6364136223846793005u + 1442695040888963407u;
            check(mshard_store_record(store, (at >> 33) % n, 0, &view, &err), &err);
            sum += (uint64_t)(uintptr_t)view.data;
        }
        bench_sink += sum;
        if (r)
            bench_add(&one, (bench_now() - start) * 1e9 / 1e6);
    }
    mshard_store_unref(store);
    bench_report_bound("record view, random, 1 shard", "ns", &one, 30);
}

static void bench_scan(int runs)
{
    struct bench_series ours = {.n = 0}, bare = {.n = 0}, check_all = {.n = 0}, memory = {.n = 0};
    mshard_error err;
    mshard_store *store;
    uint64_t offset;
    mshard_shard_info info;

    check(mshard_store_open(path_of("large.msd"), NULL, &store, &err), &err);
    uint64_t n = mshard_store_count(store);
    size_t record = (size_t)mshard_store_field(store, 0)->record_size;
    check(mshard_store_column_offset(store, 0, 0, &offset, &err), &err);
    mshard_store_shard(store, 0, &info);
    char file[4096];
    snprintf(file, sizeof file, "%s/large.msd/%s", scratch, info.name);
    int fd = open(file, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st))
        exit(3);
    const uint8_t *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        exit(3);
    for (int r = 0; r < runs + 1; r++) {
        uint64_t sum = 0;
        double start = bench_now();

        for (uint64_t i = 0; i < n; i++) {
            mshard_view view;

            check(mshard_store_record(store, i, 0, &view, &err), &err);
            sum += sum_words(view.data, view.size);
        }
        double middle = bench_now();
        bench_sink += sum;
        for (uint64_t i = 0; i < n; i++)
            sum -= sum_words(map + offset + i * record, record);
        double end = bench_now();
        if (sum) {
            fprintf(stderr, "bench_read: views and map differ\n");
            exit(3);
        }
        double bytes = (double)(n * record);
        mshard_verify_options vo = {MSHARD_VERIFY_OPTIONS_INIT, .threads = 1};
        mshard_verify_result result;
        double before = bench_now();
        check(mshard_verify(path_of("large.msd"), &vo, &result, &err), &err);
        double after = bench_now();
        if (result.findings)
            exit(3);
        if (!r)
            continue; /* warm-up: maps are faulted in */
        bench_add(&ours, bytes / (middle - start) / 1e9);
        bench_add(&bare, bytes / (end - middle) / 1e9);
        bench_add(&check_all, (double)result.bytes / (after - before) / 1e9);
        bench_add(&memory, bytes / (end - middle) / 1e9);
    }
    munmap((void *)(uintptr_t)map, (size_t)st.st_size);
    close(fd);
    mshard_store_unref(store);
    bench_report("scan of every byte through views", "GB/s", &ours, &bare, "the same loop over one bare mmap");
    bench_report("verify, cached, 1 thread", "GB/s", &check_all, &memory, "plain read of cached memory, 1 thread");
}

int main(int argc, char **argv)
{
    int runs = argc > 2 ? atoi(argv[2]) : 9;

    if (argc < 2 || runs < 1 || runs >= BENCH_MAX_RUNS) {
        fprintf(stderr, "usage: bench_read SCRATCH-FOLDER [RUNS]\n");
        return 2;
    }
    snprintf(scratch, sizeof scratch, "%s", argv[1]);
    make("one.msd", 1000, 32, 0);
    make("many.msd", 50000, 32, 50);
    make("large.msd", 3000, 224, 3000);
    bench_open("one.msd", "open and first record, 1 shard", 0.001, runs);
    bench_open("many.msd", "open and first record, 1,000 shards", 0.050, runs);
    bench_record(runs);
    bench_scan(runs);
    bench_remove_tree(path_of("one.msd"));
    bench_remove_tree(path_of("many.msd"));
    bench_remove_tree(path_of("large.msd"));
    return 0;
}
