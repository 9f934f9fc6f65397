/*
 * buf.c - growable byte buffer, and the JSON text forms of strings and numbers
 *
 * Running out of memory is remembered, not reported by each call: callers append freely and ask
 * mshi_buf_status() once. data[size] is NUL after the first append.
 */
#include "base/buf.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for size more bytes and a NUL. */
static bool make_room(struct mshi_buf *buf, size_t size)
{
    uint64_t need;

    if (buf->failed)
        return false;
    if (mshi_add_overflow(buf->size, size, &need) || mshi_add_overflow(need, 1, &need) ||
        mshi_grow(&buf->data, &buf->capacity, need, 1, NULL) != MSHARD_OK)
        buf->failed = true;
    return !buf->failed;
}

void mshi_buf_add(struct mshi_buf *buf, const void *data, size_t size)
{
    if (!make_room(buf, size))
        return;
    if (size)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void mshi_buf_text(struct mshi_buf *buf, const char *text)
{
    mshi_buf_add(buf, text, strlen(text));
}

void mshi_buf_printf(struct mshi_buf *buf, const char *format, ...)
{
    va_list arguments;
    int needed;

    va_start(arguments, format);
    needed = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (needed < 0) {
        buf->failed = true;
        return;
    }
    if (!make_room(buf, (size_t)needed))
        return;
    va_start(arguments, format);
    vsnprintf(buf->data + buf->size, (size_t)needed + 1, format, arguments);
    va_end(arguments);
    buf->size += (size_t)needed;
}

/* The escape of one byte below 0x20, '"' or '\\'. */
static void add_escape(struct mshi_buf *buf, unsigned char c)
{
    static const char letters[] = "\b\t\n\f\r\"\\";
    static const char names[] = "btnfr\"\\";
    const char *found = c ? strchr(letters, c) : NULL;

    if (found)
        mshi_buf_printf(buf, "\\%c", names[found - letters]);
    else
        mshi_buf_printf(buf, "\\u%04x", c);
}

void mshi_buf_json_string(struct mshi_buf *buf, const char *text, size_t size)
{
    size_t plain = 0; /* start of the run that needs no change */

    mshi_buf_add(buf, "\"", 1);
    for (size_t i = 0; i < size;) {
        const unsigned char c = (unsigned char)text[i];
        size_t length = mshi_utf8_length(text + i, size - i);

        if (length && c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) {
            i += length;
            continue;
        }
        mshi_buf_add(buf, text + plain, i - plain);
        if (length)
            add_escape(buf, c);
        else
            mshi_buf_text(buf, "\xEF\xBF\xBD");
        plain = ++i;
    }
    if (size > plain)
        mshi_buf_add(buf, text + plain, size - plain);
    mshi_buf_add(buf, "\"", 1);
}

void mshi_buf_json_double(struct mshi_buf *buf, double value)
{
    char text[48];
    size_t length = 0;

    if (!isfinite(value)) {
        mshi_buf_text(buf, "null");
        return;
    }
    if (value == 0) { /* "-0" would read back as the integer 0 */
        mshi_buf_text(buf, signbit(value) ? "-0.0" : "0");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    /* The locale's decimal point, one character of any bytes, becomes "." */
    for (const char *c = text; *c;) {
        size_t same = strspn(c, "0123456789+-e");
        memmove(text + length, c, same);
        length += same;
        c += same;
        if (*c)
            text[length++] = '.';
        c += strcspn(c, "0123456789+-e");
    }
    mshi_buf_add(buf, text, length);
}

mshard_status mshi_buf_status(const struct mshi_buf *buf, mshard_error *err)
{
    if (!buf->failed)
        return MSHARD_OK;
    return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "no memory for a text of more than %zu bytes",
                     buf->size);
}

void mshi_buf_clear(struct mshi_buf *buf)
{
    free(buf->data);
    *buf = (struct mshi_buf){.data = NULL};
}
