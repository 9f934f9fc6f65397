/*
 * error.h - status codes and the error a caller owns
 *
 * Every function that can fail returns mshard_status and takes mshard_error *err as its last
 * argument; err may be NULL. err is set exactly when the status is negative. The lowest function
 * that knows path and offset fills it. Values are never renumbered; the group of ten says whose
 * fault it is.
 */
#ifndef MSHARD_ERROR_H
#define MSHARD_ERROR_H

#include <stdint.h>
#include <mshard/version.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mshard_status {
    MSHARD_END = 1, /* no more items; not an error, err untouched */
    MSHARD_OK = 0,
    /* the caller */
    MSHARD_E_INVALID = -10,   /* argument or call order wrong; nothing was changed */
    MSHARD_E_RANGE = -11,     /* record number not below count; handle stays good */
    MSHARD_E_NOT_FOUND = -12, /* no such file, data set, field or key; handle stays good */
    MSHARD_E_EXISTS = -13,    /* output is there already, or another writer holds it */
    MSHARD_E_CANCELLED = -14, /* a callback or an interrupt asked to stop */
    /* the machine */
    MSHARD_E_NOMEM = -20,
    MSHARD_E_IO = -21,          /* sys_errno holds the cause */
    MSHARD_E_UNSUPPORTED = -22, /* built without it, or not on this system */
    /* the file */
    MSHARD_E_FORMAT = -30,     /* not one of our files, or not a known input format */
    MSHARD_E_VERSION = -31,    /* ours, but needs a feature this build lacks */
    MSHARD_E_TRUNCATED = -32,  /* shorter than it says */
    MSHARD_E_CORRUPT = -33,    /* checksum or structure contradicts itself */
    MSHARD_E_LIMIT = -34,      /* well formed but above a stated limit */
    MSHARD_E_DECODE = -35,     /* an input sample could not be decoded */
    MSHARD_E_INCOMPLETE = -36, /* packing did not finish: shards without dataset.json */
} mshard_status;

#define MSHARD_NO_OFFSET UINT64_MAX

typedef struct mshard_error {
    mshard_status code;
    int32_t sys_errno;  /* 0 when there is none */
    uint64_t offset;    /* byte in path, or MSHARD_NO_OFFSET */
    char path[496];     /* shortened from the left, "..." first; "" when no file is concerned */
    char message[512];  /* what was expected and what was found; no newline, no path, no offset */
} mshard_error; /* 1024 bytes for ever */

/* A short stable name of a status: "corrupt", "not found", ... Static text. Threads: shared. */
MSHARD_API const char *mshard_status_name(mshard_status status);

/*
 * Write "<path>: at byte <n>: <message>" (parts that are absent left out; control bytes and
 * invalid UTF-8 escaped as \xNN) into text, always NUL-terminated. Returns the length the whole
 * text needs without the NUL, as snprintf does. Threads: shared.
 */
MSHARD_API int mshard_error_format(const mshard_error *err, char *text, unsigned long size);

#ifdef __cplusplus
}
#endif
#endif
