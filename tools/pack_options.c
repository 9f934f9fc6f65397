/*
 * pack_options.c - the option table of mshard pack, and its values as the library wants them
 */
#include "pack_options.h"

#include "out.h"

#include <string.h>

const struct cli_option pack_options_table[PACK_COUNT] = {
    [PACK_OUTPUT] = {.name = "output",
                     .letter = 'o',
                     .type = CLI_TEXT,
                     .arg = "PATH",
                     .group = "Data set",
                     .line = "the data set to make: a new folder"},
    [PACK_SHARDS] = {.name = "shards",
                     .type = CLI_NUMBER,
                     .arg = "N",
                     .line = "number of shards",
                     .fallback = "by size",
                     .rare = true},
    [PACK_SHARD_SIZE] =
        {.name = "shard-size", .type = CLI_SIZE, .arg = "SIZE", .fallback = "256M", .line = "bytes a shard aims at"},
    [PACK_ALIGN] = {.name = "align",
                    .type = CLI_SIZE,
                    .arg = "SIZE",
                    .fallback = "4096",
                    .rare = true,
                    .line = "where columns begin in a shard: multiples",
                    .text = "A power of two from 4096 to 1M."},
    [PACK_SHUFFLE] = {.name = "shuffle",
                      .type = CLI_NUMBER,
                      .arg = "SEED",
                      .line = "shuffle the inputs by this seed",
                      .text =
                          "Sorted sources shuffle badly later. Without it, records are in the order of the inputs."},
    [PACK_KEYS] = {.name = "keys", .type = CLI_FLAG, .line = "keep names as keys, with an index to find them"},
    [PACK_OVERWRITE] = {.name = "overwrite",
                        .type = CLI_FLAG,
                        .alias = "force",
                        .rare = true,
                        .line = "replace a data set that is there",
                        .text = "The old one stays complete until the new one is."},
    [PACK_ALLOW_EMPTY] = {.name = "allow-empty",
                          .type = CLI_FLAG,
                          .rare = true,
                          .line = "no records: a data set, not an error"},
    [PACK_NO_SYNC] = {.name = "no-sync",
                      .type = CLI_FLAG,
                      .rare = true,
                      .line = "do not wait for the disk",
                      .text = "For scratch data: a power cut may then leave a damaged data set."},
    [PACK_FORMAT] = {.name = "format",
                     .type = CLI_TEXT,
                     .arg = "NAME",
                     .fallback = "by looking",
                     .group = "Inputs",
                     .line = "kind; the man page lists them",
                     .text = "One of folder, flat, list, npy, npz, cifar10, cifar100, idx, raw, archive, webdataset, "
                             "bytes."},
    [PACK_LABELS] = {.name = "labels",
                     .type = CLI_TEXT,
                     .arg = "FILE",
                     .line = "class names, or labels of an array",
                     .text = "A list of class names, a data set to take the classes from, or an array of labels."},
    [PACK_ON_ERROR] = {.name = "on-error",
                       .type = CLI_CHOICE,
                       .arg = "DO",
                       .choices = "stop|skip",
                       .fallback = "stop",
                       .line = "damaged inputs: stop or skip",
                       .text = "With skip, damaged inputs are left out, listed in skipped.jsonl, and the exit status "
                               "is 4."},
    [PACK_RAW_DTYPE] = {.name = "raw-dtype",
                        .type = CLI_TEXT,
                        .arg = "DTYPE",
                        .rare = true,
                        .line = "--format=raw: dtype of the elements"},
    [PACK_RAW_SHAPE] = {.name = "raw-shape",
                        .type = CLI_TEXT,
                        .arg = "N,N,...",
                        .rare = true,
                        .alias = "shape",
                        .line = "--format=raw: shape of one record"},
    [PACK_RAW_SKIP] = {.name = "raw-skip",
                       .type = CLI_SIZE,
                       .arg = "SIZE",
                       .fallback = "0",
                       .rare = true,
                       .alias = "skip",
                       .line = "--format=raw: bytes before the first record"},
    [PACK_MAX_PIXELS] = {.name = "max-pixels",
                         .type = CLI_SIZE,
                         .arg = "N",
                         .fallback = "256M",
                         .rare = true,
                         .line = "refuse images with more pixels"},
    [PACK_MAX_MEMBER] = {.name = "max-member",
                         .type = CLI_SIZE,
                         .arg = "SIZE",
                         .fallback = "4G",
                         .rare = true,
                         .line = "refuse files and members larger than this"},
    [PACK_RESIZE] = {.name = "resize",
                     .type = CLI_EXTENT,
                     .arg = "N|WxH",
                     .group = "Values",
                     .line = "shorter side to N pixels, or exact size",
                     .text = "Antialiased. With N the aspect is kept."},
    [PACK_CROP] = {.name = "crop",
                   .type = CLI_EXTENT,
                   .arg = "N|WxH",
                   .line = "cut this size from the center",
                   .text = "After resizing."},
    [PACK_GRAY] = {.name = "gray", .type = CLI_FLAG, .line = "one channel: luma of ITU-R 601", .alias = "grey"},
    [PACK_ENCODED] = {.name = "encoded", .type = CLI_FLAG, .line = "keep image files as they are"},
    [PACK_VARIABLE] = {.name = "variable", .type = CLI_FLAG, .line = "images may differ in size"},
    [PACK_DTYPE] = {.name = "dtype",
                    .type = CLI_LIST,
                    .arg = "FIELD=DTYPE",
                    .line = "store a field as DTYPE, as x=float16",
                    .text = "May be given once for each field."},
    [PACK_ON_OVERFLOW] = {.name = "on-overflow",
                          .type = CLI_CHOICE,
                          .arg = "DO",
                          .choices = "error|clamp|inf",
                          .fallback = "error",
                          .rare = true,
                          .line = "too large for float16: error, clamp or inf",
                          .text = "Values that do not fit: refuse, take the largest finite value, or infinity."},
    [PACK_JOBS] = CLI_JOBS,
    [PACK_DRY_RUN] = {.name = "dry-run",
                      .letter = 'n',
                      .type = CLI_FLAG,
                      .line = "show what would be packed; write nothing"},
    [PACK_JSON] = CLI_JSON,
    [PACK_QUIET] = CLI_QUIET,
    [PACK_PROGRESS] = CLI_PROGRESS,
};

