/*
 * main.c - the table of commands; picks one and runs it
 */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <mshard/version.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct cli_command *const cli_commands[] = {&cmd_pack, &cmd_info,  &cmd_ls,     &cmd_dump, &cmd_cat,
                                                  &cmd_view, &cmd_stats, &cmd_verify, &cmd_help, NULL};

static volatile sig_atomic_t interrupt_seen;

static void on_interrupt(int number)
{
    const int kept = errno, nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)number;
    interrupt_seen = 1;
    /* a read of standard input that waits, and would be tried again, shall find the end */
    if (nothing >= 0) {
        (void)dup2(nothing, STDIN_FILENO);
        (void)close(nothing);
    }
    errno = kept;
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before;
        /* what the caller had ignored (nohup) stays ignored */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    }
}

bool interrupted(void)
{
    return interrupt_seen != 0;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
    struct cli_args args;
    int help;
    int code = cli_parse(command, argc, argv, &args, &help);

    if (code == TOOL_DONE && help != 0) {
        color_from(0);
        cli_help(command, help == 'H');
    } else if (code == TOOL_DONE) {
        code = command->run(&args);
    }
    cli_clear(&args);
    return out_finish(code);
}

static int unknown_command(const char *word)
{
    struct cli_guess guess = {.name = NULL};

    for (size_t i = 0; cli_commands[i] != NULL; i++)
        cli_guess_try(&guess, word, cli_commands[i]->name);
    if (strchr(word, '/') != NULL) {
        say("%s: %s", word, strerror(errno));
        return TOOL_FAILED;
    }
    if (guess.name != NULL)
        return cli_usage(NULL, "no command or file '%s'; did you mean mshard %s?", word, guess.name);
    return cli_usage(NULL, "no command or file '%s'", word);
}

int main(int argc, char **argv)
{
    const struct cli_command *command;
    struct stat info;

    if (argc < 2) {
        cli_help_top(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_help_top(stdout);
        return out_finish(TOOL_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        out("mshard %s\n", mshard_version());
        return out_finish(TOOL_DONE);
    }
    command = cli_find(argv[1]);
    if (command != NULL)
        return run(command, argc - 2, argv + 2);
    /* mshard PATH, mshard --json PATH */
    if (argv[1][0] == '-' || stat(argv[1], &info) == 0)
        return run(&cmd_info, argc - 1, argv + 1);
    return unknown_command(argv[1]);
}
