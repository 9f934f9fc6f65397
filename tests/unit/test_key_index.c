/*
 * test_key_index.c - keys.mdb: same keys, same bytes; every damaged byte refused; unsound pages refused even under a
 * right checksum; finds from threads and after fork()
 */
#include "base/hash.h"
#include "format/key_index.h"
#include "format/key_pages.h"
#include "os/file.h"
#include "os/thread.h"

#include "support/main.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 3000 };

static char names[KEYS][32];
static struct mshi_key keys[KEYS];

/* step: coprime to KEYS, the order in which they are given. */
static void make_keys(unsigned step)
{
    for (unsigned i = 0; i < KEYS; i++) {
        const unsigned r = i * step % KEYS;
        const int n = snprintf(names[r], sizeof(names[r]), "class%u/image-%u.png", r % 7, r);

        keys[i] = (struct mshi_key){.data = names[r], .size = (size_t)n, .record = r};
    }
}

struct built {
    char path[1024], hash[33];
    uint64_t size;
};

static struct built build(const char *dir, const char *name, uint64_t n)
{
    struct built b;
    mshard_error err;

    snprintf(b.path, sizeof(b.path), "%s/%s", dir, name);
    ck_assert_int_eq(mshi_key_index_build(b.path, keys, n, true, &b.size, b.hash, &err), MSHARD_OK);
    return b;
}

static struct mshi_key_index *open_built(const struct built *b, uint64_t records)
{
    struct mshi_key_index *index;

    ck_assert_int_eq(mshi_key_index_new(b->path, b->size, b->hash, false, records, &index, NULL), MSHARD_OK);
    return index;
}

static mshard_status find(struct mshi_key_index *index, const char *key, uint64_t *record, mshard_error *err)
{
    return mshi_key_index_find(index, key, strlen(key), record, err);
}

static void find_all(struct mshi_key_index *index, unsigned step)
{
    uint64_t record;

    for (unsigned r = 0; r < KEYS; r += step) {
        ck_assert_int_eq(find(index, names[r], &record, NULL), MSHARD_OK);
        ck_assert_uint_eq(record, r);
    }
}

static char *bytes_of(const struct built *b)
{
    char *data;
    size_t size;

    ck_assert_int_eq(mshi_file_slurp(b->path, 1 << 24, &data, &size, NULL), MSHARD_OK);
    ck_assert_uint_eq(size, b->size);
    return data;
}

START_TEST(same_keys_same_bytes)
{
    const char *dir = mshi_test_dir();
    struct mshi_entry *entries;
    struct built a, b;
    size_t count;
    char *x, *y;

    make_keys(1);
    a = build(dir, "a", KEYS);
    make_keys(1103);
    b = build(dir, "b", KEYS);
    ck_assert_str_eq(a.hash, b.hash);
    ck_assert_uint_eq(a.size, b.size);
    x = bytes_of(&a);
    y = bytes_of(&b);
    ck_assert_mem_eq(x, y, a.size);
    free(x);
    free(y);
    struct mshi_key_index *index = open_built(&a, KEYS);
    find_all(index, 1);
    mshi_key_index_free(index);
    ck_assert_int_eq(mshi_folder_list(dir, false, &entries, &count, NULL), MSHARD_OK);
    ck_assert_uint_eq(count, 2); /* no temporary and no lock file stays */
    mshi_folder_free(entries, count);
}
END_TEST

START_TEST(finds_and_does_not_find)
{
    struct built b;
    struct mshi_key_index *index;
    mshard_error err;
    uint64_t record;
    char longest[512];

    make_keys(1);
    memset(longest, 'z', sizeof(longest));
    keys[5] = (struct mshi_key){.data = longest, .size = 511, .record = 5};
    keys[6] = (struct mshi_key){.data = "a\0b\xff", .size = 4, .record = 6};
    b = build(mshi_test_dir(), "k", KEYS);
    index = open_built(&b, KEYS);
    ck_assert_int_eq(mshi_key_index_find(index, longest, 511, &record, &err), MSHARD_OK);
    ck_assert_uint_eq(record, 5);
    ck_assert_int_eq(mshi_key_index_find(index, "a\0b\xff", 4, &record, &err), MSHARD_OK);
    ck_assert_uint_eq(record, 6);
    ck_assert_int_eq(mshi_key_index_find(index, "a\0b", 3, &record, &err), MSHARD_E_NOT_FOUND);
    ck_assert_int_eq(find(index, "class0/image", &record, &err), MSHARD_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "\"class0/image\""));
    ck_assert_int_eq(mshi_key_index_find(index, longest, 512, &record, &err), MSHARD_E_NOT_FOUND);
    ck_assert_int_eq(mshi_key_index_find(index, "", 0, &record, &err), MSHARD_E_NOT_FOUND);
    mshi_key_index_free(index);
    index = open_built(&b, 100); /* of a smaller data set */
    ck_assert_int_eq(find(index, names[99], &record, &err), MSHARD_OK);
    ck_assert_int_eq(find(index, names[100], &record, &err), MSHARD_E_CORRUPT);
    mshi_key_index_free(index);
    mshi_key_index_free(NULL);
}
END_TEST

