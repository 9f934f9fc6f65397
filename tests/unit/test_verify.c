/*
 * test_verify.c - every fault is found, named, and laid to the right field and records; nothing else is
 */
#include "base/hash.h"
#include "format/header.h"
#include "support/main.h"
#include "support/sample_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mshard_error err;

#define OK(call) ck_assert_msg((call) == MSHARD_OK, "%s: %s %s", #call, err.path, err.message)
#define MAX_SEEN 64

struct seen {
    mshard_status code;
    char shard[64], field[64], path[600], message[512];
    uint64_t offset, size, first, count;
};
struct log {
    struct seen items[MAX_SEEN];
    unsigned count;
    uint64_t progress, total, stop_at;
};

static void note(void *context, const mshard_finding *f)
{
    struct log *log = context;
    struct seen *s = &log->items[log->count < MAX_SEEN ? log->count : MAX_SEEN - 1];

    log->count++;
    s->code = f->error->code;
    snprintf(s->shard, sizeof(s->shard), "%s", f->shard_name == NULL ? "" : f->shard_name);
    snprintf(s->field, sizeof(s->field), "%s", f->field_name == NULL ? "" : f->field_name);
    snprintf(s->path, sizeof(s->path), "%s", f->error->path);
    snprintf(s->message, sizeof(s->message), "%s", f->error->message);
    s->offset = f->offset;
    s->size = f->size;
    s->first = f->first_record;
    s->count = f->record_count;
}

static int advance(void *context, uint64_t done, uint64_t total)
{
    struct log *log = context;

    ck_assert_uint_le(done, total);
    ck_assert_uint_ge(done, log->progress);
    log->progress = done;
    log->total = total;
    return log->stop_at != 0 && done >= log->stop_at;
}

static mshard_verify_options options(struct log *log)
{
    memset(log, 0, sizeof(*log));
    return (mshard_verify_options){MSHARD_VERIFY_OPTIONS_INIT, .report = note, .progress = advance, .context = log};
}

static mshard_verify_result run(const char *path, struct log *log)
{
    const mshard_verify_options o = options(log);
    mshard_verify_result r;

    OK(mshard_verify(path, &o, &r, &err));
    ck_assert_uint_eq(r.findings, log->count);
    ck_assert_int_eq(r.worst, log->count == 0 ? MSHARD_OK : log->items[0].code);
    return r;
}

static void expect_one(const struct log *log, mshard_status code, const char *shard, const char *words)
{
    ck_assert_msg(log->count == 1, "%u findings, first: %s", log->count, log->items[0].message);
    ck_assert_msg(log->items[0].code == code, "%d %s", log->items[0].code, log->items[0].message);
    ck_assert_str_eq(log->items[0].shard, shard);
    ck_assert_msg(strstr(log->items[0].message, words) != NULL, "%s: %s", words, log->items[0].message);
}

static struct mshi_header *load_header(const char *path)
{
    struct mshi_header *h = malloc(sizeof(*h));
    size_t size;
    unsigned char *data = mshi_set_read(path, &size);

    ck_assert_int_eq(mshi_header_parse(data, size, size, path, true, h, &err), MSHARD_OK);
    free(data);
    return h;
}

/* Recompute sums, header and dataset.json's entry are left alone: a shard alone is consistent again. */
static void reseal(const char *path)
{
    struct mshi_header *h = malloc(sizeof(*h));
    size_t size;
    unsigned char *data = mshi_set_read(path, &size);

    ck_assert_int_eq(mshi_header_parse(data, size, size, path, false, h, &err), MSHARD_OK);
    const struct mshi_section *sums = &h->sections[h->section_count - 1];
    for (uint64_t b = 0; b < mshi_header_block_count(h); b++) {
        const uint64_t begin = h->header_size + b * 65536, left = sums->offset - begin;

        mshi_le64_store((mshi_le64 *)(data + sums->offset) + b,
                        mshi_hash64(data + begin, left < 65536 ? left : 65536, b));
    }
    h->sums_root = mshi_hash64(data + sums->offset, sums->size, 0);
    mshi_header_emit(h, data);
    mshi_set_write(path, data, size);
    free(data);
    free(h);
}

