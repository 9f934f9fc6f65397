/*
 * dataset.h - count and get, over any source
 *
 * The interface all above it is written against; anyone can implement it. Reference counted.
 * Threads: shared (an implementation must allow get from any number of threads at once).
 */
#ifndef MSHARD_DATASET_H
#define MSHARD_DATASET_H

#include <mshard/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mshard_store;
typedef struct mshard_dataset mshard_dataset;

/* One sample: a value for each field of the data set. */
typedef struct mshard_sample {
    uint32_t count; /* fields */
    mshard_view views[MSHARD_MAX_FIELDS];
    uint64_t shapes[MSHARD_MAX_FIELDS][MSHARD_MAX_DIMS]; /* of variable fields only; others: the field's shape */
    void *hold; /* keeps computed values alive; release with mshard_sample_clear; NULL for views */
    void (*release)(void *hold);
} mshard_sample;

typedef struct mshard_dataset_ops {
    size_t struct_size; /* sizeof(mshard_dataset_ops) */
    uint64_t (*count)(void *self);
    mshard_status (*get)(void *self, uint64_t i, mshard_sample *sample, mshard_error *err); /* i is below count */
    void (*destroy)(void *self); /* when the last reference goes; may be NULL */
} mshard_dataset_ops;

/* A data set from functions. ops and fields are copied; self is taken, also on failure (destroy is called). */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_dataset_new(const mshard_dataset_ops *ops, void *self,
                                                              const mshard_field *fields, uint32_t n,
                                                              mshard_dataset **dataset, mshard_error *err);

/* The records of a store; holds a reference on it. Auxiliary fields are left out. NULL when out of memory. */
MSHARD_API mshard_dataset *mshard_store_dataset(struct mshard_store *store);

MSHARD_API mshard_dataset *mshard_dataset_ref(mshard_dataset *dataset);
MSHARD_API void mshard_dataset_unref(mshard_dataset *dataset);

MSHARD_API uint64_t mshard_dataset_count(const mshard_dataset *dataset);
MSHARD_API uint32_t mshard_dataset_field_count(const mshard_dataset *dataset);
MSHARD_API const mshard_field *mshard_dataset_field(const mshard_dataset *dataset, uint32_t i);

/* Sample i. Returns RANGE. The caller clears the sample (which does nothing for views of a store). */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_dataset_get(const mshard_dataset *dataset, uint64_t i,
                                                              mshard_sample *sample, mshard_error *err);
MSHARD_API void mshard_sample_clear(mshard_sample *sample);

#ifdef __cplusplus
}
#endif
#endif
