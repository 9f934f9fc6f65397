/*
 * test_header.c - the shard header: emit and parse agree, every rule refuses, any damage is found
 */
#include "base/hash.h"
#include "format/field_rules.h"
#include "format/header.h"
#include "support/main.h"

#include <stdlib.h>
#include <string.h>

#define PATH "a.mshard"
#define FILE_SIZE 20480u /* with the sums: see make_header */

static mshard_error err;

/* Two fields, one of them variable with two dimensions: five sections. */
static void make_header(struct mshi_header *h)
{
    memset(h, 0, sizeof(*h));
    h->major = MSHI_MAJOR;
    h->header_size = mshi_header_size_for(2, 5);
    h->align = 4096;
    h->incompat = MSHI_INCOMPAT_VARIABLE | MSHI_INCOMPAT_SCALED;
    h->records = 10;
    h->field_count = 2;
    h->fields[0] = (mshard_field){.name = "x",
                                  .dtype = MSHARD_FLOAT16,
                                  .ndim = 1,
                                  .shape = {3},
                                  .flags = MSHARD_FIELD_SCALED,
                                  .scale = 0.5,
                                  .offset = -1};
    h->fields[1] =
        (mshard_field){.name = "boxes", .dtype = MSHARD_FLOAT32, .ndim = 2, .shape = {MSHARD_DIM_UNKNOWN, 4}};
    h->section_count = 5;
    h->sections[0] = (struct mshi_section){MSHI_SECTION_COLUMN, 0, 4096, 60};
    h->sections[1] = (struct mshi_section){MSHI_SECTION_VALUES, 1, 8192, 160};
    h->sections[2] = (struct mshi_section){MSHI_SECTION_ENDS, 1, 12288, 80};
    h->sections[3] = (struct mshi_section){MSHI_SECTION_DIMS, 1, 16384, 80};
    h->sections[4] = (struct mshi_section){MSHI_SECTION_SUMS, MSHI_NO_FIELD, FILE_SIZE, 8};
    h->file_size = FILE_SIZE + 8;
    h->sums_root = 42;
}

static void emit(uint8_t page[4096])
{
    struct mshi_header *h = malloc(sizeof(*h));

    make_header(h);
    ck_assert_uint_eq(h->header_size, 4096);
    mshi_header_emit(h, page);
    free(h);
}

static void reseal(uint8_t page[4096])
{
    struct mshi_disk_header *disk = (struct mshi_disk_header *)page;

    memset(&disk->header_sum, 0, sizeof(disk->header_sum));
    mshi_le64_store(&disk->header_sum, mshi_hash64(page, 4096, 0));
}

static mshard_status parse(const uint8_t *page, size_t size, uint64_t file_size, bool check_sum)
{
    struct mshi_header *h = malloc(sizeof(*h));
    const mshard_status status = mshi_header_parse(page, size, file_size, PATH, check_sum, h, &err);

    free(h);
    return status;
}

START_TEST(test_round_trip)
{
    struct mshi_header *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
    uint8_t page[4096], again[4096];

    make_header(a);
    mshi_header_emit(a, page);
    ck_assert_msg(mshi_header_parse(page, sizeof(page), a->file_size, PATH, true, b, &err) == MSHARD_OK, "%s",
                  err.message);
    ck_assert_uint_eq(b->records, 10);
    ck_assert_uint_eq(b->header_sum, a->header_sum);
    ck_assert_str_eq(b->fields[1].name, "boxes");
    ck_assert_uint_eq(b->fields[0].record_size, 6);
    ck_assert_uint_eq(b->fields[1].record_size, 0);
    ck_assert(b->fields[0].scale == 0.5 && b->fields[0].offset == -1);
    ck_assert_uint_eq(mshi_header_block_count(b), 1);
    ck_assert_uint_eq(mshi_header_section(b, 1, MSHI_SECTION_DIMS)->offset, 16384);
    ck_assert_ptr_null(mshi_header_section(b, 0, MSHI_SECTION_DIMS));
    mshi_header_emit(b, again);
    ck_assert_mem_eq(page, again, sizeof(page));
    free(a);
    free(b);
}
END_TEST

