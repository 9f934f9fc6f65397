/*
 * thread.c - threads and locks
 *
 * Threads start with every signal blocked: signals stay the caller's business. Locks are the plain kind, and
 * misuse is a bug of ours, so their results are not looked at.
 */
#include "os/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

mshard_status mshi_thread_start(mshi_thread *thread, void *(*run)(void *), void *argument, const char *name,
                                mshard_error *err)
{
    sigset_t all, before;
    char short_name[16];
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return mshi_fail_errno(err, failed, NULL, MSHARD_NO_OFFSET, "cannot start a thread");
    snprintf(short_name, sizeof(short_name), "%s", name);
    pthread_setname_np(*thread, short_name);
    return MSHARD_OK;
}

void mshi_thread_join(mshi_thread thread)
{
    pthread_join(thread, NULL);
}

void mshi_mutex_init(mshi_mutex *m)
{
    pthread_mutex_init(m, NULL);
}

void mshi_mutex_destroy(mshi_mutex *m)
{
    pthread_mutex_destroy(m);
}

void mshi_mutex_lock(mshi_mutex *m)
{
    pthread_mutex_lock(m);
}

void mshi_mutex_unlock(mshi_mutex *m)
{
    pthread_mutex_unlock(m);
}

void mshi_cond_init(mshi_cond *c)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attributes);
    pthread_condattr_destroy(&attributes);
}

void mshi_cond_destroy(mshi_cond *c)
{
    pthread_cond_destroy(c);
}

void mshi_cond_wait(mshi_cond *c, mshi_mutex *m)
{
    pthread_cond_wait(c, m);
}

int mshi_cond_wait_ns(mshi_cond *c, mshi_mutex *m, uint64_t ns)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec += (long)(ns % 1000000000);
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return pthread_cond_timedwait(c, m, &until) == ETIMEDOUT;
}

void mshi_cond_signal(mshi_cond *c)
{
    pthread_cond_signal(c);
}

void mshi_cond_broadcast(mshi_cond *c)
{
    pthread_cond_broadcast(c);
}

int64_t mshi_process_id(void)
{
    return getpid();
}
