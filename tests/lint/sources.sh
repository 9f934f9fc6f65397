#!/bin/sh
# Every source file is listed in a local.mk; every folder of sources opens its files with a comment.
cd "${srcdir:-$(dirname "$0")/../..}" || exit 99
n=0
check() {
    n=$((n + 1))
    if [ -n "$2" ]; then
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
    else
        echo "ok $n - $1"
    fi
}
missing=""
for f in libformat/src/*/*.[ch] tools/*.[ch]; do
    grep -q "$(basename "$f")" libformat/local.mk tools/local.mk || missing="$missing
$f"
done
check "sources are listed in local.mk" "$missing"
missing=""
for f in tests/cli/*; do
    case $f in *.log | *.trs) continue ;; esac
    grep -q "$f\\( \\|\$\\)" tests/local.mk || missing="$missing
$f"
done
check "CLI cases are listed in local.mk" "$missing"
bare=""
for f in libformat/src/*/*.[ch] libformat/include/mshard/*.h tools/*.[ch] tests/*/*.[ch]; do
    [ -e "$f" ] || continue
    head -c 2 "$f" | grep -q '^/\*' || bare="$bare
$f"
done
check "files open with a comment" "$bare"
echo "1..$n"
