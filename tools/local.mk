# tools/local.mk - the mshard program
if WITH_INGEST
bin_PROGRAMS += %D%/mshard
%C%_mshard_SOURCES = \
	tools/cli.c \
	tools/cli.h \
	tools/cli_complete.c \
	tools/cli_help.c \
	tools/cli_man.c \
	tools/cmd.h \
	tools/cmd_cat.c \
	tools/cmd_dump.c \
	tools/cmd_help.c \
	tools/cmd_info.c \
	tools/cmd_ls.c \
	tools/cmd_pack.c \
	tools/cmd_stats.c \
	tools/cmd_verify.c \
	tools/cmd_view.c \
	tools/dry_run.c \
	tools/dry_run.h \
	tools/dump.h \
	tools/dump_record.c \
	tools/dump_shard.c \
	tools/export.c \
	tools/export.h \
	tools/json_scan.c \
	tools/json_scan.h \
	tools/main.c \
	tools/out.h \
	tools/out_json.c \
	tools/out_text.c \
	tools/pack_options.c \
	tools/pack_options.h \
	tools/picture.c \
	tools/picture.h \
	tools/progress.c \
	tools/progress.h \
	tools/table.c \
	tools/target.c \
	tools/terminal.c \
	tools/values.c \
	tools/values.h
%C%_mshard_CPPFLAGS = $(public_cppflags) $(ZLIB_CFLAGS)
%C%_mshard_LDADD = libformat/libmshard.la libformat/libmshard-ingest.la $(ZLIB_LIBS) -lm

# Man pages and completions are written by the program, from its option table: they cannot say something else.
mshard_commands = cat dump help info ls pack stats verify view
man1_MANS = %D%/pages/mshard.1 \
	%D%/pages/mshard-cat.1 \
	%D%/pages/mshard-dump.1 \
	%D%/pages/mshard-help.1 \
	%D%/pages/mshard-info.1 \
	%D%/pages/mshard-ls.1 \
	%D%/pages/mshard-pack.1 \
	%D%/pages/mshard-stats.1 \
	%D%/pages/mshard-verify.1 \
	%D%/pages/mshard-view.1
bashcompletiondir = $(datadir)/bash-completion/completions
bashcompletion_DATA = %D%/pages/mshard
zshcompletiondir = $(datadir)/zsh/site-functions
zshcompletion_DATA = %D%/pages/_mshard
fishcompletiondir = $(datadir)/fish/vendor_completions.d
fishcompletion_DATA = %D%/pages/mshard.fish
mshard_pages = $(man1_MANS) $(bashcompletion_DATA) $(zshcompletion_DATA) $(fishcompletion_DATA)
CLEANFILES += $(mshard_pages) %D%/pages/stamp

$(mshard_pages): %D%/pages/stamp
%D%/pages/stamp: %D%/mshard$(EXEEXT)
	@$(MKDIR_P) %D%/pages && rm -f $@
	$(AM_V_GEN)program=./%D%/mshard$(EXEEXT); cd=%D%/pages; \
	$$program help --generate=man >$$cd/mshard.1 && \
	for c in $(mshard_commands); do $$program help --generate=man $$c >$$cd/mshard-$$c.1 || exit 1; done && \
	$$program help --generate=bash >$$cd/mshard && \
	$$program help --generate=zsh >$$cd/_mshard && \
	$$program help --generate=fish >$$cd/mshard.fish && \
	echo done >$@
endif
