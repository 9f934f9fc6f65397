#!/bin/sh
# Runs each case (<case>.sh) in a fresh folder and compares what it prints with <case>.out, <case>.err and <case>.exit
# (absent: empty, empty, 0). TAP on standard output.
#
#   MSHARD=path/to/mshard run.sh [--accept] [CASE...]
#
# --accept writes the expected files from what was printed: look at the diff before committing it.
here=$(cd "$(dirname "$0")" && pwd)
MSHARD=${MSHARD:-$here/../../tools/mshard}
case $MSHARD in /*) ;; *) MSHARD=$PWD/$MSHARD ;; esac
PYTHON=${PYTHON:-python3}
export MSHARD PYTHON
[ -x "$MSHARD" ] || { echo "1..0 # SKIP no program at $MSHARD"; exit 0; }
accept=no
[ "$1" = --accept ] && { accept=yes; shift; }
CASES=$here
export CASES
LC_ALL=C.UTF-8
export LC_ALL
unset COLUMNS NO_COLOR COLORTERM TERM LANG MSHARD_JSON MSHARD_QUIET MSHARD_JOBS
scratch=$(mktemp -d) || exit 99
trap 'chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 99' HUP INT TERM

[ $# -gt 0 ] || set -- $(cd "$here" && ls *.sh | sed 's/\.sh$//' | grep -vx -e run -e lib)
# Inputs are drawn once; cases that change a data set copy it.
INPUTS=$scratch/inputs
export INPUTS
mkdir "$INPUTS" && (cd "$INPUTS" && "$PYTHON" "$here/draw.py") || { echo "Bail out! draw.py failed"; exit 99; }

expected() { # suffix: the expected file, or an empty one
    if [ -e "$here/$name.$1" ]; then cat "$here/$name.$1"; elif [ "$1" = exit ]; then echo 0; fi
}
keep() { # suffix, file: make the expected file equal, or remove it when it says nothing
    if { [ "$1" = exit ] && [ "$(cat "$2")" = 0 ]; } || [ ! -s "$2" ]; then
        rm -f "$here/$name.$1"
    else
        cp "$2" "$here/$name.$1"
    fi
}
n=0
for name in "$@"; do
    n=$((n + 1))
    work=$scratch/$name
    mkdir -p "$work/run"
    (cd "$work/run" && sh "$here/$name.sh" >"$work/out" 2>"$work/err" </dev/null)
    echo $? >"$work/exit"
    wrong=""
    for part in out err exit; do
        if [ $accept = yes ]; then
            keep $part "$work/$part"
        else
            expected $part >"$work/expected"
            cmp -s "$work/expected" "$work/$part" || {
                wrong="$wrong $part"
                diff -u "$work/expected" "$work/$part" | sed 's/^/# /' | head -40
            }
        fi
    done
    if [ -n "$wrong" ]; then

        echo "not ok $n - $name: differs:$wrong"
    else
        echo "ok $n - $name"
    fi
    rm -rf "$work/run"
done
echo "1..$n"
exit 0
