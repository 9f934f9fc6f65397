/*
 * file.h - files and folders: every system call that touches them, so that tests can count, fail and replay
 *
 * Writing goes through struct mshi_fs (tests put a faulty one in its place); reading has plain functions.
 * All functions retry EINTR and finish short transfers; errors name the path and the operation.
 */
#ifndef MSHI_OS_FILE_H
#define MSHI_OS_FILE_H

#include "base/fail.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writing: raw operations, as the system calls (-1 and errno); replaceable ---- */
struct mshi_fs {
    void *context;
    /* read and write, mode 0666, O_CLOEXEC; truncates unless exclusive */
    int (*create)(void *context, const char *path, bool exclusive);
    int (*open)(void *context, const char *path);                                             /* read only, O_CLOEXEC */
    int64_t (*pwrite)(void *context, int fd, const void *data, size_t size, uint64_t offset); /* may be short */
    int64_t (*pread)(void *context, int fd, void *data, size_t size, uint64_t offset);
    int (*truncate)(void *context, int fd, uint64_t size);
    int (*sync)(void *context, int fd); /* fsync */
    int (*sync_folder)(void *context, const char *path);
    /* start writing these pages out; advice */
    void (*write_behind)(void *context, int fd, uint64_t offset, uint64_t size);
    /* wait for write-out, then leave the page cache; advice */
    void (*drop)(void *context, int fd, uint64_t offset, uint64_t size);
    int (*close)(void *context, int fd);
    int (*rename)(void *context, const char *from, const char *to);
    /* swap two names atomically (RENAME_EXCHANGE); EINVAL/ENOSYS when the system cannot */
    int (*exchange)(void *context, const char *a, const char *b);
    int (*unlink)(void *context, const char *path);
    int (*mkdir)(void *context, const char *path); /* mode 0777 */
    int (*rmdir)(void *context, const char *path);
    int (*lock)(void *context, int fd); /* exclusive flock, not waiting: EWOULDBLOCK when another process has it */
};
extern const struct mshi_fs mshi_fs_posix;

/* ---- on top of a mshi_fs ---- */
mshard_status mshi_fs_write_all(const struct mshi_fs *fs, int fd, const void *data, size_t size, uint64_t offset,
                                const char *path, mshard_error *err);
mshard_status mshi_fs_read_all(const struct mshi_fs *fs, int fd, void *data, size_t size, uint64_t offset,
                               const char *path, mshard_error *err); /* TRUNCATED when the file ends before */
/* A whole small file: temp name, write, fsync, rename over path, fsync folder. */
mshard_status mshi_fs_publish(const struct mshi_fs *fs, const char *path, const void *data, size_t size, bool sync,
                              mshard_error *err);
/* Remove a file or a folder with all in it; missing is fine; symbolic links are removed, never followed. */
mshard_status mshi_fs_remove_tree(const struct mshi_fs *fs, const char *path, mshard_error *err);

/* ---- reading ---- */
struct mshi_file {
    int fd; /* -1: not open */
    uint64_t size;
    uint64_t device, inode;
    int64_t mtime_ns;
};
enum mshi_kind { MSHI_MISSING, MSHI_FILE, MSHI_FOLDER, MSHI_OTHER }; /* OTHER: device, socket, fifo, ... */

/* Open for reading. NOT_FOUND, FORMAT (a folder, or not a regular file), IO. Never blocks on a fifo. */
mshard_status mshi_file_open(const char *path, struct mshi_file *file, mshard_error *err);
/* Size and identity of an open descriptor, which is taken into file. */
mshard_status mshi_file_from_fd(int fd, const char *path, struct mshi_file *file, mshard_error *err);
void mshi_file_close(struct mshi_file *file); /* fd -1 does nothing */
/* Up to size bytes at offset; *got is less only at the end of the file. */
mshard_status mshi_file_read(const struct mshi_file *file, void *data, size_t size, uint64_t offset, size_t *got,
                             const char *path, mshard_error *err);
/* A whole file into malloc'd memory with a NUL after it; LIMIT above max bytes. */
mshard_status mshi_file_slurp(const char *path, uint64_t max, char **data, size_t *size, mshard_error *err);
/* Follows symbolic links. *size may be NULL. A dangling link is MISSING. */
enum mshi_kind mshi_path_kind(const char *path, uint64_t *size);
/* Same file behind two paths (device and inode)? */
bool mshi_path_same(const char *a, const char *b);
/* malloc'd "a/b"; b alone when it is absolute or a is empty. */
mshard_status mshi_path_join(const char *a, const char *b, char **out, mshard_error *err);
/* malloc'd name of the folder that path lies in: all before the last "/"; "." without one. */
mshard_status mshi_path_parent(const char *path, char **parent, mshard_error *err);

/* One folder's entries, names sorted bytewise (independent of locale and of the file system). "." and ".." left out. */
struct mshi_entry {
    char *name;
    enum mshi_kind kind;    /* after following links; MISSING: dangling link */
    uint64_t size;          /* of files when with_sizes */
    uint64_t device, inode; /* of the target */
};
mshard_status mshi_folder_list(const char *path, bool with_sizes, struct mshi_entry **entries, size_t *count,
                               mshard_error *err);
void mshi_folder_free(struct mshi_entry *entries, size_t count);

#endif
