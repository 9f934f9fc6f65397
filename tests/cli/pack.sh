. "$CASES/lib.sh"
m pack "$INPUTS/photos" -o photos.msd --keys | clean
m pack "$INPUTS/photos" -o photos.msd 2>&1 | clean
m pack "$INPUTS/photos" -o photos.msd --overwrite --shards=2 | clean
ls photos.msd
m pack -q "$INPUTS/photos" -o quiet.msd
m pack "$INPUTS/photos" -o small.msd --resize 4 --crop 4x2 --gray | clean
m dump small.msd | sed -n 2p
m pack "$INPUTS/values.npy" --labels "$INPUTS/labels.npy" -o values.msd | clean
m dump values.msd --record 2
