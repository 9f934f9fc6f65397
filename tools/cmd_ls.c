/*
 * cmd_ls.c - mshard ls: shards, or records with labels and keys
 *
 * Records are streamed, whatever their number.
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { O_RECORDS, O_JSON, O_COLOR, O_COUNT };

static const struct cli_option options[] = {
    [O_RECORDS] = {.name = "records",
                   .letter = 'r',
                   .type = CLI_FLAG,
                   .group = "What",
                   .line = "records, not shards; RANGE (0:100, 5, 90:) implies it",
                   .text = "A range is FIRST:END, the end not included; either may be left out."},
    [O_JSON] = CLI_JSON,
    [O_COLOR] = CLI_COLOR,
};

static int list_shards(const mshard_store *store)
{
    struct table *table = table_new("lrrrl", "  ");
    static const char *const heads[] = {"shard", "first record", "records", "bytes", "header sum"};
    const uint64_t n = mshard_store_shard_count(store);
    char text[TEXT_SIZE];

    for (size_t i = 0; i < 5; i++)
        table_cell(table, "%s", heads[i]);
    for (uint64_t i = 0; i < n; i++) {
        mshard_shard_info info;
        mshard_store_shard(store, i, &info);
        table_cell(table, "%s", info.name);
        table_cell(table, "%llu", (unsigned long long)info.first_record);
        table_cell(table, "%llu", (unsigned long long)info.records);
        table_cell(table, "%s", text_count(text, info.size));
        table_cell(table, "%016llx", (unsigned long long)info.header_sum);
    }
    table_print(table, true);
    return TOOL_DONE;
}

static int json_shards(const mshard_store *store)
{
    json_begin(false);
    json_open(NULL, '{');
    json_string("schema", "mshard.ls/1");
    json_string("id", mshard_store_id(store));
    json_count("records", mshard_store_count(store));
    json_open("shards", '[');
    for (uint64_t i = 0; i < mshard_store_shard_count(store) && !out_lost(); i++) {
        mshard_shard_info info;
        mshard_store_shard(store, i, &info);
        json_open(NULL, '{');
        json_string("name", info.name);
        json_count("first_record", info.first_record);
        json_count("records", info.records);
        json_count("bytes", info.size);
        json_hex("header_sum", info.header_sum);
        json_close();
    }
    json_close();
    json_close();
    return TOOL_DONE;
}

struct listing {
    const mshard_store *store;
    uint32_t labels[MSHARD_MAX_FIELDS]; /* fields shown as class */
    size_t label_count;
    size_t label_width[MSHARD_MAX_FIELDS];
    bool keys;
    int digits;
};

static void listing_start(struct listing *l, const mshard_store *store)
{
    char text[32];

    *l = (struct listing){.store = store, .keys = mshard_store_has_keys(store) != 0};
    l->digits = snprintf(text, sizeof text, "%llu", (unsigned long long)mshard_store_count(store));
    if (l->digits < 6)
        l->digits = 6;
    for (uint32_t f = 0; f < target_fields(store); f++) {
        const mshard_field *field = mshard_store_field(store, f);
        if (field->content != MSHARD_CONTENT_LABEL || field->ndim != 0)
            continue;
        size_t width = strlen(field->name) > 6 ? strlen(field->name) : 6;
        for (uint64_t c = 0; c < mshard_store_class_count(store, f) && c < 10000; c++) {
            const char *name = mshard_store_class_name(store, f, c);
            char *safe = escaped(name, strlen(name));
            const size_t w = text_width(safe);
            width = w > width && w < 40 ? w : width;
            free(safe);
        }
        l->label_width[l->label_count] = width;
        l->labels[l->label_count++] = f;
    }
}

static void print_padded(const char *text, size_t size, size_t width)
{
    char *safe = escaped(text, size);
    const size_t w = text_width(safe);

    out("%s", safe);
    out("%*s", (int)(w < width ? width - w : 0), "");
    free(safe);
}

static mshard_status print_record(const struct listing *l, uint64_t record, mshard_error *err)
{
    uint64_t shard, index;
    mshard_shard_info info;
    mshard_status status = mshard_store_locate(l->store, record, &shard, &index, err);

    if (status == MSHARD_OK)
        status = mshard_store_open_shard(l->store, shard, err);
    if (status != MSHARD_OK)
        return status;
    mshard_store_shard(l->store, shard, &info);
    out("%*llu  ", l->digits, (unsigned long long)record);
    out_name(info.name);
    out("  %*llu", l->digits, (unsigned long long)index);
    for (size_t i = 0; i < l->label_count; i++) {
        int64_t number = 0;
        const char *name = NULL;
        char text[32];
        if (!target_class(l->store, record, l->labels[i], &number, &name))
            name = "?";
        (void)snprintf(text, sizeof text, "%lld", (long long)number);
        out("  ");
        if (name == NULL)
            name = text;
        print_padded(name, strlen(name), i + 1 < l->label_count || l->keys ? l->label_width[i] : 0);
    }
    if (l->keys) {
        mshard_view key;
        status = mshard_store_key(l->store, record, &key, err);
        if (status != MSHARD_OK)
            return status;
        out("  ");
        out_escaped(key.data, key.size);
    }
    out("\n");
    return MSHARD_OK;
}

static bool is_utf8(const void *bytes, size_t size)
{
    uint32_t code;
    size_t step;

    for (size_t i = 0; i < size; i += step) {
        step = utf8_next((const char *)bytes + i, size - i, &code);
        if (step == 0)
            return false;
    }
    return true;
}

