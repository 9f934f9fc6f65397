/* test_map.c - maps, the two kinds of "no memory", threads, CPU quotas, the clock */
#include "os/clock.h"
#include "os/map.h"
#include "os/thread.h"

#include "support/main.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    return path;
}

START_TEST(maps_whole_files)
{
    const char *dir = mshi_test_dir(), *path = write_file(mshi_test_path(dir, "f"), "0123456789");
    struct mshi_file file;
    const void *data;

    ck_assert_int_eq(mshi_file_open(path, &file, NULL), MSHARD_OK);
    ck_assert_int_eq(mshi_map_file(&file, path, &data, NULL), MSHARD_OK);
    mshi_file_close(&file);
    for (int a = MSHI_ADVICE_NORMAL; a <= MSHI_ADVICE_DROP; a++) {
        mshi_map_advise((const char *)data + 3, 5, (enum mshi_advice)a);
        ck_assert_mem_eq(data, "0123456789", 10);
    }
    mshi_map_unmap(data, 10);
    write_file(path, "");
    ck_assert_int_eq(mshi_file_open(path, &file, NULL), MSHARD_OK);
    data = dir;
    ck_assert_int_eq(mshi_map_file(&file, path, &data, NULL), MSHARD_OK);
    ck_assert_ptr_null(data);
    mshi_file_close(&file);
    mshi_map_unmap(NULL, 0);
    mshi_map_advise(NULL, 10, MSHI_ADVICE_DROP);
}
END_TEST

/* valgrind keeps the maps of the process itself: it cannot hold as many as the kernel, and checks sizes its own way. */
static bool own_maps(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return !(preloaded && strstr(preloaded, "vgpreload"));
}

/* More than the address space: the ENOMEM that is about memory. mmap() does not look at the size of the file. */
START_TEST(tells_no_memory)
{
    const char *path = write_file(mshi_test_path(mshi_test_dir(), "f"), "x");
    struct mshi_file file;
    mshard_error err = {0};
    const void *data;

    ck_assert_int_eq(mshi_file_open(path, &file, NULL), MSHARD_OK);
    file.size = UINT64_C(1) << 60;
    const mshard_status status = mshi_map_file(&file, path, &data, &err);
    mshi_file_close(&file);
    ck_assert_int_eq(status, own_maps() ? MSHARD_E_NOMEM : MSHARD_E_IO);
    ck_assert_ptr_null(data);
    ck_assert_ptr_nonnull(strstr(err.message, "1152921504606846976 bytes"));
    ck_assert_str_eq(err.path, path);
}
END_TEST

START_TEST(tells_no_map_left)
{
    const char *path = write_file(mshi_test_path(mshi_test_dir(), "f"), "x");
    const long page = sysconf(_SC_PAGESIZE);
    unsigned long most = 0;
    FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
    struct mshi_file file;
    mshard_error err = {0};
    mshard_status status = MSHARD_OK;
    const void *data;
    size_t taken = 0;

    if (f) {
        ck_assert_int_eq(fscanf(f, "%lu", &most), 1);
        fclose(f);
    }
#ifdef __SANITIZE_THREAD__
    most = 0; /* it needs maps of its own at any moment */
#endif
    if (!own_maps() || !most || most > 300000)
        return; /* too many to use up in a test */
    ck_assert_int_eq(mshi_file_open(path, &file, NULL), MSHARD_OK);
    /* each second page of one big region: the kernel cannot join the pieces */
    char *region = mmap(NULL, 2 * most * (size_t)page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(region, MAP_FAILED);
    while (taken < most && mprotect(region + 2 * taken * (size_t)page, (size_t)page, PROT_READ) == 0)
        taken++;
    for (int i = 0; i < 4 && status == MSHARD_OK; i++) /* mprotect may leave one free */
        status = mshi_map_file(&file, path, &data, &err);
    munmap(region, 2 * most * (size_t)page);
    mshi_file_close(&file);
    ck_assert_uint_lt(taken, most);
    ck_assert_int_eq(status, MSHARD_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "vm.max_map_count is "));
}
END_TEST

struct ping {
    mshi_mutex mutex;
    mshi_cond cond;
    int count;
    bool signals_blocked;
};

