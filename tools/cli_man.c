/*
 * cli_man.c - man pages in mdoc(7) from the option table; clean under mandoc -T lint
 */
#include "cli.h"

#include "out.h"

#include <ctype.h>
#include <string.h>

#define MAN_DATE "December 1, 2025" /* of the text, changed by hand: pages must not depend on the day of the build */

enum { MAN_WIDTH = 78 };

static void man_char(char c, char next)
{
    if (c == '\\')
        out("\\e");
    else if (c == '-' && next == '-')
        out("\\-");
    else
        out("%c", c);
}

/* Text on text lines: a new line for each sentence, paragraphs parted by .Pp, roff's characters escaped. */
static void man_text(const char *text)
{
    size_t at = 0;

    while (*text != '\0') {
        const size_t word = strcspn(text, " \n");
        if (at > 0 && at + 1 + word > MAN_WIDTH) {
            out("\n");
            at = 0;
        }
        if (at > 0)
            out(" ");
        if (at == 0 && (*text == '.' || *text == '\''))
            out("\\&");
        for (size_t i = 0; i < word; i++)
            man_char(text[i], text[i + 1]);
        at += word + (at > 0);
        const bool sentence = word > 0 && (text[word - 1] == '.' || text[word - 1] == '?') && text[word] == ' ';
        const bool paragraph = text[word] == '\n' && text[word + 1] == '\n';
        text += word;
        text += strspn(text, " \n");
        if (sentence || paragraph)
            at = 0;
        if ((sentence || paragraph) && *text != '\0')
            out(paragraph ? "\n.Pp\n" : "\n");
    }
    out("\n");
}

/* Words on a macro line: what mdoc could take for a macro or punctuation is protected. */
static void man_arguments(const char *text)
{
    while (*text != '\0') {
        const size_t word = strcspn(text, " ");
        out(" \\&");
        for (size_t i = 0; i < word; i++) {
            if (text[i] == '-')
                out("\\-");
            else if (text[i] == '\\')
                out("\\e");
            else
                out("%c", text[i]);
        }
        text += word;
        text += strspn(text, " ");
    }
}

/* A line of help as a sentence. */
static void man_capital(const char *text)
{
    char line[512];

    (void)snprintf(line, sizeof line, "%c%s.", toupper((unsigned char)text[0]), text + 1);
    man_text(line);
}

static void man_option(const struct cli_option *option)
{
    const char *arg = option->arg != NULL ? option->arg : option->choices;

    out(".It");
    if (option->letter != 0) {
        out(" Fl %c", option->letter);
        if (arg != NULL)
            out(" Ar %s", arg);
        out(" ,");
    }
    out(" Fl \\-%s", option->name);
    if (arg != NULL)
        out(" Ns = Ns Ar %s", arg);
    out("\n");
    char line[512];
    man_capital(option->line);
    if (option->text != NULL)
        man_text(option->text);
    if (option->alias != NULL)
        out("The name\n.Fl \\-%s\nmeans the same.\n", option->alias);
    if (option->fallback != NULL) {
        (void)snprintf(line, sizeof line, "Default: %s.", option->fallback);
        man_text(line);
    }
}

static void man_head(const char *name, const char *line)
{
    out(".Dd %s\n.Dt ", MAN_DATE);
    for (const char *p = name; *p != '\0'; p++)
        out("%c", toupper((unsigned char)*p));
    out(" 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n", name, line);
}

static void man_exit(const struct cli_command *command)
{
    out(".Sh EXIT STATUS\n.Bl -tag -width \"130\" -compact\n"
        ".It 0\nDone.\n"
        ".It 1\nThe answer is no: damage was found, or there is no such key or record.\n"
        ".It 2\nWrong usage.\n"
        ".It 3\nIt could not be done: a file cannot be read or written, an input is\ndamaged, memory is out.\n");
    if (command == NULL || strcmp(command->name, "pack") == 0)
        out(".It 4\nDone, but inputs were left out\n.Pq Fl \\-on-error Ns = Ns Ar skip .\n");
    out(".It 130\nInterrupted.\n.El\n.Pp\nCodes may be added; treat an unknown one as failure.\n");
}

static void man_json(const struct cli_command *command)
{
    out(".Sh JSON OUTPUT\n");
    out("With\n.Fl \\-json\nstandard output is UTF-8 JSON that names its form:\n.Dq %s .\n", command->schema);
    man_text("Members are never renamed or removed and never change their meaning under one number; members may be "
             "added. Integers are exact. Numbers that JSON lacks are the strings NaN, Infinity and -Infinity. Bytes of "
             "names that are not UTF-8 stand as U+FFFD.");
    out(".Bl -tag -width Ds\n");
    for (const struct cli_member *m = command->members; m->name != NULL; m++) {
        out(".It Va");
        man_arguments(m->name);
        out("\n");
        man_text(m->text);
    }
    out(".El\n");
}

