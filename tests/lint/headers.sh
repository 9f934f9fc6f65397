#!/bin/sh
# Each public header compiles alone, as C11 and as C++17; each internal header compiles alone.
cd "${srcdir:-$(dirname "$0")/../..}" || exit 99
n=0
try() { # description, command...
    what=$1
    shift
    n=$((n + 1))
    if out=$("$@" 2>&1); then
        echo "ok $n - $what"
    else
        echo "not ok $n - $what"
        echo "$out" | sed 's/^/# /'
    fi
}
for h in libformat/include/mshard/*.h; do
    try "$(basename "$h") as C11" ${CC:-cc} -std=c11 -Wall -Wextra -Wconversion -Werror -Ilibformat/include -fsyntax-only -x c "$h"
    if command -v c++ >/dev/null 2>&1; then
        try "$(basename "$h") as C++17" c++ -std=c++17 -Wall -Wextra -Werror -Ilibformat/include -fsyntax-only -x c++ "$h"
    fi
done
for h in libformat/src/*/*.h; do
    try "${h#libformat/src/} alone" ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Ilibformat/include -Ilibformat/src -fsyntax-only -x c "$h"
done
echo "1..$n"
