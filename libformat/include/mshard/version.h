/* version.h - the version of the library these headers belong to; configure.ac reads it from here */
#ifndef MSHARD_VERSION_H
#define MSHARD_VERSION_H

#define MSHARD_VERSION "0.1.0"
#define MSHARD_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch */

#if defined(__GNUC__)
#define MSHARD_API __attribute__((visibility("default")))
#define MSHARD_MUST_CHECK __attribute__((warn_unused_result))
#else
#define MSHARD_API
#define MSHARD_MUST_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is loaded, as "major.minor.patch". Static text. Threads: shared. */
MSHARD_API const char *mshard_version(void);

#ifdef __cplusplus
}
#endif
#endif
