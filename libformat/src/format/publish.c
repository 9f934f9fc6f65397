/*
 * publish.c - the folder of a data set while it is made
 *
 * Nothing is touched in a folder before its lock is held, and nothing is removed that a writer did not make: only
 * names of a data set's own files go, anything else stays and stops an overwrite. Failures of the final tidying
 * are no failures of the commit: the data set is complete and visible by then.
 *
 * Threads: confined. Processes: any number may try; the lock lets one through.
 */
#include "format/publish.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "format/work_folder.h"
#include "os/path.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEW_SUFFIX ".mshard-new"
#define OLD_SUFFIX ".mshard-old"

static mshard_status append_suffix(const char *path, const char *suffix, char **out, mshard_error *err)
{
    const size_t size = strlen(path) + strlen(suffix) + 1;

    MSHI_TRY(mshi_alloc(size, 1, out, err));
    (void)snprintf(*out, size, "%s%s", path, suffix);
    return MSHARD_OK;
}

static mshard_status make_folder(struct mshi_publish *p, const char *folder, mshard_error *err)
{
    const enum mshi_kind parent = mshi_path_kind(p->parent, NULL);

    if (parent != MSHI_FOLDER)
        return mshi_fail(err, MSHARD_E_NOT_FOUND, p->parent, MSHARD_NO_OFFSET, "%s",
                         parent == MSHI_MISSING ? "the folder to write in does not exist" : "this is not a folder");
    if (p->fs->mkdir(p->fs->context, folder) != 0)
        return mshi_fail_errno(err, errno, folder, MSHARD_NO_OFFSET, "cannot create the folder");
    p->made_folder = true;
    return MSHARD_OK;
}

/* Does dataset.json look like one of ours? Damaged ones too: only the beginning is looked at. */
static mshard_status check_format(const char *folder, mshard_error *err)
{
    struct mshi_file file = {.fd = -1};
    char text[4097], *path;
    size_t got = 0;
    mshard_status status;

    MSHI_TRY(mshi_path_join(folder, MSHI_MANIFEST_NAME, &path, err));
    status = mshi_file_open(path, &file, err);
    if (status == MSHARD_OK)
        status = mshi_file_read(&file, text, sizeof(text) - 1, 0, &got, path, err);
    mshi_file_close(&file);
    text[got] = '\0';
    if (status == MSHARD_OK && (strstr(text, "\"format\"") == NULL || strstr(text, "\"mshard\"") == NULL))
        status = mshi_fail(err, MSHARD_E_EXISTS, path, MSHARD_NO_OFFSET, "this is no mshard data set: not overwritten");
    free(path);
    return status;
}

/* A data set is at target and shall be replaced: choose folder, lock the old one. */
static mshard_status begin_replacing(struct mshi_publish *p, const struct mshi_folder_contents *old, mshard_error *err)
{
    struct mshi_folder_contents left;

    MSHI_TRY(check_format(p->target, err));
    if (old->foreign[0] != '\0')
        return mshi_fail(err, MSHARD_E_EXISTS, p->target, MSHARD_NO_OFFSET,
                         "not overwritten: \"%s\" in it is no part of a data set", old->foreign);
    p->replacing = true;
    MSHI_TRY(append_suffix(p->target, NEW_SUFFIX, &p->folder, err));
    MSHI_TRY(mshi_work_lock(p->fs, p->target, p->target, &p->old_fd, err));
    if (mshi_path_kind(p->folder, NULL) == MSHI_MISSING)
        return make_folder(p, p->folder, err);
    if (mshi_path_kind(p->folder, NULL) == MSHI_FOLDER && !mshi_path_is_link(p->folder)) {
        MSHI_TRY(mshi_folder_look(p->folder, &left, err));
        if (left.foreign[0] == '\0' && (left.work || left.entries == 0)) {
            p->made_folder = true; /* by a writer that died */
            return MSHARD_OK;
        }
    }
    return mshi_fail(err, MSHARD_E_EXISTS, p->folder, MSHARD_NO_OFFSET,
                     "the new data set is made under this name first, and something else is there");
}

/*
 * A writer that could not exchange names died after its first rename: its old data set goes back to target, or away
 * when the new one is there. One that lives holds the lock.
 */
static mshard_status settle_old(struct mshi_publish *p, mshard_error *err)
{
    const struct mshi_fs *fs = p->fs;
    struct mshi_folder_contents contents = {0};
    char *old;
    int fd = -1;
    bool back = false, gone = false;
    mshard_status status = MSHARD_OK;

    MSHI_TRY(append_suffix(p->target, OLD_SUFFIX, &old, err));
    if (mshi_path_kind(old, NULL) == MSHI_FOLDER && !mshi_path_is_link(old))
        status = mshi_folder_look(old, &contents, err);
    if (status == MSHARD_OK && contents.work && contents.foreign[0] == '\0') {
        status = mshi_work_lock(fs, old, p->target, &fd, err);
        if (status == MSHARD_OK && mshi_path_kind(p->target, NULL) == MSHI_MISSING) {
            back = fs->rename(fs->context, old, p->target) == 0;
            if (!back)
                status = mshi_fail_errno(err, errno, old, MSHARD_NO_OFFSET, "cannot rename to \"%s\"", p->target);
        } else if (status == MSHARD_OK) {
            gone = mshi_work_clean(fs, old);
        }
        mshi_work_unlock(fs, back ? p->target : old, back || gone, &fd);
        if (gone)
            (void)fs->rmdir(fs->context, old);
    }
    free(old);
    return status;
}

