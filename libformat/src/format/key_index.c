/*
 * key_index.c - keys.mdb, the only place that knows LMDB
 *
 * LMDB never sees a file whose XXH3-128 differs from the manifest's or whose pages are unsound (key_pages.h): it has
 * no checksums and crashes on damage. It runs read-only without locks, so nothing is written beside the data set.
 *
 * Threads: shared. The environment of a process is published once with compare-and-swap: no lock is held while a
 * file is read, and fork() cannot copy a locked one. An environment that came through fork() is not used, as LMDB
 * demands; the child opens its own and closes both when the handle goes.
 */
#include "format/key_index.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "format/key_pages.h"
#include "format/key_sort.h"
#include "os/file.h"
#include "os/map.h"
#include "os/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <lmdb.h>
#include <mshard/types.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { READ_FLAGS = MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD };

/* What one process opened. */
struct opened {
    int64_t process;
    MDB_env *env;
    MDB_dbi tree;
    struct mshi_file file; /* what was checked; fd is -1 */
    struct opened *before; /* of a parent process */
};

struct mshi_key_index {
    char *path;
    uint64_t size, record_count;
    char hash[33];
    bool check;
    _Atomic(struct opened *) opened;
};

mshard_status mshi_key_index_new(const char *path, uint64_t size, const char *hash, bool check, uint64_t record_count,
                                 struct mshi_key_index **index, mshard_error *err)
{
    struct mshi_key_index *ix;
    mshard_status status;

    *index = NULL;
    if (strlen(hash) != 32)
        return mshi_fail(err, MSHARD_E_INVALID, path, MSHARD_NO_OFFSET, "a hash of 32 hex digits expected");
    MSHI_TRY(mshi_alloc(1, sizeof(*ix), &ix, err));
    ix->size = size;
    ix->record_count = record_count;
    ix->check = check;
    memcpy(ix->hash, hash, sizeof(ix->hash));
    status = mshi_strdup(path, &ix->path, err);
    if (status != MSHARD_OK) {
        free(ix);
        return status;
    }
    *index = ix;
    return MSHARD_OK;
}

/* Also of a parent process: without locks and thread keys, closing gives back a map and a descriptor, no more. */
static void opened_free(struct opened *opened)
{
    if (opened->env)
        mdb_env_close(opened->env);
    free(opened);
}

void mshi_key_index_free(struct mshi_key_index *index)
{
    if (!index)
        return;
    for (struct opened *o = atomic_load(&index->opened), *before; o; o = before) {
        before = o->before;
        opened_free(o);
    }
    free(index->path);
    free(index);
}

/* rc as LMDB returns it: a system error when positive. */
static mshard_status lmdb_fail(mshard_error *err, int rc, const char *path, const char *what)
{
    mshard_status code = MSHARD_E_IO;

    if (rc > 0)
        return mshi_fail_errno(err, rc, path, MSHARD_NO_OFFSET, "key index: cannot %s", what);
    if (rc == MDB_CORRUPTED || rc == MDB_PAGE_NOTFOUND || rc == MDB_INVALID || rc == MDB_VERSION_MISMATCH)
        code = MSHARD_E_CORRUPT;
    return mshi_fail(err, code, path, MSHARD_NO_OFFSET, "key index: cannot %s: %s", what, mdb_strerror(rc));
}

/* ---- opening ---- */

static mshard_status check_hash(const struct mshi_key_index *ix, const void *data, mshard_error *err)
{
    char found[33];

    mshi_hash128_hex(mshi_hash128(data, (size_t)ix->size), found);
    if (memcmp(found, ix->hash, sizeof(found)) == 0)
        return MSHARD_OK;
    return mshi_fail(err, MSHARD_E_CORRUPT, ix->path, MSHARD_NO_OFFSET,
                     "key index with the XXH3-128 %s expected, found %s: damaged, or of another data set", ix->hash,
                     found);
}

static bool same_file(const struct mshi_file *a, const struct mshi_file *b)
{
    return a->size == b->size && a->device == b->device && a->inode == b->inode && a->mtime_ns == b->mtime_ns;
}

/*
 * file: open. Without `check`, a file that a parent process has hashed and that is still the same is not hashed again;
 * its pages always are checked.
 */
