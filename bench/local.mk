# bench/local.mk - benchmarks: built by `make bench`, never timed in tests
bench_programs = %D%/bench_read
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)
%C%_bench_read_SOURCES = %D%/bench_read.c %D%/harness.c %D%/harness.h
%C%_bench_read_CPPFLAGS = $(public_cppflags)
%C%_bench_read_LDADD = libformat/libmshard.la

.PHONY: bench
bench: $(bench_programs)
EXTRA_DIST += %D%/bench_python_access.py
