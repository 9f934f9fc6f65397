/* thread.h - threads, locks, CPU count and process id; the only place that knows pthreads */
#ifndef MSHI_OS_THREAD_H
#define MSHI_OS_THREAD_H

#include "base/fail.h"
#include <pthread.h>

typedef pthread_t mshi_thread;
typedef pthread_mutex_t mshi_mutex;
typedef pthread_cond_t mshi_cond;
#define MSHI_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER

mshard_status mshi_thread_start(mshi_thread *thread, void *(*run)(void *), void *argument,
                                const char *name /* 15 bytes */, mshard_error *err); /* all signals blocked in it */
void mshi_thread_join(mshi_thread thread);
void mshi_mutex_init(mshi_mutex *m);
void mshi_mutex_destroy(mshi_mutex *m);
void mshi_mutex_lock(mshi_mutex *m);
void mshi_mutex_unlock(mshi_mutex *m);
void mshi_cond_init(mshi_cond *c); /* monotonic clock */
void mshi_cond_destroy(mshi_cond *c);
void mshi_cond_wait(mshi_cond *c, mshi_mutex *m);
int mshi_cond_wait_ns(mshi_cond *c, mshi_mutex *m, uint64_t ns); /* 0: woken; 1: time is up */
void mshi_cond_signal(mshi_cond *c);
void mshi_cond_broadcast(mshi_cond *c);

/* CPUs this process may use: affinity and cgroup quota, at least 1. */
uint32_t mshi_cpu_count(void);
/* CPU quota by a list as /proc/self/cgroup and a folder of mounts as /sys/fs/cgroup (for tests); 0: no limit. */
uint32_t mshi_cpu_quota(const char *group_list, const char *mounts);
int64_t mshi_process_id(void);

#endif
