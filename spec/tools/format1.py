"""format1.py - builds mshard format 1 files from spec/shard.md and spec/manifest.md, without the C library

Used to make the vectors only. Every byte that is put has a note, so that vectors are annotated hex text. Deliberately
plain: it is a second writer, and its value lies in sharing nothing with the first.
"""
import struct

import xxhash

MAGIC = b"\x89MSH\r\n\x1a\n"
BLOCK = 65536
UNKNOWN = 2**64 - 1
DTYPES = {  # name: (number, size, struct code)
    "uint8": (1, 1, "B"), "float16": (2, 2, "e"), "int8": (3, 1, "b"), "int16": (4, 2, "h"), "int32": (5, 4, "i"),
    "int64": (6, 8, "q"), "uint16": (7, 2, "H"), "uint32": (8, 4, "I"), "uint64": (9, 8, "Q"), "float32": (10, 4, "f"),
    "float64": (11, 8, "d"), "bfloat16": (12, 2, "H"), "bool": (13, 1, "B"),
}
CONTENTS = {"values": 0, "image": 1, "encoded": 2, "label": 3, "text": 4}
COLUMN, VALUES, ENDS, DIMS, SUMS = 1, 2, 3, 4, 5
KINDS = {COLUMN: "column", VALUES: "values", ENDS: "ends", DIMS: "dims", SUMS: "sums"}


def up(value, unit):
    return (value + unit - 1) // unit * unit


def field(name, dtype, shape=(), content="values", aux=False, scale=None, offset=None):
    return dict(name=name, dtype=dtype, shape=list(shape), content=content, aux=aux, scale=scale, offset=offset)


def key_field():
    return field("__key__", "uint8", [None], "text", aux=True)


def is_variable(f):
    return None in f["shape"]


def weight(f):
    if f["content"] == "encoded":
        return 65536
    product = DTYPES[f["dtype"]][1]
    for d in f["shape"]:
        product *= 256 if d is None else d
    return product