START_TEST(test_size_for)
{
    ck_assert_uint_eq(mshi_header_size_for(1, 2), 4096);
    ck_assert_uint_eq(mshi_header_size_for(20, 24), 4096); /* 128 + 3200 + 768 = 4096 */
    ck_assert_uint_eq(mshi_header_size_for(20, 25), 8192);
    ck_assert_uint_ne(mshi_header_size_for(MSHARD_MAX_FIELDS, MSHI_MAX_SECTIONS), 0);
    ck_assert_uint_eq(mshi_header_size_for(100000, 1), 0);
}
END_TEST

/* What other programs do to the first bytes; each is named. */
START_TEST(test_magic)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *words;
    } cases[] = {
        {"\x09MSH\r\n\x1a\n", 8, "bit 7"},     {"\x89MSH\n\x1a\n", 7, "text mode"},
        {"\x89MSH\r\r\n\x1a", 8, "text mode"}, {"\xc2\x89MSH", 5, "Latin-1"},
        {"\xef\xbf\xbdMSH", 6, "UTF-8"},       {"\0\0\0\0\0\0\0\0", 8, "not sealed"},
        {"PK\3\4\5\6\7\10", 8, "50 4b 03 04"}, {"\x89MSHabcd", 8, "damaged"},
    };
    uint8_t page[4096];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        emit(page);
        memcpy(page, cases[i].bytes, cases[i].size);
        ck_assert_int_eq(parse(page, 4096, FILE_SIZE + 8, true), MSHARD_E_FORMAT);
        ck_assert_msg(strstr(err.message, cases[i].words) != NULL, "%s: %s", cases[i].words, err.message);
        ck_assert_uint_eq(err.offset, 0);
    }
}
END_TEST

START_TEST(test_truncation)
{
    uint8_t page[4096];

    emit(page);
    for (size_t size = 0; size < 4096; size++) {
        ck_assert_int_eq(parse(page, size, size, true), MSHARD_E_TRUNCATED);
        ck_assert_uint_eq(err.offset, size);
    }
    for (uint64_t size = 4096; size < FILE_SIZE + 8; size += 97)
        ck_assert_int_eq(parse(page, 4096, size, true), MSHARD_E_TRUNCATED);
    ck_assert_int_eq(parse(page, 4096, FILE_SIZE + 7, true), MSHARD_E_TRUNCATED);
    ck_assert_int_eq(parse(page, 4096, FILE_SIZE + 9, true), MSHARD_E_CORRUPT);
    /* the caller gave too little of a file that is large enough */
    ck_assert_int_eq(parse(page, 2000, FILE_SIZE + 8, true), MSHARD_E_TRUNCATED);
    ck_assert_uint_eq(err.offset, 4096);
}
END_TEST

/* Each bit of the header matters: with the sum, and for all but sums and free numbers without it too. */
START_TEST(test_every_bit)
{
    uint8_t page[4096];

    emit(page);
    for (size_t bit = 0; bit < 8 * sizeof(page); bit += bit < 8 * 640 ? 1 : 67) {
        const size_t at = bit / 8;
        page[at] ^= (uint8_t)(1u << bit % 8);
        ck_assert_msg(parse(page, 4096, FILE_SIZE + 8, true) != MSHARD_OK, "bit %zu", bit);
        const mshard_status status = parse(page, 4096, FILE_SIZE + 8, false);
        /* minor, compat (unknown bits), sums_root, header_sum, field names, dtypes of one size, scale, offset, auxiliary,
         * known dimension of a variable field, size of values within their gap */
        const bool free_number = (at >= 10 && at < 12) || (at >= 24 && at < 32) || (at >= 112 && at < 128) ||
                                 (at >= 128 && (at - 128) % 160 < 66 && at < 448) || (at >= 264 && at < 280) ||
                                 bit == 8 * 356 || (at >= 368 && at < 372) || (at >= 496 && at < 498);
        ck_assert_msg(status != MSHARD_OK || free_number, "byte %zu bit %zu read without its sum", at, bit % 8);
        page[at] ^= (uint8_t)(1u << bit % 8);
    }
    ck_assert_int_eq(parse(page, 4096, FILE_SIZE + 8, true), MSHARD_OK);
}
END_TEST

