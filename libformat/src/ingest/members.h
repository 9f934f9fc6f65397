/*
 * members.h - the members of archives as they are listed: names put in order, contents placed, doubles found
 *
 * Placed means: read later from the archive's file (plain tar), from a spool (random access wanted), or in order by a
 * second walk. Ignored members are counted, links resolved, bad names and doubles reported once the listing stands.
 */
#ifndef MSHI_INGEST_MEMBERS_H
#define MSHI_INGEST_MEMBERS_H

#include "ingest/archive.h"
#include "ingest/npy.h"
#include "ingest/source_kinds.h"

enum mshi_place { MSHI_IN_FILE, MSHI_IN_SPOOL, MSHI_IN_ORDER };

/* Where the bytes of one value lie. */
struct mshi_located {
    uint64_t where; /* byte in the archive's file or the spool; IN_ORDER: number of the member in its archive */
    uint64_t size;  /* 0 may mean unknown when IN_ORDER */
    uint32_t archive;
    enum mshi_place place;
};

#define MSHI_NO_TEXT UINT64_MAX
struct mshi_listed {
    struct mshi_located at;
    uint64_t name;  /* in text: relative, without "." components, escaped where it is no UTF-8 */
    uint64_t label; /* in text: what a .cls member says; MSHI_NO_TEXT: not read */
    uint32_t npy;   /* number + 1 among the headers seen; 0: no .npy */
    bool image;     /* by extension, or by content when the name has no dot */
    bool dropped;   /* a double of it was met: left out */
};

struct mshi_archive_file {
    char *path;
    struct mshi_spool stream; /* of "-": what came from standard input */
    struct mshi_file file;    /* open while listing, and for the first MSHI_OPEN_ARCHIVES after */
    uint64_t size;
    int64_t mtime_ns;
    bool unpacked; /* the spool or a second walk is needed */
};
#define MSHI_OPEN_ARCHIVES 48

struct mshi_members {
    const struct mshi_listing *listing;
    struct mshi_archive_file *archives;
    size_t archive_count;
    struct mshi_listed *list;
    uint64_t count, capacity;
    struct mshi_buf text;
    struct mshi_npy *npys; /* distinct headers */
    uint64_t npy_count, npy_capacity;
    struct mshi_spool spool;
    bool spooling;
    bool need_spool;    /* found while listing in order: list again with spooling set */
    bool any_bytes;     /* every member is an input, whatever it is: nothing is looked into */
    bool want_contents; /* labels and npy headers: samples are possible */
    struct mshi_ignored ignored;
    mshard_error *problems; /* told by mshi_members_tell */
    uint64_t problem_count, problem_capacity;
    struct mshi_buf notes; /* each with a NUL; told with the problems */
};

/* Open the inputs ("-": standard input, into a spool). members is zeroed but for listing. */
mshard_status mshi_members_open(struct mshi_members *members, const struct mshi_inputs *inputs, mshard_error *err);
/* Walk all archives. Again after a call that set need_spool: starts from nothing. */
mshard_status mshi_members_list(struct mshi_members *members, bool spooling, mshard_error *err);
mshard_status mshi_members_problem(struct mshi_members *members, mshard_error *err, const char *path,
                                   mshard_status code, const char *format, ...) MSHI_PRINTF(5, 6);
void mshi_members_note(struct mshi_members *members, const char *format, ...) MSHI_PRINTF(2, 3);
void mshi_members_tell(const struct mshi_members *members);
const char *mshi_members_name(const struct mshi_members *members, uint64_t i);
/* The open file of an archive; *owned: the caller closes it. Fails when it is no longer the file that was listed. */
mshard_status mshi_archive_file_open(const struct mshi_archive_file *archive, struct mshi_file *file, bool *owned,
                                     mshard_error *err);
void mshi_members_clear(struct mshi_members *members);

#endif