START_TEST(test_clean)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");
    struct log log;

    mshi_set_make(dir, 3000, 1100);
    for (mshard_verify_level level = MSHARD_VERIFY_DEFAULT; level <= MSHARD_VERIFY_ALL; level++) {
        mshard_verify_options o = options(&log);
        mshard_verify_result r;

        o.level = level;
        o.threads = level + 1;
        OK(mshard_verify(dir, &o, &r, &err));
        ck_assert_msg(r.findings == 0, "%s", log.items[0].message);
        ck_assert_uint_eq(r.shards, 3);
        ck_assert_uint_eq(r.bad_shards, 0);
        ck_assert(level == MSHARD_VERIFY_DEFAULT || level == MSHARD_VERIFY_ALL ? r.blocks > 3 : r.blocks == 0);
        ck_assert_uint_eq(log.progress, log.total);
    }
    ck_assert_uint_eq(run(mshi_test_path(dir, "dataset.json"), &log).findings, 0);
    ck_assert_uint_eq(run(mshi_test_path(dir, "shard-000001.mshard"), &log).findings, 0);
    OK(mshard_verify(dir, NULL, NULL, &err));
}
END_TEST

/* One changed byte in each section: the block, the field, the records. */
START_TEST(test_bad_block)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *path = mshi_test_path(dir, "shard-000001.mshard");
    struct log log;

    mshi_set_make(dir, 6000, 3000);
    struct mshi_header *h = load_header(path);
    for (uint32_t i = 0; i + 1 < h->section_count; i++) {
        const struct mshi_section *s = &h->sections[i];
        const uint64_t at = s->offset + s->size / 2 / 8 * 8, block = (at - h->header_size) / 65536;
        bool found = false;

        mshi_set_flip(path, at, 2);
        const mshard_verify_result r = run(dir, &log);
        mshi_set_flip(path, at, 2);
        ck_assert_uint_ge(r.findings, 1);
        ck_assert_uint_eq(r.bad_blocks, 1);
        ck_assert_uint_eq(r.bad_shards, 1);
        ck_assert_uint_ge(r.bad_records, 1);
        for (unsigned k = 0; k < log.count; k++) {
            const struct seen *f = &log.items[k];

            ck_assert_str_eq(f->shard, "shard-000001.mshard");
            if (strncmp(f->message, "block", 5) != 0)
                continue;
            ck_assert_uint_eq(f->offset, h->header_size + block * 65536);
            if (strcmp(f->field, h->fields[s->field].name) != 0)
                continue;
            found = true;
            ck_assert_uint_ge(f->first, 3000);
            ck_assert_uint_le(f->first + f->count, 6000);
            if (s->kind == MSHI_SECTION_COLUMN) { /* the record whose byte it is */
                const uint64_t record = 3000 + (at - s->offset) / h->fields[s->field].record_size;

                ck_assert(f->first <= record && record < f->first + f->count);
                ck_assert_uint_le(f->count, 65536 / h->fields[s->field].record_size + 2);
            }
        }
        ck_assert_msg(found, "section %u", i);
    }
    free(h);
    ck_assert_uint_eq(run(dir, &log).findings, 0);
}
END_TEST

/* Exactly the records of a variable field that a block holds. */
START_TEST(test_variable_records)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *path = mshi_test_path(dir, "shard-000000.mshard");
    struct log log;
    unsigned char value[4096];

    mshi_set_make(dir, 6000, 6000);
    struct mshi_header *h = load_header(path);
    const struct mshi_section *s = mshi_header_section(h, SET_TEXT, MSHI_SECTION_VALUES);
    const uint64_t block = (s->offset - h->header_size) / 65536 + 1, begin = h->header_size + block * 65536;
    uint64_t at = s->offset, first = UINT64_MAX, last = 0;
    for (uint64_t r = 0; r < 6000; r++) {
        const uint64_t size = mshi_set_value(r, SET_TEXT, value);

        if (size > 0 && at < begin + 65536 && at + size > begin) {
            first = r < first ? r : first;
            last = r;
        }
        at += size;
    }
    mshi_set_flip(path, begin + 5, 1);
    ck_assert_uint_eq(run(dir, &log).bad_records, last - first + 1);
    ck_assert_uint_eq(log.count, 1);
    ck_assert_str_eq(log.items[0].field, "text");
    ck_assert_uint_eq(log.items[0].first, first);
    ck_assert_uint_eq(log.items[0].count, last - first + 1);
    free(h);
}
END_TEST