static void json_key(const mshard_view *key)
{
    json_text("key", key->data, key->size);
    if (is_utf8(key->data, key->size))
        return;
    char hex[2 * MSHARD_MAX_KEY + 1] = "";
    for (size_t i = 0; i < key->size && i < MSHARD_MAX_KEY; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)key->data)[i]);
    json_string("key_hex", hex);
}

static mshard_status json_record(const struct listing *l, uint64_t record, mshard_error *err)
{
    uint64_t shard, index;
    mshard_shard_info info;
    mshard_view view = {.size = 0};
    mshard_status status = mshard_store_locate(l->store, record, &shard, &index, err);

    if (status == MSHARD_OK)
        status = mshard_store_open_shard(l->store, shard, err);
    if (status == MSHARD_OK && l->keys)
        status = mshard_store_key(l->store, record, &view, err);
    if (status != MSHARD_OK)
        return status;
    mshard_store_shard(l->store, shard, &info);
    json_begin(true);
    json_open(NULL, '{');
    json_string("schema", "mshard.ls.record/1");
    json_count("record", record);
    json_string("shard", info.name);
    json_count("index", index);
    if (l->keys)
        json_key(&view);
    json_open("labels", '{');
    for (size_t i = 0; i < l->label_count; i++) {
        int64_t number;
        const char *name;
        if (!target_class(l->store, record, l->labels[i], &number, &name))
            continue;
        json_open(mshard_store_field(l->store, l->labels[i])->name, '{');
        json_int("number", number);
        if (name != NULL)
            json_string("class", name);
        json_close();
    }
    json_close();
    json_close();
    return MSHARD_OK;
}

static void print_heading(const struct listing *l)
{
    mshard_shard_info info;

    mshard_store_shard(l->store, 0, &info);
    out_style(OUT_DIM);
    out("%*s  %-*s  %*s", l->digits, "record", (int)strlen(info.name), "shard", l->digits, "index");
    for (size_t i = 0; i < l->label_count; i++)
        out("  %-*s", i + 1 < l->label_count || l->keys ? (int)l->label_width[i] : 0,
            mshard_store_field(l->store, l->labels[i])->name);
    out(l->keys ? "  key\n" : "\n");
    out_style(OUT_PLAIN);
}

static int list_records(const mshard_store *store, const char *path, uint64_t first, uint64_t end, bool json)
{
    struct listing l;
    const uint64_t count = mshard_store_count(store);
    mshard_error err;

    if (end != UINT64_MAX && end > count) {
        say("%s: no record %llu (it has %llu)", path, (unsigned long long)(end - 1), (unsigned long long)count);
        return TOOL_NO;
    }
    if (end == UINT64_MAX)
        end = count;
    listing_start(&l, store);
    if (!json && count > 0)
        print_heading(&l);
    for (uint64_t record = first; record < end && !out_lost(); record++) {
        const mshard_status status = json ? json_record(&l, record, &err) : print_record(&l, record, &err);
        if (status != MSHARD_OK)
            return target_error(path, &err);
    }
    return TOOL_DONE;
}

static int run(const struct cli_args *args)
{
    const char *path = args->operands[0];
    const bool json = args->values[O_JSON].given;
    bool records = args->values[O_RECORDS].given;
    uint64_t first = 0, end = UINT64_MAX;
    struct target target;

    if (args->count > 1) {
        records = true;
        if (!cli_range(args->operands[1], &first, &end))
            return cli_usage(args->command, "RANGE must be N, FIRST:END, FIRST: or :END, found '%s'",
                             args->operands[1]);
    }
    int code = target_open(path, &target);
    if (code != TOOL_DONE)
        return code;
    color_from(args->values[O_COLOR].number);
    if (records)
        code = list_records(target.store, path, first, end, json);
    else
        code = json ? json_shards(target.store) : list_shards(target.store);
    mshard_store_unref(target.store);
    return code;
}

static const struct cli_example examples[] = {
    {"mshard ls train.msd 0:100", "The first hundred records: shard, class, key."},
    {"mshard ls train.msd", "The shards."},
    {"mshard ls --records --json train.msd | jq -r .key", "All keys."},
    {NULL, NULL},
};

static const struct cli_member members[] = {
    {"schema", "mshard.ls/1: one object, of shards. mshard.ls.record/1: one object a line, of records."},
    {"id, records", "ls: the data set's id and its number of records."},
    {"shards", "ls: array of objects: name, first_record, records, bytes, header_sum (16 hex digits)."},
    {"record, shard, index", "ls.record: number in the data set, shard, number in the shard."},
    {"key, key_hex", "ls.record: the key; key_hex, its bytes in hex, only when the key is not UTF-8."},
    {"labels", "ls.record: object, field name to object: number, and class when it has a name."},
    {NULL, NULL},
};

const struct cli_command cmd_ls = {
    .name = "ls",
    .operands = "PATH [RANGE]",
    .line = "list shards, or records with labels and keys",
    .text = "Without a range and without --records, one line a shard. With them, one line a record: its number, its "
            "shard, its number in the shard, its classes and its key.",
    .options = options,
    .option_count = O_COUNT,
    .examples = examples,
    .schema = "mshard.ls/1",
    .members = members,
    .min_operands = 1,
    .max_operands = 2,
    .complete = "files",
    .run = run,
};
