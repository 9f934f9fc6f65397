/*
 * dry_run.h - what a dry run found, printed
 */
#ifndef TOOL_DRY_RUN_H
#define TOOL_DRY_RUN_H

#include <stdbool.h>

/* plan: JSON text from mshard_pack_result. As a line of JSON, or for people. */
void plan_print(const char *plan, bool json);

#endif
