/*
 * cmd_verify.c - mshard verify: every fault, then one line that says yes or no
 */
#include "cmd.h"
#include "progress.h"

#include <mshard/verify.h>
#include <string.h>

enum { O_LEVEL, O_SUBSET, O_SAMPLE, O_SEED, O_JOBS, O_JSON, O_QUIET, O_PROGRESS, O_COLOR, O_COUNT };

static const struct cli_option options[] = {
    [O_LEVEL] = {.name = "level",
                 .type = CLI_CHOICE,
                 .arg = "LEVEL",
                 .choices = "headers|index|all",
                 .fallback = "all",
                 .group = "What",
                 .line = "how much: headers, index or all",
                 .text =
                     "headers: dataset.json, shard headers, file sizes and the chain of sums, without reading data. "
                     "index: also the index parts of variable fields and the key index. all: also every byte "
                     "against the sum of its block, and what values must hold."},
    [O_SUBSET] = {.name = "subset",
                  .type = CLI_PART,
                  .arg = "N/M",
                  .line = "part N of M of the blocks",
                  .text =
                      "The M parts together are the whole, so a large check can be spread over nights or machines."},
    [O_SAMPLE] = {.name = "sample",
                  .type = CLI_SHARE,
                  .arg = "SHARE",
                  .line = "a random share of the blocks: 2.5%, 0.025"},
    [O_SEED] = {.name = "seed", .type = CLI_NUMBER, .arg = "N", .fallback = "0", .line = "which blocks --sample takes"},
    [O_JOBS] = CLI_JOBS,
    [O_JSON] = CLI_JSON,
    [O_QUIET] = {.name = "quiet", .letter = 'q', .type = CLI_FLAG, .group = "Output", .line = "exit status only"},
    [O_PROGRESS] = CLI_PROGRESS,
    [O_COLOR] = CLI_COLOR,
};

struct checking {
    struct progress progress;
    const char *path;
    bool json, quiet;
    uint64_t found, done, total;
};

static void plain_line(const struct checking *c, char *text, size_t size)
{
    (void)snprintf(text, size, "verify: %u%% %llu/%llu bytes, %llu fault%s",
                   c->total != 0 ? (unsigned)(100.0 * (double)c->done / (double)c->total) : 0,
                   (unsigned long long)c->done, (unsigned long long)c->total, (unsigned long long)c->found,
                   text_plural(c->found));
}

static int report_progress(void *context, uint64_t done, uint64_t total)
{
    struct checking *c = context;
    char line[256], plain[256], a[TEXT_SIZE], b[TEXT_SIZE], rate[TEXT_SIZE], eta[40];

    c->done = done;
    c->total = total;
    if (progress_due(&c->progress, done, done)) {
        plain_line(c, plain, sizeof plain);
        (void)snprintf(line, sizeof line, "%3u%%  %s of %s  %s/s  eta %s  %llu fault%s",
                       total != 0 ? (unsigned)(100.0 * (double)done / (double)total) : 0, text_bytes(a, done),
                       text_bytes(b, total), text_bytes(rate, (uint64_t)c->progress.byte_rate),
                       progress_eta(&c->progress, done, total, eta), (unsigned long long)c->found,
                       text_plural(c->found));
        progress_show(&c->progress, line, "", plain);
    }
    return interrupted() || out_lost();
}

static void print_finding(const mshard_finding *finding)
{
    char text[1600];
    const uint64_t first = finding->first_record, n = finding->record_count;

    (void)mshard_error_format(finding->error, text, sizeof text);
    out("%s", text);
    if (finding->field_name != NULL || n > 0) {
        out(" (");
        if (finding->field_name != NULL) {
            out("field ");
            out_name(finding->field_name);
        }
        if (n > 0)
            out("%srecord%s %llu", finding->field_name != NULL ? ", " : "", text_plural(n), (unsigned long long)first);
        if (n > 1)
            out(" to %llu", (unsigned long long)(first + n - 1));
        out(")");
    }
    out("\n");
}

static void json_name(const char *name, const char *text)
{
    if (text != NULL)
        json_string(name, text);
    else
        json_null(name);
}

static void json_finding(const mshard_finding *finding)
{
    json_begin(true);
    json_open(NULL, '{');
    json_string("message_type", "finding");
    json_string("code", mshard_status_name(finding->error->code));
    json_string("path", finding->error->path);
    json_name("shard", finding->shard_name);
    json_name("field", finding->field_name);
    if (finding->error->offset != MSHARD_NO_OFFSET)
        json_count("offset", finding->error->offset);
    else
        json_null("offset");
    json_count("size", finding->size);
    if (finding->record_count > 0)
        json_count("first_record", finding->first_record);
    else
        json_null("first_record");
    json_count("record_count", finding->record_count);
    json_string("message", finding->error->message);
    json_close();
}

static void report_finding(void *context, const mshard_finding *finding)
{
    struct checking *c = context;

    c->found++;
    if (c->quiet)
        return;
    if (c->json)
        json_finding(finding);
    else
        print_finding(finding);
}

