#!/bin/sh
# The second reader (spec/reader, plain Python) on all vectors; the vectors against their generator; with arguments, the
# data sets and shards of these paths are checked by it instead.
cd "${srcdir:-$(dirname "$0")/../..}" || exit 99
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
for python in "${PYTHON:-python3}" python3 /usr/bin/python3 ""; do
    [ -n "$python" ] && "$python" -c 'import xxhash' 2>/dev/null && break
done
if [ -z "$python" ]; then
    echo "1..0 # SKIP no python3 with the module xxhash (Debian: python3-xxhash)"
    exit 0
fi
if [ $# -gt 0 ]; then
    for path; do
        "$python" spec/reader/mshard_reader.py "$path" || exit 1
    done
    exit 0
fi
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/work" "$scratch/made"
total=$("$python" spec/reader/check_vectors.py spec/vectors "$scratch/work" | tee "$scratch/tap" | sed -n 's/^1\.\.//p')
if [ -z "$total" ]; then
    echo "Bail out! spec/reader/check_vectors.py printed no plan"
    exit 1
fi
echo "1..$((total + 3))"
grep -v '^1\.\.' "$scratch/tap"
mkdir "$scratch/made/valid" "$scratch/made/invalid"
if "$python" spec/tools/make_vectors.py "$scratch/made" >"$scratch/log" 2>&1 &&
    diff -r spec/vectors/valid "$scratch/made/valid" >>"$scratch/log" &&
    diff -r spec/vectors/invalid "$scratch/made/invalid" >>"$scratch/log"; then
    echo "ok $((total + 1)) - vectors are what spec/tools/make_vectors.py makes"
else
    echo "not ok $((total + 1)) - vectors are what spec/tools/make_vectors.py makes"
    head -n 20 "$scratch/log" | sed 's/^/# /'
fi
if "$python" spec/tools/order.py | diff spec/vectors/order.json - >"$scratch/log"; then
    echo "ok $((total + 2)) - vectors/order.json is what spec/tools/order.py prints"
else
    echo "not ok $((total + 2)) - vectors/order.json is what spec/tools/order.py prints"
fi
what="$((total + 3)) - the second reader reads what the packer writes, shuffled by spec/order.md"
if [ ! -x "${MSHARD:-}" ]; then
    echo "ok $what # SKIP no mshard program"
elif head -c 6400 spec/shard.md >"$scratch/raw" &&
    "$MSHARD" pack "$scratch/raw" -o "$scratch/plain" -q --format=raw --raw-dtype=uint8 --raw-shape=64 >"$scratch/log" 2>&1 &&
    "$MSHARD" pack "$scratch/raw" -o "$scratch/shuffled" -q --format=raw --raw-dtype=uint8 --raw-shape=64 --shuffle=7 --shards=3 \
        >>"$scratch/log" 2>&1 &&
    "$python" spec/reader/check_pack.py "$scratch/raw" 64 "$scratch/plain" "$scratch/shuffled" 7 >>"$scratch/log" 2>&1; then
    echo "ok $what"
else
    echo "not ok $what"
    tail -n 5 "$scratch/log" | sed 's/^/# /'
fi
exit 0