/* One member wrong, the sum right: the rule itself refuses, and says where. */
START_TEST(test_rules)
{
    static const struct {
        uint32_t at, size;
        uint64_t value;
        mshard_status status;
    } cases[] = {
        {8, 2, 2, MSHARD_E_VERSION},
        {8, 2, 0, MSHARD_E_VERSION},
        {12, 4, 0, MSHARD_E_CORRUPT},
        {12, 4, 4097, MSHARD_E_CORRUPT},
        {12, 4, 1u << 20, MSHARD_E_CORRUPT},
        {12, 4, 65536, MSHARD_E_TRUNCATED},
        {16, 8, 7, MSHARD_E_VERSION},
        {16, 8, UINT64_C(1) << 63 | 3, MSHARD_E_VERSION},
        {16, 8, 0, MSHARD_E_CORRUPT},
        {24, 8, 1, MSHARD_E_CORRUPT},
        {32, 8, UINT64_MAX, MSHARD_E_LIMIT},
        {32, 8, 1u << 20, MSHARD_E_TRUNCATED},
        {32, 8, 4096, MSHARD_E_CORRUPT},
        {40, 8, UINT64_C(1) << 63, MSHARD_E_LIMIT},
        {40, 8, 11, MSHARD_E_CORRUPT},
        {48, 4, 2048, MSHARD_E_CORRUPT},
        {48, 4, 12288, MSHARD_E_CORRUPT},
        {48, 4, 1u << 21, MSHARD_E_CORRUPT},
        {52, 4, 4096, MSHARD_E_CORRUPT},
        {56, 4, 2, MSHARD_E_CORRUPT},
        {60, 4, 0, MSHARD_E_CORRUPT},
        {60, 4, 65, MSHARD_E_LIMIT},
        {60, 4, UINT32_MAX, MSHARD_E_LIMIT},
        {64, 4, 4, MSHARD_E_CORRUPT},
        {64, 4, UINT32_MAX, MSHARD_E_CORRUPT},
        {68, 4, 0, MSHARD_E_CORRUPT},
        {72, 4, UINT32_MAX, MSHARD_E_CORRUPT},
        {100, 1, 1, MSHARD_E_CORRUPT},
        {128, 1, '1', MSHARD_E_CORRUPT},
        {128 + 63, 1, 'a', MSHARD_E_CORRUPT},
        {128 + 64, 1, 0, MSHARD_E_CORRUPT},
        {128 + 64, 1, 14, MSHARD_E_CORRUPT},
        {128 + 65, 1, 9, MSHARD_E_CORRUPT},
        {128 + 66, 1, 255, MSHARD_E_LIMIT},
        {128 + 67, 1, 1, MSHARD_E_CORRUPT},
        {128 + 68, 4, 6, MSHARD_E_CORRUPT},
        {128 + 72, 8, 0, MSHARD_E_CORRUPT},
        {128 + 72, 8, UINT64_C(1) << 41, MSHARD_E_LIMIT},
        {128 + 72, 8, UINT64_C(1) << 40, MSHARD_E_LIMIT}, /* times 2 bytes: above 2^40 */
        {128 + 80, 8, 1, MSHARD_E_CORRUPT},
        {128 + 136, 8, 0, MSHARD_E_CORRUPT},
        {128 + 136, 8, 0x7ff0000000000000, MSHARD_E_CORRUPT},
        {128 + 144, 8, 0x7ff8000000000000, MSHARD_E_CORRUPT},
        {128 + 152, 1, 1, MSHARD_E_CORRUPT},
        {288 + 80, 8, UINT64_C(1) << 33, MSHARD_E_LIMIT},
        {448, 4, 6, MSHARD_E_CORRUPT},
        {448, 4, 2, MSHARD_E_CORRUPT},
        {448 + 4, 4, 1, MSHARD_E_CORRUPT},
        {448 + 4, 4, 2, MSHARD_E_CORRUPT},
        {448 + 8, 8, 4097, MSHARD_E_CORRUPT},
        {448 + 8, 8, UINT64_MAX - 4095, MSHARD_E_CORRUPT},
        {448 + 16, 8, 61, MSHARD_E_CORRUPT},
        {448 + 16, 8, UINT64_MAX, MSHARD_E_CORRUPT},
        {448 + 24, 1, 1, MSHARD_E_CORRUPT},
        {448 + 32 + 16, 8, 161, MSHARD_E_CORRUPT},
        {448 + 128, 4, 3, MSHARD_E_CORRUPT},
        {448 + 128 + 4, 4, 0, MSHARD_E_CORRUPT},
        {608, 1, 1, MSHARD_E_CORRUPT},
        {4095, 1, 1, MSHARD_E_CORRUPT},
    };
    uint8_t page[4096];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        emit(page);
        for (uint32_t b = 0; b < cases[i].size; b++)
            page[cases[i].at + b] = (uint8_t)(cases[i].value >> (8 * b));
        reseal(page);
        const mshard_status status = parse(page, 4096, FILE_SIZE + 8, true);
        ck_assert_msg(status == cases[i].status, "byte %u value %llx: expected %d, found %d %s", cases[i].at,
                      (unsigned long long)cases[i].value, cases[i].status, status, err.message);
        ck_assert_uint_gt(strlen(err.message), 10);
    }
}
END_TEST

