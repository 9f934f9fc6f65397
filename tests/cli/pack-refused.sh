# What cannot be packed: one line, nothing left behind.
. "$CASES/lib.sh"
fix() { sed -e "s|$INPUTS|INPUTS|g" | clean; }
check() { # shows the first words and the status; the wording belongs to the library
    "$MSHARD" pack "$@" >out 2>err
    echo "exit $?, out $(wc -l <out), err $(wc -l <err): $(sed -n '1s/^\(mshard: [^:]*\).*/\1/p' err | fix)"
}
check "$INPUTS/empty" -o a.msd
check "$INPUTS/nosuch" -o a.msd
check "$INPUTS/sizes" -o a.msd
check "$INPUTS/large.npy" -o a.msd --dtype large=float16
check "$INPUTS/photos" -o nosuch/a.msd
check "$INPUTS/photos" -o "$INPUTS/values.npy"
ls
