# Color only when asked for or on a terminal.
. "$CASES/lib.sh"
photos
has_color() { if tr -d '\n' | grep -q "$(printf '\033')"; then echo color; else echo plain; fi; }
for c in info stats verify dump "view --random 1"; do
    "$MSHARD" $c photos.msd | has_color
    "$MSHARD" $c photos.msd --color=always | has_color
    NO_COLOR=1 "$MSHARD" $c photos.msd --color=never | has_color
done
