/*
 * cmd_cat.c - mshard cat: one value back out, as a file others read
 */
#include "cmd.h"
#include "export.h"
#include "values.h"

#include <mshard/pack.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <strings.h>

enum { O_KEY, O_FIELD, O_OUTPUT, O_FORMAT, O_COUNT };
enum { F_AUTO, F_PNG, F_NPY, F_RAW, F_TEXT, F_JSON };

static const struct cli_option options[] = {
    [O_KEY] = {.name = "key",
               .letter = 'k',
               .type = CLI_TEXT,
               .arg = "KEY",
               .group = "What",
               .line = "the record of this key, also one of digits"},
    [O_FIELD] = {.name = "field",
                 .letter = 'f',
                 .type = CLI_TEXT,
                 .arg = "NAME",
                 .fallback = "first image, else first",
                 .line = "field"},
    [O_OUTPUT] = {.name = "output",
                  .letter = 'o',
                  .type = CLI_TEXT,
                  .arg = "FILE",
                  .group = "Output",
                  .fallback = "-",
                  .line = "write to FILE; -: standard output",
                  .text = "Its extension decides the form when --format does not. Bytes are not written to a terminal "
                          "unless - is given."},
    [O_FORMAT] = {.name = "format",
                  .type = CLI_CHOICE,
                  .arg = "FORM",
                  .choices = "auto|png|npy|raw|text|json",
                  .fallback = "auto",
                  .line = "auto, png, npy, raw, text or json",
                  .text = "auto: by the extension of the output (.png, .npy, .txt, .json), else image files as they "
                          "were stored, pixels as PNG, text as it is, numbers as text."},
};

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && strcasecmp(text + n - m, end) == 0;
}

static uint64_t choose_format(uint64_t format, const char *path, const mshard_field *field)
{
    static const struct {
        const char *end;
        int format;
    } by_name[] = {{".png", F_PNG},   {".npy", F_NPY}, {".txt", F_TEXT},
                   {".json", F_JSON}, {".raw", F_RAW}, {".bin", F_RAW}};

    if (format != F_AUTO)
        return format;
    for (size_t i = 0; path != NULL && i < sizeof by_name / sizeof *by_name; i++)
        if (ends_with(path, by_name[i].end))
            return (uint64_t)by_name[i].format;
    if (field->content == MSHARD_CONTENT_ENCODED || field->content == MSHARD_CONTENT_TEXT)
        return F_RAW;
    return field->content == MSHARD_CONTENT_IMAGE ? F_PNG : F_TEXT;
}

static uint32_t default_field(const mshard_store *store)
{
    for (uint32_t f = 0; f < target_fields(store); f++) {
        const mshard_content content = mshard_store_field(store, f)->content;
        if (content == MSHARD_CONTENT_IMAGE || content == MSHARD_CONTENT_ENCODED)
            return f;
    }
    return 0;
}

/* The record by number or key. TOOL_DONE, or the exit code after saying why not. */
static int find_record(const struct cli_args *args, const mshard_store *store, uint64_t *record)
{
    const char *path = args->operands[0], *key = args->values[O_KEY].text;
    mshard_error err;

    if (!args->values[O_KEY].given && args->count < 2)
        return cli_usage(args->command, "cat needs a record number or a key");
    if (args->values[O_KEY].given && args->count > 1)
        return cli_usage(args->command, "cat takes one record, found '%s' and --key", args->operands[1]);
    if (!args->values[O_KEY].given) {
        if (cli_number(args->operands[1], record)) {
            if (*record < mshard_store_count(store))
                return TOOL_DONE;
            say("%s: no record %s (it has %llu)", path, args->operands[1],
                (unsigned long long)mshard_store_count(store));
            return TOOL_NO;
        }
        key = args->operands[1];
    }
    const mshard_status status = mshard_store_find_key(store, key, strlen(key), record, &err);
    if (status == MSHARD_OK)
        return TOOL_DONE;
    if (status != MSHARD_E_NOT_FOUND)
        return target_error(path, &err);
    if (!mshard_store_has_keys(store))
        say("%s: packed without keys, so no record can be found by '%s' (next: pack with --keys)", path, key);
    else
        say("%s: no key '%s' (next: mshard ls --records %s)", path, key, path);
    return TOOL_NO;
}

