/*
 * test_publish.c - the folder of a data set while it is made: who may write where, and what stays behind
 */
#include "format/publish.h"
#include "format/writer_internal.h"
#include "support/faultfs.h"
#include "support/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) ck_assert_msg((call) == MSHARD_OK, "%s: %s: %s", #call, err.path, err.message)
#define REFUSED(call, status, text)                                                                  \
    do {                                                                                             \
        ck_assert_int_eq(call, status);                                                              \
        ck_assert_int_eq(err.code, status);                                                          \
        ck_assert_msg(strstr(err.message, text) != NULL, "\"%s\" is not in: %s", text, err.message); \
    } while (0)

static mshard_error err;

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

static void make_folder(const char *path)
{
    ck_assert_int_eq(mkdir(path, 0777), 0);
}

static bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static size_t entries(const char *dir)
{
    struct mshi_entry *list;
    size_t n;

    OK(mshi_folder_list(dir, false, &list, &n, &err));
    mshi_folder_free(list, n);
    return n;
}

static mshard_status begin(struct mshi_publish *p, const char *target, bool overwrite)
{
    return mshi_publish_begin(p, &mshi_fs_posix, target, overwrite, true, &err);
}

/* A data set of one record whose value is v. */
static mshard_status pack(const struct mshi_fs *fs, const char *path, bool overwrite, uint8_t v)
{
    const mshard_field field = {.name = "v", .dtype = MSHARD_UINT8};
    const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .overwrite = overwrite, .no_sync = 1};
    mshard_writer *w;
    mshard_status status = mshi_writer_create_on(fs, path, &field, 1, &options, &w, &err);

    if (status != MSHARD_OK)
        return status;
    status = mshard_writer_write(w, &(mshard_value){&v, 1, NULL}, NULL, 0, &err);
    if (status == MSHARD_OK)
        status = mshard_writer_commit(w, &err);
    mshard_writer_unref(w);
    return status;
}

/* The value in the data set at path; its folder holds nothing else. */
static int value_at(const char *path)
{
    char *data;
    size_t size;
    int v;

    OK(mshi_file_slurp(mshi_test_path(path, "shard-000000.mshard"), 1 << 20, &data, &size, &err));
    v = (unsigned char)data[4096];
    free(data);
    ck_assert(exists(mshi_test_path(path, "dataset.json")));
    ck_assert_uint_eq(entries(path), 2);
    return v;
}

START_TEST(fresh_folder)
{
    const char *dir = mshi_test_dir(), *target = mshi_test_path(dir, "out");
    struct mshi_publish p;
    char *temp, *final;

    OK(begin(&p, target, _i == 1));
    ck_assert_str_eq(p.folder, target);
    ck_assert(exists(mshi_test_path(target, ".mshard-pack/lock")));
    OK(mshi_publish_shard_paths(&p, 7, &temp, &final, &err));
    ck_assert_str_eq(temp, mshi_test_path(target, ".mshard-pack/shard-000007.tmp"));
    ck_assert_str_eq(final, mshi_test_path(target, "shard-000007.mshard"));
    put(temp, "x");
    put(final, "x");
    free(temp);
    free(final);
    mshi_publish_end(&p);
    ck_assert_uint_eq(entries(dir), 0);
    mshi_publish_end(&p); /* again does nothing */
}
END_TEST

START_TEST(zeroed_struct)
{
    struct mshi_publish p;

    memset(&p, 0, sizeof(p));
    mshi_publish_end(&p);
}
END_TEST

START_TEST(existing_empty_folder_stays)
{
    const char *dir = mshi_test_dir(), *target = mshi_test_path(dir, "out");
    struct mshi_publish p;

    make_folder(target);
    OK(begin(&p, target, false));
    mshi_publish_end(&p);
    ck_assert(exists(target));
    ck_assert_uint_eq(entries(target), 0);
    OK(pack(&mshi_fs_posix, target, false, 5));
    ck_assert_int_eq(value_at(target), 5);
}
END_TEST

