/*
 * sample_set.h - a small data set with one field of every sort, and what its values are
 *
 * fields: image uint8 [4,5,3], label int64 (3 classes), half float16 [7], flag bool, text (variable), boxes float32
 * [?,4] (variable, two dimensions), and keys "key-NNNNNN".
 */
#ifndef MSHI_TESTS_SAMPLE_SET_H
#define MSHI_TESTS_SAMPLE_SET_H

#include <mshard/mshard.h>

enum { SET_IMAGE, SET_LABEL, SET_HALF, SET_FLAG, SET_TEXT, SET_BOXES, SET_KEY, SET_FIELDS };

/* The bytes of one value, written to out (room for 4096); returns the size. */
size_t mshi_set_value(uint64_t record, uint32_t field, void *out);
/* Make it at path; fails the test when that does not work. */
void mshi_set_make(const char *path, uint64_t records, uint64_t records_per_shard);

/* Whole small files. */
unsigned char *mshi_set_read(const char *path, size_t *size); /* free() */
void mshi_set_write(const char *path, const void *data, size_t size);
/* Change one byte of a file by xor. */
void mshi_set_flip(const char *path, uint64_t offset, unsigned char with);

#endif
