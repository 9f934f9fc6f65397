/* test_source_archive.c - archives of class folders and any bytes; links, doubles, cuts, limits; npz members */
#include "ingest/source.h"

#include "support/main.h"
#include "support/sources.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static struct mshi_test_listing l;
static const char *dir;
static struct mshi_test_tar tar;
static uint8_t packed[sizeof(tar.data) + 4096];
static const char picture[] = "\xFF\xD8\xFF\xE0picture";

static void start(void)
{
    mshi_test_listing_init(&l, NULL);
    dir = mshi_test_dir();
    l.listing.work_folder = dir;
    tar.size = 0;
}

static void add(const char *name)
{
    mshi_test_tar_add(&tar, name, picture, sizeof(picture) - 1);
}

/* The tar, gzip'd, to dir/name. */
static const char *write_packed(const char *name)
{
    mshi_test_tar_write(&tar, dir, "plain.tar");
    return mshi_test_write(dir, name, packed, mshi_test_gzip(tar.data, tar.size + 1024, packed));
}

static void expect_pictures(struct mshi_source *s, uint64_t count)
{
    struct mshi_payload payload = {.buffer = NULL};

    ck_assert_uint_eq(s->count, count);
    for (uint64_t i = 0; i < count; i++) {
        ck_assert_int_eq(s->ops->read(s, i, &payload, NULL), MSHARD_OK);
        ck_assert_uint_eq(payload.size[0], sizeof(picture) - 1);
        ck_assert_mem_eq(payload.data[0], picture, sizeof(picture) - 1);
    }
    mshi_payload_clear(&payload);
}

START_TEST(class_folders_below_one_root)
{
    add("./train/cat/1.jpg");
    add("./train/dog/x/2.jpg");
    add("./train/dog/._2.jpg");
    add("./train/.hidden/3.jpg");
    mshi_test_tar_add(&tar, "./train/README.txt", "words", 5);
    mshi_test_tar_link(&tar, "./train/cat/link.jpg", '2', "/etc/passwd");
    const char *plain = mshi_test_tar_write(&tar, dir, "a.tar"), *gz = write_packed("a.tar.gz");
    for (int mode = 0; mode < 3; mode++) {
        l.options.shuffle = mode == 2;
        struct mshi_source *s = mshi_test_open(&l, mode ? gz : plain, NULL);
        ck_assert_int_eq(s->random_access, mode != 1);
        ck_assert_str_eq(s->kind, "archive");
        ck_assert_str_eq(s->classes[1], "dog");
        ck_assert_str_eq(mshi_test_key(s, 0), "cat/1.jpg");
        ck_assert_str_eq(mshi_test_key(s, 1), "dog/x/2.jpg");
        ck_assert_uint_eq(s->ignored, 4);
        ck_assert_int_eq(mshi_test_label(s, 1), 1);
        expect_pictures(s, 2);
        mshi_source_free(s);
    }
}
END_TEST

START_TEST(hard_links)
{
    add("c/a.jpg");
    mshi_test_tar_link(&tar, "c/b.jpg", '1', "c/a.jpg");
    mshi_test_tar_link(&tar, "c/p.jpg", '1', "/etc/passwd");
    const char *plain = mshi_test_tar_write(&tar, dir, "a.tar"), *gz = write_packed("a.tgz");
    for (int mode = 0; mode < 2; mode++) {
        struct mshi_source *s = mshi_test_open(&l, mode ? gz : plain, NULL);
        expect_pictures(s, 2);
        ck_assert_str_eq(mshi_test_key(s, 1), "c/b.jpg");
        ck_assert_uint_eq(l.problem_count, 1);
        ck_assert_ptr_nonnull(strstr(l.problems[0], "member 'c/p.jpg' is a hard link to '/etc/passwd'"));
        mshi_source_free(s);
    }
}
END_TEST