static void *answer(void *argument)
{
    struct ping *p = argument;
    sigset_t set;

    sigemptyset(&set);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    mshi_mutex_lock(&p->mutex);
    p->signals_blocked = sigismember(&set, SIGINT) && sigismember(&set, SIGUSR1);
    for (int i = 0; i < 100; i++) {
        p->count++;
        mshi_cond_signal(&p->cond);
    }
    mshi_mutex_unlock(&p->mutex);
    return NULL;
}

START_TEST(threads_and_conditions)
{
    struct ping p = {.count = 0};
    mshi_thread threads[3];

    mshi_mutex_init(&p.mutex);
    mshi_cond_init(&p.cond);
    mshi_mutex_lock(&p.mutex);
    ck_assert_int_eq(mshi_cond_wait_ns(&p.cond, &p.mutex, 1000), 1);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(mshi_thread_start(&threads[i], answer, &p, "a name that is too long", NULL), MSHARD_OK);
    while (p.count < 300)
        mshi_cond_wait(&p.cond, &p.mutex);
    mshi_cond_broadcast(&p.cond);
    mshi_mutex_unlock(&p.mutex);
    for (int i = 0; i < 3; i++)
        mshi_thread_join(threads[i]);
    ck_assert_int_eq(p.count, 300);
    ck_assert(p.signals_blocked);
    mshi_cond_destroy(&p.cond);
    mshi_mutex_destroy(&p.mutex);
    ck_assert_int_eq(mshi_process_id(), getpid());
    const uint64_t before = mshi_clock_ns();
    ck_assert_uint_ge(mshi_clock_ns(), before);
}
END_TEST

static uint32_t quota(const char *dir, const char *groups)
{
    return mshi_cpu_quota(write_file(mshi_test_path(dir, "groups"), groups), dir);
}

START_TEST(cpu_quotas)
{
    const char *dir = mshi_test_dir();

    ck_assert_uint_ge(mshi_cpu_count(), 1);
    ck_assert_uint_eq(mshi_cpu_quota(mshi_test_path(dir, "none"), dir), 0);
    /* version 2: the smallest on the way up, rounded up */
    mkdir(mshi_test_path(dir, "a"), 0700);
    mkdir(mshi_test_path(dir, "a/b"), 0700);
    ck_assert_uint_eq(quota(dir, "0::/a/b\n"), 0);
    write_file(mshi_test_path(dir, "a/b/cpu.max"), "max 100000\n");
    ck_assert_uint_eq(quota(dir, "0::/a/b\n"), 0);
    write_file(mshi_test_path(dir, "a/cpu.max"), "250000 100000\n");
    ck_assert_uint_eq(quota(dir, "0::/a/b\n"), 3);
    write_file(mshi_test_path(dir, "cpu.max"), "50000 100000\n");
    ck_assert_uint_eq(quota(dir, "0::/a/b\n"), 1);
    ck_assert_uint_eq(quota(dir, "0::/of/another/root\n"), 1);
    unlink(mshi_test_path(dir, "cpu.max"));
    write_file(mshi_test_path(dir, "a/b/cpu.max"), "nonsense");
    ck_assert_uint_eq(quota(dir, "0::/a/b\n"), 3);
    ck_assert_uint_eq(quota(dir, "garbage\n:\n\n"), 0);
    /* version 1: by controller */
    mkdir(mshi_test_path(dir, "cpu,cpuacct"), 0700);
    write_file(mshi_test_path(dir, "cpu,cpuacct/cpu.cfs_quota_us"), "400000\n");
    ck_assert_uint_eq(quota(dir, "3:cpu,cpuacct:/\n"), 0);
    write_file(mshi_test_path(dir, "cpu,cpuacct/cpu.cfs_period_us"), "100000\n");
    ck_assert_uint_eq(quota(dir, "9:cpuset:/\n3:cpu,cpuacct:/x/y\n"), 4);
    ck_assert_uint_eq(quota(dir, "3:cpu,cpuacct:/x\n0::/a\n"), 3);
    write_file(mshi_test_path(dir, "cpu,cpuacct/cpu.cfs_quota_us"), "-1\n");
    ck_assert_uint_eq(quota(dir, "3:cpu,cpuacct:/\n"), 0);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("map");
    TCase *tests = tcase_create("map");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, maps_whole_files);
    tcase_add_test(tests, tells_no_memory);
    tcase_add_test(tests, tells_no_map_left);
    tcase_add_test(tests, threads_and_conditions);
    tcase_add_test(tests, cpu_quotas);
    suite_add_tcase(suite, tests);
    return suite;
}
