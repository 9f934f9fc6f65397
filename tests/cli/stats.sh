. "$CASES/lib.sh"
photos
m stats photos.msd
LC_ALL=C m stats photos.msd | tail -n 1
m stats --json photos.msd | valid_json
m stats --json photos.msd | grep -v '"mean"\|"std"' | clean
m stats photos.msd/shard-000000.mshard
"$MSHARD" pack -q "$INPUTS/values.npy" -o values.msd --no-sync
m stats values.msd
