. "$CASES/lib.sh"
photos
printf X | dd of=photos.msd/shard-000001.mshard bs=1 seek=4100 conv=notrunc 2>/dev/null
m verify photos.msd >out
grep -c 'shard-000001.mshard: at byte .*field image, records 3 to 5' out
tail -n 2 out
m verify -q photos.msd
m verify --level=headers photos.msd
m verify --json photos.msd | sed '$d' | valid_json
m verify --json photos.msd | grep -c '"message_type": "finding"'
printf X | dd of=photos.msd/shard-000000.mshard bs=1 seek=40 conv=notrunc 2>/dev/null
m photos.msd | tail -n 4 | clean