static int check_sizes(const struct cli_args *args)
{
    const struct cli_value *v = args->values;

    if (v[PACK_SHARDS].given && v[PACK_SHARDS].number == 0)
        return cli_usage(args->command, "--shards must be at least 1, found 0");
    if (v[PACK_SHARDS].given && v[PACK_SHARD_SIZE].given)
        return cli_usage(args->command, "--shards and --shard-size exclude each other");
    if (v[PACK_SHARD_SIZE].given && v[PACK_SHARD_SIZE].number == 0)
        return cli_usage(args->command, "--shard-size must not be 0");
    if (v[PACK_JOBS].given && (v[PACK_JOBS].number == 0 || v[PACK_JOBS].number > 4096))
        return cli_usage(args->command, "--jobs must be 1 to 4096, found %s", v[PACK_JOBS].text);
    const uint64_t align = v[PACK_ALIGN].number;
    if (v[PACK_ALIGN].given && (align < 4096 || align > (1u << 20) || (align & (align - 1)) != 0))
        return cli_usage(args->command, "--align must be a power of two from 4096 to 1M, found %s", v[PACK_ALIGN].text);
    if (!v[PACK_OUTPUT].given && !v[PACK_DRY_RUN].given)
        return cli_usage(args->command, "pack needs -o OUT, or --dry-run");
    return TOOL_DONE;
}

static int check_together(const struct cli_args *args)
{
    static const struct {
        int a, b;
    } apart[] = {
        {PACK_ENCODED, PACK_RESIZE},
        {PACK_ENCODED, PACK_CROP},
        {PACK_ENCODED, PACK_GRAY},
        {PACK_ENCODED, PACK_VARIABLE},
    };
    const struct cli_value *v = args->values;

    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (v[apart[i].a].given && v[apart[i].b].given)
            return cli_usage(args->command, "--%s and --%s exclude each other", pack_options_table[apart[i].a].name,
                             pack_options_table[apart[i].b].name);
    for (size_t i = 0; i < v[PACK_DTYPE].count; i++) {
        const char *equals = strchr(v[PACK_DTYPE].list[i], '=');
        mshard_dtype dtype;
        if (equals == NULL || equals == v[PACK_DTYPE].list[i])
            return cli_usage(args->command, "--dtype must be FIELD=DTYPE, found '%s'", v[PACK_DTYPE].list[i]);
        if (mshard_dtype_parse(equals + 1, &dtype, NULL) != MSHARD_OK)
            return cli_usage(args->command,
                             "--dtype: no dtype '%s' (uint8 int8 uint16 int16 uint32 int32 uint64 int64 "
                             "float16 float32 float64 bfloat16 bool)",
                             equals + 1);
    }
    return TOOL_DONE;
}

