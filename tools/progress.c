/*
 * progress.c - the block on a terminal, the lines elsewhere
 *
 * Rates are smoothed over about ten seconds, so that the time left follows a change of speed without jumping.
 */
#include "progress.h"

#include "out.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 };
static const uint64_t block_every = SECOND / 5, line_every = UINT64_C(30) * SECOND;

static volatile sig_atomic_t line_wanted;

static void on_user_signal(int number)
{
    (void)number;
    line_wanted = 1;
}

uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void clear_block(void *context)
{
    struct progress *p = context;

    if (p->drawn == 0)
        return;
    for (size_t i = 1; i < p->drawn; i++)
        (void)fputs("\r\033[K\033[A", stderr);
    (void)fputs("\r\033[K", stderr);
    p->drawn = 0;
}

static void draw_block(void *context)
{
    struct progress *p = context;

    if (!p->block || p->text[0][0] == '\0')
        return;
    (void)fputs(p->text[0], stderr);
    p->drawn = 1;
    if (p->text[1][0] != '\0') {
        (void)fprintf(stderr, "\n%s", p->text[1]);
        p->drawn = 2;
    }
    (void)fflush(stderr);
}

void progress_start(struct progress *progress, uint64_t choice, bool quiet)
{
    const bool shown = choice == 1 || (choice == 0 && !quiet);
    const bool terminal = isatty(STDERR_FILENO) == 1;
    struct sigaction action = {.sa_handler = on_user_signal, .sa_flags = SA_RESTART};

    *progress = (struct progress){
        .block = shown && terminal, .lines = shown && !terminal, .told_all = choice == 1, .start_ns = now_ns()};
    progress->line_ns = progress->rate_ns = progress->start_ns;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGUSR1, &action, NULL);
    say_around(clear_block, draw_block, progress);
}

static void follow_rate(struct progress *p, uint64_t now, uint64_t done, uint64_t bytes)
{
    const double seconds = (double)(now - p->rate_ns) / SECOND;
    const double total = (double)(now - p->start_ns) / SECOND;

    if (seconds < 0.2)
        return;
    const double keep = total < 10.0 ? 0.0 : exp(-seconds / 10.0);
    const double whole = (double)done / total, whole_bytes = (double)bytes / total;
    if (keep > 0.0 && done >= p->rate_done && bytes >= p->rate_bytes) {
        p->rate = keep * p->rate + (1.0 - keep) * (double)(done - p->rate_done) / seconds;
        p->byte_rate = keep * p->byte_rate + (1.0 - keep) * (double)(bytes - p->rate_bytes) / seconds;
    } else {
        p->rate = whole;
        p->byte_rate = whole_bytes;
    }
    p->rate_ns = now;
    p->rate_done = done;
    p->rate_bytes = bytes;
}

bool progress_due(struct progress *progress, uint64_t done, uint64_t bytes)
{
    const uint64_t now = now_ns();

    follow_rate(progress, now, done, bytes);
    return line_wanted != 0 || (progress->block && now - progress->drawn_ns >= block_every) ||
           (progress->lines && now - progress->line_ns >= line_every);
}

void progress_show(struct progress *progress, const char *first, const char *second, const char *plain)
{
    const uint64_t now = now_ns();
    const bool wanted = line_wanted != 0;

    line_wanted = 0;
    clear_block(progress);
    if (wanted || (progress->lines && now - progress->line_ns >= line_every)) {
        (void)fprintf(stderr, "%s\n", plain);
        progress->line_ns = now;
    }
    if (!progress->block)
        return;
    const size_t columns = terminal_columns(STDERR_FILENO) - 1;
    (void)snprintf(progress->text[0], sizeof progress->text[0], "%s", first);
    (void)snprintf(progress->text[1], sizeof progress->text[1], "%s", second);
    text_cut(progress->text[0], columns);
    text_cut(progress->text[1], columns);
    draw_block(progress);
    progress->drawn_ns = now;
}

void progress_end(struct progress *progress, const char *last)
{
    say_around(NULL, NULL, NULL);
    clear_block(progress);
    (void)fflush(stderr);
    if (last != NULL && progress->lines && progress->told_all)
        (void)fprintf(stderr, "%s\n", last);
}

uint64_t progress_eta_seconds(const struct progress *progress, uint64_t done, uint64_t total)
{
    if (total <= done || progress->rate <= 0.0)
        return total == 0 || total > done ? UINT64_MAX : 0;
    const double seconds = ceil((double)(total - done) / progress->rate);
    return seconds < 1e9 ? (uint64_t)seconds : UINT64_MAX;
}

const char *progress_eta(const struct progress *progress, uint64_t done, uint64_t total, char text[40])
{
    const uint64_t s = progress_eta_seconds(progress, done, total);

    if (s == UINT64_MAX)
        (void)snprintf(text, 40, "-");
    else if (s >= 3600)
        (void)snprintf(text, 40, "%llu:%02u:%02u", (unsigned long long)(s / 3600), (unsigned)(s / 60 % 60),
                       (unsigned)(s % 60));
    else
        (void)snprintf(text, 40, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
    return text;
}
