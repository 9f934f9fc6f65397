/*
 * file_items.c - the list of files behind folder, flat and list sources
 */
#include "ingest/file_items.h"

#include "base/alloc.h"
#include "ingest/names.h"
#include "ingest/source_kinds.h"
#include "os/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

mshard_status mshi_file_items_add(struct mshi_file_items *items, const char *path, const char *key, uint64_t size,
                                  int64_t label, mshard_error *err)
{
    const size_t path_size = strlen(path);
    const bool inside = key >= path && key <= path + path_size;

    MSHI_TRY(mshi_grow(&items->items, &items->capacity, items->count + 1, sizeof(*items->items), err));
    struct mshi_file_item item = {.path = items->text.size, .size = size, .label = label};
    mshi_buf_add(&items->text, path, path_size + 1);
    if (inside && mshi_text_is_plain(key, strlen(key))) {
        item.key = item.path + (uint64_t)(key - path);
    } else {
        item.key = items->text.size;
        mshi_text_escape(&items->text, key, strlen(key));
        mshi_buf_add(&items->text, "", 1);
    }
    MSHI_TRY(mshi_buf_status(&items->text, err));
    items->items[items->count++] = item;
    items->bytes += size;
    return MSHARD_OK;
}

const char *mshi_file_items_path(const struct mshi_file_items *items, uint64_t i)
{
    return items->text.data + items->items[i].path;
}

const char *mshi_file_items_key(const struct mshi_file_items *items, uint64_t i)
{
    return items->text.data + items->items[i].key;
}

static int by_path(const void *a, const void *b, void *text)
{
    const struct mshi_file_item *x = a, *y = b;

    return strcmp((const char *)text + x->path, (const char *)text + y->path);
}

void mshi_file_items_sort(struct mshi_file_items *items, uint64_t begin)
{
    if (items->count > begin)
        qsort_r(items->items + begin, (size_t)(items->count - begin), sizeof(*items->items), by_path, items->text.data);
}

mshard_status mshi_file_items_unique(struct mshi_file_items *items, const struct mshi_listing *listing,
                                     mshard_error *err)
{
    struct mshi_names keys = {.count = 0};
    mshard_status status = MSHARD_OK;
    uint64_t kept = 0;

    for (uint64_t i = 0; i < items->count && status == MSHARD_OK; i++) {
        const char *key = mshi_file_items_key(items, i);
        uint64_t first;
        bool added;

        status = mshi_names_add(&keys, key, strlen(key), &first, &added, err);
        if (status != MSHARD_OK)
            break;
        if (!added) {
            mshi_problem(listing, mshi_file_items_path(items, i), MSHARD_E_INVALID, "key '%s' is there already: %s",
                         key, mshi_file_items_path(items, first));
            items->bytes -= items->items[i].size;
            continue;
        }
        items->items[kept++] = items->items[i]; /* keys are numbered as the items that were kept */
    }
    if (status == MSHARD_OK)
        items->count = kept;
    mshi_names_clear(&keys);
    return status;
}

/* mshi_file_open would stat once more: the listing has done that. */
mshard_status mshi_file_items_read(const struct mshi_file_items *items, uint64_t i, uint64_t max,
                                   struct mshi_payload *payload, mshard_error *err)
{
    const struct mshi_fs *fs = &mshi_fs_posix;
    const char *path = mshi_file_items_path(items, i);
    const uint64_t size = items->items[i].size;
    mshard_status status;
    size_t got = 0;

    if (size > max)
        return mshi_fail(err, MSHARD_E_LIMIT, path, MSHARD_NO_OFFSET,
                         "%" PRIu64 " bytes are above the limit of %" PRIu64 " for one input (max-member)", size, max);
    const int fd = fs->open(fs->context, path);
    if (fd < 0)
        return mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot open");
    struct mshi_file file = {.fd = fd, .size = size};
    status = mshi_payload_reserve(payload, size + 1, err); /* one more, to see that the file ends there */
    if (status == MSHARD_OK)
        status = mshi_file_read(&file, payload->buffer, (size_t)(size + 1), 0, &got, path, err);
    if (status == MSHARD_OK && got != size)
        status = mshi_fail(err, MSHARD_E_IO, path, MSHARD_NO_OFFSET,
                           "changed since it was listed: %" PRIu64 " bytes then, %s now", size,
                           got < size ? "fewer" : "more");
    mshi_file_close(&file);
    payload->data[0] = payload->buffer;
    payload->size[0] = got;
    return status;
}

void mshi_file_items_clear(struct mshi_file_items *items)
{
    mshi_buf_clear(&items->text);
    free(items->items);
    *items = (struct mshi_file_items){.count = 0};
}
