/*
 * fail.c - filling a mshard_error
 *
 * Owns the form of paths and messages: both always NUL-terminated, a long path loses its left end, a long
 * message its right end (both marked "..."), newlines in a message become spaces.
 *
 * Threads: shared; no state.
 */
#include "base/fail.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(mshard_error) == 1024, "mshard_error is part of the binary interface");

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void set_path(mshard_error *err, const char *path)
{
    const size_t room = sizeof(err->path) - 1;
    size_t size = path ? strlen(path) : 0;

    if (size <= room) {
        if (path)
            memmove(err->path, path, size);
        err->path[size] = '\0';
        return;
    }
    const char *tail = path + size - (room - 3);
    while (continues_character(*tail))
        tail++;
    size = strlen(tail);
    memmove(err->path + 3, tail, size + 1);
    memcpy(err->path, "...", 3);
}

/* text is what vsnprintf wrote into room bytes; needed is what it returned. */
static void tidy_message(char *text, size_t room, int needed)
{
    if (needed < 0)
        text[0] = '\0';
    if (needed >= 0 && (size_t)needed >= room) {
        size_t end = room - 4;
        while (end > 0 && continues_character(text[end]))
            end--;
        memcpy(text + end, "...", 4);
    }
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

static mshard_status MSHI_PRINTF(6, 0) fill(mshard_error *err, mshard_status code, int sys_errno, const char *path,
                                            uint64_t offset, const char *format, va_list arguments)
{
    char message[sizeof(err->message)]; /* the arguments may point into err */
    int needed;

    if (!err)
        return code;
    needed = vsnprintf(message, sizeof(message), format, arguments);
    tidy_message(message, sizeof(message), needed);
    set_path(err, path);
    memcpy(err->message, message, sizeof(message));
    err->code = code;
    err->sys_errno = sys_errno;
    err->offset = offset;
    return code;
}

mshard_status mshi_fail(mshard_error *err, mshard_status code, const char *path, uint64_t offset, const char *format,
                        ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(err, code, 0, path, offset, format, arguments);
    va_end(arguments);
    return code;
}

/* English whatever the locale, so that messages can be compared and searched for. */
static const char *errno_text(int sys_errno)
{
#ifdef __GLIBC__
    const char *text = strerrordesc_np(sys_errno);
#else
    const char *text = strerror(sys_errno);
#endif
    return text ? text : "unknown system error";
}

mshard_status mshi_fail_errno(mshard_error *err, int sys_errno, const char *path, uint64_t offset, const char *format,
                              ...)
{
    va_list arguments;
    mshard_status code = MSHARD_E_IO;

    if (sys_errno == ENOENT)
        code = MSHARD_E_NOT_FOUND;
    else if (sys_errno == ENOMEM)
        code = MSHARD_E_NOMEM;
    else if (sys_errno == EEXIST)
        code = MSHARD_E_EXISTS;
    va_start(arguments, format);
    fill(err, code, sys_errno, path, offset, format, arguments);
    va_end(arguments);
    if (err) {
        size_t used = strlen(err->message);
        int needed = snprintf(err->message + used, sizeof(err->message) - used, ": %s", errno_text(sys_errno));
        if (needed < 0 || (size_t)needed >= sizeof(err->message) - used)
            tidy_message(err->message, sizeof(err->message), (int)sizeof(err->message));
    }
    return code;
}

void mshi_error_context(mshard_error *err, const char *format, ...)
{
    va_list arguments;
    char context[sizeof(err->message)];
    char message[2 * sizeof(err->message)];
    int needed;

    if (!err)
        return;
    va_start(arguments, format);
    needed = vsnprintf(context, sizeof(context), format, arguments);
    va_end(arguments);
    tidy_message(context, sizeof(context), needed);
    needed = snprintf(message, sizeof(message), "%s: %s", context, err->message);
    memcpy(err->message, message, sizeof(err->message));
    err->message[sizeof(err->message) - 1] = '\0';
    tidy_message(err->message, sizeof(err->message), needed);
}

/* Text that counts what does not fit, as snprintf does. */
struct sink {
    char *text;
    size_t room; /* without the NUL */
    size_t size;
};

static void sink_add(struct sink *sink, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++, sink->size++)
        if (sink->size < sink->room)
            sink->text[sink->size] = data[i];
}

static void sink_add_escaped(struct sink *sink, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t length = mshi_utf8_length(text + i, size - i);
        const unsigned char c = (unsigned char)text[i];
        /* U+0080 to U+009F are control characters too: a terminal acts on them */
        bool control = c < 0x20 || c == 0x7F || (c == 0xC2 && length == 2 && (unsigned char)text[i + 1] < 0xA0);

        if (length && !control) {
            sink_add(sink, text + i, length);
            i += length;
            continue;
        }
        char escape[5];
        snprintf(escape, sizeof(escape), "\\x%02x", c);
        sink_add(sink, escape, 4);
        i++;
        if (control && length == 2) {
            snprintf(escape, sizeof(escape), "\\x%02x", (unsigned char)text[i]);
            sink_add(sink, escape, 4);
            i++;
        }
    }
}

int mshard_error_format(const mshard_error *err, char *text, unsigned long size)
{
    struct sink sink = {.text = text, .room = size ? size - 1 : 0, .size = 0};

    if (err->path[0]) {
        sink_add_escaped(&sink, err->path, strnlen(err->path, sizeof(err->path)));
        sink_add(&sink, ": ", 2);
    }
    if (err->offset != MSHARD_NO_OFFSET) {
        char at[40];
        int n = snprintf(at, sizeof(at), "at byte %llu: ", (unsigned long long)err->offset);
        sink_add(&sink, at, (size_t)n);
    }
    sink_add_escaped(&sink, err->message, strnlen(err->message, sizeof(err->message)));
    if (size)
        text[sink.size < sink.room ? sink.size : sink.room] = '\0';
    return (int)sink.size;
}