START_TEST(names_are_only_names)
{
    add("/abs/c/1.jpg");
    add("/abs/../2.jpg");
    add("/abs/c/1.jpg");
    add("abs//c/./3.jpg");
    struct mshi_source *s = mshi_test_open(&l, mshi_test_tar_write(&tar, dir, "a.tar"), NULL);
    expect_pictures(s, 1);
    ck_assert_str_eq(mshi_test_key(s, 0), "c/3.jpg");
    ck_assert_uint_eq(l.problem_count, 2);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "'..' in its name"));
    ck_assert_ptr_nonnull(strstr(l.problems[1], "duplicate member 'abs/c/1.jpg'"));
    mshi_source_free(s);
}
END_TEST

START_TEST(cut_archives)
{
    char message[1600];

    add("c/1.jpg");
    add("c/2.jpg");
    mshi_test_tar_write(&tar, dir, "whole.tar");
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "a.tar", tar.data, tar.size - 510), message),
                     MSHARD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(message, "truncated archive, at or after member 'c/2.jpg'"));
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "a.tar", tar.data, tar.size - 700), message),
                     MSHARD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(message, "c/1.jpg"));
    struct mshi_source *s = mshi_test_open(&l, mshi_test_write(dir, "a.tar", tar.data, tar.size), NULL);
    expect_pictures(s, 2); /* no end mark: accepted, as GNU tar does */
    mshi_source_free(s);
    const size_t size = mshi_test_gzip(tar.data, tar.size, packed);
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "a.tgz", packed, size - 800), message),
                     MSHARD_E_TRUNCATED);
}
END_TEST

/* The tar with its end mark and n bytes behind it, written to dir/name. */
static const char *write_with_junk(const char *name, const char *junk, size_t n)
{
    memset(tar.data + tar.size, 0, 1024);
    memcpy(tar.data + tar.size + 1024, junk, n);
    return mshi_test_write(dir, name, tar.data, tar.size + 1024 + n);
}

START_TEST(bytes_after_the_end_mark_are_left_aside)
{
    static char junk[6000], half_header[400];

    memset(junk, 'x', sizeof(junk));
    memcpy(half_header + 257, "ustar", 5);
    half_header[0] = 'c';
    add("c/1.jpg");
    add("c/2.jpg");
    for (int i = 0; i < 4; i++) {
        const size_t n = (const size_t[]){5, 512, 6000, 5}[i];
        const char *path = write_with_junk("a.tar", junk, n);
        if (i == 3)
            path = mshi_test_write(dir, "a.tgz", packed, mshi_test_gzip(tar.data, tar.size + 1024 + n, packed));
        l.note_count = 0;
        struct mshi_source *s = mshi_test_open(&l, path, NULL);
        char note[64];
        snprintf(note, sizeof(note), "%zu bytes after the end of archive ", n);
        ck_assert_uint_eq(l.note_count, 1);
        ck_assert_ptr_nonnull(strstr(l.notes[0], note));
        ck_assert_ptr_nonnull(strstr(l.notes[0], i == 3 ? "a.tgz are no archive" : "a.tar are no archive"));
        expect_pictures(s, 2);
        mshi_source_free(s);
    }
    /* The begin of another archive is no junk: it is cut. */
    char message[1600];
    ck_assert_int_eq(mshi_test_refused(&l, write_with_junk("a.tar", half_header, sizeof(half_header)), message),
                     MSHARD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(message, "truncated archive, at or after member 'c/2.jpg'"));
    /* Nor is a gzip file that ends too early, be it behind the mark. */
    write_with_junk("a.tar", junk, 5);
    const size_t size = mshi_test_gzip(tar.data, tar.size + 1029, packed);
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "a.tgz", packed, size - 10), message),
                     MSHARD_E_TRUNCATED);
}
END_TEST

START_TEST(second_archive_cut)
{
    char message[1600];
    static struct mshi_test_tar first;

    add("c/1.jpg");
    first = tar;
    tar.size = 0;
    add("c/2.jpg");
    memset(tar.data + tar.size, 0, 1024);
    memcpy(tar.data + tar.size + 1024, first.data, first.size);
    const size_t cut = tar.size + 1024 + 512 + 3; /* three bytes into the second one's member */
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "a.tar", tar.data, cut), message), MSHARD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(message, "member 'c/1.jpg'"));
}
END_TEST

