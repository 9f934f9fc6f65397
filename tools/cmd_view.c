/*
 * cmd_view.c - mshard view: records as pictures in the terminal
 *
 * Random records are a function of the seed alone, so a view can be repeated.
 */
#include "cmd.h"
#include "picture.h"

#include <mshard/pack.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { O_RANDOM, O_SEED, O_CLASS, O_FIELD, O_WIDTH, O_GRAPHICS, O_COLOR, O_COUNT };
enum { DEFAULT_COUNT = 8, TILE_WIDTH = 38, MOST = 10000 };

static const struct cli_option options[] = {
    [O_RANDOM] = {.name = "random",
                  .letter = 'n',
                  .type = CLI_NUMBER,
                  .arg = "N",
                  .group = "What",
                  .fallback = "8, when none is named",
                  .line = "N records at random"},
    [O_SEED] = {.name = "seed", .type = CLI_NUMBER, .arg = "S", .fallback = "0", .line = "which ones --random takes"},
    [O_CLASS] = {.name = "class",
                 .letter = 'c',
                 .type = CLI_TEXT,
                 .arg = "NAME",
                 .line = "of this class only",
                 .text = "A class name, or a number where classes have none."},
    [O_FIELD] =
        {.name = "field", .letter = 'f', .type = CLI_TEXT, .arg = "NAME", .fallback = "first image", .line = "field"},
    [O_WIDTH] = {.name = "width",
                 .letter = 'w',
                 .type = CLI_NUMBER,
                 .arg = "COLUMNS",
                 .group = "Output",
                 .fallback = "as it fits, 38 at most",
                 .line = "columns of one picture"},
    [O_GRAPHICS] = {.name = "graphics",
                    .type = CLI_CHOICE,
                    .arg = "HOW",
                    .choices = "auto|24bit|256|ascii",
                    .fallback = "auto",
                    .line = "auto, 24bit, 256 or ascii",
                    .text = "auto: 24-bit color when COLORTERM says so, else 256 colors; letters where there is no "
                            "color, as in a pipe."},
    [O_COLOR] = CLI_COLOR,
};

/* Records to show, in order. */
struct picks {
    uint64_t *records;
    size_t count;
};

/* splitmix64: state to the next number. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t random_below(uint64_t *state, uint64_t n)
{
    const uint64_t most = UINT64_MAX - UINT64_MAX % n;
    uint64_t value;

    do
        value = next_random(state);
    while (value >= most);
    return value % n;
}

static bool picked(const struct picks *picks, uint64_t record)
{
    for (size_t i = 0; i < picks->count; i++)
        if (picks->records[i] == record)
            return true;
    return false;
}

static int compare_records(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* want distinct records of [0, n), ascending (Floyd's method: no list of all n). */
static bool pick_random(struct picks *picks, uint64_t n, uint64_t want, uint64_t seed)
{
    uint64_t state = seed;

    if (want > n)
        want = n;
    picks->records = calloc((size_t)want + 1, sizeof *picks->records);
    if (picks->records == NULL)
        return false;
    for (uint64_t j = n - want; j < n; j++) {
        const uint64_t t = random_below(&state, j + 1);
        picks->records[picks->count] = picked(picks, t) ? j : t;
        picks->count++;
    }
    qsort(picks->records, picks->count, sizeof *picks->records, compare_records);
    return true;
}

/* Records of a class, all of them (only numbers are kept). */
static bool members_of(const mshard_store *store, uint32_t label, int64_t class, struct picks *all)
{
    size_t capacity = 0;

    for (uint64_t record = 0; record < mshard_store_count(store); record++) {
        int64_t number;
        const char *name;
        if (!target_class(store, record, label, &number, &name) || number != class)
            continue;
        if (all->count == capacity) {
            capacity = capacity * 2 + 64;
            uint64_t *records = realloc(all->records, capacity * sizeof *records);
            if (records == NULL)
                return false;
            all->records = records;
        }
        all->records[all->count++] = record;
    }
    return true;
}

