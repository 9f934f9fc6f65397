# libformat/local.mk - the two libraries: libmshard (read, write, verify) and libmshard-ingest (pack raw files)

mshard_core_sources = \
	libformat/src/base/alloc.c \
	libformat/src/base/alloc.h \
	libformat/src/base/buf.c \
	libformat/src/base/buf.h \
	libformat/src/base/bytes.h \
	libformat/src/base/fail.c \
	libformat/src/base/fail.h \
	libformat/src/base/half.c \
	libformat/src/base/half.h \
	libformat/src/base/hash.c \
	libformat/src/base/hash.h \
	libformat/src/base/json.c \
	libformat/src/base/json.h \
	libformat/src/base/options.h \
	libformat/src/base/rng.c \
	libformat/src/base/rng.h \
	libformat/src/base/types.c \
	libformat/src/base/utf8.h \
	libformat/src/dataset/dataset.c \
	libformat/src/dataset/store_dataset.c \
	libformat/src/format/block_writer.c \
	libformat/src/format/block_writer.h \
	libformat/src/format/column_buffer.c \
	libformat/src/format/column_buffer.h \
	libformat/src/format/field_rules.c \
	libformat/src/format/field_rules.h \
	libformat/src/format/fields.c \
	libformat/src/format/header.c \
	libformat/src/format/header.h \
	libformat/src/format/header_check.c \
	libformat/src/format/inspect.c \
	libformat/src/format/key_index.c \
	libformat/src/format/key_index.h \
	libformat/src/format/key_pages.c \
	libformat/src/format/key_pages.h \
	libformat/src/format/key_sort.c \
	libformat/src/format/key_sort.h \
	libformat/src/format/layout.h \
	libformat/src/format/manifest.c \
	libformat/src/format/manifest.h \
	libformat/src/format/manifest_emit.c \
	libformat/src/format/manifest_fields.c \
	libformat/src/format/manifest_parse.h \
	libformat/src/format/publish.c \
	libformat/src/format/publish.h \
	libformat/src/format/shard_reader.c \
	libformat/src/format/shard_reader.h \
	libformat/src/format/shard_seal.c \
	libformat/src/format/shard_writer.c \
	libformat/src/format/shard_writer.h \
	libformat/src/format/shard_writer_internal.h \
	libformat/src/format/stats.c \
	libformat/src/format/stats.h \
	libformat/src/format/stats_figures.c \
	libformat/src/format/stats_kernels.c \
	libformat/src/format/stats_parts.h \
	libformat/src/format/stats_state.c \
	libformat/src/format/store.c \
	libformat/src/format/store_info.c \
	libformat/src/format/store_internal.h \
	libformat/src/format/store_keys.c \
	libformat/src/format/store_open.c \
	libformat/src/format/verify.c \
	libformat/src/format/verify_blocks.c \
	libformat/src/format/verify_findings.c \
	libformat/src/format/verify_internal.h \
	libformat/src/format/verify_keys.c \
	libformat/src/format/verify_shard.c \
	libformat/src/format/work_folder.c \
	libformat/src/format/work_folder.h \
	libformat/src/format/writer.c \
	libformat/src/format/writer_commit.c \
	libformat/src/format/writer_internal.h \
	libformat/src/format/writer_shards.c \
	libformat/src/os/clock.c \
	libformat/src/os/clock.h \
	libformat/src/os/cpu.c \
	libformat/src/os/file.c \
	libformat/src/os/file.h \
	libformat/src/os/file_posix.c \
	libformat/src/os/folder.c \
	libformat/src/os/map.c \
	libformat/src/os/map.h \
	libformat/src/os/path.c \
	libformat/src/os/path.h \
	libformat/src/os/real_path.c \
	libformat/src/os/real_path.h \
	libformat/src/os/thread.c \
	libformat/src/os/thread.h

noinst_LTLIBRARIES += %D%/libmshard-core.la
%C%_libmshard_core_la_SOURCES = $(mshard_core_sources)
%C%_libmshard_core_la_CPPFLAGS = $(AM_CPPFLAGS) $(XXHASH_CFLAGS) $(JANSSON_CFLAGS) $(LMDB_CFLAGS)
%C%_libmshard_core_la_LIBADD = $(XXHASH_LIBS) $(JANSSON_LIBS) $(LMDB_LIBS) -lm -lpthread

lib_LTLIBRARIES += %D%/libmshard.la
%C%_libmshard_la_SOURCES =
%C%_libmshard_la_LIBADD = %D%/libmshard-core.la
%C%_libmshard_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/%D%/libmshard.map
%C%_libmshard_la_DEPENDENCIES = %D%/libmshard-core.la %D%/libmshard.map

mshardincludedir = $(includedir)/mshard
mshardinclude_HEADERS = \
	libformat/include/mshard/dataset.h \
	libformat/include/mshard/error.h \
	libformat/include/mshard/inspect.h \
	libformat/include/mshard/mshard.h \
	libformat/include/mshard/store.h \
	libformat/include/mshard/types.h \
	libformat/include/mshard/verify.h \
	libformat/include/mshard/version.h \
	libformat/include/mshard/writer.h

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/libmshard.pc
EXTRA_DIST += %D%/libmshard.map %D%/libmshard-ingest.map

