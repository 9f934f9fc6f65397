/*
 * terminal.c - what the terminal is: its size, its character set
 */
#include "out.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static size_t from_variable(const char *name)
{
    const char *text = getenv(name);
    uint64_t number;

    if (text == NULL || !cli_number(text, &number) || number < 20 || number > 10000)
        return 0;
    return (size_t)number;
}

size_t terminal_columns(int fd)
{
    struct winsize size;
    const size_t stated = from_variable("COLUMNS");

    if (stated != 0)
        return stated;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 100;
}

size_t terminal_rows(int fd)
{
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row >= 10)
        return size.ws_row;
    return 40;
}

bool terminal_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < 3; i++) {
        const char *text = getenv(names[i]);
        if (text != NULL && *text != '\0')
            return strcasestr(text, "utf-8") != NULL || strcasestr(text, "utf8") != NULL;
    }
    return false;
}
