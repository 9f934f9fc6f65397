/*
 * folder.c - listing folders, removing trees
 *
 * Lists are sorted by the bytes of the names, so they are the same on every file system and in every locale.
 * Removing never opens a symbolic link: it unlinks first and opens (O_NOFOLLOW) only what unlink() refused.
 */
#include "os/file.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct names {
    struct mshi_entry *entries;
    uint64_t count, capacity;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct mshi_entry *)a)->name, ((const struct mshi_entry *)b)->name);
}

static void stat_entry(int folder, struct mshi_entry *entry, bool with_sizes)
{
    struct stat st;

    entry->kind = MSHI_MISSING;
    if (fstatat(folder, entry->name, &st, 0) < 0) {
        /* ENOENT, ENOTDIR, ELOOP: a link to nothing. Else something is there that we may not look at. */
        if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
            entry->kind = MSHI_OTHER;
        return;
    }
    entry->kind = S_ISREG(st.st_mode) ? MSHI_FILE : S_ISDIR(st.st_mode) ? MSHI_FOLDER : MSHI_OTHER;
    entry->device = st.st_dev;
    entry->inode = st.st_ino;
    if (with_sizes && entry->kind == MSHI_FILE)
        entry->size = (uint64_t)st.st_size;
}

/* Read all names of an open folder; closes it. */
static mshard_status read_names(int fd, const char *path, struct names *names, bool with_stat, bool with_sizes,
                                mshard_error *err)
{
    DIR *folder = fdopendir(fd);
    mshard_status status = MSHARD_OK;

    if (!folder) {
        status = mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot list the folder");
        close(fd);
        return status;
    }
    while (status == MSHARD_OK) {
        errno = 0;
        const struct dirent *found = readdir(folder);
        if (!found) {
            if (errno)
                status = mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot list the folder");
            break;
        }
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0)
            continue;
        status = mshi_grow(&names->entries, &names->capacity, names->count + 1, sizeof(*names->entries), err);
        if (status != MSHARD_OK)
            break;
        struct mshi_entry *entry = &names->entries[names->count];
        *entry = (struct mshi_entry){.kind = MSHI_OTHER};
        status = mshi_strdup(found->d_name, &entry->name, err);
        if (status != MSHARD_OK)
            break;
        names->count++;
        if (with_stat)
            stat_entry(dirfd(folder), entry, with_sizes);
    }
    closedir(folder);
    return status;
}

static int open_folder(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    while (fd < 0 && errno == EINTR);
    return fd;
}

mshard_status mshi_folder_list(const char *path, bool with_sizes, struct mshi_entry **entries, size_t *count,
                               mshard_error *err)
{
    struct names names = {.entries = NULL};
    mshard_status status;
    const int fd = open_folder(path, 0);

    *entries = NULL;
    *count = 0;
    if (fd < 0)
        return mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot open the folder");
    status = read_names(fd, path, &names, true, with_sizes, err);
    if (status != MSHARD_OK) {
        mshi_folder_free(names.entries, (size_t)names.count);
        return status;
    }
    if (names.count)
        qsort(names.entries, (size_t)names.count, sizeof(*names.entries), by_name);
    *entries = names.entries;
    *count = (size_t)names.count;
    return MSHARD_OK;
}

void mshi_folder_free(struct mshi_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(entries[i].name);
    free(entries);
}

/* Depth is bounded by the system: a path longer than PATH_MAX fails with ENAMETOOLONG. */
static mshard_status remove_at(const struct mshi_fs *fs, const char *path, mshard_error *err)
{
    struct names names = {.entries = NULL};
    mshard_status status;
    int fd, refused;

    if (fs->unlink(fs->context, path) == 0 || errno == ENOENT)
        return MSHARD_OK;
    refused = errno;
    if (refused != EISDIR && refused != EPERM)
        return mshi_fail_errno(err, refused, path, MSHARD_NO_OFFSET, "cannot remove");
    fd = open_folder(path, O_NOFOLLOW);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        return mshi_fail_errno(err, refused, path, MSHARD_NO_OFFSET, "cannot remove");
    if (fd < 0)
        return errno == ENOENT ? MSHARD_OK
                               : mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot open the folder");
    status = read_names(fd, path, &names, false, false, err);
    for (uint64_t i = 0; i < names.count && status == MSHARD_OK; i++) {
        char *inner;

        status = mshi_path_join(path, names.entries[i].name, &inner, err);
        if (status == MSHARD_OK) {
            status = remove_at(fs, inner, err);
            free(inner);
        }
    }
    mshi_folder_free(names.entries, (size_t)names.count);
    if (status == MSHARD_OK && fs->rmdir(fs->context, path) < 0 && errno != ENOENT)
        status = mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot remove the folder");
    return status;
}

mshard_status mshi_fs_remove_tree(const struct mshi_fs *fs, const char *path, mshard_error *err)
{
    char *plain;
    size_t length = strlen(path);
    mshard_status status;

    MSHI_TRY(mshi_strdup(path, &plain, err));
    while (length > 1 && plain[length - 1] == '/') /* "link/" would name the folder behind the link */
        plain[--length] = '\0';
    status = remove_at(fs, plain, err);
    free(plain);
    return status;
}