START_TEST(test_shard_faults)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *path = mshi_test_path(dir, "shard-000001.mshard");
    const char *other = mshi_test_path(dir, "shard-000000.mshard");
    struct log log;
    size_t size, other_size;

    mshi_set_make(dir, 20, 10);
    unsigned char *data = mshi_set_read(path, &size), *first = mshi_set_read(other, &other_size);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_uint_eq(run(dir, &log).bad_shards, 1);
    expect_one(&log, MSHARD_E_NOT_FOUND, "shard-000001.mshard", "");
    ck_assert(log.items[0].first == 10 && log.items[0].count == 10);
    mshi_set_write(path, data, size - 1);
    run(dir, &log);
    expect_one(&log, MSHARD_E_TRUNCATED, "shard-000001.mshard", "expects a file of");
    mshi_set_write(path, data, size + 1);
    run(dir, &log);
    expect_one(&log, MSHARD_E_CORRUPT, "shard-000001.mshard", "expects a file of");
    mshi_set_write(path, first, other_size);
    run(dir, &log);
    ck_assert_uint_eq(log.count, 1); /* another size, or another header */
    mshi_set_write(path, data, size);
    mshi_set_flip(path, 130, 1);
    run(dir, &log);
    expect_one(&log, MSHARD_E_CORRUPT, "shard-000001.mshard", "header_sum");
    mshi_set_write(path, data, size);
    mshi_set_flip(path, size - 1, 1); /* the only sum */
    ck_assert_uint_eq(run(dir, &log).findings > 1, 1);
    ck_assert_ptr_nonnull(strstr(log.items[0].message, "sums"));
    ck_assert_ptr_nonnull(strstr(log.items[1].message, "sums are damaged too"));
    mshi_set_write(path, data, size);
    mshi_set_write(mshi_test_path(dir, "shard-000007.mshard"), data, size); /* a leftover does no harm */
    ck_assert_uint_eq(run(dir, &log).findings, 0);
    free(data);
    free(first);
}
END_TEST

/* Wrong content under right sums, in a shard alone. */
START_TEST(test_rules)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *path = mshi_test_path(dir, "shard-000000.mshard");
    const char *copy = mshi_test_path(dir, "copy.mshard");
    struct log log;
    size_t size;

    mshi_set_make(dir, 10, 10);
    unsigned char *data = mshi_set_read(path, &size);
    struct mshi_header *h = load_header(path);
    const struct mshi_section *flag = mshi_header_section(h, SET_FLAG, MSHI_SECTION_COLUMN);
    const struct mshi_section *ends = mshi_header_section(h, SET_TEXT, MSHI_SECTION_ENDS);
    const struct mshi_section *dims = mshi_header_section(h, SET_BOXES, MSHI_SECTION_DIMS);
    const struct mshi_section *keys = mshi_header_section(h, SET_KEY, MSHI_SECTION_ENDS);
    const struct {
        uint64_t at;
        unsigned char with;
        const char *field, *words;
        uint64_t first, count;
    } cases[] = {
        {flag->offset + 3, 4, "flag", "bool", 3, 1},
        {flag->offset + 10, 1, "", "between sections", 0, 0},
        {ends->offset + 7, 0x80, "text", "must end between", 0, 2},
        {ends->offset + 9 * 8, 1, "text", "must end", 9, 1},
        {dims->offset + 2 * 8, 1, "boxes", "make the value's", 2, 1},
        {dims->offset + 2 * 8 + 4, 1, "boxes", "dimension 1 must be 4", 2, 1},
        {keys->offset + 2, 1, "__key__", "must", 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        mshi_set_write(copy, data, size);
        mshi_set_flip(copy, cases[i].at, cases[i].with);
        reseal(copy);
        ck_assert_uint_eq(run(copy, &log).bad_blocks, 0);
        ck_assert_msg(log.count >= 1, "case %zu", i);
        ck_assert_str_eq(log.items[0].field, cases[i].field);
        ck_assert_msg(strstr(log.items[0].message, cases[i].words) != NULL, "%s: %s", cases[i].words,
                      log.items[0].message);
        if (cases[i].count > 0) {
            ck_assert_uint_eq(log.items[0].first, cases[i].first);
            ck_assert_uint_eq(log.items[0].count, cases[i].count);
        }
    }
    free(data);
    free(h);
}
END_TEST

START_TEST(test_manifest_faults)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *json = mshi_test_path(dir, "dataset.json");
    struct log log;
    size_t size;

    mshi_set_make(dir, 20, 10);
    unsigned char *text = mshi_set_read(json, &size);
    char *bee = strstr((char *)text, "bee");
    *bee = 'f'; /* readable, but changed: its shards are still checked as listed */
    mshi_set_write(json, text, size);
    ck_assert_uint_eq(run(dir, &log).shards, 2);
    expect_one(&log, MSHARD_E_CORRUPT, "", "id");
    mshi_set_write(json, text, size / 2);
    ck_assert_uint_eq(run(dir, &log).shards, 2);
    expect_one(&log, MSHARD_E_CORRUPT, "", "");
    mshi_set_flip(mshi_test_path(dir, "shard-000001.mshard"), 5000, 1);
    ck_assert_uint_eq(run(json, &log).bad_shards, 1);
    ck_assert_uint_ge(log.count, 2);
    ck_assert_int_eq(unlink(json), 0);
    ck_assert_uint_eq(run(dir, &log).shards, 2);
    ck_assert_int_eq(log.items[0].code, MSHARD_E_INCOMPLETE);
    free(text);
}
END_TEST

