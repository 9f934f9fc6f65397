"""vectors_invalid.py - files every reader must refuse, each wrong in one thing, with status and moment

Classes: open (a shard's header, or dataset.json), access (first use of a record or of a data set's shard), key (first use
of keys.mdb), verify (validators only).
"""
import json
import struct

import xxhash

from format1 import MAGIC, UNKNOWN, Image, field, key_index, seal, shard
from make_vectors import (bad_dataset, bad_manifest, bad_shard, bytes_setter, flip, manifest_text, patch_lines, setter,
                          text_lines, with_id)

F, S = 128, 128 + 2 * 160  # field table, and section table of shards with two fields


def cut(size):
    def change(image):
        del image.data[size:]
    return change


def both(*changes):
    def change(image):
        for c in changes:
            c(image)
    return change


def headers(b):
    def bad(name, change, what, status, member, **more):
        bad_shard("header-" + name, "pair", b["pair"], change, what, status, "open", "header." + member, **more)

    for name, magic, what in (("zero", bytes(len(MAGIC)), "magic still zero: the shard was not sealed"),
                              ("crlf", b"\x89MSH\n\x1a\n\0", "line ends translated: CR LF became LF"),
                              ("7bit", b"\x09MSH\r\n\x1a\n", "top bit of the magic lost"),
                              ("lf-crlf", b"\x89MSH\r\r\n\x1a", "line ends translated: LF became CR LF"),
                              ("png", b"\x89PNG\r\n\x1a\n", "a PNG file")):
        bad("magic-" + name, bytes_setter(0, magic), what, "format", "magic")
    bad("major-0", setter(8, 2, 0), "major version 0", "version", "major")
    bad("major-2", setter(8, 2, 2), "major version 2", "version", "major")
    for size in (0, 4095, 2048, 6144, 69632, 2**31):
        bad("size-%d" % size, setter(12, 4, size), "header_size %d" % size, "corrupt", "header_size", seals=())
    for bit in (2, 31, 63):
        bad("incompat-bit-%d" % bit, setter(16, 8, 1 << bit), "unknown incompat bit %d" % bit, "version", "incompat")
    bad("incompat-variable-set", setter(16, 8, 1), "VARIABLE set, no variable field", "corrupt", "incompat")
    bad("incompat-scaled-set", setter(16, 8, 2), "SCALED set, no scaled field", "corrupt", "incompat")
    bad("compat-keys-set", setter(24, 8, 1), "KEYS set, no field __key__", "corrupt", "compat")
    size = len(b["pair"].data)
    bad("file-size-less", setter(32, 8, size - 1), "file_size one less than the file", "corrupt", "file_size")
    bad("file-size-more", setter(32, 8, size + 1), "file_size one more than the file", "truncated", "file_size")
    bad("file-size-2-63", setter(32, 8, 1 << 63), "file_size 2^63", "limit", "file_size")
    bad("file-size-max", setter(32, 8, UNKNOWN), "file_size 2^64 - 1", "limit", "file_size")
    bad("records-less", setter(40, 8, 1), "records does not fit the sections", "corrupt", "records")
    bad("records-2-40", setter(40, 8, 1 << 40), "records 2^40, columns of two", "corrupt", "records")
    bad("records-2-63", setter(40, 8, 1 << 63), "records 2^63", "limit", "records")
    bad("records-max", setter(40, 8, UNKNOWN), "records 2^64 - 1", "limit", "records")
    for align in (0, 1, 2048, 4097, 12288, 1 << 21, 1 << 31):
        bad("align-%d" % align, setter(48, 4, align), "align %d" % align, "corrupt", "align")
    bad("align-8192", setter(48, 4, 8192), "align 8192, sections at multiples of 4096", "corrupt", "align")
    bad("block-size", setter(52, 4, 4096), "block_size 4096", "corrupt", "block_size")
    bad("checksum-0", setter(56, 4, 0), "checksum 0", "corrupt", "checksum")
    bad("checksum-2", setter(56, 4, 2), "checksum 2", "corrupt", "checksum")
    bad("field-count-0", setter(60, 4, 0), "no fields", "corrupt", "field_count")
    bad("field-count-1", setter(60, 4, 1), "field_count one less than the tables", "corrupt", "field_count")
    bad("field-count-65", setter(60, 4, 65), "65 fields", "limit", "field_count")
    bad("field-count-max", setter(60, 4, 2**32 - 1), "2^32 - 1 fields", "limit", "field_count")
    for count in (0, 2, 4, 2**32 - 1):
        bad("section-count-%d" % count, setter(64, 4, count), "section_count %d, three are there" % count, "corrupt", "section_count")
    bad("fields-offset", setter(68, 4, 160), "fields_offset 160", "corrupt", "fields_offset")
    for offset in (0, 480, 4096, 2**32 - 1):
        bad("sections-offset-%d" % offset, setter(72, 4, offset), "sections_offset %d" % offset, "corrupt", "sections_offset")
    bad("reserved-first", setter(76, 1, 1), "first reserved byte not zero", "corrupt", "reserved")
    bad("reserved-last", setter(111, 1, 128), "last reserved byte not zero", "corrupt", "reserved")
    bad("tail", setter(4095, 1, 1), "a byte after the tables not zero", "corrupt", "reserved")
    bad("header-sum", flip(120), "header_sum wrong", "corrupt", "header_sum", seals=())
    bad("flipped-bit", flip(F + 3), "one bit of a field name flipped, header_sum as it was", "corrupt", "header_sum", seals=())
    bad_shard("header-sums-root", "pair", b["pair"], flip(112), "sums_root wrong", "corrupt", "verify", "header.sums_root", check_all=True)


