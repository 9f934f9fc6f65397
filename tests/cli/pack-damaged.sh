# Damaged inputs: all are named; nothing is left; --on-error=skip leaves them out and exits with 4.
. "$CASES/lib.sh"
fix() { sed -e "s|$INPUTS/||g" | clean; }
m pack "$INPUTS/mixed" -o mixed.msd 2>err | fix
fix <err | sed 's/: .*not\.png/: not.png/; s/\(\.png\): .*/\1: REASON/' | LC_ALL=C sort
ls
m pack "$INPUTS/mixed" -o mixed.msd --on-error=skip 2>err | fix
sed "s|$INPUTS/||g" err | sed 's/\(\.png\): .*/\1: REASON/' | LC_ALL=C sort
ls mixed.msd
wc -l <mixed.msd/skipped.jsonl
valid_json <mixed.msd/skipped.jsonl
m verify -q mixed.msd
