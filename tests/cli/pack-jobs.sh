# The number of threads does not change a byte.
. "$CASES/lib.sh"
m pack -q "$INPUTS/photos" -o one.msd --keys -j 1 --shards 3
m pack -q "$INPUTS/photos" -o two.msd --keys -j 4 --shards 3
diff -r one.msd two.msd && echo same
