/*
 * stats_kernels.c - adding up values of each dtype
 *
 * uint8 is the hot path of packing: SSE2, which every x86-64 has, adds 16 lanes at a time; a lane stays in one
 * channel because a step is 48 bytes, a multiple of 1, 2, 3 and 4. Other machines take the plain loop. Integer sums
 * are exact, so both give the same figures.
 * Float figures depend on the order of additions, which is spelled out here, and on no compiler switch but
 * contraction (built with -ffp-contract=off).
 */
#include "format/stats_parts.h"

#include <float.h>
#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __clang__
#pragma clang fp contract(off)
#endif

static void note_range(struct mshi_exact *exact, uint64_t low, uint64_t high)
{
    if (low < exact->low)
        exact->low = low;
    if (high > exact->high)
        exact->high = high;
}

static void note_sums(struct mshi_exact *exact, mshi_i128 sum, mshi_u128 squares)
{
    exact->sum += sum;
    exact->carry += __builtin_add_overflow(exact->squares, squares, &exact->squares);
}

#ifdef __SSE2__
enum {
    STEP = 48,
    PAIRS = 128,    /* of steps whose sums fit 16 bits: 256 * 255 < 2^16 */
    CALL = 1 << 16, /* steps whose sums of squares fit 32 bits: 2^16 * 255^2 < 2^32 */
};

/* 16 lanes of 32-bit sums and sums of squares, and of least and greatest. */
struct lanes {
    __m128i sum[4], squares[4], low, high;
};

static void add_words(__m128i sums[4], __m128i low_half, __m128i high_half)
{
    const __m128i zero = _mm_setzero_si128();

    sums[0] = _mm_add_epi32(sums[0], _mm_unpacklo_epi16(low_half, zero));
    sums[1] = _mm_add_epi32(sums[1], _mm_unpackhi_epi16(low_half, zero));
    sums[2] = _mm_add_epi32(sums[2], _mm_unpacklo_epi16(high_half, zero));
    sums[3] = _mm_add_epi32(sums[3], _mm_unpackhi_epi16(high_half, zero));
}

static inline __m128i square_pairs(__m128i words)
{
    return _mm_madd_epi16(words, words);
}

/*
 * pairs * 2 steps of 16 bytes. Two steps go together: multiply-add of a lane of both saves half of the widening.
 * A loop over 16 of 48 bytes, three times, beats one over 48: its sums stay in registers.
 */
static void add_pairs(struct lanes *lanes, const uint8_t *data, size_t pairs)
{
    const __m128i zero = _mm_setzero_si128();
    __m128i sum_a = zero, sum_b = zero, low = lanes->low, high = lanes->high;
    __m128i q0 = lanes->squares[0], q1 = lanes->squares[1], q2 = lanes->squares[2], q3 = lanes->squares[3];

    for (size_t i = 0; i < pairs; i++, data += 2 * STEP) {
        const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)data);
        const __m128i w = _mm_loadu_si128((const __m128i *)(const void *)(data + STEP));
        const __m128i va = _mm_unpacklo_epi8(v, zero), vb = _mm_unpackhi_epi8(v, zero);
        const __m128i wa = _mm_unpacklo_epi8(w, zero), wb = _mm_unpackhi_epi8(w, zero);

        low = _mm_min_epu8(low, _mm_min_epu8(v, w));
        high = _mm_max_epu8(high, _mm_max_epu8(v, w));
        sum_a = _mm_add_epi16(sum_a, _mm_add_epi16(va, wa));
        sum_b = _mm_add_epi16(sum_b, _mm_add_epi16(vb, wb));
        q0 = _mm_add_epi32(q0, square_pairs(_mm_unpacklo_epi16(va, wa)));
        q1 = _mm_add_epi32(q1, square_pairs(_mm_unpackhi_epi16(va, wa)));
        q2 = _mm_add_epi32(q2, square_pairs(_mm_unpacklo_epi16(vb, wb)));
        q3 = _mm_add_epi32(q3, square_pairs(_mm_unpackhi_epi16(vb, wb)));
    }
    add_words(lanes->sum, sum_a, sum_b);
    lanes->squares[0] = q0;
    lanes->squares[1] = q1;
    lanes->squares[2] = q2;
    lanes->squares[3] = q3;
    lanes->low = low;
    lanes->high = high;
}

