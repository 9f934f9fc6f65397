/* test_file.c - files: opening what is none, whole transfers over a faulty mshi_fs, publishing, paths */
#include "os/file.h"

#include "support/main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    return path;
}

START_TEST(opens_files_only)
{
    const char *dir = mshi_test_dir();
    const char *fifo = mshi_test_path(dir, "fifo"), *name = mshi_test_path(dir, "socket");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct mshi_file file;
    mshard_error err;

    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    ck_assert_int_eq(mshi_file_open(fifo, &file, &err), MSHARD_E_FORMAT); /* and does not block */
    ck_assert_int_eq(file.fd, -1);
    ck_assert_int_eq(mshi_file_open(dir, &file, &err), MSHARD_E_FORMAT);
    ck_assert_str_eq(err.message, "file expected, found a folder");
    ck_assert_int_eq(mshi_file_open("/dev/null", &file, &err), MSHARD_E_FORMAT);
    ck_assert_int_eq(mshi_file_open(mshi_test_path(dir, "none"), &file, &err), MSHARD_E_NOT_FOUND);
    ck_assert_str_eq(err.path, mshi_test_path(dir, "none"));
    ck_assert_int_eq(mshi_file_open(mshi_test_path(dir, "fifo/x"), &file, &err), MSHARD_E_IO);
    ck_assert_int_eq(err.sys_errno, ENOTDIR);
    if (strlen(name) < sizeof(address.sun_path)) {
        const int s = socket(AF_UNIX, SOCK_STREAM, 0);

        strcpy(address.sun_path, name);
        ck_assert_int_eq(bind(s, (struct sockaddr *)(void *)&address, sizeof(address)), 0);
        ck_assert_int_eq(mshi_file_open(name, &file, &err), MSHARD_E_FORMAT);
        close(s);
    }
    mshi_file_close(&file);
}
END_TEST

