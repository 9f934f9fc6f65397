/* utf8.h - one UTF-8 character at a time, strictly (no overlong forms, surrogates or values above U+10FFFF) */
#ifndef MSHI_BASE_UTF8_H
#define MSHI_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at text (1 to 4); 0 when the bytes there are no character. size is above 0. */
static inline size_t mshi_utf8_length(const char *text, size_t size)
{
    const uint8_t *p = (const uint8_t *)text;
    size_t length;
    uint8_t low = 0x80, high = 0xBF; /* what the second byte may be */

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    if (p[0] < 0xE0) {
        length = 2;
    } else if (p[0] < 0xF0) {
        length = 3;
        if (p[0] == 0xE0)
            low = 0xA0;
        else if (p[0] == 0xED)
            high = 0x9F;
    } else {
        length = 4;
        if (p[0] == 0xF0)
            low = 0x90;
        else if (p[0] == 0xF4)
            high = 0x8F;
    }
    if (size < length || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xBF)
            return 0;
    return length;
}

#endif
