/*
 * pack.h - raw files into a data set (libmshard-ingest: loads libvips and libarchive)
 *
 * Inputs, formats and rules: docs/packing.md. Same inputs and options give the same bytes, whatever
 * the number of jobs, the locale, the day or the path.
 */
#ifndef MSHARD_PACK_H
#define MSHARD_PACK_H

#include <mshard/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mshard_on_error { MSHARD_ON_ERROR_STOP = 0, MSHARD_ON_ERROR_SKIP = 1 } mshard_on_error;
typedef enum mshard_on_overflow {
    MSHARD_ON_OVERFLOW_ERROR = 0,
    MSHARD_ON_OVERFLOW_CLAMP = 1,
    MSHARD_ON_OVERFLOW_INF = 2,
} mshard_on_overflow;

/* One thing to tell while packing; pointers live during the call only. */
typedef struct mshard_pack_event {
    enum {
        MSHARD_PACK_PROGRESS = 1, /* the figures below have moved (at most ten times a second) */
        MSHARD_PACK_SKIPPED = 2,  /* path, error: an input was left out */
        MSHARD_PACK_FAILED = 3,   /* path, error: an input stops the pack (all of a run are told) */
        MSHARD_PACK_NOTE = 4,     /* text: something worth knowing (a rule applied, an option implied) */
        MSHARD_PACK_PHASE = 5,    /* text: "listing", "packing", "checking", "publishing" */
    } kind;
    const char *text;
    const char *path;
    const mshard_error *error;
    uint64_t done, total;   /* inputs */
    uint64_t bytes_in, bytes_out;
    uint64_t skipped;
    uint64_t shards_done, shards;
    uint64_t memory_limit; /* bytes of buffers this run holds at most */
} mshard_pack_event;

typedef struct mshard_pack_options {
    size_t struct_size; /* set by MSHARD_PACK_OPTIONS_INIT */
    const char *format; /* NULL: by looking. "folder" "flat" "list" "npy" "npz" "cifar10" "cifar100" "idx" "raw"
                           "archive" "webdataset" "bytes" (any files, kept as they are) */
    uint64_t resize;    /* shorter side to this many pixels, antialiased, aspect kept; 0: as it is */
    uint64_t resize_width, resize_height; /* exact size instead (both or neither) */
    uint64_t crop_width, crop_height;     /* center crop after resizing; 0: none */
    uint32_t gray;      /* one channel, ITU-R 601 luma */
    uint32_t encoded;   /* keep the bytes of the image file: a variable field */
    uint32_t variable;  /* images of any size: a variable field */
    const char *const *dtypes; /* "field=dtype", NULL-terminated list; may be NULL */
    const char *raw_dtype;     /* --format=raw: dtype of the elements */
    const char *raw_shape;     /* --format=raw: "32,32,3"; shape of one record */
    uint64_t raw_skip;         /* --format=raw: bytes before the first record */
    const char *labels; /* class list, a data set to take classes from, or an array of labels (docs/packing.md) */
    uint64_t shards;     /* exact number of shards; 0: by shard_size */
    uint64_t shard_size; /* bytes; 0: 256 MiB */
    uint32_t align;      /* of columns; 0: 4096 */
    uint32_t shuffle;    /* non-zero: order of inputs by keyed permutation of shuffle_seed */
    uint64_t shuffle_seed;
    uint32_t keys;       /* store keys and make keys.mdb */
    mshard_on_error on_error;
    mshard_on_overflow on_overflow;
    uint32_t dry_run;    /* plan only; out may be NULL; nothing is written */
    uint32_t overwrite;  /* replace a data set at out */
    uint32_t allow_empty; /* zero records is a data set, not an error */
    uint32_t no_sync;
    uint32_t jobs;       /* decoding threads; 0: as many as the machine gives */
    uint64_t max_pixels; /* of one image; 0: 2^28 (268 million) */
    uint64_t max_member; /* bytes of one archive member or input file; 0: 4 GiB */
    int (*event)(void *context, const mshard_pack_event *event); /* non-zero: stop (CANCELLED); from any thread, one at a time */
    void *context;
} mshard_pack_options;
#define MSHARD_PACK_OPTIONS_INIT .struct_size = sizeof(mshard_pack_options)

typedef struct mshard_pack_result {
    uint64_t inputs, records, skipped, failed;
    uint64_t ignored;    /* files that are no inputs: hidden ones, resource forks, other types */
    uint64_t duplicates; /* records whose content equals an earlier record's */
    uint64_t bytes_in, bytes_out, shards;
    uint64_t memory_limit;
    double largest_error; /* of float16 conversion, absolute; 0 when nothing was converted */
    uint64_t overflowed;  /* values clamped or turned to infinity */
    uint64_t elapsed_ns, verify_ns;
    char id[33];          /* of the data set; "" in a dry run */
    char *plan_json;      /* dry run: what would be packed, as JSON (malloc'd; free with mshard_pack_result_clear) */
} mshard_pack_result;

/*
 * Pack n inputs into a new data set at out. Returns OK also when inputs were skipped (result says), or
 * the first failure in input order. On failure nothing is left at out. Threads: shared, but libvips is
 * started for the process.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_pack(const char *const *inputs, size_t n, const char *out,
                                                       const mshard_pack_options *options, mshard_pack_result *result,
                                                       mshard_error *err);
MSHARD_API void mshard_pack_result_clear(mshard_pack_result *result);

/* An image in memory: [height, width, channels], C order, channels 3 (RGB) or 1. */
typedef struct mshard_image {
    uint8_t *pixels; /* malloc'd; free with mshard_image_clear */
    size_t size;     /* bytes: height * width * channels */
    uint64_t width, height, channels;
} mshard_image;

/*
 * The pixels of an image file's bytes (a value of a field with MSHARD_CONTENT_ENCODED), by the rules of
 * packing. max_pixels 0: 2^28. Returns DECODE, LIMIT, NOMEM; image is untouched then. err->path is empty.
 * Owns: the caller clears image. Threads: shared, but libvips is started for the process.
 */
MSHARD_API MSHARD_MUST_CHECK mshard_status mshard_decode_image(const void *data, size_t size, uint64_t max_pixels,
                                                               mshard_image *image, mshard_error *err);
MSHARD_API void mshard_image_clear(mshard_image *image); /* NULL and cleared ones: does nothing */

#ifdef __cplusplus
}
#endif
#endif
