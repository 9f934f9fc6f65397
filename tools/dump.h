/*
 * dump.h - parts of mshard dump
 */
#ifndef TOOL_DUMP_H
#define TOOL_DUMP_H

#include "cmd.h"

#include <mshard/inspect.h>

struct dump_options {
    bool full; /* everything, nothing shortened */
    bool hex;
    bool numpy;
    bool header; /* each header member, not only the sections */
};

/* One shard file, as text or as one JSON object (in an array when name is NULL). Returns the exit code; damage: 1. */
int dump_shard(const char *path, const struct dump_options *options);
int dump_shard_json(const char *path);
/* Values of one record. field: UINT32_MAX for all. */
int dump_record(const struct target *target, const char *path, uint64_t record, uint32_t field, bool full, bool json);

#endif