def fields(b):
    def bad(name, change, what, status, member, base="pair", **more):
        bad_shard("field-" + name, base, b[{"variable-image": "many", "variable-1d": "one"}.get(base, base)], change, what, status,
                  "open", "field." + member, **more)

    name = lambda text: bytes_setter(F, text.ljust(64, b"\0"))
    bad("name-not-ended", bytes_setter(F, b"a" * 64), "name without a NUL", "corrupt", "name")
    bad("name-empty", name(b""), "empty name", "corrupt", "name")
    bad("name-twice", bytes_setter(F + 160, b"image\0"), "two fields of one name", "corrupt", "name")
    bad("name-after-nul", setter(F + 63, 1, 1), "a byte after the NUL of a name", "corrupt", "name")
    for key, text in (("digit", b"1mage"), ("space", b"im age"), ("slash", b"../image"), ("utf8", "im\u00e4ge".encode()),
                      ("bad-utf8", b"\xff\xfe"), ("escape", b"\x1b[31m"), ("dash", b"im-age")):
        bad("name-" + key, name(text), "name %r" % text.decode("utf-8", "backslashreplace"), "corrupt", "name")
    bad("name-key", bytes_setter(F + 160, b"__key__\0"), "__key__ that is no auxiliary text", "corrupt", "name")
    bad("dtype-0", setter(F + 64, 1, 0), "dtype 0", "corrupt", "dtype")
    bad("dtype-14", setter(F + 64, 1, 14), "dtype 14", "corrupt", "dtype")
    bad("dtype-255", setter(F + 64, 1, 255), "dtype 255", "corrupt", "dtype")
    bad("content-5", setter(F + 65, 1, 5), "content 5", "corrupt", "content")
    bad("content-image-dtype", setter(F + 64, 1, 3), "image of int8", "corrupt", "content")
    bad("content-image-channels", setter(F + 72 + 16, 8, 2), "image of 2 channels", "corrupt", "content")
    bad("content-image-ndim", setter(F + 160 + 65, 1, 1), "image without dimensions", "corrupt", "content")
    bad("content-encoded", setter(F + 65, 1, 2), "encoded bytes of fixed shape", "corrupt", "content")
    bad("content-text", setter(F + 65, 1, 4), "text of fixed shape", "corrupt", "content")
    bad("content-label-shape", setter(F + 65, 1, 3), "label with dimensions", "corrupt", "content")
    bad("content-label-float", setter(F + 160 + 64, 1, 11), "label of float64", "corrupt", "content")
    bad("ndim-2", setter(F + 66, 1, 2), "ndim 2, three shape entries", "corrupt", "ndim")
    bad("ndim-9", setter(F + 66, 1, 9), "ndim 9", "limit", "ndim")
    bad("ndim-255", setter(F + 66, 1, 255), "ndim 255", "limit", "ndim")
    bad("reserved0", setter(F + 67, 1, 1), "reserved0 not zero", "corrupt", "reserved0")
    bad("flags-bit-2", setter(F + 68, 4, 4), "unknown flag bit 2", "corrupt", "flags")
    bad("flags-bit-31", setter(F + 68, 4, 1 << 31), "unknown flag bit 31", "corrupt", "flags")
    bad("flags-auxiliary-first", setter(F + 68, 4, 1), "an auxiliary field before one that is not", "corrupt", "flags")
    bad("flags-auxiliary-only", both(setter(F + 68, 4, 1), setter(F + 160 + 68, 4, 1)), "all fields auxiliary", "corrupt", "flags")
    bad("shape-zero", setter(F + 72, 8, 0), "dimension of 0", "corrupt", "shape")
    bad("shape-beyond", setter(F + 72 + 56, 8, 1), "shape entry beyond ndim", "corrupt", "shape")
    bad("shape-large", setter(F + 72, 8, (1 << 40) + 1), "dimension above 2^40", "limit", "shape")
    bad("shape-max-1", setter(F + 72, 8, UNKNOWN - 1), "dimension 2^64 - 2", "limit", "shape")
    bad("shape-product", both(setter(F + 72, 8, 1 << 32), setter(F + 80, 8, 1 << 32)), "value of 3 * 2^64 bytes", "limit", "shape")
    bad("shape-product-41", both(setter(F + 72, 8, 1 << 20), setter(F + 80, 8, 1 << 20)), "value of 3 * 2^40 bytes", "limit", "shape")
    bad("shape-known-large", setter(F + 160 + 80, 8, 1 << 32), "variable field with a known dimension of 2^32: dims are u32", "limit", "shape",
        base="variable-image")
    bad("shape-unknown", both(setter(F + 72, 8, UNKNOWN), setter(16, 8, 1)), "unknown dimension in a field with a column", "corrupt", "shape")
    bad("scale-unscaled", bytes_setter(F + 136, struct.pack("<d", 1.0)), "scale without SCALED", "corrupt", "scale")
    bad("offset-unscaled", bytes_setter(F + 144, struct.pack("<d", -0.0)), "offset of -0.0 without SCALED: its bits are not zero", "corrupt", "offset")
    for key, value in (("nan", float("nan")), ("inf", float("inf")), ("zero", 0.0)):
        bad("scale-" + key, bytes_setter(F + 136, struct.pack("<d", value)), "scale " + key, "corrupt", "scale", base="scaled")
    bad("offset-nan", bytes_setter(F + 144, struct.pack("<d", float("nan"))), "offset nan", "corrupt", "offset", base="scaled")
    bad("offset-inf", bytes_setter(F + 144, struct.pack("<d", float("-inf"))), "offset -inf", "corrupt", "offset", base="scaled")
    bad("scale-bool", setter(F + 64, 1, 13), "scaled bool", "corrupt", "flags", base="scaled")
    bad("scale-label", setter(F + 160 + 65, 1, 3), "scaled label", "corrupt", "content", base="scaled")
    bad("scaled-missing-bit", setter(16, 8, 0), "a scaled field, SCALED not set", "corrupt", "flags", base="scaled")
    bad("variable-missing-bit", setter(16, 8, 0), "a variable field, VARIABLE not set", "corrupt", "shape", base="variable-1d")
    bad("reserved1", setter(F + 159, 1, 1), "reserved1 not zero", "corrupt", "reserved1")
    bad("key-missing-bit", setter(24, 8, 0), "field __key__, KEYS not set", "corrupt", "name", base="keys")
    bad("key-content", setter(F + 160 + 65, 1, 0), "__key__ that is no text", "corrupt", "content", base="keys")
    bad("key-not-auxiliary", setter(F + 160 + 68, 4, 0), "__key__ without AUX", "corrupt", "flags", base="keys")
    last = [field("x", "uint8"), dict(field("__key__", "uint8", [None], "text"), aux=True), field("__more__", "uint8", aux=True)]
    image = shard(last, [{"x": [1], "__key__": b"k", "__more__": [2]}])
    bad_shard("field-key-not-last", "keys", b["keys"], lambda _: image, "__key__ followed by another field", "corrupt", "open", "field.name", seals=())


