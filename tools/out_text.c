/*
 * out_text.c - words, text and numbers for people
 *
 * Owns the state of standard output: color on or off, whether a write failed. Numbers never depend on the locale.
 */
#include "out.h"

#include "cli.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    FILE *file; /* instead of standard output; NULL: that */
    bool color;
    int lost; /* errno of the first failed write */
    void (*before)(void *context);
    void (*after)(void *context);
    void *context;
} state;

void say_around(void (*before)(void *context), void (*after)(void *context), void *context)
{
    state.before = before;
    state.after = after;
    state.context = context;
}

static void say_line(const char *text)
{
    char *safe = escaped(text, strlen(text));

    if (state.before != NULL)
        state.before(state.context);
    (void)fprintf(stderr, "mshard: %s\n", safe);
    if (state.after != NULL)
        state.after(state.context);
    free(safe);
}

void say(const char *format, ...)
{
    char text[4096];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    say_line(text);
}

void say_error(const mshard_error *err, const char *next, ...)
{
    char text[4096];
    int n = mshard_error_format(err, text, sizeof text - 1024);
    va_list list;

    if (n < 0 || (size_t)n >= sizeof text - 1024)
        n = (int)strlen(text);
    if (next != NULL) {
        n += snprintf(text + n, sizeof text - (size_t)n, " (next: ");
        va_start(list, next);
        n += vsnprintf(text + n, sizeof text - (size_t)n - 1, next, list);
        va_end(list);
        if ((size_t)n < sizeof text - 1)
            memcpy(text + n, ")", 2);
    }
    say_line(text);
}

int exit_of(mshard_status status)
{
    switch (status) {
    case MSHARD_OK:
    case MSHARD_END:
        return TOOL_DONE;
    case MSHARD_E_INVALID:
        return TOOL_USAGE;
    case MSHARD_E_CANCELLED:
        return TOOL_INTERRUPTED;
    default:
        return TOOL_FAILED;
    }
}

void out_color(bool on)
{
    state.color = on;
}

bool out_has_color(void)
{
    return state.color;
}

