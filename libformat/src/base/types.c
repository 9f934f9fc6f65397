/*
 * types.c - names and sizes of dtypes, contents and statuses; the version
 *
 * The tables are indexed by the numbers of the disk format (spec/dtypes.md).
 */
#include <mshard/types.h>

#include "base/fail.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [MSHARD_UINT8] = {"uint8", 1},     [MSHARD_FLOAT16] = {"float16", 2}, [MSHARD_INT8] = {"int8", 1},
    [MSHARD_INT16] = {"int16", 2},     [MSHARD_INT32] = {"int32", 4},     [MSHARD_INT64] = {"int64", 8},
    [MSHARD_UINT16] = {"uint16", 2},   [MSHARD_UINT32] = {"uint32", 4},   [MSHARD_UINT64] = {"uint64", 8},
    [MSHARD_FLOAT32] = {"float32", 4}, [MSHARD_FLOAT64] = {"float64", 8}, [MSHARD_BFLOAT16] = {"bfloat16", 2},
    [MSHARD_BOOL] = {"bool", 1},
};
enum { DTYPE_END = sizeof(dtypes) / sizeof(dtypes[0]) };

static const char *const contents[] = {
    [MSHARD_CONTENT_VALUES] = "values", [MSHARD_CONTENT_IMAGE] = "image", [MSHARD_CONTENT_ENCODED] = "encoded",
    [MSHARD_CONTENT_LABEL] = "label",   [MSHARD_CONTENT_TEXT] = "text",
};
enum { CONTENT_END = sizeof(contents) / sizeof(contents[0]) };

size_t mshard_dtype_size(mshard_dtype dtype)
{
    return (unsigned)dtype < DTYPE_END ? dtypes[dtype].size : 0;
}

const char *mshard_dtype_name(mshard_dtype dtype)
{
    return (unsigned)dtype < DTYPE_END ? dtypes[dtype].name : NULL;
}

mshard_status mshard_dtype_parse(const char *name, mshard_dtype *dtype, mshard_error *err)
{
    for (unsigned i = 1; i < DTYPE_END; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            *dtype = (mshard_dtype)i;
            return MSHARD_OK;
        }
    }
    return mshi_fail(err, MSHARD_E_NOT_FOUND, NULL, MSHARD_NO_OFFSET,
                     "\"%.64s\" is no dtype; there are uint8, float16, int8, int16, int32, int64, uint16, uint32, "
                     "uint64, float32, float64, bfloat16, bool",
                     name);
}

const char *mshard_content_name(mshard_content content)
{
    return (unsigned)content < CONTENT_END ? contents[content] : NULL;
}

const char *mshard_status_name(mshard_status status)
{
    switch (status) {
    case MSHARD_END:
        return "end";
    case MSHARD_OK:
        return "ok";
    case MSHARD_E_INVALID:
        return "invalid";
    case MSHARD_E_RANGE:
        return "out of range";
    case MSHARD_E_NOT_FOUND:
        return "not found";
    case MSHARD_E_EXISTS:
        return "exists";
    case MSHARD_E_CANCELLED:
        return "cancelled";
    case MSHARD_E_NOMEM:
        return "no memory";
    case MSHARD_E_IO:
        return "input/output";
    case MSHARD_E_UNSUPPORTED:
        return "unsupported";
    case MSHARD_E_FORMAT:
        return "format";
    case MSHARD_E_VERSION:
        return "version";
    case MSHARD_E_TRUNCATED:
        return "truncated";
    case MSHARD_E_CORRUPT:
        return "corrupt";
    case MSHARD_E_LIMIT:
        return "limit";
    case MSHARD_E_DECODE:
        return "decode";
    case MSHARD_E_INCOMPLETE:
        return "incomplete";
    }
    return "unknown status";
}

const char *mshard_version(void)
{
    return MSHARD_VERSION;
}
