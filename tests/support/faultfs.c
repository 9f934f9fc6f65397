/*
 * faultfs.c - a file system below the library that counts operations and goes wrong at the n-th
 *
 * Every change leaves a note how to take it back; a sync strikes out the notes it makes permanent: fsync those of
 * the file's bytes, a folder's sync those of its names. A note about bytes
 * holds a descriptor of its own, since the file may be renamed later.
 */
#include "support/faultfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum undo_kind { UNDO_BYTES, UNDO_CREATE, UNDO_RENAME, UNDO_EXCHANGE, UNDO_UNLINK, UNDO_MKDIR, UNDO_RMDIR };

struct faultfs_undo {
    struct faultfs_undo *next;
    enum undo_kind kind;
    bool permanent;
    char a[512], b[512], trash[560];
    /* bytes */
    int fd;
    dev_t device;
    ino_t inode;
    void *bytes;
    size_t size; /* of bytes: what was there before */
    off_t offset, file_size;
};

static void release(struct faultfs **f)
{
    (void)pthread_mutex_unlock(&(*f)->mutex);
}

/* A writer may seal one shard while it fills the next: one operation at a time, to the end of the scope. */
#define GUARD(f)                                                   \
    struct faultfs *guard __attribute__((cleanup(release))) = (f); \
    (void)pthread_mutex_lock(&guard->mutex)

static struct faultfs_undo *note(struct faultfs *f, enum undo_kind kind, const char *a, const char *b)
{
    struct faultfs_undo *u = calloc(1, sizeof(*u));

    if (u == NULL)
        abort();
    u->kind = kind;
    u->fd = -1;
    (void)snprintf(u->a, sizeof(u->a), "%s", a == NULL ? "" : a);
    (void)snprintf(u->b, sizeof(u->b), "%s", b == NULL ? "" : b);
    u->next = f->undo;
    f->undo = u;
    return u;
}

static void note_bytes(struct faultfs *f, int fd, size_t size, off_t offset)
{
    struct faultfs_undo *u = note(f, UNDO_BYTES, NULL, NULL);
    struct stat st;
    ssize_t got;

    u->fd = dup(fd);
    u->bytes = malloc(size + 1);
    if (u->fd < 0 || u->bytes == NULL || fstat(fd, &st) != 0)
        abort();
    got = pread(fd, u->bytes, size, offset);
    u->size = got > 0 ? (size_t)got : 0;
    u->offset = offset;
    u->file_size = st.st_size;
    u->device = st.st_dev;
    u->inode = st.st_ino;
}

static void crash(struct faultfs *f)
{
    f->crashed = true;
    for (size_t i = 0; i < f->fd_count; i++)
        (void)close(f->fds[i]);
    f->fd_count = 0;
}

/* Count an operation. False: it must fail, errno is set. *half: do it by half. */
static bool allow(struct faultfs *f, const char *operation, bool needs_space, bool *half)
{
    f->count++;
    if (f->crashed) {
        errno = EIO;
        return false;
    }
    if (f->count == f->at)
        f->operation = operation;
    if (f->mode == FAULTFS_CRASH && f->count == f->at) {
        crash(f);
        errno = EIO;
        return false;
    }
    if (f->mode == FAULTFS_EIO && f->count == f->at) {
        errno = EIO;
        return false;
    }
    if (f->mode == FAULTFS_SHORT && f->count == f->at)
        *half = true;
    if (f->mode == FAULTFS_FULL && f->count >= f->at && needs_space) {
        if (f->count == f->at && strcmp(operation, "pwrite") == 0) {
            *half = true;
            return true;
        }
        errno = ENOSPC;
        return false;
    }
    return true;
}

static bool allow_whole(struct faultfs *f, const char *operation, bool needs_space)
{
    bool half = false;

    return allow(f, operation, needs_space, &half);
}

static void track(struct faultfs *f, int fd)
{
    if (f->fd_count == sizeof(f->fds) / sizeof(f->fds[0]))
        abort();
    f->fds[f->fd_count++] = fd;
}

static int fault_create(void *context, const char *path, bool exclusive)
{
    struct faultfs *f = context;
    struct stat st;
    const bool there = lstat(path, &st) == 0;
    int fd;
    GUARD(f);

    if (!allow_whole(f, "create", !there))
        return -1;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (exclusive ? O_EXCL : 0), 0666);
    if (fd < 0)
        return -1;
    track(f, fd);
    if (!there)
        (void)note(f, UNDO_CREATE, path, NULL);
    else if (st.st_size > 0) {
        note_bytes(f, fd, (size_t)st.st_size, 0);
        if (ftruncate(fd, 0) != 0)
            abort();
    }
    return fd;
}

