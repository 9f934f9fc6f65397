/* hash.h - XXH3, the only place that knows xxHash */
#ifndef MSHI_BASE_HASH_H
#define MSHI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct mshi_hash128 {
    uint64_t high, low;
};
uint64_t mshi_hash64(const void *data, size_t size, uint64_t seed);
struct mshi_hash128 mshi_hash128(const void *data, size_t size);

/* Streaming XXH3-128 over many pieces. */
struct mshi_hash_stream;
struct mshi_hash_stream *mshi_hash_stream_new(void); /* NULL: out of memory */
void mshi_hash_stream_add(struct mshi_hash_stream *s, const void *data, size_t size);
struct mshi_hash128 mshi_hash_stream_end(struct mshi_hash_stream *s); /* frees */

/* 32 lower-case hex digits and NUL: high then low, the canonical XXH128 form. */
void mshi_hash128_hex(struct mshi_hash128 h, char text[33]);

#endif
