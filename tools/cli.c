/*
 * cli.c - arguments to values, by the option table
 *
 * Forms: --name=value, --name value, -x value, -xvalue, flags joined (-nq); options and operands in any order; "--"
 * ends options. No abbreviations: a script that uses one breaks when an option is added. Each option is also read
 * from MSHARD_NAME in the environment (dashes as underscores); the command line wins.
 */
#include "cli.h"

#include "out.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option help_option = {.name = "help",
                                              .letter = 'h',
                                              .type = CLI_FLAG,
                                              .group = "Output",
                                              .line = "this page; -h is shorter",
                                              .text = NULL};

const struct cli_command *cli_find(const char *name)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

const struct cli_option *cli_option_at(const struct cli_command *command, size_t i)
{
    if (i < command->option_count)
        return &command->options[i];
    return i == command->option_count ? &help_option : NULL;
}

const char *cli_choice_at(const char *choices, size_t i, size_t *size)
{
    for (; i > 0; i--) {
        choices = strchr(choices, '|');
        if (choices == NULL)
            return NULL;
        choices++;
    }
    *size = strcspn(choices, "|");
    return choices;
}

int cli_choice(const char *choices, const char *text)
{
    const char *choice;
    size_t size;

    for (int i = 0; (choice = cli_choice_at(choices, (size_t)i, &size)) != NULL; i++)
        if (strlen(text) == size && memcmp(text, choice, size) == 0)
            return i;
    return -1;
}

/* Edit distance with neighbours exchanged counting as one. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { LIMIT = 40 };
    size_t d[LIMIT + 1][LIMIT + 1];
    const size_t n = strnlen(a, LIMIT), m = strnlen(b, LIMIT);

    for (size_t i = 0; i <= n; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

void cli_guess_try(struct cli_guess *guess, const char *wrong, const char *name)
{
    const size_t length = strlen(wrong);
    size_t distance = edit_distance(wrong, name);

    if (length >= 2 && strncmp(wrong, name, length) == 0)
        distance = 1; /* what an abbreviation would have meant */
    if (distance > 1 + length / 4 || distance >= length)
        return;
    if (guess->name == NULL || distance < guess->distance)
        *guess = (struct cli_guess){.name = name, .distance = distance};
}

bool cli_number(const char *text, uint64_t *number)
{
    uint64_t n = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(n, UINT64_C(10), &n) ||
            __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
            return false;
    }
    *number = n;
    return true;
}

