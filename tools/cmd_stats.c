/*
 * cmd_stats.c - mshard stats: the figures taken at packing
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { O_FULL, O_JSON, O_COLOR, O_COUNT };
enum { CLASSES = 40 };

static const struct cli_option options[] = {
    [O_FULL] = {.name = "full", .type = CLI_FLAG, .group = "What", .line = "all classes, not the first 40"},
    [O_JSON] = CLI_JSON,
    [O_COLOR] = CLI_COLOR,
};

static bool has_numbers(const mshard_field *field)
{
    return field->content != MSHARD_CONTENT_ENCODED && field->content != MSHARD_CONTENT_TEXT;
}

static void print_numbers(const mshard_store *store)
{
    struct table *table = table_new("llrrrrrrr", "  ");
    static const char *const heads[] = {"field", "dtype", "channel", "min", "max", "mean", "std", "nan", "inf"};
    char text[TEXT_SIZE];
    size_t rows = 0;

    for (size_t i = 0; i < 9; i++)
        table_cell(table, "%s", heads[i]);
    for (uint32_t f = 0; f < target_fields(store); f++) {
        const mshard_field *field = mshard_store_field(store, f);
        const mshard_stats *s = mshard_store_stats(store, f);
        if (s == NULL || s->values == 0 || !has_numbers(field))
            continue;
        for (uint32_t c = 0; c < s->channels && c < MSHARD_MAX_CHANNELS; c++, rows++) {
            table_cell(table, "%s", c == 0 ? field->name : "");
            table_cell(table, "%s", c == 0 ? mshard_dtype_name(field->dtype) : "");
            if (s->channels > 1)
                table_cell(table, "%s", s->channels == 3 ? (const char *[]){"red", "green", "blue"}[c] : "");
            else
                table_cell(table, "%s", "");
            const double of[] = {s->min[c], s->max[c], s->mean[c], s->std[c]};
            for (size_t i = 0; i < 4; i++)
                table_cell(table, "%s", text_real(text, of[i]));
            table_cell(table, "%s", c == 0 ? text_count(text, s->nan) : "");
            table_cell(table, "%s", c == 0 ? text_count(text, s->inf) : "");
        }
    }
    if (rows == 0)
        table_cell(table, "%s", "no field of numbers with figures");
    while (rows == 0 && rows++ < 1)
        for (size_t i = 1; i < 9; i++)
            table_cell(table, "%s", "");
    table_print(table, true);
}

static void print_sizes(const mshard_store *store)
{
    char a[TEXT_SIZE], b[TEXT_SIZE];

    for (uint32_t f = 0; f < target_fields(store); f++) {
        const mshard_field *field = mshard_store_field(store, f);
        const mshard_stats *s = mshard_store_stats(store, f);
        if (s == NULL || !mshard_field_is_variable(field) || mshard_store_count(store) == 0)
            continue;
        out_name(field->name);
        out("  values of %s to %s\n", text_bytes(a, s->min_size), text_bytes(b, s->max_size));
    }
}

/* A bar of so many eighths of a cell. */
static void print_bar(uint64_t eighths, bool utf8)
{
    static const char *const parts[] = {"",
                                        "\xe2\x96\x8f",
                                        "\xe2\x96\x8e",
                                        "\xe2\x96\x8d",
                                        "\xe2\x96\x8c",
                                        "\xe2\x96\x8b",
                                        "\xe2\x96\x8a",
                                        "\xe2\x96\x89"};

    for (uint64_t i = 0; i < eighths / 8; i++)
        out("%s", utf8 ? "\xe2\x96\x88" : "#");
    if (utf8)
        out("%s", parts[eighths % 8]);
    else if (eighths % 8 >= 4 || (eighths > 0 && eighths < 8))
        out("#");
}

static void print_classes(const mshard_store *store, uint32_t f, bool full)
{
    const mshard_stats *s = mshard_store_stats(store, f);
    const uint64_t all = s->count_length, shown = full || all <= CLASSES ? all : CLASSES;
    const bool utf8 = terminal_utf8();
    size_t width = 4, columns = terminal_columns(STDOUT_FILENO);
    uint64_t most = 1;
    char text[TEXT_SIZE];

    for (uint64_t c = 0; c < all; c++)
        most = s->counts[c] > most ? s->counts[c] : most;
    for (uint64_t c = 0; c < shown; c++) {
        const char *name = mshard_store_class_name(store, f, c);
        char *safe = escaped(name != NULL ? name : "123456", strlen(name != NULL ? name : "123456"));
        const size_t w = text_width(safe);
        width = w > width ? w : width;
        free(safe);
    }
    width = width > 32 ? 32 : width;
    const size_t digits = strlen(text_count(text, most));
    const size_t room = columns > width + digits + 16 ? columns - width - digits - 12 : 10;
    const size_t bar = room > 60 ? 60 : room;
    out_style(OUT_DIM);
    out_name(mshard_store_field(store, f)->name);
    out(": %s class%s\n", text_count(text, all), all == 1 ? "" : "es");
    out_style(OUT_PLAIN);
    for (uint64_t c = 0; c < shown && !out_lost(); c++) {
        const char *name = mshard_store_class_name(store, f, c);
        char number[32];
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)c);
        char *safe = escaped(name != NULL ? name : number, strlen(name != NULL ? name : number));
        text_cut(safe, width);
        out("  %s%*s  %*s  ", safe, (int)(width - text_width(safe)), "", (int)digits, text_count(text, s->counts[c]));
        print_bar((uint64_t)((double)s->counts[c] / (double)most * (double)bar * 8.0 + 0.5), utf8);
        out("\n");
        free(safe);
    }
    if (shown < all)
        out("  ... %s classes more (--full)\n", text_count(text, all - shown));
}