def sections(b):
    def bad(name, change, what, status, member, base="pair", key=None, **more):
        bad_shard("section-" + name, base, b[key or base], change, what, status, "open", "section." + member, **more)

    sums = S + 64
    start = b["pair"].get(sums + 8, 8)
    for kind in (0, 2, 5, 6, 2**32 - 1):
        bad("kind-%d" % kind, setter(S, 4, kind), "kind %d where a column must be" % kind, "corrupt", "kind")
    bad("kind-sums", setter(sums, 4, 1), "no sums section", "corrupt", "kind", seals=("header",))
    bad("kind-ends", setter(S + 32, 4, 4), "dims where ends must be", "corrupt", "kind", base="variable-1d", key="one")
    bad("field-twice", setter(S + 4 + 32, 4, 0), "two columns of one field", "corrupt", "field")
    bad("field-2", setter(S + 4, 4, 2), "section of field 2, there are two", "corrupt", "field")
    bad("field-max", setter(S + 4, 4, 2**32 - 1), "column of no field", "corrupt", "field")
    bad("field-sums", setter(sums + 4, 4, 0), "sums of a field", "corrupt", "field")
    bad("offset-unaligned", setter(S + 8, 8, 4097), "column at 4097", "corrupt", "offset")
    bad("offset-header", setter(S + 8, 8, 0), "column inside the header", "corrupt", "offset")
    bad("offset-overlap", setter(S + 32 + 8, 8, 4096), "two columns at one offset", "corrupt", "offset")
    bad("offset-swapped", both(setter(S + 8, 8, 8192), setter(S + 40, 8, 4096)), "sections not in file order", "corrupt", "offset")
    bad("offset-beyond", setter(S + 8, 8, 1 << 20), "column beyond the file", "corrupt", "offset")
    bad("offset-2-63", setter(S + 8, 8, 1 << 63), "column at 2^63", "corrupt", "offset")
    bad("offset-wraps", setter(S + 8, 8, 2**64 - 4096), "column at 2^64 - 4096: its end wraps to 0", "corrupt", "offset")
    bad("offset-sums", setter(sums + 8, 8, start + 8), "sums not at a multiple of align", "corrupt", "offset", seals=("header",))
    bad("size-less", setter(S + 16, 8, 23), "column one byte short", "corrupt", "size")
    bad("size-more", setter(S + 16, 8, 36), "column of one record more", "corrupt", "size")
    bad("size-max", setter(S + 16, 8, UNKNOWN), "column of 2^64 - 1 bytes", "corrupt", "size")
    bad("size-sums-0", both(setter(sums + 16, 8, 0), setter(32, 8, start), cut(start)), "sums of 0 bytes", "corrupt", "size")
    bad("size-sums-16", both(setter(sums + 16, 8, 16), setter(32, 8, start + 16), lambda i: i.put(start + 16, b"")),
        "sums of one block too many", "corrupt", "size", seals=("root", "header"))
    bad("size-ends", setter(S + 32 + 16, 8, 16), "ends of two records, three are there", "corrupt", "size", base="variable-1d", key="one")
    bad("size-dims", setter(S + 64 + 16, 8, 16), "dims of two dimensions, three are there", "corrupt", "size", base="variable-image", key="many")
    bad("size-values", setter(S + 16, 8, 15), "values no multiple of the dtype's size", "corrupt", "size", base="variable-1d", key="one")
    bad("reserved", setter(S + 31, 1, 1), "reserved byte not zero", "corrupt", "reserved")

    def gap(image):  # everything after the first column moves by one align unit
        moved = Image()
        moved.data[:] = image.data[:8192] + bytes(4096) + image.data[8192:]
        moved.notes = [(o if o < 8192 else o + 4096, n, t) for o, n, t in image.notes]
        for p in (S + 40, S + 72, 32):
            moved.number(p, 8, moved.get(p, 8) + 4096)
        return moved
    bad("offset-gap", gap, "a gap of a whole align unit between sections", "corrupt", "offset", seals=("sums", "header"))


