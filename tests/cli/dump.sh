. "$CASES/lib.sh"
photos
m dump photos.msd | clean
m dump photos.msd --shard 1 | clean | head -n 30
m dump photos.msd --shard 2
m dump photos.msd/shard-000000.mshard --hex | clean | sed -n '1,12p'
m dump photos.msd --json | valid_json
m dump photos.msd/shard-000000.mshard --json | valid_json