void out_style(enum out_style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[1;31m"};

    if (state.color)
        out_bytes(codes[style], strlen(codes[style]));
}

static FILE *stream(void)
{
    return state.file != NULL ? state.file : stdout;
}

void out_to(FILE *file)
{
    state.file = file;
}

void out_bytes(const void *bytes, size_t size)
{
    if (state.lost == 0 && fwrite(bytes, 1, size, stream()) != size)
        state.lost = errno != 0 ? errno : EIO;
}

void out(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (state.lost == 0 && vfprintf(stream(), format, list) < 0)
        state.lost = errno != 0 ? errno : EIO;
    va_end(list);
}

void out_escaped(const void *bytes, size_t size)
{
    char *text = escaped(bytes, size);

    out_bytes(text, strlen(text));
    free(text);
}

void out_name(const char *name)
{
    out_escaped(name, strlen(name));
}

bool out_lost(void)
{
    return state.lost != 0;
}

bool out_is_terminal(void)
{
    return isatty(STDOUT_FILENO) == 1;
}

void out_flush(void)
{
    errno = 0;
    if (fflush(stdout) != 0 && state.lost == 0)
        state.lost = errno != 0 ? errno : EIO;
}

int out_finish(int code)
{
    out_flush();
    if (state.lost == 0 && ferror(stdout) != 0)
        state.lost = EIO;
    if (state.lost == EPIPE) { /* as if the signal had not been held back: quietly */
        (void)signal(SIGPIPE, SIG_DFL);
        (void)raise(SIGPIPE);
        return TOOL_FAILED;
    }
    if (state.lost != 0) {
        say("standard output: %s", strerror(state.lost));
        return TOOL_FAILED;
    }
    return code;
}

static uint32_t utf8_tail(const uint8_t *p, size_t n, uint32_t code)
{
    for (size_t i = 1; i <= n; i++)
        code = code << 6 | (p[i] & 0x3fu);
    return code;
}

size_t utf8_next(const void *bytes, size_t size, uint32_t *code)
{
    const uint8_t *p = bytes;
    size_t n;

    if (size == 0)
        return 0;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    n = p[0] >= 0xc2 && p[0] < 0xe0 ? 1 : p[0] >= 0xe0 && p[0] < 0xf0 ? 2 : p[0] >= 0xf0 && p[0] < 0xf5 ? 3 : 0;
    if (n == 0 || n >= size)
        return 0;
    for (size_t i = 1; i <= n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    *code = utf8_tail(p, n, p[0] & (0x3fu >> n));
    if ((n == 2 && *code < 0x800) || (n == 3 && *code < 0x10000) || *code > 0x10ffff ||
        (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return n + 1;
}

/* Characters that move the cursor, change direction or hide. */
static bool is_unsafe(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == '\\' || code == 0x2028 || code == 0x2029 ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e ||
           code == 0x200f || code == 0xfeff || (code >= 0xe0000 && code < 0xe1000);
}

char *escaped(const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    char *text = size < SIZE_MAX / 4 - 1 ? malloc(size * 4 + 1) : NULL;
    size_t n = 0;

    if (text == NULL) {
        (void)fputs("mshard: out of memory\n", stderr);
        exit(TOOL_FAILED);
    }
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        size_t step = utf8_next(p + i, size - i, &code);
        const bool keep = step != 0 && !is_unsafe(code);

        if (step == 0)
            step = 1;
        if (keep) {
            memcpy(text + n, p + i, step);
            n += step;
        } else if (code == '\\' && step == 1 && p[i] == '\\') {
            /* names with a backslash are rare and harmless; doubling it would break copy and paste of messages */
            text[n++] = '\\';
        } else {
            for (size_t k = 0; k < step; k++)
                n += (size_t)sprintf(text + n, "\\x%02x", p[i + k]);
        }
        i += step;
    }
    text[n] = '\0';
    return text;
}

static size_t code_width(uint32_t code)
{
    if ((code >= 0x300 && code < 0x370) || (code >= 0x200b && code < 0x2010) || (code >= 0xfe00 && code < 0xfe10))
        return 0;
    if ((code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xa4d0) || (code >= 0xac00 && code < 0xd7a4) ||
        (code >= 0xf900 && code < 0xfb00) || (code >= 0xfe30 && code < 0xfe70) || (code >= 0xff00 && code < 0xff61) ||
        (code >= 0x1f300 && code < 0x1fb00) || (code >= 0x20000 && code < 0x3fffe))
        return 2;
    return 1;
}

size_t text_width(const char *text)
{
    const size_t size = strlen(text);
    size_t width = 0, step;

    for (size_t i = 0; i < size; i += step) {
        uint32_t code = 'x';
        step = utf8_next(text + i, size - i, &code);
        if (step == 0)
            step = 1;
        width += code_width(code);
    }
    return width;
}

void text_cut(char *text, size_t columns)
{
    const size_t size = strlen(text);
    size_t width = 0, step, keep = 0;

    if (text_width(text) <= columns)
        return;
    for (size_t i = 0; i < size; i += step) {
        uint32_t code = 'x';
        step = utf8_next(text + i, size - i, &code);
        if (step == 0)
            step = 1;
        width += code_width(code);
        if (width + 3 > columns)
            break;
        keep = i + step;
    }
    if (keep + 3 <= size)
        memcpy(text + keep, "...", 4);
    else
        text[keep] = '\0';
}

const char *text_bytes(char text[TEXT_SIZE], uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024.0;
    size_t unit = 0;

    if (bytes < 1024) {
        (void)snprintf(text, TEXT_SIZE, "%u B", (unsigned)bytes);
        return text;
    }
    for (; value >= 1023.95 && unit < 5; unit++)
        value /= 1024.0;
    (void)snprintf(text, TEXT_SIZE, "%.1f %s", value, units[unit]);
    return text;
}

const char *text_count(char text[TEXT_SIZE], uint64_t count)
{
    char digits[24];
    const size_t n = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[k++] = ',';
        text[k++] = digits[i];
    }
    text[k] = '\0';
    return text;
}

const char *text_real(char text[TEXT_SIZE], double value)
{
    const double size = fabs(value);

    if (isnan(value))
        (void)snprintf(text, TEXT_SIZE, "nan");
    else if (isinf(value))
        (void)snprintf(text, TEXT_SIZE, value > 0 ? "inf" : "-inf");
    else if (value == floor(value) && size < 1e15)
        (void)snprintf(text, TEXT_SIZE, "%.0f", value == 0 ? 0.0 : value);
    else if (size >= 1e6 || size < 1e-3)
        (void)snprintf(text, TEXT_SIZE, "%.4g", value);
    else
        (void)snprintf(text, TEXT_SIZE, "%.*f", size < 1 ? 4 : size < 100 ? 3 : 2, value);
    return text;
}

const char *text_exact(char text[TEXT_SIZE], double value)
{
    if (value == floor(value) && fabs(value) < 1e15) {
        (void)snprintf(text, TEXT_SIZE, signbit(value) && value == 0 ? "-0.0" : "%.0f", value);
        return text;
    }
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, TEXT_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}