/* column: which 16 bytes of each step. */
static void add_lanes(struct mshi_exact *exact, uint32_t channels, const struct lanes *lanes, unsigned column)
{
    uint32_t sum[16], squares[16];
    uint8_t low[16], high[16];

    memcpy(sum, lanes->sum, sizeof(sum));
    memcpy(squares, lanes->squares, sizeof(squares));
    memcpy(low, &lanes->low, sizeof(low));
    memcpy(high, &lanes->high, sizeof(high));
    for (unsigned i = 0; i < 16; i++) {
        struct mshi_exact *const to = &exact[(16 * column + i) % channels];

        note_sums(to, sum[i], squares[i]);
        note_range(to, low[i], high[i]);
    }
}

/* Returns the elements it has added, a multiple of 96. */
static size_t add_most_bytes(struct mshi_exact *exact, uint32_t channels, const uint8_t *data, size_t elements)
{
    const size_t pairs = elements / (2 * STEP);

    for (size_t first = 0; first < pairs; first += CALL / 2) {
        const size_t end = pairs - first < CALL / 2 ? pairs : first + CALL / 2;
        struct lanes lanes[3];

        for (unsigned column = 0; column < 3; column++)
            lanes[column] = (struct lanes){.low = _mm_set1_epi8(-1)};
        for (size_t p = first; p < end; p += PAIRS) /* 12 KiB at a time: the second and third look find it in cache */
            for (unsigned column = 0; column < 3; column++)
                add_pairs(&lanes[column], data + 2 * STEP * p + 16 * column, end - p < PAIRS ? end - p : PAIRS);
        for (unsigned column = 0; column < 3; column++)
            add_lanes(exact, channels, &lanes[column], column);
    }
    return pairs * 2 * STEP;
}
#else
static size_t add_most_bytes(struct mshi_exact *exact, uint32_t channels, const uint8_t *data, size_t elements)
{
    (void)exact, (void)channels, (void)data, (void)elements;
    return 0;
}
#endif