def truncated(b):
    pair = b["pair"]
    size = len(pair.data)
    for n in (0, 1, 7, 8, 15, 16, 127, 128, 4095, 4096, 4097, 8192, size - 8, size - 1):
        bad_shard("truncated-%d" % n, "pair", pair, cut(n), "cut to %d of %d bytes" % (n, size), "truncated", "open", seals=())
    bad_shard("longer-by-1", "pair", pair, lambda i: i.put(size, b"\0"), "one byte too many", "corrupt", "open", seals=())
    bad_shard("zeros", "pair", pair, lambda i: i.put(0, bytes(size)), "all zero", "format", "open", seals=())
    bad_shard("text", "pair", pair, both(cut(0), bytes_setter(0, b"name,label\n")), "a text file", "format", "open", seals=())
    bad_shard("zeros-4", "pair", pair, both(cut(0), bytes_setter(0, bytes(4))), "four zero bytes", "format", "open", seals=())


def values(b):
    def bad(name, base, key, change, what, when="access", seals=("sums", "header"), **more):
        bad_shard(name, base, b[key], change, what, "corrupt", when, seals=seals, **more)

    at = lambda key, section: b[key].get(S + 32 * section + 8, 8)
    one, many = at("one", 1), at("many", 1)
    bad("ends-decreasing", "variable-1d", "one", setter(one, 8, 16), "second value ends before it begins", record=1, field="tokens")
    bad("ends-beyond", "variable-1d", "one", setter(one + 16, 8, 20), "last value ends beyond the values", record=2, field="tokens")
    bad("ends-max", "variable-1d", "one", setter(one + 16, 8, UNKNOWN), "last value ends at 2^64 - 1", record=2, field="tokens")
    bad("ends-odd", "variable-1d", "one", setter(one, 8, 10), "value of 10 bytes, elements of 4", record=0, field="tokens")
    bad("ends-short", "variable-1d", "one", setter(one + 16, 8, 12), "last value ends before the values do", "verify")
    dims = at("many", 2)
    bad("dims-product", "variable-image", "many", setter(dims, 4, 7), "dims make more bytes than the value has", record=0, field="image")
    bad("dims-channels", "variable-image", "many", both(setter(dims, 4, 2), setter(dims + 8, 4, 2), setter(dims + 4, 4, 3)),
        "dims differ from a known dimension: 2 x 3 x 2 of 6 bytes", record=0, field="image")
    bad("dims-overflow", "variable-image", "many", both(setter(dims, 4, 2**32 - 1), setter(dims + 4, 4, 2**32 - 1)),
        "product of dims does not fit 64 bits", record=0, field="image")
    bad("dims-zero", "variable-image", "many", setter(dims, 4, 0), "a dimension of 0, value of 6 bytes", record=0, field="image")
    column = b["blocks"].get(128 + 160 + 8, 8)
    first = b["blocks"].get(128 + 160 + 32 + 8, 8)
    bad("block-first", "blocks", "blocks", flip(column), "first byte of the first block flipped", "verify", seals=(), check_all=True)
    bad("block-last", "blocks", "blocks", flip(column + 159999, 128), "last byte of the last block flipped", "verify", seals=(), check_all=True)
    bad("block-sum", "blocks", "blocks", flip(first + 8), "second sum wrong, sums_root right", "verify", seals=("root", "header"), check_all=True)

    def swap(image):
        a, c = image.data[4096:4096 + 65536], image.data[4096 + 65536:4096 + 131072]
        image.data[4096:4096 + 65536], image.data[4096 + 65536:4096 + 131072] = c, a
        p, q = image.data[first:first + 8], image.data[first + 8:first + 16]
        image.data[first:first + 8], image.data[first + 8:first + 16] = q, p
    bad("block-swapped", "blocks", "blocks", swap, "two blocks and their sums changed places: the seed finds it", "verify",
        seals=("root", "header"), check_all=True)
    bad("gap-not-zero", "pair", "pair", setter(4096 + 24, 1, 1), "a byte between two sections not zero, sums right", "verify")
    bad("gap-header", "align-64k", "align", setter(8192, 1, 1), "a byte between header and first section not zero, sums right", "verify")
    flag = b["grey"].get(128 + 480 + 32 * 2 + 8, 8)
    bad("bool-2", "grey", "grey", setter(flag, 1, 2), "a bool of 2, sums right", "verify")
    ends = at("keys", 2)
    bad("key-empty", "keys", "keys", setter(ends, 8, 0), "an empty key, sums right", "verify")


