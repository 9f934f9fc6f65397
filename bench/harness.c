/*
 * harness.c - see harness.h
 */
#include "harness.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

volatile uint64_t bench_sink;

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_add(struct bench_series *s, double value)
{
    if (s->n < BENCH_MAX_RUNS)
        s->values[s->n++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double pick(const struct bench_series *s, double quantile)
{
    double sorted[BENCH_MAX_RUNS];

    if (s->n == 0)
        return 0;
    memcpy(sorted, s->values, sizeof sorted[0] * (size_t)s->n);
    qsort(sorted, (size_t)s->n, sizeof sorted[0], compare);
    return sorted[(int)(quantile * (s->n - 1) + 0.5)];
}

double bench_median(const struct bench_series *s)
{
    return pick(s, 0.5);
}

double bench_min(const struct bench_series *s)
{
    return pick(s, 0);
}

double bench_max(const struct bench_series *s)
{
    return pick(s, 1);
}

void bench_report(const char *name, const char *unit, const struct bench_series *ours, const struct bench_series *reference,
                  const char *reference_is)
{
    printf("{\"bench\": \"%s\", \"unit\": \"%s\", \"mshard\": %.6g, \"min\": %.6g, \"max\": %.6g, \"reference\": %.6g, "
           "\"reference_is\": \"%s\", \"ratio\": %.4f, \"runs\": %d}\n",
           name, unit, bench_median(ours), bench_min(ours), bench_max(ours), bench_median(reference), reference_is,
           bench_median(ours) / bench_median(reference), ours->n);
    fflush(stdout);
}

void bench_report_bound(const char *name, const char *unit, const struct bench_series *ours, double bound)
{
    printf("{\"bench\": \"%s\", \"unit\": \"%s\", \"mshard\": %.6g, \"min\": %.6g, \"max\": %.6g, \"bound\": %.6g, \"runs\": %d}\n",
           name, unit, bench_median(ours), bench_min(ours), bench_max(ours), bound, ours->n);
    fflush(stdout);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void bench_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
