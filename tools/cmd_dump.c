/*
 * cmd_dump.c - mshard dump: schema, bytes and values, of good and of damaged files
 *
 * A data set that does not open is taken apart shard by shard: what can still be proved is shown, and the exit status
 * is 1.
 */
#include "dump.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { O_RECORD, O_FIELD, O_SHARD, O_HEX, O_NUMPY, O_FULL, O_JSON, O_COLOR, O_COUNT };

static const struct cli_option options[] = {
    [O_RECORD] = {.name = "record",
                  .letter = 'r',
                  .type = CLI_NUMBER,
                  .arg = "N",
                  .group = "What",
                  .line = "values of record N; large ones summarized"},
    [O_FIELD] = {.name = "field", .type = CLI_TEXT, .arg = "NAME", .line = "with --record: this field only"},
    [O_SHARD] = {.name = "shard",
                 .type = CLI_NUMBER,
                 .arg = "N",
                 .line = "shard N only, every header member",
                 .text = "Shards are numbered from 0."},
    [O_HEX] = {.name = "hex", .type = CLI_FLAG, .line = "bytes in hex, with offsets and names of their parts"},
    [O_NUMPY] = {.name = "numpy",
                 .type = CLI_FLAG,
                 .line = "Python lines that open each column",
                 .text = "One expression for each shard and fixed field; it needs numpy only."},
    [O_FULL] = {.name = "full", .type = CLI_FLAG, .line = "nothing shortened: all values, all bytes"},
    [O_JSON] = CLI_JSON,
    [O_COLOR] = CLI_COLOR,
};

/* Names of shard files, sorted. */
struct shard_list {
    char **names;
    size_t count;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_clear(struct shard_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct shard_list){.names = NULL};
}

static bool list_add(struct shard_list *list, const char *name)
{
    char **names = realloc(list->names, (list->count + 1) * sizeof *names);

    if (names == NULL)
        return false;
    list->names = names;
    names[list->count] = strdup(name);
    return names[list->count] != NULL && ++list->count > 0;
}

static bool list_from_folder(struct shard_list *list, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    bool good = true;

    if (dir == NULL)
        return false;
    while (good && (entry = readdir(dir)) != NULL) {
        const size_t n = strlen(entry->d_name);
        if (n > 7 && strcmp(entry->d_name + n - 7, ".mshard") == 0)
            good = list_add(list, entry->d_name);
    }
    (void)closedir(dir);
    if (list->count > 0)
        qsort(list->names, list->count, sizeof *list->names, compare_names);
    return good;
}

static bool list_from_store(struct shard_list *list, const mshard_store *store)
{
    bool good = true;

    for (uint64_t i = 0; good && i < mshard_store_shard_count(store); i++) {
        mshard_shard_info info;
        mshard_store_shard(store, i, &info);
        good = list_add(list, info.name);
    }
    return good;
}

