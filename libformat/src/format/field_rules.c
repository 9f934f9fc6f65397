/*
 * field_rules.c - what a field may be
 *
 * Every field that enters the library, from a caller, a shard header or dataset.json, passes through
 * mshi_field_rule; behind it record_size fits MSHARD_MAX_RECORD and no dimension of a fixed field is zero.
 */
#include "format/field_rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MEMBER(name) offsetof(struct mshi_disk_field, name)

static mshard_status broken(mshard_status code, size_t *member, size_t at, char *text, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static mshard_status broken(mshard_status code, size_t *member, size_t at, char *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, MSHI_RULE_TEXT, format, arguments);
    va_end(arguments);
    *member = at;
    return code;
}

bool mshi_field_name_valid(const char *name)
{
    size_t length = 0;

    for (; name[length] != '\0'; length++) {
        const char c = name[length];
        const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';

        if (length >= MSHARD_MAX_NAME || !(letter || (length > 0 && c >= '0' && c <= '9')))
            return false;
    }
    return length > 0;
}

bool mshi_field_is_key(const mshard_field *field)
{
    return strcmp(field->name, MSHI_KEY_FIELD) == 0;
}

uint32_t mshi_field_section_count(const mshard_field *field)
{
    return mshard_field_is_variable(field) ? (field->ndim > 1 ? 3 : 2) : 1;
}

static mshard_status check_name(const mshard_field *fields, uint32_t i, size_t *member, char *text)
{
    const mshard_field *f = &fields[i];

    if (f->name == NULL || !mshi_field_name_valid(f->name))
        return broken(MSHARD_E_CORRUPT, member, MEMBER(name), text,
                      "a field name must be a letter or _ and up to 62 letters, digits or _, found \"%.64s\"",
                      f->name == NULL ? "" : f->name);
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(fields[k].name, f->name) == 0)
            return broken(MSHARD_E_CORRUPT, member, MEMBER(name), text, "fields %u and %u are both named \"%s\"", k, i,
                          f->name);
    return MSHARD_OK;
}

static mshard_status check_numbers(const mshard_field *f, size_t *member, char *text)
{
    const uint32_t unknown = f->flags & ~(MSHARD_FIELD_AUX | MSHARD_FIELD_SCALED);

    if (mshard_dtype_size(f->dtype) == 0)
        return broken(MSHARD_E_CORRUPT, member, MEMBER(dtype), text, "dtype of \"%s\" must be from 1 to %d, found %d",
                      f->name, MSHARD_BOOL, (int)f->dtype);
    if (mshard_content_name(f->content) == NULL)
        return broken(MSHARD_E_CORRUPT, member, MEMBER(content), text,
                      "content of \"%s\" must be from 0 to %d, found %d", f->name, MSHARD_CONTENT_TEXT,
                      (int)f->content);
    if (unknown != 0)
        return broken(MSHARD_E_CORRUPT, member, MEMBER(flags), text,
                      "flag bit %d of \"%s\" must be 0: it has no meaning", __builtin_ctz(unknown), f->name);
    if (f->ndim > MSHARD_MAX_DIMS)
        return broken(MSHARD_E_LIMIT, member, MEMBER(ndim), text, "\"%s\" must have at most %d dimensions, found %u",
                      f->name, MSHARD_MAX_DIMS, f->ndim);
    return MSHARD_OK;
}

static mshard_status check_shape(const mshard_field *f, uint64_t *record_size, size_t *member, char *text)
{
    const bool variable = mshard_field_is_variable(f);
    const uint64_t most = variable && f->ndim > 1 ? UINT32_MAX : MSHARD_MAX_DIM;
    uint64_t size = mshard_dtype_size(f->dtype);

    for (uint32_t d = 0; d < f->ndim; d++) {
        const uint64_t dim = f->shape[d];

        if (dim == MSHARD_DIM_UNKNOWN)
            continue;
        if (dim == 0)
            return broken(MSHARD_E_CORRUPT, member, MEMBER(shape) + 8 * d, text,
                          "dimension %u of \"%s\" must be at least 1, found 0", d, f->name);
        if (dim > most)
            return broken(MSHARD_E_LIMIT, member, MEMBER(shape) + 8 * d, text,
                          "dimension %u of \"%s\" must be at most %" PRIu64 ", found %" PRIu64, d, f->name, most, dim);
        if (mshi_mul_overflow(size, dim, &size) || size > MSHARD_MAX_RECORD)
            return broken(MSHARD_E_LIMIT, member, MEMBER(shape), text,
                          "one value of \"%s\" must be at most %" PRIu64 " bytes, its shape makes it larger", f->name,
                          (uint64_t)MSHARD_MAX_RECORD);
    }
    *record_size = variable ? 0 : size;
    return MSHARD_OK;
}

static mshard_status check_scale(const mshard_field *f, size_t *member, char *text)
{
    if ((f->flags & MSHARD_FIELD_SCALED) == 0)
        return MSHARD_OK;
    if (!isfinite(f->scale) || f->scale == 0)
        return broken(MSHARD_E_CORRUPT, member, MEMBER(scale), text,
                      "scale of \"%s\" must be finite and not 0, found %g", f->name, f->scale);
    if (!isfinite(f->offset))
        return broken(MSHARD_E_CORRUPT, member, MEMBER(offset), text, "offset of \"%s\" must be finite, found %g",
                      f->name, f->offset);
    if (f->dtype == MSHARD_BOOL || f->content != MSHARD_CONTENT_VALUES)
        return broken(MSHARD_E_CORRUPT, member, MEMBER(flags), text,
                      "\"%s\" has scale and offset, which are for plain numbers only", f->name);
    return MSHARD_OK;
}

