/*
 * npy.c - parse .npy headers; byte order and index order of array elements
 */
#include "ingest/npy.h"

#include "base/bytes.h"
#include "ingest/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct literal {
    const char *begin, *at, *end;
    const char *path;
    uint64_t offset; /* of begin in path */
    mshard_error *err;
};

static const struct {
    char code[3];
    mshard_dtype dtype;
} dtypes[] = {
    {"u1", MSHARD_UINT8},   {"u2", MSHARD_UINT16},  {"u4", MSHARD_UINT32},  {"u8", MSHARD_UINT64},
    {"i1", MSHARD_INT8},    {"i2", MSHARD_INT16},   {"i4", MSHARD_INT32},   {"i8", MSHARD_INT64},
    {"f2", MSHARD_FLOAT16}, {"f4", MSHARD_FLOAT32}, {"f8", MSHARD_FLOAT64}, {"b1", MSHARD_BOOL},
};

bool mshi_npy_dtype(const char *descr, mshard_dtype *dtype, bool *swap)
{
    if (!*descr || !strchr("<>|=", *descr))
        return false;
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(*dtypes); i++)
        if (strcmp(descr + 1, dtypes[i].code) == 0) {
            *dtype = dtypes[i].dtype;
            *swap = *descr == '>' && mshard_dtype_size(*dtype) > 1;
            return *descr != '|' || mshard_dtype_size(*dtype) == 1;
        }
    return false;
}

static mshard_status refuse_dtype(const char *path, uint64_t offset, const char *descr, mshard_error *err)
{
    const char kind = *descr && strchr("<>|=", *descr) ? descr[1] : descr[0];
    const char *what = kind == 'O'   ? "Python objects (a pickle, which is never loaded)"
                       : kind == 'S' ? "byte strings"
                       : kind == 'U' ? "strings"
                       : kind == 'c' ? "complex numbers"
                       : kind == 'M' ? "dates"
                       : kind == 'm' ? "time differences"
                       : kind == 'V' ? "untyped bytes or a structure"
                       : kind == 'f' ? "floats of a size there is no dtype for"
                                     : "elements of an unknown kind";

    return mshi_fail(err, MSHARD_E_FORMAT, path, offset, "dtype '%.40s' cannot be stored: %s", descr, what);
}

/* ---- the literal ---- */

static mshard_status syntax(const struct literal *l, const char *expected)
{
    char shown[24];
    const size_t left = (size_t)(l->end - l->at);
    const int size = left < sizeof(shown) - 1 ? (int)left : (int)sizeof(shown) - 1;

    for (int i = 0; i < size; i++)
        shown[i] = l->at[i] >= 0x20 && l->at[i] < 0x7F ? l->at[i] : '.';
    shown[size] = '\0';
    return mshi_fail(l->err, MSHARD_E_FORMAT, l->path, l->offset + (uint64_t)(l->at - l->begin),
                     "npy header: %s expected, found '%s'", expected, shown);
}

static void blanks(struct literal *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\n' || *l->at == '\t' || *l->at == '\r'))
        l->at++;
}

static bool take(struct literal *l, char c)
{
    blanks(l);
    if (l->at == l->end || *l->at != c)
        return false;
    l->at++;
    return true;
}

/* 'text' or "text" without escapes, as numpy writes it; cut at size - 1. */
static mshard_status string(struct literal *l, char *text, size_t size)
{
    blanks(l);
    if (l->at == l->end || (*l->at != '\'' && *l->at != '"'))
        return syntax(l, "a string");
    const char *from = l->at + 1;
    const char *stop = memchr(from, *l->at, (size_t)(l->end - from));
    if (!stop || memchr(from, '\\', (size_t)(stop - from)))
        return syntax(l, "a plain string");
    const size_t length = (size_t)(stop - from) < size - 1 ? (size_t)(stop - from) : size - 1;
    memcpy(text, from, length);
    text[length] = '\0';
    l->at = stop + 1;
    return MSHARD_OK;
}

static mshard_status boolean(struct literal *l, bool *value)
{
    blanks(l);
    const size_t left = (size_t)(l->end - l->at);

    if (left >= 4 && memcmp(l->at, "True", 4) == 0) {
        *value = true;
        l->at += 4;
        return MSHARD_OK;
    }
    if (left >= 5 && memcmp(l->at, "False", 5) == 0) {
        *value = false;
        l->at += 5;
        return MSHARD_OK;
    }
    return syntax(l, "True or False");
}

