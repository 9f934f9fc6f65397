/*
 * work_folder.h - the folder of a data set that is not complete: what is in it, its lock, cleaning it
 *
 * Only names that writers give to files are ever removed, and only by who holds the lock.
 */
#ifndef MSHI_FORMAT_WORK_FOLDER_H
#define MSHI_FORMAT_WORK_FOLDER_H

#include "format/manifest.h"
#include "os/file.h"

struct mshi_folder_contents {
    size_t entries;
    bool manifest, work;
    char foreign[128]; /* first name that is no part of a data set; "" when there is none */
};

mshard_status mshi_folder_look(const char *folder, struct mshi_folder_contents *contents, mshard_error *err);
/* Take folder's lock, making work folder and lock file. EXISTS with path target: another writer has it. */
mshard_status mshi_work_lock(const struct mshi_fs *fs, const char *folder, const char *target, int *lock_fd,
                             mshard_error *err);
/*
 * Remove what writers make in folder, dataset.json first, all but work folder and lock (which is held). False: some
 * of it could not be removed.
 */
bool mshi_work_clean(const struct mshi_fs *fs, const char *folder);
/*
 * Let go of the lock; -1 does nothing. finished: lock file and work folder go too. Else they stay as the sign that
 * the rest of the folder was made by a writer and is the next one's to clean.
 */
void mshi_work_unlock(const struct mshi_fs *fs, const char *folder, bool finished, int *lock_fd);

#endif
