/*
 * source_shared.c - what all kinds of source share: fields, payloads, notes, and the rule of ignored names
 */
#include "ingest/source_kinds.h"

#include "base/alloc.h"
#include "ingest/decode.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

mshard_status mshi_source_add_field(struct mshi_source *source, const char *name, enum mshi_part_kind kind,
                                    mshard_dtype dtype, mshard_content content, uint32_t ndim, const uint64_t *shape,
                                    mshard_error *err)
{
    for (uint32_t f = 0; f < source->field_count; f++)
        if (strcmp(source->fields[f].name, name) == 0)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "two inputs would become field '%s'; name one with NAME=PATH", name);
    if (source->field_count == MSHARD_MAX_FIELDS)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET, "more than %d fields", MSHARD_MAX_FIELDS);
    if (ndim > MSHARD_MAX_DIMS)
        return mshi_fail(err, MSHARD_E_LIMIT, NULL, MSHARD_NO_OFFSET,
                         "field '%s' has %" PRIu32 " dimensions, at most %d", name, ndim, MSHARD_MAX_DIMS);
    struct mshi_source_field *field = &source->fields[source->field_count++];
    *field = (struct mshi_source_field){.kind = kind, .dtype = dtype, .content = content, .ndim = ndim};
    snprintf(field->name, sizeof(field->name), "%s", name);
    if (ndim)
        memcpy(field->shape, shape, ndim * sizeof(*shape));
    return MSHARD_OK;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void mshi_field_name(const char *text, size_t size, char name[MSHARD_MAX_NAME + 1])
{
    size_t n = 0;

    if (size == 0 || !is_letter(text[0]))
        name[n++] = '_';
    for (size_t i = 0; i < size && n < MSHARD_MAX_NAME; i++)
        if (i > 0 || is_letter(text[0]) || is_digit(text[0]))
            name[n++] = is_letter(text[i]) || is_digit(text[i]) ? text[i] : '_';
    name[n] = '\0';
}

void mshi_path_stem(const char *path, const char **stem, size_t *size)
{
    const char *slash = strrchr(path, '/');
    const char *begin = slash ? slash + 1 : path;
    const char *dot = strrchr(begin, '.');

    *stem = begin;
    *size = dot && dot != begin ? (size_t)(dot - begin) : strlen(begin);
}

mshard_content mshi_array_content(mshard_dtype dtype, uint32_t ndim, const uint64_t *shape)
{
    if (dtype == MSHARD_UINT8 && (ndim == 2 || (ndim == 3 && (shape[2] == 1 || shape[2] == 3))))
        return MSHARD_CONTENT_IMAGE;
    return MSHARD_CONTENT_VALUES;
}

const char *mshi_head_image_type(const void *head, size_t size)
{
    static const char *const others[] = {"heif", "avif", "jpeg xl", "jpeg 2000"};
    const char *type = mshi_image_type(head, size);

    if (mshi_image_type_supported(type))
        return type;
    if (strcmp(type, "bmp") == 0) /* two letters are little evidence: the reserved words behind them are zero */
        return size >= 10 && memcmp((const uint8_t *)head + 6, "\0\0\0\0", 4) == 0 ? type : NULL;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (strcmp(type, others[i]) == 0)
            return type;
    return NULL;
}

mshard_status mshi_payload_reserve(struct mshi_payload *payload, uint64_t size, mshard_error *err)
{
    return mshi_grow(&payload->buffer, &payload->capacity, size ? size : 1, 1, err);
}

void mshi_payload_clear(struct mshi_payload *payload)
{
    free(payload->buffer);
    *payload = (struct mshi_payload){.buffer = NULL};
}

void mshi_note(const struct mshi_listing *listing, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (listing->note)
        listing->note(listing->context, text);
}

