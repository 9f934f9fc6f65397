. "$CASES/lib.sh"
exec 2>&1
m info nosuch.msd
mkdir folder
m folder | sed 's/(next.*//'
echo hello >file
m file
photos
: >photos.msd/dataset.json
m photos.msd | sed 's/: .*/: .../'