START_TEST(reads_up_to_the_end)
{
    const char *path = write_file(mshi_test_path(mshi_test_dir(), "f"), "0123456789");
    struct mshi_file file;
    char data[20];
    size_t got;

    ck_assert_int_eq(mshi_file_open(path, &file, NULL), MSHARD_OK);
    ck_assert_uint_eq(file.size, 10);
    ck_assert_int_eq(fcntl(file.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(mshi_file_read(&file, data, 4, 3, &got, path, NULL), MSHARD_OK);
    ck_assert_uint_eq(got, 4);
    ck_assert_mem_eq(data, "3456", 4);
    ck_assert_int_eq(mshi_file_read(&file, data, 20, 8, &got, path, NULL), MSHARD_OK);
    ck_assert_uint_eq(got, 2);
    ck_assert_int_eq(mshi_file_read(&file, data, 20, UINT64_MAX, &got, path, NULL), MSHARD_OK);
    ck_assert_uint_eq(got, 0);
    mshi_file_close(&file);
    ck_assert_int_eq(file.fd, -1);
}
END_TEST

START_TEST(slurps_with_a_limit)
{
    const char *path = write_file(mshi_test_path(mshi_test_dir(), "f"), "hello");
    mshard_error err;
    char *data;
    size_t size;

    ck_assert_int_eq(mshi_file_slurp(path, 5, &data, &size, &err), MSHARD_OK);
    ck_assert_uint_eq(size, 5);
    ck_assert_str_eq(data, "hello");
    free(data);
    ck_assert_int_eq(mshi_file_slurp(path, 4, &data, &size, &err), MSHARD_E_LIMIT);
    ck_assert_ptr_null(data);
    /* files of /proc state no size */
    ck_assert_int_eq(mshi_file_slurp("/proc/self/maps", 1 << 24, &data, &size, &err), MSHARD_OK);
    ck_assert_uint_gt(size, 500);
    ck_assert_uint_eq(strlen(data), size);
    free(data);
    ck_assert_int_eq(mshi_file_slurp("/proc/self/maps", 100, &data, &size, &err), MSHARD_E_LIMIT);
}
END_TEST

/* A file system that moves 3 bytes a call, is interrupted each other time and can fail one call. */
struct faulty {
    unsigned calls, fail_at;
    int fail_with;
};

static bool fails(struct faulty *f)
{
    if (++f->calls == f->fail_at) {
        errno = f->fail_with;
        return true;
    }
    return false;
}

static int64_t slow_pwrite(void *context, int fd, const void *data, size_t size, uint64_t offset)
{
    struct faulty *f = context;

    if (fails(f))
        return -1;
    if (f->calls % 2) {
        errno = EINTR;
        return -1;
    }
    return pwrite(fd, data, size < 3 ? size : 3, (off_t)offset);
}

static int64_t slow_pread(void *context, int fd, void *data, size_t size, uint64_t offset)
{
    (void)context;
    return pread(fd, data, size < 3 ? size : 3, (off_t)offset);
}

static int faulty_sync(void *context, int fd)
{
    return fails(context) ? -1 : fsync(fd);
}

static int faulty_rename(void *context, const char *from, const char *to)
{
    return fails(context) ? -1 : rename(from, to);
}

static struct mshi_fs faulty_fs(struct faulty *f)
{
    struct mshi_fs fs = mshi_fs_posix;

    fs.context = f;
    fs.pwrite = slow_pwrite;
    fs.pread = slow_pread;
    fs.sync = faulty_sync;
    fs.rename = faulty_rename;
    return fs;
}

START_TEST(finishes_short_transfers)
{
    const char *path = mshi_test_path(mshi_test_dir(), "f");
    struct faulty faulty = {.fail_at = 0};
    const struct mshi_fs fs = faulty_fs(&faulty);
    mshard_error err;
    char data[32];
    const int fd = fs.create(&faulty, path, true);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fs.create(&faulty, path, true), -1);
    ck_assert_int_eq(errno, EEXIST);
    ck_assert_int_eq(mshi_fs_write_all(&fs, fd, "abcdefghij", 10, 5, path, &err), MSHARD_OK);
    ck_assert_int_eq(mshi_fs_read_all(&fs, fd, data, 10, 5, path, &err), MSHARD_OK);
    ck_assert_mem_eq(data, "abcdefghij", 10);
    ck_assert_int_eq(mshi_fs_read_all(&fs, fd, data, 11, 5, path, &err), MSHARD_E_TRUNCATED);
    ck_assert_uint_eq(err.offset, 15);
    faulty = (struct faulty){.fail_at = 5, .fail_with = ENOSPC};
    ck_assert_int_eq(mshi_fs_write_all(&fs, fd, "abcdefghij", 10, 100, path, &err), MSHARD_E_IO);
    ck_assert_uint_eq(err.offset, 106); /* two pieces of 3 were written */
    ck_assert_int_eq(err.sys_errno, ENOSPC);
    fs.close(&faulty, fd);
}
END_TEST

START_TEST(publishes_all_or_nothing)
{
    const char *dir = mshi_test_dir(), *path = mshi_test_path(dir, "f");
    char *data;
    size_t size;
    unsigned fail_at = 1;

    write_file(path, "old");
    for (;; fail_at++) {
        struct faulty faulty = {.fail_at = fail_at, .fail_with = EIO};
        const struct mshi_fs fs = faulty_fs(&faulty);
        const mshard_status status = mshi_fs_publish(&fs, path, "new text", 8, true, NULL);

        ck_assert_int_eq(mshi_path_kind(mshi_test_path(dir, "f.tmp"), NULL), MSHI_MISSING);
        ck_assert_int_eq(mshi_file_slurp(path, 100, &data, &size, NULL), MSHARD_OK);
        ck_assert_str_eq(data, status == MSHARD_OK ? "new text" : "old");
        free(data);
        if (status == MSHARD_OK)
            break;
        ck_assert_int_eq(status, MSHARD_E_IO);
    }
    ck_assert_uint_eq(fail_at, 9); /* 6 calls of pwrite, sync, rename: each was made to fail once */
    ck_assert_int_eq(mshi_fs_publish(&mshi_fs_posix, mshi_test_path(dir, "no/f"), "x", 1, true, NULL),
                     MSHARD_E_NOT_FOUND);
}
END_TEST

START_TEST(posix_operations)
{
    const char *dir = mshi_test_dir(), *a = mshi_test_path(dir, "a"), *b = mshi_test_path(dir, "b");
    const struct mshi_fs *fs = &mshi_fs_posix;
    int first, second;
    char *data;
    size_t size;

    first = fs->create(NULL, a, false);
    second = open(a, O_RDWR);
    ck_assert_int_eq(fs->lock(NULL, first), 0);
    ck_assert_int_eq(fs->lock(NULL, second), -1);
    ck_assert_int_eq(errno, EWOULDBLOCK);
    ck_assert_int_eq(fs->close(NULL, first), 0);
    ck_assert_int_eq(fs->lock(NULL, second), 0);
    ck_assert_int_eq(fs->pwrite(NULL, second, "1234", 4, 0), 4);
    ck_assert_int_eq(fs->truncate(NULL, second, 2), 0);
    fs->write_behind(NULL, second, 0, 2);
    fs->drop(NULL, second, 0, 2);
    ck_assert_int_eq(fs->sync(NULL, second), 0);
    fs->close(NULL, second);
    write_file(b, "bb");
    if (fs->exchange(NULL, a, b) == 0) {
        ck_assert_int_eq(mshi_file_slurp(a, 10, &data, &size, NULL), MSHARD_OK);
        ck_assert_str_eq(data, "bb");
        free(data);
    } else {
        ck_assert(errno == EINVAL || errno == ENOSYS);
    }
    ck_assert_int_eq(fs->exchange(NULL, a, mshi_test_path(dir, "none")), -1);
    ck_assert_int_eq(fs->sync_folder(NULL, dir), 0);
    ck_assert_int_eq(fs->sync_folder(NULL, a), -1);
    ck_assert_int_eq(fs->mkdir(NULL, mshi_test_path(dir, "d")), 0);
    ck_assert_int_eq(fs->rename(NULL, b, mshi_test_path(dir, "d/b")), 0);
    ck_assert_int_eq(fs->rmdir(NULL, mshi_test_path(dir, "d")), -1);
    ck_assert_int_eq(fs->unlink(NULL, mshi_test_path(dir, "d/b")), 0);
    ck_assert_int_eq(fs->rmdir(NULL, mshi_test_path(dir, "d")), 0);
    ck_assert_int_eq(fs->open(NULL, mshi_test_path(dir, "none")), -1);
}
END_TEST

static void joined(const char *a, const char *b, const char *expected)
{
    char *path;

    ck_assert_int_eq(mshi_path_join(a, b, &path, NULL), MSHARD_OK);
    ck_assert_str_eq(path, expected);
    free(path);
}

static void parent(const char *path, const char *expected)
{
    char *found;

    ck_assert_int_eq(mshi_path_parent(path, &found, NULL), MSHARD_OK);
    ck_assert_str_eq(found, expected);
    free(found);
}

START_TEST(paths)
{
    const char *dir = mshi_test_dir();
    const char *file = write_file(mshi_test_path(dir, "f"), "abc"), *link = mshi_test_path(dir, "l");
    uint64_t size;

    joined("a", "b", "a/b");
    joined("a/", "b", "a/b");
    joined("", "b", "b");
    joined("a", "/b", "/b");
    joined("/", "b", "/b");
    joined("a", "", "a/");
    parent("a/b", "a");
    parent("/a", "/");
    parent("a", ".");
    parent("/x/y/z", "/x/y");
    ck_assert_int_eq(symlink("f", link), 0);
    ck_assert_int_eq(symlink("gone", mshi_test_path(dir, "dangling")), 0);
    ck_assert_int_eq(mshi_path_kind(link, &size), MSHI_FILE);
    ck_assert_uint_eq(size, 3);
    ck_assert_int_eq(mshi_path_kind(dir, &size), MSHI_FOLDER);
    ck_assert_uint_eq(size, 0);
    ck_assert_int_eq(mshi_path_kind("/dev/null", NULL), MSHI_OTHER);
    ck_assert_int_eq(mshi_path_kind(mshi_test_path(dir, "dangling"), NULL), MSHI_MISSING);
    ck_assert(mshi_path_same(file, link));
    ck_assert(!mshi_path_same(file, dir));
    ck_assert(!mshi_path_same(file, mshi_test_path(dir, "dangling")));
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("file");
    TCase *tests = tcase_create("file");

    tcase_add_test(tests, opens_files_only);
    tcase_add_test(tests, reads_up_to_the_end);
    tcase_add_test(tests, slurps_with_a_limit);
    tcase_add_test(tests, finishes_short_transfers);
    tcase_add_test(tests, publishes_all_or_nothing);
    tcase_add_test(tests, posix_operations);
    tcase_add_test(tests, paths);
    suite_add_tcase(suite, tests);
    return suite;
}
