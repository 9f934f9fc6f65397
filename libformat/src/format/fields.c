/*
 * fields.c - fields as callers give them: checked, copied
 *
 * The rules stand in field_rules.c, for readers and writers alike; here they are told as what a caller did wrong.
 */
#include "format/shard_writer.h"

#include "base/alloc.h"
#include "format/field_rules.h"
#include <stdlib.h>
#include <string.h>

static bool is_reserved(const mshard_field *f)
{
    const size_t length = strlen(f->name);

    return length >= 4 && memcmp(f->name, "__", 2) == 0 && memcmp(f->name + length - 2, "__", 2) == 0;
}

mshard_status mshi_fields_check(const mshard_field *fields, uint32_t n, mshard_error *err)
{
    if (n == 0 || n > MSHARD_MAX_FIELDS)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "a record must have 1 to %d fields, found %u",
                         MSHARD_MAX_FIELDS, n);
    for (uint32_t i = 0; i < n; i++) {
        char text[MSHI_RULE_TEXT];
        uint64_t record_size;
        size_t member;

        if (mshi_field_rule(fields, i, &record_size, &member, text) != MSHARD_OK)
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "field %u: %s", i, text);
        if (is_reserved(&fields[i]) && !mshi_field_is_key(&fields[i]))
            return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                             "names that begin and end with __ are kept for the format, found \"%s\"", fields[i].name);
    }
    return MSHARD_OK;
}

mshard_status mshi_fields_copy(const mshard_field *fields, uint32_t n, mshard_field **copy, mshard_error *err)
{
    uint64_t size = (uint64_t)n * sizeof(mshard_field);
    mshard_field *fresh;
    char *name;

    *copy = NULL;
    for (uint32_t i = 0; i < n; i++)
        size += strlen(fields[i].name) + 1;
    MSHI_TRY(mshi_alloc(size, 1, &fresh, err));
    name = (char *)(fresh + n);
    for (uint32_t i = 0; i < n; i++) {
        const size_t length = strlen(fields[i].name) + 1;
        mshard_field *f = &fresh[i];

        *f = fields[i];
        f->name = memcpy(name, fields[i].name, length);
        name += length;
        f->record_size = mshard_dtype_size(f->dtype);
        for (uint32_t d = 0; d < f->ndim; d++)
            f->record_size *= f->shape[d]; /* checked by mshi_fields_check; meaningless when variable */
        if (mshard_field_is_variable(f))
            f->record_size = 0;
        for (uint32_t d = f->ndim; d < MSHARD_MAX_DIMS; d++)
            f->shape[d] = 0;
        if ((f->flags & MSHARD_FIELD_SCALED) == 0)
            f->scale = f->offset = 0;
    }
    *copy = fresh;
    return MSHARD_OK;
}
