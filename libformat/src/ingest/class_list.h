/*
 * class_list.h - class names: from a list the user gives, or collected while listing and sorted
 *
 * Order is bytewise, as torchvision's ImageFolder has it, unless a list says otherwise.
 */
#ifndef MSHI_INGEST_CLASS_LIST_H
#define MSHI_INGEST_CLASS_LIST_H

#include "ingest/names.h"

/*
 * Read the class list at path: a data set (its folder or dataset.json: the classes of its label field), or a text
 * file with one name a line. Errors: NOT_FOUND, FORMAT (with the line), whatever opening a data set gives.
 */
mshard_status mshi_class_list_load(const char *path, struct mshi_names *list, mshard_error *err);

/* Is this an mshard data set (a folder with dataset.json, or that file)? */
bool mshi_is_data_set(const char *path);

/*
 * The classes of a source: copies of names in their order, or in bytewise order when sorted; (*rank)[i] is then the
 * class of name i (rank may be NULL when not sorted).
 */
mshard_status mshi_class_list_take(const struct mshi_names *names, bool sorted, char ***classes, uint64_t *class_count,
                                   uint64_t **rank, mshard_error *err);

/*
 * Labels as they are written somewhere to numbers: values[i] for text i. Integers stay what they are when all are; else
 * they are class names, sorted bytewise. given (may be NULL) is a class list: texts are names in it, or all are numbers
 * below its length. where is named when a label is not in the list.
 */
mshard_status mshi_label_values(const struct mshi_names *texts, const char *given, const char *where, int64_t *values,
                                char ***classes, uint64_t *class_count, mshard_error *err);

/* A whole decimal integer, with nothing but blanks around it. */
bool mshi_parse_integer(const char *text, size_t size, int64_t *value);

#endif