static bool is_integer(mshard_dtype dtype)
{
    return dtype != MSHARD_FLOAT16 && dtype != MSHARD_BFLOAT16 && dtype != MSHARD_FLOAT32 && dtype != MSHARD_FLOAT64 &&
           dtype != MSHARD_BOOL;
}

static bool is_bytes(const mshard_field *f)
{
    return f->dtype == MSHARD_UINT8 && f->ndim == 1 && f->shape[0] == MSHARD_DIM_UNKNOWN;
}

static mshard_status check_content(const mshard_field *f, size_t *member, char *text)
{
    const char *rule = NULL;

    if (f->content == MSHARD_CONTENT_IMAGE) {
        if (f->dtype != MSHARD_UINT8 || !(f->ndim == 2 || (f->ndim == 3 && (f->shape[2] == 1 || f->shape[2] == 3))))
            rule = "an image must be uint8 [height, width], [height, width, 1] or [height, width, 3]";
    } else if (f->content == MSHARD_CONTENT_LABEL) {
        if (f->ndim != 0 || !is_integer(f->dtype))
            rule = "a label must be one integer";
    } else if (f->content != MSHARD_CONTENT_VALUES && !is_bytes(f)) {
        rule = "encoded images and text must be uint8 with one unknown dimension";
    }
    return rule == NULL
               ? MSHARD_OK
               : broken(MSHARD_E_CORRUPT, member, MEMBER(content), text, "content of \"%s\": %s", f->name, rule);
}

/* Auxiliary fields come last, the key very last; the first field is a real one. */
static mshard_status check_order(const mshard_field *fields, uint32_t i, size_t *member, char *text)
{
    const mshard_field *f = &fields[i];

    if (mshi_field_is_key(f) && (!is_bytes(f) || f->content != MSHARD_CONTENT_TEXT || f->flags != MSHARD_FIELD_AUX))
        return broken(MSHARD_E_CORRUPT, member, MEMBER(name), text,
                      "the name \"%s\" is kept for keys: auxiliary, uint8, one unknown dimension, text",
                      MSHI_KEY_FIELD);
    if (i == 0)
        return (f->flags & MSHARD_FIELD_AUX) == 0 ? MSHARD_OK
                                                  : broken(MSHARD_E_CORRUPT, member, MEMBER(flags), text,
                                                           "the first field must not be auxiliary, \"%s\" is", f->name);
    if (mshi_field_is_key(&fields[i - 1]))
        return broken(MSHARD_E_CORRUPT, member, MEMBER(name), text,
                      "\"%s\" must be the last field, found \"%s\" after it", MSHI_KEY_FIELD, f->name);
    if ((fields[i - 1].flags & MSHARD_FIELD_AUX) != 0 && (f->flags & MSHARD_FIELD_AUX) == 0)
        return broken(MSHARD_E_CORRUPT, member, MEMBER(flags), text,
                      "auxiliary fields must come last, found \"%s\" after auxiliary \"%s\"", f->name,
                      fields[i - 1].name);
    return MSHARD_OK;
}

mshard_status mshi_field_rule(const mshard_field *fields, uint32_t i, uint64_t *record_size, size_t *member,
                              char text[MSHI_RULE_TEXT])
{
    const mshard_field *f = &fields[i];
    mshard_status status;

    *record_size = 0;
    if ((status = check_name(fields, i, member, text)) != MSHARD_OK ||
        (status = check_numbers(f, member, text)) != MSHARD_OK ||
        (status = check_shape(f, record_size, member, text)) != MSHARD_OK ||
        (status = check_scale(f, member, text)) != MSHARD_OK || (status = check_content(f, member, text)) != MSHARD_OK)
        return status;
    return check_order(fields, i, member, text);
}

static bool differs(char *text, const char *name, const char *what)
{
    (void)snprintf(text, MSHI_RULE_TEXT, "%s of field \"%s\" differs", what, name);
    return false;
}

bool mshi_field_same(const mshard_field *a, const mshard_field *b, char text[MSHI_RULE_TEXT])
{
    if (strcmp(a->name, b->name) != 0) {
        (void)snprintf(text, MSHI_RULE_TEXT, "field \"%s\" stands where \"%s\" should", b->name, a->name);
        return false;
    }
    if (a->dtype != b->dtype) {
        (void)snprintf(text, MSHI_RULE_TEXT, "field \"%s\" must be %s, found %s", a->name, mshard_dtype_name(a->dtype),
                       mshard_dtype_name(b->dtype));
        return false;
    }
    if (a->ndim != b->ndim || memcmp(a->shape, b->shape, a->ndim * sizeof(a->shape[0])) != 0)
        return differs(text, a->name, "shape");
    if (a->content != b->content)
        return differs(text, a->name, "content");
    if (a->flags != b->flags)
        return differs(text, a->name, "flags");
    if ((a->flags & MSHARD_FIELD_SCALED) != 0 &&
        (memcmp(&a->scale, &b->scale, sizeof(a->scale)) != 0 || memcmp(&a->offset, &b->offset, sizeof(a->offset)) != 0))
        return differs(text, a->name, "scale or offset");
    return true;
}
