/*
 * test_manifest.c - dataset.json: emit and parse agree byte for byte, every rule refuses and names its member
 */
#include "base/hash.h"
#include "format/manifest.h"
#include "support/main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "dataset.json"

static mshard_error err;

/* "$" in front of each place that cases change. */
static const char body[] =
    "{\n"
    "\"format\": \"mshard\",\n"
    "\"version\": [1, 0],\n"
    "\"requires\": [],\n"
    "\"generation\": 1,\n"
    "\"records\": 30,\n"
    "\"fields\": [\n"
    " {\"name\": \"image\", \"dtype\": \"uint8\", \"shape\": [2, 2, 3], \"content\": \"image\"},\n"
    " {\"name\": \"label\", \"dtype\": \"int64\", \"shape\": [], \"content\": \"label\"},\n"
    " {\"name\": \"x\", \"dtype\": \"float16\", \"shape\": [null, 4], \"content\": \"values\", \"scale\": 0.1, "
    "\"offset\": -2.5},\n"
    " {\"name\": \"__key__\", \"dtype\": \"uint8\", \"shape\": [null], \"content\": \"text\", "
    "\"auxiliary\": true}\n"
    "],\n"
    "\"classes\": {\"label\": [\"dress\", \"h\xc3\xa4t\"]},\n"
    "\"statistics\": {\n"
    " \"image\": {\"channels\": 3, \"values\": 120, \"nan\": 0, \"inf\": 0, \"min\": [0, 1, 2], "
    "\"max\": [255, 254, 253], \"mean\": [0.1, 127.5, 3], \"std\": [1, 2, 3]},\n"
    " \"label\": {\"channels\": 1, \"values\": 30, \"nan\": 0, \"inf\": 0, \"min\": [0], \"max\": [1], "
    "\"mean\": [0.5], \"std\": [0.5], \"counts\": [15, 15]},\n"
    " \"x\": {\"channels\": 1, \"values\": 0, \"nan\": 0, \"inf\": 0, \"min\": [null], \"max\": [null], "
    "\"mean\": [null], \"std\": [null], \"min_size\": 0, \"max_size\": 0}\n"
    "},\n"
    "\"shards\": [\n"
    " {\"name\": \"shard-000000.mshard\", \"records\": 20, \"size\": 9000, \"header_sum\": \"00000000000000ff\"},\n"
    " {\"name\": \"shard-000001.mshard\", \"records\": 10, \"size\": 8000, \"header_sum\": \"0123456789abcdef\"}\n"
    "],\n"
    "\"keys\": {\"file\": \"keys.mdb\", \"size\": 8192, \"count\": 30, \"xxh3_128\": "
    "\"00112233445566778899aabbccddeeff\"},\n"
    "\"source\": {\"kind\":\"folder\",\"inputs\":30},\n"
    "\"options\": {},\n";

/* Put the id behind text. */
static size_t seal(char *text)
{
    char id[33];
    const size_t size = strlen(text);

    mshi_hash128_hex(mshi_hash128(text, size), id);
    return size + (size_t)sprintf(text + size, "\"id\": \"%s\"\n}\n", id);
}

/* body with the first `from` replaced by `to`, sealed; malloc'd. */
static char *vary(const char *from, const char *to, size_t *size)
{
    char *text = malloc(sizeof(body) + strlen(to) + 100);
    const char *at = strstr(body, from);

    ck_assert_msg(at != NULL, "%s", from);
    sprintf(text, "%.*s%s%s", (int)(at - body), body, to, at + strlen(from));
    *size = seal(text);
    return text;
}

static mshard_status parse(const char *text, size_t size, bool check)
{
    struct mshi_manifest m;
    const mshard_status status = mshi_manifest_parse(text, size, PATH, check, &m, &err);

    if (status == MSHARD_OK)
        mshi_manifest_clear(&m);
    return status;
}

START_TEST(test_round_trip)
{
    struct mshi_manifest m;
    struct mshi_buf out = {.data = NULL};
    size_t size;
    char *text = vary("{", "{", &size);

    ck_assert_msg(mshi_manifest_parse(text, size, PATH, true, &m, &err) == MSHARD_OK, "%s", err.message);
    ck_assert_uint_eq(m.records, 30);
    ck_assert_uint_eq(m.field_count, 4);
    ck_assert_uint_eq(m.fields[0].record_size, 12);
    ck_assert(m.fields[2].scale == 0.1 && m.fields[2].offset == -2.5 && m.fields[2].shape[0] == MSHARD_DIM_UNKNOWN);
    ck_assert_uint_eq(m.fields[3].flags, MSHARD_FIELD_AUX);
    ck_assert_str_eq(m.classes[1][1], "h\xc3\xa4t");
    ck_assert_uint_eq(m.stats[1]->counts[1], 15);
    ck_assert(m.stats[0]->mean[1] == 127.5 && isnan(m.stats[2]->min[0]));
    ck_assert_ptr_null(m.stats[3]);
    ck_assert_uint_eq(m.shards[1].header_sum, UINT64_C(0x0123456789abcdef));
    ck_assert_str_eq(m.source_json, "{\"kind\":\"folder\",\"inputs\":30}");
    ck_assert_msg(mshi_manifest_emit(&m, &out, &err) == MSHARD_OK, "%s", err.message);
    ck_assert_str_eq(out.data, text);
    ck_assert_uint_eq(out.size, size);
    mshi_manifest_clear(&m);
    mshi_buf_clear(&out);
    free(text);
}
END_TEST

