/*
 * bytes.h - little-endian integers in files, overflow-checked arithmetic
 *
 * Disk integers are wrapper types of alignment 1: the compiler refuses to use one as a number.
 */
#ifndef MSHI_BASE_BYTES_H
#define MSHI_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct { uint8_t b[2]; } mshi_le16;
typedef struct { uint8_t b[4]; } mshi_le32;
typedef struct { uint8_t b[8]; } mshi_le64;

static inline uint16_t mshi_le16_load(const mshi_le16 *p) { return (uint16_t)(p->b[0] | p->b[1] << 8); }
static inline uint32_t mshi_le32_load(const mshi_le32 *p)
{
    return (uint32_t)p->b[0] | (uint32_t)p->b[1] << 8 | (uint32_t)p->b[2] << 16 | (uint32_t)p->b[3] << 24;
}
static inline uint64_t mshi_le64_load(const mshi_le64 *p)
{
    return (uint64_t)p->b[0] | (uint64_t)p->b[1] << 8 | (uint64_t)p->b[2] << 16 | (uint64_t)p->b[3] << 24 |
           (uint64_t)p->b[4] << 32 | (uint64_t)p->b[5] << 40 | (uint64_t)p->b[6] << 48 | (uint64_t)p->b[7] << 56;
}
static inline void mshi_le16_store(mshi_le16 *p, uint16_t v)
{
    p->b[0] = (uint8_t)v;
    p->b[1] = (uint8_t)(v >> 8);
}
static inline void mshi_le32_store(mshi_le32 *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p->b[i] = (uint8_t)(v >> (8 * i));
}
static inline void mshi_le64_store(mshi_le64 *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p->b[i] = (uint8_t)(v >> (8 * i));
}

/* True when the result does not fit; *r is then undefined. */
static inline bool mshi_add_overflow(uint64_t a, uint64_t b, uint64_t *r) { return __builtin_add_overflow(a, b, r); }
static inline bool mshi_mul_overflow(uint64_t a, uint64_t b, uint64_t *r) { return __builtin_mul_overflow(a, b, r); }

/* v rounded up to a multiple of align (a power of two); false when that does not fit. */
static inline bool mshi_align_up(uint64_t v, uint64_t align, uint64_t *r)
{
    uint64_t t;
    if (mshi_add_overflow(v, align - 1, &t))
        return false;
    *r = t & ~(align - 1);
    return true;
}

#endif
