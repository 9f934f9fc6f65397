/*
 * source_archive.c - the one file that knows libarchive: archive.h over it
 *
 * libarchive turns names into the locale's characters, so each call into it runs under C.UTF-8 (in this thread only).
 * mtree (it opens files it names), raw, empty and warc are off, as are filters that start programs.
 */
#include "ingest/archive.h"

#include "base/alloc.h"
#include "ingest/source_kinds.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (UINT32_C(256) << 10)
#define TAR_BLOCK 512

enum reading {
    READ_ALL,     /* every kind; tars one after the other are one */
    READ_ONE_TAR, /* to the first end mark */
    READ_GZIP,    /* what is inside, as one member */
    READ_RAW,     /* the same of every packing, also none */
};

struct mshi_archive {
    const struct mshi_file *file;
    const char *path;
    enum reading reading;
    uint64_t members;    /* seen */
    uint64_t left_aside; /* bytes after its end */
    struct archive *reader;
    struct archive_entry *entry;
    locale_t locale;
    uint64_t offset; /* of the next block in file */
    uint8_t *block;
    mshard_error io;   /* what a read of the file said; code OK: nothing */
    char *last;        /* name of the last member, for messages */
    uint64_t produced; /* bytes of the member read so far */
    uint64_t size;
    bool size_known, sparse;
};

static la_ssize_t on_read(struct archive *reader, void *context, const void **data)
{
    struct mshi_archive *archive = context;
    size_t got = 0;

    if (mshi_file_read(archive->file, archive->block, BLOCK, archive->offset, &got, archive->path, &archive->io) !=
        MSHARD_OK) {
        archive_set_error(reader, archive->io.sys_errno, "%s", archive->io.message);
        return ARCHIVE_FATAL;
    }
    archive->offset += got;
    *data = archive->block;
    return (la_ssize_t)got;
}

/* Skips whole blocks only, and never beyond the end: libarchive then reads on and sees that the file is cut. */
static la_int64_t on_skip(struct archive *reader, void *context, la_int64_t request)
{
    struct mshi_archive *archive = context;
    const uint64_t left = archive->offset < archive->file->size ? archive->file->size - archive->offset : 0;
    const uint64_t skip = (uint64_t)request < left ? (uint64_t)request : left;

    (void)reader;
    archive->offset += skip;
    return (la_int64_t)skip;
}

static la_int64_t on_seek(struct archive *reader, void *context, la_int64_t offset, int whence)
{
    struct mshi_archive *archive = context;
    la_int64_t from = 0, to;

    (void)reader;
    if (whence == SEEK_CUR)
        from = (la_int64_t)archive->offset;
    else if (whence == SEEK_END)
        from = (la_int64_t)archive->file->size;
    if (__builtin_add_overflow(from, offset, &to) || to < 0)
        return ARCHIVE_FATAL;
    archive->offset = (uint64_t)to;
    return to;
}

/* CORRUPT or TRUNCATED with libarchive's words and the member they are about. */
static mshard_status reader_error(struct mshi_archive *archive, mshard_error *err)
{
    const char *text = archive_error_string(archive->reader);
    const char *member = archive->last ? archive->last : "";

    if (archive->io.code != MSHARD_OK) {
        if (err)
            *err = archive->io;
        return archive->io.code;
    }
    if (archive_errno(archive->reader) == ENOMEM)
        return mshi_fail(err, MSHARD_E_NOMEM, archive->path, MSHARD_NO_OFFSET, "no memory to read the archive");
    text = text ? text : "damaged";
    const bool cut = strstr(text, "runcated") || strstr(text, "nexpected end") || strstr(text, "remature");
    if (strstr(text, "assphrase") || strstr(text, "ncrypt"))
        return mshi_fail(err, MSHARD_E_UNSUPPORTED, archive->path, MSHARD_NO_OFFSET,
                         "member '%.200s' is encrypted: unpack the archive first", member);
    return mshi_fail(err, cut ? MSHARD_E_TRUNCATED : MSHARD_E_CORRUPT, archive->path, MSHARD_NO_OFFSET,
                     "%s, %s%.200s%s: %.200s", cut ? "truncated archive" : "damaged archive",
                     *member ? "at or after member '" : "before the first member", member, *member ? "'" : "", text);
}

