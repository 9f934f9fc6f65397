/* buf.h - growable byte buffer; zero-initialised is valid and empty */
#ifndef MSHI_BASE_BUF_H
#define MSHI_BASE_BUF_H

#include "base/fail.h"
#include <stdbool.h>
#include <stddef.h>

struct mshi_buf {
    char *data; /* always NUL-terminated after the first append */
    size_t size;
    uint64_t capacity;
    bool failed; /* an append ran out of memory: later appends do nothing; mshi_buf_status says so */
};

void mshi_buf_add(struct mshi_buf *buf, const void *data, size_t size);
void mshi_buf_text(struct mshi_buf *buf, const char *text);
void mshi_buf_printf(struct mshi_buf *buf, const char *format, ...) MSHI_PRINTF(2, 3);
/* A JSON string with quotes. Invalid UTF-8 becomes U+FFFD. */
void mshi_buf_json_string(struct mshi_buf *buf, const char *text, size_t size);
/* A JSON number that reads back to the same double, independent of locale; NaN and infinities become null. */
void mshi_buf_json_double(struct mshi_buf *buf, double value);
mshard_status mshi_buf_status(const struct mshi_buf *buf, mshard_error *err); /* OK or NOMEM */
void mshi_buf_clear(struct mshi_buf *buf); /* frees */

#endif
