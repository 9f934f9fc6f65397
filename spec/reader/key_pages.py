"""key_pages.py - keys.mdb read page by page (spec/key-index.md, "Pages"), without LMDB"""
import struct
from rules import UNKNOWN, need

META, HEAD = "<IIQQIHHQQQQQIHHQQQQQQQ", "<QHHHH"

def read_index(data, count):  # bytes of the file -> {key: record}
    need(len(data) >= 152, "keys.mdb: too short")
    size = struct.unpack_from("<I", data, 40)[0]
    need(size in [512 << i for i in range(7)] and len(data) % size == 0 and len(data) >= 2 * size, "keys.mdb: page size")
    pages, metas = len(data) // size, []
    for at in (0, size):
        meta = struct.unpack_from(META, data, at + 16)
        need(struct.unpack_from(HEAD, data, at)[2] == 8 and meta[0] == 0xBEEFC0DE, "keys.mdb: no LMDB file")
        need(meta[1] == 1, "keys.mdb: LMDB data version %d" % meta[1], "version")
        need(meta[4] == size and not meta[5] & 1, "keys.mdb: meta page")
        metas.append(meta)
    meta = max(metas, key=lambda m: m[-1])
    depth, entries, root = meta[14], meta[18], meta[19]
    need(meta[3] == len(data) and meta[20] == max(pages - 1, 1) and meta[11] == UNKNOWN and meta[13] == 0, "keys.mdb: not compacted")
    need(depth <= 32 and (depth == 0) == (root == UNKNOWN), "keys.mdb: depth")
    seen, found = [], []
    if depth:
        read_page(data, size, root, depth, seen, found)
    need(len(seen) == pages - 2 and entries == len(found) == count, "keys.mdb: number of pages or entries")
    need(all(a[0] < b[0] for a, b in zip(found, found[1:])), "keys.mdb: order of keys")
    return dict(found)

def read_page(data, size, number, depth, seen, found):  # depth: levels from this page down
    at, name = number * size, "keys.mdb: page %d" % number
    need(2 <= number < len(data) // size and len(seen) < len(data) // size - 2, name)
    seen.append(number)
    stated, _, flags, lower, upper = struct.unpack_from(HEAD, data, at)
    nodes = (lower - 16) // 2
    need(stated == number and flags == (2 if depth == 1 else 1), name)
    need(lower % 2 == 0 and lower <= upper <= size and nodes >= (1 if depth == 1 else 2), name)
    for i in range(nodes):
        node, = struct.unpack_from("<H", data, at + 16 + 2 * i)
        need(upper <= node <= size - 8 and node % 2 == 0, name)
        low, high, more, length = struct.unpack_from("<HHHH", data, at + node)
        need(length <= 511 and node + 8 + length <= size, name)
        if depth > 1:
            read_page(data, size, low | high << 16 | more << 32, depth - 1, seen, found)
            continue
        need((low, high, more) == (8, 0, 0) and length and node + 16 + length <= size, name)
        key = data[at + node + 8:at + node + 8 + length]
        found.append((key, struct.unpack_from("<Q", data, at + node + 8 + length)[0]))
