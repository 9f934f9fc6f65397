/*
 * class_list.c - class lists from text files and data sets
 *
 * A list has no duplicate and no empty name. Text lists are UTF-8, one name a line, LF or CRLF; a byte order mark is
 * accepted.
 */
#include "ingest/class_list.h"

#include "base/alloc.h"
#include "os/file.h"

#include <errno.h>
#include <inttypes.h>
#include <mshard/store.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST_BYTES (UINT64_C(64) << 20)

bool mshi_is_data_set(const char *path)
{
    const char *base = strrchr(path, '/');
    char *inside;

    base = base ? base + 1 : path;
    if (strcmp(base, "dataset.json") == 0)
        return true;
    if (mshi_path_kind(path, NULL) != MSHI_FOLDER || mshi_path_join(path, "dataset.json", &inside, NULL) != MSHARD_OK)
        return false;
    const bool found = mshi_path_kind(inside, NULL) == MSHI_FILE;
    free(inside);
    return found;
}

static mshard_status from_store(const char *path, const mshard_store *store, struct mshi_names *list, mshard_error *err)
{
    for (uint32_t f = 0; f < mshard_store_field_count(store); f++) {
        const uint64_t count = mshard_store_class_count(store, f);

        for (uint64_t i = 0; i < count; i++) {
            const char *name = mshard_store_class_name(store, f, i);
            uint64_t number;
            MSHI_TRY(mshi_names_add(list, name, strlen(name), &number, NULL, err));
            if (number != i)
                return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "class '%s' is there twice", name);
        }
        if (count)
            return MSHARD_OK;
    }
    return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "the data set has no class names");
}

static mshard_status from_text(const char *path, const char *text, size_t size, struct mshi_names *list,
                               mshard_error *err)
{
    const char *at = text, *end = text + size;
    uint64_t line = 1;

    if (memchr(text, 0, size) || !mshi_text_is_utf8(text, size))
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                         "a class list is UTF-8 text with one name a line; this is not text");
    if (size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    for (; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *next = stop ? stop + 1 : end;
        uint64_t number;
        bool added;

        stop = stop ? stop : end;
        if (stop > at && stop[-1] == '\r')
            stop--;
        if (stop == at) {
            if (strspn(at, "\r\n") == (size_t)(end - at)) /* empty lines at the end */
                break;
            return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "line %" PRIu64 " is empty", line);
        }
        MSHI_TRY(mshi_names_add(list, at, (size_t)(stop - at), &number, &added, err));
        if (!added)
            return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET,
                             "line %" PRIu64 " repeats class '%.*s' of line %" PRIu64, line, (int)(stop - at), at,
                             number + 1);
        at = next;
    }
    if (list->count == 0)
        return mshi_fail(err, MSHARD_E_FORMAT, path, MSHARD_NO_OFFSET, "the class list is empty");
    return MSHARD_OK;
}

mshard_status mshi_class_list_load(const char *path, struct mshi_names *list, mshard_error *err)
{
    if (mshi_path_kind(path, NULL) == MSHI_FOLDER || mshi_is_data_set(path)) {
        mshard_store *store;
        MSHI_TRY(mshard_store_open(path, NULL, &store, err));
        const mshard_status status = from_store(path, store, list, err);
        mshard_store_unref(store);
        return status;
    }
    char *text;
    size_t size;
    MSHI_TRY(mshi_file_slurp(path, MAX_LIST_BYTES, &text, &size, err));
    const mshard_status status = from_text(path, text, size, list, err);
    free(text);
    return status;
}

