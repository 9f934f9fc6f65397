#!/usr/bin/env python3
"""check_vectors.py - the second reader on every vector, as TAP; exit status 1 when one differs

    check_vectors.py VECTORS SCRATCH
"""
import json
import os
import struct
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [here, os.path.join(here, "..", "tools")]
import assemble
import mshard_reader as reader


def decode(f, raw):
    if f["dtype"] == "bfloat16":
        return [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]
    code = reader.DTYPES[f["dtype"]]
    return list(struct.unpack("<%d%s" % (len(raw) // struct.calcsize(code), code), raw))


def same(got, stated):
    if isinstance(stated, str):
        stated = int(stated) if stated.isdigit() else float(stated)
    return got == stated and str(got).startswith("-") == str(stated).startswith("-") or got != got and stated != stated


def check_valid(path, e):
    data = reader.open_path(path)
    assert data.records == e["records"], "records"
    if e["kind"] == "shard":
        assert "%016x" % data.sum == e["header_sum"], "header_sum"
    else:
        assert data.id == e["id"] and data.classes == e["classes"], "id or classes"
        assert [s["records"] for s in data.shards] == e["shards"], "shards"
        assert data.json["generation"] == e["generation"], "generation"
    shape = lambda f: [None if d == reader.UNKNOWN else d for d in f.shape]
    assert [(f.name, f.dtype, f.content, shape(f), f.aux, f.scale, f.offset) for f in data.fields] == \
        [(f["name"], f["dtype"], f["content"], f["shape"], f.get("auxiliary", False), f.get("scale"), f.get("offset")) for f in e["fields"]], "fields"
    for r, row in enumerate(e["values"]):
        for i, f in enumerate(e["fields"]):
            where, stated = "record %d, field %s" % (r, f["name"]), row[f["name"]]
            got, raw = data.value(r, i)
            assert got == stated["shape"], where + ": shape"
            if "bytes" in stated:
                assert raw.hex() == stated["bytes"], where + ": bytes"
                numbers = decode(f, raw)
                assert len(numbers) == len(stated["numbers"]) and all(map(same, numbers, stated["numbers"])), where + ": numbers"
            else:
                assert len(raw) == stated["size"] and reader.hash128(raw) == stated["xxh3_128"], where + ": digest"
    if "keys" in e:
        assert data.read_keys() == {k.encode(): r for k, r in e["keys"].items()}, "keys.mdb"
    for key, r in e.get("keys", {}).items():
        assert data.value(r, len(data.fields) - 1)[1] == key.encode(), "key of record %d" % r
    data.verify()


def find_fault(path):
    """The class of the first fault and its status; within access, record and field."""
    when, where = "open", (None, None)
    try:
        data = reader.open_path(path)
        when = "access"
        for r in range(data.records):
            for i, f in enumerate(data.fields):
                where = (r, f.name)
                data.value(r, i)
        when = "key"
        if getattr(data, "keys", None):
            data.read_keys()
        when = "verify"
        data.verify()
    except reader.Fault as e:
        return when, e.status, where, str(e)
    return None, None, where, "no fault found"


def check_invalid(path, e):
    when, status, where, text = find_fault(path)
    assert (when, status) == (e["class"], e["status"]), "expected %s at %s, found %s at %s: %s" % (e["status"], e["class"], status, when, text)
    if "record" in e:
        assert where[0] == e["record"] and where[1] == e.get("field", where[1]), "expected at record %s, found %s" % (e["record"], where)


def main(vectors, scratch):
    tests = []
    for name in sorted(os.listdir(os.path.join(vectors, "valid"))):
        if name.endswith(".json"):
            with open(os.path.join(vectors, "valid", name), encoding="utf-8") as f:
                tests.append(("valid/" + name[:-5], check_valid, json.load(f)))
    with open(os.path.join(vectors, "invalid", "expected.json"), encoding="utf-8") as f:
        tests += [("invalid/" + e["name"], check_invalid, e) for e in json.load(f)]
    print("1..%d" % len(tests))
    bad = 0
    for n, (name, check, expected) in enumerate(tests, 1):
        path = os.path.join(scratch, "%d" % n)
        assemble.write(os.path.join(vectors, name + ".hex"), path)
        try:
            check(path, expected)
            print("ok %d - %s" % (n, name))
        except (AssertionError, reader.Fault) as e:
            bad += 1
            print("not ok %d - %s\n# %s" % (n, name, e))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