/* The number of a class, by name or number. */
static int find_class(const mshard_store *store, const char *text, uint32_t *label, int64_t *number)
{
    struct cli_guess guess = {.name = NULL};
    uint64_t n;

    *label = target_label(store);
    if (*label == UINT32_MAX) {
        say("no label field, so no class '%s'", text);
        return TOOL_NO;
    }
    for (uint32_t f = 0; f < target_fields(store); f++) {
        for (uint64_t c = 0; c < mshard_store_class_count(store, f); c++) {
            const char *name = mshard_store_class_name(store, f, c);
            if (strcmp(name, text) == 0) {
                *label = f;
                *number = (int64_t)c;
                return TOOL_DONE;
            }
            cli_guess_try(&guess, text, name);
        }
    }
    if (cli_number(text, &n) && n < INT64_MAX) {
        *number = (int64_t)n;
        return TOOL_DONE;
    }
    if (guess.name != NULL)
        say("no class '%s'; did you mean '%s'?", text, guess.name);
    else
        say("no class '%s'", text);
    return TOOL_NO;
}

static int pick_class(const struct cli_args *args, const mshard_store *store, struct picks *picks)
{
    const struct cli_value *v = args->values;
    struct picks all = {.records = NULL}, which = {.records = NULL};
    uint32_t label;
    int64_t number;
    int code = find_class(store, v[O_CLASS].text, &label, &number);

    if (code != TOOL_DONE)
        return code;
    if (!members_of(store, label, number, &all)) {
        say("out of memory");
        code = TOOL_FAILED;
    } else if (all.count == 0) {
        say("class '%s' has no records", v[O_CLASS].text);
        code = TOOL_NO;
    } else if (v[O_RANDOM].given) {
        if (pick_random(&which, all.count, v[O_RANDOM].number, v[O_SEED].number))
            for (size_t i = 0; i < which.count; i++)
                which.records[i] = all.records[which.records[i]];
        *picks = which;
    } else {
        *picks = all;
        if (picks->count > DEFAULT_COUNT)
            picks->count = DEFAULT_COUNT;
        all.records = NULL;
    }
    free(all.records);
    return code;
}

static int pick_named(const struct cli_args *args, const mshard_store *store, struct picks *picks)
{
    const uint64_t n = mshard_store_count(store);

    picks->records = calloc(MOST, sizeof *picks->records);
    if (picks->records == NULL) {
        say("out of memory");
        return TOOL_FAILED;
    }
    for (size_t i = 1; i < args->count; i++) {
        uint64_t first, end;
        if (!cli_range(args->operands[i], &first, &end))
            return cli_usage(args->command, "a record must be N or FIRST:END, found '%s'", args->operands[i]);
        if (end == UINT64_MAX)
            end = n;
        if (first >= n || end > n) {
            say("%s: no record %llu (it has %llu)", args->operands[0],
                (unsigned long long)(first >= n ? first : end - 1), (unsigned long long)n);
            return TOOL_NO;
        }
        for (; first < end && picks->count < MOST; first++)
            picks->records[picks->count++] = first;
    }
    return TOOL_DONE;
}

static int pick(const struct cli_args *args, const mshard_store *store, struct picks *picks)
{
    const struct cli_value *v = args->values;

    if (args->count > 1)
        return pick_named(args, store, picks);
    if (v[O_CLASS].given)
        return pick_class(args, store, picks);
    const uint64_t want = v[O_RANDOM].given ? v[O_RANDOM].number : DEFAULT_COUNT;
    if (pick_random(picks, mshard_store_count(store), want, v[O_SEED].number))
        return TOOL_DONE;
    say("out of memory");
    return TOOL_FAILED;
}

static bool is_picture(const mshard_field *field)
{
    if (field->content == MSHARD_CONTENT_ENCODED)
        return true;
    if (field->dtype != MSHARD_UINT8 || (field->ndim != 2 && field->ndim != 3))
        return false;
    return field->ndim == 2 || field->shape[2] == 1 || field->shape[2] == 3 || field->shape[2] == MSHARD_DIM_UNKNOWN;
}