mshard_ingest_sources = \
	libformat/src/ingest/archive.h \
	libformat/src/ingest/class_list.c \
	libformat/src/ingest/class_list.h \
	libformat/src/ingest/columns.c \
	libformat/src/ingest/columns.h \
	libformat/src/ingest/columns_labels.c \
	libformat/src/ingest/convert.c \
	libformat/src/ingest/convert.h \
	libformat/src/ingest/csv.c \
	libformat/src/ingest/csv.h \
	libformat/src/ingest/decode.h \
	libformat/src/ingest/decode_public.c \
	libformat/src/ingest/decode_vips.c \
	libformat/src/ingest/duplicates.c \
	libformat/src/ingest/duplicates.h \
	libformat/src/ingest/file_items.c \
	libformat/src/ingest/file_items.h \
	libformat/src/ingest/gzip.c \
	libformat/src/ingest/gzip.h \
	libformat/src/ingest/idx.h \
	libformat/src/ingest/image_exif.c \
	libformat/src/ingest/image_exif.h \
	libformat/src/ingest/image_geometry.c \
	libformat/src/ingest/image_geometry.h \
	libformat/src/ingest/image_resize.c \
	libformat/src/ingest/image_resize.h \
	libformat/src/ingest/image_rows.c \
	libformat/src/ingest/image_rows.h \
	libformat/src/ingest/image_type.c \
	libformat/src/ingest/member_source.c \
	libformat/src/ingest/member_source.h \
	libformat/src/ingest/members.c \
	libformat/src/ingest/members.h \
	libformat/src/ingest/memory_gate.c \
	libformat/src/ingest/memory_gate.h \
	libformat/src/ingest/names.c \
	libformat/src/ingest/names.h \
	libformat/src/ingest/npy.c \
	libformat/src/ingest/npy.h \
	libformat/src/ingest/npy_file.c \
	libformat/src/ingest/npy_file.h \
	libformat/src/ingest/pack.c \
	libformat/src/ingest/pack_commit.c \
	libformat/src/ingest/pack_commit.h \
	libformat/src/ingest/pack_memory.c \
	libformat/src/ingest/pack_memory.h \
	libformat/src/ingest/pack_run.c \
	libformat/src/ingest/pack_run.h \
	libformat/src/ingest/pipeline.c \
	libformat/src/ingest/pipeline.h \
	libformat/src/ingest/plan.c \
	libformat/src/ingest/plan.h \
	libformat/src/ingest/plan_fields.c \
	libformat/src/ingest/plan_json.c \
	libformat/src/ingest/plan_json.h \
	libformat/src/ingest/png_check.c \
	libformat/src/ingest/png_check.h \
	libformat/src/ingest/shard_stage.c \
	libformat/src/ingest/shard_stage.h \
	libformat/src/ingest/skipped.c \
	libformat/src/ingest/skipped.h \
	libformat/src/ingest/source.c \
	libformat/src/ingest/source.h \
	libformat/src/ingest/source_archive.c \
	libformat/src/ingest/source_array.c \
	libformat/src/ingest/source_cifar.c \
	libformat/src/ingest/source_folder.c \
	libformat/src/ingest/source_idx.c \
	libformat/src/ingest/source_kinds.h \
	libformat/src/ingest/source_list.c \
	libformat/src/ingest/source_members.c \
	libformat/src/ingest/source_raw.c \
	libformat/src/ingest/source_shared.c \
	libformat/src/ingest/source_webdataset.c \
	libformat/src/ingest/spool.c \
	libformat/src/ingest/spool.h \
	libformat/src/ingest/unit.c \
	libformat/src/ingest/unit.h \
	libformat/src/ingest/unit_add.c \
	libformat/src/ingest/unit_add.h

if WITH_INGEST
mshardinclude_HEADERS += %D%/include/mshard/pack.h
pkgconfig_DATA += %D%/libmshard-ingest.pc

noinst_LTLIBRARIES += %D%/libmshard-ingest-core.la
%C%_libmshard_ingest_core_la_SOURCES = $(mshard_ingest_sources)
%C%_libmshard_ingest_core_la_CPPFLAGS = $(AM_CPPFLAGS) $(ARCHIVE_CFLAGS) $(VIPS_CFLAGS) $(ZLIB_CFLAGS)
%C%_libmshard_ingest_core_la_LIBADD = %D%/libmshard-core.la $(ARCHIVE_LIBS) $(VIPS_LIBS) $(ZLIB_LIBS)

# Holds a private copy of the core: it needs functions that libmshard does not export, and the core has no global state.
lib_LTLIBRARIES += %D%/libmshard-ingest.la
%C%_libmshard_ingest_la_SOURCES =
%C%_libmshard_ingest_la_LIBADD = %D%/libmshard-ingest-core.la
%C%_libmshard_ingest_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/%D%/libmshard-ingest.map
%C%_libmshard_ingest_la_DEPENDENCIES = %D%/libmshard-ingest-core.la %D%/libmshard-ingest.map
endif
