/*
 * cmd_info.c - mshard info: what a data set is, on one screen
 *
 * Reads dataset.json and the headers of at most HEADERS shards, never the data: the cost does not grow with records.
 */
#include "cmd.h"
#include "json_scan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { O_JSON, O_COLOR, O_COUNT };
enum { HEADERS = 64, FIELDS = 5 };

static const struct cli_option options[] = {
    [O_JSON] = CLI_JSON,
    [O_COLOR] = CLI_COLOR,
};

struct headers {
    uint64_t looked, bad;
    mshard_error first; /* of the first bad one */
};

static struct headers check_headers(const mshard_store *store)
{
    struct headers h = {.looked = mshard_store_shard_count(store)};
    mshard_error err;

    if (h.looked > HEADERS)
        h.looked = HEADERS;
    for (uint64_t i = 0; i < h.looked; i++)
        if (mshard_store_open_shard(store, i, &err) != MSHARD_OK && h.bad++ == 0)
            h.first = err;
    return h;
}

static struct json_scan manifest_of(const mshard_store *store)
{
    size_t size = 0;
    const char *text = mshard_store_manifest(store, &size);

    return (struct json_scan){.at = text, .end = text != NULL ? text + size : NULL};
}

/* Bytes of a field's values in all records; false when only reading would tell. */
static bool field_bytes(const mshard_store *store, uint32_t f, uint64_t *bytes)
{
    const mshard_field *field = mshard_store_field(store, f);
    const mshard_stats *stats = mshard_store_stats(store, f);

    if (!mshard_field_is_variable(field)) {
        *bytes = mshard_store_count(store) * field->record_size;
        return true;
    }
    if (stats == NULL)
        return false;
    *bytes = stats->values * (stats->channels != 0 ? stats->channels : 1) * mshard_dtype_size(field->dtype);
    return true;
}

/* "10 classes, 5,000 each", "0..255", "3.1 KiB to 20.0 KiB". */
static void what_text(const mshard_store *store, uint32_t f, char *text, size_t size)
{
    const mshard_field *field = mshard_store_field(store, f);
    const mshard_stats *stats = mshard_store_stats(store, f);
    const uint64_t classes = mshard_store_class_count(store, f);
    char a[TEXT_SIZE], b[TEXT_SIZE];

    text[0] = '\0';
    if (classes > 0) {
        int n = snprintf(text, size, "%s class%s", text_count(a, classes), classes == 1 ? "" : "es");
        if (stats != NULL && stats->counts != NULL && stats->count_length > 0) {
            uint64_t least = UINT64_MAX, most = 0;
            for (uint64_t c = 0; c < stats->count_length; c++) {
                least = stats->counts[c] < least ? stats->counts[c] : least;
                most = stats->counts[c] > most ? stats->counts[c] : most;
            }
            if (least == most)
                (void)snprintf(text + n, size - (size_t)n, ", %s each", text_count(a, least));
            else
                (void)snprintf(text + n, size - (size_t)n, ", %s to %s", text_count(a, least), text_count(b, most));
        }
        return;
    }
    if (stats == NULL || stats->values == 0)
        return;
    if (field->content == MSHARD_CONTENT_ENCODED || field->content == MSHARD_CONTENT_TEXT) {
        (void)snprintf(text, size, "%s to %s", text_bytes(a, stats->min_size), text_bytes(b, stats->max_size));
        return;
    }
    double least = stats->min[0], most = stats->max[0];
    for (uint32_t c = 1; c < stats->channels && c < MSHARD_MAX_CHANNELS; c++) {
        least = stats->min[c] < least ? stats->min[c] : least;
        most = stats->max[c] > most ? stats->max[c] : most;
    }
    (void)snprintf(text, size, "%s to %s%s", text_real(a, least), text_real(b, most),
                   stats->nan + stats->inf > 0 ? ", with nan or inf" : "");
}

static bool is_unit_image(const mshard_field *field)
{
    return field->content == MSHARD_CONTENT_IMAGE && field->dtype == MSHARD_UINT8;
}

