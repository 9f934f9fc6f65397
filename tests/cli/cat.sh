. "$CASES/lib.sh"
photos
m cat photos.msd 0 -o first.png
"$PYTHON" - "$INPUTS/photos/cat/one.png" <<'P'
import struct, sys, zlib

def pixels(path):
    data = open(path, "rb").read()
    at, body = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        part = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + part) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", part[:8])
        if kind == b"IDAT":
            body += part
        at += 12 + size
    raw, row, rows = zlib.decompress(body), width * 3, []
    for y in range(height):
        kind, line = raw[y * (row + 1)], bytearray(raw[y * (row + 1) + 1:(y + 1) * (row + 1)])
        for x in range(row):
            a = line[x - 3] if x >= 3 else 0
            b = rows[-1][x] if rows else 0
            c = rows[-1][x - 3] if rows and x >= 3 else 0
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[x] = (line[x] + (0, None, None, None, near)[kind]) & 255
        rows.append(line)
    return width, height, rows

print("same pixels" if pixels("first.png") == pixels(sys.argv[1]) else "other pixels")
P
m cat photos.msd cat/two.png --field label
m cat photos.msd --key owl/x.png --field label
m cat photos.msd 3 -f label --format json
m cat photos.msd 0 --format raw | wc -c
m cat photos.msd 0 -o a.npy
head -c 128 a.npy | tr -d '\0' | tail -c +9 | tr -s ' '
m cat photos.msd nosuch
m cat photos.msd 6
m cat photos.msd
m cat photos.msd 1 --key x
m cat photos.msd 0 -f lable
m cat photos.msd 0 -f label --format png
m cat photos.msd 0 -o nosuch/x.png
"$MSHARD" pack -q "$INPUTS/photos" -o plain.msd --no-sync
m cat plain.msd cat/one.png
ls
