#!/bin/sh
# Help, man pages, completions, the parser and docs/json.md know the same commands and options; help fits a screen.
cd "${srcdir:-$(dirname "$0")/../..}" || exit 99
MSHARD=${MSHARD:-tools/mshard}
[ -x "$MSHARD" ] || { echo "1..0 # SKIP no program at $MSHARD"; exit 0; }
LC_ALL=C.UTF-8
export LC_ALL
unset COLUMNS MSHARD_JSON
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
n=0
check() { # description, what is wrong ("" when nothing is)
    n=$((n + 1))
    if [ -n "$2" ]; then
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed 's/^/# /' | head -20
    else
        echo "ok $n - $1"
    fi
}
skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}
same() { # description, file, file
    check "$1" "$(diff "$2" "$3")"
}
commands=$("$MSHARD" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | grep -vx mshard)
check "commands are listed" "$([ "$(echo "$commands" | wc -l)" -ge 9 ] || echo "found: $commands")"
for shell in bash zsh fish; do
    "$MSHARD" help --generate=$shell >"$scratch/$shell" || check "$shell completion" "exit $?"
    if command -v $shell >/dev/null; then
        check "$shell takes its completion" "$($shell -n "$scratch/$shell" 2>&1)"
    else
        skip "$shell takes its completion" "no $shell"
    fi
done
"$MSHARD" help --generate=man >"$scratch/mshard.1"
man_pages=$scratch/mshard.1
for c in $commands; do
    "$MSHARD" help --generate=man $c >"$scratch/mshard-$c.1"
    man_pages="$man_pages $scratch/mshard-$c.1"
    "$MSHARD" $c --help >"$scratch/help"
    check "$c --help fits a screen" "$([ "$(wc -l <"$scratch/help")" -le 40 ] || wc -l <"$scratch/help"; awk 'length > 80' "$scratch/help")"
    check "$c --help shows an example" "$(grep -A1 '^Example:' "$scratch/help" | grep -q '^  mshard' || echo none)"
    check "$c -h is not longer" "$([ "$("$MSHARD" $c -h | wc -l)" -le "$(($(wc -l <"$scratch/help") + 1))" ] || echo longer)"
    "$MSHARD" help $c >"$scratch/help2"
    same "help $c and $c --help agree" "$scratch/help" "$scratch/help2"
    # long options with their short ones, as "-o --output"
    sed -n 's/^  \(-[a-z]\), --\([a-z0-9-]*\).*/\1 --\2/p; s/^      --\([a-z0-9-]*\).*/--\1/p' "$scratch/help" |
        LC_ALL=C sort >"$scratch/options"
    sed -n '/^\.Sh DESCRIPTION/,/^\.Sh ENVIRONMENT/{
        s/^\.It Fl \([a-z]\) .*, Fl \\-\([a-z0-9-]*\).*/-\1 --\2/p
        s/^\.It Fl \([a-z]\) , Fl \\-\([a-z0-9-]*\).*/-\1 --\2/p
        s/^\.It Fl \\-\([a-z0-9-]*\).*/--\1/p
    }' "$scratch/mshard-$c.1" | LC_ALL=C sort -u >"$scratch/of_man"
    same "$c: help and man page" "$scratch/options" "$scratch/of_man"
    # every name, also other names of an option, which only the man page explains
    sed -n '/^The name$/{n;s/^\.Fl \\-\(.*\)/--\1/p;}' "$scratch/mshard-$c.1" >"$scratch/other"
    tr ' ' '\n' <"$scratch/options" | cat - "$scratch/other" | LC_ALL=C sort >"$scratch/names"
    sed -n "s/^        $c,-\\*) _mshard_words \"\\(.*\\)\"; return;;/\\1/p" "$scratch/bash" | tr ' ' '\n' | grep . |
        LC_ALL=C sort >"$scratch/of_bash"
    same "$c: man page and bash completion" "$scratch/names" "$scratch/of_bash"
    sed -n "/^        $c)\$/,/^            ;;/s/^ *'\\*\\{0,1\\}\\(--*[a-z0-9-]*\\)[=+]\\{0,1\\}\\[.*/\\1/p" "$scratch/zsh" |
        LC_ALL=C sort >"$scratch/of_zsh"
    same "$c: man page and zsh completion" "$scratch/names" "$scratch/of_zsh"
    sed -n "s/^complete -c mshard -n '__fish_seen_subcommand_from $c' \\(-[sl].*\\)/\\1/p" "$scratch/fish" |
        sed -n 's/^-s \([a-z]\) -l \([a-z0-9-]*\) .*/-\1\n--\2/p; s/^-l \([a-z0-9-]*\) .*/--\1/p' | LC_ALL=C sort >"$scratch/of_fish"
    same "$c: man page and fish completion" "$scratch/names" "$scratch/of_fish"
    unknown=""
    while read -r name; do
        case $name in
        --*) "$MSHARD" $c "$name" 2>&1 </dev/null | grep "has no option" >>"$scratch/refused" ;;
        *) "$MSHARD" $c "$name" 2>&1 </dev/null | grep "has no option" >>"$scratch/refused" ;;
        esac
    done <"$scratch/names"
    [ -s "$scratch/refused" ] && unknown=$(cat "$scratch/refused")
    check "$c: the parser takes them all" "$unknown"
    : >"$scratch/refused"
done
if [ -n "$MANDOC" ] && [ "$MANDOC" != no ] || MANDOC=$(command -v mandoc); then
    check "man pages are clean under mandoc -T lint" \
        "$("$MANDOC" -T lint $man_pages | grep -v 'referenced manual not found')"
else
    skip "man pages are clean under mandoc -T lint" "no mandoc"
fi
"$MSHARD" help --generate=json >"$scratch/json"
sed -n '/^<!-- generated/,$p' docs/json.md | sed 1d >"$scratch/of_docs"
same "docs/json.md has what help --generate=json writes" "$scratch/json" "$scratch/of_docs"
echo "1..$n"
exit 0
