# docs/local.mk - pages and examples; the C examples are built, and run by `make check`
noinst_PROGRAMS += %D%/examples/read_records
%C%_examples_read_records_SOURCES = %D%/examples/read_records.c
%C%_examples_read_records_CPPFLAGS = $(public_cppflags)
%C%_examples_read_records_LDADD = libformat/libmshard.la
EXTRA_DIST += %D%/examples/draw_shapes.py %D%/examples/read_records.py
EXTRA_DIST += %D%/performance.md %D%/architecture.md %D%/dependencies.md %D%/testing.md %D%/packing.md %D%/json.md %D%/decisions
