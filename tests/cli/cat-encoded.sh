# Image files come out as they went in; as pixels when asked for.
. "$CASES/lib.sh"
"$MSHARD" pack -q "$INPUTS/photos" -o enc.msd --encoded --no-sync
m cat enc.msd 0 | cmp - "$INPUTS/photos/cat/one.png" && echo same
m cat enc.msd 0 -o 0.png
cmp 0.png "$INPUTS/photos/cat/one.png" && echo same
m dump enc.msd --record 0
m view enc.msd 0 | sed -n 4p
m info enc.msd | sed -n 3p
