# bench/local.mk - benchmarks: built by `make bench`, never timed in tests
bench_programs = %D%/bench_read %D%/bench_pack_arrays
if WITH_INGEST
bench_programs += %D%/vips_decode
endif
EXTRA_PROGRAMS += %D%/bench_read %D%/bench_pack_arrays %D%/vips_decode
CLEANFILES += $(bench_programs)
%C%_bench_read_SOURCES = %D%/bench_read.c %D%/harness.c %D%/harness.h
%C%_bench_read_CPPFLAGS = $(public_cppflags)
%C%_bench_read_LDADD = libformat/libmshard.la
%C%_bench_pack_arrays_SOURCES = %D%/bench_pack_arrays.c %D%/harness.c %D%/harness.h
%C%_bench_pack_arrays_CPPFLAGS = $(public_cppflags)
%C%_bench_pack_arrays_LDADD = libformat/libmshard.la
%C%_vips_decode_SOURCES = %D%/vips_decode.c
%C%_vips_decode_CPPFLAGS = $(VIPS_CFLAGS)
%C%_vips_decode_LDADD = $(VIPS_LIBS)

.PHONY: bench
bench: $(bench_programs)
EXTRA_DIST += %D%/bench_python_access.py %D%/bench_pack_images.py
