"""The vectors of spec/: what must read gives the stated values, what must fail raises, through the Python package."""

import json
import os
import runpy

import numpy as np
import pytest

import mshard

SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "spec")
VALID, INVALID = (os.path.join(SPEC, "vectors", kind) for kind in ("valid", "invalid"))

if not os.path.isdir(VALID):
    pytest.skip("not in the source tree", allow_module_level=True)

assemble = runpy.run_path(os.path.join(SPEC, "tools", "assemble.py"))["assemble"]


def names(folder):
    return sorted(name[:-4] for name in os.listdir(folder) if name.endswith(".hex"))


def lay(source, folder):
    """The files of a vector; what to open."""
    files = assemble(source)
    if "" in files:
        (folder / "x.mshard").write_bytes(files[""])
        return folder / "x.mshard"
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def same(value, expected, dtype):
    array = np.asarray(value)
    if array.ndim == 0 and dtype != "bfloat16":
        array = array.astype(dtype)
    if list(array.shape) != expected["shape"]:
        return False
    if "bytes" not in expected:
        return array.nbytes == expected["size"]
    if dtype.endswith("float16") or dtype.startswith("float"):
        numbers = [float(n) for n in expected["numbers"]]
        return np.array_equal(array.astype(float).ravel() if array.dtype != np.uint16 else numbers, numbers, equal_nan=True)
    return array.tobytes().hex() == expected["bytes"]


@pytest.mark.parametrize("name", names(VALID))
def test_reads(name, tmp_path):
    with open(os.path.join(VALID, name + ".json"), encoding="utf-8") as file:
        expected = json.load(file)
    ds = mshard.open(lay(os.path.join(VALID, name + ".hex"), tmp_path), check="all")
    fields = [f for f in expected["fields"] if not f.get("auxiliary")]
    assert len(ds) == expected["records"] and list(ds.fields) == [f["name"] for f in fields]
    for field in fields:
        found = ds.fields[field["name"]]
        assert (found.dtype, list(found.shape), found.content) == (field["dtype"], field["shape"], field["content"])
        assert (found.scale, found.offset) == (field.get("scale", 1.0), field.get("offset", 0.0))
    for i, record in enumerate(expected["values"]):
        for field in fields:
            assert same(ds[i][list(ds.fields).index(field["name"])], record[field["name"]], field["dtype"]), (i, field["name"])
    if expected["kind"] == "dataset":
        assert ds.id == expected["id"] and ds.generation == expected["generation"]
        assert [shard.records for shard in ds.shards] == expected["shards"]
        assert {n: f.classes for n, f in ds.fields.items() if f.classes} == expected["classes"]
        for key, record in expected.get("keys", {}).items():
            assert ds.keys.find(key) == record
    assert mshard.verify(ds.path).ok


def use(path):
    """Everything a reader can ask for."""
    ds = mshard.open(path, check="all")
    for sample in ds:
        pass
    for name in ds.fields:
        ds[name][:]
    if ds.keys is not None:
        for key in ds.keys:
            ds.keys.find(key)


@pytest.mark.parametrize("name", names(INVALID))
def test_refused(name, tmp_path):
    """By the reader or, for the rest, by verify; with an exception of the right family, and never a crash."""
    path = lay(os.path.join(INVALID, name + ".hex"), tmp_path)
    try:
        use(path)
    except (mshard.FormatError, FileNotFoundError, NotImplementedError):
        return
    except KeyError:
        pass  # an index that lacks a record's key
    assert not mshard.verify(path).ok