static int fault_open(void *context, const char *path)
{
    struct faultfs *f = context;
    int fd;
    GUARD(f);

    if (!allow_whole(f, "open", false))
        return -1;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        track(f, fd);
    return fd;
}

static int64_t fault_pwrite(void *context, int fd, const void *data, size_t size, uint64_t offset)
{
    struct faultfs *f = context;
    bool half = false;
    unsigned char *copy;
    ssize_t n;
    GUARD(f);

    if (!allow(f, "pwrite", true, &half))
        return -1;
    if (half)
        size = (size + 1) / 2;
    note_bytes(f, fd, size, (off_t)offset);
    if (f->mode != FAULTFS_FLIP || f->count != f->at)
        return pwrite(fd, data, size, (off_t)offset);
    copy = malloc(size);
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    copy[size / 2] ^= 4;
    n = pwrite(fd, copy, size, (off_t)offset);
    free(copy);
    return n;
}

static int64_t fault_pread(void *context, int fd, void *data, size_t size, uint64_t offset)
{
    struct faultfs *f = context;
    bool half = false;
    GUARD(f);

    if (!allow(f, "pread", false, &half))
        return -1;
    return pread(fd, data, half ? (size + 1) / 2 : size, (off_t)offset);
}

static int fault_truncate(void *context, int fd, uint64_t size)
{
    struct faultfs *f = context;
    struct stat st;
    GUARD(f);

    if (!allow_whole(f, "truncate", false) || fstat(fd, &st) != 0)
        return -1;
    note_bytes(f, fd, (size_t)st.st_size, 0);
    return ftruncate(fd, (off_t)size);
}

static int fault_sync(void *context, int fd)
{
    struct faultfs *f = context;
    struct stat st;
    GUARD(f);

    if (!allow_whole(f, "sync", true) || fstat(fd, &st) != 0)
        return -1;
    for (struct faultfs_undo *u = f->undo; u != NULL; u = u->next)
        if (u->kind == UNDO_BYTES && u->device == st.st_dev && u->inode == st.st_ino)
            u->permanent = true;
    return 0;
}

/* Is name an entry of folder? */
static bool lies_in(const char *name, const char *folder)
{
    const size_t length = strlen(folder);
    const char *slash = strrchr(name, '/');

    if (slash == NULL)
        return strcmp(folder, ".") == 0;
    return (size_t)(slash - name) == length && strncmp(name, folder, length) == 0;
}

static int fault_sync_folder(void *context, const char *path)
{
    struct faultfs *f = context;
    GUARD(f);

    if (!allow_whole(f, "sync_folder", true))
        return -1;
    for (struct faultfs_undo *u = f->undo; u != NULL; u = u->next)
        if (u->kind != UNDO_BYTES && lies_in(u->b[0] != '\0' ? u->b : u->a, path))
            u->permanent = true;
    return 0;
}

static void fault_advice(void *context, int fd, uint64_t offset, uint64_t size)
{
    (void)context;
    (void)fd;
    (void)offset;
    (void)size;
}

static int fault_close(void *context, int fd)
{
    struct faultfs *f = context;
    GUARD(f);

    if (f->crashed) { /* gone already */
        f->count++;
        return 0;
    }
    for (size_t i = 0; i < f->fd_count; i++)
        if (f->fds[i] == fd) {
            f->fds[i] = f->fds[--f->fd_count];
            break;
        }
    if (!allow_whole(f, "close", false)) {
        (void)close(fd);
        return -1;
    }
    return close(fd);
}

static void trash_name(struct faultfs *f, char name[560])
{
    (void)snprintf(name, 560, "%s/%llu", f->trash, (unsigned long long)f->trash_count++);
}

static int fault_rename(void *context, const char *from, const char *to)
{
    struct faultfs *f = context;
    char trash[560] = "";
    struct stat st;
    struct faultfs_undo *u;
    GUARD(f);

    if (!allow_whole(f, "rename", false))
        return -1;
    if (lstat(to, &st) == 0 && !S_ISDIR(st.st_mode)) {
        trash_name(f, trash);
        if (link(to, trash) != 0)
            abort();
    }
    if (rename(from, to) != 0)
        return -1;
    u = note(f, UNDO_RENAME, from, to);
    memcpy(u->trash, trash, sizeof(trash));
    return 0;
}

