"""vectors_valid.py - the files every reader must read; returns those the invalid ones are made from"""
import json

from format1 import field, key_field
from make_vectors import manifest_text, valid_dataset, valid_shard, with_id

INTEGERS = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-2**15, 2**15 - 1), "int32": (-2**31, 2**31 - 1),
            "int64": (-2**63, 2**63 - 1), "uint16": (0, 2**16 - 1), "uint32": (0, 2**32 - 1), "uint64": (0, 2**64 - 1)}
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
                    "0000000a4944415478da6368000000820081da45083b0000000049454e44ae426082")


def pair_fields():
    return [field("image", "uint8", (2, 2, 3), "image"), field("label", "int64", (), "label")]


def pair_records(first, count):
    return [{"image": [(12 * r + v) % 256 for v in range(12)], "label": [r % 2]} for r in range(first, first + count)]


def dtypes():
    fields, records = [], [{}, {}, {}]
    for name, (low, high) in INTEGERS.items():
        fields.append(field("f_" + name, name))
        for r, v in zip(records, (low, high, 1)):
            r["f_" + name] = [v]
    floats = {"float16": (65504.0, 2.0**-24, -0.0), "float32": (1.5, float("inf"), -2.0**-149),
              "float64": (0.1, float("-inf"), 2.0**-1074), "bfloat16": (1.5, float("nan"), -2.0**-133)}
    for name, values in floats.items():
        fields.append(field("f_" + name, name))
        for r, v in zip(records, values):
            r["f_" + name] = [v]
    fields.append(field("f_bool", "bool"))
    for r, v in zip(records, (0, 1, 1)):
        r["f_bool"] = [v]
    valid_shard("dtypes", "every dtype, scalars: lowest, highest and special values", fields, records)


def shapes():
    valid_shard("dims-8", "eight dimensions, the most there can be",
                [field("deep", "int16", (1, 2, 1, 2, 1, 2, 1, 2)), field("flat", "float16", (2,))],
                [{"deep": list(range(16)), "flat": [0.5, -1.0]}, {"deep": list(range(-16, 0)), "flat": [2.0, 4.0]}])
    valid_shard("name-63", "a field name of 63 bytes, and one of a single letter",
                [field("N" + "a_9" * 20 + "zz", "uint8"), field("_", "bool")],
                [{"N" + "a_9" * 20 + "zz": [7], "_": [1]}])
    many = [field("f%02d" % i, "uint8") for i in range(24)]
    valid_shard("fields-24", "header of 8192 bytes: 24 fields do not fit into 4096", many,
                [{f["name"]: [i] for i, f in enumerate(many)}])
    most = [field("f%02d" % i, "uint8", (1 + i % 3,)) for i in range(64)]
    valid_shard("fields-64", "64 fields, the most there can be", most,
                [{f["name"]: [i] * f["shape"][0] for i, f in enumerate(most)} for _ in range(2)])
    return valid_shard("grey", "a grey image [height, width], float16 vector and bool beside it",
                       [field("image", "uint8", (2, 3), "image"), field("vector", "float16", (3,)), field("flag", "bool", (2,))],
                       [{"image": [0, 1, 2, 253, 254, 255], "vector": [1.0, -2.0, 0.25], "flag": [0, 1]}])


def variable():
    tokens = [field("tokens", "int32", [None]), field("label", "uint16", (), "label")]
    one = valid_shard("variable-1d", "token sequences, the second one empty", tokens,
                      [{"tokens": [1, -2, 3], "label": [0]}, {"tokens": [], "label": [1]}, {"tokens": [2**31 - 1], "label": [2]}])
    boxes = [field("image", "uint8", (None, None, 3), "image"), field("boxes", "float16", (None, 4))]
    many = valid_shard("variable-image", "images of any size, and boxes of any number, none too", boxes,
                       [{"image": ((1, 2, 3), list(range(6))), "boxes": ((2, 4), [0.0, 0.5, 1.0, 2.0] * 2)},
                        {"image": ((2, 1, 3), list(range(10, 16))), "boxes": ((0, 4), [])}])
    valid_shard("encoded", "the bytes of PNG files", [field("image", "uint8", [None], "encoded"), field("label", "uint8", (), "label")],
                [{"image": PNG, "label": [3]}, {"image": PNG, "label": [0]}])
    valid_shard("text", "UTF-8 text, an empty one too", [field("caption", "uint8", [None], "text")],
                [{"caption": "a red hat".encode()}, {"caption": b""}, {"caption": "Ünïcode \u4e2d\U0001f642".encode()}])
    return one, many


