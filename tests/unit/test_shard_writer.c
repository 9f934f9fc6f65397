/*
 * test_shard_writer.c - one shard: its bytes, whatever way the values came in, and what it refuses
 */
#include "base/hash.h"
#include "format/header.h"
#include "format/shard_writer.h"
#include "support/faultfs.h"
#include "support/main.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define X MSHARD_DIM_UNKNOWN
#define OK(call) ck_assert_msg((call) == MSHARD_OK, "%s: %s", #call, err.message)

static mshard_error err;

/* Reproducible bytes. */
static void fill(void *data, size_t size, uint64_t seed)
{
    uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        bytes[i] = (uint8_t)(seed >> 56);
    }
}

struct file {
    char *data;
    size_t size;
};

static struct file slurp(const char *path)
{
    struct file f;

    OK(mshi_file_slurp(path, UINT64_C(1) << 32, &f.data, &f.size, &err));
    return f;
}

static size_t entries(const char *dir)
{
    struct mshi_entry *list;
    size_t n;

    OK(mshi_folder_list(dir, false, &list, &n, &err));
    mshi_folder_free(list, n);
    return n;
}

static struct mshi_shard_writer *start(const char *path, const mshard_field *fields, uint32_t n, uint32_t align,
                                       uint64_t held_max)
{
    const struct mshi_shard_options options = {
        .fs = &mshi_fs_posix, .align = align, .held_max = held_max, .stats = true, .drop = held_max != 0};
    struct mshi_shard_writer *w;

    OK(mshi_shard_writer_new(path, fields, n, &options, &w, &err));
    return w;
}

static struct mshi_shard_result seal(struct mshi_shard_writer *w)
{
    struct mshi_shard_result result;

    OK(mshi_shard_writer_seal(w, &result, &err));
    return result;
}

/* Every rule of layout.h about blocks and gaps, computed from the file alone. */
static struct mshi_header *check_file(const struct file *f)
{
    struct mshi_header *h = calloc(1, sizeof(*h));
    const struct mshi_section *sums;
    uint64_t end;
    char gap = 0;

    ck_assert_ptr_nonnull(h);
    OK(mshi_header_parse(f->data, f->size, f->size, "file", true, h, &err));
    ck_assert_uint_eq(h->file_size, f->size);
    end = h->header_size;
    for (uint32_t s = 0; s < h->section_count; s++) {
        const struct mshi_section *section = &h->sections[s];

        ck_assert_uint_eq(section->offset % h->align, 0);
        ck_assert_uint_ge(section->offset, end);
        ck_assert_uint_lt(section->offset - end, h->align);
        for (uint64_t i = end; i < section->offset; i++)
            gap = (char)(gap | f->data[i]);
        ck_assert_int_eq(gap, 0);
        end = section->offset + section->size;
    }
    ck_assert_uint_eq(end, f->size);
    sums = &h->sections[h->section_count - 1];
    ck_assert_uint_eq(sums->kind, MSHI_SECTION_SUMS);
    for (uint64_t b = 0, at = h->header_size; at < sums->offset; b++, at += MSHI_BLOCK_SIZE) {
        const uint64_t left = sums->offset - at;
        const mshi_le64 *sum = (const mshi_le64 *)(f->data + sums->offset) + b;

        ck_assert_uint_eq(mshi_le64_load(sum),
                          mshi_hash64(f->data + at, left < MSHI_BLOCK_SIZE ? left : MSHI_BLOCK_SIZE, b));
        ck_assert_uint_lt(b, sums->size / 8);
    }
    ck_assert_uint_eq(h->sums_root, mshi_hash64(f->data + sums->offset, sums->size, 0));
    return h;
}

static const void *section(const struct file *f, const struct mshi_header *h, uint32_t field, uint32_t kind,
                           uint64_t size)
{
    const struct mshi_section *s = mshi_header_section(h, field, kind);

    ck_assert_ptr_nonnull(s);
    ck_assert_uint_eq(s->size, size);
    return f->data + s->offset;
}

