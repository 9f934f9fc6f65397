# tests/local.mk - everything `make check` runs

LOG_DRIVER = $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(LIBTOOL) --mode=execute $(MSHARD_TEST_WRAPPER)
TEST_EXTENSIONS = .sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_top_srcdir)'; builddir='$(abs_top_builddir)'; export srcdir builddir; \
	MSHARD='$(abs_top_builddir)/tools/mshard'; export MSHARD; PYTHON='$(PYTHON)'; export PYTHON; CC='$(CC)'; export CC; \
	MANDOC='$(MANDOC)'; export MANDOC; G_SLICE=always-malloc; export G_SLICE;

mshard_lint_tests = \
	tests/lint/exports.sh \
	tests/lint/headers.sh \
	tests/lint/includes.sh \
	tests/lint/man.sh \
	tests/lint/sources.sh \
	tests/lint/spec.sh
TESTS += $(mshard_lint_tests)
mshard_shell_tests = tests/spec/run_reader.sh
if WITH_INGEST
mshard_shell_tests += tests/cli/run.sh
endif
TESTS += $(mshard_shell_tests)
EXTRA_DIST += tests/support/tsan.supp tests/spec/run_reader.sh tests/cases/test_cases.py $(mshard_cli_files)
# File by file: naming the folder would put a build tree's own logs into the tarball.
mshard_cli_files = \
	tests/cli/cat-encoded.out \
	tests/cli/cat-encoded.sh \
	tests/cli/cat.err \
	tests/cli/cat.out \
	tests/cli/cat.sh \
	tests/cli/color.out \
	tests/cli/color.sh \
	tests/cli/draw.py \
	tests/cli/dump-damaged.out \
	tests/cli/dump-damaged.sh \
	tests/cli/dump-numpy.out \
	tests/cli/dump-numpy.sh \
	tests/cli/dump-record.err \
	tests/cli/dump-record.out \
	tests/cli/dump-record.sh \
	tests/cli/dump.err \
	tests/cli/dump.out \
	tests/cli/dump.sh \
	tests/cli/environment.out \
	tests/cli/environment.sh \
	tests/cli/help.out \
	tests/cli/help.sh \
	tests/cli/info-refused.out \
	tests/cli/info-refused.sh \
	tests/cli/info.out \
	tests/cli/info.sh \
	tests/cli/lib.sh \
	tests/cli/ls.err \
	tests/cli/ls.out \
	tests/cli/ls.sh \
	tests/cli/names.out \
	tests/cli/names.sh \
	tests/cli/pack-damaged.out \
	tests/cli/pack-damaged.sh \
	tests/cli/pack-dry-run.out \
	tests/cli/pack-dry-run.sh \
	tests/cli/pack-full-disk.err \
	tests/cli/pack-full-disk.out \
	tests/cli/pack-full-disk.sh \
	tests/cli/pack-jobs.out \
	tests/cli/pack-jobs.sh \
	tests/cli/pack-json.out \
	tests/cli/pack-json.sh \
	tests/cli/pack-refused.out \
	tests/cli/pack-refused.sh \
	tests/cli/pack.err \
	tests/cli/pack.out \
	tests/cli/pack.sh \
	tests/cli/pipe.out \
	tests/cli/pipe.sh \
	tests/cli/progress.out \
	tests/cli/progress.sh \
	tests/cli/run.sh \
	tests/cli/stats.err \
	tests/cli/stats.out \
	tests/cli/stats.sh \
	tests/cli/usage.out \
	tests/cli/usage.sh \
	tests/cli/verify-damaged.out \
	tests/cli/verify-damaged.sh \
	tests/cli/verify.err \
	tests/cli/verify.out \
	tests/cli/verify.sh \
	tests/cli/version.out \
	tests/cli/version.sh \
	tests/cli/view.err \
	tests/cli/view.out \
	tests/cli/view.sh
EXTRA_DIST += $(mshard_lint_tests)

if HAVE_CHECK
check_LTLIBRARIES += %D%/libtestsupport.la
%C%_libtestsupport_la_SOURCES = \
	tests/support/faultfs.c \
	tests/support/faultfs.h \
	tests/support/main.c \
	tests/support/main.h \
	tests/support/sample_set.c \
	tests/support/sample_set.h \
	tests/support/sources.c \
	tests/support/sources.h \
	tests/support/vectors.c \
	tests/support/vectors.h

# A test program's only source is the .c of its name; all link the whole library, hidden symbols included.
core_tests = \
	tests/fault/test_crash \
	tests/spec/test_examples \
	tests/spec/test_refusals \
	tests/spec/test_second_reader \
	tests/spec/test_vectors \
	tests/unit/test_buf \
	tests/unit/test_dataset \
	tests/unit/test_fail \
	tests/unit/test_fields \
	tests/unit/test_file \
	tests/unit/test_folder \
	tests/unit/test_half \
	tests/unit/test_hash \
	tests/unit/test_header \
	tests/unit/test_inspect \
	tests/unit/test_json \
	tests/unit/test_key_index \
	tests/unit/test_manifest \
	tests/unit/test_map \
	tests/unit/test_publish \
	tests/unit/test_rng \
	tests/unit/test_shard_writer \
	tests/unit/test_stats \
	tests/unit/test_store \
	tests/unit/test_types \
	tests/unit/test_verify \
	tests/unit/test_writer
ingest_tests = \
	tests/unit/test_convert \
	tests/unit/test_decode \
	tests/unit/test_names \
	tests/unit/test_pack \
	tests/unit/test_plan \
	tests/unit/test_source_archive \
	tests/unit/test_source_array \
	tests/unit/test_source_folder \
	tests/unit/test_source_idx \
	tests/unit/test_source_list \
	tests/unit/test_source_webdataset

check_PROGRAMS += $(core_tests)
TESTS += $(core_tests)
if WITH_INGEST
check_PROGRAMS += $(ingest_tests)
TESTS += $(ingest_tests)
LDADD = %D%/libtestsupport.la libformat/libmshard-ingest-core.la $(CHECK_LIBS)
else
LDADD = %D%/libtestsupport.la libformat/libmshard-core.la $(CHECK_LIBS)
endif
endif

# The programs that start threads, under the thread sanitizer.
thread_tests = tests/unit/test_store tests/unit/test_verify tests/unit/test_key_index tests/unit/test_pack
.PHONY: check-threads check-valgrind
check-threads: $(thread_tests)
	TSAN_OPTIONS=suppressions=$(abs_top_srcdir)/tests/support/tsan.supp $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$(thread_tests)"

# Reading and writing without libvips (GLib keeps memory by design); Check must not fork under valgrind.
valgrind_tests = tests/unit/test_buf tests/unit/test_json tests/unit/test_manifest tests/unit/test_dataset tests/unit/test_inspect \
	tests/unit/test_shard_writer tests/unit/test_key_index tests/unit/test_store
check-valgrind: $(valgrind_tests)
	CK_FORK=no MSHARD_TEST_WRAPPER='valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite' \
	  $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$(valgrind_tests)"
