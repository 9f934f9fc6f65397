# A closed pipe ends a program quietly.
. "$CASES/lib.sh"
photos
i=0
while [ $i -lt 3000 ]; do echo 0:6; i=$((i + 1)); done >ranges
"$MSHARD" view photos.msd $(cat ranges) | head -n 1 | wc -l
"$MSHARD" dump photos.msd --hex --full | head -n 1 | wc -l
