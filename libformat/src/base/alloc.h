/* alloc.h - overflow-checked allocation; all results go to free() */
#ifndef MSHI_BASE_ALLOC_H
#define MSHI_BASE_ALLOC_H

#include <mshard/error.h>
#include <stddef.h>

/* n zeroed elements of size bytes; n 0 gives a unique non-NULL pointer. NOMEM names the bytes asked for. */
mshard_status mshi_alloc(uint64_t n, size_t size, void *out_pointer, mshard_error *err);
/* Grow *array (capacity *capacity elements) so that it holds need; grows by half at least; new part not zeroed. */
mshard_status mshi_grow(void *array_pointer, uint64_t *capacity, uint64_t need, size_t size, mshard_error *err);
/* size bytes aligned to align (power of two), free() as usual. */
mshard_status mshi_alloc_aligned(size_t align, uint64_t size, void *out_pointer, mshard_error *err);
mshard_status mshi_strdup(const char *text, char **out, mshard_error *err);

#endif
