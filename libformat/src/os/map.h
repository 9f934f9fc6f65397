/* map.h - read-only maps of whole files, and page-cache advice */
#ifndef MSHI_OS_MAP_H
#define MSHI_OS_MAP_H

#include "base/fail.h"
#include "os/file.h"

/*
 * Map all size bytes of an open file, shared and read-only; the descriptor may be closed afterwards.
 * LIMIT with the number of vm.max_map_count when the process has no map left; NOMEM, IO otherwise.
 * Size 0 gives NULL and OK.
 */
mshard_status mshi_map_file(const struct mshi_file *file, const char *path, const void **data, mshard_error *err);
void mshi_map_unmap(const void *data, uint64_t size); /* NULL does nothing */

enum mshi_advice {
    MSHI_ADVICE_NORMAL,
    MSHI_ADVICE_SEQUENTIAL,
    MSHI_ADVICE_RANDOM,
    MSHI_ADVICE_WILLNEED,
    MSHI_ADVICE_DROP
};
void mshi_map_advise(const void *data, uint64_t size, enum mshi_advice advice); /* any alignment; best effort */

#endif
