. "$CASES/lib.sh"
photos
m photos.msd | clean
m info photos.msd/dataset.json | sed 1q | clean
m photos.msd/shard-000000.mshard | clean
m info --json photos.msd | valid_json
m info --json photos.msd | clean | grep -v '"mean"\|"std"\|"source"\|"options"'
