. "$CASES/lib.sh"
photos
m dump photos.msd --record 5
m dump photos.msd --record 5 --field label
m dump photos.msd --record 0 --field image --full
m dump photos.msd --record 6
m dump photos.msd --record 0 --field imge
m dump photos.msd --record 3 --json | valid_json
"$MSHARD" pack -q "$INPUTS/ramp.npy" -o ramp.msd --no-sync
m dump ramp.msd --record 2
