#!/bin/sh
# Functions in public headers = symbols in the version scripts = symbols the libraries export.
cd "${srcdir:-$(dirname "$0")/../..}" || exit 99
n=0
same() { # description, list a, list b
    n=$((n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '%s\n' "$2" >"${TMPDIR:-/tmp}/mshard-exports-a.$$"
        printf '%s\n' "$3" | diff "${TMPDIR:-/tmp}/mshard-exports-a.$$" - | sed 's/^/# /'
        rm -f "${TMPDIR:-/tmp}/mshard-exports-a.$$"
    fi
}
declared() { cat "$@" | tr '\n' ' ' | grep -oE 'MSHARD_API[^;{]*' | grep -oE 'mshard_[a-z0-9_]+ *\(' | tr -d ' (' | LC_ALL=C sort -u; }
mapped() { grep -oE '^ *mshard_[a-z0-9_]+;' "$1" | tr -d ' ;' | LC_ALL=C sort -u; }
exported() { nm -D --defined-only "$1" | awk '$2 ~ /[TDBRV]/ {print $3}' | sed 's/@.*//' | grep -v '^MSHARD_' | LC_ALL=C sort -u; }
core=$(ls libformat/include/mshard/*.h | grep -v pack.h)
same "libmshard.map lists what the headers declare" "$(declared $core)" "$(mapped libformat/libmshard.map)"
same "libmshard.so exports what its map lists" "$(mapped libformat/libmshard.map)" "$(exported "$builddir/libformat/.libs/libmshard.so")"
if [ -e "$builddir/libformat/.libs/libmshard-ingest.so" ]; then
    same "libmshard-ingest.map lists what pack.h declares" "$(declared libformat/include/mshard/pack.h)" "$(mapped libformat/libmshard-ingest.map)"
    same "libmshard-ingest.so exports what its map lists" "$(mapped libformat/libmshard-ingest.map)" "$(exported "$builddir/libformat/.libs/libmshard-ingest.so")"
fi
echo "1..$n"
