. "$CASES/lib.sh"
m --help | sed "s/^mshard [0-9.]*:/mshard VERSION:/"
for c in pack info ls dump cat view stats verify help; do
    echo "== $c"
    m $c -h
    m $c --help >long
    m help $c | cmp - long
    cat long
done
