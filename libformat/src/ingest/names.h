/*
 * names.h - a set of byte strings, numbered 0, 1, 2, ... in the order they came
 *
 * Lookup by hash, equality by bytes. Cost: the string, its NUL and 24 to 40 bytes each. Zero-initialised is valid and
 * empty. Pointers from mshi_names_at live until the next add.
 */
#ifndef MSHI_INGEST_NAMES_H
#define MSHI_INGEST_NAMES_H

#include "base/buf.h"
#include "base/fail.h"
#include <stdbool.h>

struct mshi_names {
    struct mshi_buf text; /* the strings one after another, each with a NUL */
    uint64_t *starts;     /* of each string in text */
    uint64_t count, capacity;
    uint64_t *slots; /* open addressing: low 40 bits number + 1, high 24 bits of the hash; 0: free */
    uint64_t slot_count;
};

/* The number of a string, new or known; added may be NULL. */
mshard_status mshi_names_add(struct mshi_names *names, const char *text, size_t size, uint64_t *number, bool *added,
                             mshard_error *err);
bool mshi_names_find(const struct mshi_names *names, const char *text, size_t size, uint64_t *number);
const char *mshi_names_at(const struct mshi_names *names, uint64_t number); /* NUL-terminated */
size_t mshi_names_size(const struct mshi_names *names, uint64_t number);
/* Numbers in bytewise order of their strings; malloc'd. */
mshard_status mshi_names_order(const struct mshi_names *names, uint64_t **order, mshard_error *err);
void mshi_names_clear(struct mshi_names *names);

/* Append text as UTF-8: bytes that are not valid UTF-8, and control bytes, become \xNN. True when something was. */
bool mshi_text_escape(struct mshi_buf *buf, const char *text, size_t size);
bool mshi_text_is_plain(const char *text, size_t size); /* nothing to escape */
bool mshi_text_is_utf8(const char *text, size_t size);

#endif