bool cli_size(const char *text, uint64_t *number)
{
    static const char units[] = "KMGT";
    char digits[24];
    const size_t n = strspn(text, "0123456789");
    uint64_t value;

    if (n == 0 || n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    if (!cli_number(digits, &value))
        return false;
    text += n;
    if (*text != '\0') {
        const char *unit = strchr(units, *text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
        if (unit == NULL || __builtin_mul_overflow(value, UINT64_C(1) << (10 * (unit - units + 1)), &value))
            return false;
        text++;
        if (*text != '\0' && strcmp(text, "iB") != 0)
            return false;
    }
    *number = value;
    return true;
}

/* Two numbers around a separator. */
static bool parse_pair(const char *text, char separator, uint64_t *a, uint64_t *b)
{
    char first[24];
    const char *at = strchr(text, separator);

    if (at == NULL || (size_t)(at - text) >= sizeof first)
        return false;
    memcpy(first, text, (size_t)(at - text));
    first[at - text] = '\0';
    return cli_number(first, a) && cli_number(at + 1, b);
}

bool cli_range(const char *text, uint64_t *first, uint64_t *end)
{
    char digits[24];
    const char *colon = strchr(text, ':');

    if (colon == NULL) {
        if (!cli_number(text, first) || *first == UINT64_MAX)
            return false;
        *end = *first + 1;
        return true;
    }
    if ((size_t)(colon - text) >= sizeof digits)
        return false;
    memcpy(digits, text, (size_t)(colon - text));
    digits[colon - text] = '\0';
    *first = 0;
    *end = UINT64_MAX;
    return (digits[0] == '\0' || cli_number(digits, first)) && (colon[1] == '\0' || cli_number(colon + 1, end)) &&
           *first <= *end;
}

static bool parse_share(const char *text, double *share)
{
    char *end;

    if ((*text < '0' || *text > '9') && *text != '.')
        return false;
    if (strspn(text, "0123456789.%") != strlen(text))
        return false;
    *share = strtod(text, &end);
    if (*end == '%') {
        *share /= 100.0;
        end++;
    }
    return *end == '\0' && *share > 0.0 && *share <= 1.0;
}

static const char *type_wanted(const struct cli_option *option)
{
    switch (option->type) {
    case CLI_NUMBER:
        return "a whole number";
    case CLI_SIZE:
        return "a size such as 4096, 64K, 256M or 1G";
    case CLI_EXTENT:
        return "pixels: N, or WIDTHxHEIGHT, not 0";
    case CLI_PART:
        return "a part such as 2/5";
    case CLI_SHARE:
        return "a share such as 2.5% or 0.025";
    case CLI_CHOICE:
        return option->choices;
    default:
        return "a text";
    }
}

/* True when text was taken as the option's value. */
static bool set_value(const struct cli_option *option, struct cli_value *value, const char *text)
{
    bool good = true;

    value->text = text;
    switch (option->type) {
    case CLI_FLAG:
    case CLI_TEXT:
        break;
    case CLI_LIST: {
        const char **list = realloc(value->list, (value->count + 2) * sizeof *list);
        if (list == NULL)
            return false;
        value->list = list;
        list[value->count++] = text;
        list[value->count] = NULL;
        break;
    }
    case CLI_NUMBER:
        good = cli_number(text, &value->number);
        break;
    case CLI_SIZE:
        good = cli_size(text, &value->number);
        break;
    case CLI_EXTENT:
        value->second = 0;
        if (strchr(text, 'x') != NULL)
            good = parse_pair(text, 'x', &value->number, &value->second) && value->second != 0;
        else
            good = cli_number(text, &value->number);
        good = good && value->number != 0;
        break;
    case CLI_CHOICE: {
        const int choice = cli_choice(option->choices, text);
        good = choice >= 0;
        value->number = good ? (uint64_t)choice : 0;
        break;
    }
    case CLI_PART:
        good = parse_pair(text, '/', &value->number, &value->second) && value->number >= 1 &&
               value->number <= value->second;
        break;
    case CLI_SHARE:
        good = parse_share(text, &value->real);
        break;
    }
    value->given = good;
    return good;
}

int cli_usage(const struct cli_command *command, const char *format, ...)
{
    char text[1024];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (command == NULL)
        say("%s (mshard --help lists the commands)", text);
    else
        say("%s (mshard %s --help tells more)", text, command->name);
    return TOOL_USAGE;
}

static int unknown_option(const struct cli_command *command, const char *name)
{
    struct cli_guess guess = {.name = NULL};
    const struct cli_option *option;

    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        cli_guess_try(&guess, name, option->name);
        if (option->alias != NULL)
            cli_guess_try(&guess, name, option->alias);
    }
    if (guess.name != NULL)
        return cli_usage(command, "%s has no option --%s; did you mean --%s?", command->name, name, guess.name);
    return cli_usage(command, "%s has no option --%s", command->name, name);
}

struct parse {
    const struct cli_command *command;
    struct cli_args *args;
    int argc, at;
    char **argv;
    int *help;
};

static bool is_help(const struct cli_option *option)
{
    return option == &help_option;
}

static int take_value(struct parse *p, size_t i, const char *shown, const char *text)
{
    const struct cli_option *option = &p->command->options[i];

    if (text == NULL) {
        if (p->at >= p->argc)
            return cli_usage(p->command, "%s needs a value: %s", shown, type_wanted(option));
        text = p->argv[p->at++];
    }
    if (set_value(option, &p->args->values[i], text))
        return TOOL_DONE;
    if (option->type == CLI_CHOICE) {
        struct cli_guess guess = {.name = NULL};
        char words[8][24];
        const char *choice;
        size_t size;
        for (size_t k = 0; k < 8 && (choice = cli_choice_at(option->choices, k, &size)) != NULL; k++) {
            (void)snprintf(words[k], sizeof words[k], "%.*s", (int)size, choice);
            cli_guess_try(&guess, text, words[k]);
        }
        if (guess.name != NULL)
            return cli_usage(p->command, "%s must be one of %s, found '%s'; did you mean %s?", shown, option->choices,
                             text, guess.name);
        return cli_usage(p->command, "%s must be one of %s, found '%s'", shown, option->choices, text);
    }
    return cli_usage(p->command, "%s must be %s, found '%s'", shown, type_wanted(option), text);
}

static int parse_long(struct parse *p, const char *word)
{
    const size_t length = strcspn(word, "=");
    char name[64], shown[80];
    const struct cli_option *option;
    size_t i;

    (void)snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word);
    (void)snprintf(shown, sizeof shown, "--%s", name);
    for (i = 0; (option = cli_option_at(p->command, i)) != NULL; i++)
        if (strcmp(option->name, name) == 0 || (option->alias != NULL && strcmp(option->alias, name) == 0))
            break;
    if (option == NULL)
        return unknown_option(p->command, name);
    if (option->type != CLI_FLAG)
        return take_value(p, i, shown, word[length] == '=' ? word + length + 1 : NULL);
    if (word[length] == '=')
        return cli_usage(p->command, "%s takes no value, found '%s'", shown, word + length + 1);
    if (is_help(option))
        *p->help = 'H';
    else
        p->args->values[i].given = true;
    return TOOL_DONE;
}