static void print_result(const struct checking *c, const mshard_verify_result *r, double seconds, bool part,
                         uint64_t level)
{
    char a[TEXT_SIZE], b[TEXT_SIZE], speed[TEXT_SIZE];

    if (r->findings == 0) {
        out_style(OUT_GOOD);
        out("ok: ");
        out_style(OUT_PLAIN);
    } else {
        out_style(OUT_BAD);
        out("damaged: ");
        out_style(OUT_PLAIN);
    }
    out_name(c->path);
    out(": ");
    if (r->findings > 0) {
        out("%s fault%s in %s of %s shard%s", text_count(a, r->findings), text_plural(r->findings),
            text_count(b, r->bad_shards), text_count(speed, r->shards), text_plural(r->shards));
        out(", %s of %s block%s bad", text_count(a, r->bad_blocks), text_count(b, r->blocks), text_plural(r->blocks));
        out(", %s record%s touched\n", text_count(a, r->bad_records), text_plural(r->bad_records));
        return;
    }
    out("%s shard%s, %s block%s, %s", text_count(a, r->shards), text_plural(r->shards), text_count(b, r->blocks),
        text_plural(r->blocks), text_bytes(speed, r->bytes));
    if (level == 1)
        out("; headers only");
    else if (level == 2)
        out("; headers and indexes only");
    else if (part)
        out("; a part of the data");
    if (seconds > 0.05 && r->bytes > 0)
        out(", %s/s", text_bytes(a, (uint64_t)((double)r->bytes / seconds)));
    out("\n");
}

static void json_result(const struct checking *c, const mshard_verify_result *r, double seconds)
{
    json_begin(true);
    json_open(NULL, '{');
    json_string("message_type", "summary");
    json_string("schema", "mshard.verify/1");
    json_string("path", c->path);
    json_bool("ok", r->findings == 0);
    json_count("findings", r->findings);
    json_count("shards", r->shards);
    json_count("bad_shards", r->bad_shards);
    json_count("blocks", r->blocks);
    json_count("bad_blocks", r->bad_blocks);
    json_count("bad_records", r->bad_records);
    json_count("bytes", r->bytes);
    json_string("worst", mshard_status_name(r->worst));
    json_real("seconds", seconds);
    json_close();
}

static int failure(const char *path, mshard_status status, const mshard_error *err)
{
    if (status == MSHARD_E_CANCELLED && interrupted()) {
        say("interrupted");
        return TOOL_INTERRUPTED;
    }
    if (status == MSHARD_E_CANCELLED)
        return TOOL_FAILED; /* standard output was lost: out_finish says so */
    if (status == MSHARD_E_FORMAT)
        say_error(err, NULL);
    else
        return target_error(path, err);
    return TOOL_FAILED;
}

static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct checking c = {.path = args->operands[0], .json = v[O_JSON].given, .quiet = v[O_QUIET].given};
    const uint64_t level = v[O_LEVEL].given ? v[O_LEVEL].number + 1 : 3;
    mshard_verify_options o = {MSHARD_VERIFY_OPTIONS_INIT, .level = (mshard_verify_level)level, .context = &c};
    mshard_verify_result result = {.findings = 0};
    mshard_error err;

    if (v[O_SUBSET].given && v[O_SAMPLE].given)
        return cli_usage(args->command, "--subset and --sample exclude each other");
    if (v[O_JOBS].given && (v[O_JOBS].number == 0 || v[O_JOBS].number > 4096))
        return cli_usage(args->command, "--jobs must be 1 to 4096, found %s", v[O_JOBS].text);
    if (v[O_SEED].given && !v[O_SAMPLE].given)
        return cli_usage(args->command, "--seed needs --sample");
    o.threads = (uint32_t)v[O_JOBS].number;
    o.subset = v[O_SUBSET].number;
    o.subset_count = v[O_SUBSET].second;
    o.sample = v[O_SAMPLE].real;
    o.seed = v[O_SEED].number;
    o.report = report_finding;
    o.progress = report_progress;
    color_from(v[O_COLOR].number);
    interrupt_watch();
    progress_start(&c.progress, v[O_PROGRESS].number, c.quiet || c.json);
    const mshard_status status = mshard_verify(c.path, &o, &result, &err);
    const double seconds = (double)(now_ns() - c.progress.start_ns) / 1e9;
    char last[256];
    plain_line(&c, last, sizeof last);
    progress_end(&c.progress, last);
    if (status != MSHARD_OK)
        return failure(c.path, status, &err);
    if (c.json)
        json_result(&c, &result, seconds);
    else if (!c.quiet)
        print_result(&c, &result, seconds, v[O_SUBSET].given || v[O_SAMPLE].given, level);
    return result.findings > 0 ? TOOL_NO : TOOL_DONE;
}

static const struct cli_example examples[] = {
    {"mshard verify train.msd", "Every byte."},
    {"mshard verify --level=headers train.msd", "Headers and sizes only: quick, whatever the size."},
    {"mshard verify --subset=2/7 train.msd", "The second of seven parts."},
    {NULL, NULL},
};

static const struct cli_member members[] = {
    {"message_type", "One object a line. finding: one fault. summary: the last line."},
    {"code, path, shard, field, offset, size, message",
     "finding: kind of fault; file; shard and field or null; bytes "
     "concerned, offset null when it is not about bytes; the words."},
    {"first_record, record_count", "finding: records touched, numbered in the data set (in the shard when one shard is "
                                   "checked alone); null and 0 when none is."},
    {"schema, path, ok", "summary: form of the output; the path as given; true when there is no finding."},
    {"findings, shards, bad_shards, blocks, bad_blocks, bad_records, bytes", "summary: counts of what was checked and "
                                                                             "of what differs."},
    {"worst, seconds", "summary: kind of the first fault, ok when there is none; elapsed time."},
    {NULL, NULL},
};

const struct cli_command cmd_verify = {
    .name = "verify",
    .operands = "PATH",
    .line = "check a data set or one shard against its checksums",
    .text = "Each fault is one line: file, byte, what was expected and found, field and records. The last line begins "
            "with ok or damaged; the exit status is 0 or 1.",
    .options = options,
    .option_count = O_COUNT,
    .examples = examples,
    .schema = "mshard.verify/1",
    .members = members,
    .min_operands = 1,
    .max_operands = 1,
    .complete = "files",
    .run = run,
};
