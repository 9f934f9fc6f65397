# Nobody to write to: the result line is lost, and that is said.
. "$CASES/lib.sh"
[ -w /dev/full ] || exit 0
m ls "$INPUTS/photos" 2>/dev/null >/dev/null
photos
"$MSHARD" ls photos.msd >/dev/full
echo "exit $?"
"$MSHARD" info --json photos.msd >/dev/full
echo "exit $?"
"$MSHARD" cat photos.msd 0 -o /dev/full
echo "exit $?"
