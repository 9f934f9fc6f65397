# Names come from strangers: nothing that steers a terminal gets out, and JSON stays valid.
. "$CASES/lib.sh"
m pack "$INPUTS/names" -o names.msd --keys >out 2>err
m info names.msd >>out 2>>err
m ls names.msd 0:3 >>out 2>>err
m stats names.msd >>out 2>>err
m view names.msd >>out 2>>err
m dump names.msd --record 0 >>out 2>>err
m cat names.msd "$(printf 'no\033[31mkey')" >>out 2>>err
m info "$(printf 'no\033[31mfile')" >>out 2>>err
m "$(printf 'no\033[31mcommand')" >>out 2>>err
cat out err | LC_ALL=C tr -d '\n -~' | LC_ALL=C tr -d '\200-\377' | od -An -c
"$PYTHON" -c 'open("err").read(); open("out").read(); print("valid UTF-8")'
grep -qi 'x1b' out && grep -q 'x1b' err && echo escaped
m ls --json names.msd 0:3 | valid_json
m info --json names.msd | valid_json
m stats --json names.msd | valid_json
m dump --json names.msd | valid_json
m dump --json --record 1 names.msd | valid_json
m verify -q names.msd