/* Members in any order and form are read when the id is not asked for, or right. */
START_TEST(test_other_form)
{
    struct mshi_manifest m;
    char text[1000] =
        "{\"shards\":[],\"records\":0,\"generation\":3,\"later\":{\"a\":[1]},\"requires\":[],\"version\":[1,9],"
        "\"fields\":[{\"content\":\"values\",\"shape\":[],\"dtype\":\"bool\",\"name\":\"b\"}],\"format\":\"mshard\",\n";
    const size_t size = seal(text);

    ck_assert_msg(mshi_manifest_parse(text, size, PATH, true, &m, &err) == MSHARD_OK, "%s", err.message);
    ck_assert_uint_eq(m.generation, 3);
    ck_assert_str_eq(m.options_json, "{}");
    mshi_manifest_clear(&m);
}
END_TEST

START_TEST(test_rules)
{
    static const struct {
        const char *from, *to;
        mshard_status status;
        const char *words;
    } cases[] = {
        {"\"mshard\"", "\"other\"", MSHARD_E_FORMAT, "format"},
        {"\"format\": \"mshard\",", "", MSHARD_E_FORMAT, "format"},
        {"[1, 0]", "[2, 0]", MSHARD_E_VERSION, "version"},
        {"[1, 0]", "[1]", MSHARD_E_CORRUPT, "version"},
        {"\"requires\": []", "\"requires\": [\"zstd\"]", MSHARD_E_VERSION, "zstd"},
        {"\"requires\": []", "\"requires\": [1]", MSHARD_E_CORRUPT, "requires"},
        {"\"requires\": [],", "", MSHARD_E_CORRUPT, "requires"},
        {"\"generation\": 1", "\"generation\": 0", MSHARD_E_CORRUPT, "generation"},
        {"\"generation\": 1", "\"generation\": -1", MSHARD_E_CORRUPT, "generation"},
        {"\"records\": 30", "\"records\": 31", MSHARD_E_CORRUPT, "records"},
        {"\"records\": 30", "\"records\": 30.0", MSHARD_E_CORRUPT, "records"},
        {"\"records\": 30", "\"records\": 2199023255552", MSHARD_E_LIMIT, "records"},
        {"\"records\": 30", "\"records\": 30, \"records\": 30", MSHARD_E_CORRUPT, "records"},
        {"\"records\": 20", "\"records\": \"20\"", MSHARD_E_CORRUPT, "shards[0].records"},
        {"\"records\": 20", "\"records\": 9223372036854775807", MSHARD_E_LIMIT, "shards[0].records"},
        {"\"size\": 8000", "\"size\": 9223372036854775807", MSHARD_E_LIMIT, "shards[1].size"},
        {"\"size\": 8000", "\"size\": null", MSHARD_E_CORRUPT, "shards[1].size"},
        {"00000000000000ff", "00000000000000FF", MSHARD_E_CORRUPT, "shards[0].header_sum"},
        {"00000000000000ff", "ff", MSHARD_E_CORRUPT, "shards[0].header_sum"},
        {"shard-000001.mshard", "shard-000000.mshard", MSHARD_E_CORRUPT, "twice"},
        {"shard-000001.mshard", "../000000.mshard", MSHARD_E_CORRUPT, "shards[1].name"},
        {"shard-000001.mshard", ".mshard", MSHARD_E_CORRUPT, "shards[1].name"},
        {"shard-000001.mshard", "a/b.mshard", MSHARD_E_CORRUPT, "shards[1].name"},
        {"shard-000001.mshard", "shard-000001.txt", MSHARD_E_CORRUPT, "shards[1].name"},
        {"\"name\": \"image\"", "\"name\": \"im age\"", MSHARD_E_CORRUPT, "fields[0].name"},
        {"\"name\": \"label\"", "\"name\": \"image\"", MSHARD_E_CORRUPT, "image"},
        {"\"uint8\"", "\"uint7\"", MSHARD_E_CORRUPT, "fields[0].dtype"},
        {"[2, 2, 3]", "[2, 0, 3]", MSHARD_E_CORRUPT, "image"},
        {"[2, 2, 3]", "[2, -1, 3]", MSHARD_E_CORRUPT, "fields[0].shape"},
        {"[2, 2, 3]", "[1,1,1,1,1,1,1,1,1]", MSHARD_E_LIMIT, "fields[0].shape"},
        {"[2, 2, 3]", "[1048577, 1048576, 3]", MSHARD_E_LIMIT, "image"},
        {"\"content\": \"image\"", "\"content\": \"sound\"", MSHARD_E_CORRUPT, "fields[0].content"},
        {", \"content\": \"image\"", "", MSHARD_E_CORRUPT, "fields[0].content"},
        {"\"scale\": 0.1, ", "", MSHARD_E_CORRUPT, "fields[2].scale"},
        {"\"scale\": 0.1", "\"scale\": 0", MSHARD_E_CORRUPT, "scale"},
        {"\"auxiliary\": true", "\"auxiliary\": 1", MSHARD_E_CORRUPT, "fields[3].auxiliary"},
        {", \"auxiliary\": true", "", MSHARD_E_CORRUPT, "__key__"},
        {"\"classes\": {\"label\"", "\"classes\": {\"image\"", MSHARD_E_CORRUPT, "label field"},
        {"\"classes\": {\"label\"", "\"classes\": {\"nothing\"", MSHARD_E_CORRUPT, "nothing"},
        {"\"dress\"", "\"\"", MSHARD_E_CORRUPT, "classes.label"},
        {"\"dress\"", "\"h\xc3\xa4t\"", MSHARD_E_CORRUPT, "twice"},
        {"\"channels\": 3", "\"channels\": 5", MSHARD_E_LIMIT, "statistics.image.channels"},
        {"\"channels\": 3", "\"channels\": 2", MSHARD_E_CORRUPT, "statistics.image.min"},
        {"\"min\": [0, 1, 2]", "\"min\": [0, 1, \"2\"]", MSHARD_E_CORRUPT, "statistics.image.min"},
        {"[15, 15]", "[15, -15]", MSHARD_E_CORRUPT, "statistics.label.counts"},
        {"\"file\": \"keys.mdb\"", "\"file\": \"../keys.mdb\"", MSHARD_E_CORRUPT, "keys.file"},
        {"\"count\": 30", "\"count\": 29", MSHARD_E_CORRUPT, "keys.count"},
        {"00112233445566778899aabbccddeeff", "0011", MSHARD_E_CORRUPT, "keys.xxh3_128"},
        {"\"options\": {}", "\"options\": []", MSHARD_E_CORRUPT, "options"},
        {"\"options\": {},\n", "\"options\": {\n", MSHARD_E_CORRUPT, ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t size;
        char *text = vary(cases[i].from, cases[i].to, &size);
        const mshard_status status = parse(text, size, true);

        ck_assert_msg(status == cases[i].status, "%s: expected %d, found %d: %s", cases[i].to, cases[i].status, status,
                      err.message);
        ck_assert_msg(strstr(err.message, cases[i].words) != NULL, "%s: %s", cases[i].words, err.message);
        ck_assert_str_eq(err.path, PATH);
        free(text);
    }
}
END_TEST

START_TEST(test_id)
{
    size_t size;
    char *text = vary("dress", "skirt", &size);

    memcpy(strstr(text, "skirt"), "Skirt", 5);
    ck_assert_int_eq(parse(text, size, true), MSHARD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "id"));
    ck_assert_uint_eq(err.offset, size - 36);
    ck_assert_int_eq(parse(text, size, false), MSHARD_OK);
    free(text);
}
END_TEST