/* What a value becomes; data points into the map unless owned is set. */
struct product {
    const void *data;
    size_t size;
    uint8_t *owned;
    bool binary;
};

static int make_png(const mshard_field *field, const mshard_view *view, const uint64_t *shape, struct product *product)
{
    struct blob blob;
    mshard_image image = {.pixels = NULL};
    mshard_error err;
    bool good;

    if (field->content == MSHARD_CONTENT_ENCODED) {
        const char *type = export_image_type(view->data, view->size);
        if (type != NULL && strcmp(type, "png") == 0) {
            product->data = view->data;
            product->size = view->size;
            return TOOL_DONE;
        }
        if (mshard_decode_image(view->data, view->size, 0, &image, &err) != MSHARD_OK) {
            say_error(&err, NULL);
            return TOOL_FAILED;
        }
        good = export_png(image.pixels, image.width, image.height, (uint32_t)image.channels, &blob);
        mshard_image_clear(&image);
    } else {
        const uint64_t channels = field->ndim == 3 ? shape[2] : 1;
        if (field->dtype != MSHARD_UINT8 || field->ndim < 2 || field->ndim > 3 || (channels != 1 && channels != 3)) {
            say("field %s is no picture: PNG needs uint8 [height, width], or with 1 or 3 channels (next: --format=npy)",
                field->name);
            return TOOL_FAILED;
        }
        good = export_png(view->data, shape[1], shape[0], (uint32_t)channels, &blob);
    }
    if (!good) {
        say("field %s: too large or too empty for PNG (next: --format=npy)", field->name);
        return TOOL_FAILED;
    }
    product->owned = blob.data;
    product->data = blob.data;
    product->size = blob.size;
    return TOOL_DONE;
}

static int make_npy(const mshard_field *field, const mshard_view *view, const uint64_t *shape, struct product *product)
{
    struct blob blob;

    if (!export_npy(view->data, view->size, field->dtype, shape, field->ndim, &blob)) {
        say("out of memory");
        return TOOL_FAILED;
    }
    if (field->dtype == MSHARD_BFLOAT16)
        say("note: numpy has no bfloat16; the bits are written as uint16");
    product->owned = blob.data;
    product->data = blob.data;
    product->size = blob.size;
    return TOOL_DONE;
}

/* Text and JSON, to where out() goes. */
static int print_words(const mshard_field *field, const mshard_view *view, const uint64_t *shape, uint64_t format,
                       uint64_t record)
{
    if (format == F_JSON) {
        json_begin(false);
        json_open(NULL, '{');
        json_string("schema", "mshard.cat/1");
        json_count("record", record);
        json_field(field);
        json_shape("value_shape", shape, field->ndim);
        if (field->content == MSHARD_CONTENT_TEXT)
            json_text("value", view->data, view->size);
        else
            values_json("value", view->data, field->dtype, shape, field->ndim);
        json_close();
    } else if (field->content == MSHARD_CONTENT_TEXT) {
        out_escaped(view->data, view->size);
        out("\n");
    } else {
        values_print(view->data, field->dtype, shape, field->ndim);
    }
    return TOOL_DONE;
}

static int words_to(const char *path, const mshard_field *field, const mshard_view *view, const uint64_t *shape,
                    uint64_t format, uint64_t record)
{
    if (path == NULL || strcmp(path, "-") == 0)
        return print_words(field, view, shape, format, record);
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) {
        say("out of memory");
        return TOOL_FAILED;
    }
    out_to(memory);
    int code = print_words(field, view, shape, format, record);
    out_to(NULL);
    if (fclose(memory) != 0 || out_lost()) {
        say("out of memory");
        code = TOOL_FAILED;
    } else {
        const int failed = export_file(path, text, size);
        if (failed != 0) {
            say("%s: %s", path, strerror(failed));
            code = TOOL_FAILED;
        }
    }
    free(text);
    return code;
}

static int bytes_to(const char *path, const struct product *product)
{
    int failed;

    if (path != NULL && strcmp(path, "-") != 0) {
        failed = export_file(path, product->data, product->size);
        if (failed == 0)
            return TOOL_DONE;
        say("%s: %s", path, strerror(failed));
        return TOOL_FAILED;
    }
    if (product->binary && path == NULL && out_is_terminal())
        return cli_usage(&cmd_cat, "not writing bytes to a terminal: give -o FILE, or -o - if you mean it");
    out_bytes(product->data, product->size);
    return TOOL_DONE;
}

