/*
 * verify_blocks.c - every block of a shard against its sum, in threads
 *
 * Blocks are read with pread into a buffer of each thread, not through a map: a file that is cut meanwhile or a disk
 * that fails becomes a finding, not a signal. The buffer stays in the second-level cache between read and hash.
 * Measured on cached files, one thread, XXH3 with AVX: 5.8 GB/s so, 8.2 GB/s through a map, plain reads of a map 6.1
 * to 7.0; reads of 64 KiB, 256 KiB and 1 MiB do the same.
 * Work goes in windows of blocks so that findings of a file that is damaged all over stay bounded; after each window
 * the calling thread reports them in file order.
 *
 * Threads: one lock, guarding status, error, findings, ranges and result; never held across reading or hashing.
 */
#include "format/verify_internal.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"
#include "os/thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK_BLOCKS 4u      /* read at once: 256 KiB */
#define WINDOW_BLOCKS 16384u /* between reports: 1 GiB */
#define BLOCKS_A_THREAD 32u  /* starting a thread is not worth less than 2 MiB */
#define THREADS_MAX 256u

struct pass {
    struct mshi_verify_shard *shard;
    uint64_t begin, end; /* blocks of this window */
    _Atomic uint64_t next;
    _Atomic bool stop;
    _Atomic uint64_t bytes; /* read so far, for progress */
    mshi_mutex lock;
    mshard_status status; /* by lock: the first failure that ends the check */
    mshard_error error;   /* by lock */
};

/* ---- which records ---- */

/* First record whose end is at least target (or above it, with above). False when ends cannot be read. */
static bool search_ends(const struct mshi_verify_shard *s, uint32_t field, uint64_t target, bool above,
                        uint64_t *record)
{
    const struct mshi_section *ends = mshi_header_section(s->header, field, MSHI_SECTION_ENDS);
    uint64_t low = 0, high = s->header->records;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        mshi_le64 entry;
        size_t got;

        if (mshi_file_read(&s->file, &entry, sizeof(entry), ends->offset + middle * sizeof(entry), &got, s->path,
                           NULL) != MSHARD_OK ||
            got != sizeof(entry))
            return false;
        const uint64_t end = mshi_le64_load(&entry);
        if (above ? end > target : end >= target)
            high = middle;
        else
            low = middle + 1;
    }
    *record = low;
    return true;
}

void mshi_verify_records(const struct mshi_verify_shard *s, const struct mshi_section *section, uint64_t begin,
                         uint64_t end, uint64_t *first, uint64_t *count)
{
    const mshard_field *field = &s->header->fields[section->field];
    const uint64_t from = begin - section->offset, to = end - section->offset, records = s->header->records;
    uint64_t unit = field->record_size, last;

    *first = *count = 0;
    if (section->kind == MSHI_SECTION_VALUES) {
        if (s->index_bad[section->field] || !search_ends(s, section->field, from, true, first) ||
            !search_ends(s, section->field, to, false, &last))
            return;
        last++;
    } else {
        if (section->kind == MSHI_SECTION_ENDS)
            unit = sizeof(mshi_le64);
        else if (section->kind == MSHI_SECTION_DIMS)
            unit = sizeof(mshi_le32) * (uint64_t)field->ndim;
        *first = from / unit;
        last = (to - 1) / unit + 1;
        if (section->kind == MSHI_SECTION_ENDS)
            last++; /* an end is also where the next record begins */
    }
    if (last > records)
        last = records;
    *count = last > *first ? last - *first : 0;
}

/* ---- bad blocks ---- */

struct bad_block {
    mshard_status code;
    int32_t sys_errno;
    uint64_t begin, size;
    const char *text;
};

