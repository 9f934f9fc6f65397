/*
 * vectors.c - annotated hex text (spec/vectors/README.md) into files, and what tests on vectors share
 */
#include "support/vectors.h"

#include "support/main.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *mshi_source_path(const char *name)
{
    const char *top = getenv("srcdir");

    return mshi_test_path(top ? top : ".", name);
}

void mshi_must(bool condition, const char *what)
{
    if (!condition) {
        perror(what);
        abort();
    }
}

char *mshi_read_text(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");

    mshi_must(file != NULL && fseek(file, 0, SEEK_END) == 0, path);
    const long end = ftell(file);
    mshi_must(end >= 0, path);
    rewind(file);
    char *text = malloc((size_t)end + 1);
    mshi_must(text != NULL && fread(text, 1, (size_t)end, file) == (size_t)end, path);
    text[end] = '\0';
    fclose(file);
    if (size)
        *size = (size_t)end;
    return text;
}

static void resize(struct mshi_vector_file *file, size_t size)
{
    uint8_t *data = realloc(file->data, size ? size : 1);

    ck_assert_ptr_nonnull(data);
    if (size > file->size)
        memset(data + file->size, 0, size - file->size);
    file->data = data;
    file->size = size;
}

static struct mshi_vector_file *find(struct mshi_vector *vector, const char *name, bool make)
{
    for (size_t i = 0; i < vector->count; i++)
        if (strcmp(vector->files[i].name, name) == 0)
            return &vector->files[i];
    ck_assert_msg(make && vector->count < MSHI_VECTOR_FILES, "no file \"%s\" in the vector", name);
    struct mshi_vector_file *file = &vector->files[vector->count++];
    ck_assert_uint_lt(strlen(name), sizeof(file->name));
    strcpy(file->name, name);
    resize(file, 0);
    return file;
}

static void put_bytes(struct mshi_vector_file *file, const char *line)
{
    char *rest;
    unsigned long at = strtoul(line, &rest, 16);

    ck_assert_msg(*rest == ':', "bad line: %s", line);
    rest++;
    while (isspace((unsigned char)*rest))
        rest++;
    for (; *rest; at++) {
        char *next;
        const unsigned long value = strtoul(rest, &next, 16);

        ck_assert_msg(next == rest + 2 && value < 256, "bad byte: %s", rest);
        if (at >= file->size)
            resize(file, at + 1);
        file->data[at] = (uint8_t)value;
        for (rest = next; isspace((unsigned char)*rest);)
            rest++;
    }
}

static const char *after(const char *line, const char *word)
{
    const size_t size = strlen(word);

    return strncmp(line, word, size) == 0 ? line + size : NULL;
}

static void command(struct mshi_vector *vector, char *line, const char *folder, const char **current)
{
    const char *rest;

    line[strcspn(line, "#")] = '\0';
    for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]);)
        line[--n] = '\0';
    if (!*line)
        return;
    if ((rest = after(line, "include ")) != NULL) {
        mshi_vector_load(vector, mshi_test_path(folder, rest));
    } else if ((rest = after(line, "file ")) != NULL) {
        *current = find(vector, rest, true)->name;
    } else if ((rest = after(line, "delete ")) != NULL) {
        find(vector, rest, false)->deleted = true;
    } else if (*line == '@') {
        resize(find(vector, *current, true), strtoul(line + 1, NULL, 16));
    } else {
        put_bytes(find(vector, *current, true), line);
    }
}

void mshi_vector_parse(struct mshi_vector *vector, const char *text, const char *folder)
{
    const char *current = "";

    while (*text) {
        const size_t size = strcspn(text, "\n");
        char *line = strndup(text, size);

        ck_assert_ptr_nonnull(line);
        if (strncmp(line, "| ", 2) == 0) {
            struct mshi_vector_file *file = find(vector, current, true);
            const size_t at = file->size;

            resize(file, at + size - 1);
            memcpy(file->data + at, line + 2, size - 2);
            file->data[at + size - 2] = '\n';
        } else {
            command(vector, line, folder, &current);
        }
        free(line);
        text += size + (text[size] == '\n');
    }
}

void mshi_vector_load(struct mshi_vector *vector, const char *path)
{
    char *text = mshi_read_text(path, NULL), folder[900];
    const char *slash = strrchr(path, '/');

    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    mshi_vector_parse(vector, text, folder);
    free(text);
}

void mshi_vector_free(struct mshi_vector *vector)
{
    for (size_t i = 0; i < vector->count; i++)
        free(vector->files[i].data);
    *vector = (struct mshi_vector){0};
}

const char *mshi_vector_write(const struct mshi_vector *vector, const char *dir)
{
    const bool single = vector->count == 1 && !vector->files[0].name[0];

    for (size_t i = 0; i < vector->count; i++) {
        const struct mshi_vector_file *f = &vector->files[i];
        const char *path = mshi_test_path(dir, single ? "vector.mshard" : f->name);
        FILE *file = f->deleted ? NULL : fopen(path, "wb");

        if (f->deleted)
            continue;
        ck_assert_msg(file != NULL, "cannot create %s", path);
        ck_assert_uint_eq(fwrite(f->data, 1, f->size, file), f->size);
        ck_assert_int_eq(fclose(file), 0);
    }
    return single ? mshi_test_path(dir, "vector.mshard") : dir;
}

mshi_json *mshi_load_json(const char *path)
{
    size_t size;
    char *text = mshi_read_text(path, &size);
    mshi_json *root = NULL;
    mshard_error err;

    mshi_must(mshi_json_parse(text, size, path, 0, &root, &err) == MSHARD_OK, path);
    free(text);
    return root;
}

const char *mshi_string_of(const mshi_json *object, const char *name)
{
    const mshi_json *node = mshi_json_member(object, name);

    return node ? mshi_json_string(node, NULL) : NULL;
}

uint64_t mshi_uint_of(const mshi_json *object, const char *name)
{
    uint64_t value;

    ck_assert_msg(mshi_json_uint(mshi_json_member(object, name), &value), "no number \"%s\"", name);
    return value;
}

mshard_status mshi_vector_open(const mshi_json *expected, const char *path, mshard_check check, mshard_store **store,
                               mshard_error *err)
{
    const mshard_store_options options = {MSHARD_STORE_OPTIONS_INIT, .check = check};

    if (strcmp(mshi_string_of(expected, "kind"), "shard") == 0)
        return mshard_store_open_single(path, &options, store, err);
    return mshard_store_open(path, &options, store, err);
}

void mshi_check_verifies(const char *path)
{
    mshard_verify_result result;
    mshard_error err;

    ck_assert_msg(mshard_verify(path, NULL, &result, &err) == MSHARD_OK, "verify: %s", err.message);
    ck_assert_uint_eq(result.findings, 0);
    ck_assert_int_eq(result.worst, MSHARD_OK);
}