START_TEST(mixed_fields)
{
    const mshard_field fields[] = {
        {.name = "label", .dtype = MSHARD_INT64, .content = MSHARD_CONTENT_LABEL},
        {.name = "words", .dtype = MSHARD_INT32, .ndim = 1, .shape = {X}},
        {.name = "picture", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {X, X, 3}},
        {.name = "feature",
         .dtype = MSHARD_FLOAT16,
         .ndim = 1,
         .shape = {5},
         .flags = MSHARD_FIELD_SCALED,
         .scale = 0.5,
         .offset = 1},
        {.name = "__key__",
         .dtype = MSHARD_UINT8,
         .content = MSHARD_CONTENT_TEXT,
         .flags = MSHARD_FIELD_AUX,
         .ndim = 1,
         .shape = {X}},
    };
    static const uint64_t shapes[4][3] = {{2, 5, 3}, {0, 7, 3}, {100, 300, 3}, {1, 1, 3}};
    static const size_t words[4] = {3, 0, 20000, 1};
    const char *dir = mshi_test_dir(), *temp = mshi_test_path(dir, "t"), *path = mshi_test_path(dir, "s.mshard");
    static uint8_t pixels[4][90000], features[4][10];
    static int32_t numbers[4][20000];
    static const int64_t labels[4] = {5, -1, INT64_MAX, 0};
    struct mshi_shard_writer *w = start(temp, fields, 5, 0, _i == 0 ? 0 : 4096);
    struct mshi_shard_result result;
    struct mshi_header *h;
    struct file f;
    const mshi_le64 *ends;
    const mshi_le32 *dims;
    uint64_t end = 0;

    for (int r = 0; r < 4; r++) {
        const size_t size = shapes[r][0] * shapes[r][1] * 3;

        fill(pixels[r], size, (uint64_t)r);
        fill(numbers[r], sizeof(numbers[r]), 9);
        fill(features[r], sizeof(features[r]), 7 + (uint64_t)r);
        OK(mshi_shard_writer_append(w,
                                    (mshard_value[]){{&labels[r], 8, NULL},
                                                     {numbers[r], words[r] * 4, NULL},
                                                     {pixels[r], size, shapes[r]},
                                                     {features[r], 10, NULL},
                                                     {"key", 3, NULL}},
                                    &err));
    }
    ck_assert_uint_eq(mshi_shard_writer_count(w), 4);
    ck_assert_uint_eq(mshi_shard_writer_bytes(w), 4 * 8 + 20004 * 4 + (30 + 0 + 90000 + 3) + 40 + 12);
    result = seal(w);
    ck_assert_int_eq(mshi_shard_writer_append(w, NULL, NULL), MSHARD_E_INVALID);
    OK(mshi_shard_writer_publish(w, path, &err));
    mshi_shard_writer_free(w);
    ck_assert_uint_eq(entries(dir), 1);

    f = slurp(path);
    h = check_file(&f);
    ck_assert_uint_eq(result.records, 4);
    ck_assert_uint_eq(result.size, f.size);
    ck_assert_uint_eq(result.header_sum, h->header_sum);
    ck_assert_uint_eq(h->records, 4);
    ck_assert_uint_eq(h->incompat, MSHI_INCOMPAT_VARIABLE | MSHI_INCOMPAT_SCALED);
    ck_assert_uint_eq(h->compat, MSHI_COMPAT_KEYS);
    /* the picture weighs most: it stands first, then the others as declared */
    ck_assert_uint_eq(h->section_count, 3 + 1 + 2 + 1 + 2 + 1);
    ck_assert(h->sections[0].field == 2 && h->sections[0].kind == MSHI_SECTION_VALUES);
    ck_assert(h->sections[1].field == 2 && h->sections[1].kind == MSHI_SECTION_ENDS);
    ck_assert(h->sections[2].field == 2 && h->sections[2].kind == MSHI_SECTION_DIMS);
    ck_assert(h->sections[3].field == 0 && h->sections[3].kind == MSHI_SECTION_COLUMN);
    ck_assert(h->sections[4].field == 1 && h->sections[4].kind == MSHI_SECTION_VALUES);
    ck_assert(h->sections[5].field == 1 && h->sections[5].kind == MSHI_SECTION_ENDS);
    ck_assert(h->sections[6].field == 3 && h->sections[6].kind == MSHI_SECTION_COLUMN);
    ck_assert(h->sections[7].field == 4 && h->sections[8].field == 4);

    ends = section(&f, h, 2, MSHI_SECTION_ENDS, 32);
    dims = section(&f, h, 2, MSHI_SECTION_DIMS, 48);
    for (int r = 0; r < 4; r++) {
        const size_t size = shapes[r][0] * shapes[r][1] * 3;

        ck_assert_mem_eq((const char *)section(&f, h, 2, MSHI_SECTION_VALUES, 90033) + end, pixels[r], size);
        end += size;
        ck_assert_uint_eq(mshi_le64_load(&ends[r]), end);
        for (int d = 0; d < 3; d++)
            ck_assert_uint_eq(mshi_le32_load(&dims[3 * r + d]), shapes[r][d]);
        ck_assert_mem_eq((const char *)section(&f, h, 3, MSHI_SECTION_COLUMN, 40) + 10 * r, features[r], 10);
    }
    ck_assert_mem_eq(section(&f, h, 0, MSHI_SECTION_COLUMN, 32), labels, 32);
    ck_assert_mem_eq((const char *)section(&f, h, 1, MSHI_SECTION_VALUES, 80016) + 12, numbers[2], 80000);
    ck_assert_mem_eq(section(&f, h, 4, MSHI_SECTION_VALUES, 12), "keykeykeykey", 12);
    free(h);
    free(f.data);
}
END_TEST

