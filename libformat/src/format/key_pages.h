/*
 * key_pages.h - is a file a sound LMDB tree of our kind? (spec/key-index.md)
 *
 * LMDB trusts its files: a wrong offset in a page makes it read outside the map, and a checksum only proves that the
 * file is the one its packer named. So every page is checked before LMDB sees the file.
 */
#ifndef MSHI_FORMAT_KEY_PAGES_H
#define MSHI_FORMAT_KEY_PAGES_H

#include "base/fail.h"
#include <stddef.h>

/*
 * data: all of the file. OK when LMDB can search and walk it without leaving it: data version 1, 64-bit, one page
 * size, a compacted file whose only tree has count leaf entries in ascending order, each of a key of 1 to 511 bytes and
 * a value of 8. CORRUPT with the offset of the first fault; VERSION for another data version of LMDB.
 */
mshard_status mshi_key_pages_check(const void *data, uint64_t size, const char *path, uint64_t *count,
                                   mshard_error *err);

#endif
