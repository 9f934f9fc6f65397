/*
 * test_dataset.c - count and get: over a store, over functions of one's own, ownership in every outcome
 */
#include "support/main.h"
#include "support/sample_set.h"

#include <stdlib.h>
#include <string.h>

static mshard_error err;

#define OK(call) ck_assert_msg((call) == MSHARD_OK, "%s: %s", #call, err.message)

/* Squares: a computed value, held by the sample. */
struct squares {
    uint64_t n;
    int *destroyed, *released;
};

static uint64_t count_squares(void *self)
{
    return ((struct squares *)self)->n;
}

struct held {
    int64_t value;
    int *released;
};

static void release_held(void *hold)
{
    struct held *held = hold;

    ++*held->released;
    free(held);
}

static mshard_status get_square(void *self, uint64_t i, mshard_sample *sample, mshard_error *error)
{
    struct squares *s = self;
    struct held *held = malloc(sizeof(*held));

    *held = (struct held){(int64_t)(i * i), s->released};
    sample->count = 1;
    sample->views[0] = (mshard_view){&held->value, sizeof(held->value)};
    sample->hold = held;
    sample->release = release_held;
    if (i == 3) {
        error->code = MSHARD_E_IO;
        return MSHARD_E_IO;
    }
    return MSHARD_OK;
}

static void destroy_squares(void *self)
{
    ++*((struct squares *)self)->destroyed;
}

START_TEST(test_own)
{
    int destroyed = 0, released = 0;
    struct squares s = {5, &destroyed, &released};
    const mshard_dataset_ops ops = {sizeof(ops), count_squares, get_square, destroy_squares};
    mshard_field field = {.name = "square", .dtype = MSHARD_INT64};
    mshard_dataset *d;
    mshard_sample sample;

    OK(mshard_dataset_new(&ops, &s, &field, 1, &d, &err));
    field.name = "gone"; /* fields were copied */
    ck_assert_str_eq(mshard_dataset_field(d, 0)->name, "square");
    ck_assert_uint_eq(mshard_dataset_field(d, 0)->record_size, 8);
    ck_assert_ptr_null(mshard_dataset_field(d, 1));
    ck_assert_uint_eq(mshard_dataset_count(d), 5);
    OK(mshard_dataset_get(d, 4, &sample, &err));
    ck_assert_int_eq(*(const int64_t *)sample.views[0].data, 16);
    mshard_sample_clear(&sample);
    mshard_sample_clear(&sample);
    ck_assert_int_eq(released, 1);
    ck_assert_int_eq(mshard_dataset_get(d, 3, &sample, &err), MSHARD_E_IO);
    ck_assert_int_eq(released, 2);
    ck_assert_int_eq(mshard_dataset_get(d, 5, &sample, &err), MSHARD_E_RANGE);
    mshard_sample_clear(&sample);
    ck_assert_ptr_eq(mshard_dataset_ref(d), d);
    mshard_dataset_unref(d);
    ck_assert_int_eq(destroyed, 0);
    mshard_dataset_unref(d);
    mshard_dataset_unref(NULL);
    ck_assert_int_eq(destroyed, 1);
}
END_TEST

/* self is taken, also on failure. */
START_TEST(test_refused)
{
    int destroyed = 0, released = 0;
    struct squares s = {5, &destroyed, &released};
    mshard_dataset_ops ops = {sizeof(ops), count_squares, get_square, destroy_squares};
    const mshard_field field = {.name = "not a name", .dtype = MSHARD_INT64},
                       good = {.name = "a", .dtype = MSHARD_INT64};
    mshard_dataset *d;

    ck_assert_int_eq(mshard_dataset_new(&ops, &s, &field, 1, &d, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(mshard_dataset_new(&ops, &s, &good, 0, &d, &err), MSHARD_E_INVALID);
    ops.get = NULL;
    ck_assert_int_eq(mshard_dataset_new(&ops, &s, &good, 1, &d, &err), MSHARD_E_INVALID);
    ck_assert_ptr_null(d);
    ck_assert_int_eq(destroyed, 3);
}
END_TEST

START_TEST(test_store)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");
    unsigned char expected[4096];
    mshard_store *store;
    mshard_sample sample;

    mshi_set_make(dir, 30, 7);
    OK(mshard_store_open(dir, NULL, &store, &err));
    mshard_dataset *d = mshard_store_dataset(store);
    ck_assert_ptr_nonnull(d);
    mshard_store_unref(store); /* the data set holds its own reference */
    ck_assert_uint_eq(mshard_dataset_count(d), 30);
    ck_assert_uint_eq(mshard_dataset_field_count(d), SET_FIELDS - 1);
    for (uint64_t r = 0; r < 30; r++) {
        OK(mshard_dataset_get(d, r, &sample, &err));
        ck_assert_uint_eq(sample.count, SET_FIELDS - 1);
        for (uint32_t f = 0; f < sample.count; f++) {
            ck_assert_uint_eq(sample.views[f].size, mshi_set_value(r, f, expected));
            ck_assert_mem_eq(sample.views[f].data, expected, sample.views[f].size);
        }
        ck_assert(sample.shapes[SET_BOXES][0] == r % 4 && sample.shapes[SET_BOXES][1] == 4);
        ck_assert_uint_eq(sample.shapes[SET_IMAGE][2], 3);
        mshard_sample_clear(&sample);
    }
    ck_assert_int_eq(mshard_dataset_get(d, 30, &sample, &err), MSHARD_E_RANGE);
    mshard_dataset_unref(d);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("dataset");
    TCase *t = tcase_create("dataset");

    tcase_add_test(t, test_own);
    tcase_add_test(t, test_refused);
    tcase_add_test(t, test_store);
    suite_add_tcase(suite, t);
    return suite;
}