/* Two columns written in pieces of any size, held in memory or spilled: always the same file. */
START_TEST(split_does_not_matter)
{
    static const uint64_t record[] = {1, 3, 4096, 65536, 100000, 150528};
    static const uint64_t counts[] = {200001, 100000, 520, 33, 22, 15};
    static const uint32_t aligns[] = {4096, 1u << 20};
    const uint64_t size = record[_i], n = counts[_i];
    const mshard_field fields[] = {
        {.name = "x", .dtype = MSHARD_UINT8, .ndim = 1, .shape = {size}},
        {.name = "y", .dtype = MSHARD_UINT8, .ndim = 1, .shape = {size}},
    };
    uint8_t *x = malloc(size * n), *y = malloc(size * n);
    const char *dir = mshi_test_dir();

    ck_assert(x != NULL && y != NULL);
    fill(x, size * n, 1);
    fill(y, size * n, 2);
    for (int a = 0; a < 2; a++) {
        struct file first = {0};
        struct mshi_header *h;

        for (uint64_t way = 0; way < 6; way++) {
            const char *path = mshi_test_path(dir, "shard");
            struct mshi_shard_writer *w = start(path, fields, 2, aligns[a], way % 2 == 0 ? 0 : 100000);
            uint64_t seed = way;
            struct file f;

            for (uint64_t i = 0; i < n;) {
                uint64_t m = n; /* way 0, 1: all at once; 2, 3: one by one; 4, 5: any */

                seed = seed * UINT64_C(6364136223846793005) + 12345;
                if (way >= 4)
                    m = 1 + (seed >> 40) % ((UINT64_C(3) << 20) / size);
                if (way == 2 || way == 3)
                    m = i < 5 ? 1 : n / 3; /* all of 700,000 would take long */
                if (m > n - i)
                    m = n - i;
                if (m == 1)
                    OK(mshi_shard_writer_append(
                        w, (mshard_value[]){{x + i * size, size, NULL}, {y + i * size, size, NULL}}, &err));
                else
                    OK(mshi_shard_writer_append_batch(w, (const void *[]){x + i * size, y + i * size}, m, &err));
                i += m;
            }
            (void)seal(w);
            f = slurp(path);
            mshi_shard_writer_free(w);
            if (way == 0) {
                first = f;
                h = check_file(&f);
                ck_assert_mem_eq(section(&f, h, 0, MSHI_SECTION_COLUMN, n * size), x, n * size);
                ck_assert_mem_eq(section(&f, h, 1, MSHI_SECTION_COLUMN, n * size), y, n * size);
                free(h);
                continue;
            }
            ck_assert_uint_eq(f.size, first.size);
            ck_assert(memcmp(f.data, first.data, f.size) == 0);
            free(f.data);
        }
        free(first.data);
    }
    ck_assert_uint_eq(entries(dir), 0);
    free(x);
    free(y);
}
END_TEST

