dnl MSHARD_WARNINGS - put the warnings this compiler knows into MSHARD_WARN_CFLAGS
AC_DEFUN([MSHARD_TRY_CFLAG], [
  AC_MSG_CHECKING([whether $CC takes $1])
  mshard_saved_CFLAGS="$CFLAGS"
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[]], [[]])],
    [AC_MSG_RESULT([yes]); MSHARD_WARN_CFLAGS="$MSHARD_WARN_CFLAGS $1"], [AC_MSG_RESULT([no])])
  CFLAGS="$mshard_saved_CFLAGS"
])
AC_DEFUN([MSHARD_WARNINGS], [
  MSHARD_WARN_CFLAGS=""
  m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wformat=2 -Wundef -Wwrite-strings -Wcast-align -Wimplicit-fallthrough], [MSHARD_TRY_CFLAG(flag)])
  AS_IF([test "x$enable_werror" = xyes], [MSHARD_WARN_CFLAGS="$MSHARD_WARN_CFLAGS -Werror"])
  AC_SUBST([MSHARD_WARN_CFLAGS])
])
