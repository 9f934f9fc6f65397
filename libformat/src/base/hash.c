/*
 * hash.c - XXH3, the only place that knows xxHash
 *
 * The values are those of xxHash's XXH3_64bits_withSeed and XXH3_128bits (seed 0), stable since xxHash 0.8. Where the
 * library was built with run-time dispatch (x86-64, as Debian's is), its header maps the same names to AVX2 and AVX-512
 * code of the same values: 8 -> 44 GB/s on cached data, verify 4.8 -> 5.8 GB/s a thread (bench_read).
 */
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif
#endif

uint64_t mshi_hash64(const void *data, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size, seed);
}

struct mshi_hash128 mshi_hash128(const void *data, size_t size)
{
    const XXH128_hash_t h = XXH3_128bits(data, size);

    return (struct mshi_hash128){.high = h.high64, .low = h.low64};
}

/* mshi_hash_stream is XXH3_state_t under another name: it is never defined. */
static XXH3_state_t *state_of(struct mshi_hash_stream *s)
{
    return (XXH3_state_t *)(void *)s;
}

struct mshi_hash_stream *mshi_hash_stream_new(void)
{
    XXH3_state_t *state = XXH3_createState();

    if (state && XXH3_128bits_reset(state) != XXH_OK) {
        XXH3_freeState(state);
        state = NULL;
    }
    return (struct mshi_hash_stream *)(void *)state;
}

void mshi_hash_stream_add(struct mshi_hash_stream *s, const void *data, size_t size)
{
    if (size)
        XXH3_128bits_update(state_of(s), data, size); /* fails for NULL data only */
}

struct mshi_hash128 mshi_hash_stream_end(struct mshi_hash_stream *s)
{
    const XXH128_hash_t h = XXH3_128bits_digest(state_of(s));

    XXH3_freeState(state_of(s));
    return (struct mshi_hash128){.high = h.high64, .low = h.low64};
}

void mshi_hash128_hex(struct mshi_hash128 h, char text[33])
{
    snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, h.high, h.low);
}
