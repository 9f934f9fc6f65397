/* test_folder.c - listing in byte order, removing without following links */
#include "os/file.h"

#include "support/main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void touch(const char *dir, const char *name, size_t size)
{
    const int fd = open(mshi_test_path(dir, name), O_WRONLY | O_CREAT, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
    close(fd);
}

START_TEST(lists_in_byte_order)
{
    static const char *const expected[] = {".hidden",  "10",  "9",    "B",    "a",       "b",
                                           "dangling", "dir", "fifo", "link", "\xC3\xA9"};
    enum { COUNT = sizeof(expected) / sizeof(expected[0]) };
    const char *dir = mshi_test_dir();
    struct mshi_entry *entries;
    struct stat st;
    size_t count;

    touch(dir, "b", 7);
    touch(dir, "a", 0);
    touch(dir, "B", 0);
    touch(dir, "10", 0);
    touch(dir, "9", 0);
    touch(dir, "\xC3\xA9", 0);
    touch(dir, ".hidden", 0);
    mkdir(mshi_test_path(dir, "dir"), 0700);
    ck_assert_int_eq(mkfifo(mshi_test_path(dir, "fifo"), 0600), 0);
    ck_assert_int_eq(symlink("gone", mshi_test_path(dir, "dangling")), 0);
    ck_assert_int_eq(symlink("dir", mshi_test_path(dir, "link")), 0);
    ck_assert_int_eq(mshi_folder_list(dir, true, &entries, &count, NULL), MSHARD_OK);
    ck_assert_uint_eq(count, COUNT);
    for (size_t i = 0; i < count; i++)
        ck_assert_str_eq(entries[i].name, expected[i]);
    ck_assert_int_eq(entries[5].kind, MSHI_FILE);
    ck_assert_uint_eq(entries[5].size, 7);
    ck_assert_int_eq(entries[6].kind, MSHI_MISSING);
    ck_assert_int_eq(entries[7].kind, MSHI_FOLDER);
    ck_assert_int_eq(entries[8].kind, MSHI_OTHER);
    ck_assert_int_eq(entries[9].kind, MSHI_FOLDER);
    ck_assert_int_eq(stat(mshi_test_path(dir, "dir"), &st), 0);
    ck_assert_uint_eq(entries[9].inode, st.st_ino);
    ck_assert_uint_eq(entries[9].device, st.st_dev);
    mshi_folder_free(entries, count);
}
END_TEST

START_TEST(lists_many_and_none)
{
    const char *dir = mshi_test_dir();
    struct mshi_entry *entries;
    mshard_error err;
    size_t count;

    ck_assert_int_eq(mshi_folder_list(dir, false, &entries, &count, &err), MSHARD_OK);
    ck_assert_uint_eq(count, 0);
    mshi_folder_free(entries, count);
    for (int i = 0; i < 500; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        touch(dir, name, 1);
    }
    ck_assert_int_eq(mshi_folder_list(dir, false, &entries, &count, &err), MSHARD_OK);
    ck_assert_uint_eq(count, 500);
    ck_assert_uint_eq(entries[3].size, 0);
    for (size_t i = 1; i < count; i++)
        ck_assert_int_lt(strcmp(entries[i - 1].name, entries[i].name), 0);
    mshi_folder_free(entries, count);
    ck_assert_int_eq(mshi_folder_list(mshi_test_path(dir, "none"), false, &entries, &count, &err), MSHARD_E_NOT_FOUND);
    ck_assert_int_eq(mshi_folder_list(mshi_test_path(dir, "7"), false, &entries, &count, &err), MSHARD_E_IO);
    ck_assert_int_eq(err.sys_errno, ENOTDIR);
}
END_TEST

START_TEST(removes_trees_but_no_targets)
{
    const char *dir = mshi_test_dir(), *tree = mshi_test_path(dir, "tree");

    mkdir(tree, 0700);
    mkdir(mshi_test_path(dir, "kept"), 0700);
    touch(dir, "kept/file", 3);
    mkdir(mshi_test_path(tree, "deep"), 0700);
    mkdir(mshi_test_path(tree, "deep/er"), 0700);
    touch(tree, "deep/er/file", 1);
    mkfifo(mshi_test_path(tree, "fifo"), 0600);
    ck_assert_int_eq(symlink("../kept", mshi_test_path(tree, "link")), 0);
    ck_assert_int_eq(symlink("../../kept/file", mshi_test_path(tree, "deep/link")), 0);
    ck_assert_int_eq(mshi_fs_remove_tree(&mshi_fs_posix, tree, NULL), MSHARD_OK);
    ck_assert_int_eq(mshi_path_kind(tree, NULL), MSHI_MISSING);
    ck_assert_int_eq(mshi_path_kind(mshi_test_path(dir, "kept/file"), NULL), MSHI_FILE);
    ck_assert_int_eq(symlink("kept", tree), 0); /* a link itself, also when written with a slash */
    ck_assert_int_eq(mshi_fs_remove_tree(&mshi_fs_posix, mshi_test_path(dir, "tree//"), NULL), MSHARD_OK);
    ck_assert_int_eq(mshi_path_kind(tree, NULL), MSHI_MISSING);
    ck_assert_int_eq(mshi_path_kind(mshi_test_path(dir, "kept/file"), NULL), MSHI_FILE);
    ck_assert_int_eq(mshi_fs_remove_tree(&mshi_fs_posix, tree, NULL), MSHARD_OK); /* missing is fine */
    ck_assert_int_eq(mshi_fs_remove_tree(&mshi_fs_posix, mshi_test_path(dir, "kept/file"), NULL), MSHARD_OK);
    ck_assert_int_eq(mshi_path_kind(mshi_test_path(dir, "kept/file"), NULL), MSHI_MISSING);
}
END_TEST

static int unwilling(void *context, const char *path)
{
    (void)context;
    (void)path;
    errno = EBUSY;
    return -1;
}

START_TEST(says_what_it_cannot_remove)
{
    const char *dir = mshi_test_dir();
    struct mshi_fs fs = mshi_fs_posix;
    mshard_error err;

    mkdir(mshi_test_path(dir, "d"), 0700);
    fs.rmdir = unwilling;
    ck_assert_int_eq(mshi_fs_remove_tree(&fs, mshi_test_path(dir, "d"), &err), MSHARD_E_IO);
    ck_assert_int_eq(err.sys_errno, EBUSY);
    ck_assert_str_eq(err.path, mshi_test_path(dir, "d"));
    touch(dir, "d/f", 0);
    fs.unlink = unwilling;
    ck_assert_int_eq(mshi_fs_remove_tree(&fs, mshi_test_path(dir, "d/f"), &err), MSHARD_E_IO);
    ck_assert_int_eq(mshi_path_kind(mshi_test_path(dir, "d/f"), NULL), MSHI_FILE);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("folder");
    TCase *tests = tcase_create("folder");

    tcase_add_test(tests, lists_in_byte_order);
    tcase_add_test(tests, lists_many_and_none);
    tcase_add_test(tests, removes_trees_but_no_targets);
    tcase_add_test(tests, says_what_it_cannot_remove);
    suite_add_tcase(suite, tests);
    return suite;
}
