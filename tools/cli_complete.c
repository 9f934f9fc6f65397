/*
 * cli_complete.c - completion for bash, zsh and fish from the option table
 *
 * The scripts are whole: they do not call the program while completing.
 */
#include "cli.h"

#include "out.h"

#include <string.h>

/* Words of all options of a command, and its choices by option. */
static void bash_options(const struct cli_command *command)
{
    const struct cli_option *option;

    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        if (option->letter != 0)
            out(" -%c", option->letter);
        out(" --%s", option->name);
        if (option->alias != NULL)
            out(" --%s", option->alias);
    }
}

/* Numbers and names have nothing to complete. */
static bool takes_file(const struct cli_option *option)
{
    return option->type == CLI_TEXT && (strcmp(option->arg, "PATH") == 0 || strcmp(option->arg, "FILE") == 0);
}

static void bash_choices(const struct cli_command *command)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->options[i];
        const char *choice;
        size_t size;

        if (option->type == CLI_FLAG)
            continue;
        out("        %s,--%s", command->name, option->name);
        if (option->letter != 0)
            out("|%s,-%c", command->name, option->letter);
        if (option->choices == NULL) {
            out(takes_file(option) ? ") _mshard_files; return;;\n" : ") return;;\n");
            continue;
        }
        out(") _mshard_words \"");
        for (size_t k = 0; (choice = cli_choice_at(option->choices, k, &size)) != NULL; k++)
            out("%s%.*s", k > 0 ? " " : "", (int)size, choice);
        out("\"; return;;\n");
    }
}

void cli_complete_bash(void)
{
    out("# bash completion of mshard, made by mshard help --generate=bash\n"
        "_mshard_words() {\n    COMPREPLY=($(compgen -W \"$1\" -- \"$cur\"))\n}\n"
        "_mshard_files() {\n    compopt -o filenames 2>/dev/null\n    local IFS=$'\\n'\n"
        "    COMPREPLY=($(compgen -f -- \"$cur\"))\n}\n"
        "_mshard() {\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
        "    COMPREPLY=()\n"
        "    [ \"$cur\" = = ] && cur=\n"
        "    if [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        case ${COMP_WORDS[i]} in\n            -*) ;;\n            *) command=${COMP_WORDS[i]}; break;;\n"
        "        esac\n    done\n    if [ -z \"$command\" ]; then\n        _mshard_files\n"
        "        COMPREPLY+=($(compgen -W \"");
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        out("%s ", cli_commands[i]->name);
    out("--help --version\" -- \"$cur\"))\n        return\n    fi\n    case $command,$prev in\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        bash_choices(cli_commands[i]);
    out("    esac\n    case $command,$cur in\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        out("        %s,-*) _mshard_words \"", cli_commands[i]->name);
        bash_options(cli_commands[i]);
        out("\"; return;;\n");
        if (strcmp(cli_commands[i]->complete, "commands") == 0) {
            out("        %s,*) _mshard_words \"", cli_commands[i]->name);
            for (size_t k = 0; cli_commands[k] != NULL; k++)
                out("%s%s", k > 0 ? " " : "", cli_commands[k]->name);
            out("\"; return;;\n");
        }
    }
    out("    esac\n    _mshard_files\n}\ncomplete -F _mshard mshard\n");
}

/* A line of help inside single quotes and, for zsh, inside brackets. */
static void quoted(const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            out("'\\''");
        else if (strchr(special, *text) != NULL)
            out("\\%c", *text);
        else
            out("%c", *text);
    }
}

static void zsh_option(const char *dashes, const char *name, const struct cli_option *option)
{
    const bool long_name = dashes[1] != '\0';
    const char *choice;
    size_t size;

    out("                '%s%s%s%s[", option->type == CLI_LIST ? "*" : "", dashes, name,
        option->type == CLI_FLAG ? ""
        : long_name              ? "="
                                 : "+");
    quoted(option->line, "[]:\\");
    out("]");
    if (option->choices != NULL) {
        out(":%s:(", option->name);
        for (size_t k = 0; (choice = cli_choice_at(option->choices, k, &size)) != NULL; k++)
            out("%s%.*s", k > 0 ? " " : "", (int)size, choice);
        out(")");
    } else if (option->type != CLI_FLAG) {
        out(":");
        quoted(option->arg, "[]:\\");
        out(takes_file(option) ? ":_files" : ": ");
    }
    out("' \\\n");
}

void cli_complete_zsh(void)
{
    const struct cli_option *option;

    out("#compdef mshard\n# zsh completion of mshard, made by mshard help --generate=zsh\n"
        "_mshard() {\n    local context state line\n    local -a commands\n    commands=(\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        out("        '%s:", cli_commands[i]->name);
        quoted(cli_commands[i]->line, ":\\");
        out("'\n");
    }
    out("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        _files\n        return\n"
        "    fi\n    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        out("        %s)\n            _arguments -s \\\n", cli_commands[i]->name);
        for (size_t k = 0; (option = cli_option_at(cli_commands[i], k)) != NULL; k++) {
            const char letter[2] = {option->letter, '\0'};
            if (option->letter != 0)
                zsh_option("-", letter, option);
            zsh_option("--", option->name, option);
            if (option->alias != NULL)
                zsh_option("--", option->alias, option);
        }
        if (strcmp(cli_commands[i]->complete, "commands") == 0)
            out("                '*:command:{_describe command commands}'\n            ;;\n");
        else
            out("                '*:file:_files'\n            ;;\n");
    }
    out("        *) _files ;;\n    esac\n}\n_mshard \"$@\"\n");
}

static void fish_option(const char *command, const struct cli_option *option, const char *name, char letter)
{
    const char *choice;
    size_t size;

    out("complete -c mshard -n '__fish_seen_subcommand_from %s'", command);
    if (letter != 0)
        out(" -s %c", letter);
    out(" -l %s", name);
    if (option->choices != NULL) {
        out(" -x -a '");
        for (size_t k = 0; (choice = cli_choice_at(option->choices, k, &size)) != NULL; k++)
            out("%s%.*s", k > 0 ? " " : "", (int)size, choice);
        out("'");
    } else if (option->type != CLI_FLAG) {
        out(takes_file(option) ? " -r" : " -x");
    }
    out(" -d '");
    for (const char *p = option->line; *p != '\0'; p++)
        out("%s%c", *p == '\'' || *p == '\\' ? "\\" : "", *p);
    out("'\n");
}

void cli_complete_fish(void)
{
    const struct cli_option *option;

    out("# fish completion of mshard, made by mshard help --generate=fish\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        out("complete -c mshard -n __fish_use_subcommand -a %s -d '%s'\n", cli_commands[i]->name,
            cli_commands[i]->line);
    out("complete -c mshard -n __fish_use_subcommand -l help -d 'the commands'\n"
        "complete -c mshard -n __fish_use_subcommand -l version -d 'the version'\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const char *name = cli_commands[i]->name;
        for (size_t k = 0; (option = cli_option_at(cli_commands[i], k)) != NULL; k++) {
            fish_option(name, option, option->name, option->letter);
            if (option->alias != NULL)
                fish_option(name, option, option->alias, 0);
        }
        if (strcmp(cli_commands[i]->complete, "commands") == 0)
            for (size_t k = 0; cli_commands[k] != NULL; k++)
                out("complete -c mshard -n '__fish_seen_subcommand_from %s' -f -a %s\n", name, cli_commands[k]->name);
    }
}