static mshard_status check_file(const struct mshi_key_index *ix, const struct mshi_file *file,
                                const struct opened *before, mshard_error *err)
{
    const void *data;
    uint64_t count;
    mshard_status status = MSHARD_OK;

    if (file->size != ix->size)
        return mshi_fail(err, file->size < ix->size ? MSHARD_E_TRUNCATED : MSHARD_E_CORRUPT, ix->path, MSHARD_NO_OFFSET,
                         "key index of %" PRIu64 " bytes expected, found %" PRIu64, ix->size, file->size);
    MSHI_TRY(mshi_map_file(file, ix->path, &data, err));
    mshi_map_advise(data, file->size, MSHI_ADVICE_SEQUENTIAL);
    if (ix->check || !before || !same_file(&before->file, file))
        status = check_hash(ix, data, err);
    if (status == MSHARD_OK)
        status = mshi_key_pages_check(data, ix->size, ix->path, &count, err);
    mshi_map_unmap(data, file->size);
    return status;
}

static int open_tree(MDB_env *env, MDB_dbi *tree)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);

    if (rc)
        return rc;
    rc = mdb_dbi_open(txn, NULL, 0, tree);
    if (rc) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn); /* keeps the handle; a read-only transaction writes nothing */
}

static mshard_status open_env(const struct mshi_key_index *ix, struct opened *opened, mshard_error *err)
{
    struct mshi_file seen;
    mdb_filehandle_t fd;
    int rc = mdb_env_create(&opened->env);

    if (rc == 0)
        rc = mdb_env_open(opened->env, ix->path, READ_FLAGS, 0666);
    if (rc == 0)
        rc = mdb_env_get_fd(opened->env, &fd);
    if (rc)
        return lmdb_fail(err, rc, ix->path, "open it");
    MSHI_TRY(mshi_file_from_fd(fd, ix->path, &seen, err)); /* fd stays LMDB's */
    if (!same_file(&seen, &opened->file))
        return mshi_fail(err, MSHARD_E_CORRUPT, ix->path, MSHARD_NO_OFFSET,
                         "key index: the file that was checked expected, found that it was replaced meanwhile");
    rc = open_tree(opened->env, &opened->tree);
    return rc ? lmdb_fail(err, rc, ix->path, "open its tree") : MSHARD_OK;
}

static mshard_status open_for_process(struct mshi_key_index *ix, struct opened *before, struct opened **out,
                                      mshard_error *err)
{
    struct opened *opened;
    struct mshi_file file;
    mshard_status status;

    MSHI_TRY(mshi_file_open(ix->path, &file, err));
    status = check_file(ix, &file, before, err);
    if (status == MSHARD_OK)
        status = mshi_alloc(1, sizeof(*opened), &opened, err);
    if (status != MSHARD_OK) {
        mshi_file_close(&file);
        return status;
    }
    opened->process = mshi_process_id();
    opened->file = file;
    opened->file.fd = -1;
    opened->before = before;
    status = open_env(ix, opened, err);
    mshi_file_close(&file);
    if (status != MSHARD_OK) {
        opened_free(opened);
        return status;
    }
    *out = opened;
    return MSHARD_OK;
}

static mshard_status get_opened(struct mshi_key_index *ix, struct opened **out, mshard_error *err)
{
    /* acquire: what it points to was written before the release below */
    struct opened *now = atomic_load_explicit(&ix->opened, memory_order_acquire);
    struct opened *made;

    if (now && now->process == mshi_process_id()) {
        *out = now;
        return MSHARD_OK;
    }
    MSHI_TRY(open_for_process(ix, now, &made, err));
    if (!atomic_compare_exchange_strong_explicit(&ix->opened, &now, made, memory_order_acq_rel, memory_order_acquire)) {
        opened_free(made); /* another thread was first */
        made = now;
    }
    *out = made;
    return MSHARD_OK;
}

/* ---- reading ---- */

static mshard_status load_record(const struct mshi_key_index *ix, const MDB_val *value, uint64_t *record,
                                 mshard_error *err)
{
    mshi_le64 disk;

    if (value->mv_size != sizeof(disk))
        return mshi_fail(err, MSHARD_E_CORRUPT, ix->path, MSHARD_NO_OFFSET,
                         "key index: a value of 8 bytes expected, found %zu", value->mv_size);
    memcpy(&disk, value->mv_data, sizeof(disk));
    *record = mshi_le64_load(&disk);
    if (*record >= ix->record_count)
        return mshi_fail(err, MSHARD_E_CORRUPT, ix->path, MSHARD_NO_OFFSET,
                         "key index: a record below %" PRIu64 " expected, found %" PRIu64, ix->record_count, *record);
    return MSHARD_OK;
}