static int picture_field(const struct cli_args *args, const mshard_store *store, uint32_t *field)
{
    if (args->values[O_FIELD].given) {
        const int code = target_field(store, args->values[O_FIELD].text, field);
        if (code != TOOL_DONE || is_picture(mshard_store_field(store, *field)))
            return code;
        say("field %s is no picture (next: mshard dump --record N)", args->values[O_FIELD].text);
        return TOOL_NO;
    }
    for (*field = 0; *field < target_fields(store); ++*field) {
        const mshard_field *f = mshard_store_field(store, *field);
        if ((f->content == MSHARD_CONTENT_IMAGE || f->content == MSHARD_CONTENT_ENCODED) && is_picture(f))
            return TOOL_DONE;
    }
    for (*field = 0; *field < target_fields(store); ++*field)
        if (is_picture(mshard_store_field(store, *field)))
            return TOOL_DONE;
    say("%s: no field of pictures (next: mshard dump --record 0 %s)", args->operands[0], args->operands[0]);
    return TOOL_NO;
}

/* "17 cat a/b.jpg" */
static char *caption_of(const mshard_store *store, uint64_t record)
{
    const uint32_t label = target_label(store);
    const char *name = NULL;
    char text[1200];
    int64_t number;
    mshard_view key;
    size_t n = (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)record);

    if (label != UINT32_MAX && target_class(store, record, label, &number, &name)) {
        if (name != NULL)
            n += (size_t)snprintf(text + n, sizeof text - n, " %.300s", name);
        else
            n += (size_t)snprintf(text + n, sizeof text - n, " class %lld", (long long)number);
    }
    if (mshard_store_has_keys(store) && mshard_store_key(store, record, &key, NULL) == MSHARD_OK)
        (void)snprintf(text + n, sizeof text - n, " %.*s", (int)(key.size < MSHARD_MAX_KEY ? key.size : MSHARD_MAX_KEY),
                       (const char *)key.data);
    return escaped(text, strlen(text));
}

struct viewing {
    const mshard_store *store;
    uint32_t field;
    size_t columns, lines; /* of one tile, at most */
    enum picture_mode mode;
};

/* False: said why not. */
static mshard_status make_tile(const struct viewing *w, uint64_t record, struct tile *tile, mshard_error *err)
{
    const mshard_field *field = mshard_store_field(w->store, w->field);
    uint64_t shape[MSHARD_MAX_DIMS];
    mshard_image image = {.pixels = NULL};
    mshard_view view;
    mshard_status status = mshard_store_record(w->store, record, w->field, &view, err);
    bool good = true;

    if (status == MSHARD_OK)
        status = mshard_store_shape(w->store, record, w->field, shape, err);
    if (status == MSHARD_OK && field->content == MSHARD_CONTENT_ENCODED)
        status = mshard_decode_image(view.data, view.size, 0, &image, err);
    if (status != MSHARD_OK)
        return status;
    *tile = (struct tile){.caption = caption_of(w->store, record)};
    const uint64_t channels = field->ndim == 3 ? shape[2] : 1;
    if (image.pixels != NULL)
        good = picture_scale(tile, image.pixels, image.width, image.height, (uint32_t)image.channels, w->columns,
                             w->lines);
    else if (view.size > 0 && (channels == 1 || channels == 3))
        good = picture_scale(tile, view.data, shape[1], shape[0], (uint32_t)channels, w->columns, w->lines);
    mshard_image_clear(&image);
    if (!good) {
        *err = (mshard_error){.code = MSHARD_E_NOMEM, .offset = MSHARD_NO_OFFSET, .message = "out of memory"};
        return MSHARD_E_NOMEM;
    }
    return MSHARD_OK;
}

static void tiles_clear(struct tile *tiles, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(tiles[i].pixels);
        free(tiles[i].caption);
    }
}