static int support(struct archive *reader, enum reading reading)
{
    static int (*const filters[])(struct archive *) = {
        archive_read_support_filter_gzip, archive_read_support_filter_bzip2, archive_read_support_filter_compress,
        archive_read_support_filter_xz,   archive_read_support_filter_lzma,  archive_read_support_filter_lzip,
        archive_read_support_filter_zstd, archive_read_support_filter_lz4,   archive_read_support_filter_rpm,
        archive_read_support_filter_uu,
    };
    static int (*const formats[])(struct archive *) = {
        archive_read_support_format_tar, archive_read_support_format_zip,  archive_read_support_format_7zip,
        archive_read_support_format_cab, archive_read_support_format_rar,  archive_read_support_format_rar5,
        archive_read_support_format_ar,  archive_read_support_format_cpio, archive_read_support_format_iso9660,
        archive_read_support_format_lha, archive_read_support_format_xar,
    };

    for (size_t i = 0; i < (reading == READ_GZIP ? 1 : sizeof(filters) / sizeof(*filters)); i++)
        if (filters[i](reader) == ARCHIVE_FATAL)
            return ARCHIVE_FATAL;
    if (reading == READ_GZIP || reading == READ_RAW)
        return archive_read_support_format_raw(reader);
    if (reading == READ_ONE_TAR)
        return archive_read_support_format_tar(reader);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (formats[i](reader) == ARCHIVE_FATAL)
            return ARCHIVE_FATAL;
    /* Two archives one after the other in a file: all members of both. tar alone would stop at the first end mark. */
    return archive_read_set_option(reader, "tar", "read_concatenated_archives", "1");
}

static mshard_status open_reader(const struct mshi_file *file, const char *path, enum reading reading,
                                 struct mshi_archive **out, mshard_error *err)
{
    struct mshi_archive *archive;

    MSHI_TRY(mshi_alloc(1, sizeof(*archive), &archive, err));
    *out = archive;
    archive->file = file;
    archive->path = path;
    archive->reading = reading;
    archive->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!archive->locale)
        archive->locale = newlocale(LC_CTYPE_MASK, "C", (locale_t)0);
    archive->reader = archive_read_new();
    if (!archive->locale || !archive->reader)
        return mshi_fail(err, MSHARD_E_NOMEM, path, MSHARD_NO_OFFSET, "no memory for an archive reader");
    MSHI_TRY(mshi_alloc(BLOCK, 1, &archive->block, err));
    const locale_t before = uselocale(archive->locale);
    int rc = support(archive->reader, reading);
    if (rc == ARCHIVE_OK) {
        archive_read_set_read_callback(archive->reader, on_read);
        archive_read_set_skip_callback(archive->reader, on_skip);
        archive_read_set_seek_callback(archive->reader, on_seek);
        archive_read_set_callback_data(archive->reader, archive);
        rc = archive_read_open1(archive->reader);
    }
    uselocale(before);
    return rc == ARCHIVE_OK ? MSHARD_OK : reader_error(archive, err);
}

void mshi_archive_close(struct mshi_archive *archive)
{
    if (!archive)
        return;
    if (archive->reader)
        archive_read_free(archive->reader);
    if (archive->locale)
        freelocale(archive->locale);
    free(archive->block);
    free(archive->last);
    free(archive);
}

mshard_status mshi_archive_open(const struct mshi_file *file, const char *path, struct mshi_archive **archive,
                                mshard_error *err)
{
    *archive = NULL;
    const mshard_status status = open_reader(file, path, READ_ALL, archive, err);

    if (status != MSHARD_OK) {
        mshi_archive_close(*archive);
        *archive = NULL;
    }
    return status;
}