/* One finding for each field that has bytes in the block; one without a field when none has. */
static mshard_status add_bad_block(struct pass *p, const struct bad_block *bad, mshard_error *err)
{
    struct mshi_verify_shard *s = p->shard;
    const uint64_t end = bad->begin + bad->size;
    struct mshi_found found = {.code = bad->code,
                               .sys_errno = bad->sys_errno,
                               .at = bad->begin,
                               .offset = bad->begin,
                               .size = bad->size,
                               .field = MSHI_NO_FIELD};
    mshard_status status = MSHARD_OK;
    bool any = false;

    for (uint32_t f = 0; f < s->header->field_count && status == MSHARD_OK; f++) {
        uint64_t low = UINT64_MAX, high = 0;
        bool touched = false;

        for (uint32_t i = 0; i + 1 < s->header->section_count && status == MSHARD_OK; i++) {
            const struct mshi_section *section = &s->header->sections[i];
            const uint64_t from = section->offset > bad->begin ? section->offset : bad->begin;
            const uint64_t stop = section->offset + section->size, to = stop < end ? stop : end;
            uint64_t first, count;

            if (section->field != f || from >= to)
                continue;
            touched = true;
            mshi_verify_records(s, section, from, to, &first, &count);
            if (count == 0)
                continue;
            low = first < low ? first : low;
            high = first + count > high ? first + count : high;
            mshi_mutex_lock(&p->lock);
            status = mshi_ranges_add(&s->ranges, first, first + count, err);
            mshi_mutex_unlock(&p->lock);
        }
        if (!touched || status != MSHARD_OK)
            continue;
        any = true;
        found.field = f;
        found.first = high == 0 ? 0 : low;
        found.count = high == 0 ? 0 : high - low;
        mshi_mutex_lock(&p->lock);
        status = mshi_findings_add(&s->findings, &found, err, "%s", bad->text);
        mshi_mutex_unlock(&p->lock);
    }
    mshi_mutex_lock(&p->lock);
    if (!any && status == MSHARD_OK)
        status = mshi_findings_add(&s->findings, &found, err, "%s (no record is touched)", bad->text);
    s->verify->result->bad_blocks++;
    mshi_mutex_unlock(&p->lock);
    return status;
}

/* ---- rules on good bytes: gaps, bool, labels ---- */

struct offence {
    uint64_t first, last, count; /* elements of the bytes looked at */
};

static void note_offence(struct offence *o, uint64_t element)
{
    if (o->count++ == 0)
        o->first = element;
    o->last = element;
}

static void find_above(const uint8_t *bytes, uint64_t size, uint8_t most, struct offence *o)
{
    uint8_t highest = 0;

    for (uint64_t i = 0; i < size; i++) /* vectorized: nearly always all is well */
        highest = bytes[i] > highest ? bytes[i] : highest;
    for (uint64_t i = 0; highest > most && i < size; i++)
        if (bytes[i] > most)
            note_offence(o, i);
}

/* Label as a number; a negative one becomes larger than any class count. */
static uint64_t load_label(const uint8_t *at, mshard_dtype dtype)
{
    uint64_t value = 0;
    const size_t size = mshard_dtype_size(dtype);
    const bool is_signed =
        dtype == MSHARD_INT8 || dtype == MSHARD_INT16 || dtype == MSHARD_INT32 || dtype == MSHARD_INT64;

    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return is_signed && (at[size - 1] & 0x80) != 0 ? UINT64_MAX : value;
}

static mshard_status add_offence(struct pass *p, const struct mshi_section *section, const struct offence *o,
                                 uint64_t begin, uint64_t unit, const char *rule, mshard_error *err)
{
    struct mshi_verify_shard *s = p->shard;
    struct mshi_found found = {.code = MSHARD_E_CORRUPT,
                               .at = begin + o->first * unit,
                               .offset = begin + o->first * unit,
                               .size = (o->last - o->first + 1) * unit,
                               .field = MSHI_NO_FIELD};
    mshard_status status;

    if (section != NULL) {
        found.field = section->field;
        mshi_verify_records(s, section, found.offset, found.offset + found.size, &found.first, &found.count);
    }
    mshi_mutex_lock(&p->lock);
    status = mshi_findings_add(&s->findings, &found, err, "%s, found %" PRIu64 " element%s in this block that %s not",
                               rule, o->count, o->count == 1 ? "" : "s", o->count == 1 ? "is" : "are");
    mshi_mutex_unlock(&p->lock);
    return status;
}

