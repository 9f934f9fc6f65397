/*
 * cmd_pack.c - mshard pack: options to mshard_pack, events to words or JSON lines
 *
 * Every failed and every skipped input is named on standard error; the last line on standard output is the result.
 * The library calls report_event from one thread at a time.
 */
#include "cmd.h"
#include "pack_options.h"
#include "dry_run.h"
#include "progress.h"

#include <mshard/pack.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_REASONS = 16 };

struct reason {
    mshard_status code;
    uint64_t count;
};

struct packing {
    struct progress progress;
    bool json, quiet;
    uint64_t failed, skipped; /* events seen */
    struct reason reasons[MAX_REASONS];
    char phase[64];
    uint64_t json_ns;       /* last status line */
    mshard_pack_event last; /* figures only */
};

static void count_reason(struct packing *p, mshard_status code)
{
    for (size_t i = 0; i < MAX_REASONS; i++) {
        if (p->reasons[i].count == 0)
            p->reasons[i].code = code;
        if (p->reasons[i].code == code) {
            p->reasons[i].count++;
            return;
        }
    }
}

/* " (2 truncated, 1 decode)" or "". */
static const char *reasons_text(const struct packing *p, char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < MAX_REASONS && p->reasons[i].count > 0 && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%llu %s", i > 0 ? ", " : " (",
                              (unsigned long long)p->reasons[i].count, mshard_status_name(p->reasons[i].code));
    if (n > 0 && n < size)
        (void)snprintf(text + n, size - n, ")");
    return text;
}

static void json_problem(const char *type, const mshard_pack_event *event)
{
    const mshard_error *err = event->error;
    const char *path = event->path != NULL ? event->path : err != NULL ? err->path : "";

    json_begin(true);
    json_open(NULL, '{');
    json_string("message_type", type);
    json_string("path", path);
    json_string("code", mshard_status_name(err != NULL ? err->code : MSHARD_E_DECODE));
    if (err != NULL && err->offset != MSHARD_NO_OFFSET)
        json_count("offset", err->offset);
    else
        json_null("offset");
    json_string("message", err != NULL ? err->message : "");
    json_close();
}

static void json_note(const char *text)
{
    json_begin(true);
    json_open(NULL, '{');
    json_string("message_type", "note");
    json_string("text", text);
    json_close();
}

static void json_status(struct packing *p)
{
    const mshard_pack_event *e = &p->last;
    const uint64_t eta = progress_eta_seconds(&p->progress, e->done, e->total);

    json_begin(true);
    json_open(NULL, '{');
    json_string("message_type", "status");
    json_string("phase", p->phase);
    json_count("done", e->done);
    json_count("total", e->total);
    json_count("skipped", e->skipped);
    json_count("bytes_in", e->bytes_in);
    json_count("bytes_out", e->bytes_out);
    json_count("shards_done", e->shards_done);
    json_count("shards", e->shards);
    json_count("memory_limit", e->memory_limit);
    json_real("rate", p->progress.rate);
    if (eta == UINT64_MAX)
        json_null("eta_seconds");
    else
        json_count("eta_seconds", eta);
    json_close();
}

static void share_text(char text[16], uint64_t done, uint64_t total)
{
    if (total == 0)
        (void)snprintf(text, 16, "   -");
    else
        (void)snprintf(text, 16, "%3u%%", (unsigned)(100.0 * (double)done / (double)total));
}

static void plain_line(const struct packing *p, char *text, size_t size)
{
    const mshard_pack_event *e = &p->last;
    const uint64_t eta = progress_eta_seconds(&p->progress, e->done, e->total);
    char share[16], left[32] = "-";

    share_text(share, e->done, e->total);
    if (eta != UINT64_MAX)
        (void)snprintf(left, sizeof left, "%llus", (unsigned long long)eta);
    (void)snprintf(text, size, "pack: %s %s %llu/%llu %.0f/s eta %s skipped %llu", p->phase, share + strspn(share, " "),
                   (unsigned long long)e->done, (unsigned long long)e->total, p->progress.rate, left,
                   (unsigned long long)e->skipped);
}

