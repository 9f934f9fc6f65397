/*
 * map.c - read-only maps of whole files
 *
 * Threads: shared.
 */
#include "os/map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Maps of this process, and how many it may have; false when the system does not say. */
static bool map_counts(uint64_t *have, uint64_t *most)
{
    struct mshi_file file;
    char *text, chunk[16384];
    size_t size;
    uint64_t at = 0;

    *have = 0;
    if (mshi_file_slurp("/proc/sys/vm/max_map_count", 64, &text, &size, NULL) != MSHARD_OK)
        return false;
    *most = strtoull(text, NULL, 10);
    free(text);
    if (mshi_file_open("/proc/self/maps", &file, NULL) != MSHARD_OK)
        return false;
    do {
        if (mshi_file_read(&file, chunk, sizeof(chunk), at, &size, NULL, NULL) != MSHARD_OK)
            size = 0;
        for (size_t i = 0; i < size; i++)
            *have += chunk[i] == '\n';
        at += size;
    } while (size);
    mshi_file_close(&file);
    return *have > 0;
}

static mshard_status map_failed(int sys_errno, uint64_t size, const char *path, mshard_error *err)
{
    uint64_t have, most;

    /* The kernel gives the same ENOMEM for both; the list of maps ends with [vsyscall], which does not count. */
    if (sys_errno == ENOMEM && map_counts(&have, &most) && have + 4 >= most) {
        mshi_fail(err, MSHARD_E_LIMIT, path, MSHARD_NO_OFFSET,
                  "no map left: vm.max_map_count is %" PRIu64 " and this process has %" PRIu64 " maps", most, have);
        if (err)
            err->sys_errno = sys_errno;
        return MSHARD_E_LIMIT;
    }
    return mshi_fail_errno(err, sys_errno, path, MSHARD_NO_OFFSET, "cannot map %" PRIu64 " bytes", size);
}

mshard_status mshi_map_file(const struct mshi_file *file, const char *path, const void **data, mshard_error *err)
{
    void *p;

    *data = NULL;
    if (file->size == 0)
        return MSHARD_OK;
    if (file->size > PTRDIFF_MAX)
        return map_failed(EFBIG, file->size, path, err);
    p = mmap(NULL, (size_t)file->size, PROT_READ, MAP_SHARED, file->fd, 0);
    if (p == MAP_FAILED)
        return map_failed(errno, file->size, path, err);
    *data = p;
    return MSHARD_OK;
}

void mshi_map_unmap(const void *data, uint64_t size)
{
    if (data && size)
        munmap((void *)(uintptr_t)data, (size_t)size);
}

void mshi_map_advise(const void *data, uint64_t size, enum mshi_advice advice)
{
    static const int advices[] = {
        [MSHI_ADVICE_NORMAL] = MADV_NORMAL, [MSHI_ADVICE_SEQUENTIAL] = MADV_SEQUENTIAL,
        [MSHI_ADVICE_RANDOM] = MADV_RANDOM, [MSHI_ADVICE_WILLNEED] = MADV_WILLNEED,
        [MSHI_ADVICE_DROP] = MADV_DONTNEED,
    };
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)data & ~(page - 1);
    const uintptr_t end = (uintptr_t)data + (uintptr_t)size;
    const int saved = errno;

    if (!data || !size)
        return;
#ifdef MADV_PAGEOUT
    /* DONTNEED alone takes the pages from this process only; they would stay in the page cache. */
    if (advice == MSHI_ADVICE_DROP)
        madvise((void *)begin, end - begin, MADV_PAGEOUT);
#endif
    madvise((void *)begin, end - begin, advices[advice]);
    errno = saved;
}