START_TEST(forms_of_the_path)
{
    const char *dir = mshi_test_dir();

    OK(pack(&mshi_fs_posix, mshi_test_path(dir, "slash///"), false, 1));
    ck_assert_int_eq(value_at(mshi_test_path(dir, "slash")), 1);
    OK(pack(&mshi_fs_posix, mshi_test_path(dir, "slash/"), true, 2));
    ck_assert_int_eq(value_at(mshi_test_path(dir, "slash")), 2);
    ck_assert_int_eq(chdir(dir), 0);
    OK(pack(&mshi_fs_posix, "relative", false, 3));
    ck_assert_int_eq(value_at(mshi_test_path(dir, "relative")), 3);
    OK(pack(&mshi_fs_posix, "./relative/", true, 4));
    ck_assert_int_eq(value_at("relative"), 4);
    OK(pack(&mshi_fs_posix, "slash/../dots", false, 6));
    ck_assert_int_eq(value_at("dots"), 6);
    ck_assert_uint_eq(entries(dir), 3);
    REFUSED(pack(&mshi_fs_posix, "", false, 4), MSHARD_E_INVALID, "empty");
    REFUSED(pack(&mshi_fs_posix, NULL, false, 4), MSHARD_E_INVALID, "empty");
    REFUSED(pack(&mshi_fs_posix, "/", false, 4), MSHARD_E_EXISTS, "not empty");
}
END_TEST

START_TEST(parent_is_missing)
{
    const char *dir = mshi_test_dir();

    REFUSED(pack(&mshi_fs_posix, mshi_test_path(dir, "no/such/out"), _i == 1, 1), MSHARD_E_NOT_FOUND, "does not exist");
    ck_assert_str_eq(err.path, mshi_test_path(dir, "no/such"));
    put(mshi_test_path(dir, "file"), "x");
    REFUSED(pack(&mshi_fs_posix, mshi_test_path(dir, "file/out"), _i == 1, 1), MSHARD_E_NOT_FOUND, "not a folder");
    ck_assert_str_eq(err.path, mshi_test_path(dir, "file"));
    ck_assert_uint_eq(entries(dir), 1);
}
END_TEST

START_TEST(parent_is_not_writable)
{
    const char *dir = mshi_test_dir();

    ck_assert_int_eq(chmod(dir, 0555), 0);
    if (access(dir, W_OK) != 0) { /* root writes anywhere */
        ck_assert_int_eq(pack(&mshi_fs_posix, mshi_test_path(dir, "out"), false, 1), MSHARD_E_IO);
        ck_assert_str_eq(err.path, mshi_test_path(dir, "out"));
        ck_assert_int_ne(err.sys_errno, 0);
    }
    ck_assert_int_eq(chmod(dir, 0755), 0);
}
END_TEST

START_TEST(something_else_is_there)
{
    const char *dir = mshi_test_dir(), *file = mshi_test_path(dir, "file"), *full = mshi_test_path(dir, "full");
    const char *note = mshi_test_path(full, "note.txt"), *fifo = mshi_test_path(dir, "fifo");

    put(file, "mine");
    REFUSED(pack(&mshi_fs_posix, file, _i == 1, 1), MSHARD_E_EXISTS, "something else");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    REFUSED(pack(&mshi_fs_posix, fifo, _i == 1, 1), MSHARD_E_EXISTS, "something else");
    make_folder(full);
    put(note, "mine");
    REFUSED(pack(&mshi_fs_posix, full, _i == 1, 1), MSHARD_E_EXISTS, "not empty");
    ck_assert_str_eq(err.path, full);
    ck_assert(exists(file) && exists(note));
    ck_assert_uint_eq(entries(full), 1);
    ck_assert_uint_eq(entries(dir), 3);
}
END_TEST

START_TEST(data_set_is_there)
{
    const char *dir = mshi_test_dir(), *target = mshi_test_path(dir, "out");

    OK(pack(&mshi_fs_posix, target, false, 1));
    REFUSED(pack(&mshi_fs_posix, target, false, 2), MSHARD_E_EXISTS, "data set is there already");
    ck_assert_int_eq(value_at(target), 1);
    OK(pack(&mshi_fs_posix, target, true, 3));
    ck_assert_int_eq(value_at(target), 3);
    ck_assert_uint_eq(entries(dir), 1);
}
END_TEST

START_TEST(overwrite_keeps_what_is_not_ours)
{
    const char *dir = mshi_test_dir(), *target = mshi_test_path(dir, "out"), *other = mshi_test_path(dir, "other");

    OK(pack(&mshi_fs_posix, target, false, 1));
    put(mshi_test_path(target, "notes.txt"), "mine");
    REFUSED(pack(&mshi_fs_posix, target, true, 2), MSHARD_E_EXISTS, "notes.txt");
    ck_assert(exists(mshi_test_path(target, "notes.txt")));
    ck_assert_int_eq(unlink(mshi_test_path(target, "notes.txt")), 0);
    ck_assert_int_eq(value_at(target), 1);

    make_folder(other);
    put(mshi_test_path(other, "dataset.json"), "{\"format\": \"something\"}");
    REFUSED(pack(&mshi_fs_posix, other, true, 2), MSHARD_E_EXISTS, "no mshard data set");
    ck_assert_uint_eq(entries(other), 1);

    make_folder(mshi_test_path(dir, "out.mshard-new"));
    put(mshi_test_path(dir, "out.mshard-new/x"), "mine");
    REFUSED(pack(&mshi_fs_posix, target, true, 2), MSHARD_E_EXISTS, "something else is there");
    ck_assert_str_eq(err.path, mshi_test_path(dir, "out.mshard-new"));
    ck_assert(exists(mshi_test_path(dir, "out.mshard-new/x")));
    ck_assert_int_eq(value_at(target), 1);
}
END_TEST

