"""Draw the inputs of the command line tests: small PNG files, arrays, damaged and badly named ones."""
import os
import struct
import zlib


def png(width, height, pixel):
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write(path, data):
    os.makedirs(os.path.dirname(path) or b".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def npy(descr, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (descr, shape)
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data


def picture(i):
    return png(8, 6, lambda x, y: (255 if (x + y + i) % 4 == 0 else 30 * i, 32 * x, 40 * y))


for i, name in enumerate(("cat/one.png", "cat/two.png", "dog/one.png", "dog/three.png", "dog/two.png", "owl/x.png")):
    write(os.fsencode("photos/" + name), picture(i))
for i, name in enumerate((b"a\x1b[31mred/1.png", b"b\xff\xfe/2.png", "\u732b \u202egpj/3.png".encode())):
    write(b"names/" + name, picture(i))
write(b"mixed/a/good.png", picture(1))
write(b"mixed/a/cut.png", picture(2)[:60])
write(b"mixed/b/not.png", b"this is no picture\n")
write(b"mixed/b/good.png", picture(3))
write(b"sizes/a/small.png", png(4, 4, lambda x, y: (1, 2, 3)))
write(b"sizes/a/wide.png", png(9, 4, lambda x, y: (1, 2, 3)))
values = [0.5, -2.0, 65504.0, 1e-7, float("nan"), float("inf"), 3.25, 1.0]
write(b"values.npy", npy("<f4", (4, 2), struct.pack("<8f", *values)))
write(b"labels.npy", npy("<i8", (4,), struct.pack("<4q", 2, 0, 1, 2)))
write(b"large.npy", npy("<f4", (2, 2), struct.pack("<4f", 1.0, 70000.0, -1.0, 2.0)))
write(b"ramp.npy", npy("<i4", (3, 100), struct.pack("<300i", *range(300))))
os.makedirs("empty", exist_ok=True)