START_TEST(few_keys_and_none)
{
    const char *dir = mshi_test_dir();
    struct mshi_key_index *index;
    mshard_error err;
    uint64_t record;

    for (uint64_t n = 0; n < 3; n++) {
        make_keys(1);
        const struct built b = build(dir, "few", n);

        index = open_built(&b, 3);
        ck_assert_int_eq(find(index, "none", &record, &err), MSHARD_E_NOT_FOUND);
        for (uint64_t i = 0; i < n; i++) {
            ck_assert_int_eq(find(index, names[i], &record, &err), MSHARD_OK);
            ck_assert_uint_eq(record, i);
        }
        mshi_key_index_free(index);
    }
}
END_TEST

START_TEST(names_duplicates_and_bad_keys)
{
    const char *dir = mshi_test_dir(), *path = mshi_test_path(dir, "k");
    struct mshi_key two[3] = {{"same", 4, 17}, {"other", 5, 3}, {"same", 4, 9}};
    struct mshi_key empty = {"", 0, 4}, big = {names, 512, 8};
    mshard_error err;
    uint64_t size;
    char hash[33];

    ck_assert_int_eq(mshi_key_index_build(path, two, 3, false, &size, hash, &err), MSHARD_E_EXISTS);
    ck_assert_str_eq(err.message, "records 9 and 17 have the same key \"same\"");
    ck_assert_int_eq(mshi_key_index_build(path, &empty, 1, false, &size, hash, &err), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "record 4"));
    ck_assert_int_eq(mshi_key_index_build(path, &big, 1, false, &size, hash, &err), MSHARD_E_INVALID);
    ck_assert_int_eq(mshi_path_kind(path, NULL), MSHI_MISSING);
    ck_assert_int_eq(mshi_key_index_build(mshi_test_path(dir, "no/k"), two, 2, false, &size, hash, &err),
                     MSHARD_E_NOT_FOUND);
}
END_TEST

/* What a killed run left must not get into the index. */
START_TEST(ignores_old_temporaries)
{
    const char *dir = mshi_test_dir();
    struct built a, b;

    make_keys(1);
    a = build(dir, "a", KEYS);
    make_keys(1);
    ck_assert_int_eq(rename(a.path, mshi_test_path(dir, "b.build")), 0);
    b = build(dir, "b", 10);
    struct mshi_key_index *index = open_built(&b, KEYS);
    uint64_t record;
    ck_assert_int_eq(find(index, names[KEYS - 1], &record, NULL), MSHARD_E_NOT_FOUND);
    mshi_key_index_free(index);
}
END_TEST