/* The folder of a data set: path itself, or where its dataset.json is. malloc'd. */
static char *folder_of(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/');

    if (stat(path, &info) != 0 || S_ISDIR(info.st_mode))
        return strdup(path);
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    const size_t n = strlen(folder);

    if (asprintf(&path, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", name) < 0)
        return NULL;
    return path;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static void print_dataset(const mshard_store *store, const char *path)
{
    char a[TEXT_SIZE], b[TEXT_SIZE], shape[256];

    out_style(OUT_BOLD);
    out_name(path);
    out_style(OUT_PLAIN);
    out("  data set  id %s  generation %llu  %s records  %s shards\n", mshard_store_id(store),
        (unsigned long long)mshard_store_generation(store), text_count(a, mshard_store_count(store)),
        text_count(b, mshard_store_shard_count(store)));
    for (uint32_t f = 0; f < mshard_store_field_count(store); f++) {
        const mshard_field *field = mshard_store_field(store, f);
        const uint64_t classes = mshard_store_class_count(store, f);
        out("  field ");
        out_name(field->name);
        out("  %s %s  %s", mshard_dtype_name(field->dtype), text_shape(shape, field->shape, field->ndim),
            mshard_content_name(field->content));
        if ((field->flags & MSHARD_FIELD_AUX) != 0)
            out("  auxiliary");
        if ((field->flags & MSHARD_FIELD_SCALED) != 0)
            out("  value = stored * %s + %s", text_exact(a, field->scale), text_exact(b, field->offset));
        if (classes > 0)
            out("  %s classes", text_count(a, classes));
        out("\n");
    }
}

static void json_dataset(const mshard_store *store)
{
    if (store == NULL) {
        json_null("dataset");
        return;
    }
    json_open("dataset", '{');
    json_string("id", mshard_store_id(store));
    json_count("generation", mshard_store_generation(store));
    json_count("records", mshard_store_count(store));
    json_open("fields", '[');
    for (uint32_t f = 0; f < mshard_store_field_count(store); f++) {
        json_open(NULL, '{');
        json_field(mshard_store_field(store, f));
        json_close();
    }
    json_close();
    json_close();
}

static int dump_shards(const struct shard_list *list, const char *folder, size_t first, size_t end,
                       const struct dump_options *o, bool json)
{
    int code = TOOL_DONE;

    for (size_t i = first; i < end && !out_lost(); i++) {
        char *path = join(folder, list->names[i]);
        if (path == NULL)
            return TOOL_FAILED;
        code = worse(code, json ? dump_shard_json(path) : dump_shard(path, o));
        free(path);
    }
    return code;
}

/* All of a data set, or one shard of it. store is NULL when it does not open. */
static int dump_dataset(const struct cli_args *args, const char *path, const mshard_store *store)
{
    const struct cli_value *v = args->values;
    struct dump_options o = {.full = v[O_FULL].given,
                             .hex = v[O_HEX].given,
                             .numpy = v[O_NUMPY].given,
                             .header = v[O_SHARD].given || v[O_FULL].given};
    struct shard_list list = {.names = NULL};
    char *folder = folder_of(path);
    int code = TOOL_FAILED;

    if (folder == NULL || !(store != NULL ? list_from_store(&list, store) : list_from_folder(&list, folder)))
        goto out;
    size_t first = 0, end = list.count;
    if (v[O_SHARD].given) {
        if (v[O_SHARD].number >= list.count) {
            say("%s: no shard %llu (it has %zu)", path, (unsigned long long)v[O_SHARD].number, list.count);
            code = TOOL_NO;
            goto out;
        }
        first = (size_t)v[O_SHARD].number;
        end = first + 1;
    }
    if (v[O_JSON].given) {
        json_begin(false);
        json_open(NULL, '{');
        json_string("schema", "mshard.dump/1");
        json_string("path", path);
        json_dataset(store);
        json_open("shards", '[');
    } else if (store != NULL && !o.numpy && !v[O_SHARD].given) {
        print_dataset(store, path);
    }
    code = dump_shards(&list, folder, first, end, &o, v[O_JSON].given);
    if (v[O_JSON].given) {
        json_close();
        json_close();
    }
out:
    list_clear(&list);
    free(folder);
    return code;
}

static int dump_single(const struct cli_args *args, const char *path)
{
    const struct cli_value *v = args->values;
    const struct dump_options o = {
        .full = v[O_FULL].given, .hex = v[O_HEX].given, .numpy = v[O_NUMPY].given, .header = true};
    int code;

    if (!v[O_JSON].given)
        return dump_shard(path, &o);
    json_begin(false);
    json_open(NULL, '{');
    json_string("schema", "mshard.dump/1");
    json_string("path", path);
    json_null("dataset");
    json_open("shards", '[');
    code = dump_shard_json(path);
    json_close();
    json_close();
    return code;
}

static int one_record(const struct cli_args *args, const char *path)
{
    const struct cli_value *v = args->values;
    struct target target;
    uint32_t field = UINT32_MAX;
    int code = target_open(path, &target);

    if (code != TOOL_DONE)
        return code;
    if (v[O_FIELD].given)
        code = target_field(target.store, v[O_FIELD].text, &field);
    if (code == TOOL_DONE)
        code = dump_record(&target, path, v[O_RECORD].number, field, v[O_FULL].given, v[O_JSON].given);
    mshard_store_unref(target.store);
    return code;
}

static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    const char *path = args->operands[0];
    mshard_store *store = NULL;
    mshard_error err;

    if (v[O_FIELD].given && !v[O_RECORD].given)
        return cli_usage(args->command, "--field needs --record");
    if (v[O_RECORD].given + v[O_HEX].given + v[O_NUMPY].given > 1)
        return cli_usage(args->command, "--record, --hex and --numpy exclude each other");
    if (v[O_JSON].given && (v[O_HEX].given || v[O_NUMPY].given))
        return cli_usage(args->command, "--json and --%s exclude each other", v[O_HEX].given ? "hex" : "numpy");
    color_from(v[O_COLOR].number);
    if (v[O_RECORD].given)
        return one_record(args, path);
    if (target_is_shard(path))
        return dump_single(args, path);
    const mshard_status status = mshard_store_open(path, NULL, &store, &err);
    if (status == MSHARD_OK) {
        const int code = dump_dataset(args, path, store);
        mshard_store_unref(store);
        return code;
    }
    const int failed = target_error(path, &err);
    if (status == MSHARD_E_NOT_FOUND || status == MSHARD_E_IO || status == MSHARD_E_NOMEM)
        return failed;
    const int code = dump_dataset(args, path, NULL);
    return code == TOOL_FAILED ? code : TOOL_NO;
}

static const struct cli_example examples[] = {
    {"mshard dump train.msd --shard 0 --hex",
     "The first shard byte by byte: each header member named, data shortened."},
    {"mshard dump train.msd --record 17", "The values of one record."},
    {"mshard dump train.msd --numpy", "A numpy.memmap expression for each column."},
    {"mshard dump damaged.mshard", "What can still be proved of a damaged shard."},
    {NULL, NULL},
};

static const struct cli_member members[] = {
    {"schema, path", "mshard.dump/1, or mshard.dump.record/1 with --record; the path as given."},
    {"dataset", "dump: object: id, generation, records, fields (as in mshard.info/1); null for a shard alone and for a "
                "data set that does not open."},
    {"shards", "dump: array of objects: path; spans; file_size, stated_size; version; incompat, compat, header_sum (16 "
               "hex digits); records; fields, with column_offset; error."},
    {"spans", "Array of objects in file order, none overlapping: offset, size, name, type, value (as text, header "
              "members only), problem (only when something is wrong), in_header."},
    {"error", "The first problem of the shard: code, offset, message; null when there is none."},
    {"record, shard, index, fields", "dump.record: where the record is; fields as in mshard.info/1 with value_shape, "
                                     "bytes, value (nested arrays; a string for text) and class."},
    {NULL, NULL},
};

const struct cli_command cmd_dump = {
    .name = "dump",
    .operands = "PATH",
    .line = "schema, header and section map, bytes, values",
    .text = "For a data set: its fields, and the sections of each shard. For one shard (a file, or --shard): every "
            "member of the header too.\n\n"
            "Damaged, cut and foreign files are taken as far as they can be followed; what is wrong is marked, and the "
            "exit status is 1. Only headers are read, unless values or bytes are asked for.",
    .options = options,
    .option_count = O_COUNT,
    .examples = examples,
    .schema = "mshard.dump/1",
    .members = members,
    .min_operands = 1,
    .max_operands = 1,
    .complete = "files",
    .run = run,
};