static mshard_status no_such_key(const char *path, const void *key, size_t key_size, mshard_error *err)
{
    char *text = mshi_key_text(key, key_size);

    mshi_fail(err, MSHARD_E_NOT_FOUND, path, MSHARD_NO_OFFSET, "no record has the key %s", text ? text : "?");
    free(text);
    return MSHARD_E_NOT_FOUND;
}

mshard_status mshi_key_index_find(struct mshi_key_index *index, const void *key, size_t key_size, uint64_t *record,
                                  mshard_error *err)
{
    MDB_val name = {.mv_size = key_size, .mv_data = (void *)(uintptr_t)key};
    MDB_val value;
    struct opened *opened;
    MDB_txn *txn;
    mshard_status status;
    int rc;

    MSHI_TRY(get_opened(index, &opened, err));
    if (key_size == 0 || key_size > MSHARD_MAX_KEY)
        return no_such_key(index->path, key, key_size, err);
    rc = mdb_txn_begin(opened->env, NULL, MDB_RDONLY, &txn);
    if (rc)
        return lmdb_fail(err, rc, index->path, "read it");
    rc = mdb_get(txn, opened->tree, &name, &value);
    if (rc == 0)
        status = load_record(index, &value, record, err);
    else if (rc == MDB_NOTFOUND)
        status = no_such_key(index->path, key, key_size, err);
    else
        status = lmdb_fail(err, rc, index->path, "read it");
    mdb_txn_abort(txn);
    return status;
}

mshard_status mshi_key_index_walk(struct mshi_key_index *index,
                                  mshard_status (*visit)(void *context, const void *key, size_t key_size,
                                                         uint64_t record, mshard_error *err),
                                  void *context, mshard_error *err)
{
    struct opened *opened;
    MDB_txn *txn;
    MDB_cursor *cursor = NULL;
    MDB_val key, value;
    mshard_status status = MSHARD_OK;
    uint64_t record = 0;
    int rc;

    MSHI_TRY(get_opened(index, &opened, err));
    rc = mdb_txn_begin(opened->env, NULL, MDB_RDONLY, &txn);
    if (rc)
        return lmdb_fail(err, rc, index->path, "read it");
    rc = mdb_cursor_open(txn, opened->tree, &cursor);
    while (rc == 0 && status == MSHARD_OK) {
        rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
        if (rc)
            break;
        status = load_record(index, &value, &record, err);
        if (status == MSHARD_OK)
            status = visit(context, key.mv_data, key.mv_size, record, err);
    }
    if (status == MSHARD_OK && rc != 0 && rc != MDB_NOTFOUND)
        status = lmdb_fail(err, rc, index->path, "read it");
    if (cursor)
        mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return status;
}

/* ---- building ---- */

/* Address space, not memory or disk: several times what the pages can need. */
static size_t map_size_for(const struct mshi_key *keys, uint64_t n)
{
    const uint64_t unit = UINT64_C(1) << 20;
    uint64_t bytes = 64 * unit;

    for (uint64_t i = 0; i < n; i++)
        bytes += 4 * (keys[i].size + 32);
    return (size_t)((bytes + unit - 1) & ~(unit - 1));
}

static int put_all(MDB_env *env, const struct mshi_key *keys, uint64_t n)
{
    MDB_txn *txn;
    MDB_dbi tree;
    int rc = mdb_txn_begin(env, NULL, 0, &txn);

    if (rc)
        return rc;
    rc = mdb_dbi_open(txn, NULL, 0, &tree);
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        MDB_val key = {.mv_size = keys[i].size, .mv_data = (void *)(uintptr_t)keys[i].data};
        mshi_le64 disk;
        MDB_val value = {.mv_size = sizeof(disk), .mv_data = &disk};

        mshi_le64_store(&disk, keys[i].record);
        rc = mdb_put(txn, tree, &key, &value, MDB_APPEND);
    }
    if (rc) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

/* One transaction of appends: the shape of the tree depends on the keys alone. */
static mshard_status write_tree(const char *path, const struct mshi_key *keys, uint64_t n, mshard_error *err)
{
    MDB_env *env = NULL;
    int rc = mdb_env_create(&env);

    if (rc == 0)
        rc = mdb_env_set_mapsize(env, map_size_for(keys, n));
    if (rc == 0)
        rc = mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0666);
    if (rc == 0)
        rc = put_all(env, keys, n);
    if (env)
        mdb_env_close(env);
    return rc ? lmdb_fail(err, rc, path, "build it") : MSHARD_OK;
}

