. "$CASES/lib.sh"
m --version | sed 's/[0-9][0-9.]*$/VERSION/'
