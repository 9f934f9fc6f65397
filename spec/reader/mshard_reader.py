#!/usr/bin/env python3
"""mshard_reader.py - second reader and validator of mshard format 1, from spec/*.md alone; needs python3-xxhash

    mshard_reader.py PATH      check a data set or shard; print one line a value: record, field, shape, bytes, XXH3-128
"""
import math, mmap, os, struct, sys
from xxhash import xxh3_64_intdigest as hash64
from key_pages import read_index
from rules import CONTENTS, DTYPES, NONE, T40, UNKNOWN, Fault, Field, check_field, check_fields, hash128, need, read_manifest, width

MAGIC, BLOCK = b"\x89MSH\r\n\x1a\n", 65536
COLUMN, VALUES, ENDS, DIMS, SUMS = 1, 2, 3, 4, 5
up = lambda n, unit: -(-n // unit) * unit

class Shard:
    def __init__(self, path, listed=None):  # listed: its entry in dataset.json
        need(os.path.exists(path), path, "not found")
        with open(path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            need(not listed or self.size >= listed["size"], path + ": shorter than listed", "truncated")
            need(not listed or self.size == listed["size"], path + ": longer than listed")
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else b""
        self.read_header(path)
        self.read_fields()
        self.read_sections()

    def read_header(self, path):
        d, size = self.data, self.size
        need(d[:8] == MAGIC[:min(8, size)], path + ": no shard, or not sealed", "format")
        need(size >= 128, path + ": no header", "truncated")
        (major, _, self.header_size, self.incompat, self.compat, self.file_size, self.records, self.align, block, checksum, self.field_count,
         self.section_count, fields_at, self.sections_at, reserved, self.root, self.sum) = struct.unpack("<HHIQQQQIIIIIII36sQQ", d[8:128])
        need(major == 1, "major version %d" % major, "version")
        need(4096 <= self.header_size <= 65536 and self.header_size % 4096 == 0, "header_size")
        need(size >= self.header_size, "header", "truncated")
        need(hash64(d[:120] + bytes(8) + d[128:self.header_size]) == self.sum, "header_sum")
        need(self.incompat < 4, "incompat bits %#x" % self.incompat, "version")
        need(self.file_size <= 2**56, "file_size", "limit")
        need(size >= self.file_size, "file is shorter than file_size", "truncated")
        need(size == self.file_size, "file is longer than file_size")
        need(self.records <= T40, "records", "limit")
        need(self.align in [4096 << i for i in range(9)] and block == BLOCK and checksum == 1, "align, block_size or checksum")
        need(self.field_count, "field_count")
        need(self.field_count <= 64, "field_count", "limit")
        need(fields_at == 128 and self.sections_at == 128 + 160 * self.field_count and self.section_count <= 193 and
             self.sections_at + 32 * self.section_count <= self.header_size and not any(reserved), "place of tables, or reserved")

    def read_fields(self):
        self.fields = []
        for i in range(self.field_count):
            name, dtype, content, ndim, zero, flags, *shape = struct.unpack_from("<64sBBBBI8Q", self.data, 128 + 160 * i)
            numbers = self.data[264 + 160 * i:288 + 160 * i]  # scale, offset, reserved1
            name, _, tail = name.partition(b"\0")
            need(len(name) < 64 and not any(tail) and name.isascii(), "field name")
            need(1 <= dtype <= 13 and content <= 4 and flags < 4 and not zero and not any(numbers[16:]), "field %d" % i)
            need(ndim <= 8, "ndim", "limit")
            need(not any(shape[ndim:]) and (flags & 2 or not any(numbers)), "field %d" % i)
            scale = struct.unpack("<dd", numbers[:16]) if flags & 2 else (None, None)
            self.fields.append(Field(name.decode(), list(DTYPES)[dtype - 1], CONTENTS[content], bool(flags & 1), shape[:ndim], *scale))
            check_field(self.fields[-1], [f.name for f in self.fields[:-1]])
        check_fields(self.fields)
        need(self.incompat == any(UNKNOWN in f.shape for f in self.fields) | any(f.scale is not None for f in self.fields) << 1, "incompat")
        need(self.compat & 1 == (self.fields[-1].name == "__key__"), "compat")

    def read_sections(self):
        wanted = {(k, i) for i, f in enumerate(self.fields) for k in
                  ((VALUES, ENDS, DIMS)[:2 + (len(f.shape) > 1)] if UNKNOWN in f.shape else (COLUMN,))}
        need(self.section_count == len(wanted) + 1, "section_count")
        self.at, self.gaps, end = {}, [], self.header_size
        for s in range(self.section_count):
            kind, i, offset, size, zero = struct.unpack_from("<IIQQQ", self.data, self.sections_at + 32 * s)
            last = s == self.section_count - 1
            need(((kind, i) == (SUMS, NONE) if last else (kind, i) in wanted - set(self.at)) and not zero, "section %d" % s)
            need(offset == up(end, self.align), "offset of section %d" % s)
            need(size == self.section_size(kind, None if last else self.fields[i], offset, size), "size of section %d" % s)
            self.gaps.append((end, offset))
            self.at[kind, i], end = (offset, size), offset + size
        need(end == self.file_size, "end of sums")
        need(not any(self.data[self.sections_at + 32 * self.section_count:self.header_size]), "bytes after the tables")

    def section_size(self, kind, f, offset, stated):
        if kind == SUMS:
            return 8 * (up(offset - self.header_size, BLOCK) // BLOCK)
        if kind == VALUES:
            return stated // width(f) * width(f) if self.records else 0
        return self.records * {COLUMN: width(f) * math.prod(f.shape), ENDS: 8, DIMS: 4 * len(f.shape)}[kind]

    def value(self, r, i):  # shape and bytes of record r, field i
        f, d = self.fields[i], self.data
        if UNKNOWN not in f.shape:
            size = width(f) * math.prod(f.shape)
            at = self.at[COLUMN, i][0] + r * size
            return f.shape, d[at:at + size]
        ends, (at, size) = self.at[ENDS, i][0], self.at[VALUES, i]
        begin = struct.unpack_from("<Q", d, ends + 8 * r - 8)[0] if r else 0
        end, = struct.unpack_from("<Q", d, ends + 8 * r)
        need(begin <= end <= size and begin % width(f) == end % width(f) == 0, "end of record %d" % r)
        need(end - begin <= T40, "size of record %d" % r, "limit")
        shape = [(end - begin) // width(f)]
        if len(f.shape) > 1:
            shape = list(struct.unpack_from("<%dI" % len(f.shape), d, self.at[DIMS, i][0] + 4 * len(f.shape) * r))
            need(all(k in (UNKNOWN, s) for k, s in zip(f.shape, shape)) and width(f) * math.prod(shape) == end - begin, "dims of record %d" % r)
        return shape, d[at + begin:at + end]

    def verify(self, classes={}):  # what validators check in addition
        d, (at, size) = self.data, self.at[SUMS, NONE]
        need(hash64(d[at:at + size]) == self.root, "sums_root")
        for b in range(size // 8):
            start = self.header_size + b * BLOCK
            need(struct.unpack_from("<Q", d, at + 8 * b)[0] == hash64(d[start:min(start + BLOCK, at)], seed=b), "sum of block %d" % b)
        need(not any(any(d[a:b]) for a, b in self.gaps), "bytes between sections")
        for i, f in enumerate(self.fields):
            total = 0
            for r in range(self.records):
                raw = self.value(r, i)[1]
                total += len(raw)
                need(f.dtype != "bool" or not raw.strip(b"\0\1"), "bool of record %d" % r)
                need(f.name != "__key__" or 1 <= len(raw) <= 511, "key of record %d" % r)
                need(f.name not in classes or 0 <= struct.unpack("<" + DTYPES[f.dtype], raw)[0] < len(classes[f.name]), "label of record %d" % r)
            need(UNKNOWN not in f.shape or total == self.at[VALUES, i][1], "last end of " + f.name)

class DataSet:
    def __init__(self, folder):
        self.folder, self.opened, path = folder, {}, os.path.join(folder, "dataset.json")
        if not os.path.exists(path):
            unfinished = any(n == ".mshard-pack" or n.endswith(".mshard") for n in os.listdir(folder))
            raise Fault("incomplete" if unfinished else "format", folder + ": no dataset.json")
        with open(path, "rb") as file:
            self.json, self.fields = read_manifest(file.read(2**28 + 1), path)
        self.id, self.records, self.shards = self.json["id"], self.json["records"], self.json["shards"]
        self.classes, self.keys = self.json.get("classes", {}), self.json.get("keys")

    def shard(self, s):
        if s not in self.opened:
            listed = self.shards[s]
            shard = Shard(os.path.join(self.folder, listed["name"]), listed)
            need("%016x" % shard.sum == listed["header_sum"], listed["name"] + ": header_sum differs from the listed one")
            need(shard.records == listed["records"] and shard.fields == self.fields, listed["name"] + ": records or fields differ")
            self.opened[s] = shard
        return self.opened[s]

    def value(self, r, i):
        s = 0
        while r >= self.shards[s]["records"]:
            r, s = r - self.shards[s]["records"], s + 1
        return self.shard(s).value(r, i)

    def read_keys(self):  # key -> record
        path = os.path.join(self.folder, "keys.mdb")
        need(os.path.exists(path), path, "not found")
        need(os.path.getsize(path) >= self.keys["size"], path, "truncated")
        with open(path, "rb") as file:
            data = file.read(self.keys["size"] + 1)
        need(len(data) == self.keys["size"] and hash128(data) == self.keys["xxh3_128"], path)
        index = read_index(data, self.keys["count"])
        need(all(r < self.records for r in index.values()), path + ": record beyond the last")
        return index

    def verify(self):
        for s in range(len(self.shards)):
            self.shard(s).verify(self.classes)
        if self.keys:
            index = self.read_keys()
            need(all(index.get(self.value(r, len(self.fields) - 1)[1]) == r for r in range(self.records)), "keys.mdb and keys of records differ")

def open_path(path):
    return DataSet(path) if os.path.isdir(path) else Shard(path)

if __name__ == "__main__":
    try:
        data = open_path(sys.argv[1])
        data.verify()
        for r in range(data.records):
            for i, f in enumerate(data.fields):
                shape, raw = data.value(r, i)
                print(r, f.name, "x".join(map(str, shape)) or "-", len(raw), hash128(raw))
    except Fault as e:
        sys.exit(str(e))
