/*
 * types.h - dtypes, fields and views: the small complete types every other header uses
 */
#ifndef MSHARD_TYPES_H
#define MSHARD_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <mshard/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of format 1 (spec/README.md, "Limits"); writer and reader enforce them alike. */
#define MSHARD_MAX_FIELDS 64
#define MSHARD_MAX_DIMS 8
#define MSHARD_MAX_NAME 63                      /* bytes of a field name, UTF-8, without NUL */
#define MSHARD_MAX_DIM (UINT64_C(1) << 40)      /* each dimension of a fixed field */
#define MSHARD_MAX_RECORD (UINT64_C(1) << 40)   /* bytes of one value of one field */
#define MSHARD_MAX_RECORDS (UINT64_C(1) << 40)  /* records of a data set, and of a shard */
#define MSHARD_MAX_SHARDS (UINT64_C(1) << 20)
#define MSHARD_MAX_FILE (UINT64_C(1) << 56)     /* bytes of a shard */
#define MSHARD_MAX_MANIFEST (UINT64_C(1) << 28) /* bytes of dataset.json */
#define MSHARD_MAX_KEY 511                      /* bytes of a sample key (LMDB's limit) */

/* Numbers are those of the disk format (spec/dtypes.md) and never change. All little-endian. */
typedef enum mshard_dtype {
    MSHARD_UINT8 = 1,
    MSHARD_FLOAT16 = 2,
    MSHARD_INT8 = 3,
    MSHARD_INT16 = 4,
    MSHARD_INT32 = 5,
    MSHARD_INT64 = 6,
    MSHARD_UINT16 = 7,
    MSHARD_UINT32 = 8,
    MSHARD_UINT64 = 9,
    MSHARD_FLOAT32 = 10,
    MSHARD_FLOAT64 = 11,
    MSHARD_BFLOAT16 = 12,
    MSHARD_BOOL = 13, /* one byte, 0 or 1 */
} mshard_dtype;

/* What the values of a field are, so that tools can show them; never changes how they are read. */
typedef enum mshard_content {
    MSHARD_CONTENT_VALUES = 0,  /* plain numbers */
    MSHARD_CONTENT_IMAGE = 1,   /* pixels, uint8, [height, width, 3] RGB, [height, width, 1] or [height, width] grey */
    MSHARD_CONTENT_ENCODED = 2, /* the bytes of an image file, uint8 [unknown] */
    MSHARD_CONTENT_LABEL = 3,   /* class number, an integer scalar; names stand in dataset.json */
    MSHARD_CONTENT_TEXT = 4,    /* UTF-8, uint8 [unknown] */
} mshard_content;

#define MSHARD_DIM_UNKNOWN UINT64_MAX /* a dimension that differs from record to record */

#define MSHARD_FIELD_AUX 1u    /* kept beside the sample (the key): not part of samples and batches */
#define MSHARD_FIELD_SCALED 2u /* float value = stored * scale + offset */

/*
 * One field of every record. Variable when any dimension is MSHARD_DIM_UNKNOWN. record_size is the
 * bytes of one value, 0 when variable; functions that take fields from callers compute it and
 * ignore what stands there.
 */
typedef struct mshard_field {
    const char *name; /* [A-Za-z_][A-Za-z0-9_]{0,62}; a valid identifier */
    mshard_dtype dtype;
    mshard_content content;
    uint32_t flags; /* MSHARD_FIELD_* */
    uint32_t ndim;  /* 0: scalar */
    uint64_t shape[MSHARD_MAX_DIMS];
    double scale, offset; /* with MSHARD_FIELD_SCALED only */
    uint64_t record_size;
} mshard_field;

/* A pointer into a map: no copy. Lives as long as the store it came from. */
typedef struct mshard_view {
    const void *data; /* aligned to the dtype's size; may be non-NULL with size 0 */
    size_t size;      /* bytes */
} mshard_view;

/* Bytes of one element; 0 for a number that is no dtype. Threads: shared. */
MSHARD_API size_t mshard_dtype_size(mshard_dtype dtype);

/* "uint8", "float16", "bfloat16", ...; NULL for a number that is no dtype. Static text. */
MSHARD_API const char *mshard_dtype_name(mshard_dtype dtype);

/* The dtype of a name. Returns NOT_FOUND when there is none. */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_dtype_parse(const char *name, mshard_dtype *dtype,
                                                             mshard_error *err);

/* "values", "image", "encoded", "label", "text"; NULL for a number that is none. Static text. */
MSHARD_API const char *mshard_content_name(mshard_content content);

/* Non-zero when any dimension is unknown. */
static inline int mshard_field_is_variable(const mshard_field *field)
{
    for (uint32_t d = 0; d < field->ndim && d < MSHARD_MAX_DIMS; d++)
        if (field->shape[d] == MSHARD_DIM_UNKNOWN)
            return 1;
    return 0;
}

#ifdef __cplusplus
}
#endif
#endif