/* Nothing is ever removed through a symbolic link. */
START_TEST(symbolic_links)
{
    const char *dir = mshi_test_dir(), *home = mshi_test_path(dir, "home"), *real = mshi_test_path(dir, "real");
    const char *link = mshi_test_path(dir, "link"), *odd = mshi_test_path(dir, "odd");

    make_folder(real);
    ck_assert_int_eq(symlink(real, link), 0);
    OK(pack(&mshi_fs_posix, link, false, 1));
    ck_assert_int_eq(value_at(real), 1);
    OK(pack(&mshi_fs_posix, mshi_test_path(dir, "link/"), true, 2));
    ck_assert_int_eq(value_at(real), 2); /* the folder is replaced, not the link */
    ck_assert_int_eq(value_at(link), 2);
    ck_assert_int_eq(symlink("nowhere", mshi_test_path(dir, "dangling")), 0);
    REFUSED(pack(&mshi_fs_posix, mshi_test_path(dir, "dangling"), false, 1), MSHARD_E_NOT_FOUND, "link");

    make_folder(home);
    put(mshi_test_path(home, "precious"), "mine");
    make_folder(odd);
    ck_assert_int_eq(symlink(home, mshi_test_path(odd, ".mshard-pack")), 0);
    REFUSED(pack(&mshi_fs_posix, odd, false, 1), MSHARD_E_EXISTS, "symbolic link");
    ck_assert_uint_eq(entries(home), 1);
}
END_TEST

START_TEST(second_writer_is_refused)
{
    const char *dir = mshi_test_dir(), *target = mshi_test_path(dir, "out");
    struct mshi_publish first;

    if (_i >= 1)
        OK(pack(&mshi_fs_posix, target, false, 1));
    OK(begin(&first, target, _i >= 1));
    for (int overwrite = 0; overwrite < 2; overwrite++) {
        const mshard_status status = pack(&mshi_fs_posix, target, overwrite != 0, 2);

        ck_assert_int_eq(status, MSHARD_E_EXISTS);
        if (_i == 0 || overwrite != 0)
            ck_assert_str_eq(err.message, "another writer is at work (lock held)");
        ck_assert_str_eq(err.path, target);
    }
    ck_assert(exists(first.work));
    mshi_publish_end(&first);
    if (_i >= 1)
        ck_assert_int_eq(value_at(target), 1);
    ck_assert_uint_eq(entries(dir), _i >= 1 ? 1 : 0);
    OK(pack(&mshi_fs_posix, target, _i >= 1, 3));
    ck_assert_int_eq(value_at(target), 3);
}
END_TEST

static char raced_folder[1024];

/* Another writer comes to its end between our opening of its lock file and our lock. */
static int lock_after_race(void *context, int fd)
{
    if (raced_folder[0] != '\0') {
        ck_assert_int_eq(unlink(mshi_test_path(raced_folder, ".mshard-pack/lock")), 0);
        ck_assert_int_eq(rmdir(mshi_test_path(raced_folder, ".mshard-pack")), 0);
        raced_folder[0] = '\0';
    }
    return mshi_fs_posix.lock(context, fd);
}

START_TEST(lock_of_a_removed_file_is_none)
{
    const char *target = mshi_test_path(mshi_test_dir(), "out");
    struct mshi_fs fs = mshi_fs_posix;
    struct mshi_publish p;

    fs.lock = lock_after_race;
    (void)snprintf(raced_folder, sizeof(raced_folder), "%s", target);
    OK(mshi_publish_begin(&p, &fs, target, false, true, &err));
    ck_assert(exists(mshi_test_path(target, ".mshard-pack/lock")));
    REFUSED(pack(&mshi_fs_posix, target, false, 2), MSHARD_E_EXISTS, "lock held");
    mshi_publish_end(&p);
}
END_TEST

