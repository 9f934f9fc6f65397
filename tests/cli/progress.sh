# Off a terminal: plain lines, never a carriage return; nothing when quiet.
. "$CASES/lib.sh"
"$MSHARD" pack "$INPUTS/photos" -o a.msd --progress=always --no-sync >out 2>err
tr -d '\n -~' <err | od -An -c
sed 's/[0-9.]*\/s/N\/s/; s/pack: [a-z]* /pack: /' err | tail -n 1
"$MSHARD" verify a.msd --progress=always 2>&1 >out | sed 's/[0-9]*\/[0-9]* bytes/N bytes/'
"$MSHARD" pack "$INPUTS/photos" -o b.msd -q --no-sync
"$MSHARD" verify b.msd -q
