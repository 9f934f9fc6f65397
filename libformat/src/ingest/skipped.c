/*
 * skipped.c - the inputs that were left out
 *
 * The file stands in the data set's folder beside the shards; no reader needs it. It holds names relative to the
 * inputs, so that the same inputs elsewhere give the same bytes.
 */
#include "ingest/skipped.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *mshi_skipped_relative(const char *const *inputs, size_t n, const char *path)
{
    const char *best = path;

    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(inputs[i]);

        while (size > 1 && inputs[i][size - 1] == '/')
            size--;
        if (strncmp(path, inputs[i], size) != 0)
            continue;
        if (path[size] == '/' && path[size + 1] != '\0') {
            const char *below = path + size;

            while (*below == '/')
                below++;
            best = below > best ? below : best;
        } else if (path[size] == '\0' || path[size] == ':') {
            const char *name = path + size;

            while (name > path && name[-1] != '/')
                name--;
            best = name > best ? name : best;
        }
    }
    return best;
}

void mshi_skipped_add(struct mshi_skipped *skipped, const char *path, const mshard_error *reason)
{
    const char *status = mshard_status_name(reason->code);

    skipped->count++;
    mshi_buf_text(&skipped->lines, "{\"path\": ");
    mshi_buf_json_string(&skipped->lines, path, strlen(path));
    mshi_buf_text(&skipped->lines, ", \"status\": ");
    mshi_buf_json_string(&skipped->lines, status, strlen(status));
    mshi_buf_text(&skipped->lines, ", \"reason\": ");
    mshi_buf_json_string(&skipped->lines, reason->message, strlen(reason->message));
    if (reason->offset != MSHARD_NO_OFFSET)
        mshi_buf_printf(&skipped->lines, ", \"offset\": %" PRIu64, reason->offset);
    mshi_buf_text(&skipped->lines, "}\n");
}

mshard_status mshi_skipped_write(const struct mshi_skipped *skipped, const struct mshi_fs *fs, const char *folder,
                                 bool sync, mshard_error *err)
{
    mshard_status status;
    char *path;

    if (skipped->count == 0)
        return MSHARD_OK;
    MSHI_TRY(mshi_buf_status(&skipped->lines, err));
    MSHI_TRY(mshi_path_join(folder, MSHI_SKIPPED_NAME, &path, err));
    status = mshi_fs_publish(fs, path, skipped->lines.data, skipped->lines.size, sync, err);
    free(path);
    return status;
}

void mshi_skipped_clear(struct mshi_skipped *skipped)
{
    mshi_buf_clear(&skipped->lines);
    skipped->count = 0;
}
