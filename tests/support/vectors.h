/*
 * vectors.h - annotated hex text (spec/vectors/README.md) into files
 */
#ifndef MSHI_TESTS_VECTORS_H
#define MSHI_TESTS_VECTORS_H

#include "base/json.h"
#include <mshard/mshard.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSHI_VECTOR_FILES 8

struct mshi_vector_file {
    char name[160]; /* "" : the only file of a shard vector */
    uint8_t *data;
    size_t size;
    bool deleted;
};

struct mshi_vector {
    struct mshi_vector_file files[MSHI_VECTOR_FILES];
    size_t count;
};

/* "<top source folder>/<name>" in static storage (a ring of 64). */
const char *mshi_source_path(const char *name);

/* Print what and abort unless condition holds: for setting up, where Check's own assertions do not work. */
void mshi_must(bool condition, const char *what);

/* The lines of text, or of the file at path; what cannot be read ends the test. */
void mshi_vector_parse(struct mshi_vector *vector, const char *text, const char *folder);
void mshi_vector_load(struct mshi_vector *vector, const char *path);
void mshi_vector_free(struct mshi_vector *vector);

/* Write the files into the fresh folder dir; returns the path to open: the shard, or dir. */
const char *mshi_vector_write(const struct mshi_vector *vector, const char *dir);

/* A whole file, malloc'd, NUL-terminated. */
char *mshi_read_text(const char *path, size_t *size);

/* A JSON file; members of objects in it that must be there. */
mshi_json *mshi_load_json(const char *path);
const char *mshi_string_of(const mshi_json *object, const char *name); /* NULL: absent */
uint64_t mshi_uint_of(const mshi_json *object, const char *name);

/* Open path as what expected.kind says: a shard, or a data set. */
mshard_status mshi_vector_open(const mshi_json *expected, const char *path, mshard_check check, mshard_store **store,
                               mshard_error *err);

/* Verify finds nothing at path. */
void mshi_check_verifies(const char *path);

#endif