/* Means and deviations; of images in 0..1, as trainers want them. */
static void mean_text(const mshard_store *store, uint32_t f, char *text, size_t size)
{
    const mshard_field *field = mshard_store_field(store, f);
    const mshard_stats *stats = mshard_store_stats(store, f);
    const double unit = is_unit_image(field) ? 255.0 : 1.0;
    char number[TEXT_SIZE];
    size_t n = 0;

    text[0] = '\0';
    if (stats == NULL || stats->values == 0 || field->content == MSHARD_CONTENT_ENCODED ||
        field->content == MSHARD_CONTENT_TEXT)
        return;
    for (int pass = 0; pass < 2; pass++) {
        const double *of = pass == 0 ? stats->mean : stats->std;
        n += (size_t)snprintf(text + n, size - n, "%s", pass == 0 ? "" : " /");
        for (uint32_t c = 0; c < stats->channels && c < MSHARD_MAX_CHANNELS && n < size; c++) {
            if (unit > 1.0)
                n += (size_t)snprintf(text + n, size - n, "%s%.3f", n == 0 ? "" : " ", of[c] / unit);
            else
                n += (size_t)snprintf(text + n, size - n, "%s%s", n == 0 ? "" : " ", text_real(number, of[c]));
        }
    }
}

static void class_text(const mshard_store *store, uint32_t f, char *text, size_t size)
{
    const uint64_t classes = mshard_store_class_count(store, f);
    size_t n = 0;

    text[0] = '\0';
    for (uint64_t c = 0; c < classes && n < size; c++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", c > 0 ? " " : "", mshard_store_class_name(store, f, c));
}

static void print_fields(const mshard_store *store)
{
    struct table *table = table_new("lllrll", "  ");
    const uint32_t fields = target_fields(store);
    const uint32_t shown = fields > FIELDS ? FIELDS : fields;
    bool unit = false;
    char shape[256], text[512], bytes[TEXT_SIZE];
    uint64_t n;

    for (uint32_t f = 0; f < shown; f++)
        unit = unit || is_unit_image(mshard_store_field(store, f));
    static const char *const heads[] = {"field", "dtype", "shape", "bytes", "values"};
    for (size_t i = 0; i < 5; i++)
        table_cell(table, "%s", heads[i]);
    table_cell(table, "mean / std%s", unit ? " (images: of 0..1)" : "");
    for (uint32_t f = 0; f < shown; f++) {
        const mshard_field *field = mshard_store_field(store, f);
        table_cell(table, "%s", field->name);
        table_cell(table, "%s", mshard_dtype_name(field->dtype));
        table_cell(table, "%s", text_shape(shape, field->shape, field->ndim));
        table_cell(table, "%s", field_bytes(store, f, &n) ? text_bytes(bytes, n) : "");
        what_text(store, f, text, sizeof text);
        table_cell(table, "%s%s%s", field->content == MSHARD_CONTENT_ENCODED ? "image files" : "",
                   field->content == MSHARD_CONTENT_ENCODED && text[0] != '\0' ? ", " : "", text);
        if (mshard_store_class_count(store, f) > 0)
            class_text(store, f, text, sizeof text);
        else
            mean_text(store, f, text, sizeof text);
        table_cell(table, "%s", text);
    }
    table_cell_columns(table, terminal_columns(STDOUT_FILENO));
    table_print(table, true);
    if (fields > shown)
        out("... %u fields more: mshard stats\n", fields - shown);
}

static uint64_t source_count(struct json_scan source, const char *name)
{
    struct json_scan value;
    uint64_t n = 0;

    return json_member(source, name, &value) && json_to_count(value, &n) ? n : 0;
}

/* The options that were given, as "name=value". */
static void print_options(struct json_scan manifest)
{
    struct json_scan given, rest, key, value;
    bool any = false;

    if (!json_member(manifest, "options", &given) || !json_enter(given, &rest))
        return;
    while (json_next(&rest, &key, &value)) {
        char *name = json_to_string(key), *text = json_to_string(value);
        out(any ? " " : "; options: ");
        any = true;
        if (name != NULL)
            out_name(name);
        if (text != NULL && strcmp(text, "true") != 0) {
            out("=");
            out_name(text);
        }
        free(name);
        free(text);
    }
}

static void print_source(const mshard_store *store)
{
    const struct json_scan manifest = manifest_of(store);
    struct json_scan source, kind;
    char n[TEXT_SIZE], *name = NULL;

    if (!json_member(manifest, "source", &source))
        return;
    if (json_member(source, "kind", &kind))
        name = json_to_string(kind);
    if (name != NULL && strcmp(name, "writer") == 0) {
        out("written  by a program");
        print_options(manifest);
        out("\n");
        free(name);
        return;
    }
    out("packed   from %s input%s", text_count(n, source_count(source, "inputs")),
        text_plural(source_count(source, "inputs")));
    if (name != NULL) {
        out(" (");
        out_name(name);
        out(")");
    }
    free(name);
    const uint64_t skipped = source_count(source, "skipped"), duplicates = source_count(source, "duplicates");
    out(", %s skipped", text_count(n, skipped));
    if (duplicates > 0)
        out(", %s exact duplicate%s", text_count(n, duplicates), text_plural(duplicates));
    print_options(manifest);
    out("\n");
}

static void print_checked(const mshard_store *store, const struct headers *h, const char *path)
{
    const uint64_t shards = mshard_store_shard_count(store);
    char a[TEXT_SIZE], b[TEXT_SIZE], text[1600];

    out("checked  ");
    if (h->bad > 0) {
        out_style(OUT_BAD);
        out("damaged: %s of %s shard headers are bad", text_count(a, h->bad), text_count(b, h->looked));
        out_style(OUT_PLAIN);
        (void)mshard_error_format(&h->first, text, sizeof text);
        out("\n         %s\n         all faults: mshard verify ", text);
        out_name(path);
        out("\n");
        return;
    }
    out_style(OUT_GOOD);
    if (h->looked == shards)
        out("headers only: %s of %s good", text_count(a, shards), text_count(b, shards));
    else
        out("headers only: first %s of %s, all good", text_count(a, h->looked), text_count(b, shards));
    out_style(OUT_PLAIN);
    out("; all data: mshard verify ");
    out_name(path);
    out("\n");
}

static void print_info(const struct target *target, const char *path, const struct headers *h)
{
    const mshard_store *store = target->store;
    const uint64_t shards = mshard_store_shard_count(store);
    char a[TEXT_SIZE], b[TEXT_SIZE], c[TEXT_SIZE];
    struct json_scan version;

    out_style(OUT_BOLD);
    out_name(path);
    out_style(OUT_PLAIN);
    out("  %s record%s  %u field%s  ", text_count(a, mshard_store_count(store)), text_plural(mshard_store_count(store)),
        target_fields(store), text_plural(target_fields(store)));
    if (target->single)
        out("one shard alone");
    else
        out("%s shard%s", text_count(b, shards), text_plural(shards));
    out("  %s  id %.8s...", text_bytes(c, mshard_store_bytes(store)), mshard_store_id(store));
    if (mshard_store_has_keys(store))
        out("  keys");
    if (mshard_store_generation(store) > 1)
        out("  generation %llu", (unsigned long long)mshard_store_generation(store));
    if (json_member(manifest_of(store), "version", &version) && json_kind(version) == '[') {
        uint64_t part[2] = {0, 0};
        struct json_scan rest, item;
        if (json_enter(version, &rest))
            for (size_t i = 0; i < 2 && json_next(&rest, NULL, &item); i++)
                (void)json_to_count(item, &part[i]);
        out("  format %llu.%llu", (unsigned long long)part[0], (unsigned long long)part[1]);
    }
    out("\n");
    print_fields(store);
    print_source(store);
    print_checked(store, h, path);
}

static void json_stats_of(const mshard_store *store, uint32_t f)
{
    const mshard_stats *stats = mshard_store_stats(store, f);
    uint64_t bytes;

    if (field_bytes(store, f, &bytes))
        json_count("bytes", bytes);
    else
        json_null("bytes");
    if (mshard_store_class_count(store, f) > 0) {
        json_open("classes", '[');
        for (uint64_t c = 0; c < mshard_store_class_count(store, f); c++)
            json_string(NULL, mshard_store_class_name(store, f, c));
        json_close();
    }
    if (stats == NULL)
        return;
    static const char *const names[] = {"min", "max", "mean", "std"};
    const double *const of[] = {stats->min, stats->max, stats->mean, stats->std};
    for (size_t i = 0; i < 4; i++) {
        json_open(names[i], '[');
        for (uint32_t c = 0; c < stats->channels && c < MSHARD_MAX_CHANNELS; c++)
            json_real(NULL, of[i][c]);
        json_close();
    }
    if (stats->counts != NULL) {
        json_open("counts", '[');
        for (uint64_t c = 0; c < stats->count_length; c++)
            json_count(NULL, stats->counts[c]);
        json_close();
    }
}

static void json_copy(struct json_scan manifest, const char *name)
{
    struct json_scan value;

    if (json_member(manifest, name, &value))
        json_raw(name, value.at, (size_t)(value.end - value.at));
}

static void json_info(const struct target *target, const char *path, const struct headers *h)
{
    const mshard_store *store = target->store;
    const struct json_scan manifest = manifest_of(store);

    json_begin(false);
    json_open(NULL, '{');
    json_string("schema", "mshard.info/1");
    json_string("path", path);
    json_bool("single_shard", target->single);
    json_string("id", mshard_store_id(store));
    json_count("generation", mshard_store_generation(store));
    json_copy(manifest, "version");
    json_count("records", mshard_store_count(store));
    json_count("shards", mshard_store_shard_count(store));
    json_count("bytes", mshard_store_bytes(store));
    json_bool("keys", mshard_store_has_keys(store) != 0);
    json_open("fields", '[');
    for (uint32_t f = 0; f < mshard_store_field_count(store); f++) {
        json_open(NULL, '{');
        json_field(mshard_store_field(store, f));
        json_stats_of(store, f);
        json_close();
    }
    json_close();
    json_copy(manifest, "source");
    json_copy(manifest, "options");
    json_open("checked", '{');
    json_count("headers", h->looked);
    json_count("bad", h->bad);
    json_close();
    json_close();
}

static int run(const struct cli_args *args)
{
    const char *path = args->operands[0];
    struct target target;
    int code = target_open(path, &target);

    if (code != TOOL_DONE)
        return code;
    color_from(args->values[O_COLOR].number);
    const struct headers h = check_headers(target.store);
    if (args->values[O_JSON].given)
        json_info(&target, path, &h);
    else
        print_info(&target, path, &h);
    mshard_store_unref(target.store);
    return h.bad > 0 ? TOOL_NO : TOOL_DONE;
}

static const struct cli_example examples[] = {
    {"mshard train.msd", "The same as mshard info train.msd."},
    {"mshard info --json train.msd | jq .records", "The number of records."},
    {NULL, NULL},
};

static const struct cli_member members[] = {
    {"schema, path, id", "Form of the output; the path as given; the data set's id, 32 hex digits."},
    {"single_shard", "True when the path is one shard file, read alone."},
    {"generation, version", "1 when packed, one more for each append; format version, [major, minor]."},
    {"records, shards, bytes", "Counts, and the bytes of all shard files."},
    {"keys", "True when records have keys."},
    {"fields", "Array of objects: name, dtype, shape (null: differs from record to record), content, auxiliary, scale, "
               "offset; bytes of all values (null: not known without reading); classes; min, max, mean, std (by "
               "channel, stored units); counts (records of each class)."},
    {"source, options", "As they stand in dataset.json: what was packed, and how."},
    {"checked", "Object: headers looked at (at most 64), and bad ones."},
    {NULL, NULL},
};

const struct cli_command cmd_info = {
    .name = "info",
    .operands = "PATH",
    .line = "what a data set is, on one screen",
    .text =
        "Prints how much there is, fields, classes, means and deviations, how it was packed, and what was checked. "
        "The figures were taken at packing; no data is read, only dataset.json and the headers of at most 64 "
        "shards, so it takes as long for ten records as for ten million. With a damaged header the exit status is 1.",
    .options = options,
    .option_count = O_COUNT,
    .examples = examples,
    .schema = "mshard.info/1",
    .members = members,
    .min_operands = 1,
    .max_operands = 1,
    .complete = "files",
    .run = run,
};
