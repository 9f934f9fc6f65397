/*
 * store_dataset.c - the records of a store as a data set: views, no copies
 *
 * Auxiliary fields (they come last) are left out.
 */
#include <mshard/dataset.h>
#include <mshard/store.h>

#include <string.h>

static uint64_t count_records(void *self)
{
    return mshard_store_count(self);
}

static mshard_status get_record(void *self, uint64_t i, mshard_sample *sample, mshard_error *err)
{
    const mshard_store *store = self;
    const uint32_t n = mshard_store_field_count(store);
    uint32_t f;

    for (f = 0; f < n; f++) {
        const mshard_field *field = mshard_store_field(store, f);
        mshard_status status;

        if ((field->flags & MSHARD_FIELD_AUX) != 0)
            break;
        status = mshard_store_record(store, i, f, &sample->views[f], err);
        if (status != MSHARD_OK)
            return status;
        if (field->record_size != 0)
            memcpy(sample->shapes[f], field->shape, field->ndim * sizeof(field->shape[0]));
        else if ((status = mshard_store_shape(store, i, f, sample->shapes[f], err)) != MSHARD_OK)
            return status;
    }
    sample->count = f;
    return MSHARD_OK;
}

static void drop_store(void *self)
{
    mshard_store_unref(self);
}

mshard_dataset *mshard_store_dataset(mshard_store *store)
{
    const mshard_dataset_ops ops = {
        .struct_size = sizeof(ops), .count = count_records, .get = get_record, .destroy = drop_store};
    const uint32_t n = mshard_store_field_count(store);
    mshard_dataset *dataset;
    uint32_t plain = 0;

    while (plain < n && (mshard_store_field(store, plain)->flags & MSHARD_FIELD_AUX) == 0)
        plain++;
    /* the fields were checked when the store was opened: what can fail is memory */
    if (mshard_dataset_new(&ops, mshard_store_ref(store), mshard_store_field(store, 0), plain, &dataset, NULL) !=
        MSHARD_OK)
        return NULL;
    return dataset;
}