static mshard_status check_values(struct pass *p, const struct mshi_section *section, const uint8_t *bytes,
                                  uint64_t begin, uint64_t size, mshard_error *err)
{
    const struct mshi_verify_shard *s = p->shard;
    const mshard_field *field = &s->header->fields[section->field];
    const uint64_t classes = s->manifest == NULL ? 0 : s->manifest->class_count[section->field];
    const size_t unit = mshard_dtype_size(field->dtype);
    struct offence o = {.count = 0};

    if (section->kind != MSHI_SECTION_COLUMN && section->kind != MSHI_SECTION_VALUES)
        return MSHARD_OK;
    if (field->dtype == MSHARD_BOOL) {
        find_above(bytes, size, 1, &o);
        return o.count == 0 ? MSHARD_OK : add_offence(p, section, &o, begin, 1, "bool values must be 0 or 1", err);
    }
    if (field->content != MSHARD_CONTENT_LABEL || classes == 0)
        return MSHARD_OK;
    for (uint64_t i = 0; i < size / unit; i++)
        if (load_label(bytes + i * unit, field->dtype) >= classes)
            note_offence(&o, i);
    return o.count == 0 ? MSHARD_OK
                        : add_offence(p, section, &o, begin, unit, "labels must be below the number of classes", err);
}

/* bytes: a good block, at file offset begin. */
static mshard_status check_rules(struct pass *p, const uint8_t *bytes, uint64_t begin, uint64_t size, mshard_error *err)
{
    const struct mshi_header *h = p->shard->header;
    const uint64_t end = begin + size;
    uint64_t gap = h->header_size;

    for (uint32_t i = 0; i < h->section_count && gap < end; i++) {
        const struct mshi_section *section = &h->sections[i];
        const uint64_t stop = section->offset + section->size;
        const uint64_t gap_from = gap > begin ? gap : begin, gap_to = section->offset < end ? section->offset : end;
        const uint64_t from = section->offset > begin ? section->offset : begin, to = stop < end ? stop : end;
        struct offence o = {.count = 0};

        if (gap_from < gap_to) {
            find_above(bytes + (gap_from - begin), gap_to - gap_from, 0, &o);
            if (o.count > 0)
                MSHI_TRY(add_offence(p, NULL, &o, gap_from, 1, "bytes between sections must be 0", err));
        }
        if (from < to && section->kind != MSHI_SECTION_SUMS)
            MSHI_TRY(check_values(p, section, bytes + (from - begin), from, to - from, err));
        gap = stop;
    }
    return MSHARD_OK;
}

/* ---- reading ---- */

static uint64_t data_end(const struct mshi_verify_shard *s)
{
    return s->header->sections[s->header->section_count - 1].offset;
}

static uint64_t block_begin(const struct mshi_verify_shard *s, uint64_t block)
{
    return s->header->header_size + block * MSHI_BLOCK_SIZE;
}

static uint64_t block_size(const struct mshi_verify_shard *s, uint64_t block)
{
    const uint64_t left = data_end(s) - block_begin(s, block);

    return left < MSHI_BLOCK_SIZE ? left : MSHI_BLOCK_SIZE;
}

/* Bytes of blocks [begin, end). */
static uint64_t run_size(const struct mshi_verify_shard *s, uint64_t begin, uint64_t end)
{
    return block_begin(s, end - 1) + block_size(s, end - 1) - block_begin(s, begin);
}