static int put_value(const struct cli_args *args, const mshard_store *store, uint64_t record, uint32_t f)
{
    const struct cli_value *v = args->values;
    const mshard_field *field = mshard_store_field(store, f);
    const char *path = v[O_OUTPUT].text;
    const uint64_t format = choose_format(v[O_FORMAT].number, path, field);
    struct product product = {.binary = format != F_RAW || field->content != MSHARD_CONTENT_TEXT};
    uint64_t shape[MSHARD_MAX_DIMS];
    mshard_view view;
    mshard_error err;
    mshard_status status = mshard_store_record(store, record, f, &view, &err);
    int code = TOOL_DONE;

    if (status == MSHARD_OK)
        status = mshard_store_shape(store, record, f, shape, &err);
    if (status != MSHARD_OK)
        return target_error(args->operands[0], &err);
    product.data = view.data;
    product.size = view.size;
    if (format == F_RAW && field->content == MSHARD_CONTENT_TEXT && path == NULL && out_is_terminal())
        return words_to(path, field, &view, shape, F_TEXT, record);
    if (format == F_TEXT || format == F_JSON)
        return words_to(path, field, &view, shape, format, record);
    if (format == F_PNG)
        code = make_png(field, &view, shape, &product);
    else if (format == F_NPY)
        code = make_npy(field, &view, shape, &product);
    if (code == TOOL_DONE)
        code = bytes_to(path, &product);
    free(product.owned);
    return code;
}

/* "cat 0 train.msd" is taken as well: the operand that exists is the PATH. */
static void path_first(const char *operands[2])
{
    struct stat info;

    if (stat(operands[0], &info) != 0 && stat(operands[1], &info) == 0) {
        const char *number = operands[0];

        operands[0] = operands[1];
        operands[1] = number;
    }
}

static int run(const struct cli_args *given)
{
    const char *operands[2] = {given->operands[0], given->count > 1 ? given->operands[1] : NULL};
    struct cli_args copy = *given;
    const struct cli_args *args = &copy;
    const struct cli_value *v = args->values;
    struct target target;
    uint64_t record = 0;

    if (operands[1] != NULL)
        path_first(operands);
    copy.operands = operands;
    int code = target_open(args->operands[0], &target);

    if (code != TOOL_DONE)
        return code;
    uint32_t field = default_field(target.store);
    code = find_record(args, target.store, &record);
    if (code == TOOL_DONE && v[O_FIELD].given)
        code = target_field(target.store, v[O_FIELD].text, &field);
    if (code == TOOL_DONE)
        code = put_value(args, target.store, record, field);
    mshard_store_unref(target.store);
    return code;
}

static const struct cli_example examples[] = {
    {"mshard cat train.msd 0 -o first.png", "The first picture."},
    {"mshard cat train.msd --key cat/17.jpg -o 17.npy", "A record by its key, for numpy."},
    {"mshard cat train.msd 0 --field label", "A number, as text."},
    {"mshard cat photos.msd 5 > five.jpg", "An image file as it was packed with --encoded."},
    {NULL, NULL},
};

static const struct cli_member members[] = {
    {"schema", "mshard.cat/1, with --format=json."},
    {"record", "Its number."},
    {"name, dtype, shape, content", "Of the field, as in mshard.info/1."},
    {"value_shape, value", "Shape of this value; nested arrays, or a string for text."},
    {NULL, NULL},
};

const struct cli_command cmd_cat = {
    .name = "cat",
    .operands = "PATH N|KEY",
    .line = "one value back out: picture, array, bytes or text",
    .text = "The record is given by its number, or by its key when the data set was packed with --keys. A word of "
            "digits is a number; --key takes it as a key. The order of the two does not matter. When there is no such record or key the exit status is 1.",
    .options = options,
    .option_count = O_COUNT,
    .examples = examples,
    .schema = "mshard.cat/1",
    .members = members,
    .min_operands = 1,
    .max_operands = 2,
    .complete = "files",
    .run = run,
};