/* More classes than labels use is fine; a label at or above the count is not. */
START_TEST(test_labels)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *json = mshi_test_path(dir, "dataset.json");
    struct log log;
    size_t size;

    mshi_set_make(dir, 20, 10);
    unsigned char *text = mshi_set_read(json, &size);
    char *cat = strstr((char *)text, ", \"cat\"");
    memmove(cat, cat + 7, size - (size_t)(cat + 7 - (char *)text)); /* two classes are left, labels go to 2 */
    size -= 7;
    char id[33];
    mshi_hash128_hex(mshi_hash128(text, size - 43), id);
    memcpy(text + size - 36, id, 32);
    mshi_set_write(json, text, size);
    run(dir, &log);
    ck_assert_msg(log.count == 2, "%u %s", log.count, log.items[0].message);
    ck_assert_str_eq(log.items[0].field, "label");
    ck_assert_ptr_nonnull(strstr(log.items[0].message, "found 3 elements"));
    ck_assert(log.items[0].first == 2 && log.items[0].count == 7);
    free(text);
}
END_TEST

START_TEST(test_keys)
{
    const char *root = mshi_test_dir(), *dir = mshi_test_path(root, "set"), *other = mshi_test_path(root, "other");
    const char *keys = mshi_test_path(dir, "keys.mdb"), *json = mshi_test_path(dir, "dataset.json");
    struct log log;
    size_t size, text_size;

    mshi_set_make(dir, 20, 10);
    unsigned char *data = mshi_set_read(keys, &size);
    mshi_set_flip(keys, size / 2, 1);
    run(dir, &log);
    expect_one(&log, MSHARD_E_CORRUPT, "", "damaged");
    mshi_set_write(keys, data, size - 1);
    run(dir, &log);
    expect_one(&log, MSHARD_E_TRUNCATED, "", "bytes");
    ck_assert_int_eq(unlink(keys), 0);
    run(dir, &log);
    expect_one(&log, MSHARD_E_NOT_FOUND, "", "");
    free(data);

    /* a whole and right index, but of other records */
    mshi_set_make(other, 21, 21);
    data = mshi_set_read(mshi_test_path(other, "keys.mdb"), &size);
    mshi_set_write(keys, data, size);
    char *text = (char *)mshi_set_read(json, &text_size), *at = strstr(text, "\"keys\": {"), line[300], id[33];
    char *end = strchr(at, '\n');
    mshi_hash128_hex(mshi_hash128(data, size), id);
    const size_t line_size = (size_t)snprintf(
        line, sizeof(line), "\"keys\": {\"file\": \"keys.mdb\", \"size\": %zu, \"count\": 20, \"xxh3_128\": \"%s\"},",
        size, id);
    char *fresh = malloc(text_size + 300);
    size_t used = (size_t)(at - text);
    memcpy(fresh, text, used);
    memcpy(fresh + used, line, line_size);
    memcpy(fresh + used + line_size, end, text_size - (size_t)(end - text));
    used = used + line_size + text_size - (size_t)(end - text);
    mshi_hash128_hex(mshi_hash128(fresh, used - 43), id);
    memcpy(fresh + used - 36, id, 32);
    mshi_set_write(json, fresh, used);
    run(dir, &log);
    ck_assert_uint_ge(log.count, 1);
    ck_assert_int_eq(log.items[0].code, MSHARD_E_CORRUPT);
    free(data);
    free(text);
    free(fresh);
}
END_TEST

/* Parts are disjoint and complete; a sample is a share, the same for the same seed. */
START_TEST(test_subset_and_sample)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set");
    struct log log;
    mshard_verify_result r, part;
    uint64_t blocks = 0, bytes = 0;

    mshi_set_make(dir, 9000, 3000);
    r = run(dir, &log);
    for (uint64_t k = 1; k <= 5; k++) {
        mshard_verify_options o = options(&log);

        o.subset = k;
        o.subset_count = 5;
        OK(mshard_verify(dir, &o, &part, &err));
        ck_assert_uint_eq(part.findings, 0);
        blocks += part.blocks;
        bytes += part.bytes;
    }
    ck_assert_uint_eq(blocks, r.blocks);
    ck_assert_uint_eq(bytes, r.bytes);

    mshard_verify_options o = options(&log);
    o.sample = 0.5;
    o.seed = 3;
    OK(mshard_verify(dir, &o, &part, &err));
    ck_assert(part.blocks > 0 && part.blocks < r.blocks);
    blocks = part.blocks;
    log.progress = 0;
    OK(mshard_verify(dir, &o, &part, &err));
    ck_assert_uint_eq(part.blocks, blocks);
    o.subset = 6;
    o.subset_count = 5;
    ck_assert_int_eq(mshard_verify(dir, &o, &part, &err), MSHARD_E_INVALID);
    o.subset = o.subset_count = 0;
    o.sample = 1.5;
    ck_assert_int_eq(mshard_verify(dir, &o, &part, &err), MSHARD_E_INVALID);
}
END_TEST