static int check_raw(const struct cli_args *args)
{
    static const int raw[] = {PACK_RAW_DTYPE, PACK_RAW_SHAPE, PACK_RAW_SKIP};
    const struct cli_value *v = args->values;
    const bool is_raw = v[PACK_FORMAT].given && strcmp(v[PACK_FORMAT].text, "raw") == 0;

    for (size_t i = 0; i < 3; i++) {
        if (v[raw[i]].given && !is_raw)
            return cli_usage(args->command, "--%s needs --format=raw", pack_options_table[raw[i]].name);
        if (!v[raw[i]].given && is_raw && raw[i] != PACK_RAW_SKIP)
            return cli_usage(args->command, "--format=raw needs --%s", pack_options_table[raw[i]].name);
    }
    return TOOL_DONE;
}

static int check_format(const struct cli_args *args)
{
    static const char *const names[] = {"folder",   "flat", "list", "npy",     "npz",        "cifar10",
                                        "cifar100", "idx",  "raw",  "archive", "webdataset", "bytes"};
    const struct cli_value *v = &args->values[PACK_FORMAT];
    struct cli_guess guess = {.name = NULL};

    if (!v->given)
        return TOOL_DONE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], v->text) == 0)
            return TOOL_DONE;
        cli_guess_try(&guess, v->text, names[i]);
    }
    return cli_usage(args->command,
                     "no format '%s'%s%s; formats: folder flat list npy npz cifar10 cifar100 idx raw archive "
                     "webdataset bytes",
                     v->text, guess.name != NULL ? "; did you mean " : "", guess.name != NULL ? guess.name : "");
}

int pack_options_fill(const struct cli_args *args, mshard_pack_options *o)
{
    const struct cli_value *v = args->values;
    int code = check_sizes(args);

    code = code == TOOL_DONE ? check_together(args) : code;
    code = code == TOOL_DONE ? check_format(args) : code;
    code = code == TOOL_DONE ? check_raw(args) : code;
    if (code != TOOL_DONE)
        return code;
    o->format = v[PACK_FORMAT].text;
    if (v[PACK_RESIZE].second != 0) {
        o->resize_width = v[PACK_RESIZE].number;
        o->resize_height = v[PACK_RESIZE].second;
    } else {
        o->resize = v[PACK_RESIZE].number;
    }
    o->crop_width = v[PACK_CROP].number;
    o->crop_height = v[PACK_CROP].second != 0 ? v[PACK_CROP].second : v[PACK_CROP].number;
    o->gray = v[PACK_GRAY].given;
    o->encoded = v[PACK_ENCODED].given;
    o->variable = v[PACK_VARIABLE].given;
    o->dtypes = v[PACK_DTYPE].list;
    o->raw_dtype = v[PACK_RAW_DTYPE].text;
    o->raw_shape = v[PACK_RAW_SHAPE].text;
    o->raw_skip = v[PACK_RAW_SKIP].number;
    o->labels = v[PACK_LABELS].text;
    o->shards = v[PACK_SHARDS].number;
    o->shard_size = v[PACK_SHARD_SIZE].number;
    o->align = (uint32_t)v[PACK_ALIGN].number;
    o->shuffle = v[PACK_SHUFFLE].given;
    o->shuffle_seed = v[PACK_SHUFFLE].number;
    o->keys = v[PACK_KEYS].given;
    o->on_error = v[PACK_ON_ERROR].number == 1 ? MSHARD_ON_ERROR_SKIP : MSHARD_ON_ERROR_STOP;
    o->on_overflow = v[PACK_ON_OVERFLOW].number == 2   ? MSHARD_ON_OVERFLOW_INF
                     : v[PACK_ON_OVERFLOW].number == 1 ? MSHARD_ON_OVERFLOW_CLAMP
                                                       : MSHARD_ON_OVERFLOW_ERROR;
    o->dry_run = v[PACK_DRY_RUN].given;
    o->overwrite = v[PACK_OVERWRITE].given;
    o->allow_empty = v[PACK_ALLOW_EMPTY].given;
    o->no_sync = v[PACK_NO_SYNC].given;
    o->jobs = (uint32_t)v[PACK_JOBS].number;
    o->max_pixels = v[PACK_MAX_PIXELS].number;
    o->max_member = v[PACK_MAX_MEMBER].number;
    return TOOL_DONE;
}