static void man_examples(const struct cli_command *command)
{
    out(".Sh EXAMPLES\n");
    for (const struct cli_example *e = command->examples; e->command != NULL; e++) {
        out("%s", e == command->examples ? "" : ".Pp\n");
        man_text(e->text);
        out(".Pp\n.Dl");
        man_arguments(e->command);
        out("\n");
    }
}

static void man_also(const struct cli_command *command)
{
    const char *names[16];
    size_t n = 0;

    if (command != NULL)
        names[n++] = "mshard";
    out(".Sh SEE ALSO\n");
    /* in alphabetical order, which mandoc asks for */
    static const char *const order[] = {"mshard-cat",  "mshard-dump",  "mshard-help",   "mshard-info", "mshard-ls",
                                        "mshard-pack", "mshard-stats", "mshard-verify", "mshard-view"};
    for (size_t i = 0; i < sizeof order / sizeof *order && n < 15; i++)
        if (cli_find(order[i] + 7) != NULL && (command == NULL || strcmp(order[i] + 7, command->name) != 0))
            names[n++] = order[i];
    for (size_t i = 0; i < n; i++)
        out(".Xr %s 1%s\n", names[i], i + 1 < n ? " ," : "");
}

static void man_command(const struct cli_command *command)
{
    const struct cli_option *option;
    char name[64];

    (void)snprintf(name, sizeof name, "mshard-%s", command->name);
    man_head(name, command->line);
    out(".Sh SYNOPSIS\n.Nm mshard %s\n.Op Ar OPTION ...\n", command->name);
    out(".Ar");
    man_arguments(command->operands);
    out("\n.Sh DESCRIPTION\n");
    man_text(command->text);
    out(".Pp\nThe options are:\n.Bl -tag -width Ds\n");
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++)
        man_option(option);
    out(".El\n");
    out(".Sh ENVIRONMENT\nEach option is also read from a variable:\n.Ev MSHARD_\nand its name in capitals, dashes as "
        "underscores, so that\n.Ev %s\nstands for\n.Fl \\-%s .\nThe command line wins.\n"
        "Flags are on for 1, true, yes and on.\n",
        command->option_count > 0 && strcmp(command->name, "pack") == 0 ? "MSHARD_SHARD_SIZE" : "MSHARD_JSON",
        command->option_count > 0 && strcmp(command->name, "pack") == 0 ? "shard-size" : "json");
    man_exit(command);
    if (command->schema != NULL)
        man_json(command);
    man_examples(command);
    man_also(command);
}

static void man_top(void)
{
    man_head("mshard", "memory-mapped shards of training samples");
    out(".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTION ...\n.Ar PATH\n.Nm\n.Ar PATH\n.Nm\n.Fl \\-help | \\-version\n");
    out(".Sh DESCRIPTION\n");
    man_text("mshard packs raw files, once, into a data set: a folder of immutable shard files that trainers map into "
             "memory and read without a copy.\n\nPATH is a data set (its folder), the dataset.json in it, or one shard "
             "file. Without a command, mshard PATH is mshard info PATH.\n\nThe commands are:");
    out(".Bl -tag -width \"verify\"\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        out(".It Cm %s\n", cli_commands[i]->name);
        man_capital(cli_commands[i]->line);
        out("See\n.Xr mshard-%s 1 .\n", cli_commands[i]->name);
    }
    out(".El\n.Pp\n");
    man_text("Data goes to standard output, words to standard error. Each error is one line: file, byte, what was "
             "expected, what was found, and where there is one the next command to run. Names that come from data are "
             "printed with control characters, direction overrides and bytes that are not UTF-8 as \\xNN. Sizes accept "
             "K, M, G and T, powers of 1024.");
    out(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev NO_COLOR\nNo color, unless\n.Fl \\-color Ns = Ns Ar always .\n"
        ".It Ev COLUMNS\nWidth of the terminal.\n"
        ".It Ev MSHARD_OPTION\nThe option of that name, in capitals, dashes as underscores:\n.Ev MSHARD_JOBS Ns =2\n"
        "stands for\n.Fl \\-jobs Ns = Ns Ar 2 .\n.El\n");
    man_exit(NULL);
    out(".Sh EXAMPLES\n.Dl mshard pack photos \\-o photos.msd \\-\\-resize 256 \\-\\-crop 224\n.Dl mshard "
        "photos.msd\n");
    man_also(NULL);
}

void cli_man(const struct cli_command *command)
{
    if (command == NULL)
        man_top();
    else
        man_command(command);
}

void cli_json_page(void)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const struct cli_command *command = cli_commands[i];
        if (command->schema == NULL)
            continue;
        out("\n## mshard %s --json\n\nSchema: `%s`\n\n| member | meaning |\n|---|---|\n", command->name,
            command->schema);
        for (const struct cli_member *m = command->members; m->name != NULL; m++)
            out("| `%s` | %s |\n", m->name, m->text);
    }
}
