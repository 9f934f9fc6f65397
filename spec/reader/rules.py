"""rules.py - format 1: statuses, rules on fields (spec/shard.md), and all rules on dataset.json (spec/manifest.md)"""
import json, math, re, struct
from collections import namedtuple
from xxhash import xxh3_128_hexdigest as hash128

UNKNOWN, NONE, T40 = 2**64 - 1, 2**32 - 1, 2**40
DTYPES = {"uint8": "B", "float16": "e", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H", "uint32": "I",
          "uint64": "Q", "float32": "f", "float64": "d", "bfloat16": "H", "bool": "B"}  # in order of their numbers, from 1
CONTENTS = ["values", "image", "encoded", "label", "text"]
Field = namedtuple("Field", "name dtype content aux shape scale offset")
width = lambda f: struct.calcsize(DTYPES[f.dtype])

class Fault(Exception):
    def __init__(self, status, message):
        super().__init__("%s: %s" % (status, message))
        self.status = status

def need(condition, message, status="corrupt"):
    if not condition:
        raise Fault(status, message)

def check_field(f, names):  # names: of the fields before it
    need(re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,62}", f.name) and f.name not in names, "field name %r" % f.name)
    known, variable = [d for d in f.shape if d != UNKNOWN], UNKNOWN in f.shape
    need(all(known), f.name + ": dimension of 0")
    need(all(d <= (NONE if variable and len(f.shape) > 1 else T40) for d in known), f.name + ": dimension", "limit")
    need(width(f) * math.prod(known) <= T40, f.name + ": size of a value", "limit")
    need(f.scale is None or math.isfinite(f.scale) and math.isfinite(f.offset) and f.scale, f.name + ": scale or offset")
    need(f.scale is None or f.dtype != "bool" and f.content == "values", f.name + ": scale")
    bytes1d = f.dtype == "uint8" and f.shape == [UNKNOWN]
    image = f.dtype == "uint8" and (len(f.shape) == 2 or len(f.shape) == 3 and f.shape[2] in (1, 3))
    need({"values": True, "encoded": bytes1d, "text": bytes1d, "label": "int" in f.dtype and not f.shape, "image": image}[f.content],
         f.name + ": content")
    need("__key__" not in names, "__key__ is not the last field")
    need(f.name != "__key__" or bytes1d and f.content == "text" and f.aux and f.scale is None, "field __key__")

def check_fields(fields):
    for i, f in enumerate(fields):
        check_field(f, [g.name for g in fields[:i]])
    aux = [f.aux for f in fields]
    need(aux == sorted(aux) and not aux[0], "place of auxiliary fields")

def unique(pairs):
    need(len({k for k, _ in pairs}) == len(pairs), "member there twice")
    return dict(pairs)

def is_count(v):
    return type(v) is int and 0 <= v < 2**63

def member(node, name, kind, *default):
    need(isinstance(node, dict) and (name in node or default), "member " + name)
    v = node.get(name, *default)
    need(name not in node or isinstance(v, kind) and isinstance(v, bool) == (kind is bool), "member " + name)
    return v

def count(node, name, limit=2**63):
    v = member(node, name, int)
    need(is_count(v), "member " + name)
    need(v <= limit, "member " + name, "limit")
    return v

def hexdigits(node, name, n):
    need(re.fullmatch("[0-9a-f]{%d}" % n, member(node, name, str)), "member " + name)

def read_field(node):
    name, dtype, content, shape = (member(node, k, t) for k, t in (("name", str), ("dtype", str), ("content", str), ("shape", list)))
    need(dtype in DTYPES and content in CONTENTS and all(d is None or is_count(d) for d in shape), "field " + name)
    need(len(shape) <= 8, "ndim", "limit")
    scale, offset = (member(node, k, (int, float), None) for k in ("scale", "offset"))
    need((scale is None) == (offset is None), "scale and offset")
    return Field(name, dtype, content, member(node, "auxiliary", bool, False), [UNKNOWN if d is None else d for d in shape], scale, offset)

def read_manifest(text, path):  # bytes of dataset.json -> (object, fields)
    need(len(text) <= 2**28, path, "limit")
    try:
        root = json.loads(text.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as e:
        raise Fault("corrupt", "%s: %s" % (path, e))
    need(isinstance(root, dict) and root.get("format") == "mshard", path + ": no data set", "format")
    version = member(root, "version", list)
    need(len(version) == 2 and all(map(is_count, version)), "version")
    need(version[0] == 1, "version", "version")
    need(all(isinstance(r, str) for r in member(root, "requires", list)), "requires")
    need(not root["requires"], "requires %s" % root["requires"], "version")
    tail = re.fullmatch(b'"id": "([0-9a-f]{32})"\n}\n', text[-43:])
    need(tail and hash128(text[:-43]) == tail[1].decode(), "id")
    need(count(root, "generation") > 0, "generation")
    count(root, "records", T40)
    need(member(root, "fields", list), "fields")
    need(len(root["fields"]) <= 64, "fields", "limit")
    fields = [read_field(f) for f in root["fields"]]
    check_fields(fields)
    labels = [f.name for f in fields if f.content == "label"]
    for name, names in member(root, "classes", dict, {}).items():
        need(name in labels and isinstance(names, list) and names and len({str(n) for n in names}) == len(names) and
             all(isinstance(n, str) and n and "\0" not in n for n in names), "classes of " + name)
    for name, s in member(root, "statistics", dict, {}).items():
        field = [f for f in fields if f.name == name]
        need(field and count(s, "channels", 4), "statistics of " + name)
        [count(s, k) for k in ["values", "nan", "inf"] + ["min_size", "max_size"] * (UNKNOWN in field[0].shape)]
        need(all(len(member(s, k, list)) == s["channels"] for k in ("min", "max", "mean", "std")), "statistics of " + name)
        need(all(map(is_count, member(s, "counts", list, []))), "counts of " + name)
    check_shards(root)
    keys = member(root, "keys", dict, None)
    if keys is not None:
        need(member(keys, "file", str) == "keys.mdb" and fields[-1].name == "__key__", "keys")
        count(keys, "size", 2**56)
        need(count(keys, "count", T40) == root["records"], "keys.count")
        hexdigits(keys, "xxh3_128", 32)
    member(root, "source", dict, {}), member(root, "options", dict, {})
    return root, fields

def check_shards(root):
    shards = member(root, "shards", list)
    need(len(shards) <= 2**20, "shards", "limit")
    for s in shards:
        need(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,126}", member(s, "name", str)) and s["name"].endswith(".mshard"), "shard name")
        count(s, "records", T40), count(s, "size", 2**56)
        hexdigits(s, "header_sum", 16)
    need(sum(s["records"] for s in shards) == root["records"], "sum of records")
    need(len({s["name"] for s in shards}) == len(shards), "shard there twice")
