/* test_source_folder.c - class folders, flat folders, any bytes: labels, order, what is left aside, links */
#include "ingest/source.h"

#include "support/main.h"
#include "support/sources.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mshi_test_listing l;

static void start(void)
{
    mshi_test_listing_init(&l, NULL);
}

START_TEST(class_numbers_follow_byte_order)
{
    const char *dir = mshi_test_dir();

    mshi_test_jpeg(dir, "1/a.png");
    mshi_test_jpeg(dir, "2/a.png");
    mshi_test_jpeg(dir, "10/deep/er/a.png");
    struct mshi_source *s = mshi_test_open(&l, dir, NULL);
    ck_assert_uint_eq(s->class_count, 3);
    ck_assert_str_eq(s->classes[0], "1");
    ck_assert_str_eq(s->classes[1], "10");
    ck_assert_str_eq(s->classes[2], "2");
    ck_assert_str_eq(mshi_test_key(s, 0), "1/a.png");
    ck_assert_str_eq(mshi_test_key(s, 1), "10/deep/er/a.png");
    ck_assert_int_eq(mshi_test_label(s, 1), 1);
    ck_assert_int_eq(mshi_test_label(s, 2), 2);
    ck_assert_str_eq(s->kind, "folder");
    mshi_source_free(s);
}
END_TEST

START_TEST(extensions_in_any_case_and_none)
{
    static const char *const names[] = {"a/1.jpg", "a/2.JPG", "a/3.JPEG", "a/4.Png", "a/5.jpeg", "a/noextension"};
    const char *dir = mshi_test_dir();

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        mshi_test_jpeg(dir, names[i]);
    mshi_test_text(dir, "a/README", "words");
    mshi_test_text(dir, "a/LICENSE.txt", "words");
    mshi_test_text(dir, ".DS_Store", "x");
    mshi_test_text(dir, "a/.DS_Store", "x");
    mshi_test_text(dir, "a/Thumbs.db", "x");
    mshi_test_jpeg(dir, "a/._1.jpg");
    mshi_test_jpeg(dir, "__MACOSX/a/1.jpg");
    struct mshi_source *s = mshi_test_open(&l, dir, NULL);
    ck_assert_uint_eq(s->count, 6);
    ck_assert_uint_eq(s->class_count, 1);
    ck_assert_uint_eq(s->ignored, 7);
    ck_assert_uint_eq(l.note_count, 2);
    ck_assert_ptr_nonnull(strstr(l.notes[1], "1 .txt"));
    mshi_source_free(s);
    l.options.format = "bytes";
    s = mshi_test_open(&l, dir, NULL);
    ck_assert_uint_eq(s->count, 8);
    ck_assert_str_eq(s->fields[0].name, "data");
    mshi_source_free(s);
}
END_TEST

START_TEST(links_end_and_count_once)
{
    const char *dir = mshi_test_dir(), *other = mshi_test_dir();

    mshi_test_jpeg(dir, "a/x.jpg");
    mshi_test_jpeg(other, "y.jpg");
    ck_assert_int_eq(symlink("..", mshi_test_path(dir, "a/loop")), 0);
    ck_assert_int_eq(symlink(".", mshi_test_path(dir, "self")), 0);
    ck_assert_int_eq(symlink(other, mshi_test_path(dir, "b")), 0);
    ck_assert_int_eq(symlink("nowhere", mshi_test_path(dir, "a/dangling.jpg")), 0);
    struct mshi_source *s = mshi_test_open(&l, dir, NULL);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_str_eq(mshi_test_key(s, 0), "a/x.jpg");
    ck_assert_str_eq(mshi_test_key(s, 1), "b/y.jpg");
    ck_assert_uint_eq(l.problem_count, 1);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "a/dangling.jpg: the link leads nowhere"));
    mshi_source_free(s);
}
END_TEST

START_TEST(a_class_list_fixes_numbers)
{
    const char *dir = mshi_test_dir(), *lists = mshi_test_dir();
    char message[1600];

    mshi_test_jpeg(dir, "0/a.png");
    mshi_test_jpeg(dir, "270/a.png");
    mshi_test_jpeg(dir, "90/a.png");
    l.options.labels = mshi_test_text(lists, "classes",
                                      "\xEF\xBB\xBF"
                                      "0\r\n180\r\n270\r\n90\r\n\r\n");
    struct mshi_source *s = mshi_test_open(&l, dir, NULL);
    ck_assert_uint_eq(s->class_count, 4);
    ck_assert_int_eq(mshi_test_label(s, 0), 0);
    ck_assert_int_eq(mshi_test_label(s, 1), 2);
    ck_assert_int_eq(mshi_test_label(s, 2), 3);
    mshi_source_free(s);
    mshi_test_jpeg(dir, "45/a.png");
    ck_assert_int_eq(mshi_test_refused(&l, dir, message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "class folder '45' is not in the class list"));
    l.options.labels = mshi_test_text(lists, "twice", "0\n1\n0\n");
    ck_assert_int_eq(mshi_test_refused(&l, dir, message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "line 3 repeats class '0' of line 1"));
}
END_TEST

