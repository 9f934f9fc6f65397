#!/usr/bin/env python3
"""make_vectors.py - writes spec/vectors/ anew from format1.py: run it after a change of the format, then review the diff

    spec/tools/make_vectors.py [FOLDER]      default: the vectors folder beside this one

Form of the .hex and .json files: spec/vectors/README.md.
"""
import json
import math
import os
import struct
import sys

import xxhash

from format1 import DTYPES, Image, encode, is_variable, key_index, seal, shard

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors")
made = []
refusals = []


def hex16(value):
    return "%016x" % value


def span_lines(data, offset, size, note):
    """Annotated lines of one span; zeros at its end are left out (bytes without a line are zero)."""
    raw = bytes(data[offset:offset + size])
    keep = raw.rstrip(b"\0")
    if size - len(keep) > 16 or not keep and size > 8:
        raw, note = keep or raw[:1], note + " (%d bytes, then zeros)" % size
    for at in range(0, len(raw), 16):
        if at and not any(raw[at:at + 16]):
            continue
        text = "%08x: %s" % (offset + at, raw[at:at + 16].hex(" "))
        yield text.ljust(60) + "# " + note if at == 0 else text


def full_lines(image):
    at = 0
    for offset, size, note in image.notes:
        assert offset >= at and not any(image.data[at:offset]), (offset, note)
        yield from span_lines(image.data, offset, size, note)
        at = offset + size
    assert not any(image.data[at:])
    yield "@%08x" % len(image.data)


def note_at(image, offset):
    for o, size, note in image.notes:
        if o <= offset < o + size:
            return note, o + size
    return "no member", offset + 1


def patch_lines(base, image):
    """Lines that turn base into image."""
    common = min(len(base.data), len(image.data))
    longer = image.data[common:]
    if any(longer):
        common = len(image.data)
        base = base.copy()
        base.put(common, b"")
    at = 0
    while at < common:
        if base.data[at] == image.data[at]:
            at += 1
            continue
        note, end = note_at(image, at)
        stop = min(end, common)
        while base.data[stop - 1] == image.data[stop - 1]:
            stop -= 1
        for line in range(at, stop, 16):
            raw = bytes(image.data[line:min(line + 16, stop)])
            if raw != base.data[line:line + len(raw)]:
                text = "%08x: %s" % (line, raw.hex(" "))
                yield text.ljust(60) + "# " + note if line == at else text
        at = stop
    if len(base.data) != len(image.data):
        yield "@%08x" % len(image.data)


