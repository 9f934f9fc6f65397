/*
 * shard_writer.h - one shard being written
 *
 * Values come in record order. The largest field streams to the file, checksummed and written behind as it
 * goes; the others are held in memory up to 8 MiB a field and then in a temporary file beside the shard, and
 * follow at the seal. The bytes of a shard depend on its fields, align and records alone.
 * The file is written under a temporary name; seal makes it whole, synced and re-read; publish renames it.
 */
#ifndef MSHI_FORMAT_SHARD_WRITER_H
#define MSHI_FORMAT_SHARD_WRITER_H

#include "format/stats.h"
#include "os/file.h"
#include <mshard/writer.h>

struct mshi_shard_writer;

struct mshi_shard_options {
    const struct mshi_fs *fs;
    uint32_t align;    /* 0: 4096 */
    bool sync;         /* fsync at the seal */
    bool drop;         /* leave the page cache behind the writing (a good neighbour) */
    uint64_t held_max; /* bytes of a field held in memory; 0: 8 MiB */
    bool stats;        /* add up figures of every field but auxiliary ones here, in append; else the caller merges */
};

struct mshi_shard_result {
    uint64_t records, size, header_sum;
    uint64_t check_ns; /* time that reading back and comparing took */
};

/* temp_path: where it is written (made, truncated). fields are checked by mshi_fields_check and copied. */
mshard_status mshi_shard_writer_new(const char *temp_path, const mshard_field *fields, uint32_t n,
                                    const struct mshi_shard_options *options, struct mshi_shard_writer **writer,
                                    mshard_error *err);
/* One record; values as in mshard_writer_write, auxiliary fields included. INVALID adds nothing. */
mshard_status mshi_shard_writer_append(struct mshi_shard_writer *w, const mshard_value *values, mshard_error *err);
/* n records of fixed fields. */
mshard_status mshi_shard_writer_append_batch(struct mshi_shard_writer *w, const void *const *data, uint64_t n,
                                             mshard_error *err);
/* Would these be taken (no INVALID)? Nothing is added. */
mshard_status mshi_shard_writer_check(const struct mshi_shard_writer *w, const mshard_value *values, mshard_error *err);
mshard_status mshi_shard_writer_check_batch(const struct mshi_shard_writer *w, const void *const *data, uint64_t n,
                                            mshard_error *err);
uint64_t mshi_shard_writer_count(const struct mshi_shard_writer *w);
uint64_t mshi_shard_writer_bytes(const struct mshi_shard_writer *w); /* of values so far */
/* One accumulator a field (NULL for auxiliary ones); also where callers with options.stats off merge theirs. */
struct mshi_stats *mshi_shard_writer_stats(struct mshi_shard_writer *w, uint32_t field);
/* Append what is held back, sums, header; sync; re-read all of it and compare with what was written. */
mshard_status mshi_shard_writer_seal(struct mshi_shard_writer *w, struct mshi_shard_result *result, mshard_error *err);
/* Rename to path (after the seal). */
mshard_status mshi_shard_writer_publish(struct mshi_shard_writer *w, const char *path, mshard_error *err);
/* Not published: the temporary files are removed. NULL does nothing. */
void mshi_shard_writer_free(struct mshi_shard_writer *w);

/* Every rule of spec/shard.md on fields: names, duplicates, dtypes, dims, products, flags. INVALID names the field. */
mshard_status mshi_fields_check(const mshard_field *fields, uint32_t n, mshard_error *err);
/* Deep copy with record_size filled; one malloc'd block (names inside), free(). */
mshard_status mshi_fields_copy(const mshard_field *fields, uint32_t n, mshard_field **copy, mshard_error *err);

#endif
