. "$CASES/lib.sh"
photos
m verify photos.msd | clean
m verify photos.msd/shard-000001.mshard | clean
m verify photos.msd --level=headers | clean
m verify photos.msd --level=index | clean
m verify photos.msd --subset 1/2 >/dev/null
m verify photos.msd --sample 50% --seed 3 >/dev/null
m verify photos.msd -q
m verify --json photos.msd | valid_json
m verify --json photos.msd | clean
m verify nosuch.msd
m verify "$INPUTS/values.npy" 2>&1 | wc -l
