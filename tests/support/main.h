/*
 * main.h - what every unit test program shares: a Check suite run with TAP output, and scratch folders
 */
#ifndef MSHI_TESTS_MAIN_H
#define MSHI_TESTS_MAIN_H

#include <check.h>

/* Each test program defines it. */
Suite *mshi_suite(void);

/* A fresh empty folder, removed with all in it when the program ends. Static storage for up to 256 calls a process. */
const char *mshi_test_dir(void);

/* "<dir>/<name>" in static storage (a ring of 64). */
const char *mshi_test_path(const char *dir, const char *name);

#endif
