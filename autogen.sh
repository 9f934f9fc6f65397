#!/bin/sh
# Make configure and Makefile.in from configure.ac and Makefile.am; nothing else.
cd "$(dirname "$0")" && exec autoreconf --install --force --warnings=all
