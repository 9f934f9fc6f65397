. "$CASES/lib.sh"
photos
m ls photos.msd | clean
m ls photos.msd --records
m ls photos.msd 4:
m ls photos.msd 5
m ls photos.msd :1 --json
m ls photos.msd 3:9
m ls photos.msd 6
m ls --json photos.msd | valid_json
m ls --json --records photos.msd | valid_json
m ls --json --records photos.msd | wc -l
