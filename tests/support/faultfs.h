/*
 * faultfs.h - a file system below the library that counts operations and goes wrong at the n-th
 *
 * Real files in real folders; nothing is really synced. A crash makes every later operation fail without effect
 * and closes all files, as the end of a process does; then what was not synced can be taken back, as the end of
 * the machine does.
 */
#ifndef MSHI_TESTS_FAULTFS_H
#define MSHI_TESTS_FAULTFS_H

#include "os/file.h"
#include <pthread.h>

enum faultfs_mode {
    FAULTFS_NONE,
    FAULTFS_EIO, /* operation n fails */
    FAULTFS_FULL,  /* from n on, what needs space (no renames) fails with ENOSPC; a write at n is done by half first */
    FAULTFS_SHORT, /* write n is done by half, and says so */
    FAULTFS_FLIP,  /* one bit of what write n writes is wrong, and nobody says so */
    FAULTFS_CRASH, /* operation n and all later ones do nothing */
};

enum faultfs_loss { /* what a crash takes back of what was not synced */
                    FAULTFS_KEEP = 0,
                    FAULTFS_LOSE_DATA = 1,
                    FAULTFS_LOSE_NAMES = 2,
                    FAULTFS_LOSE_ALL = 3,
};

struct faultfs_undo;

struct faultfs {
    struct mshi_fs fs;
    pthread_mutex_t mutex; /* operations come from any thread */
    enum faultfs_mode mode;
    uint64_t at, count;    /* operations from 1 */
    const char *operation; /* name of the n-th; NULL: not reached */
    bool crashed, no_exchange;
    char trash[512]; /* a folder on the same file system, for what was unlinked */
    uint64_t trash_count;
    int fds[256];
    size_t fd_count;
    struct faultfs_undo *undo; /* newest first */
};

void faultfs_init(struct faultfs *f, enum faultfs_mode mode, uint64_t at, const char *trash);
/* After a crash: take back what was not synced. Then frees; without a crash just frees. */
void faultfs_end(struct faultfs *f, enum faultfs_loss loss);

#endif
