/*
 * work_folder.c - the folder of a data set that is not complete
 *
 * Cleaning is best effort: what cannot be removed stays, and the next writer tries again.
 *
 * Threads: confined. Processes: the lock lets one through.
 */
#include "format/work_folder.h"

#include "os/path.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCK_NAME "lock"
#define LOCK_TRIES 8

static bool starts_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* NAME, or a temporary name made from it. */
static bool is_or_derives(const char *name, const char *base)
{
    const size_t length = strlen(base);

    return strncmp(name, base, length) == 0 && (name[length] == '\0' || name[length] == '.' || name[length] == '-');
}

static bool is_shard_name(const char *name)
{
    size_t digits;

    if (!starts_with(name, "shard-"))
        return false;
    digits = strspn(name + 6, "0123456789");
    return digits >= 6 && strcmp(name + 6 + digits, ".mshard") == 0;
}

static bool is_ours(const struct mshi_entry *entry)
{
    if (entry->kind == MSHI_FOLDER)
        return strcmp(entry->name, MSHI_WORK_FOLDER) == 0;
    return is_shard_name(entry->name) || is_or_derives(entry->name, MSHI_MANIFEST_NAME) ||
           is_or_derives(entry->name, "keys.mdb") || is_or_derives(entry->name, "skipped.jsonl");
}

mshard_status mshi_folder_look(const char *folder, struct mshi_folder_contents *contents, mshard_error *err)
{
    struct mshi_entry *entries;
    size_t count;

    memset(contents, 0, sizeof(*contents));
    MSHI_TRY(mshi_folder_list(folder, false, &entries, &count, err));
    contents->entries = count;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i].name, MSHI_MANIFEST_NAME) == 0 && entries[i].kind != MSHI_FOLDER)
            contents->manifest = true;
        else if (strcmp(entries[i].name, MSHI_WORK_FOLDER) == 0 && entries[i].kind == MSHI_FOLDER)
            contents->work = true;
        if (!is_ours(&entries[i]) && contents->foreign[0] == '\0')
            (void)snprintf(contents->foreign, sizeof(contents->foreign), "%s", entries[i].name);
    }
    mshi_folder_free(entries, count);
    return MSHARD_OK;
}

static mshard_status busy(const char *target, mshard_error *err)
{
    return mshi_fail(err, MSHARD_E_EXISTS, target, MSHARD_NO_OFFSET, "another writer is at work (lock held)");
}

/*
 * One try. *lock_fd stays -1 with OK when there is reason for another: a writer that ends removes its lock file, so
 * a lock that was got on a file which is no longer there under its name is worth nothing.
 */
static mshard_status try_lock(const struct mshi_fs *fs, const char *work, const char *path, const char *target,
                              int *lock_fd, mshard_error *err)
{
    int fd;

    if (mshi_path_is_link(work)) /* not ours: cleaning would follow it */
        return mshi_fail(err, MSHARD_E_EXISTS, work, MSHARD_NO_OFFSET, "the work folder is a symbolic link");
    fd = fs->create(fs->context, path, false);
    if (fd < 0)
        return errno == ENOENT ? MSHARD_OK
                               : mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot create the lock file");
    if (fs->lock(fs->context, fd) != 0) {
        const int failed = errno;

        (void)fs->close(fs->context, fd);
        if (failed == EWOULDBLOCK || failed == EAGAIN)
            return busy(target, err);
        (void)fs->unlink(fs->context, path); /* nobody can hold it where locks do not work */
        return mshi_fail_errno(err, failed, path, MSHARD_NO_OFFSET, "cannot lock (the file system must support flock)");
    }
    if (mshi_path_is_open_as(path, fd))
        *lock_fd = fd;
    else
        (void)fs->close(fs->context, fd);
    return MSHARD_OK;
}