static mshard_status check_block(struct pass *p, uint64_t block, const uint8_t *bytes, mshard_error *err)
{
    struct mshi_verify_shard *s = p->shard;
    const uint64_t size = block_size(s, block);
    const uint64_t expected = mshi_le64_load(&s->sums[block]), found = mshi_hash64(bytes, size, block);
    char text[200];

    if (found == expected)
        return check_rules(p, bytes, block_begin(s, block), size, err);
    (void)snprintf(text, sizeof(text),
                   "block %" PRIu64 " (%" PRIu64 " bytes) is damaged: expected sum %016" PRIx64 ", found %016" PRIx64
                   "%s",
                   block, size, expected, found, s->sums_bad ? " (or its sum is: the sums are damaged too)" : "");
    return add_bad_block(
        p, &(struct bad_block){.code = MSHARD_E_CORRUPT, .begin = block_begin(s, block), .size = size, .text = text},
        err);
}

/* A block that could not be read whole. */
static mshard_status add_unread(struct pass *p, uint64_t block, mshard_status code, const mshard_error *cause,
                                mshard_error *err)
{
    const uint64_t size = block_size(p->shard, block);
    char text[600];

    (void)snprintf(text, sizeof(text), "block %" PRIu64 " (%" PRIu64 " bytes) cannot be read: %s", block, size,
                   cause->message);
    return add_bad_block(p,
                         &(struct bad_block){.code = code,
                                             .sys_errno = cause->sys_errno,
                                             .begin = block_begin(p->shard, block),
                                             .size = size,
                                             .text = text},
                         err);
}

/* Blocks [begin, end), no more than fit buffer. */
static mshard_status check_run(struct pass *p, uint64_t begin, uint64_t end, uint8_t *buffer, mshard_error *err)
{
    struct mshi_verify_shard *s = p->shard;
    const uint64_t at = block_begin(s, begin), size = run_size(s, begin, end);
    mshard_error cause;
    size_t got = 0;
    mshard_status status = mshi_file_read(&s->file, buffer, size, at, &got, s->path, &cause);

    if (status != MSHARD_OK && end - begin > 1) { /* find out which blocks it is */
        for (uint64_t b = begin; b < end; b++)
            MSHI_TRY(check_run(p, b, b + 1, buffer, err));
        return MSHARD_OK;
    }
    for (uint64_t b = begin; b < end; b++) {
        const uint64_t offset = (b - begin) * MSHI_BLOCK_SIZE;

        if (status == MSHARD_OK && offset + block_size(s, b) > got) {
            (void)mshi_fail(&cause, MSHARD_E_TRUNCATED, s->path, at + got,
                            "the file ends before: it was cut during the check");
            MSHI_TRY(add_unread(p, b, MSHARD_E_TRUNCATED, &cause, err));
        } else if (status != MSHARD_OK) {
            MSHI_TRY(add_unread(p, b, status, &cause, err));
        } else {
            MSHI_TRY(check_block(p, b, buffer + offset, err));
        }
    }
    mshi_mutex_lock(&p->lock);
    s->verify->result->blocks += end - begin;
    s->verify->result->bytes += status == MSHARD_OK ? got : 0;
    mshi_mutex_unlock(&p->lock);
    return MSHARD_OK;
}

/* Is this block in the sample? The same blocks for the same seed, whatever the threads. */
static bool in_sample(const struct mshi_verify_shard *s, uint64_t block)
{
    const double share = s->verify->options->sample;

    if (share <= 0 || share >= 1)
        return true;
    return (double)(mshi_random(s->verify->options->seed, 0, block, s->index) >> 11) < share * 0x1p53;
}

static mshard_status check_chunk(struct pass *p, uint64_t begin, uint64_t end, uint8_t *buffer, mshard_error *err)
{
    for (uint64_t b = begin; b < end;) {
        uint64_t stop = b;

        while (stop < end && in_sample(p->shard, stop))
            stop++;
        if (stop > b)
            MSHI_TRY(check_run(p, b, stop, buffer, err));
        b = stop + (stop == b || stop < end);
    }
    return MSHARD_OK;
}

/* ---- threads ---- */

static void fail_pass(struct pass *p, mshard_status status, const mshard_error *error)
{
    mshi_mutex_lock(&p->lock);
    if (p->status == MSHARD_OK) {
        p->status = status;
        p->error = *error;
    }
    mshi_mutex_unlock(&p->lock);
    atomic_store_explicit(&p->stop, true, memory_order_relaxed);
}

