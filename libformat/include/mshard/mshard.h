/* mshard.h - all of the reading and writing library; declares nothing itself */
#ifndef MSHARD_MSHARD_H
#define MSHARD_MSHARD_H

#include <mshard/dataset.h>
#include <mshard/error.h>
#include <mshard/inspect.h>
#include <mshard/store.h>
#include <mshard/types.h>
#include <mshard/verify.h>
#include <mshard/version.h>
#include <mshard/writer.h>

#endif
