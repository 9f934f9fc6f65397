. "$CASES/lib.sh"
m pack -n "$INPUTS/photos" >out
grep -c . out >/dev/null && echo printed
grep -o 'cat/one.png\|owl' out | sort -u
tail -n 1 out
ls
