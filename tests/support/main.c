/*
 * main.c - runs one Check suite and prints TAP
 *
 * Returns 0 once the plan is printed: the TAP driver counts a non-zero exit as one more error beside the failed
 * lines, and a sanitizer's or valgrind's exit status must stay visible.
 */
#include "support/main.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];
static pid_t owner;

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    if (flag == FTW_DNR)
        chmod(path, 0700);
    return remove(path);
}

static void remove_root(void)
{
    if (root[0] && getpid() == owner)
        nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *mshi_test_dir(void)
{
    static char names[256][320];
    static unsigned used;
    char *name = names[used++ % 256];

    snprintf(name, sizeof names[0], "%s/%d-XXXXXX", root, (int)getpid());
    if (!mkdtemp(name)) {
        perror(name);
        abort();
    }
    return name;
}

const char *mshi_test_path(const char *dir, const char *name)
{
    static char paths[64][1024];
    static unsigned used;
    char *path = paths[used++ % 64];

    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(root, sizeof root, "%s/mshard-test-XXXXXX", base && strlen(base) < 200 ? base : "/tmp");
    if (!mkdtemp(root)) {
        perror(root);
        return 99;
    }
    owner = getpid();
    atexit(remove_root);

    SRunner *runner = srunner_create(mshi_suite());
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return 0;
}
