/*
 * options.h - take over a caller's options struct of any age
 *
 * Every public options struct begins with size_t struct_size. Zero is the default of every member and members are
 * only appended: a shorter struct means defaults for the rest, a longer one must have zeros there.
 */
#ifndef MSHI_BASE_OPTIONS_H
#define MSHI_BASE_OPTIONS_H

#include "base/fail.h"
#include <stddef.h>
#include <string.h>

/* into: the library's struct of size bytes. options NULL: all defaults. INVALID: struct_size 0, or an unknown member set. */
static inline mshard_status mshi_options_load(void *into, size_t size, const void *options, mshard_error *err)
{
    size_t given;

    memset(into, 0, size);
    if (options == NULL)
        return MSHARD_OK;
    memcpy(&given, options, sizeof(given));
    if (given < sizeof(given))
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "options not initialized: struct_size is %zu (use the INIT macro)", given);
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)options)[i] != 0)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "an option at byte %zu of %zu is set that this version (%s) does not know", i, given,
                             MSHARD_VERSION);
    memcpy(into, options, given < size ? given : size);
    return MSHARD_OK;
}

#endif