static int fault_exchange(void *context, const char *a, const char *b)
{
    struct faultfs *f = context;
    GUARD(f);

    if (!allow_whole(f, "exchange", false))
        return -1;
    if (f->no_exchange) {
        errno = EINVAL;
        return -1;
    }
    if (mshi_fs_posix.exchange(mshi_fs_posix.context, a, b) != 0)
        return -1;
    (void)note(f, UNDO_EXCHANGE, a, b);
    return 0;
}

static int fault_unlink(void *context, const char *path)
{
    struct faultfs *f = context;
    char trash[560];
    struct stat st;
    struct faultfs_undo *u;
    GUARD(f);

    if (!allow_whole(f, "unlink", false) || lstat(path, &st) != 0)
        return -1;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    trash_name(f, trash);
    if (rename(path, trash) != 0)
        return -1;
    u = note(f, UNDO_UNLINK, path, NULL);
    memcpy(u->trash, trash, sizeof(trash));
    return 0;
}

static int fault_mkdir(void *context, const char *path)
{
    struct faultfs *f = context;
    GUARD(f);

    if (!allow_whole(f, "mkdir", true) || mkdir(path, 0777) != 0)
        return -1;
    (void)note(f, UNDO_MKDIR, path, NULL);
    return 0;
}

static int fault_rmdir(void *context, const char *path)
{
    struct faultfs *f = context;
    GUARD(f);

    if (!allow_whole(f, "rmdir", false) || rmdir(path) != 0)
        return -1;
    (void)note(f, UNDO_RMDIR, path, NULL);
    return 0;
}

static int fault_lock(void *context, int fd)
{
    struct faultfs *f = context;
    GUARD(f);

    return allow_whole(f, "lock", false) ? mshi_fs_posix.lock(mshi_fs_posix.context, fd) : -1;
}

void faultfs_init(struct faultfs *f, enum faultfs_mode mode, uint64_t at, const char *trash)
{
    memset(f, 0, sizeof(*f));
    (void)pthread_mutex_init(&f->mutex, NULL);
    f->mode = mode;
    f->at = at;
    (void)snprintf(f->trash, sizeof(f->trash), "%s", trash);
    f->fs = (struct mshi_fs){
        .context = f,
        .create = fault_create,
        .open = fault_open,
        .pwrite = fault_pwrite,
        .pread = fault_pread,
        .truncate = fault_truncate,
        .sync = fault_sync,
        .sync_folder = fault_sync_folder,
        .write_behind = fault_advice,
        .drop = fault_advice,
        .close = fault_close,
        .rename = fault_rename,
        .exchange = fault_exchange,
        .unlink = fault_unlink,
        .mkdir = fault_mkdir,
        .rmdir = fault_rmdir,
        .lock = fault_lock,
    };
}

/* Failures are taken as they come: a note may be about a name that a permanent change moved away. */
static void take_back(const struct faultfs_undo *u)
{
    switch (u->kind) {
    case UNDO_BYTES:
        if (ftruncate(u->fd, u->file_size) != 0 || pwrite(u->fd, u->bytes, u->size, u->offset) < 0)
            abort();
        break;
    case UNDO_CREATE:
        (void)unlink(u->a);
        break;
    case UNDO_RENAME:
        (void)rename(u->b, u->a);
        if (u->trash[0] != '\0')
            (void)rename(u->trash, u->b);
        break;
    case UNDO_EXCHANGE:
        (void)mshi_fs_posix.exchange(mshi_fs_posix.context, u->a, u->b);
        break;
    case UNDO_UNLINK:
        (void)rename(u->trash, u->a);
        break;
    case UNDO_MKDIR: /* a folder whose name is lost takes all in it along */
        (void)mshi_fs_remove_tree(&mshi_fs_posix, u->a, NULL);
        break;
    case UNDO_RMDIR:
        (void)mkdir(u->a, 0777);
        break;
    }
}

void faultfs_end(struct faultfs *f, enum faultfs_loss loss)
{
    for (struct faultfs_undo *u = f->undo; f->crashed && u != NULL; u = u->next) {
        const enum faultfs_loss kind = u->kind == UNDO_BYTES ? FAULTFS_LOSE_DATA : FAULTFS_LOSE_NAMES;

        if (!u->permanent && (loss & kind) != 0)
            take_back(u);
    }
    while (f->undo != NULL) {
        struct faultfs_undo *next = f->undo->next;

        if (f->undo->fd >= 0)
            (void)close(f->undo->fd);
        free(f->undo->bytes);
        free(f->undo);
        f->undo = next;
    }
    (void)pthread_mutex_destroy(&f->mutex);
}