/* libarchive steps over such a header; the member must not be missing silently. */
START_TEST(damaged_header)
{
    char message[1600];

    add("c/1.jpg");
    const size_t second = tar.size;
    add("c/2.jpg");
    add("c/3.jpg");
    tar.data[second + 3] ^= 1;
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_tar_write(&tar, dir, "a.tar"), message), MSHARD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(message, "damaged archive, at or after member 'c/1.jpg'"));
}
END_TEST

START_TEST(two_archives_in_one_file_and_in_one_run)
{
    static struct mshi_test_tar second;

    add("c/1.jpg");
    second = tar;
    tar.size = 0;
    add("c/2.jpg");
    const char *one = mshi_test_tar_write(&tar, dir, "one.tar");
    memcpy(tar.data + tar.size + 1024, second.data, second.size);
    struct mshi_source *s =
        mshi_test_open(&l, mshi_test_write(dir, "both.tar", tar.data, tar.size + 1024 + second.size), NULL);
    expect_pictures(s, 2);
    mshi_source_free(s);
    s = mshi_test_open(&l, one, mshi_test_path(dir, "both.tar"), NULL);
    expect_pictures(s, 2);
    ck_assert_uint_eq(l.problem_count, 1);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "key 'c/2.jpg' is there already in another archive"));
    mshi_source_free(s);
}
END_TEST

START_TEST(limits_and_layouts)
{
    char message[1600];

    add("c/1.jpg");
    mshi_test_tar_add(&tar, "c/2.jpg", packed, 5000);
    l.options.max_member = 1000;
    struct mshi_source *s = mshi_test_open(&l, mshi_test_tar_write(&tar, dir, "a.tar"), NULL);
    expect_pictures(s, 1);
    ck_assert_uint_eq(l.problem_count, 1);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "has 5000 bytes, above the limit of 1000"));
    mshi_source_free(s);
    l.options.max_member = 0;
    tar.size = 0;
    add("1.jpg");
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_tar_write(&tar, dir, "b.tar"), message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "no class folders in it, 1 images at top level"));
    add("c/1.jpg");
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_tar_write(&tar, dir, "b.tar"), message), MSHARD_E_FORMAT);
    tar.size = 0;
    mshi_test_tar_add(&tar, "c/1.dat", "x", 1);
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_tar_write(&tar, dir, "b.tar"), message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "no images in it"));
    l.options.format = "bytes";
    s = mshi_test_open(&l, mshi_test_path(dir, "b.tar"), NULL);
    ck_assert_uint_eq(s->count, 1);
    ck_assert_str_eq(mshi_test_key(s, 0), "c/1.dat");
    mshi_source_free(s);
}
END_TEST

START_TEST(zip_and_names_in_any_locale)
{
    static const char *const locales[] = {"C", "C.UTF-8"};
    const struct mshi_test_member members[] = {{"k\xC3\xA9/\xE9.jpg", picture, sizeof(picture) - 1},
                                               {"__MACOSX/k/._1.jpg", picture, 4}};

    for (int deflate = 0; deflate < 2; deflate++) {
        const char *path = mshi_test_zip(dir, "a.zip", members, 2, deflate);
        for (size_t i = 0; i < 2; i++) {
            setlocale(LC_ALL, locales[i]);
            struct mshi_source *s = mshi_test_open(&l, path, NULL);
            expect_pictures(s, 1);
            ck_assert_str_eq(mshi_test_key(s, 0), "k\xC3\xA9/\\xE9.jpg");
            ck_assert_uint_eq(s->ignored, 1);
            mshi_source_free(s);
        }
    }
}
END_TEST