static mshard_status number(struct literal *l, uint64_t *value)
{
    blanks(l);
    if (l->at == l->end || *l->at < '0' || *l->at > '9')
        return syntax(l, "a dimension");
    for (*value = 0; l->at < l->end && *l->at >= '0' && *l->at <= '9'; l->at++)
        if (mshi_mul_overflow(*value, 10, value) || mshi_add_overflow(*value, (uint64_t)(*l->at - '0'), value))
            return syntax(l, "a dimension below 2^64");
    if (l->at < l->end && *l->at == 'L') /* Python 2 */
        l->at++;
    return MSHARD_OK;
}

static mshard_status shape(struct literal *l, struct mshi_npy *npy)
{
    npy->ndim = 0;
    if (!take(l, '('))
        return syntax(l, "a tuple");
    while (!take(l, ')')) {
        uint64_t dimension = 0;

        MSHI_TRY(number(l, &dimension));
        if (npy->ndim == MSHI_NPY_MAX_DIMS)
            return mshi_fail(l->err, MSHARD_E_LIMIT, l->path, l->offset, "more than %d dimensions", MSHI_NPY_MAX_DIMS);
        npy->shape[npy->ndim++] = dimension;
        if (!take(l, ',')) {
            if (npy->ndim == 1 || !take(l, ')'))
                return syntax(l, "a comma");
            break;
        }
    }
    return MSHARD_OK;
}

static mshard_status member(struct literal *l, struct mshi_npy *npy, unsigned *seen)
{
    char key[24], descr[64];
    unsigned bit;

    MSHI_TRY(string(l, key, sizeof(key)));
    if (!take(l, ':'))
        return syntax(l, "':'");
    if (strcmp(key, "descr") == 0) {
        bit = 1;
        blanks(l);
        if (l->at < l->end && *l->at == '[')
            return mshi_fail(l->err, MSHARD_E_FORMAT, l->path, l->offset,
                             "structured dtype cannot be stored: save each of its fields as an array of its own");
        MSHI_TRY(string(l, descr, sizeof(descr)));
        if (!mshi_npy_dtype(descr, &npy->dtype, &npy->swap))
            return refuse_dtype(l->path, l->offset, descr, l->err);
    } else if (strcmp(key, "fortran_order") == 0) {
        bit = 2;
        MSHI_TRY(boolean(l, &npy->fortran));
    } else if (strcmp(key, "shape") == 0) {
        bit = 4;
        MSHI_TRY(shape(l, npy));
    } else {
        return mshi_fail(l->err, MSHARD_E_FORMAT, l->path, l->offset, "npy header: unknown member '%s'", key);
    }
    if (*seen & bit)
        return mshi_fail(l->err, MSHARD_E_FORMAT, l->path, l->offset, "npy header: '%s' is there twice", key);
    *seen |= bit;
    return MSHARD_OK;
}

static mshard_status dictionary(struct literal *l, struct mshi_npy *npy)
{
    unsigned seen = 0;

    if (!take(l, '{'))
        return syntax(l, "'{'");
    while (!take(l, '}')) {
        MSHI_TRY(member(l, npy, &seen));
        if (!take(l, ',')) {
            if (!take(l, '}'))
                return syntax(l, "'}'");
            break;
        }
    }
    blanks(l);
    if (l->at != l->end)
        return syntax(l, "the end of the header");
    if (seen != 7)
        return mshi_fail(l->err, MSHARD_E_FORMAT, l->path, l->offset,
                         "npy header: descr, fortran_order and shape are needed");
    return MSHARD_OK;
}

/* ---- the file ---- */

mshard_status mshi_npy_header_size(const void *head, size_t size, const char *path, uint64_t *header_size,
                                   mshard_error *err)
{
    const uint8_t *bytes = head;
    uint32_t length;

    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return mshi_fail(err, MSHARD_E_FORMAT, path, 0, "not a .npy array");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return mshi_fail(err, MSHARD_E_VERSION, path, 6, "unsupported npy version %u.%u", bytes[6], bytes[7]);
    const size_t before = bytes[6] == 1 ? 10 : 12;
    if (size < before)
        return mshi_fail(err, MSHARD_E_TRUNCATED, path, size, "npy header: cut after %zu bytes", size);
    length = (uint32_t)(bytes[8] | bytes[9] << 8);
    if (bytes[6] > 1)
        length |= (uint32_t)bytes[10] << 16 | (uint32_t)bytes[11] << 24;
    if (length > MSHI_NPY_MAX_HEADER)
        return mshi_fail(err, MSHARD_E_LIMIT, path, 8, "npy header of %" PRIu32 " bytes, at most %" PRIu32 " are read",
                         length, MSHI_NPY_MAX_HEADER);
    *header_size = before + length;
    return MSHARD_OK;
}