/* from, compacted, as to. The minimal map size goes into the file: LMDB raises it to the pages in use. */
static mshard_status compact(const char *from, const char *to, bool sync, mshard_error *err)
{
    const struct mshi_fs *const fs = &mshi_fs_posix;
    MDB_env *env = NULL;
    int rc = mdb_env_create(&env);
    mshard_status status = MSHARD_OK;
    int fd = -1;

    if (rc == 0)
        rc = mdb_env_set_mapsize(env, 4096);
    if (rc == 0)
        rc = mdb_env_open(env, from, READ_FLAGS, 0666);
    if (rc == 0) {
        fd = fs->create(fs->context, to, false);
        rc = fd < 0 ? errno : mdb_env_copyfd2(env, fd, MDB_CP_COMPACT);
    }
    if (rc)
        status = lmdb_fail(err, rc, to, "write it");
    if (env)
        mdb_env_close(env);
    if (status == MSHARD_OK && sync && fs->sync(fs->context, fd) < 0)
        status = mshi_fail_errno(err, errno, to, MSHARD_NO_OFFSET, "cannot sync");
    if (fd >= 0 && fs->close(fs->context, fd) < 0 && status == MSHARD_OK)
        status = mshi_fail_errno(err, errno, to, MSHARD_NO_OFFSET, "cannot close");
    return status;
}

/* Size and hash of what was written, after the checks that a reader will make. */
static mshard_status read_back(const char *path, uint64_t n, uint64_t *file_size, char hash[33], mshard_error *err)
{
    struct mshi_file file;
    const void *data = NULL;
    mshard_status status;
    uint64_t count;

    MSHI_TRY(mshi_file_open(path, &file, err));
    status = mshi_map_file(&file, path, &data, err);
    mshi_file_close(&file);
    MSHI_TRY(status);
    mshi_hash128_hex(mshi_hash128(data, (size_t)file.size), hash);
    *file_size = file.size;
    status = mshi_key_pages_check(data, file.size, path, &count, err);
    if (status == MSHARD_OK && count != n)
        status = mshi_fail(err, MSHARD_E_CORRUPT, path, MSHARD_NO_OFFSET,
                           "key index of %" PRIu64 " keys expected, found %" PRIu64, n, count);
    mshi_map_unmap(data, file.size);
    return status;
}

static mshard_status build_at(const char *path, const char *tree, const char *temp, const struct mshi_key *keys,
                              uint64_t n, bool sync, uint64_t *file_size, char hash[33], mshard_error *err)
{
    const struct mshi_fs *const fs = &mshi_fs_posix;

    /* what a killed run left would be opened and kept by LMDB */
    MSHI_TRY(mshi_fs_remove_tree(fs, tree, err));
    MSHI_TRY(write_tree(tree, keys, n, err));
    MSHI_TRY(compact(tree, temp, sync, err));
    MSHI_TRY(read_back(temp, n, file_size, hash, err));
    if (fs->rename(fs->context, temp, path) < 0)
        return mshi_fail_errno(err, errno, path, MSHARD_NO_OFFSET, "cannot rename a temporary file to this");
    return MSHARD_OK;
}

static mshard_status sync_parent(const char *path, mshard_error *err)
{
    const struct mshi_fs *const fs = &mshi_fs_posix;
    mshard_status status = MSHARD_OK;
    char *parent;

    MSHI_TRY(mshi_path_parent(path, &parent, err));
    if (fs->sync_folder(fs->context, parent) < 0)
        status = mshi_fail_errno(err, errno, parent, MSHARD_NO_OFFSET, "cannot sync the folder");
    free(parent);
    return status;
}

mshard_status mshi_key_index_build(const char *path, struct mshi_key *keys, uint64_t n, bool sync, uint64_t *file_size,
                                   char hash[33], mshard_error *err)
{
    const struct mshi_fs *const fs = &mshi_fs_posix;
    struct mshi_buf tree = {.data = NULL}, temp = {.data = NULL};
    mshard_status status;

    MSHI_TRY(mshi_key_sort(path, keys, n, err));
    mshi_buf_printf(&tree, "%s.build", path);
    mshi_buf_printf(&temp, "%s.tmp", path);
    status = mshi_buf_status(&tree, err);
    if (status == MSHARD_OK)
        status = mshi_buf_status(&temp, err);
    if (status == MSHARD_OK) {
        status = build_at(path, tree.data, temp.data, keys, n, sync, file_size, hash, err);
        fs->unlink(fs->context, tree.data);
        if (status != MSHARD_OK)
            fs->unlink(fs->context, temp.data);
    }
    if (status == MSHARD_OK && sync)
        status = sync_parent(path, err);
    mshi_buf_clear(&tree);
    mshi_buf_clear(&temp);
    return status;
}
