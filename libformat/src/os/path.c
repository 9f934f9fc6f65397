/*
 * path.c - questions about names and open files that the writing side asks
 *
 * Threads: shared.
 */
#include "os/path.h"

#include "base/alloc.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

bool mshi_path_is_link(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

mshard_status mshi_path_resolve(const char *path, char **out, mshard_error *err)
{
    *out = NULL;
    if (!mshi_path_is_link(path))
        return mshi_strdup(path, out, err);
    *out = realpath(path, NULL);
    if (*out == NULL)
        return mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot follow the symbolic link");
    return MSHARD_OK;
}

bool mshi_path_is_open_as(const char *path, int fd)
{
    struct stat a, b;

    return stat(path, &a) == 0 && fstat(fd, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