static void json_reals(const char *name, const double *of, uint32_t n)
{
    json_open(name, '[');
    for (uint32_t c = 0; c < n && c < MSHARD_MAX_CHANNELS; c++)
        json_real(NULL, of[c]);
    json_close();
}

static void json_one(const mshard_store *store, uint32_t f)
{
    const mshard_field *field = mshard_store_field(store, f);
    const mshard_stats *s = mshard_store_stats(store, f);

    json_open(NULL, '{');
    json_field(field);
    if (s != NULL) {
        json_count("channels", s->channels);
        json_count("values", s->values);
        json_count("nan", s->nan);
        json_count("inf", s->inf);
        json_reals("min", s->min, s->channels);
        json_reals("max", s->max, s->channels);
        json_reals("mean", s->mean, s->channels);
        json_reals("std", s->std, s->channels);
        if (mshard_field_is_variable(field)) {
            json_count("min_size", s->min_size);
            json_count("max_size", s->max_size);
        }
    }
    if (s != NULL && s->counts != NULL) {
        json_open("classes", '[');
        for (uint64_t c = 0; c < s->count_length; c++) {
            const char *name = mshard_store_class_name(store, f, c);
            json_open(NULL, '{');
            json_count("number", c);
            if (name != NULL)
                json_string("class", name);
            json_count("records", s->counts[c]);
            json_close();
        }
        json_close();
    }
    json_close();
}

static void json_stats(const mshard_store *store)
{
    json_begin(false);
    json_open(NULL, '{');
    json_string("schema", "mshard.stats/1");
    json_string("id", mshard_store_id(store));
    json_count("records", mshard_store_count(store));
    json_open("fields", '[');
    for (uint32_t f = 0; f < target_fields(store); f++)
        json_one(store, f);
    json_close();
    json_close();
}

static int run(const struct cli_args *args)
{
    struct target target;
    int code = target_open(args->operands[0], &target);

    if (code != TOOL_DONE)
        return code;
    color_from(args->values[O_COLOR].number);
    if (target.single) {
        say("%s: a shard alone has no figures; they stand in dataset.json (next: mshard stats on its folder)",
            args->operands[0]);
        code = TOOL_FAILED;
    } else if (args->values[O_JSON].given) {
        json_stats(target.store);
    } else {
        print_numbers(target.store);
        print_sizes(target.store);
        for (uint32_t f = 0; f < target_fields(target.store); f++) {
            const mshard_stats *s = mshard_store_stats(target.store, f);
            if (s != NULL && s->counts != NULL && s->count_length > 0)
                print_classes(target.store, f, args->values[O_FULL].given);
        }
    }
    mshard_store_unref(target.store);
    return code;
}

static const struct cli_example examples[] = {
    {"mshard stats train.msd", "Figures of each field, and how many records each class has."},
    {"mshard stats --json train.msd | jq '.fields[0].mean'", "The means, for a normalizing transform."},
    {NULL, NULL},
};

static const struct cli_member members[] = {
    {"schema, id, records", "Form of the output; the data set's id and number of records."},
    {"fields", "Array of objects: name, dtype, shape, content as in mshard.info/1; channels; values (a channel); nan, "
               "inf; min, max, mean, std (arrays by channel, stored units, NaN and infinities left out, population "
               "deviation); min_size, max_size (bytes, variable fields); classes (array of objects: number, class, "
               "records)."},
    {NULL, NULL},
};

const struct cli_command cmd_stats = {
    .name = "stats",
    .operands = "PATH",
    .line = "figures of each field and class, taken at packing",
    .text = "Nothing is computed and no data is read: the packer took the figures and they stand in dataset.json. "
            "Minimum, maximum, mean and standard deviation are in stored units, so 0 to 255 for images; divide by 255 "
            "for transforms that work in 0 to 1.",
    .options = options,
    .option_count = O_COUNT,
    .examples = examples,
    .schema = "mshard.stats/1",
    .members = members,
    .min_operands = 1,
    .max_operands = 1,
    .complete = "files",
    .run = run,
};
