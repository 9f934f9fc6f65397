# bench/local.mk - benchmarks: built by `make bench`, never timed in tests
bench_programs = %D%/bench_read %D%/bench_pack_arrays
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)
%C%_bench_read_SOURCES = %D%/bench_read.c %D%/harness.c %D%/harness.h
%C%_bench_read_CPPFLAGS = $(public_cppflags)
%C%_bench_read_LDADD = libformat/libmshard.la
%C%_bench_pack_arrays_SOURCES = %D%/bench_pack_arrays.c %D%/harness.c %D%/harness.h
%C%_bench_pack_arrays_CPPFLAGS = $(public_cppflags)
%C%_bench_pack_arrays_LDADD = libformat/libmshard.la

.PHONY: bench
bench: $(bench_programs)
EXTRA_DIST += %D%/bench_python_access.py