def write_file(name, text):
    path = os.path.join(OUT, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        f.write(text)
    assert name not in made, name
    made.append(name)


def member_text(key, value):
    """A member; lists with one element a line."""
    if key in ("fields", "values") and value:
        return '"%s": [\n%s\n]' % (key, ",\n".join(" " + json.dumps(v) for v in value))
    return '"%s": %s' % (key, json.dumps(value))


def write(name, lines, expected):
    write_file(name + ".hex", "\n".join(lines) + "\n")
    if name.startswith("valid/"):
        write_file(name + ".json", "{\n" + ",\n".join(member_text(k, v) for k, v in expected.items()) + "\n}\n")
    else:
        refusals.append(dict(name=name[len("invalid/"):], **expected))


# ---- what must read ----
def number_text(v):
    if isinstance(v, float) and not math.isfinite(v):
        return "nan" if v != v else "inf" if v > 0 else "-inf"
    return str(v) if isinstance(v, int) and v >= 1 << 63 else v


def numbers(f, raw):
    size, code = DTYPES[f["dtype"]][1:]
    if f["dtype"] == "bfloat16":
        return [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]
    return list(struct.unpack("<%d%s" % (len(raw) // size, code), raw))


def value_json(f, value):
    many = is_variable(f) and len(f["shape"]) > 1
    raw = encode(f, value[1] if many else value)
    shape = list(value[0]) if many else [len(raw) // DTYPES[f["dtype"]][1]] if is_variable(f) else f["shape"]
    if len(raw) > 256:
        return {"shape": shape, "size": len(raw), "xxh3_128": xxhash.xxh3_128_hexdigest(raw)}
    return {"shape": shape, "bytes": raw.hex(), "numbers": [number_text(v) for v in numbers(f, raw)]}


def field_json(f):
    out = {"name": f["name"], "dtype": f["dtype"], "shape": f["shape"], "content": f["content"]}
    if f["aux"]:
        out["auxiliary"] = True
    if f["scale"] is not None:
        out["scale"], out["offset"] = f["scale"], f["offset"]
    return out


def records_json(fields, records):
    return [{f["name"]: value_json(f, r[f["name"]]) for f in fields} for r in records]


def valid_shard(name, what, fields, records, **how):
    image = shard(fields, records, **how)
    expected = {"what": what, "kind": "shard", "records": len(records), "header_sum": hex16(image.get(120, 8)),
                "fields": [field_json(f) for f in fields], "values": records_json(fields, records)}
    write("valid/" + name, ["# " + what, *full_lines(image)], expected)
    return image


# ---- what must fail ----
def expect(what, status, when, member=None, **more):
    out = {"what": what, "status": status, "class": when}
    if member:
        out["member"] = member
    out.update(more)
    return out


def bad_shard(name, base_name, base, change, what, status, when, member=None, seals=("header",), **more):
    """change(image) alters a copy of base; then the checksums named in seals are made right again."""
    image = base.copy()
    result = change(image)
    image = result if isinstance(result, Image) else image
    if seals:
        seal(image, sums="sums" in seals, root="root" in seals or "sums" in seals, header="header" in seals)
    lines = ["# " + what, "include ../valid/%s.hex" % base_name, *patch_lines(base, image)]
    write("invalid/" + name, lines, dict(expect(what, status, when, member, **more), kind="shard"))


def setter(offset, size, value):
    return lambda image: image.number(offset, size, value)


def bytes_setter(offset, data):
    return lambda image: image.put(offset, data)


def flip(offset, bit=1):
    return lambda image: image.number(offset, 1, image.get(offset, 1) ^ bit)


# ---- data sets ----
def dumps(value):
    return json.dumps(value, ensure_ascii=False)


def manifest_text(m):
    """Canonical text without and with the id."""
    out = ["{"]
    for key, value in m.items():
        if key in ("fields", "shards"):
            rows = [" " + dumps(v) for v in value]
            out.append('%s: [%s],' % (dumps(key), "\n" + ",\n".join(rows) + "\n" if rows else ""))
        elif key == "statistics":
            rows = [" %s: %s" % (dumps(k), dumps(v)) for k, v in value.items()]
            out.append('"statistics": {\n' + ",\n".join(rows) + "\n},")
        else:
            out.append("%s: %s," % (dumps(key), dumps(value)))
    return "\n".join(out) + "\n"


def with_id(text):
    return text + '"id": "%s"\n}\n' % xxhash.xxh3_128_hexdigest(text.encode())


def text_lines(text):
    assert text.endswith("\n")
    return ["| " + line for line in text[:-1].split("\n")]


def manifest(fields, shards, generation=1, **more):
    m = {"format": "mshard", "version": [1, 0], "requires": [], "generation": generation,
         "records": sum(count for _, count in shards), "fields": [field_json(f) for f in fields]}
    for key in ("classes", "statistics"):
        if key in more:
            m[key] = more[key]
    m["shards"] = [{"name": "shard-%06d.mshard" % i, "records": count, "size": len(image.data),
                    "header_sum": hex16(image.get(120, 8))} for i, (image, count) in enumerate(shards)]
    if "keys" in more:
        m["keys"] = more["keys"]
    m["source"] = {"kind": "arrays", "inputs": m["records"], "skipped": 0, "ignored": 0, "duplicates": 0}
    m["options"] = {}
    return m


def valid_dataset(name, what, fields, parts, text=None, generation=1, keys=False, **more):
    """parts: a list of records for each shard."""
    shards = [(shard(fields, p, **more.get("how", {})), len(p)) for p in parts]
    records = [r for p in parts for r in p]
    lines = ["# " + what]
    extra = {}
    for i, (image, _) in enumerate(shards):
        lines += ["file shard-%06d.mshard" % i, *full_lines(image)]
    if keys:
        pairs = [(r["__key__"], i) for i, r in enumerate(records)]
        index = key_index(pairs)
        lines += ["file keys.mdb", *full_lines(index)]
        more["keys"] = {"file": "keys.mdb", "size": len(index.data), "count": len(pairs),
                        "xxh3_128": xxhash.xxh3_128_hexdigest(bytes(index.data))}
        extra["keys"] = {k.decode(): i for k, i in pairs}
    m = manifest(fields, shards, generation, **{k: v for k, v in more.items() if k != "how"})
    text = text(m) if text else with_id(manifest_text(m))
    lines += ["file dataset.json", *text_lines(text)]
    expected = {"what": what, "kind": "dataset", "records": len(records), "generation": generation,
                "id": text[text.rindex('"id"'):].split('"')[3], "shards": [s["records"] for s in m["shards"]],
                "classes": more.get("classes", {}), **extra,
                "fields": [field_json(f) for f in fields], "values": records_json(fields, records)}
    write("valid/" + name, lines, expected)
    return m, shards


def bad_dataset(name, base, lines, what, status, when, member=None, **more):
    write("invalid/" + name, ["# " + what, "include ../valid/%s.hex" % base, *lines],
          dict(expect(what, status, when, member, **more), kind="dataset"))


def bad_manifest(name, base, m, what, status, member=None, change=None, text=None, when="open"):
    """change(m) alters a deep copy of the manifest, or text(canonical text) the text without id."""
    m = json.loads(json.dumps(m))
    if change:
        change(m)
    body = manifest_text(m)
    if text:
        body = text(body)
    bad_dataset(name, base, ["file dataset.json", "@0", *text_lines(with_id(body))], what, status, when, member)


def main():
    import vectors_valid
    import vectors_invalid
    bases = vectors_valid.make()
    vectors_invalid.make(bases)
    rows = ",\n".join(" " + json.dumps(r) for r in refusals)
    write_file("invalid/expected.json", "[\n" + rows + "\n]\n")
    for folder in ("valid", "invalid"):
        for entry in os.listdir(os.path.join(OUT, folder)):
            if folder + "/" + entry not in made:
                os.unlink(os.path.join(OUT, folder, entry))
    print("%d vectors that must read, %d that must fail" % (len(made) - 1 - len(refusals) >> 1, len(refusals)))


if __name__ == "__main__":
    sys.modules["make_vectors"] = sys.modules["__main__"]
    main()