mshard_status mshi_class_list_take(const struct mshi_names *names, bool sorted, char ***classes, uint64_t *class_count,
                                   uint64_t **rank, mshard_error *err)
{
    uint64_t *order = NULL;
    struct mshi_buf name = {.data = NULL};
    mshard_status status = MSHARD_OK;

    if (sorted)
        MSHI_TRY(mshi_names_order(names, &order, err));
    if (sorted && rank)
        status = mshi_alloc(names->count, sizeof(**rank), rank, err);
    if (status == MSHARD_OK)
        status = mshi_alloc(names->count, sizeof(**classes), classes, err);
    for (uint64_t i = 0; i < names->count && status == MSHARD_OK; i++) {
        const uint64_t number = sorted ? order[i] : i;

        if (sorted && rank)
            (*rank)[number] = i;
        name.size = 0;
        mshi_text_escape(&name, mshi_names_at(names, number), mshi_names_size(names, number));
        mshi_buf_add(&name, "", 0);
        status = mshi_buf_status(&name, err);
        if (status == MSHARD_OK)
            status = mshi_strdup(name.data, &(*classes)[i], err);
        if (status == MSHARD_OK)
            *class_count = i + 1;
    }
    mshi_buf_clear(&name);
    free(order);
    return status;
}

bool mshi_parse_integer(const char *text, size_t size, int64_t *value)
{
    size_t begin = 0, end = size;
    uint64_t magnitude = 0;

    while (begin < end && (text[begin] == ' ' || text[begin] == '\t' || text[begin] == '\n' || text[begin] == '\r'))
        begin++;
    while (end > begin &&
           (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\n' || text[end - 1] == '\r'))
        end--;
    const bool negative = begin < end && text[begin] == '-';
    begin += negative || (begin < end && text[begin] == '+');
    if (begin == end || end - begin > 19)
        return false;
    for (; begin < end; begin++) {
        if (text[begin] < '0' || text[begin] > '9')
            return false;
        magnitude = magnitude * 10 + (uint64_t)(text[begin] - '0');
    }
    if (magnitude > (uint64_t)INT64_MAX)
        return false;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

static mshard_status values_by_list(const struct mshi_names *texts, const struct mshi_names *list, const char *path,
                                    const char *where, int64_t *values, mshard_error *err)
{
    bool all_names = true, all_numbers = true;
    uint64_t stray = 0, number = 0;

    for (uint64_t i = 0; i < texts->count; i++) {
        const char *text = mshi_names_at(texts, i);
        int64_t integer;

        if (all_names && !mshi_names_find(list, text, strlen(text), &number)) {
            stray = i;
            all_names = false;
        }
        if (!mshi_parse_integer(text, strlen(text), &integer) || integer < 0 || (uint64_t)integer >= list->count)
            all_numbers = false;
    }
    if (!all_names && !all_numbers)
        return mshi_fail(err, MSHARD_E_FORMAT, where, MSHARD_NO_OFFSET,
                         "label '%.200s' is not in the class list %.200s", mshi_names_at(texts, stray), path);
    for (uint64_t i = 0; i < texts->count; i++) {
        const char *text = mshi_names_at(texts, i);

        if (all_names && mshi_names_find(list, text, strlen(text), &number))
            values[i] = (int64_t)number;
        else
            (void)mshi_parse_integer(text, strlen(text), &values[i]);
    }
    return MSHARD_OK;
}

mshard_status mshi_label_values(const struct mshi_names *texts, const char *given, const char *where, int64_t *values,
                                char ***classes, uint64_t *class_count, mshard_error *err)
{
    struct mshi_names list = {.count = 0};
    uint64_t *rank = NULL;
    bool integers = true;
    mshard_status status;

    if (given) {
        status = mshi_class_list_load(given, &list, err);
        if (status == MSHARD_OK)
            status = values_by_list(texts, &list, given, where, values, err);
        if (status == MSHARD_OK)
            status = mshi_class_list_take(&list, false, classes, class_count, NULL, err);
        mshi_names_clear(&list);
        return status;
    }
    for (uint64_t i = 0; i < texts->count && integers; i++)
        integers = mshi_parse_integer(mshi_names_at(texts, i), mshi_names_size(texts, i), &values[i]);
    if (integers)
        return MSHARD_OK;
    status = mshi_class_list_take(texts, true, classes, class_count, &rank, err);
    for (uint64_t i = 0; i < texts->count && status == MSHARD_OK; i++)
        values[i] = (int64_t)rank[i];
    free(rank);
    return status;
}
