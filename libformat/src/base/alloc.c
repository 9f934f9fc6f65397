/*
 * alloc.c - memory with checked sizes
 *
 * Never asks malloc for more than PTRDIFF_MAX bytes; the error names the bytes that were asked for.
 */
#include "base/alloc.h"

#include "base/bytes.h"
#include "base/fail.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static mshard_status no_memory(uint64_t n, size_t size, mshard_error *err)
{
    uint64_t bytes;

    if (mshi_mul_overflow(n, size, &bytes))
        return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "no memory for %" PRIu64 " items of %zu bytes", n,
                         size);
    return mshi_fail(err, MSHARD_E_NOMEM, NULL, MSHARD_NO_OFFSET, "no memory for %" PRIu64 " bytes", bytes);
}

static bool fits(uint64_t n, size_t size, uint64_t *bytes)
{
    return !mshi_mul_overflow(n, size, bytes) && *bytes <= PTRDIFF_MAX;
}

mshard_status mshi_alloc(uint64_t n, size_t size, void *out_pointer, mshard_error *err)
{
    uint64_t bytes;
    void *p = NULL;

    if (fits(n, size, &bytes))
        p = calloc(1, bytes ? (size_t)bytes : 1);
    memcpy(out_pointer, &p, sizeof(p));
    return p ? MSHARD_OK : no_memory(n, size, err);
}

mshard_status mshi_grow(void *array_pointer, uint64_t *capacity, uint64_t need, size_t size, mshard_error *err)
{
    uint64_t bytes, n;
    void *p, *grown;

    if (need <= *capacity)
        return MSHARD_OK;
    if (mshi_add_overflow(*capacity, *capacity / 2, &n) || n < need)
        n = need;
    if (n < 16 && size <= 64)
        n = 16;
    if (!fits(n, size, &bytes)) {
        n = need;
        if (!fits(n, size, &bytes))
            return no_memory(n, size, err);
    }
    memcpy(&p, array_pointer, sizeof(p));
    grown = realloc(p, bytes ? (size_t)bytes : 1);
    if (!grown)
        return no_memory(n, size, err);
    memcpy(array_pointer, &grown, sizeof(grown));
    *capacity = n;
    return MSHARD_OK;
}

mshard_status mshi_alloc_aligned(size_t align, uint64_t size, void *out_pointer, mshard_error *err)
{
    uint64_t rounded;
    void *p = NULL;

    if (align < sizeof(void *))
        align = sizeof(void *);
    if (mshi_align_up(size ? size : 1, align, &rounded) && rounded <= PTRDIFF_MAX &&
        posix_memalign(&p, align, (size_t)rounded) != 0)
        p = NULL;
    memcpy(out_pointer, &p, sizeof(p));
    return p ? MSHARD_OK : no_memory(size, 1, err);
}

mshard_status mshi_strdup(const char *text, char **out, mshard_error *err)
{
    const size_t size = strlen(text) + 1;

    MSHI_TRY(mshi_alloc(size, 1, out, err));
    memcpy(*out, text, size);
    return MSHARD_OK;
}
