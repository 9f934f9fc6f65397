/*
 * target.c - what a PATH names, and what is asked of every data set
 */
#include "cmd.h"

#include <mshard/inspect.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void color_from(uint64_t choice)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (choice == 0)
        out_color(out_is_terminal() && (no_color == NULL || *no_color == '\0') &&
                  (term == NULL || strcmp(term, "dumb") != 0));
    else
        out_color(choice == 1);
}

bool target_is_shard(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat info;

    return strcmp(slash != NULL ? slash + 1 : path, "dataset.json") != 0 && stat(path, &info) == 0 &&
           !S_ISDIR(info.st_mode);
}

mshard_status target_try(const char *path, struct target *target, mshard_error *err)
{
    *target = (struct target){.single = target_is_shard(path)};
    if (target->single)
        return mshard_store_open_single(path, NULL, &target->store, err);
    return mshard_store_open(path, NULL, &target->store, err);
}

int target_open(const char *path, struct target *target)
{
    mshard_error err;

    if (target_try(path, target, &err) == MSHARD_OK)
        return TOOL_DONE;
    return target_error(path, &err);
}

int target_error(const char *path, const mshard_error *err)
{
    switch (err->code) {
    case MSHARD_E_CORRUPT:
    case MSHARD_E_TRUNCATED:
        say_error(err, "mshard verify %s", path);
        break;
    case MSHARD_E_FORMAT:
        if (target_is_shard(path))
            say_error(err, "mshard dump %s", path);
        else
            say_error(err, "mshard pack --dry-run %s", path);
        break;
    default:
        say_error(err, NULL);
    }
    return err->code == MSHARD_E_INVALID ? TOOL_USAGE : TOOL_FAILED;
}

int target_field(const mshard_store *store, const char *name, uint32_t *field)
{
    struct cli_guess guess = {.name = NULL};
    char names[1024] = "";
    size_t n = 0;

    if (mshard_store_find_field(store, name, field, NULL) == MSHARD_OK)
        return TOOL_DONE;
    for (uint32_t f = 0; f < mshard_store_field_count(store); f++) {
        const char *have = mshard_store_field(store, f)->name;
        cli_guess_try(&guess, name, have);
        if (n < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", f > 0 ? ", " : "", have);
    }
    if (guess.name != NULL)
        say("no field '%s'; did you mean %s? (fields: %s)", name, guess.name, names);
    else
        say("no field '%s' (fields: %s)", name, names);
    return TOOL_USAGE;
}

uint32_t target_fields(const mshard_store *store)
{
    uint32_t n = 0;

    while (n < mshard_store_field_count(store) && (mshard_store_field(store, n)->flags & MSHARD_FIELD_AUX) == 0)
        n++;
    return n;
}

uint32_t target_label(const mshard_store *store)
{
    uint32_t found = UINT32_MAX;

    for (uint32_t f = target_fields(store); f-- > 0;) {
        const mshard_field *field = mshard_store_field(store, f);
        if (field->content != MSHARD_CONTENT_LABEL || field->ndim != 0)
            continue;
        if (found == UINT32_MAX || mshard_store_class_count(store, f) > 0 ||
            mshard_store_class_count(store, found) == 0)
            found = f;
    }
    return found;
}

static int64_t read_integer(const void *data, mshard_dtype dtype)
{
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
    } v = {.i64 = 0};

    memcpy(&v, data, mshard_dtype_size(dtype));
    switch (dtype) {
    case MSHARD_INT8:
        return v.i8;
    case MSHARD_INT16:
        return v.i16;
    case MSHARD_INT32:
        return v.i32;
    case MSHARD_UINT8:
    case MSHARD_BOOL:
        return v.u8;
    case MSHARD_UINT16:
        return v.u16;
    case MSHARD_UINT32:
        return v.u32;
    default:
        return v.i64;
    }
}

bool target_class(const mshard_store *store, uint64_t record, uint32_t field, int64_t *number, const char **name)
{
    const mshard_field *f = mshard_store_field(store, field);
    mshard_view view;

    if (mshard_store_record(store, record, field, &view, NULL) != MSHARD_OK || view.size != mshard_dtype_size(f->dtype))
        return false;
    *number = read_integer(view.data, f->dtype);
    *name = *number >= 0 ? mshard_store_class_name(store, field, (uint64_t)*number) : NULL;
    return true;
}

const char *text_shape(char text[256], const uint64_t *shape, uint32_t ndim)
{
    size_t n = 0;

    if (ndim == 0)
        return strcpy(text, "scalar");
    for (uint32_t d = 0; d < ndim && d < MSHARD_MAX_DIMS; d++) {
        if (shape[d] == MSHARD_DIM_UNKNOWN)
            n += (size_t)snprintf(text + n, 256 - n, "%s?", d > 0 ? ", " : "[");
        else
            n += (size_t)snprintf(text + n, 256 - n, "%s%llu", d > 0 ? ", " : "[", (unsigned long long)shape[d]);
    }
    (void)snprintf(text + n, 256 - n, "]");
    return text;
}

void json_shape(const char *name, const uint64_t *shape, uint32_t ndim)
{
    json_open(name, '[');
    for (uint32_t d = 0; d < ndim && d < MSHARD_MAX_DIMS; d++) {
        if (shape[d] == MSHARD_DIM_UNKNOWN)
            json_null(NULL);
        else
            json_count(NULL, shape[d]);
    }
    json_close();
}

void json_field(const mshard_field *field)
{
    const char *dtype = mshard_dtype_name(field->dtype), *content = mshard_content_name(field->content);

    json_string("name", field->name);
    json_string("dtype", dtype != NULL ? dtype : "unknown");
    json_shape("shape", field->shape, field->ndim);
    json_string("content", content != NULL ? content : "values");
    if ((field->flags & MSHARD_FIELD_AUX) != 0)
        json_bool("auxiliary", true);
    if ((field->flags & MSHARD_FIELD_SCALED) != 0) {
        json_real("scale", field->scale);
        json_real("offset", field->offset);
    }
}
