/*
 * pack_options.h - the option table of mshard pack
 */
#ifndef TOOL_PACK_OPTIONS_H
#define TOOL_PACK_OPTIONS_H

#include "cli.h"

#include <mshard/pack.h>

enum {
    PACK_OUTPUT,
    PACK_SHARDS,
    PACK_SHARD_SIZE,
    PACK_ALIGN,
    PACK_SHUFFLE,
    PACK_KEYS,
    PACK_OVERWRITE,
    PACK_ALLOW_EMPTY,
    PACK_NO_SYNC,
    PACK_FORMAT,
    PACK_LABELS,
    PACK_ON_ERROR,
    PACK_RAW_DTYPE,
    PACK_RAW_SHAPE,
    PACK_RAW_SKIP,
    PACK_MAX_PIXELS,
    PACK_MAX_MEMBER,
    PACK_RESIZE,
    PACK_CROP,
    PACK_GRAY,
    PACK_ENCODED,
    PACK_VARIABLE,
    PACK_DTYPE,
    PACK_ON_OVERFLOW,
    PACK_JOBS,
    PACK_DRY_RUN,
    PACK_JSON,
    PACK_QUIET,
    PACK_PROGRESS,
    PACK_COUNT,
};

extern const struct cli_option pack_options_table[PACK_COUNT];

/* The library's options from parsed ones; says what does not go together. */
int pack_options_fill(const struct cli_args *args, mshard_pack_options *options);

#endif
