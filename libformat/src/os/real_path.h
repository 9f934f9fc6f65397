/* real_path.h - where a path leads now, so that a later chdir() or a moved link does not change it */
#ifndef MSHI_OS_REAL_PATH_H
#define MSHI_OS_REAL_PATH_H

#include "base/fail.h"

/* malloc'd absolute path without symbolic links. NOT_FOUND, IO. */
mshard_status mshi_real_path(const char *path, char **out, mshard_error *err);

#endif
