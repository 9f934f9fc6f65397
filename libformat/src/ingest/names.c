/*
 * names.c - string sets and the escape of names that are no UTF-8
 *
 * A slot holds 24 bits of the hash beside the number, so a probe rarely touches a wrong string. At most half of the slots
 * are in use.
 */
#include "ingest/names.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/utf8.h"

#include <mshard/types.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MASK ((UINT64_C(1) << 40) - 1)

size_t mshi_names_size(const struct mshi_names *names, uint64_t number)
{
    const uint64_t end = number + 1 < names->count ? names->starts[number + 1] : names->text.size;

    return (size_t)(end - names->starts[number] - 1);
}

const char *mshi_names_at(const struct mshi_names *names, uint64_t number)
{
    return names->text.data + names->starts[number];
}

static bool same(const struct mshi_names *names, uint64_t number, const char *text, size_t size)
{
    return mshi_names_size(names, number) == size &&
           (size == 0 || memcmp(mshi_names_at(names, number), text, size) == 0);
}

/* The slot that holds the string, or the free one where it belongs. slot_count is not 0. */
static uint64_t probe(const struct mshi_names *names, uint64_t hash, const char *text, size_t size)
{
    const uint64_t mask = names->slot_count - 1;

    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
        const uint64_t slot = names->slots[at];
        if (slot == 0 || (slot >> 40 == hash >> 40 && same(names, (slot & NUMBER_MASK) - 1, text, size)))
            return at;
    }
}

static mshard_status enlarge(struct mshi_names *names, mshard_error *err)
{
    const uint64_t larger = names->slot_count ? names->slot_count * 2 : 64;
    uint64_t *slots;

    MSHI_TRY(mshi_alloc(larger, sizeof(*slots), &slots, err));
    for (uint64_t i = 0; i < names->count; i++) {
        const uint64_t hash = mshi_hash64(mshi_names_at(names, i), mshi_names_size(names, i), 0);
        uint64_t at = hash & (larger - 1);

        while (slots[at])
            at = (at + 1) & (larger - 1);
        slots[at] = (hash >> 40 << 40) | (i + 1);
    }
    free(names->slots);
    names->slots = slots;
    names->slot_count = larger;
    return MSHARD_OK;
}

mshard_status mshi_names_add(struct mshi_names *names, const char *text, size_t size, uint64_t *number, bool *added,
                             mshard_error *err)
{
    const uint64_t hash = mshi_hash64(text, size, 0);

    if (names->count >= MSHARD_MAX_RECORDS - 1)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "more than 2^40 names");
    if ((names->count + 1) * 2 > names->slot_count)
        MSHI_TRY(enlarge(names, err));
    const uint64_t at = probe(names, hash, text, size);
    if (added)
        *added = names->slots[at] == 0;
    if (names->slots[at]) {
        *number = (names->slots[at] & NUMBER_MASK) - 1;
        return MSHARD_OK;
    }
    MSHI_TRY(mshi_grow(&names->starts, &names->capacity, names->count + 1, sizeof(*names->starts), err));
    const uint64_t start = names->text.size;
    mshi_buf_add(&names->text, text, size);
    mshi_buf_add(&names->text, "", 1);
    MSHI_TRY(mshi_buf_status(&names->text, err));
    names->starts[names->count] = start;
    *number = names->count++;
    names->slots[at] = (hash >> 40 << 40) | names->count;
    return MSHARD_OK;
}

bool mshi_names_find(const struct mshi_names *names, const char *text, size_t size, uint64_t *number)
{
    if (names->slot_count == 0)
        return false;
    const uint64_t slot = names->slots[probe(names, mshi_hash64(text, size, 0), text, size)];
    if (slot == 0)
        return false;
    *number = (slot & NUMBER_MASK) - 1;
    return true;
}

static int by_bytes(const void *a, const void *b, void *context)
{
    const struct mshi_names *names = context;
    const uint64_t *x = a, *y = b;
    const size_t nx = mshi_names_size(names, *x), ny = mshi_names_size(names, *y);
    const int order = memcmp(mshi_names_at(names, *x), mshi_names_at(names, *y), nx < ny ? nx : ny);

    return order ? order : (nx > ny) - (nx < ny);
}

mshard_status mshi_names_order(const struct mshi_names *names, uint64_t **order, mshard_error *err)
{
    MSHI_TRY(mshi_alloc(names->count, sizeof(**order), order, err));
    for (uint64_t i = 0; i < names->count; i++)
        (*order)[i] = i;
    if (names->count)
        qsort_r(*order, (size_t)names->count, sizeof(**order), by_bytes, (void *)(uintptr_t)names);
    return MSHARD_OK;
}

void mshi_names_clear(struct mshi_names *names)
{
    mshi_buf_clear(&names->text);
    free(names->starts);
    free(names->slots);
    *names = (struct mshi_names){.count = 0};
}

bool mshi_text_is_utf8(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        const size_t length = mshi_utf8_length(text + i, size - i);
        if (!length)
            return false;
        i += length;
    }
    return true;
}

bool mshi_text_is_plain(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            return false;
    return mshi_text_is_utf8(text, size);
}

bool mshi_text_escape(struct mshi_buf *buf, const char *text, size_t size)
{
    bool changed = false;

    for (size_t i = 0; i < size;) {
        const unsigned char c = (unsigned char)text[i];
        const size_t length = mshi_utf8_length(text + i, size - i);

        if (length && c >= 0x20 && c != 0x7F) {
            mshi_buf_add(buf, text + i, length);
            i += length;
            continue;
        }
        mshi_buf_printf(buf, "\\x%02X", c);
        changed = true;
        i++;
    }
    return changed;
}
