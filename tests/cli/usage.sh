# Wrong usage: one line on standard error, exit 2, nothing on standard output.
. "$CASES/lib.sh"
exec 2>&1
m 2>&1 | sed "s/^mshard [0-9.]*:/mshard VERSION:/"
m nosuch
m inof
m pakc x
m no/such/path
m pack
m pack x
m pack x -o
m pack x -o y --resise 8
m pack x -o y --res 8
m pack x -o y --resize 8x
m pack x -o y --resize 0
m pack x -o y --shard-size 12Q
m pack x -o y --jobs 0
m pack x -o y --jobs -3
m pack x -o y --align 5000
m pack x -o y --shards 0
m pack x -o y --on-error ignore
m pack x -o y --on-error=skp
m pack x -o y --encoded --resize 8
m pack x -o y --raw-dtype uint8
m pack x -o y --format raw
m pack x -o y --format cifar1
m pack x -o y --dtype float16
m pack x -o y --dtype x=float17
m pack x -o y -Z
m pack x -o y --quiet=yes
m info
m info a b
m ls "$INPUTS" 1:2:3
m dump x --hex --numpy
m dump x --field y
m verify x --subset 3/2
m verify x --sample 0
m verify x --sample 120%
m verify x --seed 1
m verify x --subset 1/2 --sample 5%
m verify x --level=everything
m view x 1 --random 3
m view x --random 0
m help nosuch
m help statz
m help --generate=perl
MSHARD_JOBS=many m verify x
MSHARD_JSON=perhaps m info x
