#!/bin/sh
# Each folder of libformat/src includes itself and lower layers only; each third-party library is included by one file;
# tools, python and bench include public headers only; files and threads are touched in os/ only.
cd "${srcdir:-$(dirname "$0")/../..}" || exit 99
n=0
bad=0
report() { # description, offending lines
    n=$((n + 1))
    if [ -n "$2" ]; then
        bad=1
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
    else
        echo "ok $n - $1"
    fi
}
layer_table='base:base
os:base os
format:base os format
dataset:base os format dataset
sampling:base os format dataset sampling
transform:base os format dataset transform
cache:base os format dataset cache
ingest:base os format dataset ingest
loader:base os format dataset sampling transform cache loader'
seen=""
while IFS=: read -r folder allowed; do
    [ -d "libformat/src/$folder" ] || continue
    seen="$seen $folder"
    pattern=$(echo "$allowed" | tr ' ' '|')
    found=$(grep -nE '^#include "' -r "libformat/src/$folder" | grep -vE "#include \"($pattern)/")
    report "$folder includes only: $allowed" "$found"
done <<TABLE
$layer_table
TABLE
unknown=""
for d in libformat/src/*/; do
    f=$(basename "$d")
    case " $seen " in *" $f "*) ;; *) unknown="$unknown $f" ;; esac
done
report "every folder has a layer" "$unknown"
only() { # header pattern, the file that may
    report "only $2 includes $1" "$(grep -rnE "^#include <$1" libformat/src | grep -v "^libformat/src/$2:")"
}
only 'xxh' base/hash.c
only 'jansson\.h' base/json.c
only 'lmdb\.h' format/key_index.c
only 'archive(_entry)?\.h' ingest/source_archive.c
only '(vips|glib)' ingest/decode_vips.c
only 'zlib\.h' ingest/png_check.c
report "system calls for files, maps and threads live in os/" \
    "$(grep -rnE '^#include <(fcntl|unistd|dirent|pthread|sched|sys/[a-z]+)\.h>' libformat/src | grep -v '^libformat/src/os/')"
report "tools, bench and python include only <mshard/...> of the project" \
    "$(grep -rnE '#include "(base|os|format|dataset|ingest|sampling|transform|cache|loader)/' tools bench python/src 2>/dev/null)"
echo "1..$n"
exit 0