static void show(struct packing *p)
{
    const mshard_pack_event *e = &p->last;
    char first[512], second[512], plain[256], share[16], eta[40], reasons[256];
    char done[TEXT_SIZE], total[TEXT_SIZE], rate[TEXT_SIZE], speed[TEXT_SIZE], in[TEXT_SIZE], to[TEXT_SIZE],
        memory[TEXT_SIZE];

    share_text(share, e->done, e->total);
    (void)snprintf(first, sizeof first, "%s  %s of %s inputs  %s/s  %s/s  eta %s  skipped %llu%s", share,
                   text_count(done, e->done), e->total != 0 ? text_count(total, e->total) : "?",
                   text_count(rate, (uint64_t)p->progress.rate), text_bytes(speed, (uint64_t)p->progress.byte_rate),
                   progress_eta(&p->progress, e->done, e->total, eta), (unsigned long long)e->skipped,
                   reasons_text(p, reasons, sizeof reasons));
    (void)snprintf(second, sizeof second, "%s  shard %llu of %llu  read %s, written %s  buffers at most %s", p->phase,
                   (unsigned long long)e->shards_done, (unsigned long long)e->shards, text_bytes(in, e->bytes_in),
                   text_bytes(to, e->bytes_out), text_bytes(memory, e->memory_limit));
    plain_line(p, plain, sizeof plain);
    progress_show(&p->progress, first, second, plain);
}

static void take_figures(struct packing *p, const mshard_pack_event *event)
{
    p->last = *event;
    p->last.text = p->last.path = NULL;
    p->last.error = NULL;
    const bool due = progress_due(&p->progress, event->done, event->bytes_in);
    if (due)
        show(p);
    if (p->json && now_ns() - p->json_ns >= UINT64_C(1000000000)) {
        p->json_ns = now_ns();
        json_status(p);
        out_flush(); /* a reader of lines wants them now */
    }
}

static void say_problem(const char *lead, const mshard_pack_event *event)
{
    mshard_error err = event->error != NULL ? *event->error : (mshard_error){.offset = MSHARD_NO_OFFSET};
    char text[1600];

    if (err.path[0] == '\0' && event->path != NULL) {
        (void)snprintf(err.path, sizeof err.path, "%s", event->path);
    }
    (void)mshard_error_format(&err, text, sizeof text);
    say("%s%s", lead, text);
}

static int report_event(void *context, const mshard_pack_event *event)
{
    struct packing *p = context;

    switch (event->kind) {
    case MSHARD_PACK_PROGRESS:
        take_figures(p, event);
        break;
    case MSHARD_PACK_SKIPPED:
        p->skipped++;
        count_reason(p, event->error != NULL ? event->error->code : MSHARD_E_DECODE);
        if (p->json)
            json_problem("skipped", event);
        if (!p->quiet)
            say_problem("skipped: ", event);
        break;
    case MSHARD_PACK_FAILED:
        p->failed++;
        if (p->json)
            json_problem("error", event);
        say_problem("", event);
        break;
    case MSHARD_PACK_NOTE:
        if (p->json)
            json_note(event->text);
        else if (!p->quiet)
            say("note: %s", event->text);
        break;
    case MSHARD_PACK_PHASE:
        (void)snprintf(p->phase, sizeof p->phase, "%s", event->text);
        break;
    default:
        break;
    }
    return interrupted() || out_lost();
}

/* Number of classes of the first label field with names, from the data set just made. */
static uint64_t class_count(const char *out_path)
{
    mshard_store *store;
    uint64_t n = 0;

    if (mshard_store_open(out_path, NULL, &store, NULL) != MSHARD_OK)
        return 0;
    const uint32_t field = target_label(store);
    if (field != UINT32_MAX)
        n = mshard_store_class_count(store, field);
    mshard_store_unref(store);
    return n;
}

static void print_summary(const struct packing *p, const mshard_pack_result *r, const char *out_path, bool dry)
{
    char records[TEXT_SIZE], bytes[TEXT_SIZE], rate[TEXT_SIZE], speed[TEXT_SIZE], reasons[256];
    const double seconds = (double)r->elapsed_ns / 1e9;
    const uint64_t classes = dry ? 0 : class_count(out_path);

    if (dry) {
        out("dry run: nothing was written\n");
        return;
    }
    out("packed ");
    out_name(out_path);
    out(": %s record%s", text_count(records, r->records), text_plural(r->records));
    if (classes > 0)
        out(", %llu class%s", (unsigned long long)classes, classes == 1 ? "" : "es");
    out(", %llu skipped%s", (unsigned long long)r->skipped, reasons_text(p, reasons, sizeof reasons));
    out(", %s in %llu shard%s", text_bytes(bytes, r->bytes_out), (unsigned long long)r->shards, text_plural(r->shards));
    if (seconds > 0)
        out(", %s records/s, %s/s", text_count(rate, (uint64_t)((double)r->records / seconds)),
            text_bytes(speed, (uint64_t)((double)r->bytes_out / seconds)));
    out(", id %s\n", r->id);
}

