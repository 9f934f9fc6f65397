/*
 * progress.h - how far a long command is, on standard error
 *
 * On a terminal: a block of lines, redrawn at most five times a second, log lines scrolling above it. Elsewhere one
 * plain line every 30 seconds and never a carriage return. SIGUSR1 asks for a plain line at once.
 */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool block, lines; /* redraw a block; print plain lines */
    bool told_all;     /* --progress=always: the last state is printed too */
    size_t drawn;      /* lines of the block on the screen */
    char text[2][512]; /* of the block */
    uint64_t start_ns, drawn_ns, line_ns;
    uint64_t rate_ns, rate_done, rate_bytes; /* at the last look */
    double rate, byte_rate;                  /* smoothed over some seconds */
};

uint64_t now_ns(void);

/* choice: 0 auto, 1 always, 2 never. quiet and json: auto shows nothing. */
void progress_start(struct progress *progress, uint64_t choice, bool quiet);
/* The figures have moved; true when a block or a plain line is due: then call progress_show. */
bool progress_due(struct progress *progress, uint64_t done, uint64_t bytes);
/* first and second: lines of the block (second may be ""); plain: the same in a line for logs. */
void progress_show(struct progress *progress, const char *first, const char *second, const char *plain);
/* Clear the block. last (may be NULL): the plain line for --progress=always off a terminal. */
void progress_end(struct progress *progress, const char *last);

/* "2:06", "1:02:05"; "-" when it cannot be said. total 0: not known. */
const char *progress_eta(const struct progress *progress, uint64_t done, uint64_t total, char text[40]);
uint64_t progress_eta_seconds(const struct progress *progress, uint64_t done, uint64_t total);

#endif