void mshi_problem(const struct mshi_listing *listing, const char *path, mshard_status code, const char *format, ...)
{
    mshard_error error;
    char text[sizeof(error.message)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    mshi_fail(&error, code, path, MSHARD_NO_OFFSET, "%s", text);
    if (listing->problem)
        listing->problem(listing->context, path, &error);
}

uint64_t mshi_max_member(const struct mshi_listing *listing)
{
    return listing->options->max_member ? listing->options->max_member : UINT64_C(4) << 30;
}

bool mshi_name_ignored(const char *name, size_t size)
{
    static const char *const known[] = {"Thumbs.db", "ehthumbs.db", "desktop.ini", "__MACOSX", "Icon\r"};

    if (size && name[0] == '.') /* hidden; AppleDouble "._name" is one of them */
        return true;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strlen(known[i]) == size && strncasecmp(known[i], name, size) == 0)
            return true;
    return false;
}

mshard_status mshi_ignored_add(struct mshi_ignored *ignored, const char *name, mshard_error *err)
{
    const char *slash = strrchr(name, '/');
    const char *dot = strrchr(slash ? slash : name, '.');
    const char *extension = dot ? dot : "";
    uint64_t number;

    if (ignored->extensions.count >= 1000 &&
        !mshi_names_find(&ignored->extensions, extension, strlen(extension), &number)) {
        ignored->others++;
        return MSHARD_OK;
    }
    MSHI_TRY(mshi_names_add(&ignored->extensions, extension, strlen(extension), &number, NULL, err));
    const uint64_t before = ignored->capacity;
    MSHI_TRY(mshi_grow(&ignored->counts, &ignored->capacity, number + 1, sizeof(*ignored->counts), err));
    for (uint64_t i = before; i < ignored->capacity; i++)
        ignored->counts[i] = 0;
    ignored->counts[number]++;
    return MSHARD_OK;
}

uint64_t mshi_ignored_total(const struct mshi_ignored *ignored)
{
    uint64_t total = ignored->hidden + ignored->links + ignored->others;

    for (uint64_t i = 0; i < ignored->extensions.count; i++)
        total += ignored->counts[i];
    return total;
}

void mshi_ignored_tell(const struct mshi_ignored *ignored, const struct mshi_listing *listing)
{
    struct mshi_buf text = {.data = NULL};
    uint64_t others = mshi_ignored_total(ignored) - ignored->hidden - ignored->links, *order = NULL;

    if (ignored->hidden)
        mshi_note(listing, "%" PRIu64 " hidden files and resource forks left aside", ignored->hidden);
    if (ignored->links)
        mshi_note(listing, "%" PRIu64 " links left aside", ignored->links);
    if (!others || mshi_names_order(&ignored->extensions, &order, NULL) != MSHARD_OK)
        return;
    for (uint64_t i = 0; i < ignored->extensions.count && i < 8; i++) {
        const char *extension = mshi_names_at(&ignored->extensions, order[i]);

        mshi_buf_printf(&text, "%s%" PRIu64 " ", i ? ", " : "", ignored->counts[order[i]]);
        mshi_text_escape(&text, extension, strlen(extension));
        if (!*extension)
            mshi_buf_text(&text, "without extension");
    }
    if (ignored->extensions.count > 8)
        mshi_buf_text(&text, ", ...");
    mshi_note(listing, "%" PRIu64 " files of other types left aside: %s", others, text.data ? text.data : "");
    mshi_buf_clear(&text);
    free(order);
}

void mshi_ignored_clear(struct mshi_ignored *ignored)
{
    mshi_names_clear(&ignored->extensions);
    free(ignored->counts);
    *ignored = (struct mshi_ignored){.hidden = 0};
}

void mshi_show_bytes(const void *head, size_t size, char text[MSHI_SHOWN_BYTES])
{
    const uint8_t *bytes = head;
    const size_t shown = size < 16 ? size : 16;
    size_t n = 0;

    for (size_t i = 0; i < shown; i++)
        n += (size_t)snprintf(text + n, MSHI_SHOWN_BYTES - n, "%s%02x", i ? " " : "", bytes[i]);
    n += (size_t)snprintf(text + n, MSHI_SHOWN_BYTES - n, " \"");
    for (size_t i = 0; i < shown; i++)
        text[n++] = bytes[i] >= 0x20 && bytes[i] < 0x7F ? (char)bytes[i] : '.';
    text[n++] = '"';
    text[n] = '\0';
}
