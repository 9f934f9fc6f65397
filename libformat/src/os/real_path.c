/*
 * real_path.c - where a path leads now
 *
 * Threads: shared; no state.
 */
#include "os/real_path.h"

#include <errno.h>
#include <stdlib.h>

mshard_status mshi_real_path(const char *path, char **out, mshard_error *err)
{
    *out = realpath(path, NULL);
    if (*out == NULL)
        return mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot find the absolute path");
    return MSHARD_OK;
}
