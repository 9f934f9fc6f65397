/*
 * key_pages.c - checking the pages of an LMDB 0.9 file before LMDB reads it
 *
 * Layout (64-bit, little-endian; lmdb 0.9 mdb.c: MDB_page, MDB_meta, MDB_db, MDB_node). Numbers of the file are
 * loaded through the wrapper types of bytes.h. Pages are visited at most once each, so a tree that shares or repeats
 * pages ends as a fault, and the depth is bounded.
 */
#include "format/key_pages.h"

#include "base/bytes.h"

#include <assert.h>
#include <inttypes.h>
#include <mshard/types.h>
#include <string.h>

#define MAGIC 0xBEEFC0DEu
#define NO_PAGE UINT64_MAX

enum { BRANCH = 0x01, LEAF = 0x02, META = 0x08 }; /* page flags */
enum { FIXED_MAP = 0x01 };                        /* environment flag kept in the file */
enum { MAX_DEPTH = 32, VALUE_SIZE = 8, DATA_VERSION = 1 };

struct page {
    mshi_le64 number;
    mshi_le16 pad, flags;
    mshi_le16 lower, upper; /* free space between the node table and the nodes */
};

struct tree {
    mshi_le32 pad; /* of the free list: the page size */
    mshi_le16 flags, depth;
    mshi_le64 branch_pages, leaf_pages, overflow_pages, entries, root;
};

struct meta {
    struct page page;
    mshi_le32 magic, version;
    mshi_le64 address, map_size;
    struct tree free_list, keys;
    mshi_le64 last_page, transaction;
};

struct node {
    mshi_le16 low, high; /* leaf: size of the value; branch: bits 0 to 31 of the page number */
    mshi_le16 flags;     /* leaf: kind of value; branch: bits 32 to 47 */
    mshi_le16 key_size;
};

_Static_assert(sizeof(struct page) == 16 && sizeof(struct tree) == 48 && sizeof(struct meta) == 152 &&
                   sizeof(struct node) == 8,
               "LMDB's layout");

struct check {
    const uint8_t *data;
    uint64_t size, page_size, pages;
    const char *path;
    mshard_error *err;
    uint64_t visited, entries;
    const uint8_t *last_key; /* NULL: none yet */
    size_t last_key_size;
};

static mshard_status fault(const struct check *check, uint64_t offset, const char *what)
{
    return mshi_fail(check->err, MSHARD_E_CORRUPT, check->path, offset, "key index: %s", what);
}

static mshard_status check_order(struct check *check, uint64_t offset, const uint8_t *key, size_t size)
{
    if (check->last_key) {
        const size_t common = size < check->last_key_size ? size : check->last_key_size;
        const int order = memcmp(check->last_key, key, common);

        if (order > 0 || (order == 0 && check->last_key_size >= size))
            return fault(check, offset, "keys in ascending order expected, found one out of order");
    }
    check->last_key = key;
    check->last_key_size = size;
    check->entries++;
    return MSHARD_OK;
}

static mshard_status check_leaf_node(struct check *check, uint64_t offset, uint64_t room)
{
    const struct node *node = (const struct node *)(const void *)(check->data + offset);
    const uint64_t key_size = mshi_le16_load(&node->key_size);
    const uint64_t value_size = mshi_le16_load(&node->low) | (uint64_t)mshi_le16_load(&node->high) << 16;

    if (mshi_le16_load(&node->flags) != 0)
        return fault(check, offset + offsetof(struct node, flags), "plain values expected, found another kind");
    if (key_size < 1 || key_size > MSHARD_MAX_KEY)
        return fault(check, offset + offsetof(struct node, key_size), "a key of 1 to 511 bytes expected");
    if (value_size != VALUE_SIZE)
        return fault(check, offset, "a value of 8 bytes expected");
    if (sizeof(struct node) + key_size + VALUE_SIZE > room)
        return fault(check, offset, "a node that ends in its page expected");
    return check_order(check, offset, check->data + offset + sizeof(struct node), (size_t)key_size);
}

static mshard_status check_page(struct check *check, uint64_t number, unsigned depth);

static mshard_status check_branch_node(struct check *check, uint64_t offset, uint64_t room, unsigned depth)
{
    const struct node *node = (const struct node *)(const void *)(check->data + offset);
    const uint64_t child = mshi_le16_load(&node->low) | (uint64_t)mshi_le16_load(&node->high) << 16 |
                           (uint64_t)mshi_le16_load(&node->flags) << 32;

    if (mshi_le16_load(&node->key_size) > MSHARD_MAX_KEY ||
        sizeof(struct node) + mshi_le16_load(&node->key_size) > room)
        return fault(check, offset, "a node that ends in its page expected");
    return check_page(check, child, depth - 1);
}