static void json_summary(const struct packing *p, const mshard_pack_result *r, const char *out_path, int code, bool dry)
{
    json_begin(true);
    json_open(NULL, '{');
    json_string("message_type", "summary");
    json_string("schema", "mshard.pack/1");
    json_count("exit_code", (uint64_t)code);
    json_bool("dry_run", dry);
    if (out_path != NULL)
        json_string("output", out_path);
    json_string("id", r->id);
    json_count("inputs", r->inputs);
    json_count("records", r->records);
    json_count("skipped", r->skipped);
    json_count("failed", r->failed > p->failed ? r->failed : p->failed);
    json_count("ignored", r->ignored);
    json_count("duplicates", r->duplicates);
    json_open("skipped_reasons", '{');
    for (size_t i = 0; i < MAX_REASONS && p->reasons[i].count > 0; i++)
        json_count(mshard_status_name(p->reasons[i].code), p->reasons[i].count);
    json_close();
    json_count("bytes_in", r->bytes_in);
    json_count("bytes_out", r->bytes_out);
    json_count("shards", r->shards);
    json_count("memory_limit", r->memory_limit);
    json_real("largest_error", r->largest_error);
    json_count("overflowed", r->overflowed);
    json_real("seconds", (double)r->elapsed_ns / 1e9);
    json_real("verify_seconds", (double)r->verify_ns / 1e9);
    json_close();
}

static void say_notes(const struct packing *p, const mshard_pack_result *r)
{
    char n[TEXT_SIZE], text[TEXT_SIZE];

    if (p->quiet || p->json)
        return;
    if (r->duplicates > 0)
        say("note: %s record%s equal an earlier one", text_count(n, r->duplicates), text_plural(r->duplicates));
    if (r->overflowed > 0)
        say("note: %s value%s did not fit float16", text_count(n, r->overflowed), text_plural(r->overflowed));
    if (r->largest_error > 0)
        say("note: largest rounding error of float16: %s", text_real(text, r->largest_error));
}

/* What went wrong, once more in one line, and the exit code. */
static int failure(const struct packing *p, mshard_status status, const mshard_error *err, const char *out_path)
{
    struct stat info;

    if (interrupted()) { /* also when the input's end came first */
        say("interrupted; nothing was written");
        return TOOL_INTERRUPTED;
    }
    if (status == MSHARD_E_CANCELLED)
        return TOOL_FAILED; /* standard output was lost: out_finish says so */
    if (p->failed > 0) {
        if (status == MSHARD_E_DECODE || status == MSHARD_E_TRUNCATED || status == MSHARD_E_FORMAT ||
            status == MSHARD_E_CORRUPT || status == MSHARD_E_LIMIT)
            say("%llu input%s cannot be packed; nothing was written (next: fix them, or add --on-error=skip)",
                (unsigned long long)p->failed, text_plural(p->failed));
        else
            say("nothing was written");
        return exit_of(status);
    }
    if (status == MSHARD_E_EXISTS && out_path != NULL && stat(out_path, &info) == 0)
        say_error(err, "another -o, or --overwrite to replace it");
    else if (status == MSHARD_E_INVALID)
        say_error(err, "mshard pack --help");
    else
        say_error(err, NULL);
    return exit_of(status);
}