static int show_all(const struct viewing *w, const struct picks *picks, size_t screen, const char *path)
{
    enum { MAX_TILES = 64 };
    struct tile tiles[MAX_TILES];
    size_t count = 0, box = 0;
    int code = TOOL_DONE;
    mshard_error err;

    for (size_t i = 0; i <= picks->count && !out_lost(); i++) {
        struct tile tile = {.pixels = NULL};
        if (i < picks->count && make_tile(w, picks->records[i], &tile, &err) != MSHARD_OK) {
            if (err.path[0] == '\0')
                (void)snprintf(err.path, sizeof err.path, "record %llu", (unsigned long long)picks->records[i]);
            code = target_error(path, &err);
            continue;
        }
        const size_t wide = tile.columns > 16 ? tile.columns : 16; /* room for a caption */
        const size_t next = wide > box ? wide : box;
        const bool full = count == MAX_TILES || (count + 1) * (next + 2) > screen + 2;
        if (count > 0 && (i == picks->count || full)) {
            picture_row(tiles, count, box, w->mode);
            tiles_clear(tiles, count);
            count = 0;
            box = 0;
        }
        if (i == picks->count)
            break;
        box = wide > box ? wide : box;
        tiles[count++] = tile;
    }
    tiles_clear(tiles, count);
    return code;
}

static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct viewing w = {.field = 0};
    struct picks picks = {.records = NULL};
    struct target target;
    const size_t screen = terminal_columns(STDOUT_FILENO);
    int code;

    if (v[O_WIDTH].given && (v[O_WIDTH].number < 4 || v[O_WIDTH].number > 4096))
        return cli_usage(args->command, "--width must be 4 to 4096, found %s", v[O_WIDTH].text);
    if (args->count > 1 && (v[O_RANDOM].given || v[O_CLASS].given))
        return cli_usage(args->command, "record numbers exclude --random and --class");
    if (v[O_RANDOM].given && (v[O_RANDOM].number == 0 || v[O_RANDOM].number > MOST))
        return cli_usage(args->command, "--random must be 1 to %d, found %s", MOST, v[O_RANDOM].text);
    code = target_open(args->operands[0], &target);
    if (code != TOOL_DONE)
        return code;
    color_from(v[O_COLOR].number);
    w.store = target.store;
    code = picture_field(args, target.store, &w.field);
    if (code == TOOL_DONE)
        code = pick(args, target.store, &picks);
    if (code == TOOL_DONE) {
        w.mode =
            v[O_GRAPHICS].number > 0 ? (enum picture_mode)(v[O_GRAPHICS].number - 1) : picture_mode(v[O_COLOR].number);
        w.columns = v[O_WIDTH].given ? (size_t)v[O_WIDTH].number : picks.count == 1 ? screen : TILE_WIDTH;
        if (w.columns > screen)
            w.columns = screen;
        w.lines = picks.count == 1 ? terminal_rows(STDOUT_FILENO) - 3 : w.columns;
        code = show_all(&w, &picks, screen, args->operands[0]);
    }
    free(picks.records);
    mshard_store_unref(target.store);
    return code;
}

static const struct cli_example examples[] = {
    {"mshard view train.msd --class cat --random 12 --seed 7", "Twelve cats, the same ones each time."},
    {"mshard view train.msd 17", "One picture, as large as the terminal allows."},
    {"mshard view train.msd 0:20 --width 16", "The first twenty, small."},
    {NULL, NULL},
};

const struct cli_command cmd_view = {
    .name = "view",
    .operands = "PATH [N|RANGE]...",
    .line = "records as pictures in the terminal",
    .text = "Pictures are drawn with half blocks, two pixels a character, several side by side, each with its record "
            "number, class and key below. Without record numbers, eight random ones. Pictures are never enlarged.",
    .options = options,
    .option_count = O_COUNT,
    .examples = examples,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .complete = "files",
    .run = run,
};
