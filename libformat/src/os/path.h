/* path.h - questions about names and open files that the writing side asks */
#ifndef MSHI_OS_PATH_H
#define MSHI_OS_PATH_H

#include "base/fail.h"
#include <stdbool.h>

bool mshi_path_is_link(const char *path); /* a symbolic link, dangling or not */
/* malloc'd: path itself, or the absolute path it leads to when its last part is a link. NOT_FOUND: a dangling one. */
mshard_status mshi_path_resolve(const char *path, char **out, mshard_error *err);
/* Is the open file still the one at path? */
bool mshi_path_is_open_as(const char *path, int fd);

#endif