START_TEST(zip_with_wrong_crc)
{
    const struct mshi_test_member members[] = {{"k/1.jpg", picture, sizeof(picture) - 1}, {"k/2.jpg", picture, 4}};
    const char *path = mshi_test_zip(dir, "a.zip", members, 2, false);
    struct mshi_payload payload = {.buffer = NULL};
    mshard_error error;
    FILE *file = fopen(path, "r+b");

    ck_assert_int_eq(fseek(file, 30 + 7 + 5, SEEK_SET), 0);
    fputc('X', file);
    fclose(file);
    struct mshi_source *s = mshi_test_open(&l, path, NULL);
    ck_assert_int_eq(s->ops->read(s, 0, &payload, &error), MSHARD_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "k/1.jpg"));
    ck_assert_int_eq(s->ops->read(s, 1, &payload, &error), MSHARD_OK);
    mshi_source_free(s);
    l.options.shuffle = 1;
    s = mshi_test_open(&l, path, NULL);
    ck_assert_uint_eq(s->count, 1);
    ck_assert_uint_eq(l.problem_count, 1);
    mshi_source_free(s);
    mshi_payload_clear(&payload);
}
END_TEST

START_TEST(npz_members)
{
    uint8_t x[300], y[300], scalar[300];
    char named[600], message[1600];
    struct mshi_test_member members[] = {{"x.npy", x, mshi_test_npy(x, "'|u1'", false, "(3, 2)", "abcdef", 6)},
                                         {"y.npy", y, mshi_test_npy(y, "'<i2'", false, "(3,)", "\1\0\2\0\3\0", 6)},
                                         {"z.npy", scalar, mshi_test_npy(scalar, "'|u1'", false, "()", "x", 1)}};
    struct mshi_payload payload = {.buffer = NULL};

    for (int deflate = 0; deflate < 2; deflate++) {
        struct mshi_source *s = mshi_test_open(&l, mshi_test_zip(dir, "a.npz", members, 2, deflate), NULL);
        ck_assert_str_eq(s->kind, "npz");
        ck_assert_uint_eq(s->field_count, 2);
        ck_assert_int_eq(s->fields[1].content, MSHARD_CONTENT_LABEL);
        ck_assert_int_eq(s->ops->read_run(s, 0, 3, &payload, NULL), MSHARD_OK);
        ck_assert_mem_eq(payload.data[0], "abcdef", 6);
        ck_assert_mem_eq(payload.data[1], "\1\0\2\0\3\0", 6);
        mshi_source_free(s);
    }
    mshi_payload_clear(&payload);
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_zip(dir, "b.npz", members, 3, true), message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "b.npz:z.npy: "));
    ck_assert_ptr_nonnull(strstr(message, "NAME=FILE.npz:MEMBER"));
    snprintf(named, sizeof(named), "v=%s:x", mshi_test_path(dir, "b.npz"));
    struct mshi_source *s = mshi_test_open(&l, named, NULL);
    ck_assert_uint_eq(s->field_count, 1);
    ck_assert_str_eq(s->fields[0].name, "v");
    mshi_source_free(s);
    members[1].size = mshi_test_npy(y, "'<i2'", false, "(2,)", "\1\0\2\0", 4);
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_zip(dir, "c.npz", members, 2, false), message), MSHARD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(message, "x has 3 rows, y has 2"));
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("source_archive");
    TCase *c = tcase_create("archive");

    tcase_add_checked_fixture(c, start, NULL);
    tcase_add_test(c, class_folders_below_one_root);
    tcase_add_test(c, hard_links);
    tcase_add_test(c, names_are_only_names);
    tcase_add_test(c, cut_archives);
    tcase_add_test(c, bytes_after_the_end_mark_are_left_aside);
    tcase_add_test(c, second_archive_cut);
    tcase_add_test(c, damaged_header);
    tcase_add_test(c, two_archives_in_one_file_and_in_one_run);
    tcase_add_test(c, limits_and_layouts);
    tcase_add_test(c, zip_and_names_in_any_locale);
    tcase_add_test(c, zip_with_wrong_crc);
    tcase_add_test(c, npz_members);
    suite_add_tcase(suite, c);
    return suite;
}