/* Chunks until none is left; the calling thread also tells the progress. */
static void work(struct pass *p, bool caller)
{
    uint8_t *buffer = NULL;
    mshard_error error;
    mshard_status status = mshi_alloc_aligned(4096, (uint64_t)CHUNK_BLOCKS * MSHI_BLOCK_SIZE, &buffer, &error);

    while (status == MSHARD_OK && !atomic_load_explicit(&p->stop, memory_order_relaxed)) {
        const uint64_t begin = atomic_fetch_add_explicit(&p->next, CHUNK_BLOCKS, memory_order_relaxed);
        const uint64_t end = begin + CHUNK_BLOCKS < p->end ? begin + CHUNK_BLOCKS : p->end;

        if (begin >= p->end)
            break;
        status = check_chunk(p, begin, end, buffer, &error);
        atomic_fetch_add_explicit(&p->bytes, run_size(p->shard, begin, end), memory_order_relaxed);
        if (status == MSHARD_OK && caller)
            status = mshi_verify_progress(p->shard->verify,
                                          atomic_exchange_explicit(&p->bytes, 0, memory_order_relaxed), &error);
    }
    free(buffer);
    if (status != MSHARD_OK)
        fail_pass(p, status, &error);
}

static void *run_helper(void *pass)
{
    work(pass, false);
    return NULL;
}

static mshard_status check_window(struct pass *p, mshard_error *err)
{
    mshi_thread helpers[THREADS_MAX];
    const uint32_t asked = p->shard->verify->options->threads;
    uint64_t wanted = asked == 0 ? mshi_cpu_count() : asked;
    uint32_t started = 0;

    if (wanted > (p->end - p->begin) / BLOCKS_A_THREAD + 1)
        wanted = (p->end - p->begin) / BLOCKS_A_THREAD + 1;
    if (wanted > THREADS_MAX)
        wanted = THREADS_MAX;
    while (started + 1 < wanted &&
           mshi_thread_start(&helpers[started], run_helper, p, "mshard-verify", NULL) == MSHARD_OK)
        started++; /* a thread less when the system has none: slower, nothing else */
    work(p, true);
    for (uint32_t i = 0; i < started; i++)
        mshi_thread_join(helpers[i]);
    mshi_verify_flush(p->shard);
    if (p->status != MSHARD_OK && err != NULL)
        *err = p->error;
    return p->status;
}

/* Part of the blocks that this run is for. Shards take turns, so that small ones do not all fall to one part. */
static void choose_part(const struct mshi_verify_shard *s, uint64_t blocks, uint64_t *begin, uint64_t *end)
{
    const uint64_t parts = s->verify->options->subset_count;
    const uint64_t part = parts == 0 ? 0 : (s->verify->options->subset - 1 + s->index) % parts;

    *begin = parts == 0 ? 0 : (uint64_t)((unsigned __int128)blocks * part / parts);
    *end = parts == 0 ? blocks : (uint64_t)((unsigned __int128)blocks * (part + 1) / parts);
}

mshard_status mshi_verify_blocks(struct mshi_verify_shard *s, mshard_error *err)
{
    struct pass *p;
    uint64_t begin, end;
    mshard_status status = MSHARD_OK;

    MSHI_TRY(mshi_alloc(1, sizeof(*p), &p, err));
    choose_part(s, mshi_header_block_count(s->header), &begin, &end);
    p->shard = s;
    mshi_mutex_init(&p->lock);
    while (begin < end && status == MSHARD_OK) {
        p->begin = begin;
        p->end = end - begin > WINDOW_BLOCKS ? begin + WINDOW_BLOCKS : end;
        atomic_store_explicit(&p->next, begin, memory_order_relaxed); /* before any helper starts */
        status = check_window(p, err);
        begin = p->end;
    }
    mshi_mutex_destroy(&p->lock);
    free(p);
    return status;
}