/* A file damaged all over: every block is told, in file order, with any number of threads. */
START_TEST(test_all_bad)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *path = mshi_test_path(dir, "shard-000000.mshard");
    mshard_verify_result first = {.findings = 0};
    size_t size;

    mshi_set_make(dir, 60000, 60000);
    struct mshi_header *h = load_header(path);
    unsigned char *data = mshi_set_read(path, &size);
    const struct mshi_section *images = mshi_header_section(h, SET_IMAGE, MSHI_SECTION_COLUMN);
    for (uint64_t i = images->offset; i < images->offset + images->size; i += 30000)
        data[i] ^= 1;
    mshi_set_write(path, data, size);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct log *log = malloc(sizeof(*log));
        mshard_verify_options o = options(log);
        mshard_verify_result r;

        o.threads = threads;
        OK(mshard_verify(dir, &o, &r, &err));
        ck_assert_uint_ge(r.bad_blocks, images->size / 65536);
        ck_assert_uint_eq(r.bad_records, 60000);
        for (unsigned i = 1; i < log->count && i < MAX_SEEN - 1; i++)
            ck_assert_uint_ge(log->items[i].offset, log->items[i - 1].offset);
        if (threads > 1)
            ck_assert_mem_eq(&r, &first, sizeof(r));
        first = r;
        free(log);
    }
    free(data);
    free(h);
}
END_TEST

START_TEST(test_cannot_run)
{
    const char *root = mshi_test_dir(), *dir = mshi_test_path(root, "set"), *text = mshi_test_path(root, "a.txt");
    struct log log;
    mshard_verify_options o = options(&log);
    mshard_verify_result r;

    mshi_set_make(dir, 3000, 1000);
    ck_assert_int_eq(mshard_verify(mshi_test_path(root, "no"), NULL, &r, &err), MSHARD_E_NOT_FOUND);
    mshi_set_write(text, "hello", 5);
    ck_assert_int_eq(mshard_verify(text, NULL, &r, &err), MSHARD_E_FORMAT);
    ck_assert_int_eq(mshard_verify(root, NULL, &r, &err), MSHARD_E_FORMAT);
    log.stop_at = 1;
    ck_assert_int_eq(mshard_verify(dir, &o, &r, &err), MSHARD_E_CANCELLED);
    mshi_set_write(mshi_test_path(root, "x.mshard"), "hello", 5); /* named like a shard: a finding */
    run(mshi_test_path(root, "x.mshard"), &log);
    expect_one(&log, MSHARD_E_FORMAT, "x.mshard", "not a shard");
}
END_TEST

/* Any byte changed anywhere in a data set is found. */
START_TEST(test_every_byte)
{
    const char *dir = mshi_test_path(mshi_test_dir(), "set"), *path = mshi_test_path(dir, "shard-000000.mshard");
    struct log log;
    size_t size;

    mshi_set_make(dir, 3, 3);
    free(mshi_set_read(path, &size));
    for (size_t at = 0; at < size; at += 1 + at % 53) {
        mshi_set_flip(path, at, 0x20);
        ck_assert_msg(run(dir, &log).findings > 0, "byte %zu", at);
        mshi_set_flip(path, at, 0x20);
    }
    ck_assert_uint_eq(run(dir, &log).findings, 0);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *t = tcase_create("verify");

    tcase_add_test(t, test_clean);
    tcase_add_test(t, test_bad_block);
    tcase_add_test(t, test_variable_records);
    tcase_add_test(t, test_shard_faults);
    tcase_add_test(t, test_rules);
    tcase_add_test(t, test_manifest_faults);
    tcase_add_test(t, test_labels);
    tcase_add_test(t, test_keys);
    tcase_add_test(t, test_subset_and_sample);
    tcase_add_test(t, test_all_bad);
    tcase_add_test(t, test_cannot_run);
    tcase_add_test(t, test_every_byte);
    tcase_set_timeout(t, 120);
    suite_add_tcase(suite, t);
    return suite;
}