def dataset(b):
    m, shards = b["dataset"]
    first = shards[0][0]

    def bad(name, what, status, member=None, change=None, **more):
        bad_manifest("manifest-" + name, "dataset", m, what, status, member and "manifest." + member, change, **more)

    def at(*path_value):
        *path, key, value = path_value

        def change(tree):
            for step in path:
                tree = tree[step]
            tree[key] = value
        return change

    def without(*path):
        def change(tree):
            for step in path[:-1]:
                tree = tree[step]
            del tree[path[-1]]
        return change

    whole = with_id(manifest_text(m))

    def raw(name, lines, what, status, member=None):
        bad_dataset("manifest-" + name, "dataset", ["file dataset.json", "@0", *lines], what, status, "open", member)

    raw("empty", [], "0 bytes", "corrupt")
    raw("zeros", ["@1000"], "zeros only", "corrupt")
    raw("cut", text_lines(whole[:whole.index('"shards"')] ), "cut before the shards", "corrupt")
    raw("cut-end", text_lines(whole[:-2]), "last brace missing", "corrupt")
    raw("array", ["| []"], "no object", "format")
    raw("number", ["| 7"], "a number", "format")
    raw("foreign", ['| {"shards": [], "version": 2}'], "JSON of another program", "format", "manifest.format")
    raw("not-json", ["| shard-000000.mshard"], "no JSON", "corrupt")
    raw("bad-utf8", text_lines(whole[:2]) + ["%08x: 22 ff fe 22 3a 31 2c 0a" % 2] + text_lines(whole[2:]), "invalid UTF-8", "corrupt")
    raw("nesting", ["| " + "[" * 1000], "1,000 brackets", "corrupt")
    raw("id-wrong", text_lines(whole.replace('"records": 5', '"records": 6')), "a digit changed, id as it was", "corrupt", "manifest.id")
    raw("id-upper-case", text_lines(whole[:-36] + whole[-36:-4].upper() + whole[-4:]), "id in upper case", "corrupt", "manifest.id")
    raw("id-missing", text_lines(manifest_text(m)[:-2] + "\n}\n"), "no id", "corrupt", "manifest.id")
    raw("id-spaced", text_lines(whole[:-4] + '" \n}\n'), "a space after the id: the tail is not in its form", "corrupt", "manifest.id")
    raw("after-end", text_lines(whole + "\n"), "an empty line after the end", "corrupt", "manifest.id")
    bad("format-other", "format of another name", "format", "format", at("format", "other"))
    bad("version-2", "version [2, 0]", "version", "version", at("version", [2, 0]))
    bad("version-text", 'version "1.0"', "corrupt", "version", at("version", "1.0"))
    bad("version-one", "version [1]", "corrupt", "version", at("version", [1]))
    bad("requires-unknown", 'requires ["teleport"]', "version", "requires", at("requires", ["teleport"]))
    bad("requires-text", 'requires "x"', "corrupt", "requires", at("requires", "x"))
    bad("requires-number", "requires [1]", "corrupt", "requires", at("requires", [1]))
    bad("duplicate-member", "records twice", "corrupt", "records", text=lambda t: t.replace('"records": 5,', '"records": 5,\n"records": 5,', 1))
    bad("duplicate-nested", "shape twice in a field", "corrupt", "fields", text=lambda t: t.replace('"shape"', '"shape": [1], "shape"', 1))
    for key in ("requires", "generation", "records", "fields", "shards"):
        bad(key + "-missing", "no " + key, "corrupt", key, without(key))
    bad("version-missing", "no version", "corrupt", "version", without("version"))
    bad("generation-0", "generation 0", "corrupt", "generation", at("generation", 0))
    bad("records-negative", "records -1", "corrupt", "records", at("records", -1))
    bad("records-real", "records 5.0", "corrupt", "records", at("records", 5.0))
    bad("records-text", 'records "5"', "corrupt", "records", at("records", "5"))
    bad("records-more", "records is not the sum of the shards", "corrupt", "records", at("records", 6))
    bad("records-2-41", "records 2^41", "limit", "records", at("records", 1 << 41))
    bad("records-huge", "records of 30 digits", "corrupt", "records", at("records", 10**29))
    bad("fields-empty", "no fields", "corrupt", "fields", at("fields", []))
    bad("fields-65", "65 fields", "limit", "fields", at("fields", [dict(m["fields"][1], name="f%d" % i) for i in range(65)]))
    bad("field-name", "name ../x", "corrupt", "fields.name", at("fields", 0, "name", "../x"))
    bad("field-name-twice", "two fields of one name", "corrupt", "fields.name", at("fields", 1, "name", "image"))
    bad("field-dtype", "dtype float8", "corrupt", "fields.dtype", at("fields", 0, "dtype", "float8"))
    bad("field-content", "content sound", "corrupt", "fields.content", at("fields", 0, "content", "sound"))
    bad("field-shape-negative", "dimension -1", "corrupt", "fields.shape", at("fields", 0, "shape", [2, -1, 3]))
    bad("field-shape-zero", "dimension 0", "corrupt", "fields.shape", at("fields", 0, "shape", [2, 0, 3]))
    bad("field-shape-9", "9 dimensions", "limit", "fields.shape", at("fields", 0, "shape", [1] * 9))
    bad("field-shape-product", "value of 2^42 bytes", "limit", "fields.shape", both(at("fields", 0, "shape", [1 << 21, 1 << 21]), at("fields", 0, "content", "values")))
    bad("field-scale-alone", "scale without offset", "corrupt", "fields.scale", both(at("fields", 0, "scale", 1.0), at("fields", 0, "content", "values")))
    bad("field-offset-alone", "offset without scale", "corrupt", "fields.offset", both(at("fields", 0, "offset", 1.0), at("fields", 0, "content", "values")))
    bad("field-auxiliary-number", "auxiliary 1", "corrupt", "fields.auxiliary", at("fields", 1, "auxiliary", 1))
    for key in ("name", "dtype", "shape", "content"):
        bad("field-%s-missing" % key, "field without " + key, "corrupt", "fields." + key, without("fields", 0, key))
    bad("classes-unknown", "classes of a field that is not there", "corrupt", "classes", at("classes", {"kind": ["a"]}))
    bad("classes-image", "classes of a field that is no label", "corrupt", "classes", at("classes", {"image": ["a"]}))
    bad("classes-none", "an empty list of classes", "corrupt", "classes", at("classes", {"label": []}))
    bad("classes-twice", "a class name twice", "corrupt", "classes", at("classes", {"label": ["a", "a"]}))
    bad("classes-empty-name", "an empty class name", "corrupt", "classes", at("classes", {"label": ["a", ""]}))
    bad("classes-nul", "a NUL in a class name", "corrupt", "classes", at("classes", {"label": ["a", "b\0c"]}))
    bad("classes-number", "a number as class name", "corrupt", "classes", at("classes", {"label": [1, 2]}))
    bad("statistics-channels", "statistics of 5 channels", "limit", "statistics", at("statistics", "image", "channels", 5))
    bad("statistics-length", "min of fewer channels", "corrupt", "statistics", at("statistics", "image", "min", [0]))
    bad("statistics-channels-0", "statistics of 0 channels", "corrupt", "statistics", at("statistics", "image", "channels", 0))
    bad("statistics-counts", "a negative count", "corrupt", "statistics", at("statistics", "label", "counts", [3, -1]))
    bad("statistics-unknown", "statistics of a field that is not there", "corrupt", "statistics", at("statistics", "kind", m["statistics"]["label"]))
    bad("statistics-negative", "a negative number of values", "corrupt", "statistics", at("statistics", "image", "values", -1))
    bad("source-text", "source that is no object", "corrupt", "source", at("source", "folder"))
    bad("options-array", "options that are no object", "corrupt", "options", at("options", []))
    for key, text in (("path", "../shard-000000.mshard"), ("absolute", "/shard.mshard"), ("suffix", "shard-000000.bin"), ("dot", ".mshard"),
                      ("empty", ""), ("long", "a" * 121 + ".mshard")):
        bad("shard-name-" + key, "shard name %.30s" % text, "corrupt", "shards.name", at("shards", 0, "name", text))
    bad("shard-name-twice", "one shard twice", "corrupt", "shards.name", at("shards", 2, "name", "shard-000000.mshard"))
    bad("shard-records-negative", "shard of -1 records", "corrupt", "shards.records", at("shards", 0, "records", -1))
    bad("shard-size-large", "shard of 2^57 bytes", "limit", "shards.size", at("shards", 0, "size", 1 << 57))
    bad("shard-size-negative", "shard of -1 bytes", "corrupt", "shards.size", at("shards", 0, "size", -1))
    bad("shard-sum-short", "header_sum of 15 digits", "corrupt", "shards.header_sum", at("shards", 0, "header_sum", "0" * 15))
    bad("shard-sum-upper-case", "header_sum in upper case", "corrupt", "shards.header_sum", at("shards", 0, "header_sum", "ABCDEF0123456789"))
    for key in ("name", "records", "size", "header_sum"):
        bad("shard-%s-missing" % key, "shard without " + key, "corrupt", "shards." + key, without("shards", 0, key))
    bad("no-shards", "records, but no shards", "corrupt", "shards", at("shards", []))
    bad_dataset("folder-no-manifest", "dataset", ["delete dataset.json"], "shards without dataset.json: packing did not finish", "incomplete", "open")
    bad_dataset("folder-empty", "dataset", ["delete dataset.json", *("delete " + s["name"] for s in m["shards"])], "an empty folder", "format", "open")
    keyed(b)
    shards_of(b, m, first)


