# lib.sh - what cases share; sourced first
# Figures that differ from run to run, and ids, which tests of the format pin down.
clean() {
    sed -E -e 's/[0-9a-f]{32}/ID/g' -e 's/id [0-9a-f]{8}\.\.\./id ID.../g' -e 's/\b[0-9a-f]{16}\b/SUM/g' \
        -e 's/[0-9,]+ records\/s, [0-9.]+ [KMGT]?i?B\/s/RATE/g' -e 's/, [0-9.]+ [KMGT]?i?B\/s$/, RATE/' \
        -e 's/"(seconds|verify_seconds|rate|memory_limit)": [0-9.e+-]+/"\1": N/g'
}
# Run mshard; show its exit status when it is not 0.
m() {
    "$MSHARD" "$@"
    code=$?
    [ $code = 0 ] || echo "exit $code"
}
# Valid JSON, a document or one a line, or a word about it.
valid_json() {
    "$PYTHON" -c '
import json, sys
text = sys.stdin.buffer.read().decode("utf-8")
try:
    json.loads(text)
    print("valid JSON")
except ValueError:
    for line in text.splitlines():
        json.loads(line)
    print("valid JSON lines")'
}
photos() { # a data set of 6 pictures in 3 classes, 2 shards, with keys
    "$MSHARD" pack "$INPUTS/photos" -o "${1:-photos.msd}" --keys --shards 2 -q --no-sync
}
