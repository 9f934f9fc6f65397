/* key_sort.h - keys in the order of the index, and the faults that only a sorted list shows */
#ifndef MSHI_FORMAT_KEY_SORT_H
#define MSHI_FORMAT_KEY_SORT_H

#include "format/key_index.h"

/*
 * Sort bytewise, the shorter of two first when it starts the other (LMDB's own order). EXISTS names a key that is
 * there twice and both records; INVALID an empty or too long one. path is for errors.
 */
mshard_status mshi_key_sort(const char *path, struct mshi_key *keys, uint64_t n, mshard_error *err);
/* A key in quotes as JSON text, for messages; malloc'd, NULL when out of memory. */
char *mshi_key_text(const void *key, size_t size);

#endif