/* Every cut and every changed byte is refused. */
START_TEST(test_damage)
{
    size_t size;
    char *text = vary("{", "{", &size);

    for (size_t cut = 0; cut < size; cut++)
        ck_assert_msg(parse(text, cut, true) < 0, "cut at %zu", cut);
    for (size_t i = 0; i < size; i++) {
        text[i] ^= 1;
        ck_assert_msg(parse(text, size, true) < 0, "byte %zu", i);
        (void)parse(text, size, false); /* must only not crash */
        text[i] ^= 1;
    }
    ck_assert_int_eq(parse(text, size, true), MSHARD_OK);
    ck_assert_int_eq(parse("", 0, true), MSHARD_E_CORRUPT);
    ck_assert_int_eq(parse("[]", 2, true), MSHARD_E_FORMAT);
    ck_assert_int_eq(parse("{}", 2, true), MSHARD_E_FORMAT);
    ck_assert_int_eq(parse("<html>", 6, true), MSHARD_E_CORRUPT);
    free(text);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("manifest");
    TCase *t = tcase_create("manifest");

    tcase_add_test(t, test_round_trip);
    tcase_add_test(t, test_other_form);
    tcase_add_test(t, test_rules);
    tcase_add_test(t, test_id);
    tcase_add_test(t, test_damage);
    tcase_set_timeout(t, 60);
    suite_add_tcase(suite, t);
    return suite;
}
