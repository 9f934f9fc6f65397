/*
 * json_scan.c - find members in JSON text without building anything
 *
 * For the text of dataset.json and of a plan, which the library has made or checked. Text that is not JSON gives
 * "not there"; nothing is read outside it, and nothing recurses.
 */
#include "json_scan.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* Past the string that begins at a quote, or NULL. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == '"')
            return at + 1;
    }
    return NULL;
}

static const char *skip_value(const char *at, const char *end)
{
    size_t depth = 0;

    if (at < end && *at == '"')
        return skip_string(at, end);
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            if (at == NULL)
                return NULL;
            continue;
        }
        if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            if (depth == 0)
                return at;
            if (--depth == 0)
                return at + 1;
        } else if (depth == 0 && strchr(", \n\t\r", *at) != NULL) {
            return at;
        }
        at++;
    }
    return depth == 0 ? at : NULL;
}

bool json_enter(struct json_scan value, struct json_scan *rest)
{
    const char *at = skip_space(value.at, value.end);

    if (at >= value.end || (*at != '{' && *at != '['))
        return false;
    *rest = (struct json_scan){.at = at + 1, .end = value.end};
    return true;
}

bool json_next(struct json_scan *rest, struct json_scan *name, struct json_scan *value)
{
    const char *at = skip_space(rest->at, rest->end);

    if (at < rest->end && *at == ',')
        at = skip_space(at + 1, rest->end);
    if (at >= rest->end || *at == '}' || *at == ']')
        return false;
    if (name != NULL) {
        const char *after = *at == '"' ? skip_string(at, rest->end) : NULL;
        if (after == NULL)
            return false;
        *name = (struct json_scan){.at = at, .end = after};
        at = skip_space(after, rest->end);
        if (at >= rest->end || *at != ':')
            return false;
        at = skip_space(at + 1, rest->end);
    }
    const char *after = skip_value(at, rest->end);
    if (after == NULL || after == at)
        return false;
    *value = (struct json_scan){.at = at, .end = after};
    rest->at = after;
    return true;
}

bool json_member(struct json_scan object, const char *wanted, struct json_scan *value)
{
    struct json_scan rest, name;
    const size_t length = strlen(wanted);

    if (!json_enter(object, &rest))
        return false;
    while (json_next(&rest, &name, value))
        if ((size_t)(name.end - name.at) == length + 2 && memcmp(name.at + 1, wanted, length) == 0)
            return true;
    return false;
}

char json_kind(struct json_scan value)
{
    return value.at < value.end ? *value.at : '\0';
}

bool json_to_count(struct json_scan value, uint64_t *number)
{
    uint64_t n = 0;

    if (value.at >= value.end)
        return false;
    for (const char *p = value.at; p < value.end; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(n, UINT64_C(10), &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
            return false;
    *number = n;
    return true;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Four hex digits after \u, or 0xffffffff. */
static uint32_t read_hex4(const char *p, const char *end)
{
    uint32_t code = 0;

    if (end - p < 4)
        return UINT32_MAX;
    for (int i = 0; i < 4; i++) {
        const char c = p[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return UINT32_MAX;
        code = code << 4 | (uint32_t)digit;
    }
    return code;
}

char *json_to_string(struct json_scan value)
{
    const char *p = value.at, *end = value.end;
    const bool quoted = p < end && *p == '"';
    char *text = malloc((size_t)(end - p) + 1); /* decoding never makes it longer */
    size_t n = 0;

    if (text == NULL)
        return NULL;
    for (p += quoted ? 1 : 0, end -= quoted ? 1 : 0; p < end; p++) {
        if (!quoted || *p != '\\' || p + 1 >= end) {
            text[n++] = *p;
            continue;
        }
        p++;
        if (*p == 'u') {
            uint32_t code = read_hex4(p + 1, end), low;
            if (code == UINT32_MAX)
                continue;
            p += 4;
            if (code >= 0xd800 && code < 0xdc00 && end - p > 6 && p[1] == '\\' && p[2] == 'u' &&
                (low = read_hex4(p + 3, end)) >= 0xdc00 && low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                p += 6;
            }
            n += put_utf8(text + n, code);
        } else {
            const char *from = "bfnrt", *at = strchr(from, *p);
            text[n++] = at != NULL ? "\b\f\n\r\t"[at - from] : *p;
        }
    }
    text[n] = '\0';
    return text;
}