mshard_status mshi_gzip_open(const struct mshi_file *file, const char *path, struct mshi_archive **archive,
                             mshard_error *err)
{
    struct mshi_member member;

    *archive = NULL;
    mshard_status status = open_reader(file, path, READ_GZIP, archive, err);
    if (status == MSHARD_OK)
        status = mshi_archive_next(*archive, &member, err);
    if (status != MSHARD_OK) {
        mshi_archive_close(*archive);
        *archive = NULL;
    }
    return status == MSHARD_END ? mshi_fail(err, MSHARD_E_TRUNCATED, path, 0, "nothing in it") : status;
}

bool mshi_archive_is_zip(const struct mshi_archive *archive)
{
    return (archive_format(archive->reader) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP;
}

static bool is_tar(const struct mshi_archive *archive)
{
    return (archive_format(archive->reader) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
}

static enum mshi_member_type member_type(struct archive_entry *entry)
{
    if (archive_entry_hardlink(entry))
        return MSHI_MEMBER_HARDLINK;
    if (archive_entry_symlink(entry))
        return MSHI_MEMBER_SYMLINK;
    switch (archive_entry_filetype(entry)) {
    case AE_IFDIR:
        return MSHI_MEMBER_FOLDER;
    case AE_IFLNK:
        return MSHI_MEMBER_SYMLINK;
    case AE_IFREG:
    case 0: /* formats that keep no type keep files */
        return MSHI_MEMBER_FILE;
    default:
        return MSHI_MEMBER_OTHER;
    }
}

/* Is the block before offset a tar header of a plain file of this size? Sparse maps and forks are not. */
static bool tar_header_before(const struct mshi_archive *archive, uint64_t offset, uint64_t size)
{
    uint8_t header[TAR_BLOCK];
    uint64_t value = 0;
    size_t got;

    if (offset < sizeof(header) ||
        mshi_file_read(archive->file, header, sizeof(header), offset - sizeof(header), &got, archive->path, NULL) !=
            MSHARD_OK ||
        got != sizeof(header) || (header[156] != '0' && header[156] != '\0' && header[156] != '7'))
        return false;
    for (size_t i = 124; i < 136; i++) { /* octal, or 256-based in old GNU files: those are read in order instead */
        if (header[i] >= '0' && header[i] <= '7')
            value = value << 3 | (uint64_t)(header[i] - '0');
        else if (header[i] != ' ' && header[i] != '\0')
            return false;
    }
    return value == size;
}

/* Content that stands in the file byte for byte begins where the headers have been read to. */
static uint64_t plain_offset(const struct mshi_archive *archive, const struct mshi_member *member)
{
    const la_int64_t at = archive_filter_bytes(archive->reader, 0);
    const char *format = archive_format_name(archive->reader);
    bool plain = false;
    uint64_t end;

    if (archive_filter_count(archive->reader) != 1 || archive->sparse || !member->size_known || member->encrypted ||
        member->type != MSHI_MEMBER_FILE || at < 0 || __builtin_add_overflow((uint64_t)at, member->size, &end) ||
        end > archive->file->size)
        return MSHARD_NO_OFFSET;
    if (is_tar(archive))
        plain = tar_header_before(archive, (uint64_t)at, member->size);
    else if (mshi_archive_is_zip(archive))
        plain = format && strstr(format, "(uncompressed)");
    return plain ? (uint64_t)at : MSHARD_NO_OFFSET;
}

/* libarchive 3.6 skips some sparse members (Solaris) to a wrong place; reading their data gets to the right one. */
static int leave_sparse(struct mshi_archive *archive)
{
    const void *data;
    size_t size;
    la_int64_t offset;
    int rc = ARCHIVE_OK;

    while (archive->sparse && rc == ARCHIVE_OK)
        rc = archive_read_data_block(archive->reader, &data, &size, &offset);
    return rc == ARCHIVE_EOF ? ARCHIVE_OK : rc;
}

/* A header that libarchive would step over (RETRY: a bad sum) is damage: what it stood for would be missing. */
static mshard_status next_header(struct mshi_archive *archive, mshard_error *err)
{
    if (leave_sparse(archive) < ARCHIVE_WARN)
        return reader_error(archive, err);
    const int rc = archive_read_next_header(archive->reader, &archive->entry);
    if (rc == ARCHIVE_EOF)
        return MSHARD_END;
    if (rc == ARCHIVE_OK || rc == ARCHIVE_WARN)
        return MSHARD_OK;
    if (!archive->last && archive->io.code == MSHARD_OK && archive_format(archive->reader) == 0)
        return mshi_fail(err, MSHARD_E_FORMAT, archive->path, MSHARD_NO_OFFSET, "not an archive of a known kind");
    return reader_error(archive, err);
}

static mshard_status describe(struct mshi_archive *archive, struct mshi_member *member, mshard_error *err)
{
    struct archive_entry *entry = archive->entry;
    const char *name = archive_entry_pathname(entry);

    if (!name)
        name = archive_entry_pathname_utf8(entry);
    *member = (struct mshi_member){.type = member_type(entry)};
    member->encrypted = archive_entry_is_encrypted(entry) == 1;
    member->size_known = archive_entry_size_is_set(entry) && archive_entry_size(entry) >= 0;
    member->size = member->size_known ? (uint64_t)archive_entry_size(entry) : 0;
    archive->size_known = member->size_known;
    archive->size = member->size;
    archive->sparse = archive_entry_sparse_count(entry) > 0;
    archive->produced = 0;
    if (!name || !*name)
        return mshi_fail(err, MSHARD_E_CORRUPT, archive->path, MSHARD_NO_OFFSET,
                         "damaged archive, %s%.200s%s: a member without a readable name",
                         archive->last ? "after member '" : "at its begin", archive->last ? archive->last : "",
                         archive->last ? "'" : "");
    free(archive->last);
    archive->last = NULL;
    MSHI_TRY(mshi_strdup(name, &archive->last, err));
    member->name = archive->last;
    if (member->type == MSHI_MEMBER_HARDLINK)
        member->link = archive_entry_hardlink(entry);
    member->data_offset = plain_offset(archive, member);
    return MSHARD_OK;
}

/* ---- bytes after the end mark ---- */

/* Do the members seen so far end in an end mark? *end: byte of the unpacked archive after it. */
static bool ends_here(const struct mshi_archive *archive, uint64_t *end)
{
    struct mshi_archive *one = NULL;
    struct mshi_member member;
    mshard_status status = open_reader(archive->file, archive->path, READ_ONE_TAR, &one, NULL);

    while (status == MSHARD_OK && one->members <= archive->members)
        status = mshi_archive_next(one, &member, NULL);
    const bool ends = status == MSHARD_END && one->members == archive->members;
    *end = ends ? (uint64_t)archive_filter_bytes(one->reader, 0) : 0;
    mshi_archive_close(one);
    return ends;
}

/* The bytes from end on, padding taken off. None: the begin of another tar, or they cannot be read (a cut gzip). */
static bool is_junk(const struct mshi_archive *archive, uint64_t end, uint64_t *size)
{
    struct mshi_archive *raw = NULL;
    struct mshi_member member;
    uint8_t *piece = NULL;
    uint64_t at = 0, first = UINT64_MAX;
    size_t got = BLOCK;
    bool header = false;
    mshard_status status = open_reader(archive->file, archive->path, READ_RAW, &raw, NULL);

    if (status == MSHARD_OK)
        status = mshi_archive_next(raw, &member, NULL);
    if (status == MSHARD_OK)
        status = mshi_alloc(BLOCK, 1, &piece, NULL);
    for (; status == MSHARD_OK && got == BLOCK; at += got) {
        status = mshi_archive_read(raw, piece, BLOCK, &got, NULL);
        for (size_t i = end > at ? end - at : 0; i < got && first == UINT64_MAX; i++) {
            const uint8_t *block = piece + i / TAR_BLOCK * TAR_BLOCK;

            first = piece[i] ? at + i : first;
            header |= piece[i] && piece + got - block >= 262 && memcmp(block + 257, "ustar", 5) == 0;
        }
    }
    free(piece);
    mshi_archive_close(raw);
    *size = first < at ? at - first : 0;
    return status == MSHARD_OK && *size && !header;
}

mshard_status mshi_archive_next(struct mshi_archive *archive, struct mshi_member *member, mshard_error *err)
{
    const locale_t before = uselocale(archive->locale);
    mshard_status status = next_header(archive, err);
    uint64_t end;

    if (status == MSHARD_OK)
        status = describe(archive, member, err);
    uselocale(before);
    archive->members += status == MSHARD_OK;
    if ((status == MSHARD_E_TRUNCATED || status == MSHARD_E_CORRUPT) && archive->reading == READ_ALL &&
        is_tar(archive) && ends_here(archive, &end) && is_junk(archive, end, &archive->left_aside))
        return MSHARD_END;
    return status;
}

uint64_t mshi_archive_left_aside(const struct mshi_archive *archive)
{
    return archive->left_aside;
}

mshard_status mshi_archive_read(struct mshi_archive *archive, void *data, size_t size, size_t *got, mshard_error *err)
{
    const locale_t before = uselocale(archive->locale);
    la_ssize_t n = 1;

    *got = 0;
    while (*got < size && n > 0) {
        n = archive_read_data(archive->reader, (uint8_t *)data + *got, size - *got);
        if (n > 0)
            *got += (size_t)n;
    }
    uselocale(before);
    archive->produced += *got;
    if (n < 0)
        return reader_error(archive, err);
    if (*got == size || !archive->size_known || archive->produced >= archive->size)
        return MSHARD_OK;
    if (!archive->sparse)
        return mshi_fail(err, MSHARD_E_TRUNCATED, archive->path, MSHARD_NO_OFFSET,
                         "truncated archive: member '%.200s' has %" PRIu64 " bytes of %" PRIu64, archive->last,
                         archive->produced, archive->size);
    /* A hole at the end of a sparse file: libarchive does not give it. */
    const uint64_t hole = archive->size - archive->produced;
    const size_t fill = hole < size - *got ? (size_t)hole : size - *got;
    memset((uint8_t *)data + *got, 0, fill);
    *got += fill;
    archive->produced += fill;
    return MSHARD_OK;
}

static mshard_status too_large(const struct mshi_archive *archive, uint64_t max, mshard_error *err)
{
    return mshi_fail(err, MSHARD_E_LIMIT, archive->path, MSHARD_NO_OFFSET,
                     "member '%.200s' is above the limit of %" PRIu64 " bytes for one input (max-member)",
                     archive->last, max);
}

mshard_status mshi_archive_read_all(struct mshi_archive *archive, uint64_t max, struct mshi_payload *payload,
                                    uint64_t at, uint64_t *size, mshard_error *err)
{
    size_t got = 1;

    if (archive->size_known && archive->size > max)
        return too_large(archive, max, err);
    for (*size = 0; got;) {
        /* Grows with what is really there, by half each time: a declared size alone allocates nothing. */
        const uint64_t room = payload->capacity > at + *size ? payload->capacity - at - *size : 0;
        const size_t want = room > 4096 ? (size_t)room : 65536;

        MSHI_TRY(mshi_payload_reserve(payload, at + *size + want, err));
        MSHI_TRY(mshi_archive_read(archive, (uint8_t *)payload->buffer + at + *size, want, &got, err));
        *size += got;
        if (*size > max)
            return too_large(archive, max, err);
        if (got < want)
            break;
    }
    return MSHARD_OK;
}

mshard_status mshi_archive_spool(struct mshi_archive *archive, uint64_t max, struct mshi_spool *spool, uint64_t *size,
                                 mshard_error *err)
{
    struct mshi_payload piece = {.buffer = NULL};
    mshard_status status = mshi_payload_reserve(&piece, BLOCK, err);
    size_t got = BLOCK;

    if (status == MSHARD_OK && archive->size_known && archive->size > max)
        status = too_large(archive, max, err);
    for (*size = 0; status == MSHARD_OK && got == BLOCK;) {
        status = mshi_archive_read(archive, piece.buffer, BLOCK, &got, err);
        if (status == MSHARD_OK)
            status = mshi_spool_add(spool, piece.buffer, got, err);
        *size += got;
        if (status == MSHARD_OK && *size > max)
            status = too_large(archive, max, err);
    }
    mshi_payload_clear(&piece);
    return status;
}
