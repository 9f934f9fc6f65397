/*
 * cmd.h - the commands, and the small things they share
 */
#ifndef TOOL_CMD_H
#define TOOL_CMD_H

#include "cli.h"
#include "out.h"

#include <mshard/store.h>

extern const struct cli_command cmd_pack, cmd_info, cmd_ls, cmd_dump, cmd_cat, cmd_view, cmd_stats, cmd_verify,
    cmd_help;

/* Color as --color says (0 auto, 1 always, 2 never), NO_COLOR, and whether standard output is a terminal. */
void color_from(uint64_t choice);

/* Open what path names: a data set, its dataset.json, or (single is then true) one shard file. Says why not. */
struct target {
    mshard_store *store;
    bool single;
};
int target_open(const char *path, struct target *target);
/* The same without a word; err is filled. */
mshard_status target_try(const char *path, struct target *target, mshard_error *err);
/* path ends in .mshard or is a plain file that is not named dataset.json. */
bool target_is_shard(const char *path);

/* The error of one record or file of an open data set, with the next command to run; returns the exit code. */
int target_error(const char *path, const mshard_error *err);

/* Position of a field by name; says what there is when there is none. TOOL_DONE or TOOL_USAGE. */
int target_field(const mshard_store *store, const char *name, uint32_t *field);
/* Fields that are not auxiliary; they come first. */
uint32_t target_fields(const mshard_store *store);
/* First label field with class names, else first label field, else UINT32_MAX. */
uint32_t target_label(const mshard_store *store);
/* Class of a record by a label field: its number, and its name or NULL. False when it cannot be read. */
bool target_class(const mshard_store *store, uint64_t record, uint32_t field, int64_t *number, const char **name);

/* "[32, 32, 3]", "[?]" for unknown dimensions, "scalar". */
const char *text_shape(char text[256], const uint64_t *shape, uint32_t ndim);
void json_shape(const char *name, const uint64_t *shape, uint32_t ndim);
/* Members of a field: name, dtype, shape, content, auxiliary, scale and offset. */
void json_field(const mshard_field *field);

/* SIGINT and SIGTERM set a flag instead of ending the program; a second one ends it. */
void interrupt_watch(void);
bool interrupted(void);

#endif
