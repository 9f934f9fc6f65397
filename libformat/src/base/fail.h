/*
 * fail.h - fill a mshard_error and return its code
 *
 * The lowest function that knows path and offset fills the error; callers pass it on with MSHI_TRY.
 */
#ifndef MSHI_BASE_FAIL_H
#define MSHI_BASE_FAIL_H

#include <mshard/error.h>

#define MSHI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Fill err (may be NULL) and return code. path may be NULL. */
mshard_status mshi_fail(mshard_error *err, mshard_status code, const char *path, uint64_t offset, const char *format,
                        ...) MSHI_PRINTF(5, 6);

/*
 * The same with sys_errno: the message gets ": " and the system's words, in English. ENOENT -> NOT_FOUND,
 * ENOMEM -> NOMEM, EEXIST -> EXISTS, else IO.
 */
mshard_status mshi_fail_errno(mshard_error *err, int sys_errno, const char *path, uint64_t offset, const char *format,
                              ...) MSHI_PRINTF(5, 6);

/* Put "<text>: " before the message already there. */
void mshi_error_context(mshard_error *err, const char *format, ...) MSHI_PRINTF(2, 3);

#define MSHI_TRY(expression)                    \
    do {                                        \
        mshard_status mshi_try_ = (expression); \
        if (mshi_try_ != MSHARD_OK)             \
            return mshi_try_;                   \
    } while (0)

#endif
