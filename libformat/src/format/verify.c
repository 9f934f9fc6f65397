/*
 * verify.c - check a data set or a shard: what there is, in which order, and the report
 *
 * Goes on after every fault. Without a readable dataset.json the shards of the folder are checked each by itself.
 * Findings are reported by the calling thread, shard after shard.
 */
#include "format/verify_internal.h"

#include "base/alloc.h"
#include "base/options.h"
#include "format/store_internal.h"
#include <mshard/inspect.h>

#include <inttypes.h>
#include <stdlib.h>

/* ---- report ---- */

static void report(struct mshi_verify *v, const mshard_finding *finding)
{
    if (v->result->findings++ == 0)
        v->result->worst = finding->error->code;
    if (v->options->report != NULL)
        v->options->report(v->options->context, finding);
}

void mshi_verify_report(struct mshi_verify *v, const mshard_error *error, const char *shard_name, uint64_t first,
                        uint64_t count)
{
    report(v,
           &(mshard_finding){.error = error, .shard_name = shard_name, .first_record = first, .record_count = count});
}

void mshi_verify_flush(struct mshi_verify_shard *s)
{
    mshi_findings_sort(&s->findings);
    for (uint64_t i = 0; i < s->findings.count; i++) {
        const struct mshi_found *f = &s->findings.items[i];
        mshard_error error;

        (void)mshi_fail(&error, f->code, s->path, f->at, "%s", f->text);
        error.sys_errno = f->sys_errno;
        report(s->verify,
               &(mshard_finding){.error = &error,
                                 .shard_name = s->name,
                                 .field_name = f->field == MSHI_NO_FIELD ? NULL : s->header->fields[f->field].name,
                                 .offset = f->offset,
                                 .size = f->size,
                                 .first_record = f->count == 0 ? 0 : s->first_record + f->first,
                                 .record_count = f->count});
    }
    s->reported += s->findings.count;
    mshi_findings_clear(&s->findings);
}

mshard_status mshi_verify_progress(struct mshi_verify *v, uint64_t bytes, mshard_error *err)
{
    v->done = v->total - v->done < bytes ? v->total : v->done + bytes;
    if (v->options->progress != NULL && v->options->progress(v->options->context, v->done, v->total) != 0)
        return mshi_fail(err, MSHARD_E_CANCELLED, NULL, MSHARD_NO_OFFSET, "the check was stopped");
    return MSHARD_OK;
}

/* ---- shards ---- */

static mshard_status check_one(struct mshi_verify *v, struct mshi_verify_shard *s, uint64_t size, mshard_error *err)
{
    const uint64_t done = v->done + size;

    s->verify = v;
    MSHI_TRY(mshi_verify_shard(s, err));
    v->done = done;
    return mshi_verify_progress(v, 0, err);
}

static mshard_status check_listed(struct mshi_verify *v, const mshard_store *store, mshard_error *err)
{
    v->total = store->bytes;
    for (uint64_t i = 0; i < store->shard_count; i++) {
        const struct mshi_manifest_shard *m = &store->manifest.shards[i];
        const struct mshi_shard_expect expect = {.fields = store->fields,
                                                 .field_count = store->field_count,
                                                 .records = m->records,
                                                 .size = m->size,
                                                 .header_sum = m->header_sum};
        char *path;

        MSHI_TRY(mshi_path_join(store->shown, m->name, &path, err));
        struct mshi_verify_shard s = {.path = path,
                                      .name = m->name,
                                      .expect = &expect,
                                      .manifest = &store->manifest,
                                      .index = i,
                                      .first_record = store->first[i]};
        const mshard_status status = check_one(v, &s, m->size, err);
        free(path);
        if (status != MSHARD_OK)
            return status;
    }
    return MSHARD_OK;
}

static mshard_status check_alone(struct mshi_verify *v, const char *path, const char *name, uint64_t index,
                                 uint64_t size, mshard_error *err)
{
    struct mshi_verify_shard s = {.path = path, .name = name, .index = index};

    return check_one(v, &s, size, err);
}

static bool is_shard_name(const char *name)
{
    const size_t size = strlen(name);

    return size > 7 && strcmp(name + size - 7, ".mshard") == 0;
}

/* Every shard of a folder whose dataset.json is missing or damaged, each by itself. */
static mshard_status check_folder(struct mshi_verify *v, const char *folder, mshard_error *err)
{
    struct mshi_entry *entries;
    size_t count;
    mshard_status status = MSHARD_OK;

    MSHI_TRY(mshi_folder_list(folder, true, &entries, &count, err));
    for (size_t i = 0; i < count; i++)
        if (entries[i].kind == MSHI_FILE && is_shard_name(entries[i].name))
            v->total += entries[i].size;
    for (size_t i = 0, index = 0; i < count && status == MSHARD_OK; i++) {
        char *path;

        if (entries[i].kind != MSHI_FILE || !is_shard_name(entries[i].name))
            continue;
        status = mshi_path_join(folder, entries[i].name, &path, err);
        if (status != MSHARD_OK)
            break;
        status = check_alone(v, path, entries[i].name, index++, entries[i].size, err);
        free(path);
    }
    mshi_folder_free(entries, count);
    return status;
}