static int parse_short(struct parse *p, const char *word)
{
    for (; *word != '\0'; word++) {
        const char shown[3] = {'-', *word, '\0'};
        const struct cli_option *option;
        size_t i;

        for (i = 0; (option = cli_option_at(p->command, i)) != NULL; i++)
            if (option->letter == *word)
                break;
        if (option == NULL)
            return cli_usage(p->command, "%s has no option -%c", p->command->name, *word);
        if (option->type != CLI_FLAG)
            return take_value(p, i, shown, word[1] != '\0' ? word + 1 : NULL);
        if (is_help(option)) {
            *p->help = 'h';
            return TOOL_DONE;
        }
        p->args->values[i].given = true;
    }
    return TOOL_DONE;
}

/* A flag is on for 1, true, yes, on; off for 0, false, no, off and empty. */
static bool parse_switch(const char *text, bool *on)
{
    const int choice = cli_choice("|0|false|no|off|1|true|yes|on", text);

    *on = choice > 4;
    return choice >= 0;
}

/* Options not given on the command line, from the environment. */
static int parse_environment(const struct cli_command *command, struct cli_args *args)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->options[i];
        char name[80];
        const char *text;
        size_t n = (size_t)snprintf(name, sizeof name, "MSHARD_%s", option->name);

        for (size_t k = 7; k < n && k < sizeof name; k++)
            name[k] = (char)(name[k] == '-' ? '_' : name[k] >= 'a' && name[k] <= 'z' ? name[k] - 'a' + 'A' : name[k]);
        text = args->values[i].given ? NULL : getenv(name);
        if (text == NULL)
            continue;
        if (option->type == CLI_FLAG) {
            if (!parse_switch(text, &args->values[i].given))
                return cli_usage(command, "variable %s must be 1 or 0, found '%s'", name, text);
        } else if (*text != '\0' && !set_value(option, &args->values[i], text)) {
            return cli_usage(command, "variable %s must be %s, found '%s'", name, type_wanted(option), text);
        }
    }
    return TOOL_DONE;
}

static int parse_all(struct parse *p)
{
    struct cli_args *args = p->args;
    bool options = true;

    while (p->at < p->argc) {
        const char *word = p->argv[p->at++];
        int code = TOOL_DONE;

        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (options && strncmp(word, "--", 2) == 0)
            code = parse_long(p, word + 2);
        else if (options && word[0] == '-' && word[1] != '\0')
            code = parse_short(p, word + 1);
        else
            args->operands[args->count++] = word;
        if (code != TOOL_DONE || *p->help != 0)
            return code;
    }
    const int code = parse_environment(p->command, args);
    if (code != TOOL_DONE)
        return code;
    if (args->count < p->command->min_operands)
        return cli_usage(p->command, "%s needs %s", p->command->name, p->command->operands);
    if (args->count > p->command->max_operands)
        return cli_usage(p->command, "%s takes %s; '%s' is too much", p->command->name, p->command->operands,
                         args->operands[p->command->max_operands]);
    return TOOL_DONE;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args, int *help)
{
    *help = 0;
    *args = (struct cli_args){.command = command};
    args->values = calloc(command->option_count + 1, sizeof *args->values);
    args->operands = calloc((size_t)argc + 1, sizeof *args->operands);
    if (args->values == NULL || args->operands == NULL) {
        say("out of memory");
        return TOOL_FAILED;
    }
    return parse_all(&(struct parse){.command = command, .args = args, .argc = argc, .argv = argv, .help = help});
}

void cli_clear(struct cli_args *args)
{
    if (args->values != NULL)
        for (size_t i = 0; i < args->command->option_count; i++)
            free(args->values[i].list);
    free(args->values);
    free(args->operands);
    *args = (struct cli_args){.values = NULL};
}