/* Auxiliary fields of other names are for later features: read. */
START_TEST(test_auxiliary)
{
    uint8_t page[4096];

    emit(page);
    page[288 + 68] = MSHARD_FIELD_AUX;
    reseal(page);
    ck_assert_msg(parse(page, 4096, FILE_SIZE + 8, true) == MSHARD_OK, "%s", err.message);
    page[128 + 68] |= MSHARD_FIELD_AUX; /* now the first too */
    reseal(page);
    ck_assert_int_eq(parse(page, 4096, FILE_SIZE + 8, true), MSHARD_E_CORRUPT);
}
END_TEST

/* Newer minor versions and unknown compat bits are read. */
START_TEST(test_newer)
{
    uint8_t page[4096];

    emit(page);
    page[10] = 7;
    page[31] = 0x80;
    reseal(page);
    ck_assert_int_eq(parse(page, 4096, FILE_SIZE + 8, true), MSHARD_OK);
    page[17] = 1; /* incompat bit 8 */
    reseal(page);
    ck_assert_int_eq(parse(page, 4096, FILE_SIZE + 8, true), MSHARD_E_VERSION);
    ck_assert_ptr_nonnull(strstr(err.message, "bit 8"));
}
END_TEST

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* Random damage with a right sum: whatever is accepted has all sections inside the file. */
START_TEST(test_hostile)
{
    static const uint64_t values[] = {
        0, 1, 2, 255, 4096, 65536, UINT32_MAX, UINT64_C(1) << 40, UINT64_C(1) << 63, UINT64_MAX};
    struct mshi_header *h = malloc(sizeof(*h));
    uint8_t page[4096];
    uint64_t seed = 1;

    for (int round = 0; round < 4000; round++) {
        const uint64_t changes = 1 + next(&seed) % 4;
        const uint64_t file_size = next(&seed) % 3 == 0 ? next(&seed) % 70000 : FILE_SIZE + 8;

        emit(page);
        for (uint64_t c = 0; c < changes; c++) {
            const uint64_t value = values[next(&seed) % 10] + next(&seed) % 2;
            const size_t width = (size_t)1 << next(&seed) % 4;

            memcpy(page + 8 + next(&seed) % 592 / width * width, &value, width);
        }
        reseal(page);
        if (mshi_header_parse(page, sizeof(page), file_size, PATH, next(&seed) % 2, h, &err) != MSHARD_OK)
            continue;
        ck_assert_uint_eq(h->file_size, file_size);
        for (uint32_t i = 0; i < h->section_count; i++) {
            ck_assert_uint_le(h->sections[i].offset, file_size);
            ck_assert_uint_le(h->sections[i].size, file_size - h->sections[i].offset);
        }
    }
    free(h);
}
END_TEST