def keyed(b):
    m, _ = b["keyed"]

    def bad(name, what, status, member, **change):
        def apply(tree):
            tree["keys"].update(change)
        bad_manifest("keys-" + name, "dataset-keys", m, what, status, "manifest.keys." + member, apply)

    bad("file", "index in another file", "corrupt", "file", file="../keys.mdb")
    bad("count", "count is not the number of records", "corrupt", "count", count=4)
    bad("size-negative", "index of -1 bytes", "corrupt", "size", size=-1)
    bad("hash-short", "xxh3_128 of 31 digits", "corrupt", "xxh3_128", xxh3_128="0" * 31)

    def no_field(tree):
        del tree["fields"][2]
    bad_manifest("keys-no-field", "dataset-keys", m, "an index, no field __key__", "corrupt", "manifest.keys", no_field)
    find = dict(key="dress/0.png")
    bad_dataset("keys-flipped", "dataset-keys", ["file keys.mdb", "00002000: 03"], "a bit of keys.mdb flipped", "corrupt", "key", **find)
    bad_dataset("keys-cut", "dataset-keys", ["file keys.mdb", "@2000"], "keys.mdb cut", "truncated", "key", **find)
    bad_dataset("keys-longer", "dataset-keys", ["file keys.mdb", "@3001"], "keys.mdb too long", "corrupt", "key", **find)
    bad_dataset("keys-missing", "dataset-keys", ["delete keys.mdb"], "keys.mdb not there", "not found", "key", **find)


