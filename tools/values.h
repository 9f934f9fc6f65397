/*
 * values.h - the numbers of a view
 */
#ifndef TOOL_VALUES_H
#define TOOL_VALUES_H

#include "out.h"

#include <mshard/types.h>

bool value_is_real(mshard_dtype dtype);
double value_real(const void *data, uint64_t i, mshard_dtype dtype);
/* Element i as text: integers exact, reals in the shortest form that reads back the same in their precision. */
const char *value_text(char text[TEXT_SIZE], const void *data, uint64_t i, mshard_dtype dtype);
void value_json(const void *data, uint64_t i, mshard_dtype dtype);
/* The array as nested JSON, or as nested brackets of text with line breaks between rows. */
void values_json(const char *name, const void *data, mshard_dtype dtype, const uint64_t *shape, uint32_t ndim);
void values_print(const void *data, mshard_dtype dtype, const uint64_t *shape, uint32_t ndim);

struct value_summary {
    uint64_t count, nan, inf;
    double min, max, mean; /* of those that are finite */
};
struct value_summary values_summary(const void *data, uint64_t count, mshard_dtype dtype);

#endif
