/*
 * test_plan.c - fields, shards and units of a pack, planned from a source made here
 */
#include "support/main.h"

#include "ingest/pack_memory.h"
#include "ingest/pipeline.h"
#include "ingest/plan.h"

#include <stdlib.h>
#include <string.h>

/* A source of items of given sizes; nothing in it can be read. */
struct fake {
    struct mshi_source base;
    const uint64_t *sizes;
};

static mshard_status fake_read(struct mshi_source *source, uint64_t i, struct mshi_payload *payload, mshard_error *err)
{
    (void)source;
    (void)payload;
    return mshi_fail(err, MSHARD_E_IO, "fake", i, "cannot be read");
}

static void fake_item(const struct mshi_source *source, uint64_t i, struct mshi_item *item)
{
    const struct fake *f = (const struct fake *)source;

    *item = (struct mshi_item){.name = "item", .key = "key", .size = f->sizes != NULL ? f->sizes[i] : 0};
}

static const struct mshi_source_ops fake_ops = {.read = fake_read, .item = fake_item};

static void fake_init(struct fake *f, uint64_t count)
{
    *f = (struct fake){.base = {.ops = &fake_ops, .kind = "fake", .random_access = true, .count = count}};
}

static void add_field(struct fake *f, const char *name, enum mshi_part_kind kind, mshard_dtype dtype, uint64_t elements)
{
    struct mshi_source_field *field = &f->base.fields[f->base.field_count++];

    *field =
        (struct mshi_source_field){.kind = kind, .dtype = dtype, .ndim = elements > 1 ? 1 : 0, .shape = {elements}};
    strcpy(field->name, name);
}

static struct mshi_pack_run run;
static mshard_pack_result result;
static struct mshi_plan plan;
static mshard_error err;
static int notes;

static int on_event(void *context, const mshard_pack_event *event)
{
    (void)context;
    notes += event->kind == MSHARD_PACK_NOTE;
    return 0;
}

static void setup(void)
{
    run = (struct mshi_pack_run){.result = &result};
    run.options = (mshard_pack_options){MSHARD_PACK_OPTIONS_INIT, .shard_size = 1000, .jobs = 2, .max_pixels = 1 << 20,
                                        .event = on_event};
    notes = 0;
}

static void teardown(void)
{
    mshi_plan_clear(&plan);
    mshi_run_clear(&run);
}

START_TEST(floats_become_halves_and_say_so)
{
    const char *const dtypes[] = {"b=float32", NULL};
    struct fake f;

    fake_init(&f, 10);
    add_field(&f, "a", MSHI_PART_VALUES, MSHARD_FLOAT32, 5);
    add_field(&f, "b", MSHI_PART_VALUES, MSHARD_FLOAT64, 5);
    add_field(&f, "c", MSHI_PART_VALUES, MSHARD_INT32, 5);
    add_field(&f, "d", MSHI_PART_LABEL, MSHARD_INT64, 1);
    run.options.dtypes = dtypes;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert_int_eq(plan.fields[0].dtype, MSHARD_FLOAT16);
    ck_assert_int_eq(plan.fields[1].dtype, MSHARD_FLOAT32);
    ck_assert_int_eq(plan.fields[2].dtype, MSHARD_INT32);
    ck_assert_int_eq(plan.fields[3].dtype, MSHARD_INT64);
    ck_assert_int_eq(plan.fields[3].content, MSHARD_CONTENT_LABEL);
    ck_assert_int_eq(notes, 1);
    ck_assert_uint_eq(plan.fixed_bytes, 10 + 20 + 20 + 8);
}
END_TEST

START_TEST(options_that_do_not_fit_are_refused)
{
    const char *const unknown[] = {"x=uint8", NULL}, *const bad[] = {"a=uint9", NULL};
    const char *const twice[] = {"a=uint8", "a=int8", NULL}, *const label[] = {"l=float16", NULL};
    struct fake f;

    fake_init(&f, 10);
    add_field(&f, "a", MSHI_PART_VALUES, MSHARD_FLOAT32, 5);
    add_field(&f, "l", MSHI_PART_LABEL, MSHARD_INT64, 1);
    for (int i = 0; i < 4; i++) {
        run.options.dtypes = i == 0 ? unknown : i == 1 ? bad : i == 2 ? twice : label;
        ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_E_INVALID);
        mshi_plan_clear(&plan);
    }
    run.options.dtypes = NULL;
    run.options.resize = 5;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "no image files"));
    run.options.resize = 0;
    run.options.shuffle = 1;
    f.base.random_access = false;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "only be read in order"));
    run.options.shuffle = 0;
    run.options.shards = 11;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_E_INVALID);
}
END_TEST

START_TEST(shards_of_fixed_records)
{
    struct fake f;

    fake_init(&f, 25);
    add_field(&f, "a", MSHI_PART_VALUES, MSHARD_UINT8, 99);
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert_uint_eq(plan.shard_count, 3); /* 10 of 99 bytes fit 1000 */
    ck_assert_uint_eq(plan.shard_ends[0], 10);
    ck_assert_uint_eq(plan.shard_ends[1], 20);
    ck_assert_uint_eq(plan.shard_ends[2], 25);
    ck_assert_uint_eq(plan.estimated_bytes, 25 * 99);
}
END_TEST

START_TEST(a_record_above_the_size_gets_a_shard)
{
    struct fake f;

    fake_init(&f, 3);
    add_field(&f, "a", MSHI_PART_VALUES, MSHARD_UINT8, 5000);
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert_uint_eq(plan.shard_count, 3);
}
END_TEST