/* depth: levels from this page down to the leaves, both included. */
static mshard_status check_page(struct check *check, uint64_t number, unsigned depth)
{
    const uint64_t begin = number * check->page_size; /* below: number < pages, so no overflow */

    if (number < 2 || number >= check->pages)
        return fault(check, MSHARD_NO_OFFSET, "a page number inside the file expected");
    if (++check->visited > check->pages - 2)
        return fault(check, begin, "each page once expected, found one used again");

    const struct page *page = (const struct page *)(const void *)(check->data + begin);
    const uint64_t lower = mshi_le16_load(&page->lower), upper = mshi_le16_load(&page->upper);
    const mshi_le16 *table = (const mshi_le16 *)(const void *)(page + 1);
    const uint64_t nodes = lower < sizeof(*page) ? 0 : (lower - sizeof(*page)) / sizeof(*table);

    if (mshi_le64_load(&page->number) != number)
        return fault(check, begin, "a page that has its own number expected");
    if (mshi_le16_load(&page->flags) != (depth > 1 ? BRANCH : LEAF))
        return fault(check, begin + offsetof(struct page, flags), "another kind of page expected");
    if (lower % 2 || lower > upper || upper > check->page_size || nodes < (depth > 1 ? 2 : 1))
        return fault(check, begin + offsetof(struct page, lower), "a node table that fits its page expected");
    for (uint64_t i = 0; i < nodes; i++) {
        const uint64_t at = mshi_le16_load(&table[i]);

        if (at < upper || at % 2 || at + sizeof(struct node) > check->page_size)
            return fault(check, begin + sizeof(*page) + i * sizeof(*table), "a node inside its page expected");
        if (depth > 1)
            MSHI_TRY(check_branch_node(check, begin + at, check->page_size - at, depth));
        else
            MSHI_TRY(check_leaf_node(check, begin + at, check->page_size - at));
    }
    return MSHARD_OK;
}

static mshard_status check_meta(const struct check *check, const struct meta *meta, uint64_t offset)
{
    if (mshi_le16_load(&meta->page.flags) != META || mshi_le32_load(&meta->magic) != MAGIC)
        return fault(check, offset, "an LMDB file of a 64-bit little-endian system expected");
    if (mshi_le32_load(&meta->version) != DATA_VERSION)
        return mshi_fail(check->err, MSHARD_E_VERSION, check->path, offset + offsetof(struct meta, version),
                         "key index: LMDB data version %d expected, found %" PRIu32, DATA_VERSION,
                         mshi_le32_load(&meta->version));
    if (mshi_le32_load(&meta->free_list.pad) != check->page_size)
        return fault(check, offset + offsetof(struct meta, free_list), "one page size expected");
    if (mshi_le16_load(&meta->free_list.flags) & FIXED_MAP)
        return fault(check, offset + offsetof(struct meta, free_list), "no fixed address expected");
    return MSHARD_OK;
}

static mshard_status check_tree(struct check *check, const struct meta *meta, uint64_t offset)
{
    const uint64_t root = mshi_le64_load(&meta->keys.root), depth = mshi_le16_load(&meta->keys.depth);

    if (mshi_le64_load(&meta->map_size) != check->size ||
        mshi_le64_load(&meta->last_page) != (check->pages > 2 ? check->pages - 1 : 1))
        return fault(check, offset + offsetof(struct meta, map_size), "the size of the file expected");
    if (mshi_le64_load(&meta->free_list.root) != NO_PAGE)
        return fault(check, offset + offsetof(struct meta, free_list), "a compacted file expected");
    if (mshi_le16_load(&meta->keys.flags) != 0 || depth > MAX_DEPTH || (depth == 0) != (root == NO_PAGE))
        return fault(check, offset + offsetof(struct meta, keys), "a plain tree of keys expected");
    if (root != NO_PAGE)
        MSHI_TRY(check_page(check, root, (unsigned)depth));
    if (check->visited != check->pages - 2 || mshi_le64_load(&meta->keys.entries) != check->entries)
        return fault(check, offset + offsetof(struct meta, keys),
                     "a tree of all pages and of the stated number of keys expected");
    return MSHARD_OK;
}

mshard_status mshi_key_pages_check(const void *data, uint64_t size, const char *path, uint64_t *count,
                                   mshard_error *err)
{
    struct check check = {.data = data, .size = size, .path = path, .err = err};
    const struct meta *first = data, *second;

    if (size < sizeof(struct meta))
        return fault(&check, 0, "an LMDB file expected, found a shorter one");
    check.page_size = mshi_le32_load(&first->free_list.pad);
    if (check.page_size < 512 || check.page_size > 32768 || check.page_size & (check.page_size - 1))
        return fault(&check, offsetof(struct meta, free_list), "an LMDB page size expected");
    if (size % check.page_size || size / check.page_size < 2)
        return fault(&check, MSHARD_NO_OFFSET, "whole pages expected");
    check.pages = size / check.page_size;
    second = (const struct meta *)(const void *)(check.data + check.page_size);
    MSHI_TRY(check_meta(&check, first, 0));
    MSHI_TRY(check_meta(&check, second, check.page_size));
    /* LMDB takes the meta page of the later transaction, and the first of equals. */
    if (mshi_le64_load(&second->transaction) > mshi_le64_load(&first->transaction))
        MSHI_TRY(check_tree(&check, second, check.page_size));
    else
        MSHI_TRY(check_tree(&check, first, 0));
    *count = check.entries;
    return MSHARD_OK;
}