static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct packing p = {.json = v[PACK_JSON].given, .quiet = v[PACK_QUIET].given, .phase = "listing"};
    mshard_pack_options o = {MSHARD_PACK_OPTIONS_INIT, .event = report_event, .context = &p};
    mshard_pack_result result = {.records = 0};
    mshard_error err;
    int code = pack_options_fill(args, &o);
    const char *out_path = v[PACK_OUTPUT].text;

    if (code != TOOL_DONE)
        return code;
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe must not leave a half-made data set */
    interrupt_watch();
    progress_start(&p.progress, v[PACK_PROGRESS].number, p.quiet || p.json);
    const mshard_status status = mshard_pack(args->operands, args->count, out_path, &o, &result, &err);
    char last[256];
    plain_line(&p, last, sizeof last);
    progress_end(&p.progress, last);
    if (status != MSHARD_OK)
        code = failure(&p, status, &err, out_path);
    else if (result.skipped > 0)
        code = TOOL_PARTIAL;
    if (status == MSHARD_OK) {
        say_notes(&p, &result);
        if (result.plan_json != NULL)
            plan_print(result.plan_json, p.json);
        if (!p.json && !p.quiet)
            print_summary(&p, &result, out_path, o.dry_run != 0);
        if (!p.quiet && result.skipped > 0 && o.dry_run == 0)
            say("%llu input%s left out, listed in %s/skipped.jsonl", (unsigned long long)result.skipped,
                result.skipped == 1 ? " was" : "s were", out_path);
    }
    if (p.json)
        json_summary(&p, &result, out_path, code, o.dry_run != 0);
    mshard_pack_result_clear(&result);
    return code;
}

static const struct cli_example examples[] = {
    {"mshard pack photos -o photos.msd --resize 256 --crop 224",
     "A folder of class folders; all images become 224x224."},
    {"mshard pack -n photos", "What would be packed: classes, sample paths, shapes, bytes."},
    {"mshard pack x.npy --labels y.npy -o train.msd --dtype x=float16", "An array and its labels."},
    {"mshard pack shards.tar.zst -o web.msd --encoded --keys --on-error=skip",
     "An archive; image files as they are, found by name; damaged ones left out."},
    {NULL, NULL},
};

static const struct cli_member members[] = {
    {"message_type", "One object a line. status: where the pack is, at most one a second. error: an input that stops "
                     "the pack. skipped: an input left out. note: a text worth reading. plan: what a dry run found. "
                     "summary: the last line, always."},
    {"path, code, offset, message", "error, skipped: the input, the kind of fault, the byte in it or null, the words."},
    {"text", "note: the words."},
    {"phase, done, total, skipped, bytes_in, bytes_out, shards_done, shards, memory_limit, rate, eta_seconds",
     "status: inputs done and in all (0 while unknown), bytes, shards, inputs a second, seconds left or null."},
    {"plan", "plan: the object described in docs/packing.md."},
    {"schema, exit_code, dry_run, output, id",
     "summary: form of the output, exit status, path and id of the data set."},
    {"inputs, records, skipped, failed, ignored, duplicates", "summary: counts."},
    {"skipped_reasons", "summary: object, kind of fault to count."},
    {"bytes_in, bytes_out, shards, memory_limit", "summary: bytes read and written, shards, bound of the buffers."},
    {"largest_error, overflowed",
     "summary: of conversion to float16: largest absolute error, values that did not fit."},
    {"seconds, verify_seconds", "summary: elapsed time, and the part of it spent reading back what was written."},
    {NULL, NULL},
};

const struct cli_command cmd_pack = {
    .name = "pack",
    .operands = "INPUT... -o OUT",
    .line = "pack raw files into a new data set",
    .text =
        "Inputs are recognized by looking: a folder of class folders, a flat folder of images, a CSV or JSONL list, "
        ".npy and .npz arrays, CIFAR-10 and CIFAR-100 binary files, MNIST idx files, tar, zip and other archives, "
        "WebDataset archives, or - for an archive on standard input.\n\n"
        "Images become pixels unless --encoded keeps their files. Without a size all must agree in size, or the field "
        "must be --variable. The same inputs and options give the same bytes, whatever the number of threads, the "
        "day, the locale or the path.\n\n"
        "A damaged input stops the pack; all damaged inputs of the run are named. The data set appears complete or "
        "not at all.\n\n"
        "The last line on standard output is the result: records, classes, inputs skipped with reasons, bytes, shards, "
        "rate and id.",
    .options = pack_options_table,
    .option_count = PACK_COUNT,
    .examples = examples,
    .schema = "mshard.pack/1",
    .members = members,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .complete = "files",
    .run = run,
};