def encode(f, value):
    """Bytes of one value: bytes as they are, else a flat list of numbers (bfloat16: floats whose low half is zero)."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if f["dtype"] == "bfloat16":
        return b"".join(struct.pack("<f", v)[2:] for v in value)
    return struct.pack("<%d%s" % (len(value), DTYPES[f["dtype"]][2]), *value)


class Image:
    """Bytes of a file under construction, with notes: (offset, size, text)."""

    def __init__(self, size=0):
        self.data = bytearray(size)
        self.notes = []

    def put(self, offset, data, note=None):
        if len(self.data) < offset + len(data):
            self.data.extend(bytes(offset + len(data) - len(self.data)))
        self.data[offset:offset + len(data)] = data
        if note and data:
            self.notes.append((offset, len(data), note))

    def number(self, offset, size, value, note=None):
        self.put(offset, (value % (1 << 8 * size)).to_bytes(size, "little"), note)

    def get(self, offset, size):
        return int.from_bytes(self.data[offset:offset + size], "little")

    def copy(self):
        other = Image()
        other.data[:] = self.data
        other.notes = list(self.notes)
        return other


def seal(image, sums=True, root=True, header=True):
    """Compute the checksums again, those that are asked for."""
    header_size, count = image.get(12, 4), image.get(64, 4)
    last = image.get(72, 4) + 32 * (count - 1)
    start, size = image.get(last + 8, 8), image.get(last + 16, 8)
    if sums:
        for b in range(size // 8):
            begin = header_size + b * BLOCK
            block = bytes(image.data[begin:min(begin + BLOCK, start)])
            image.number(start + 8 * b, 8, xxhash.xxh3_64_intdigest(block, seed=b))
    if root:
        image.number(112, 8, xxhash.xxh3_64_intdigest(bytes(image.data[start:start + size])))
    if header:
        image.number(120, 8, 0)
        image.number(120, 8, xxhash.xxh3_64_intdigest(bytes(image.data[:header_size])))


def section_order(fields):
    plain = [i for i, f in enumerate(fields) if not f["aux"]]
    first = max(plain, key=lambda i: (weight(fields[i]), -i))
    return [first] + [i for i in range(len(fields)) if i != first]


def shard(fields, records, align=4096, header_size=None, minor=0, compat=0, order=None):
    """records: dicts of field name -> value; value of a variable field with several dims: (shape, value)."""
    data = []
    for i in order or section_order(fields):
        f = fields[i]
        values = [r[f["name"]] for r in records]
        if not is_variable(f):
            data.append((COLUMN, i, b"".join(encode(f, v) for v in values)))
            continue
        many = len(f["shape"]) > 1
        raw = [encode(f, v[1] if many else v) for v in values]
        ends, at = [], 0
        for r in raw:
            at += len(r)
            ends.append(at)
        data.append((VALUES, i, b"".join(raw)))
        data.append((ENDS, i, struct.pack("<%dQ" % len(ends), *ends)))
        if many:
            data.append((DIMS, i, b"".join(struct.pack("<%dI" % len(v[0]), *v[0]) for v in values)))
    count = len(data) + 1
    sections_offset = 128 + 160 * len(fields)
    header_size = header_size or up(sections_offset + 32 * count, 4096)
    image = Image(header_size)
    incompat = any(is_variable(f) for f in fields) | any(f["scale"] is not None for f in fields) << 1
    compat |= any(f["name"] == "__key__" for f in fields)
    # Sections first: the header states where they are.
    at, table = header_size, []
    for kind, i, body in data:
        at = up(at, align)
        table.append((kind, i, at, len(body)))
        put_section(image, fields[i], kind, at, body, len(records))
        at += len(body)
    start = up(at, align)
    size = 8 * (up(start - header_size, BLOCK) // BLOCK)
    table.append((SUMS, 2**32 - 1, start, size))
    if len(image.data) < start + size:
        image.put(start + size, b"")
    for b in range(size // 8):
        image.notes.append((start + 8 * b, 8, "sums[%d]" % b))
    n = image.number
    image.put(0, MAGIC, "header.magic")
    n(8, 2, 1, "header.major")
    n(10, 2, minor, "header.minor")
    n(12, 4, header_size, "header.header_size: %d" % header_size)
    n(16, 8, incompat, "header.incompat")
    n(24, 8, compat, "header.compat")
    n(32, 8, start + size, "header.file_size: %d" % (start + size))
    n(40, 8, len(records), "header.records: %d" % len(records))
    n(48, 4, align, "header.align: %d" % align)
    n(52, 4, BLOCK, "header.block_size: 65536")
    n(56, 4, 1, "header.checksum: XXH3-64")
    n(60, 4, len(fields), "header.field_count: %d" % len(fields))
    n(64, 4, count, "header.section_count: %d" % count)
    n(68, 4, 128, "header.fields_offset: 128")
    n(72, 4, sections_offset, "header.sections_offset: %d" % sections_offset)
    image.put(76, bytes(36), "header.reserved")
    image.notes.append((112, 8, "header.sums_root"))
    image.notes.append((120, 8, "header.header_sum"))
    for i, f in enumerate(fields):
        put_field(image, 128 + 160 * i, i, f)
    for i, (kind, owner, offset, size) in enumerate(table):
        p, name = sections_offset + 32 * i, "section[%d]" % i
        n(p, 4, kind, "%s.kind: %s" % (name, KINDS[kind]))
        n(p + 4, 4, owner, name + ".field: " + ("none" if kind == SUMS else fields[owner]["name"]))
        n(p + 8, 8, offset, "%s.offset: %d" % (name, offset))
        n(p + 16, 8, size, "%s.size: %d" % (name, size))
        image.put(p + 24, bytes(8), name + ".reserved")
    image.notes.sort()
    seal(image)
    return image


def put_field(image, p, i, f):
    name = "field[%d]" % i
    image.put(p, f["name"].encode().ljust(64, b"\0"), "%s.name: %s" % (name, f["name"]))
    image.number(p + 64, 1, DTYPES[f["dtype"]][0], "%s.dtype: %s" % (name, f["dtype"]))
    image.number(p + 65, 1, CONTENTS[f["content"]], "%s.content: %s" % (name, f["content"]))
    image.number(p + 66, 1, len(f["shape"]), "%s.ndim: %d" % (name, len(f["shape"])))
    image.number(p + 67, 1, 0, name + ".reserved0")
    scaled = f["scale"] is not None
    image.number(p + 68, 4, f["aux"] | scaled << 1, name + ".flags")
    ndim = len(f["shape"])
    for d, v in enumerate(f["shape"]):
        text = "unknown" if v is None else str(v)
        image.number(p + 72 + 8 * d, 8, UNKNOWN if v is None else v, "%s.shape[%d]: %s" % (name, d, text))
    if ndim < 8:
        image.put(p + 72 + 8 * ndim, bytes(64 - 8 * ndim), "%s.shape[%d] to [7]: none" % (name, ndim))
    image.put(p + 136, struct.pack("<d", f["scale"] if scaled else 0), name + ".scale")
    image.put(p + 144, struct.pack("<d", f["offset"] if scaled else 0), name + ".offset")
    image.put(p + 152, bytes(8), name + ".reserved1")


def put_section(image, f, kind, at, body, records):
    """Notes record by record where the step is known; values of variable fields in one note."""
    image.put(at, body)
    step = len(body) // records if records and kind != VALUES else len(body)
    for r in range(len(body) // step if step else 0):
        what = " of record %d" % r if kind != VALUES else ""
        image.notes.append((at + r * step, step, "%s: %s%s" % (KINDS[kind], f["name"], what)))


def key_index(pairs):
    """An LMDB 0.9 data file of 4096-byte pages with one leaf: (key, record) in key order (spec/key-index.md)."""
    page = bytearray(4096)
    upper, pointers = 4096, []
    for key, record in sorted(pairs):
        node = struct.pack("<HHHH", 8, 0, 0, len(key)) + key + struct.pack("<Q", record)
        upper -= up(len(node), 2)
        page[upper:upper + len(node)] = node
        pointers.append(upper)
    struct.pack_into("<QHHHH", page, 0, 2, 0, 2, 16 + 2 * len(pointers), upper)
    struct.pack_into("<%dH" % len(pointers), page, 16, *pointers)
    none = UNKNOWN
    metas = []
    for number in (0, 1):
        meta = bytearray(4096)
        struct.pack_into("<QHHHH", meta, 0, number, 0, 8, 0, 0)
        struct.pack_into("<IIQQ", meta, 16, 0xBEEFC0DE, 1, 0, 12288)
        struct.pack_into("<IHHQQQQQ", meta, 40, 4096, 0x4008, 0, 0, 0, 0, 0, none)  # free list: INTEGERKEY; opened with NOSUBDIR
        used = number == 1 and bool(pairs)
        struct.pack_into("<IHHQQQQQ", meta, 88, 0, 0, int(used), 0, int(used), 0, len(pairs) if used else 0, 2 if used else none)
        struct.pack_into("<QQ", meta, 136, 2 if used else 1, number)
        metas.append(bytes(meta))
    image = Image()
    image.put(0, metas[0] + metas[1] + (bytes(page) if pairs else b""))
    image.notes = [(0, 4096, "meta page 0"), (4096, 4096, "meta page 1"), (8192, 4096, "leaf page")]
    return image