void mshi_stats_add_bytes(struct mshi_exact *exact, uint32_t channels, const uint8_t *data, size_t elements)
{
    size_t first = 0;

    if (elements >= 256) /* below, taking the lanes apart costs more than they save */
        first = add_most_bytes(exact, channels, data, elements);
    for (uint32_t c = 0; c < channels; c++) {
        uint64_t sum = 0, squares = 0;
        uint8_t low = UINT8_MAX, high = 0;

        if (first + c >= elements)
            break;
        for (size_t i = first + c; i < elements; i += channels) {
            const uint8_t v = data[i];
            sum += v;
            squares += (uint64_t)v * v;
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        note_sums(&exact[c], (mshi_i128)sum, squares);
        note_range(&exact[c], low, high);
    }
}

int64_t mshi_stats_integer(mshard_dtype dtype, const void *data, size_t i)
{
    const uint8_t *const at = (const uint8_t *)data + i * mshard_dtype_size(dtype);
    uint16_t v16;
    uint32_t v32;
    uint64_t v64;

    switch (mshard_dtype_size(dtype)) {
    case 1:
        return dtype == MSHARD_INT8 ? (int8_t)*at : *at;
    case 2:
        memcpy(&v16, at, sizeof(v16));
        return dtype == MSHARD_INT16 ? (int16_t)v16 : v16;
    case 4:
        memcpy(&v32, at, sizeof(v32));
        return dtype == MSHARD_INT32 ? (int32_t)v32 : (int64_t)v32;
    default:
        memcpy(&v64, at, sizeof(v64));
        return (int64_t)v64;
    }
}

void mshi_stats_add_integers(struct mshi_exact *exact, uint32_t channels, mshard_dtype dtype, const void *data,
                             size_t elements)
{
    const bool is_signed =
        dtype == MSHARD_INT8 || dtype == MSHARD_INT16 || dtype == MSHARD_INT32 || dtype == MSHARD_INT64;
    uint32_t c = 0;

    for (size_t i = 0; i < elements; i++) {
        const int64_t v = mshi_stats_integer(dtype, data, i);
        const uint64_t size = is_signed && v < 0 ? -(uint64_t)v : (uint64_t)v;
        const uint64_t key = is_signed ? mshi_stats_key(v) : (uint64_t)v;

        note_sums(&exact[c], is_signed ? (mshi_i128)v : (mshi_i128)(uint64_t)v, (mshi_u128)size * size);
        note_range(&exact[c], key, key);
        if (++c == channels)
            c = 0;
    }
}

/* Eight running sums, value i in sum i % 8, then a tree: vector units can do it, and rounding errors stay small. */
static double tree(const double s[8])
{
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

void mshi_stats_add_block(struct mshi_moments *moments, const double *values, uint32_t count)
{
    struct mshi_moments block = {.count = count, .low = DBL_MAX, .high = -DBL_MAX};
    double sums[8] = {0}, squares[8] = {0};

    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        sums[i % 8] += values[i];
    block.sum = tree(sums);
    const double mean = block.sum / count;
    for (uint32_t i = 0; i < count; i++) {
        const double d = values[i] - mean;
        squares[i % 8] += d * d;
        block.low = values[i] < block.low ? values[i] : block.low;
        block.high = values[i] > block.high ? values[i] : block.high;
    }
    block.deviations = tree(squares);
    mshi_stats_join(moments, &block);
}

void mshi_stats_join(struct mshi_moments *into, const struct mshi_moments *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0) {
        *into = *from;
        return;
    }
    const double n = (double)into->count, m = (double)from->count;
    /* Chan, Golub, LeVeque: "Updating formulae and a pairwise algorithm for computing sample variances" */
    const double apart = (from->sum + from->rest) / m - (into->sum + into->rest) / n;
    const double deviations = into->deviations + from->deviations + apart * apart * (n / (n + m)) * m;
    /* Knuth's two-sum: sum + lost is into->sum + from->sum exactly */
    const double sum = into->sum + from->sum;
    const double part = sum - into->sum;
    const double lost = (into->sum - (sum - part)) + (from->sum - part);

    *into = (struct mshi_moments){
        .count = into->count + from->count,
        .sum = sum,
        .rest = into->rest + from->rest + lost,
        .deviations = deviations,
        .low = from->low < into->low ? from->low : into->low,
        .high = from->high > into->high ? from->high : into->high,
    };
}

struct mshi_moments mshi_stats_moments(const struct mshi_stats *stats, uint32_t c)
{
    struct mshi_moments moments = stats->moments[c];

    mshi_stats_add_block(&moments, stats->block + (size_t)c * MSHI_STATS_BLOCK, stats->fill[c]);
    return moments;
}

/* Exact, and without subnormal floats on the way, which the process may have told the CPU to flush to zero. */
static inline double half_value(uint16_t h)
{
    const uint32_t bits = (uint32_t)(h & 0x7FFF) << 13;
    const uint32_t tiny_bits = bits + (UINT32_C(113) << 23), normal_bits = bits + (UINT32_C(112) << 23);
    float tiny, normal;

    if ((h & 0x7C00) == 0x7C00) {
        const double special = h & 0x3FF ? NAN : INFINITY;
        return h & 0x8000 ? -special : special;
    }
    memcpy(&tiny, &tiny_bits, sizeof(tiny));
    memcpy(&normal, &normal_bits, sizeof(normal));
    const double size = h & 0x7C00 ? (double)normal : (double)(tiny - 0x1p-14f);
    return h & 0x8000 ? -size : size;
}

static void widen(double *to, mshard_dtype dtype, const uint8_t *data, size_t n)
{
    uint16_t v16;
    uint32_t v32;
    float f;

    switch (dtype) {
    case MSHARD_FLOAT16:
        for (size_t i = 0; i < n; i++) {
            memcpy(&v16, data + 2 * i, sizeof(v16));
            to[i] = half_value(v16);
        }
        break;
    case MSHARD_BFLOAT16:
        for (size_t i = 0; i < n; i++) {
            memcpy(&v16, data + 2 * i, sizeof(v16));
            v32 = (uint32_t)v16 << 16;
            memcpy(&f, &v32, sizeof(f));
            to[i] = (double)f;
        }
        break;
    case MSHARD_FLOAT32:
        for (size_t i = 0; i < n; i++) {
            memcpy(&f, data + 4 * i, sizeof(f));
            to[i] = (double)f;
        }
        break;
    default:
        memcpy(to, data, n * sizeof(*to));
    }
}

void mshi_stats_add_floats(struct mshi_stats *stats, const void *data, size_t elements)
{
    enum { CHUNK = 1020 }; /* a multiple of 1, 2, 3 and 4 */
    const size_t size = mshard_dtype_size(stats->dtype);
    const uint8_t *from = data;
    double values[CHUNK];
    uint32_t c = 0;

    while (elements) {
        const size_t n = elements < CHUNK ? elements : CHUNK;

        widen(values, stats->dtype, from, n);
        for (size_t i = 0; i < n; i++) {
            const double v = values[i];

            if (fabs(v) <= DBL_MAX) {
                double *const block = stats->block + (size_t)c * MSHI_STATS_BLOCK;

                block[stats->fill[c]++] = v;
                if (stats->fill[c] == MSHI_STATS_BLOCK) {
                    mshi_stats_add_block(&stats->moments[c], block, MSHI_STATS_BLOCK);
                    stats->fill[c] = 0;
                }
            } else if (isnan(v)) {
                stats->nan++;
            } else {
                stats->inf++;
            }
            if (++c == stats->channels)
                c = 0;
        }
        from += n * size;
        elements -= n;
    }
}
