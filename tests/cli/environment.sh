# Options from variables; the command line wins.
. "$CASES/lib.sh"
photos
MSHARD_JSON=1 m info photos.msd | valid_json
MSHARD_JSON=0 m info photos.msd | sed 1q | clean
MSHARD_LEVEL=headers m verify photos.msd
MSHARD_LEVEL=all m verify photos.msd --level=headers
