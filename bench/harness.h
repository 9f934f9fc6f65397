/*
 * harness.h - medians of alternating runs, one JSON line a figure
 *
 * A figure is a ratio: ours and the reference are run in turn in one process, and each line holds both medians.
 */
#ifndef MSHARD_BENCH_HARNESS_H
#define MSHARD_BENCH_HARNESS_H

#include <stdint.h>

#define BENCH_MAX_RUNS 64

struct bench_series {
    double values[BENCH_MAX_RUNS];
    int n;
};

double bench_now(void); /* seconds, monotonic */
void bench_add(struct bench_series *s, double value);
double bench_median(const struct bench_series *s);
double bench_min(const struct bench_series *s);
double bench_max(const struct bench_series *s);

/* {"bench": NAME, "unit": UNIT, "mshard": median, "reference": median, "reference_is": TEXT, "ratio": ours/reference, ...} */
void bench_report(const char *name, const char *unit, const struct bench_series *ours, const struct bench_series *reference,
                  const char *reference_is);
/* Without a reference: the figure against a stated bound. */
void bench_report_bound(const char *name, const char *unit, const struct bench_series *ours, double bound);

/* Remove a folder the benchmark made; links are not followed. */
void bench_remove_tree(const char *path);

/* Keeps the compiler from dropping the work. */
extern volatile uint64_t bench_sink;

#endif
