/*
 * cli.h - the option table, and what is made of it: parser, help, man pages, completion
 *
 * A command is one struct cli_command. Everything a person or a shell can learn about it comes from there, so
 * the parser, -h, --help, the man page and the completions cannot disagree (tests/lint/man.sh looks all the same).
 */
#ifndef TOOL_CLI_H
#define TOOL_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tool_exit {
    TOOL_DONE = 0,
    TOOL_NO = 1,      /* the answer is no: damage found, key not present */
    TOOL_USAGE = 2,   /* wrong usage */
    TOOL_FAILED = 3,  /* could not */
    TOOL_PARTIAL = 4, /* finished, but inputs were left out */
    TOOL_INTERRUPTED = 130,
};

enum cli_type {
    CLI_FLAG,   /* given or not */
    CLI_TEXT,   /* text */
    CLI_LIST,   /* text, may be given again: list, count */
    CLI_NUMBER, /* number */
    CLI_SIZE,   /* number, from 4096, 64K, 256M, 1G */
    CLI_EXTENT, /* number, second: N (second 0) or WxH */
    CLI_CHOICE, /* number: position in choices */
    CLI_PART,   /* number, second: 2/5 */
    CLI_SHARE,  /* real: 2.5% or 0.025 */
};

struct cli_option {
    const char *name; /* long name, without dashes */
    char letter;      /* short name; 0: none */
    enum cli_type type;
    const char *arg;      /* name of the argument in help; NULL for flags and choices */
    const char *choices;  /* "auto|always|never" */
    const char *fallback; /* the default, as text; NULL: none to state */
    const char *group;    /* heading; NULL: that of the option before */
    const char *line;     /* for help: fits one line */
    const char *text;     /* for the man page, after line; may be NULL */
    const char *alias;    /* another long name; may be NULL */
    bool rare;            /* left out of -h */
};

struct cli_value {
    bool given;
    const char *text;
    uint64_t number, second;
    double real;
    const char **list;
    size_t count;
};

struct cli_example {
    const char *command, *text;
};

/* One member of a command's JSON output. */
struct cli_member {
    const char *name, *text;
};

struct cli_command;
struct cli_args {
    const struct cli_command *command;
    struct cli_value *values; /* as many as the command has options, by the same index */
    const char **operands;
    size_t count;
};

struct cli_command {
    const char *name;
    const char *operands; /* "INPUT... -o OUT", for the synopsis */
    const char *line;     /* what it does, no full stop */
    const char *text;     /* man page: paragraphs parted by an empty line */
    const struct cli_option *options;
    size_t option_count;
    const struct cli_example *examples; /* the first one stands in --help; ends with a NULL command */
    const char *schema;                 /* "mshard.info/1"; NULL: no JSON */
    const struct cli_member *members;   /* of the JSON; ends with a NULL name; may be NULL */
    size_t min_operands, max_operands;
    const char *complete; /* what operands are: "files", "commands" */
    int (*run)(const struct cli_args *args);
};

/* Texts that more than one table uses. */
#define CLI_JSON                                                                                               \
    {                                                                                                          \
        .name = "json", .type = CLI_FLAG, .group = "Output", .line = "JSON on standard output, numbers exact", \
        .text = "The members are listed under JSON OUTPUT."                                                    \
    }
#define CLI_COLOR                                                                                               \
    {                                                                                                           \
        .name = "color", .type = CLI_CHOICE, .arg = "WHEN", .choices = "auto|always|never", .fallback = "auto", \
        .group = "Output", .line = "color: auto, always or never", .rare = true,                                \
        .text = "auto: on a terminal only, and not when NO_COLOR is set."                                       \
    }
#define CLI_QUIET                                                                                                \
    {                                                                                                            \
        .name = "quiet", .letter = 'q', .type = CLI_FLAG, .group = "Output", .line = "errors only", .rare = true \
    }
#define CLI_PROGRESS                                                                                                 \
    {                                                                                                                \
        .name = "progress", .type = CLI_CHOICE, .arg = "WHEN", .choices = "auto|always|never", .fallback = "auto",   \
        .group = "Output", .line = "how far it is: auto, always or never", .rare = true,                             \
        .text = "On standard error: on a terminal a block of lines that is redrawn, elsewhere one plain line every " \
                "30 seconds. always: also with --quiet and --json, and off a terminal a last line. "                 \
                "SIGUSR1 asks for a line at once."                                                                   \
    }
#define CLI_JOBS                                                                                     \
    {                                                                                                \
        .name = "jobs", .letter = 'j', .type = CLI_NUMBER, .arg = "N", .fallback = "all processors", \
        .group = "Running", .line = "threads"                                                        \
    }

/* Commands, in the order of the help; main.c holds the table. Ends with NULL. */
extern const struct cli_command *const cli_commands[];
const struct cli_command *cli_find(const char *name);

/* All options of a command and then --help, which every command has. NULL past the end. */
const struct cli_option *cli_option_at(const struct cli_command *command, size_t i);
/* Position of a choice, or -1. The i-th choice of an option: *size bytes, or NULL past the end. */
int cli_choice(const char *choices, const char *text);
const char *cli_choice_at(const char *choices, size_t i, size_t *size);

/* Parse arguments and the MSHARD_ variables. Returns TOOL_DONE, or says what is wrong and returns TOOL_USAGE.
 * *help: 0, 'h' (-h) or 'H' (--help); then nothing else was looked at. cli_clear in every case. */
int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args, int *help);
void cli_clear(struct cli_args *args);

/* Closest of the names to a misspelt one, or NULL when none is close. best starts as NULL; call for each. */
struct cli_guess {
    const char *name;
    size_t distance;
};
void cli_guess_try(struct cli_guess *guess, const char *wrong, const char *name);

/* Whole text to a value. False when it is not one. */
bool cli_number(const char *text, uint64_t *number);
bool cli_size(const char *text, uint64_t *number);
bool cli_range(const char *text, uint64_t *first,
               uint64_t *end); /* N, A:B, A:, :B; end past the last; open: UINT64_MAX */

/* Say one line of usage error and return TOOL_USAGE. */
int cli_usage(const struct cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

void cli_help(const struct cli_command *command, bool all);
void cli_help_top(FILE *to);
void cli_man(const struct cli_command *command); /* NULL: mshard.1 */
void cli_json_page(void);                        /* the JSON members of all commands, as Markdown */
void cli_complete_bash(void);
void cli_complete_zsh(void);
void cli_complete_fish(void);

#endif