mshard_status mshi_npy_parse(const void *head, size_t size, const char *path, uint64_t offset, struct mshi_npy *npy,
                             mshard_error *err)
{
    const char *bytes = head;
    uint64_t header_size;

    *npy = (struct mshi_npy){.ndim = 0};
    MSHI_TRY(mshi_npy_header_size(head, size, path, &header_size, err));
    const size_t before = bytes[6] == 1 ? 10 : 12;
    if (size < header_size)
        return mshi_fail(err, MSHARD_E_TRUNCATED, path, offset + size,
                         "npy header: expected %" PRIu64 " bytes, found %zu", header_size, size);
    if (memchr(bytes + before, 0, (size_t)header_size - before))
        return mshi_fail(err, MSHARD_E_FORMAT, path, offset + before, "npy header: a zero byte in it");
    struct literal literal = {bytes + before, bytes + before, bytes + header_size, path, offset + before, err};
    MSHI_TRY(dictionary(&literal, npy));
    npy->data_offset = header_size;
    npy->data_size = mshard_dtype_size(npy->dtype);
    for (uint32_t d = 0; d < npy->ndim; d++)
        if (mshi_mul_overflow(npy->data_size, npy->shape[d], &npy->data_size) && npy->shape[d])
            return mshi_fail(err, MSHARD_E_LIMIT, path, offset + before, "the shape says more than 2^64 bytes");
    if (npy->ndim < 2)
        npy->fortran = false;
    return MSHARD_OK;
}

/* ---- elements ---- */

void mshi_swap_bytes(void *data, uint64_t n, size_t size)
{
    uint8_t *bytes = data; /* memcpy keeps it right for any alignment; compilers make vector shuffles of the loops */

    if (size == 2) {
        for (uint64_t i = 0; i < n; i++) {
            uint16_t v;
            memcpy(&v, bytes + 2 * i, 2);
            v = __builtin_bswap16(v);
            memcpy(bytes + 2 * i, &v, 2);
        }
    } else if (size == 4) {
        for (uint64_t i = 0; i < n; i++) {
            uint32_t v;
            memcpy(&v, bytes + 4 * i, 4);
            v = __builtin_bswap32(v);
            memcpy(bytes + 4 * i, &v, 4);
        }
    } else if (size == 8) {
        for (uint64_t i = 0; i < n; i++) {
            uint64_t v;
            memcpy(&v, bytes + 8 * i, 8);
            v = __builtin_bswap64(v);
            memcpy(bytes + 8 * i, &v, 8);
        }
    }
}

void mshi_make_bool(void *data, uint64_t n)
{
    uint8_t *bytes = data;

    for (uint64_t i = 0; i < n; i++)
        bytes[i] = bytes[i] != 0;
}

/* One column of the transposition: n elements side by side become one element in each of n records. */
static void scatter(const uint8_t *from, uint64_t n, size_t size, uint8_t *to, uint64_t stride)
{
    if (size == 1) {
        for (uint64_t r = 0; r < n; r++)
            to[r * stride] = from[r];
        return;
    }
    for (uint64_t r = 0; r < n; r++, from += size, to += stride) {
        if (size == 8)
            memcpy(to, from, 8);
        else if (size == 4)
            memcpy(to, from, 4);
        else
            memcpy(to, from, 2);
    }
}

void mshi_gather_fortran(const void *data, uint64_t all, uint32_t ndim, const uint64_t *shape_of, size_t size,
                         uint64_t i, uint64_t n, void *to)
{
    uint64_t index[MSHARD_MAX_DIMS] = {0};
    uint64_t elements = 1, c;
    const uint64_t block = 64; /* records at once: their lines of the output stay in the cache */

    for (uint32_t d = 0; d < ndim; d++)
        elements *= shape_of[d];
    for (uint64_t first = 0; first < n; first += block) {
        const uint64_t count = n - first < block ? n - first : block;

        memset(index, 0, sizeof(index));
        for (c = 0; c < elements; c++) {
            uint64_t at = 0; /* position of this element among those of one record, first index fastest */

            for (uint32_t d = ndim; d-- > 0;)
                at = at * shape_of[d] + index[d];
            scatter((const uint8_t *)data + (at * all + i + first) * size, count, size,
                    (uint8_t *)to + (first * elements + c) * size, elements * size);
            for (uint32_t d = ndim; d-- > 0;) {
                if (++index[d] < shape_of[d])
                    break;
                index[d] = 0;
            }
        }
    }
}
