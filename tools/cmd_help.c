/*
 * cmd_help.c - mshard help: pages for people, and files for man and shells
 */
#include "cmd.h"

#include <string.h>

enum { O_GENERATE, O_COUNT };

static const struct cli_option options[] = {
    [O_GENERATE] = {.name = "generate",
                    .type = CLI_CHOICE,
                    .arg = "KIND",
                    .choices = "man|bash|zsh|fish|json",
                    .group = "Output",
                    .line = "man page or completion: man, bash, zsh, fish, json",
                    .text = "With man, the mdoc source of the command's page, or of mshard(1) when none is named. With "
                            "bash, zsh or fish, the completion script for that shell. With json, a table of the JSON "
                            "members of all commands, as Markdown."},
};

static const struct cli_example examples[] = {
    {"mshard help pack", "All about packing."},
    {"mshard help --generate=bash > /etc/bash_completion.d/mshard", "Completion for bash."},
    {NULL, NULL},
};

static int generate(uint64_t kind, const struct cli_command *command)
{
    if (kind == 0)
        cli_man(command);
    else if (kind == 1)
        cli_complete_bash();
    else if (kind == 2)
        cli_complete_zsh();
    else if (kind == 3)
        cli_complete_fish();
    else
        cli_json_page();
    return TOOL_DONE;
}

static int run(const struct cli_args *args)
{
    const struct cli_command *command = args->count > 0 ? cli_find(args->operands[0]) : NULL;

    if (args->count > 0 && command == NULL) {
        struct cli_guess guess = {.name = NULL};
        for (size_t i = 0; cli_commands[i] != NULL; i++)
            cli_guess_try(&guess, args->operands[0], cli_commands[i]->name);
        if (guess.name != NULL)
            return cli_usage(NULL, "no command '%s'; did you mean %s?", args->operands[0], guess.name);
        return cli_usage(NULL, "no command '%s'", args->operands[0]);
    }
    if (args->values[O_GENERATE].given)
        return generate(args->values[O_GENERATE].number, command);
    color_from(0);
    if (command == NULL)
        cli_help_top(stdout);
    else
        cli_help(command, true);
    return TOOL_DONE;
}

const struct cli_command cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .line = "explain a command; write man pages and shell completion",
    .text = "Without a command, lists the commands.",
    .options = options,
    .option_count = O_COUNT,
    .examples = examples,
    .max_operands = 1,
    .complete = "commands",
    .run = run,
};
