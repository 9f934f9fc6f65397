/*
 * archive.h - walk the members of any archive libarchive reads; source_archive.c alone knows libarchive
 *
 * Names and contents come out the same in every locale. No other file of this machine is ever opened: link members are
 * reported, not followed, and formats or filters that read other files or start programs are off.
 * Threads: one thread an archive.
 */
#ifndef MSHI_INGEST_ARCHIVE_H
#define MSHI_INGEST_ARCHIVE_H

#include "ingest/source.h"
#include "ingest/spool.h"
#include "os/file.h"

enum mshi_member_type {
    MSHI_MEMBER_FILE,
    MSHI_MEMBER_HARDLINK,
    MSHI_MEMBER_SYMLINK,
    MSHI_MEMBER_FOLDER,
    MSHI_MEMBER_OTHER
};

struct mshi_member {  /* pointers live until the next member */
    const char *name; /* bytes as stored; UTF-8 where the format says which characters they are */
    const char *link; /* HARDLINK: the name it stands for */
    enum mshi_member_type type;
    bool encrypted;
    bool size_known;
    uint64_t size;
    /* Where the content lies in the archive's file as it is (plain tar, stored zip members); else MSHARD_NO_OFFSET. */
    uint64_t data_offset;
};

struct mshi_archive;

/* file stays the caller's and must outlive the archive; path is for messages. FORMAT: no archive. */
mshard_status mshi_archive_open(const struct mshi_file *file, const char *path, struct mshi_archive **archive,
                                mshard_error *err);
/* The next member; MSHARD_END after the last. After an error the archive can only be closed. */
mshard_status mshi_archive_next(struct mshi_archive *archive, struct mshi_member *member, mshard_error *err);
/* After MSHARD_END: bytes behind a tar's end mark that are no archive. */
uint64_t mshi_archive_left_aside(const struct mshi_archive *archive);
/* The next bytes of the member, holes as zeros; *got is less than size only at its end. */
mshard_status mshi_archive_read(struct mshi_archive *archive, void *data, size_t size, size_t *got, mshard_error *err);
/* The whole member (not yet read from) to the end of *data, LIMIT above max bytes. */
mshard_status mshi_archive_read_all(struct mshi_archive *archive, uint64_t max, struct mshi_payload *payload,
                                    uint64_t at, uint64_t *size, mshard_error *err);
mshard_status mshi_archive_spool(struct mshi_archive *archive, uint64_t max, struct mshi_spool *spool, uint64_t *size,
                                 mshard_error *err);
bool mshi_archive_is_zip(const struct mshi_archive *archive);
void mshi_archive_close(struct mshi_archive *archive); /* NULL does nothing */

/* The content of a gzip file as one member, its header read already. */
mshard_status mshi_gzip_open(const struct mshi_file *file, const char *path, struct mshi_archive **archive,
                             mshard_error *err);

#endif