START_TEST(exact_numbers_of_shards_are_balanced)
{
    struct fake f;

    fake_init(&f, 23);
    add_field(&f, "a", MSHI_PART_VALUES, MSHARD_UINT8, 99);
    run.options.shards = 5;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert_uint_eq(plan.shard_count, 5);
    for (uint64_t i = 0, begin = 0; i < 5; begin = plan.shard_ends[i++]) {
        const uint64_t n = plan.shard_ends[i] - begin;

        ck_assert(n == 4 || n == 5);
    }
    ck_assert_uint_eq(plan.shard_ends[4], 23);
}
END_TEST

START_TEST(shards_of_variable_records_go_by_size)
{
    static const uint64_t sizes[] = {400, 400, 400, 2000, 10, 10, 1000};
    static const uint64_t ends[] = {2, 3, 4, 6, 7};
    struct fake f;

    fake_init(&f, 7);
    f.sizes = sizes;
    add_field(&f, "a", MSHI_PART_BYTES, MSHARD_UINT8, 1);
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert_uint_eq(plan.shard_count, 5);
    ck_assert_mem_eq(plan.shard_ends, ends, sizeof ends);
    ck_assert_uint_eq(plan.largest_item, 2000);
}
END_TEST

START_TEST(units_cover_each_shard_once)
{
    struct fake f;

    fake_init(&f, 100000);
    add_field(&f, "a", MSHI_PART_VALUES, MSHARD_UINT8, 100);
    run.options.shard_size = 3000000;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    for (uint64_t shard = 0, place = 0; shard < plan.shard_count; shard++) {
        while (place < plan.shard_ends[shard]) {
            const uint64_t end = mshi_plan_unit_end(&plan, place, shard);

            ck_assert(end > place && end <= plan.shard_ends[shard]);
            ck_assert((end - place) * 100 <= MSHI_UNIT_BYTES);
            place = end;
        }
        ck_assert_uint_eq(place, plan.shard_ends[shard]);
    }
    ck_assert_uint_eq(plan.shard_ends[plan.shard_count - 1], 100000);
    ck_assert_uint_eq(mshi_pipeline_units(&plan, 4), 10);
}
END_TEST

START_TEST(shuffled_items_are_all_there)
{
    struct fake f;
    bool seen[101] = {false}, moved = false;

    fake_init(&f, 101);
    add_field(&f, "a", MSHI_PART_VALUES, MSHARD_UINT8, 100);
    run.options.shuffle = 1;
    run.options.shuffle_seed = 7;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    for (uint64_t i = 0; i < 101; i++) {
        const uint64_t item = mshi_plan_item(&plan, i);

        ck_assert(item < 101 && !seen[item]);
        seen[item] = true;
        moved = moved || item != i;
    }
    ck_assert(moved);
}
END_TEST

START_TEST(keys_come_last_and_need_names)
{
    struct fake f;

    fake_init(&f, 5);
    add_field(&f, "a", MSHI_PART_VALUES, MSHARD_UINT8, 10);
    run.options.keys = 1;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert_uint_eq(plan.field_count, 2);
    ck_assert_uint_eq(plan.value_count, 1);
    ck_assert_str_eq(plan.fields[1].name, "__key__");
    ck_assert(!plan.variable);
}
END_TEST

START_TEST(image_fields_follow_the_options)
{
    struct fake f;

    fake_init(&f, 0);
    add_field(&f, "image", MSHI_PART_IMAGE, MSHARD_UINT8, 1);
    run.options.encoded = 1;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert_int_eq(plan.fields[0].content, MSHARD_CONTENT_ENCODED);
    mshi_plan_clear(&plan);
    run.options.gray = 1;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_E_INVALID);
    run.options.encoded = 0;
    run.options.crop_width = 9;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_E_INVALID);
    run.options.crop_height = 8;
    f.base.count = 40; /* none can be read, and none need be: the crop gives the size */
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert_uint_eq(plan.fields[0].shape[0], 8);
    ck_assert_uint_eq(plan.fields[0].shape[1], 9);
    ck_assert_uint_eq(plan.fields[0].shape[2], 1);
    ck_assert(!plan.shapeless);
    mshi_plan_clear(&plan);
    run.options.crop_width = run.options.crop_height = 0;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert(plan.shapeless);
    ck_assert_int_eq(plan.shapeless_reason.code, MSHARD_E_IO);
}
END_TEST

START_TEST(memory_does_not_grow_with_the_inputs)
{
    struct fake f;
    uint64_t few;

    fake_init(&f, 1000);
    add_field(&f, "a", MSHI_PART_VALUES, MSHARD_UINT8, 1000);
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    few = mshi_pack_fixed_memory(&plan, 2);
    mshi_plan_clear(&plan);
    f.base.count = 1000000;
    ck_assert_int_eq(mshi_plan_make(&plan, &run, &f.base, &err), MSHARD_OK);
    ck_assert_uint_le(mshi_pack_fixed_memory(&plan, 2), few + 16 * UINT64_C(1000000));
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *c = tcase_create("plan");

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, floats_become_halves_and_say_so);
    tcase_add_test(c, options_that_do_not_fit_are_refused);
    tcase_add_test(c, shards_of_fixed_records);
    tcase_add_test(c, a_record_above_the_size_gets_a_shard);
    tcase_add_test(c, exact_numbers_of_shards_are_balanced);
    tcase_add_test(c, shards_of_variable_records_go_by_size);
    tcase_add_test(c, units_cover_each_shard_once);
    tcase_add_test(c, shuffled_items_are_all_there);
    tcase_add_test(c, keys_come_last_and_need_names);
    tcase_add_test(c, image_fields_follow_the_options);
    tcase_add_test(c, memory_does_not_grow_with_the_inputs);
    suite_add_tcase(suite, c);
    return suite;
}
