/*
 * field_rules.h - what a field may be (spec/shard.md, "Fields"): one set of rules for writer, header and dataset.json
 */
#ifndef MSHI_FORMAT_FIELD_RULES_H
#define MSHI_FORMAT_FIELD_RULES_H

#include "format/layout.h"
#include <stdbool.h>

#define MSHI_RULE_TEXT 320 /* room for the longest message */

/*
 * Check fields[i] against every rule; fields before it are taken as good. Sets *record_size (0 when variable).
 * Returns CORRUPT or LIMIT with the reason in text, and in *member the offset of the member concerned in
 * struct mshi_disk_field. Writers turn any of these into INVALID.
 */
mshard_status mshi_field_rule(const mshard_field *fields, uint32_t i, uint64_t *record_size, size_t *member,
                              char text[MSHI_RULE_TEXT]);
/* [A-Za-z_][A-Za-z0-9_]{0,62} */
bool mshi_field_name_valid(const char *name);
bool mshi_field_is_key(const mshard_field *field);
/* Sections this field needs: 1 (fixed), 2, or 3 (variable, more than one dimension). */
uint32_t mshi_field_section_count(const mshard_field *field);
/* Same name, dtype, content, flags, shape and scale? On false, what differs in text. */
bool mshi_field_same(const mshard_field *a, const mshard_field *b, char text[MSHI_RULE_TEXT]);

#endif
