dnl MSHARD_INSTRUMENT - flags of --enable-sanitizers and --enable-coverage into MSHARD_INSTRUMENT_FLAGS
AC_DEFUN([MSHARD_INSTRUMENT], [
  MSHARD_INSTRUMENT_FLAGS=""
  AS_IF([test "x$enable_sanitizers" = xyes], [enable_sanitizers=address,undefined])
  AS_IF([test "x$enable_sanitizers" != xno],
    [MSHARD_INSTRUMENT_FLAGS="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"])
  AS_IF([test "x$enable_coverage" = xyes], [MSHARD_INSTRUMENT_FLAGS="$MSHARD_INSTRUMENT_FLAGS --coverage"])
  AC_SUBST([MSHARD_INSTRUMENT_FLAGS])
])