def special():
    scaled = valid_shard("scaled", "stored * scale + offset", [field("x", "uint8", (4,), scale=1 / 255, offset=-0.5), field("y", "int16", scale=0.25, offset=0.0)],
                         [{"x": [0, 1, 128, 255], "y": [-4]}, {"x": [5, 6, 7, 8], "y": [4]}])
    fixed = [field("image", "uint8", (2, 2, 3), "image"), key_field()]
    keys = valid_shard("keys", "each record has a key", fixed,
                       [{"image": list(range(12)), "__key__": b"dress/a.png"}, {"image": list(range(12, 24)), "__key__": "hat/\u00e9".encode()}])
    valid_shard("auxiliary-other", "an auxiliary field of a later compat feature: read, no part of samples",
                [field("x", "uint8", (2,)), field("__extra__", "float32", aux=True)], [{"x": [1, 2], "__extra__": [0.5]}], minor=1, compat=1 << 63)
    zero = valid_shard("zero-records", "no records, fixed fields", pair_fields(), [])
    valid_shard("zero-records-variable", "no records, variable field of two dimensions: three empty sections",
                [field("boxes", "float32", (None, 4))], [])
    valid_shard("zero-records-align", "no records, aligned to 64 KiB: the gap before the sums is one block of zeros", pair_fields(), [], align=65536)
    align = valid_shard("align-64k", "columns at multiples of 64 KiB", pair_fields(), pair_records(0, 2), align=65536)
    valid_shard("align-1m", "columns at multiples of 1 MiB, the largest align", pair_fields(), pair_records(0, 1), align=1 << 20)
    valid_shard("header-larger", "header of 8192 bytes where 4096 would do", pair_fields(), pair_records(0, 2), header_size=8192)
    valid_shard("compat-unknown", "unknown compat bits: read on", pair_fields(), pair_records(0, 2), compat=0xfffffffffffffffe)
    valid_shard("minor-newer", "a newer minor version: read on", pair_fields(), pair_records(0, 2), minor=65535)
    valid_shard("section-order", "sections in another order than writers choose", pair_fields(), pair_records(0, 2), order=[1, 0])
    rows = [{"x": bytes([r + 1]) + bytes(39998) + bytes([255 - r])} for r in range(4)]
    blocks = valid_shard("blocks", "160,000 bytes of values: three blocks, three sums", [field("x", "uint8", (40000,))], rows)
    return scaled, keys, zero, align, blocks


def loose(m):
    """Members in another order, spread over lines, unknown ones among them."""
    order = ["records", "shards", "version", "format", "fields", "generation", "requires"]
    body = json.dumps({**{k: m[k] for k in order}, "comment": {"any": [1.5, None, True]}}, indent=4)
    return with_id(body[:-2] + ",\n")


def datasets():
    classes = {"label": ["dress", "hat"]}
    fields = pair_fields()
    stats = {"image": {"channels": 3, "values": 20, "nan": 0, "inf": 0, "min": [0, 1, 2], "max": [57, 58, 59],
                       "mean": [28.5, 29.5, 30.5], "std": [17.26, 17.26, 17.26]},
             "label": {"channels": 1, "values": 5, "nan": 0, "inf": 0, "min": [0], "max": [1], "mean": [0.4],
                       "std": [0.4898979485566356], "counts": [3, 2]}}
    two = valid_dataset("dataset", "two shards with records and an empty one between them, classes, statistics", fields,
                        [pair_records(0, 3), [], pair_records(3, 2)], classes=classes, statistics=stats)
    keyed_fields = [*fields, key_field()]
    keyed = [dict(r, __key__=b"%s/%d.png" % ((b"dress", b"hat")[r["label"][0]], i)) for i, r in enumerate(pair_records(0, 5))]
    keys = valid_dataset("dataset-keys", "keys, and their index in keys.mdb", keyed_fields, [keyed[:3], keyed[3:]], keys=True)
    valid_dataset("dataset-keys-no-index", "keys in the shards, no index: it can be made again", keyed_fields, [keyed[:3], keyed[3:]])
    valid_dataset("dataset-generation-2", "generation 2: a shard was added", fields, [pair_records(0, 2), pair_records(2, 1)], generation=2)
    valid_dataset("dataset-loose", "any JSON text with the members will do, as long as the tail is in its form", fields, [pair_records(0, 2)], text=loose)
    valid_dataset("dataset-empty", "no records, no shards", fields, [])
    valid_dataset("dataset-minor-newer", "a newer minor version: read on", fields, [pair_records(0, 2)],
                  text=lambda m: with_id(manifest_text({**m, "version": [1, 9], "later": 1})))
    mixed = [field("caption", "uint8", [None], "text"), field("x", "uint8", (2,), scale=0.5, offset=1.0)]
    scaled = valid_dataset("dataset-variable", "variable and scaled fields in a data set", mixed,
                           [[{"caption": b"one", "x": [1, 2]}], [{"caption": b"", "x": [3, 4]}, {"caption": b"three", "x": [5, 6]}]])
    return two, keys, scaled


def make():
    pair = valid_shard("pair", "the worked example of spec/shard.md: image and label, two records", pair_fields(), pair_records(0, 2))
    dtypes()
    grey = shapes()
    one, many = variable()
    scaled, keys, zero, align, blocks = special()
    two, keyed, mixed = datasets()
    return dict(pair=pair, grey=grey, one=one, many=many, scaled=scaled, keys=keys, zero=zero, align=align, blocks=blocks, dataset=two,
                keyed=keyed, mixed=mixed)