static mshard_status lock_work(const struct mshi_fs *fs, const char *work, const char *path, const char *target,
                               int *lock_fd, mshard_error *err)
{
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        mshard_status status;

        if (fs->mkdir(fs->context, work) != 0 && errno != EEXIST)
            return mshi_fail_errno(err, errno, work, MSHARD_NO_OFFSET, "cannot create the work folder");
        status = try_lock(fs, work, path, target, lock_fd, err);
        if (status != MSHARD_OK)
            (void)fs->rmdir(fs->context, work); /* only when it is empty: then it is ours or nobody's */
        if (status != MSHARD_OK || *lock_fd >= 0)
            return status;
    }
    return busy(target, err);
}

mshard_status mshi_work_lock(const struct mshi_fs *fs, const char *folder, const char *target, int *lock_fd,
                             mshard_error *err)
{
    char *work = NULL, *path = NULL;
    mshard_status status = mshi_path_join(folder, MSHI_WORK_FOLDER, &work, err);

    *lock_fd = -1;
    if (status == MSHARD_OK)
        status = mshi_path_join(work, LOCK_NAME, &path, err);
    if (status == MSHARD_OK)
        status = lock_work(fs, work, path, target, lock_fd, err);
    free(path);
    free(work);
    return status;
}

static bool unlink_in(const struct mshi_fs *fs, const char *folder, const char *name)
{
    char *path;
    bool gone;

    if (mshi_path_join(folder, name, &path, NULL) != MSHARD_OK)
        return false;
    gone = fs->unlink(fs->context, path) == 0 || errno == ENOENT;
    free(path);
    return gone;
}

/* Empty the work folder but for the lock. */
static bool clean_work(const struct mshi_fs *fs, const char *work)
{
    struct mshi_entry *entries;
    size_t count;
    bool gone = true;

    if (mshi_folder_list(work, false, &entries, &count, NULL) != MSHARD_OK)
        return mshi_path_kind(work, NULL) == MSHI_MISSING;
    for (size_t i = 0; i < count; i++) {
        char *path;

        if (strcmp(entries[i].name, LOCK_NAME) == 0)
            continue;
        if (mshi_path_join(work, entries[i].name, &path, NULL) != MSHARD_OK) {
            gone = false;
            continue;
        }
        gone = mshi_fs_remove_tree(fs, path, NULL) == MSHARD_OK && gone;
        free(path);
    }
    mshi_folder_free(entries, count);
    return gone;
}

bool mshi_work_clean(const struct mshi_fs *fs, const char *folder)
{
    struct mshi_entry *entries;
    char *work;
    size_t count;
    bool gone = true;

    if (mshi_folder_list(folder, false, &entries, &count, NULL) != MSHARD_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i].name, MSHI_MANIFEST_NAME) == 0 && entries[i].kind != MSHI_FOLDER)
            gone = unlink_in(fs, folder, entries[i].name);
    for (size_t i = 0; gone && i < count; i++) /* a data set with dataset.json but without shards must never be */
        if (is_ours(&entries[i]) && entries[i].kind != MSHI_FOLDER && strcmp(entries[i].name, MSHI_MANIFEST_NAME) != 0)
            gone = unlink_in(fs, folder, entries[i].name);
    mshi_folder_free(entries, count);
    if (!gone || mshi_path_join(folder, MSHI_WORK_FOLDER, &work, NULL) != MSHARD_OK)
        return false;
    gone = clean_work(fs, work);
    free(work);
    return gone;
}

void mshi_work_unlock(const struct mshi_fs *fs, const char *folder, bool finished, int *lock_fd)
{
    char *work;

    if (*lock_fd < 0)
        return;
    if (finished && mshi_path_join(folder, MSHI_WORK_FOLDER, &work, NULL) == MSHARD_OK) {
        if (clean_work(fs, work) && unlink_in(fs, work, LOCK_NAME))
            (void)fs->rmdir(fs->context, work);
        free(work);
    }
    (void)fs->close(fs->context, *lock_fd);
    *lock_fd = -1;
}