/* ---- data set ---- */

static mshard_status check_keys(struct mshi_verify *v, mshard_store *store, mshard_error *err)
{
    const bool records = v->options->level >= MSHARD_VERIFY_ALL && !v->partial && v->result->bad_shards == 0;
    char *path;
    mshard_status status;

    if (!store->manifest.keys.present || v->options->level < MSHARD_VERIFY_INDEX || v->options->subset > 1)
        return MSHARD_OK;
    MSHI_TRY(mshi_path_join(store->shown, store->manifest.keys.file, &path, err));
    /* Records are looked up through maps: every byte of them was read a moment ago, and no shard was bad. */
    status = mshi_verify_keys(v, path, &store->manifest, records ? store : NULL, err);
    free(path);
    return status;
}

static mshard_status check_dataset(struct mshi_verify *v, const char *path, mshard_error *err)
{
    const mshard_store_options unchecked = {MSHARD_STORE_OPTIONS_INIT, .check = MSHARD_CHECK_NONE};
    mshard_store *store = NULL;
    mshard_error fault;
    mshard_status status = mshard_store_open(path, NULL, &store, &fault);

    if (status != MSHARD_OK && status != MSHARD_E_CORRUPT && status != MSHARD_E_TRUNCATED && status != MSHARD_E_LIMIT &&
        status != MSHARD_E_INCOMPLETE) {
        if (err != NULL)
            *err = fault;
        return status;
    }
    if (status != MSHARD_OK) {
        mshi_verify_report(v, &fault, NULL, 0, 0);
        /* changed but readable: its shards can still be checked as listed */
        if (mshard_store_open(path, &unchecked, &store, NULL) != MSHARD_OK)
            store = NULL;
    }
    if (store != NULL) {
        status = check_listed(v, store, err);
        if (status == MSHARD_OK)
            status = check_keys(v, store, err);
        mshard_store_unref(store);
        return status;
    }
    if (mshi_path_kind(path, NULL) == MSHI_FOLDER)
        return check_folder(v, path, err);
    char *folder; /* path is its dataset.json */
    MSHI_TRY(mshi_path_join(path, "", &folder, err));
    const char *slash = strrchr(path, '/');
    folder[slash == NULL ? 0 : slash > path ? slash - path : 1] = '\0';
    status = check_folder(v, folder[0] == '\0' ? "." : folder, err);
    free(folder);
    return status;
}

static mshard_status check_options(mshard_verify_options *o, mshard_error *err)
{
    if (o->level == MSHARD_VERIFY_DEFAULT)
        o->level = MSHARD_VERIFY_ALL;
    if (o->level > MSHARD_VERIFY_ALL)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "level must be one of MSHARD_VERIFY_*, found %d", (int)o->level);
    if ((o->subset == 0) != (o->subset_count == 0) || o->subset > o->subset_count)
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET,
                         "subset must be from 1 to subset_count, found %" PRIu64 " of %" PRIu64, o->subset,
                         o->subset_count);
    if (!(o->sample >= 0 && o->sample <= 1))
        return mshi_fail(err, MSHARD_E_INVALID, NULL, MSHARD_NO_OFFSET, "sample must be from 0 to 1, found %g",
                         o->sample);
    return MSHARD_OK;
}

/* A file that may be a shard: not a folder, not dataset.json. */
static bool is_single(const char *path, uint64_t *size)
{
    const char *slash = strrchr(path, '/');

    return mshi_path_kind(path, size) == MSHI_FILE && strcmp(slash == NULL ? path : slash + 1, MSHI_MANIFEST_NAME) != 0;
}

/* A file that has nothing of a shard, neither name nor first bytes, is not ours to judge. */
static mshard_status check_single(struct mshi_verify *v, const char *path, uint64_t size, mshard_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;

    if (!is_shard_name(name)) {
        mshard_store *store = NULL;
        const mshard_status status = mshard_store_open_single(path, NULL, &store, err);

        mshard_store_unref(store);
        if (status == MSHARD_E_FORMAT || status == MSHARD_E_VERSION || status == MSHARD_E_IO ||
            status == MSHARD_E_NOT_FOUND)
            return status;
    }
    v->total = size;
    return check_alone(v, path, name, 0, size, err);
}

mshard_status mshard_verify(const char *path, const mshard_verify_options *options, mshard_verify_result *result,
                            mshard_error *err)
{
    mshard_verify_options o;
    mshard_verify_result none;
    struct mshi_verify v = {.options = &o, .result = result == NULL ? &none : result};
    uint64_t size = 0;

    MSHI_TRY(mshi_options_load(&o, sizeof(o), options, err));
    MSHI_TRY(check_options(&o, err));
    memset(v.result, 0, sizeof(*v.result));
    v.partial = o.subset_count > 1 || (o.sample > 0 && o.sample < 1);
    return is_single(path, &size) ? check_single(&v, path, size, err) : check_dataset(&v, path, err);
}
