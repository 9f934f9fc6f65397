/*
 * file_posix.c - mshi_fs_posix: the system calls that write, as they are
 *
 * Each function is its system call with EINTR retried; nothing is remembered between calls.
 */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "files above 2 GiB");

static int open_file(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int posix_create(void *context, const char *path, bool exclusive)
{
    (void)context;
    return open_file(path, O_RDWR | O_CREAT | (exclusive ? O_EXCL : O_TRUNC));
}

static int posix_open(void *context, const char *path)
{
    (void)context;
    return open_file(path, O_RDONLY);
}

static int64_t posix_pwrite(void *context, int fd, const void *data, size_t size, uint64_t offset)
{
    ssize_t n;

    (void)context;
    do
        n = pwrite(fd, data, size, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n;
}

static int64_t posix_pread(void *context, int fd, void *data, size_t size, uint64_t offset)
{
    ssize_t n;

    (void)context;
    do
        n = pread(fd, data, size, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n;
}

static int posix_truncate(void *context, int fd, uint64_t size)
{
    int rc;

    (void)context;
    do
        rc = ftruncate(fd, (off_t)size);
    while (rc < 0 && errno == EINTR);
    return rc;
}

static int posix_sync(void *context, int fd)
{
    int rc;

    (void)context;
    do
        rc = fsync(fd);
    while (rc < 0 && errno == EINTR);
    return rc;
}

static int posix_sync_folder(void *context, const char *path)
{
    const int fd = open_file(path, O_RDONLY | O_DIRECTORY);
    int rc, saved;

    if (fd < 0)
        return -1;
    rc = posix_sync(context, fd);
    saved = errno;
    close(fd);
    errno = saved;
    if (rc < 0 && (errno == EINVAL || errno == ENOTSUP)) /* a file system that cannot sync folders */
        return 0;
    return rc;
}

static void posix_write_behind(void *context, int fd, uint64_t offset, uint64_t size)
{
    (void)context;
#ifdef SYNC_FILE_RANGE_WRITE
    sync_file_range(fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd, (void)offset, (void)size;
#endif
}

static void posix_drop(void *context, int fd, uint64_t offset, uint64_t size)
{
    (void)context;
#ifdef SYNC_FILE_RANGE_WRITE
    sync_file_range(fd, (off_t)offset, (off_t)size,
                    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
#endif
    posix_fadvise(fd, (off_t)offset, (off_t)size, POSIX_FADV_DONTNEED);
}

static int posix_close(void *context, int fd)
{
    (void)context;
    /* After EINTR the descriptor is gone on Linux: closing again could hit another thread's file. */
    return close(fd) < 0 && errno != EINTR ? -1 : 0;
}

static int posix_rename(void *context, const char *from, const char *to)
{
    (void)context;
    return rename(from, to);
}

static int posix_exchange(void *context, const char *a, const char *b)
{
    (void)context;
#ifdef RENAME_EXCHANGE
    return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
#else
    (void)a, (void)b;
    errno = ENOSYS;
    return -1;
#endif
}

static int posix_unlink(void *context, const char *path)
{
    (void)context;
    return unlink(path);
}

static int posix_mkdir(void *context, const char *path)
{
    (void)context;
    return mkdir(path, 0777);
}

static int posix_rmdir(void *context, const char *path)
{
    (void)context;
    return rmdir(path);
}

static int posix_lock(void *context, int fd)
{
    int rc;

    (void)context;
    do
        rc = flock(fd, LOCK_EX | LOCK_NB);
    while (rc < 0 && errno == EINTR);
    return rc;
}

const struct mshi_fs mshi_fs_posix = {
    .create = posix_create,
    .open = posix_open,
    .pwrite = posix_pwrite,
    .pread = posix_pread,
    .truncate = posix_truncate,
    .sync = posix_sync,
    .sync_folder = posix_sync_folder,
    .write_behind = posix_write_behind,
    .drop = posix_drop,
    .close = posix_close,
    .rename = posix_rename,
    .exchange = posix_exchange,
    .unlink = posix_unlink,
    .mkdir = posix_mkdir,
    .rmdir = posix_rmdir,
    .lock = posix_lock,
};
