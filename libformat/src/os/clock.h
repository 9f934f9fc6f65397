/* clock.h - monotonic time */
#ifndef MSHI_OS_CLOCK_H
#define MSHI_OS_CLOCK_H

#include <stdint.h>

uint64_t mshi_clock_ns(void);

#endif
