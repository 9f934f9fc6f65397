/*
 * dataset.c - count and get over any source: reference count, bounds, dispatch
 *
 * A data set is a table of functions and what they work on. Everything above (orders, transforms, loaders) sees
 * only this. Threads: shared.
 */
#include <mshard/dataset.h>

#include "base/alloc.h"
#include "base/options.h"
#include "format/field_rules.h"
#include "format/shard_writer.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

struct mshard_dataset {
    mshard_dataset_ops ops;
    void *self;
    mshard_field *fields;
    uint32_t field_count;
    _Atomic uint64_t references;
};

static mshard_status check(const mshard_dataset_ops *ops, const mshard_field *fields, uint32_t n, mshard_error *err)
{
    char text[MSHI_RULE_TEXT];
    uint64_t record_size;
    size_t member;

    if (ops->count == NULL || ops->get == NULL)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "a data set needs the functions count and get");
    if (n == 0 || n > MSHARD_MAX_FIELDS)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "a data set must have 1 to %d fields, found %" PRIu32, MSHARD_MAX_FIELDS, n);
    for (uint32_t i = 0; i < n; i++)
        if (mshi_field_rule(fields, i, &record_size, &member, text) != MSHARD_OK)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "field %" PRIu32 ": %s", i, text);
    return MSHARD_OK;
}

mshard_status mshard_dataset_new(const mshard_dataset_ops *ops, void *self, const mshard_field *fields, uint32_t n,
                                 mshard_dataset **dataset, mshard_error *err)
{
    mshard_dataset_ops known;
    mshard_dataset *d = NULL;
    mshard_status status;

    *dataset = NULL;
    status = mshi_options_load(&known, sizeof(known), ops, err);
    if (status == MSHARD_OK)
        status = check(&known, fields, n, err);
    if (status == MSHARD_OK)
        status = mshi_alloc(1, sizeof(*d), &d, err);
    if (status == MSHARD_OK)
        status = mshi_fields_copy(fields, n, &d->fields, err);
    if (status != MSHARD_OK) {
        free(d);
        if (known.destroy != NULL)
            known.destroy(self);
        return status;
    }
    d->ops = known;
    d->self = self;
    d->field_count = n;
    atomic_init(&d->references, 1);
    *dataset = d;
    return MSHARD_OK;
}

mshard_dataset *mshard_dataset_ref(mshard_dataset *dataset)
{
    atomic_fetch_add_explicit(&dataset->references, 1, memory_order_relaxed);
    return dataset;
}

void mshard_dataset_unref(mshard_dataset *dataset)
{
    /* acq_rel: all that other threads did with the data set comes before its end */
    if (dataset == NULL || atomic_fetch_sub_explicit(&dataset->references, 1, memory_order_acq_rel) != 1)
        return;
    if (dataset->ops.destroy != NULL)
        dataset->ops.destroy(dataset->self);
    free(dataset->fields);
    free(dataset);
}

uint64_t mshard_dataset_count(const mshard_dataset *dataset)
{
    return dataset->ops.count(dataset->self);
}

uint32_t mshard_dataset_field_count(const mshard_dataset *dataset)
{
    return dataset->field_count;
}

const mshard_field *mshard_dataset_field(const mshard_dataset *dataset, uint32_t i)
{
    return i < dataset->field_count ? &dataset->fields[i] : NULL;
}

mshard_status mshard_dataset_get(const mshard_dataset *dataset, uint64_t i, mshard_sample *sample, mshard_error *err)
{
    const uint64_t count = dataset->ops.count(dataset->self);
    mshard_status status;

    sample->count = 0; /* not all of it: a sample is 5 KiB and this is the hot path */
    sample->hold = NULL;
    sample->release = NULL;
    if (i >= count)
        return mshi_fail(err, MSHARD_E_RANGE, NULL, MSHARD_NO_OFFSET,
                         "record must be below %" PRIu64 ", found %" PRIu64, count, i);
    status = dataset->ops.get(dataset->self, i, sample, err);
    if (status != MSHARD_OK)
        mshard_sample_clear(sample);
    return status;
}

void mshard_sample_clear(mshard_sample *sample)
{
    if (sample->release != NULL)
        sample->release(sample->hold);
    sample->count = 0;
    sample->hold = NULL;
    sample->release = NULL;
}
