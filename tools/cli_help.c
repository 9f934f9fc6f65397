/*
 * cli_help.c - what -h and --help print: 80 columns, at most 40 lines
 */
#include "cli.h"

#include "out.h"

#include <ctype.h>
#include <mshard/version.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_WIDTH = 80, HELP_TEXT = 28 };

/* "-o, --output=PATH" */
static void option_names(const struct cli_option *option, char *text, size_t size)
{
    const char *arg = option->arg != NULL ? option->arg : option->choices;
    char letter[8] = "    ";

    if (option->letter != 0)
        (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
    (void)snprintf(text, size, "%s--%s%s%s", letter, option->name, arg != NULL ? "=" : "", arg != NULL ? arg : "");
}

/* Words of text from column at on, later lines indented. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
    while (*text != '\0') {
        const size_t word = strcspn(text, " ");
        if (at + word > HELP_WIDTH && at > indent) {
            out("\n%*s", (int)indent, "");
            at = indent;
        }
        out("%.*s", (int)word, text);
        at += word;
        text += word;
        if (*text == ' ' && at + 1 + strcspn(text + 1, " ") <= HELP_WIDTH) {
            out(" ");
            at++;
        }
        text += strspn(text, " ");
        if (*text != '\0' && at + strcspn(text, " ") > HELP_WIDTH) {
            out("\n%*s", (int)indent, "");
            at = indent;
        }
    }
    out("\n");
}

static void print_option(const struct cli_option *option)
{
    char names[128], line[256];
    size_t at;

    option_names(option, names, sizeof names);
    if (option->fallback != NULL)
        (void)snprintf(line, sizeof line, "%s [%s]", option->line, option->fallback);
    else
        (void)snprintf(line, sizeof line, "%s", option->line);
    out("  %s", names);
    at = 2 + strlen(names);
    if (at + 1 > HELP_TEXT) {
        out(" ");
        at++;
    } else {
        out("%*s", (int)(HELP_TEXT - at), "");
        at = HELP_TEXT;
    }
    print_wrapped(line, at, HELP_TEXT);
}

void cli_help(const struct cli_command *command, bool all)
{
    const struct cli_option *option;
    const char *group = NULL;
    bool hidden = false;

    out("Usage: mshard %s [OPTION...] %s\n", command->name, command->operands);
    out("%c%s.%s\n", toupper((unsigned char)command->line[0]), command->line + 1,
        all ? " [Defaults in brackets.]" : "");
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        if (!all && option->rare) {
            hidden = true;
            continue;
        }
        if (option->group != NULL && (group == NULL || strcmp(group, option->group) != 0)) {
            group = option->group;
            out_style(OUT_BOLD);
            out("%s:\n", group);
            out_style(OUT_PLAIN);
        }
        print_option(option);
    }
    if (command->examples != NULL) {
        out_style(OUT_BOLD);
        out("Example:\n");
        out_style(OUT_PLAIN);
        out("  %s\n", command->examples[0].command);
    }
    if (hidden)
        out("More: mshard %s --help\n", command->name);
}

void cli_help_top(FILE *to)
{
    (void)fprintf(to, "mshard %s: memory-mapped shards of training samples\n\n", MSHARD_VERSION);
    (void)fprintf(to, "  mshard COMMAND [OPTION...] PATH\n"
                      "  mshard PATH               the same as mshard info PATH\n\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        (void)fprintf(to, "  %-8s %s\n", cli_commands[i]->name, cli_commands[i]->line);
    (void)fprintf(to, "\nmshard COMMAND --help tells all about one; man mshard-COMMAND tells more.\n"
                      "PATH is a data set (folder), its dataset.json, or one shard file.\n\n"
                      "Example:\n"
                      "  mshard pack photos -o photos.msd --resize 256 --crop 224\n"
                      "  mshard photos.msd\n");
}