static mshard_status choose_folder(struct mshi_publish *p, mshard_error *err)
{
    struct mshi_folder_contents contents;

    if (p->overwrite || mshi_path_kind(p->target, NULL) == MSHI_MISSING)
        MSHI_TRY(settle_old(p, err));
    switch (mshi_path_kind(p->target, NULL)) {
    case MSHI_MISSING:
        MSHI_TRY(mshi_strdup(p->target, &p->folder, err));
        return make_folder(p, p->folder, err);
    case MSHI_FILE:
    case MSHI_OTHER:
        return mshi_fail(err, MSHARD_E_EXISTS, p->target, MSHARD_NO_OFFSET,
                         "a data set is a folder, and something else is there");
    case MSHI_FOLDER:
        break;
    }
    MSHI_TRY(mshi_folder_look(p->target, &contents, err));
    if (contents.manifest && p->overwrite)
        return begin_replacing(p, &contents, err);
    if (contents.manifest)
        return mshi_fail(err, MSHARD_E_EXISTS, p->target, MSHARD_NO_OFFSET, "a data set is there already");
    if (contents.entries > 0 && !contents.work)
        return mshi_fail(err, MSHARD_E_EXISTS, p->target, MSHARD_NO_OFFSET, "the folder is not empty");
    return mshi_strdup(p->target, &p->folder, err);
}

static mshard_status begin(struct mshi_publish *p, mshard_error *err)
{
    struct mshi_folder_contents contents;

    MSHI_TRY(choose_folder(p, err));
    MSHI_TRY(mshi_path_join(p->folder, MSHI_WORK_FOLDER, &p->work, err));
    MSHI_TRY(mshi_work_lock(p->fs, p->folder, p->target, &p->lock_fd, err));
    MSHI_TRY(mshi_folder_look(p->folder, &contents, err));
    if (contents.manifest && !p->replacing) { /* another writer came to its end since we looked */
        p->made_folder = false;
        mshi_work_unlock(p->fs, p->folder, true, &p->lock_fd);
        return mshi_fail(err, MSHARD_E_EXISTS, p->target, MSHARD_NO_OFFSET, "a data set is there already");
    }
    if (!mshi_work_clean(p->fs, p->folder))
        return mshi_fail(err, MSHARD_E_IO, p->folder, MSHARD_NO_OFFSET,
                         "cannot remove what an unfinished writer left here");
    return MSHARD_OK;
}

/* target without slashes at the end, links followed; parent: the folder it is in. */
static mshard_status set_paths(struct mshi_publish *p, const char *target, mshard_error *err)
{
    char *plain, *slash;
    size_t length;
    mshard_status status;

    if (target == NULL || target[0] == '\0')
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "the path of the data set is empty");
    MSHI_TRY(mshi_strdup(target, &plain, err));
    for (length = strlen(plain); length > 1 && plain[length - 1] == '/'; length--)
        plain[length - 1] = '\0';
    status = mshi_path_resolve(plain, &p->target, err);
    free(plain);
    if (status != MSHARD_OK)
        return status;
    slash = strrchr(p->target, '/');
    if (slash == NULL)
        return mshi_strdup(".", &p->parent, err);
    MSHI_TRY(mshi_strdup(p->target, &p->parent, err));
    p->parent[slash == p->target ? 1 : slash - p->target] = '\0';
    return MSHARD_OK;
}

mshard_status mshi_publish_begin(struct mshi_publish *p, const struct mshi_fs *fs, const char *target, bool overwrite,
                                 bool sync, mshard_error *err)
{
    mshard_status status;

    *p = (struct mshi_publish){.fs = fs, .lock_fd = -1, .old_fd = -1, .sync = sync, .overwrite = overwrite};
    status = set_paths(p, target, err);
    if (status == MSHARD_OK)
        status = begin(p, err);
    if (status != MSHARD_OK)
        mshi_publish_end(p);
    return status;
}

mshard_status mshi_publish_shard_paths(const struct mshi_publish *p, uint64_t shard, char **temp, char **final,
                                       mshard_error *err)
{
    char name[48];
    mshard_status status;

    *temp = *final = NULL;
    (void)snprintf(name, sizeof(name), "shard-%06" PRIu64 ".tmp", shard);
    MSHI_TRY(mshi_path_join(p->work, name, temp, err));
    (void)snprintf(name, sizeof(name), "shard-%06" PRIu64 ".mshard", shard);
    status = mshi_path_join(p->folder, name, final, err);
    if (status != MSHARD_OK) {
        free(*temp);
        *temp = NULL;
    }
    return status;
}