START_TEST(other_layouts_are_told)
{
    const char *dir = mshi_test_dir(), *empty = mshi_test_dir();
    char message[1600];

    ck_assert_int_eq(mshi_test_refused(&l, empty, message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "no class folders and no images"));
    mshi_test_jpeg(dir, "1.jpg");
    mshi_test_jpeg(dir, "2.jpg");
    ck_assert_int_eq(mshi_test_refused(&l, dir, message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, ", 2 images at top level; use --format flat"));
    l.options.format = "flat";
    struct mshi_source *s = mshi_test_open(&l, dir, NULL);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->field_count, 1);
    mshi_source_free(s);
    l.options.format = NULL;
    mshi_test_jpeg(dir, "a/3.jpg");
    ck_assert_int_eq(mshi_test_refused(&l, dir, message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "2 images at top level beside 1 class folders"));
    l.options.format = "foldr";
    ck_assert_int_eq(mshi_test_refused(&l, dir, message), MSHARD_E_INVALID);
}
END_TEST

START_TEST(empty_classes_are_all_named)
{
    const char *dir = mshi_test_dir();

    mshi_test_jpeg(dir, "a/3.jpg");
    ck_assert_int_eq(mkdir(mshi_test_path(dir, "e1"), 0777), 0);
    ck_assert_int_eq(mkdir(mshi_test_path(dir, "e2"), 0777), 0);
    struct mshi_source *s = mshi_test_open(&l, dir, NULL);
    ck_assert_uint_eq(l.problem_count, 2);
    ck_assert_ptr_nonnull(strstr(l.problems[1], "class folder 'e2' holds no image"));
    ck_assert_uint_eq(s->class_count, 1);
    mshi_source_free(s);
}
END_TEST

START_TEST(folders_merge_by_class_name)
{
    const char *one = mshi_test_dir(), *two = mshi_test_dir();

    mshi_test_jpeg(one, "b/1.jpg");
    mshi_test_jpeg(two, "a/1.jpg");
    mshi_test_jpeg(two, "b/2.jpg");
    struct mshi_source *s = mshi_test_open(&l, one, two, NULL);
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(s->class_count, 2);
    ck_assert_int_eq(mshi_test_label(s, 0), 1);
    ck_assert_int_eq(mshi_test_label(s, 1), 0);
    mshi_source_free(s);
    s = mshi_test_open(&l, two, two, NULL);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(l.problem_count, 2);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "key 'a/1.jpg' is there already"));
    mshi_source_free(s);
}
END_TEST

START_TEST(names_that_are_no_utf8_are_escaped)
{
    const char *dir = mshi_test_dir();

    mshi_test_jpeg(dir, "\xFF/\xE9.jpg");
    struct mshi_source *s = mshi_test_open(&l, dir, NULL);
    ck_assert_str_eq(mshi_test_key(s, 0), "\\xFF/\\xE9.jpg");
    ck_assert_str_eq(s->classes[0], "\\xFF");
    ck_assert_int_eq(mshi_test_label(s, 0), 0);
    mshi_source_free(s);
}
END_TEST

START_TEST(files_that_change_are_refused)
{
    const char *dir = mshi_test_dir();
    struct mshi_payload payload = {.buffer = NULL};
    mshard_error error;

    mshi_test_jpeg(dir, "a/1.jpg");
    mshi_test_jpeg(dir, "a/2.jpg");
    struct mshi_source *s = mshi_test_open(&l, dir, NULL);
    mshi_test_text(dir, "a/1.jpg", "a longer text than before");
    ck_assert_int_eq(unlink(mshi_test_path(dir, "a/2.jpg")), 0);
    ck_assert_int_eq(s->ops->read(s, 0, &payload, &error), MSHARD_E_IO);
    ck_assert_int_eq(s->ops->read(s, 1, &payload, &error), MSHARD_E_NOT_FOUND);
    mshi_payload_clear(&payload);
    mshi_source_free(s);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("source_folder");
    TCase *c = tcase_create("folder");

    tcase_add_checked_fixture(c, start, NULL);
    tcase_add_test(c, class_numbers_follow_byte_order);
    tcase_add_test(c, extensions_in_any_case_and_none);
    tcase_add_test(c, links_end_and_count_once);
    tcase_add_test(c, a_class_list_fixes_numbers);
    tcase_add_test(c, other_layouts_are_told);
    tcase_add_test(c, empty_classes_are_all_named);
    tcase_add_test(c, folders_merge_by_class_name);
    tcase_add_test(c, names_that_are_no_utf8_are_escaped);
    tcase_add_test(c, files_that_change_are_refused);
    suite_add_tcase(suite, c);
    return suite;
}