def index(b):
    """keys.mdb that is damaged, listed with the sum it has: only looking at its pages finds it."""
    m, _ = b["keyed"]
    records = [b"dress/0.png", b"hat/1.png", b"dress/2.png", b"hat/3.png", b"dress/4.png"]
    whole = key_index([(k, i) for i, k in enumerate(records)])
    leaf = 8192
    node = lambda i: leaf + whole.get(leaf + 16 + 2 * i, 2)

    def bad(name, change, what, when="key", status="corrupt"):
        image = whole.copy()
        change(image)
        tree = json.loads(json.dumps(m))
        tree["keys"]["size"] = len(image.data)
        tree["keys"]["xxh3_128"] = xxhash.xxh3_128_hexdigest(bytes(image.data))
        bad_dataset("index-" + name, "dataset-keys", ["file keys.mdb", *patch_lines(whole, image), "file dataset.json", "@0",
                    *text_lines(with_id(manifest_text(tree)))], what, status, when, key="dress/0.png")

    meta = 4096
    bad("magic", setter(meta + 16, 4, 0), "no LMDB file")
    bad("version", setter(meta + 20, 4, 2), "LMDB data version 2", status="version")
    bad("map-size", setter(meta + 32, 8, 1 << 40), "a map larger than the file")
    bad("last-page", setter(meta + 136, 8, 9), "last page beyond the file")
    bad("free-list", setter(meta + 80, 8, 2), "a free list: the file was not compacted")
    bad("flags", setter(meta + 92, 2, 4), "values of several kinds for a key (MDB_DUPSORT)")
    bad("page-unused", both(setter(meta + 136, 8, 3), lambda i: i.put(16384, b""), setter(meta + 32, 8, 16384)), "a page outside the tree")
    bad("page-size", setter(meta + 40, 4, 100), "page size 100")
    bad("root-beyond", setter(meta + 128, 8, 3), "root page beyond the file")
    bad("root-meta", setter(meta + 128, 8, 1), "a meta page as root")
    bad("depth", setter(meta + 94, 2, 2), "depth 2, one level is there")
    bad("entries", setter(meta + 120, 8, 4), "4 entries stated, 5 are there")
    bad("page-number", setter(leaf, 8, 7), "a page that bears another number")
    bad("lower", setter(leaf + 12, 2, 4094), "more node offsets than the page holds")
    bad("node-beyond", setter(leaf + 16, 2, 4095), "a node that begins at the page's last byte")
    bad("node-header", setter(leaf + 16, 2, 4), "a node inside the page's header")
    bad("key-size", setter(node(0) + 6, 2, 60000), "a key that ends beyond its page")
    bad("value-size", setter(node(0), 2, 4), "a value of 4 bytes")
    bad("order", both(setter(leaf + 16, 2, whole.get(leaf + 18, 2)), setter(leaf + 18, 2, whole.get(leaf + 16, 2))), "keys not ascending")

    def loop(image):  # a branch page whose first child is itself
        image.put(leaf, struct.pack("<QHHHHH", 2, 0, 1, 18, 4088, 4088) + bytes(4080 - 18 + 8) + struct.pack("<HHHH", 2, 0, 0, 0))
        image.number(meta + 94, 2, 2)
    bad("loop", loop, "a branch page that is its own child")
    bad("record-beyond", setter(node(0) + 8 + 11, 8, 5), "record 5, there are five")
    bad("record-other", both(setter(node(0) + 8 + 11, 8, 2), setter(node(1) + 8 + 11, 8, 0)), "two keys with each other's records", "verify")
    bad("key-other", bytes_setter(node(4) + 8, b"hat/9.png"), "a key that no record has", "verify")