/* The scan tells all problems, not only the first. */
static void count_problem(void *context, uint64_t offset, const char *text)
{
    ck_assert_uint_gt(strlen(text), 0);
    ck_assert_uint_lt(offset, 4096);
    ++*(int *)context;
}

START_TEST(test_scan_tells_all)
{
    struct mshi_header *h = malloc(sizeof(*h));
    uint8_t page[4096];
    int problems = 0;

    emit(page);
    page[52] = 1;       /* block_size */
    page[128] = '?';    /* name */
    page[448 + 24] = 1; /* reserved of a section */
    struct mshi_header_scan scan = {.bytes = page,
                                    .size = 4096,
                                    .file_size = FILE_SIZE + 8,
                                    .path = PATH,
                                    .check_sum = true,
                                    .problem = count_problem,
                                    .context = &problems,
                                    .err = &err};
    ck_assert_int_eq(mshi_header_scan(&scan, h), MSHARD_E_CORRUPT);
    ck_assert_int_eq(problems, 4);
    ck_assert_uint_eq(err.offset, 120); /* the sum comes first */
    free(h);
}
END_TEST

START_TEST(test_field_rules)
{
    static const struct {
        mshard_field field;
        mshard_status status;
    } cases[] = {
        {{.name = "a", .dtype = MSHARD_UINT8}, MSHARD_OK},
        {{.name = "_", .dtype = MSHARD_UINT8}, MSHARD_OK},
        {{.name = "", .dtype = MSHARD_UINT8}, MSHARD_E_CORRUPT},
        {{.name = "9a", .dtype = MSHARD_UINT8}, MSHARD_E_CORRUPT},
        {{.name = "a b", .dtype = MSHARD_UINT8}, MSHARD_E_CORRUPT},
        {{.name = "\xc3\xa9", .dtype = MSHARD_UINT8}, MSHARD_E_CORRUPT},
        {{.name = "a", .dtype = (mshard_dtype)0}, MSHARD_E_CORRUPT},
        {{.name = "a", .dtype = MSHARD_UINT8, .ndim = 9}, MSHARD_E_LIMIT},
        {{.name = "a", .dtype = MSHARD_BOOL, .flags = MSHARD_FIELD_SCALED, .scale = 1}, MSHARD_E_CORRUPT},
        {{.name = "a", .dtype = MSHARD_FLOAT16, .content = MSHARD_CONTENT_LABEL}, MSHARD_E_CORRUPT},
        {{.name = "a", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_LABEL}, MSHARD_OK},
        {{.name = "a", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 3, .shape = {2, 2, 4}},
         MSHARD_E_CORRUPT},
        {{.name = "a", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_IMAGE, .ndim = 2, .shape = {2, 2}}, MSHARD_OK},
        {{.name = "a", .dtype = MSHARD_UINT8, .content = MSHARD_CONTENT_TEXT, .ndim = 1, .shape = {5}},
         MSHARD_E_CORRUPT},
        {{.name = "__key__", .dtype = MSHARD_UINT8}, MSHARD_E_CORRUPT},
    };
    char text[MSHI_RULE_TEXT];
    uint64_t size;
    size_t member;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(mshi_field_rule(&cases[i].field, 0, &size, &member, text) == cases[i].status, "case %zu: %s", i,
                      text);

    const mshard_field twice[2] = {{.name = "a", .dtype = MSHARD_UINT8}, {.name = "a", .dtype = MSHARD_UINT8}};
    ck_assert_int_eq(mshi_field_rule(twice, 1, &size, &member, text), MSHARD_E_CORRUPT);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("header");
    TCase *t = tcase_create("header");

    tcase_add_test(t, test_round_trip);
    tcase_add_test(t, test_size_for);
    tcase_add_test(t, test_magic);
    tcase_add_test(t, test_truncation);
    tcase_add_test(t, test_every_bit);
    tcase_add_test(t, test_rules);
    tcase_add_test(t, test_auxiliary);
    tcase_add_test(t, test_newer);
    tcase_add_test(t, test_hostile);
    tcase_add_test(t, test_scan_tells_all);
    tcase_add_test(t, test_field_rules);
    tcase_set_timeout(t, 60);
    suite_add_tcase(suite, t);
    return suite;
}