static mshard_status sync_folder(const struct mshi_publish *p, const char *path, mshard_error *err)
{
    if (p->sync && p->fs->sync_folder(p->fs->context, path) != 0)
        return mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot sync the folder");
    return MSHARD_OK;
}

/* dataset.json, after having read it as a reader will: what that would refuse is never published. */
static mshard_status write_manifest(struct mshi_publish *p, struct mshi_manifest *manifest, mshard_error *err)
{
    struct mshi_manifest found = {0};
    struct mshi_buf text = {0};
    char *path = NULL;
    mshard_status status = mshi_path_join(p->folder, MSHI_MANIFEST_NAME, &path, err);

    if (status == MSHARD_OK)
        status = mshi_manifest_emit(manifest, &text, err);
    if (status == MSHARD_OK)
        status = mshi_manifest_parse(text.data, text.size, path, true, &found, err);
    if (status == MSHARD_OK) {
        mshi_manifest_clear(&found);
        status = mshi_fs_publish(p->fs, path, text.data, text.size, p->sync, err);
    }
    mshi_buf_clear(&text);
    free(path);
    return status;
}

static bool cannot_exchange(int sys_errno)
{
    return sys_errno == EINVAL || sys_errno == ENOSYS || sys_errno == ENOTSUP || sys_errno == EOPNOTSUPP;
}

/* Without RENAME_EXCHANGE: two renames, with nothing at target in between. */
static mshard_status rename_twice(struct mshi_publish *p, mshard_error *err)
{
    const struct mshi_fs *fs = p->fs;
    char *old;
    int failed = 0;

    MSHI_TRY(append_suffix(p->target, OLD_SUFFIX, &old, err));
    if (fs->rename(fs->context, p->target, old) != 0) {
        failed = errno;
    } else if (fs->rename(fs->context, p->folder, p->target) != 0) {
        failed = errno;
        (void)fs->rename(fs->context, old, p->target);
    } else if (fs->rename(fs->context, old, p->folder) != 0) { /* to where an exchange leaves it */
        char *unused = p->folder;

        p->folder = old;
        old = unused;
    }
    free(old);
    return failed == 0
               ? MSHARD_OK
               : mshi_fail_errno(err, failed, p->target, MSHARD_NO_OFFSET, "cannot put the new data set in its place");
}

static mshard_status swap(struct mshi_publish *p, mshard_error *err)
{
    if (p->fs->exchange(p->fs->context, p->target, p->folder) == 0)
        return MSHARD_OK;
    if (cannot_exchange(errno))
        return rename_twice(p, err);
    return mshi_fail_errno(err, errno, p->target, MSHARD_NO_OFFSET, "cannot put the new data set in its place");
}

static mshard_status replace(struct mshi_publish *p, mshard_error *err)
{
    mshard_status status;

    MSHI_TRY(swap(p, err));
    p->committed = true;
    status = sync_folder(p, p->parent, err);
    if (status != MSHARD_OK && swap(p, NULL) == MSHARD_OK)
        p->committed = false; /* not known to last: the old one stays, and mshi_publish_end removes the new one */
    return status;
}

/* The data set is visible: remove the old one (it bears the other name now), lock files and work folders. */
static void tidy(struct mshi_publish *p)
{
    if (p->old_fd >= 0) {
        const bool gone = mshi_work_clean(p->fs, p->folder);

        mshi_work_unlock(p->fs, p->folder, gone, &p->old_fd);
        if (gone)
            (void)p->fs->rmdir(p->fs->context, p->folder);
    }
    mshi_work_unlock(p->fs, p->target, true, &p->lock_fd);
}

mshard_status mshi_publish_commit(struct mshi_publish *p, struct mshi_manifest *manifest, mshard_error *err)
{
    if (p->lock_fd < 0 || p->committed)
        return mshi_fail(err, MSHARD_E_INVALID, p->target, MSHARD_NO_OFFSET, "nothing is being written here");
    MSHI_TRY(sync_folder(p, p->folder, err)); /* the shards' names */
    if (p->made_folder)
        MSHI_TRY(sync_folder(p, p->parent, err));
    MSHI_TRY(write_manifest(p, manifest, err));
    if (p->replacing)
        MSHI_TRY(replace(p, err));
    p->committed = true;
    tidy(p);
    return MSHARD_OK;
}

/* Remove what was made; an old data set that was to be replaced stays as it was. */
static void withdraw(struct mshi_publish *p)
{
    const bool gone = p->lock_fd >= 0 && mshi_work_clean(p->fs, p->folder);

    mshi_work_unlock(p->fs, p->folder, gone, &p->lock_fd);
    if (p->made_folder)
        (void)p->fs->rmdir(p->fs->context, p->folder); /* if it is empty */
    mshi_work_unlock(p->fs, p->target, true, &p->old_fd);
}

void mshi_publish_end(struct mshi_publish *p)
{
    if (p->fs != NULL && p->committed)
        tidy(p);
    else if (p->fs != NULL)
        withdraw(p);
    free(p->target);
    free(p->parent);
    free(p->folder);
    free(p->work);
    *p = (struct mshi_publish){.lock_fd = -1, .old_fd = -1};
}