START_TEST(refuses_each_flipped_byte)
{
    struct built b;
    mshard_error err;
    uint64_t record;

    make_keys(1);
    b = build(mshi_test_dir(), "k", 300);
    const int fd = open(b.path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    for (uint64_t at = 0; at < b.size; at += at < 300 ? 1 : 37) {
        struct mshi_key_index *index;
        unsigned char was, now;

        ck_assert_int_eq(pread(fd, &was, 1, (off_t)at), 1);
        now = was ^ (unsigned char)(1u << at % 8);
        ck_assert_int_eq(pwrite(fd, &now, 1, (off_t)at), 1);
        index = open_built(&b, KEYS);
        ck_assert_int_eq(find(index, names[0], &record, &err), MSHARD_E_CORRUPT);
        ck_assert_str_eq(err.path, b.path);
        mshi_key_index_free(index);
        ck_assert_int_eq(pwrite(fd, &was, 1, (off_t)at), 1);
    }
    struct mshi_key_index *index = open_built(&b, KEYS);
    ck_assert_int_eq(find(index, names[0], &record, &err), MSHARD_OK);
    mshi_key_index_free(index);
    ck_assert_int_eq(ftruncate(fd, (off_t)b.size - 1), 0);
    index = open_built(&b, KEYS);
    ck_assert_int_eq(find(index, names[0], &record, &err), MSHARD_E_TRUNCATED);
    unlink(b.path);
    ck_assert_int_eq(find(index, names[0], &record, &err), MSHARD_E_NOT_FOUND);
    mshi_key_index_free(index);
    close(fd);
}
END_TEST

/*
 * The checksum can be right and the file hostile. Whatever the page check lets through must be safe for LMDB: no
 * crash, and only "found", "not found" or an error.
 */
START_TEST(unsound_pages_do_not_reach_lmdb)
{
    struct built b;
    uint64_t state = 4242, passed = 0;
    char *good, *data;

    make_keys(1);
    b = build(mshi_test_dir(), "k", 1000);
    good = bytes_of(&b);
    data = malloc(b.size);
    ck_assert_ptr_nonnull(data);
    for (int trial = 0; trial < 3000; trial++) {
        mshard_error err;
        uint64_t record, count;

        memcpy(data, good, b.size);
        for (int flips = 0; flips <= trial % 3; flips++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            const uint64_t page = state % (b.size / 4096); /* mostly where the structure is */
            const uint64_t at = page * 4096 + (state >> 20) % (trial % 4 ? 160 : 4096);
            data[at] = (char)(state >> 40);
        }
        if (mshi_key_pages_check(data, b.size, "k", &count, &err) != MSHARD_OK)
            continue;
        passed++;
        ck_assert_uint_eq(count, 1000);
        ck_assert_int_eq(mshi_fs_publish(&mshi_fs_posix, b.path, data, b.size, false, &err), MSHARD_OK);
        mshi_hash128_hex(mshi_hash128(data, b.size), b.hash);
        struct mshi_key_index *index = open_built(&b, KEYS);
        for (unsigned r = 0; r < 1000; r += 50) {
            const mshard_status status = find(index, names[r], &record, &err);
            ck_assert(status == MSHARD_OK || status == MSHARD_E_NOT_FOUND || status == MSHARD_E_CORRUPT);
        }
        mshi_key_index_free(index);
    }
    ck_assert_uint_gt(passed, 0); /* values and separators may change without harm */
    free(good);
    free(data);
}
END_TEST

START_TEST(page_check_takes_any_bytes)
{
    static char noise[3 * 4096];
    uint64_t state = 9, count;

    for (uint64_t size = 0; size < 200; size++)
        ck_assert_int_eq(mshi_key_pages_check(noise, size, "k", &count, NULL), MSHARD_E_CORRUPT);
    for (int trial = 0; trial < 200; trial++) {
        for (size_t i = 0; i < sizeof(noise); i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            noise[i] = (char)state;
        }
        ck_assert_int_eq(mshi_key_pages_check(noise, sizeof(noise), "k", &count, NULL), MSHARD_E_CORRUPT);
    }
}
END_TEST

START_TEST(replaced_after_first_use)
{
    const char *dir = mshi_test_dir();
    struct built a, b;
    uint64_t record;

    make_keys(1);
    a = build(dir, "a", KEYS);
    struct mshi_key_index *index = open_built(&a, KEYS);
    ck_assert_int_eq(find(index, names[1], &record, NULL), MSHARD_OK);
    make_keys(1);
    for (unsigned i = 0; i < KEYS; i++) /* as big, but other records */
        keys[i].record = (i + 1) % KEYS;
    b = build(dir, "b", KEYS);
    ck_assert_uint_eq(a.size, b.size);
    ck_assert_int_eq(rename(b.path, a.path), 0);
    find_all(index, 10); /* what was opened stays */
    mshi_key_index_free(index);
    index = open_built(&a, KEYS);
    ck_assert_int_eq(find(index, names[1], &record, NULL), MSHARD_E_CORRUPT);
    mshi_key_index_free(index);
}
END_TEST

static void in_child(struct mshi_key_index *index, mshard_status expected)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        uint64_t record = 0;
        mshard_status found = MSHARD_OK;

        for (unsigned r = 0; r < KEYS && found == MSHARD_OK; r += 11) {
            found = find(index, names[r], &record, NULL);
            if (found == MSHARD_OK && record != r)
                _exit(2);
        }
        mshi_key_index_free(index);
        _exit(found == expected ? 0 : 1);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

START_TEST(finds_after_fork)
{
    struct mshi_key_index *index, *checking;
    struct built b;

    make_keys(1);
    b = build(mshi_test_dir(), "k", KEYS);
    index = open_built(&b, KEYS);
    in_child(index, MSHARD_OK); /* opened in the child first */
    find_all(index, 100);
    in_child(index, MSHARD_OK); /* opened before fork() */
    find_all(index, 100);
    ck_assert_int_eq(mshi_key_index_new(b.path, b.size, b.hash, true, KEYS, &checking, NULL), MSHARD_OK);
    find_all(checking, 100);
    in_child(checking, MSHARD_OK);
    ck_assert_int_eq(truncate(b.path, (off_t)b.size + 4096), 0); /* the child opens again, so it looks again */
    in_child(index, MSHARD_E_CORRUPT);
    mshi_key_index_free(index);
    mshi_key_index_free(checking);
}
END_TEST

static void *find_in_thread(void *index)
{
    uint64_t record;

    for (unsigned r = 0; r < KEYS; r++)
        if (find(index, names[r], &record, NULL) != MSHARD_OK || record != r)
            return index;
    return NULL;
}

static void *run_thread(void *argument)
{
    void **const slot = argument; /* in: the index; out: NULL when all is well */

    *slot = find_in_thread(*slot);
    return NULL;
}

START_TEST(finds_from_threads)
{
    enum { THREADS = 6 };
    struct built b;
    mshi_thread threads[THREADS];
    void *slots[THREADS];

    make_keys(1);
    b = build(mshi_test_dir(), "k", KEYS);
    struct mshi_key_index *index = open_built(&b, KEYS); /* all of them race to open it */
    for (int i = 0; i < THREADS; i++) {
        slots[i] = index;
        ck_assert_int_eq(mshi_thread_start(&threads[i], run_thread, &slots[i], "find", NULL), MSHARD_OK);
    }
    for (int i = 0; i < THREADS; i++) {
        mshi_thread_join(threads[i]);
        ck_assert_ptr_null(slots[i]);
    }
    mshi_key_index_free(index);
}
END_TEST

struct walk {
    uint64_t seen;
    char last[32];
};

static mshard_status see(void *context, const void *key, size_t key_size, uint64_t record, mshard_error *err)
{
    struct walk *w = context;
    char name[32];

    (void)err;
    ck_assert_uint_lt(key_size, sizeof(name));
    memcpy(name, key, key_size);
    name[key_size] = '\0';
    ck_assert_str_eq(name, names[record]);
    ck_assert_int_gt(strcmp(name, w->last), 0);
    strcpy(w->last, name);
    return ++w->seen == 2000 ? MSHARD_E_CANCELLED : MSHARD_OK;
}

START_TEST(walks_in_key_order)
{
    struct built b;
    struct walk walk = {.seen = 0};

    make_keys(1);
    b = build(mshi_test_dir(), "k", 1500);
    struct mshi_key_index *index = open_built(&b, KEYS);
    ck_assert_int_eq(mshi_key_index_walk(index, see, &walk, NULL), MSHARD_OK);
    ck_assert_uint_eq(walk.seen, 1500);
    walk.seen = 1990;
    walk.last[0] = '\0';
    ck_assert_int_eq(mshi_key_index_walk(index, see, &walk, NULL), MSHARD_E_CANCELLED);
    ck_assert_uint_eq(walk.seen, 2000);
    mshi_key_index_free(index);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("key_index");
    TCase *tests = tcase_create("key_index");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, same_keys_same_bytes);
    tcase_add_test(tests, finds_and_does_not_find);
    tcase_add_test(tests, few_keys_and_none);
    tcase_add_test(tests, names_duplicates_and_bad_keys);
    tcase_add_test(tests, ignores_old_temporaries);
    tcase_add_test(tests, refuses_each_flipped_byte);
    tcase_add_test(tests, unsound_pages_do_not_reach_lmdb);
    tcase_add_test(tests, page_check_takes_any_bytes);
    tcase_add_test(tests, replaced_after_first_use);
    tcase_add_test(tests, finds_after_fork);
    tcase_add_test(tests, finds_from_threads);
    tcase_add_test(tests, walks_in_key_order);
    suite_add_tcase(suite, tests);
    return suite;
}
