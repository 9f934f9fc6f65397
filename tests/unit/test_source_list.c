/* test_source_list.c - CSV and JSON lines: quoting, column types, labels, what is reported by line */
#include "ingest/source.h"

#include "support/main.h"
#include "support/sources.h"

#include <math.h>
#include <string.h>

static struct mshi_test_listing l;
static const char *dir;

static void start(void)
{
    mshi_test_listing_init(&l, NULL);
    dir = mshi_test_dir();
    mshi_test_jpeg(dir, "i/1.jpg");
    mshi_test_jpeg(dir, "i/2.jpg");
}

START_TEST(csv_with_every_kind_of_column)
{
    const char *csv = mshi_test_text(dir, "l.csv",
                                     "\xEF\xBB\xBFpath,label,weight,\"cap,tion\",n\r\n"
                                     "i/1.jpg,cat,0.5,\"a \"\"q\"\", b\",1\r\n"
                                     "i/2.jpg,ant,,\"x\ny\",-2");
    struct mshi_payload payload = {.buffer = NULL};
    double weight;
    int64_t n;

    struct mshi_source *s = mshi_test_open(&l, csv, NULL);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->field_count, 5);
    ck_assert_str_eq(s->fields[3].name, "cap_tion");
    ck_assert_int_eq(s->fields[2].dtype, MSHARD_FLOAT64);
    ck_assert_int_eq(s->fields[3].content, MSHARD_CONTENT_TEXT);
    ck_assert_int_eq(s->fields[4].dtype, MSHARD_INT64);
    ck_assert_str_eq(s->classes[0], "ant");
    ck_assert_int_eq(mshi_test_label(s, 0), 1);
    ck_assert_str_eq(mshi_test_key(s, 1), "i/2.jpg");
    ck_assert_int_eq(s->ops->read(s, 0, &payload, NULL), MSHARD_OK);
    ck_assert_uint_eq(payload.size[0], 11);
    ck_assert_uint_eq(payload.size[3], strlen("a \"q\", b"));
    ck_assert_mem_eq(payload.data[3], "a \"q\", b", payload.size[3]);
    ck_assert_int_eq(s->ops->read(s, 1, &payload, NULL), MSHARD_OK);
    ck_assert_mem_eq(payload.data[3], "x\ny", 3);
    memcpy(&weight, payload.data[2], 8);
    memcpy(&n, payload.data[4], 8);
    ck_assert(isnan(weight));
    ck_assert_int_eq(n, -2);
    mshi_payload_clear(&payload);
    mshi_source_free(s);
}
END_TEST

START_TEST(bad_lines_are_named)
{
    const char *csv = mshi_test_text(dir, "l.csv", "path,label\ni/1.jpg,3\ni/2.jpg\n\ni/9.jpg,1\ni/2.jpg,\n");

    struct mshi_source *s = mshi_test_open(&l, csv, NULL);
    ck_assert_uint_eq(s->count, 1);
    ck_assert_uint_eq(l.problem_count, 3);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "l.csv: line 3: 1 cells, the header has 2"));
    ck_assert_ptr_nonnull(strstr(l.problems[1], "i/9.jpg: no such file (line 5 of "));
    ck_assert_ptr_nonnull(strstr(l.problems[2], "line 6: no label"));
    ck_assert_int_eq(mshi_test_label(s, 0), 3);
    ck_assert_uint_eq(s->class_count, 0);
    mshi_source_free(s);
}
END_TEST

START_TEST(json_lines)
{
    const char *jsonl = mshi_test_text(dir, "m.jsonl",
                                       "{\"file_name\": \"i/1.jpg\", \"label\": \"7\"}\n\n"
                                       "not json\n{\"label\": 3}\n[1]\n"
                                       "{\"note\": \"late\", \"label\": \"x\", \"file_name\": \"i/2.jpg\"}");

    struct mshi_source *s = mshi_test_open(&l, jsonl, NULL);
    ck_assert_uint_eq(s->count, 1); /* the first line lacks the note the last one has */
    ck_assert_str_eq(mshi_test_key(s, 0), "i/2.jpg");
    ck_assert_uint_eq(l.problem_count, 4);
    ck_assert_ptr_nonnull(strstr(l.problems[0], "line 3: "));
    ck_assert_ptr_nonnull(strstr(l.problems[1], "line 5: not a JSON object"));
    mshi_source_free(s);
}
END_TEST

START_TEST(labels_by_class_list)
{
    const char *csv = mshi_test_text(dir, "l.csv", "file,class\ni/1.jpg,one\ni/2.jpg,zero\n");
    const char *numbers = mshi_test_text(dir, "n.csv", "file,class\ni/1.jpg,1\ni/2.jpg,0\n");
    const char *wrong = mshi_test_text(dir, "w.csv", "file,class\ni/1.jpg,1\ni/2.jpg,5\n");
    char message[1600];

    l.options.labels = mshi_test_text(dir, "classes", "zero\none\n");
    struct mshi_source *s = mshi_test_open(&l, csv, NULL);
    ck_assert_int_eq(mshi_test_label(s, 0), 1);
    mshi_source_free(s);
    s = mshi_test_open(&l, numbers, NULL);
    ck_assert_int_eq(mshi_test_label(s, 0), 1);
    ck_assert_str_eq(s->classes[1], "one");
    mshi_source_free(s);
    ck_assert_int_eq(mshi_test_refused(&l, wrong, message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "is not in the class list"));
}
END_TEST

START_TEST(lists_that_are_none)
{
    char message[1600];

    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_text(dir, "a.csv", "a,b\n1,2\n"), message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "found: a, b"));
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_text(dir, "b.csv", "path\n\"i/1.jpg\n"), message),
                     MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "line 2: a quote that is never closed"));
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_write(dir, "c.csv", "\xFF\xFEp\0", 4), message), MSHARD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(message, "UTF-16"));
    ck_assert_int_eq(mshi_test_refused(&l, mshi_test_text(dir, "d.csv", "path,path\n"), message), MSHARD_E_FORMAT);
}
END_TEST

START_TEST(a_path_twice_only_without_keys)
{
    const char *csv = mshi_test_text(dir, "l.csv", "path\ni/1.jpg\ni/1.jpg\n");

    struct mshi_source *s = mshi_test_open(&l, csv, NULL);
    ck_assert_uint_eq(s->count, 2);
    mshi_source_free(s);
    l.options.keys = 1;
    s = mshi_test_open(&l, csv, NULL);
    ck_assert_uint_eq(s->count, 1);
    ck_assert_uint_eq(l.problem_count, 1);
    mshi_source_free(s);
}
END_TEST

Suite *mshi_suite(void)
{
    Suite *suite = suite_create("source_list");
    TCase *c = tcase_create("list");

    tcase_add_checked_fixture(c, start, NULL);
    tcase_add_test(c, csv_with_every_kind_of_column);
    tcase_add_test(c, bad_lines_are_named);
    tcase_add_test(c, json_lines);
    tcase_add_test(c, labels_by_class_list);
    tcase_add_test(c, lists_that_are_none);
    tcase_add_test(c, a_path_twice_only_without_keys);
    suite_add_tcase(suite, c);
    return suite;
}
