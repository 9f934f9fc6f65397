/*
 * verify_findings.c - faults of one shard as they gather, and the records they touch
 *
 * Threads: confined (verify_blocks.c holds its lock around the calls).
 */
#include "format/verify_internal.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int compare_ranges(const void *a, const void *b)
{
    const struct mshi_record_range *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void merge(struct mshi_ranges *ranges)
{
    uint64_t kept = 0;

    if (ranges->count == 0)
        return;
    qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_ranges);
    for (uint64_t i = 1; i < ranges->count; i++) {
        if (ranges->items[i].begin > ranges->items[kept].end)
            ranges->items[++kept] = ranges->items[i];
        else if (ranges->items[i].end > ranges->items[kept].end)
            ranges->items[kept].end = ranges->items[i].end;
    }
    ranges->count = kept + 1;
}

mshard_status mshi_ranges_add(struct mshi_ranges *ranges, uint64_t begin, uint64_t end, mshard_error *err)
{
    if (begin >= end)
        return MSHARD_OK;
    if (ranges->limit == 0)
        ranges->limit = 1024;
    if (ranges->count >= ranges->limit) {
        merge(ranges);
        if (ranges->count > ranges->limit / 2)
            ranges->limit *= 2;
    }
    MSHI_TRY(mshi_grow(&ranges->items, &ranges->capacity, ranges->count + 1, sizeof(*ranges->items), err));
    ranges->items[ranges->count++] = (struct mshi_record_range){begin, end};
    return MSHARD_OK;
}

uint64_t mshi_ranges_count(struct mshi_ranges *ranges)
{
    uint64_t records = 0;

    merge(ranges);
    for (uint64_t i = 0; i < ranges->count; i++)
        records += ranges->items[i].end - ranges->items[i].begin;
    return records;
}

void mshi_ranges_clear(struct mshi_ranges *ranges)
{
    free(ranges->items);
    *ranges = (struct mshi_ranges){.items = NULL};
}

mshard_status mshi_findings_add(struct mshi_findings *list, const struct mshi_found *found, mshard_error *err,
                                const char *format, ...)
{
    char text[512];
    char *copy;
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    MSHI_TRY(mshi_grow(&list->items, &list->capacity, list->count + 1, sizeof(*list->items), err));
    MSHI_TRY(mshi_strdup(text, &copy, err));
    list->items[list->count] = *found;
    list->items[list->count++].text = copy;
    return MSHARD_OK;
}

static int compare_found(const void *a, const void *b)
{
    const struct mshi_found *x = a, *y = b;

    if (x->at != y->at)
        return x->at > y->at ? 1 : -1;
    if (x->offset != y->offset)
        return x->offset > y->offset ? 1 : -1;
    return (x->field > y->field) - (x->field < y->field);
}

void mshi_findings_sort(struct mshi_findings *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof(*list->items), compare_found);
}

void mshi_findings_clear(struct mshi_findings *list)
{
    for (uint64_t i = 0; i < list->count; i++)
        free(list->items[i].text);
    free(list->items);
    *list = (struct mshi_findings){.items = NULL};
}