START_TEST(no_records)
{
    const mshard_field fields[] = {{.name = "a", .dtype = MSHARD_UINT8, .ndim = 2, .shape = {X, 2}},
                                   {.name = "b", .dtype = MSHARD_INT8}};
    const char *path = mshi_test_path(mshi_test_dir(), "s");
    struct mshi_shard_writer *w = start(path, fields, 2, _i == 0 ? 4096 : 1u << 20, 0);
    struct mshi_shard_result result = seal(w);
    struct file f = slurp(path);
    struct mshi_header *h = check_file(&f);

    ck_assert_uint_eq(result.records, 0);
    ck_assert_uint_eq(f.size, _i == 0 ? 4096 : (1u << 20) + 16 * 8);
    free(h);
    free(f.data);
    mshi_shard_writer_free(w);
}
END_TEST

/* A million small records must not cost a page each. */
START_TEST(small_records_are_dense)
{
    const mshard_field fields[] = {{.name = "a", .dtype = MSHARD_UINT8, .ndim = 1, .shape = {_i == 0 ? 100 : X}}};
    const char *path = mshi_test_path(mshi_test_dir(), "s");
    struct mshi_shard_writer *w = start(path, fields, 1, 0, 0);
    const uint64_t n = 100000;
    char value[100] = "x";

    for (uint64_t i = 0; i < n; i++)
        OK(mshi_shard_writer_append(w, &(mshard_value){value, 100, NULL}, &err));
    ck_assert_uint_lt(seal(w).size, n * 130);
    mshi_shard_writer_free(w);
}
END_TEST

