# Each line is a working Python expression, and gives what cat gives.
. "$CASES/lib.sh"
photos
m dump photos.msd --numpy
"$PYTHON" -c 'import numpy' 2>/dev/null || PYTHON=/usr/bin/python3
"$PYTHON" -c 'import numpy' 2>/dev/null || exit 0
m cat photos.msd 1 -o 1.npy
"$MSHARD" dump photos.msd --numpy >lines
"$PYTHON" -c '
import numpy
columns = [eval(line) for line in open("lines")]
assert (columns[0][1] == numpy.load("1.npy")).all(), "differs"' >&2