/* A writer killed in the middle leaves a folder that the next one takes over. */
START_TEST(dead_writer_is_cleaned_away)
{
    const char *dir = mshi_test_dir(), *target = mshi_test_path(dir, "out");
    const bool overwrite = _i == 1;
    int status;
    pid_t child;

    if (overwrite)
        OK(pack(&mshi_fs_posix, target, false, 1));
    child = fork();
    if (child == 0) {
        const mshard_field field = {.name = "v", .dtype = MSHARD_UINT8, .ndim = 1, .shape = {100000}};
        const mshard_writer_options options = {MSHARD_WRITER_OPTIONS_INIT, .overwrite = overwrite, .no_sync = 1,
                                               .records_per_shard = 2};
        static uint8_t v[700000];
        const void *data[] = {v};
        mshard_writer *w;

        if (mshard_writer_create(target, &field, 1, &options, &w, NULL) != MSHARD_OK ||
            mshard_writer_write_batch(w, data, 7, NULL) != MSHARD_OK)
            _exit(1);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    if (overwrite) {
        ck_assert(exists(mshi_test_path(dir, "out.mshard-new/shard-000002.mshard")));
        ck_assert(exists(mshi_test_path(target, "dataset.json")));
    } else {
        ck_assert(exists(mshi_test_path(target, "shard-000002.mshard")));
        put(mshi_test_path(target, "notes.txt"), "mine");
    }
    OK(pack(&mshi_fs_posix, target, overwrite, 9));
    if (!overwrite) {
        ck_assert(exists(mshi_test_path(target, "notes.txt")));
        ck_assert_int_eq(unlink(mshi_test_path(target, "notes.txt")), 0);
    }
    ck_assert_int_eq(value_at(target), 9);
    ck_assert_uint_eq(entries(dir), 1);
}
END_TEST

/* Without RENAME_EXCHANGE, also when the writer dies between the two renames or after them. */
START_TEST(two_renames)
{
    const char *dir = mshi_test_dir(), *trash = mshi_test_dir();
    char target[512]; /* outlives the ring of mshi_test_path */
    struct faultfs fault;
    uint64_t n;
    bool gap = false;

    (void)snprintf(target, sizeof(target), "%s/out", dir);
    for (n = 0;; n++) {
        mshard_status status;
        uint64_t count;

        OK(pack(&mshi_fs_posix, target, true, 1));
        faultfs_init(&fault, n == 0 ? FAULTFS_NONE : FAULTFS_CRASH, n, trash);
        fault.no_exchange = true;
        status = pack(&fault.fs, target, true, 2);
        count = fault.count;
        faultfs_end(&fault, FAULTFS_KEEP);
        if (!exists(target)) { /* the window */
            gap = true;
            ck_assert(exists(mshi_test_path(dir, "out.mshard-old/dataset.json")));
            ck_assert_int_ne(status, MSHARD_OK);
            REFUSED(pack(&mshi_fs_posix, target, false, 3), MSHARD_E_EXISTS, "data set is there already");
            ck_assert_int_eq(value_at(target), 1);
        } else if (status == MSHARD_OK && n == 0) {
            ck_assert_int_eq(value_at(target), 2);
        }
        ck_assert(exists(mshi_test_path(target, "dataset.json")));
        OK(pack(&mshi_fs_posix, target, true, 4));
        ck_assert_int_eq(value_at(target), 4);
        ck_assert_uint_eq(entries(dir), 1);
        if (n > count)
            break;
    }
    ck_assert(gap);
    ck_assert_uint_gt(n, 30);
}
END_TEST

START_TEST(work_of_no_writer)
{
    struct mshi_manifest manifest = {0};
    struct mshi_publish p = {.lock_fd = -1};

    ck_assert_int_eq(mshi_publish_commit(&p, &manifest, &err), MSHARD_E_INVALID);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("publish");
    TCase *tests = tcase_create("publish");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, fresh_folder, 0, 2);
    tcase_add_test(tests, zeroed_struct);
    tcase_add_test(tests, existing_empty_folder_stays);
    tcase_add_test(tests, forms_of_the_path);
    tcase_add_loop_test(tests, parent_is_missing, 0, 2);
    tcase_add_test(tests, parent_is_not_writable);
    tcase_add_loop_test(tests, something_else_is_there, 0, 2);
    tcase_add_test(tests, data_set_is_there);
    tcase_add_test(tests, overwrite_keeps_what_is_not_ours);
    tcase_add_test(tests, symbolic_links);
    tcase_add_loop_test(tests, second_writer_is_refused, 0, 2);
    tcase_add_test(tests, lock_of_a_removed_file_is_none);
    tcase_add_loop_test(tests, dead_writer_is_cleaned_away, 0, 2);
    tcase_add_test(tests, two_renames);
    tcase_add_test(tests, work_of_no_writer);
    suite_add_tcase(suite, tests);
    return suite;
}