START_TEST(wrong_values_add_nothing)
{
    const mshard_field fields[] = {
        {.name = "a", .dtype = MSHARD_UINT16, .ndim = 2, .shape = {X, 3}},
        {.name = "b", .dtype = MSHARD_BOOL, .ndim = 1, .shape = {3}},
        {.name = "c", .dtype = MSHARD_FLOAT32, .ndim = 1, .shape = {X}},
    };
    const uint64_t good[] = {2, 3}, other[] = {3, 2}, less[] = {1, 3}, huge[] = {UINT64_C(1) << 33, 3},
                   wrap[] = {UINT64_MAX, 3};
    uint16_t a[6] = {0};
    uint8_t b[3] = {0, 1, 1}, two[3] = {0, 1, 2};
    float c[2] = {0};
    const mshard_value ok[] = {{a, 12, good}, {b, 3, NULL}, {c, 8, NULL}};
    const struct {
        int field;
        mshard_value value;
        const char *says;
    } bad[] = {
        {0, {a, 12, other}, "dimension 1"},
        {0, {a, 12, less}, "bytes"},
        {0, {a, 12, NULL}, "shape"},
        {0, {a, 12, huge}, "dimension 0"},
        {0, {a, 12, wrap}, "dimension 0"},
        {0, {NULL, 12, good}, "no data"},
        {1, {b, 2, NULL}, "3 bytes"},
        {1, {b, 4, NULL}, "3 bytes"},
        {1, {two, 3, NULL}, "0 or 1, found 2 in element 2"},
        {2, {c, 7, NULL}, "multiple of 4"},
        {2, {NULL, 8, NULL}, "no data"},
    };
    const char *dir = mshi_test_dir(), *path = mshi_test_path(dir, "s"), *plain = mshi_test_path(dir, "plain");
    struct mshi_shard_writer *w = start(path, fields, 3, 0, 0), *p = start(plain, fields, 3, 0, 0);
    struct file f, g;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        mshard_value values[3];

        memcpy(values, ok, sizeof(values));
        values[bad[i].field] = bad[i].value;
        ck_assert_int_eq(mshi_shard_writer_append(w, values, &err), MSHARD_E_INVALID);
        ck_assert_msg(strstr(err.message, bad[i].says) != NULL, "%zu: %s", i, err.message);
        OK(mshi_shard_writer_append(w, ok, &err));
        OK(mshi_shard_writer_append(p, ok, &err));
    }
    ck_assert_int_eq(mshi_shard_writer_append_batch(w, (const void *[]){a, b, c}, 1, &err), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "variable"));
    (void)seal(w);
    (void)seal(p);
    f = slurp(path);
    g = slurp(plain);
    ck_assert_uint_eq(f.size, g.size);
    ck_assert_mem_eq(f.data, g.data, f.size);
    free(f.data);
    free(g.data);
    mshi_shard_writer_free(w);
    mshi_shard_writer_free(p);
}
END_TEST