def shards_of(b, m, first):
    def bad(name, lines, what, status, member=None, **more):
        bad_dataset("shard-" + name, "dataset", lines, what, status, "access", member and "manifest." + member, **more)

    def changed(change):
        tree = json.loads(json.dumps(m))
        change(tree)
        return ["file dataset.json", "@0", *text_lines(with_id(manifest_text(tree)))]

    def patch(change, seals):
        image = first.copy()
        change(image)
        if seals:
            seal(image)
        return ["file shard-000000.mshard", *patch_lines(first, image)]

    bad("missing", ["delete shard-000001.mshard", "delete shard-000002.mshard"], "a shard is not there", "not found", record=3)
    bad("cut", ["file shard-000000.mshard", "@1000"], "a shard is cut", "truncated", record=0)
    bad("zero-bytes", ["file shard-000000.mshard", "@0"], "a shard has 0 bytes", "truncated", record=0)
    bad("longer", ["file shard-000000.mshard", "@%x" % (len(first.data) + 1)], "a shard is longer than listed", "corrupt", record=0)
    bad("not-sealed", ["file shard-000000.mshard", "00000000: 00 00 00 00 00 00 00 00"], "a shard is not sealed", "format", record=0)
    bad("foreign", patch(setter(4096, 1, 99), True), "a whole shard of another data set: header_sum differs from the listed one", "corrupt",
        "shards.header_sum", record=0)
    bad("records", changed(both(lambda t: t["shards"][0].update(records=2), lambda t: t["shards"][2].update(records=3))),
        "records of a shard differ from those listed", "corrupt", "shards.records", record=0)
    bad("size", changed(lambda t: t["shards"][0].update(size=len(first.data) - 8)), "listed size is less", "corrupt", "shards.size", record=0)
    bad("size-more", changed(lambda t: t["shards"][0].update(size=len(first.data) + 8)), "listed size is more", "truncated", "shards.size", record=0)

    def classless(change):
        def apply(tree):
            tree.pop("classes"), tree.pop("statistics")
            change(tree)
        return apply
    for key, value in (("name", "picture"), ("dtype", "int8"), ("shape", [2, 2, 1]), ("content", "values")):
        edit = lambda t, k=key, v=value: t["fields"][0].update({k: v}, **({"content": "values"} if k == "dtype" else {}))
        bad("field-" + key, changed(classless(edit)), "field %s differs from the shard's" % key, "corrupt", "fields." + key, record=0)
    edit = lambda t: t["fields"][0].update(content="values", scale=0.5, offset=0.0)
    bad("field-scale", changed(classless(edit)), "scaled in dataset.json, not in the shard", "corrupt", "fields.scale", record=0)
    bad("field-auxiliary", changed(classless(lambda t: t["fields"][1].update(auxiliary=True))), "auxiliary in dataset.json, not in the shard",
        "corrupt", "fields.auxiliary", record=0)
    bad("field-order", changed(classless(lambda t: t["fields"].reverse())), "fields in another order", "corrupt", "fields", record=0)
    bad("field-count", changed(classless(lambda t: t["fields"].pop())), "one field less than the shard", "corrupt", "fields", record=0)
    tree = json.loads(json.dumps(m))
    tree["classes"] = {"label": ["dress"]}
    bad_dataset("label-beyond", "dataset", ["file dataset.json", "@0", *text_lines(with_id(manifest_text(tree)))],
                "a label not below the number of classes", "corrupt", "verify")


def make(b):
    headers(b)
    fields(b)
    sections(b)
    truncated(b)
    values(b)
    dataset(b)
    index(b)
