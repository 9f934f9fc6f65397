/*
 * file.c - whole transfers over a mshi_fs, and plain reading
 *
 * Short transfers are finished here; errors name the path, the operation and, for transfers, the byte.
 */
#include "os/file.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux moves at most 2 GiB - 4 KiB a call; asking for less is never wrong. */
#define TRANSFER_MAX ((size_t)1 << 30)

mshard_status mshi_fs_write_all(const struct mshi_fs *fs, int fd, const void *data, size_t size, uint64_t offset,
                                const char *path, mshard_error *err)
{
    const char *from = data;

    while (size) {
        const int64_t n = fs->pwrite(fs->context, fd, from, size < TRANSFER_MAX ? size : TRANSFER_MAX, offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return mshi_fail_errno(err, n < 0 ? errno : ENOSPC, path, offset, "cannot write %zu bytes", size);
        from += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return MSHARD_OK;
}

mshard_status mshi_fs_read_all(const struct mshi_fs *fs, int fd, void *data, size_t size, uint64_t offset,
                               const char *path, mshard_error *err)
{
    char *to = data;

    while (size) {
        const int64_t n = fs->pread(fs->context, fd, to, size < TRANSFER_MAX ? size : TRANSFER_MAX, offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mshi_fail_errno(err, errno, path, offset, "cannot read %zu bytes", size);
        if (n == 0)
            return mshi_fail(err, MSHARD_E_TRUNCATED, path, offset,
                             "%zu more bytes expected, found the end of the file", size);
        to += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return MSHARD_OK;
}

static mshard_status write_temp(const struct mshi_fs *fs, const char *temp, const void *data, size_t size, bool sync,
                                mshard_error *err)
{
    const int fd = fs->create(fs->context, temp, false);
    mshard_status status;

    if (fd < 0)
        return mshi_fail_errno(err, errno, temp, MSHARD_NO_OFFSET, "cannot create");
    status = mshi_fs_write_all(fs, fd, data, size, 0, temp, err);
    if (status == MSHARD_OK && sync && fs->sync(fs->context, fd) < 0)
        status = mshi_fail_errno(err, errno, temp, MSHARD_NO_OFFSET, "cannot sync");
    if (fs->close(fs->context, fd) < 0 && status == MSHARD_OK)
        status = mshi_fail_errno(err, errno, temp, MSHARD_NO_OFFSET, "cannot close");
    return status;
}

mshard_status mshi_fs_publish(const struct mshi_fs *fs, const char *path, const void *data, size_t size, bool sync,
                              mshard_error *err)
{
    char *temp = NULL, *parent = NULL;
    const size_t length = strlen(path);
    mshard_status status;

    MSHI_TRY(mshi_alloc(length + 5, 1, &temp, err));
    memcpy(temp, path, length);
    memcpy(temp + length, ".tmp", 5);
    status = mshi_path_parent(path, &parent, err);
    if (status == MSHARD_OK) {
        status = write_temp(fs, temp, data, size, sync, err);
        if (status == MSHARD_OK && fs->rename(fs->context, temp, path) < 0)
            status = mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot rename a temporary file to this");
        if (status != MSHARD_OK)
            fs->unlink(fs->context, temp);
        else if (sync && fs->sync_folder(fs->context, parent) < 0)
            status = mshi_fail_errno(err, errno, parent, MSHARD_NO_OFFSET, "cannot sync the folder");
    }
    free(parent);
    free(temp);
    return status;
}

mshard_status mshi_file_from_fd(int fd, const char *path, struct mshi_file *file, mshard_error *err)
{
    struct stat st;

    *file = (struct mshi_file){.fd = -1};
    if (fstat(fd, &st) < 0)
        return mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot stat");
    if (S_ISDIR(st.st_mode))
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "file expected, found a folder");
    if (!S_ISREG(st.st_mode))
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                         "regular file expected, found a device, socket or pipe");
    *file = (struct mshi_file){
        .fd = fd,
        .size = (uint64_t)st.st_size,
        .device = st.st_dev,
        .inode = st.st_ino,
        .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
    };
    return MSHARD_OK;
}

mshard_status mshi_file_open(const char *path, struct mshi_file *file, mshard_error *err)
{
    mshard_status status;
    int fd;

    *file = (struct mshi_file){.fd = -1};
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a fifo without a writer would block */
    while (fd < 0 && errno == EINTR);
    if (fd < 0 && (errno == ENXIO || errno == ENODEV)) /* what open() says of sockets */
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                         "regular file expected, found a device, socket or pipe");
    if (fd < 0)
        return mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot open");
    status = mshi_file_from_fd(fd, path, file, err);
    if (status != MSHARD_OK)
        close(fd);
    return status;
}

void mshi_file_close(struct mshi_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

mshard_status mshi_file_read(const struct mshi_file *file, void *data, size_t size, uint64_t offset, size_t *got,
                             const char *path, mshard_error *err)
{
    char *to = data;

    *got = 0;
    if (offset > INT64_MAX)
        return MSHARD_OK; /* no file reaches there */
    while (*got < size) {
        const size_t rest = size - *got;
        const ssize_t n = pread(file->fd, to + *got, rest < TRANSFER_MAX ? rest : TRANSFER_MAX, (off_t)(offset + *got));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mshi_fail_errno(err, errno, path, offset + *got, "cannot read %zu bytes", rest);
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return MSHARD_OK;
}

static mshard_status too_big(const char *path, uint64_t max, mshard_error *err)
{
    return mshi_fail(err, MSHARD_E_LIMIT, path, MSHARD_NO_OFFSET, "at most %" PRIu64 " bytes expected, found more",
                     max);
}

/* The size that fstat says is a hint only: files of /proc say 0, and a file may grow while it is read. */
static mshard_status slurp_open(const struct mshi_file *file, const char *path, uint64_t max, char **data, size_t *size,
                                mshard_error *err)
{
    uint64_t capacity = 0;
    size_t got;

    *size = 0;
    if (file->size > max)
        return too_big(path, max, err);
    for (uint64_t want = file->size + 2;; want = capacity + capacity / 2) {
        MSHI_TRY(mshi_grow(data, &capacity, want, 1, err));
        MSHI_TRY(mshi_file_read(file, *data + *size, (size_t)capacity - 1 - *size, *size, &got, path, err));
        *size += got;
        if (*size > max)
            return too_big(path, max, err);
        if (*size < capacity - 1)
            break;
    }
    (*data)[*size] = '\0';
    return MSHARD_OK;
}

mshard_status mshi_file_slurp(const char *path, uint64_t max, char **data, size_t *size, mshard_error *err)
{
    struct mshi_file file;
    mshard_status status;

    *data = NULL;
    MSHI_TRY(mshi_file_open(path, &file, err));
    status = slurp_open(&file, path, max, data, size, err);
    mshi_file_close(&file);
    if (status != MSHARD_OK) {
        free(*data);
        *data = NULL;
        *size = 0;
    }
    return status;
}

enum mshi_kind mshi_path_kind(const char *path, uint64_t *size)
{
    struct stat st;

    if (size)
        *size = 0;
    if (stat(path, &st) < 0)
        return MSHI_MISSING;
    if (S_ISDIR(st.st_mode))
        return MSHI_FOLDER;
    if (!S_ISREG(st.st_mode))
        return MSHI_OTHER;
    if (size)
        *size = (uint64_t)st.st_size;
    return MSHI_FILE;
}

bool mshi_path_same(const char *a, const char *b)
{
    struct stat of_a, of_b;

    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

mshard_status mshi_path_join(const char *a, const char *b, char **out, mshard_error *err)
{
    const size_t a_size = strlen(a), b_size = strlen(b);
    const bool slash = a_size && a[a_size - 1] != '/';

    if (b[0] == '/' || a_size == 0)
        return mshi_strdup(b, out, err);
    MSHI_TRY(mshi_alloc(a_size + b_size + 2, 1, out, err));
    memcpy(*out, a, a_size);
    if (slash)
        (*out)[a_size] = '/';
    memcpy(*out + a_size + slash, b, b_size + 1);
    return MSHARD_OK;
}

mshard_status mshi_path_parent(const char *path, char **parent, mshard_error *err)
{
    const char *slash = strrchr(path, '/');

    MSHI_TRY(mshi_strdup(slash ? path : ".", parent, err));
    if (slash)
        (*parent)[slash == path ? 1 : slash - path] = '\0';
    return MSHARD_OK;
}