START_TEST(wrong_batches_add_nothing)
{
    const mshard_field fields[] = {{.name = "a", .dtype = MSHARD_INT8}, {.name = "b", .dtype = MSHARD_BOOL}};
    struct mshi_shard_writer *w = start(mshi_test_path(mshi_test_dir(), "s"), fields, 2, 0, 0);
    const uint8_t a[4] = {0}, good[4] = {0, 1, 0, 1}, bad[4] = {0, 0, 0, 255};

    ck_assert_int_eq(mshi_shard_writer_append_batch(w, (const void *[]){a, bad}, 4, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(mshi_shard_writer_append_batch(w, (const void *[]){a, NULL}, 4, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(mshi_shard_writer_append_batch(w, (const void *[]){a, good}, UINT64_MAX, &err), MSHARD_E_INVALID);
    OK(mshi_shard_writer_append_batch(w, (const void *[]){a, good}, 0, &err));
    OK(mshi_shard_writer_append_batch(w, (const void *[]){a, good}, 4, &err));
    ck_assert_uint_eq(seal(w).records, 4);
    mshi_shard_writer_free(w);
}
END_TEST

START_TEST(wrong_options)
{
    static const uint32_t aligns[] = {1, 512, 4095, 6000, 1u << 21};
    const mshard_field field = {.name = "a", .dtype = MSHARD_INT8};
    struct mshi_shard_options options = {.fs = &mshi_fs_posix};
    const char *dir = mshi_test_dir();
    struct mshi_shard_writer *w;

    for (size_t i = 0; i < sizeof(aligns) / sizeof(aligns[0]); i++) {
        options.align = aligns[i];
        ck_assert_int_eq(mshi_shard_writer_new(mshi_test_path(dir, "s"), &field, 1, &options, &w, &err),
                         MSHARD_E_INVALID);
        ck_assert_ptr_null(w);
    }
    options.align = 0;
    ck_assert_int_eq(mshi_shard_writer_new(mshi_test_path(dir, "no/s"), &field, 1, &options, &w, &err),
                     MSHARD_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.path, "no/s"));
    ck_assert_uint_eq(entries(dir), 0);
}
END_TEST

/* Any bit that changes between us and the disk is found by the seal: write n is damaged, for every n. */
START_TEST(damaged_writes_are_found)
{
    const mshard_field fields[] = {{.name = "a", .dtype = MSHARD_UINT8, .ndim = 1, .shape = {10000}},
                                   {.name = "b", .dtype = MSHARD_UINT8, .ndim = 1, .shape = {X}}};
    const char *dir = mshi_test_dir(), *trash = mshi_test_dir(), *path = mshi_test_path(dir, "s");
    static uint8_t a[10000], b[9000];
    uint64_t n, found = 0;

    for (n = 1;; n++) {
        struct faultfs fault;
        struct mshi_shard_options options = {.fs = &fault.fs, .sync = true, .held_max = 4096};
        struct mshi_shard_writer *w;
        struct mshi_shard_result result;
        mshard_status status;
        uint64_t count;

        faultfs_init(&fault, FAULTFS_FLIP, n, trash);
        OK(mshi_shard_writer_new(path, fields, 2, &options, &w, &err));
        for (int r = 0; r < 20; r++) {
            fill(a, sizeof(a), (uint64_t)r);
            fill(b, sizeof(b), (uint64_t)r + 50);
            OK(mshi_shard_writer_append(w, (mshard_value[]){{a, sizeof(a), NULL}, {b, sizeof(b), NULL}}, &err));
        }
        status = mshi_shard_writer_seal(w, &result, &err);
        count = fault.count;
        if (fault.operation != NULL && strcmp(fault.operation, "pwrite") == 0) {
            ck_assert_msg(status != MSHARD_OK, "damage of operation %d was not found", (int)n);
            ck_assert_int_eq(mshi_shard_writer_seal(w, &result, NULL), MSHARD_E_INVALID);
            ck_assert_int_eq(mshi_shard_writer_publish(w, mshi_test_path(dir, "out"), NULL), MSHARD_E_INVALID);
            found++;
        } else {
            ck_assert_int_eq(status, MSHARD_OK);
        }
        mshi_shard_writer_free(w);
        ck_assert_uint_eq(entries(dir), 0);
        faultfs_end(&fault, FAULTFS_KEEP);
        if (n > count)
            break;
    }
    ck_assert_uint_gt(found, 60); /* 20 records of 9,000 bytes spill often */
}
END_TEST

START_TEST(figures_are_taken)
{
    const mshard_field fields[] = {{.name = "a", .dtype = MSHARD_INT32},
                                   {.name = "k", .dtype = MSHARD_UINT8, .flags = MSHARD_FIELD_AUX}};
    struct mshi_shard_writer *w = start(mshi_test_path(mshi_test_dir(), "s"), fields, 2, 0, 0);
    const int32_t a[] = {3, -4, 10};
    mshard_stats stats;

    OK(mshi_shard_writer_append_batch(w, (const void *[]){a, "xy"}, 2, &err));
    OK(mshi_shard_writer_append(w, (mshard_value[]){{a + 2, 4, NULL}, {"z", 1, NULL}}, &err));
    ck_assert_ptr_null(mshi_shard_writer_stats(w, 1));
    mshi_stats_result(mshi_shard_writer_stats(w, 0), &stats);
    ck_assert_uint_eq(stats.values, 3);
    ck_assert(stats.min[0] == -4 && stats.max[0] == 10 && stats.mean[0] == 3);
    mshi_shard_writer_free(w);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("shard_writer");
    TCase *tests = tcase_create("shard_writer");

    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, mixed_fields, 0, 2);
    tcase_add_loop_test(tests, split_does_not_matter, 0, 6);
    tcase_add_loop_test(tests, no_records, 0, 2);
    tcase_add_loop_test(tests, small_records_are_dense, 0, 2);
    tcase_add_test(tests, wrong_values_add_nothing);
    tcase_add_test(tests, wrong_batches_add_nothing);
    tcase_add_test(tests, wrong_options);
    tcase_add_test(tests, damaged_writes_are_found);
    tcase_add_test(tests, figures_are_taken);
    suite_add_tcase(suite, tests);
    return suite;
}
