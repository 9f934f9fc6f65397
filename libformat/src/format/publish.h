/*
 * publish.h - the folder of a data set while it is made: lock, work folder, shards, commit (spec/manifest.md)
 *
 *   OUT/.mshard-pack/lock            held by flock while a writer works; a dead writer's lock is free
 *   OUT/.mshard-pack/NAME.tmp        shards being written
 *   OUT/shard-000000.mshard ...      sealed and checked shards
 *   OUT/dataset.json                 last
 * With overwrite, all of it happens in OUT.mshard-new and ends with an exchange of the two folder names, then
 * the old folder is removed; a reader sees the old data set or the new one. Where the system cannot exchange names,
 * the old folder is first renamed to OUT.mshard-old: for that moment nothing is at OUT, and after a crash in it
 * the next writer at OUT puts the old data set back.
 */
#ifndef MSHI_FORMAT_PUBLISH_H
#define MSHI_FORMAT_PUBLISH_H

#include "format/manifest.h"
#include "os/file.h"

struct mshi_publish {
    const struct mshi_fs *fs;
    char *target; /* where the data set will be */
    char *parent; /* the folder target is in */
    char *folder; /* where it is being made: target, or target.mshard-new with overwrite */
    char *work;   /* folder/.mshard-pack */
    int lock_fd;  /* -1: none */
    int old_fd;   /* replacing: lock of the data set that goes away; -1: none */
    bool made_folder, sync, overwrite, committed;
    bool replacing; /* overwrite, and a data set is at target */
};

/*
 * Make folder and work folder, take the lock. EXISTS: a data set or anything else is at target (an empty folder
 * is fine; an unfinished pack whose writer is dead is cleaned away), or another writer is at work (says so).
 */
mshard_status mshi_publish_begin(struct mshi_publish *p, const struct mshi_fs *fs, const char *target, bool overwrite,
                                 bool sync, mshard_error *err);
/* malloc'd paths: work/shard-NNNNNN.tmp and folder/shard-NNNNNN.mshard */
mshard_status mshi_publish_shard_paths(const struct mshi_publish *p, uint64_t shard, char **temp, char **final,
                                       mshard_error *err);
/* Write keys.mdb beforehand (its hash stands in the manifest); emits the manifest and makes the data set visible. */
mshard_status mshi_publish_commit(struct mshi_publish *p, struct mshi_manifest *manifest, mshard_error *err);
/* Without a commit: removes all that was made. Releases the lock. Safe on a zeroed struct. */
void mshi_publish_end(struct mshi_publish *p);

#endif
