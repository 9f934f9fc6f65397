. "$CASES/lib.sh"
photos
m view photos.msd 0 1 5
m view photos.msd --class dog
m view photos.msd --class dgo
m view photos.msd --class 7
m view photos.msd 6
m view photos.msd 0 --graphics=24bit | head -n 1 | tr '\033' E
m view photos.msd 0 --graphics=256 | head -n 1 | tr '\033' E
m view photos.msd --random 2 --seed 5 >a
m view photos.msd --random 2 --seed 5 | cmp - a
COLUMNS=40 m view photos.msd 0:3
"$MSHARD" pack -q "$INPUTS/ramp.npy" -o ramp.msd --no-sync
m view ramp.msd
m view photos.msd 0 --field label
