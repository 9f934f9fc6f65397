# Damage is shown as far as it can be followed; exit 1; it always ends.
. "$CASES/lib.sh"
photos
cp -r photos.msd cut.msd
dd if=photos.msd/shard-000000.mshard of=cut.msd/shard-000000.mshard bs=5000 count=1 2>/dev/null
m dump cut.msd 2>err >out
grep -c 'missing\|expected a file' out >/dev/null && echo shown
tail -n 1 out
sed 's/.*\(at byte 5000\).*/\1/' err | sort -u
m dump cut.msd --json 2>/dev/null | sed '$d' | valid_json
m dump cut.msd/shard-000000.mshard --hex --full 2>/dev/null | tail -n 1
for size in 0 1 7 8 64 127 128 200 1000 4095 4096; do
    head -c $size photos.msd/shard-000000.mshard >cut.mshard
    "$MSHARD" dump cut.mshard >out 2>err || echo "$size: exit $?, $(wc -l <err) line"
    "$MSHARD" dump --hex cut.mshard >out 2>err || echo "$size: exit $?, $(wc -l <err) line"
done
rm cut.msd/dataset.json
m dump cut.msd 2>/dev/null | tail -n 1
