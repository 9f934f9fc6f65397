"""Writer: every dtype there and back, conversion that loses nothing, commit and abort."""

import gc
import threading

import numpy as np
import pytest

import mshard

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

DTYPES = ["uint8", "float16", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64", "bool"]


def values(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def writer(path, fields, **options):
    return mshard.Writer(path, fields, sync=False, **options)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 2, 1, 2)])
def test_fixed(tmp_path, dtype, shape):
    rows = values(dtype, (11, *shape))
    with writer(tmp_path / "x", {"v": (dtype, shape)}, records_per_shard=4) as w:
        for row in rows[:5]:
            w.write({"v": row})
        w.write_batch({"v": rows[5:]})
        assert len(w) == 11
    ds = mshard.open(tmp_path / "x")
    assert len(ds) == 11 and [s.records for s in ds.shards] == [4, 4, 3]
    assert ds.fields["v"].dtype == dtype and ds["v"].dtype == np.dtype(dtype)
    assert np.array_equal(np.asarray(ds["v"]), rows)
    for i in range(11):
        assert np.array_equal(ds[i].v, rows[i])
        if shape == ():
            assert type(ds[i].v) is type(rows[i].item()) and ds[i].v == rows[i].item()
    assert mshard.verify(tmp_path / "x").ok


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(None,), (None, 2), (2, None), (None, None, 3)])
def test_variable(tmp_path, dtype, shape):
    rows = [values(dtype, [i if d is None else d for d in shape], i) for i in range(7)]
    with writer(tmp_path / "x", {"v": (dtype, shape), "n": ("int16", ())}, records_per_shard=3) as w:
        for i, row in enumerate(rows[:4]):
            w.write((row, i))
        w.write_batch({"v": rows[4:], "n": [4, 5, 6]})
    ds = mshard.open(tmp_path / "x")
    for i, row in enumerate(rows):
        value = ds[i].v
        assert value.shape == row.shape and value.dtype == np.dtype(dtype) and np.array_equal(value, row)
        assert ds[i].n == i
    assert mshard.verify(tmp_path / "x").ok


def test_scalars_at_their_limits(tmp_path):
    for dtype in DTYPES[:1] + DTYPES[2:9]:
        limits = np.iinfo(dtype)
        with writer(tmp_path / dtype, {"v": (dtype, ())}) as w:
            w.write((limits.min,))
            w.write((limits.max,))
            for wrong in (limits.min - 1, limits.max + 1):
                with pytest.raises(ValueError, match="v.*fit"):
                    w.write((wrong,))
        ds = mshard.open(tmp_path / dtype)
        assert [ds[0].v, ds[1].v] == [limits.min, limits.max]


def test_halves(tmp_path):
    bits = np.arange(65536, dtype=np.uint16).view(np.float16)
    with writer(tmp_path / "x", {"v": ("float16", ())}) as w:
        w.write_batch((bits,))
    column = mshard.open(tmp_path / "x")["v"]
    assert all(np.array_equal(column[i], float(bits[i]), equal_nan=True) for i in range(0, 65536, 7))


def test_bfloat16_bits(tmp_path):
    bits = np.array([0x3F80, 0xC000, 0x7F80], np.uint16)  # 1, -2, infinity
    with writer(tmp_path / "x", {"v": ("bfloat16", (3,)), "s": ("bfloat16", ())}) as w:
        w.write((bits, np.array(0x3F80, np.uint16)) if ml_dtypes is None else (bits, ml_dtypes.bfloat16(1)))
    ds = mshard.open(tmp_path / "x")
    assert ds.fields["v"].dtype == "bfloat16" and ds[0].s == 1.0 and type(ds[0].s) is float
    assert np.array_equal(ds[0].v.view(np.uint16), bits)
    if ml_dtypes is not None:
        assert ds["v"].dtype == ml_dtypes.bfloat16 and ds[0].v.astype(float).tolist() == [1, -2, np.inf]
    else:
        assert ds["v"].dtype == np.uint16


@pytest.mark.skipif(ml_dtypes is None, reason="needs ml_dtypes")
def test_bfloat16_values(tmp_path):
    with writer(tmp_path / "x", {"v": ("bfloat16", (2,))}) as w:
        w.write((np.array([1.5, -3], ml_dtypes.bfloat16),))
        w.write(([1.5, 0.1],))
        with pytest.raises(TypeError):
            w.write((np.array([1, 2], np.float32),))
        with pytest.raises(ValueError):
            w.write(([1e39, 0],))


@pytest.mark.parametrize("dtype, good", [
    ("int64", np.int32(7)), ("int64", np.uint8(7)), ("uint8", np.int64(7)), ("float32", 7), ("float32", 0.1), ("uint8", True),
    ("bool", 1), ("bool", False), ("uint8", 7.0), ("float16", np.float64(0.1)), ("uint64", 2**64 - 1), ("float64", np.float16(1)),
])
def test_numbers_that_fit(tmp_path, dtype, good):
    with writer(tmp_path / "x", {"v": (dtype, ())}) as w:
        w.write((good,))
    assert mshard.open(tmp_path / "x")[0].v == np.asarray(good).astype(dtype)


@pytest.mark.parametrize("dtype, shape, bad", [
    ("uint8", (), 300), ("uint8", (), -1), ("uint8", (), 2.5), ("uint8", (), float("nan")), ("int64", (), 2**63),
    ("uint8", (2,), [1, 256]), ("uint8", (), np.int64(256)), ("bool", (), 2), ("float16", (), 1e6), ("float32", (), 1e39),
    ("float16", (), 2049), ("uint8", (2,), [1, [2]]), ("uint8", (2,), [1, 2, 3]), ("uint8", (2,), 5), ("uint8", (), [5]),
    ("uint64", (), -1), ("uint64", (), 2**64), ("float32", (), 2**70),
])
def test_values_that_do_not_fit(tmp_path, dtype, shape, bad):
    with writer(tmp_path / "x", {"v": (dtype, shape)}) as w:
        with pytest.raises(ValueError, match="field v"):
            w.write((bad,))
        assert len(w) == 0
        w.abort()


@pytest.mark.parametrize("dtype, bad", [
    ("uint8", np.zeros(2)), ("float32", np.zeros(2)), ("uint8", np.zeros(2, np.int8)), ("bool", np.zeros(2, np.uint8)),
    ("uint8", "ab"), ("float32", b"abcdefgh"), ("uint8", None), ("uint8", {1: 2}), ("uint8", np.array(["a", "b"])),
    ("int64", np.array(["2020", "2021"], "M8[D]")), ("int32", np.zeros(2, np.int64)), ("uint8", [None, None]),
    ("float32", np.zeros(2, complex)), ("int64", np.zeros(2, object)), ("bfloat16", np.zeros(2, np.uint8)),
])
def test_types_that_do_not_fit(tmp_path, dtype, bad):
    with writer(tmp_path / "x", {"v": (dtype, (2,))}) as w:
        with pytest.raises(TypeError, match="field v: expected"):
            w.write((bad,))
        w.abort()


def test_arrays_that_convert(tmp_path):
    base = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    with writer(tmp_path / "x", {"v": ("int32", (4, 3))}) as w:
        w.write((base[0].T,))
        w.write((base[1].T.astype(">i4"),))
        w.write((base[0].T.astype(np.int32),))  # Fortran order
        w.write((base.astype(np.int32)[1, :, ::-1].T,))
    ds = mshard.open(tmp_path / "x")
    for i, row in enumerate((base[0].T, base[1].T, base[0].T, base[1, :, ::-1].T)):
        assert np.array_equal(ds[i].v, row)


def test_bytes_and_text(tmp_path):
    with writer(tmp_path / "x", {"t": ("uint8", (None,), "text"), "e": ("uint8", (None,), "encoded")}) as w:
        w.write({"t": "größe", "e": b"\x89PNG"})
        w.write({"t": b"raw", "e": bytearray(b"")})
        w.write({"t": memoryview(b"view"), "e": np.frombuffer(b"abc", np.uint8)})
        with pytest.raises(TypeError, match="field e"):
            w.write({"t": "a", "e": "b"})
    ds = mshard.open(tmp_path / "x")
    assert [bytes(s.t).decode() for s in ds] == ["größe", "raw", "view"] and [bytes(s.e) for s in ds] == [b"\x89PNG", b"", b"abc"]
    assert ds.fields["t"].content == "text" and ds.fields["e"].content == "encoded"


@pytest.mark.parametrize("sample, message", [
    ({"a": 1}, "field b is missing"), ({"a": 1, "c": 1}, "field b is missing"), ({"a": 1, "b": 1, "c": 1}, "no fields.*c"),
    ((1,), "expected 2 values, found 1"), ([1, 2, 3], "found 3"),
])
def test_samples_that_do_not_fit(tmp_path, sample, message):
    with writer(tmp_path / "x", {"a": ("int8", ()), "b": ("int8", ())}) as w:
        with pytest.raises(ValueError, match=message):
            w.write(sample)
        with pytest.raises(TypeError):
            w.write(3)
        w.abort()


def test_batches_that_do_not_fit(tmp_path):
    with writer(tmp_path / "x", {"a": ("int8", ()), "b": ("uint8", (2,))}) as w:
        good = np.zeros(3, np.int8)
        for batch, error in [({"a": good, "b": np.zeros((2, 2), np.uint8)}, ValueError), ((good, np.zeros((3, 3), np.uint8)), ValueError),
                             ((good, np.zeros(3, np.uint8)), ValueError), ((good, np.zeros((3, 2))), TypeError), ((good,), ValueError),
                             ((5, 6), TypeError)]:
            with pytest.raises(error):
                w.write_batch(batch)
        with pytest.raises(ValueError):
            w.write_batch((good, np.zeros((3, 2), np.uint8)), keys=["a", "b", "c"])
        assert len(w) == 0
        w.write_batch((good[:0], np.zeros((0, 2), np.uint8)))
        w.write_batch({"a": [1, 2, 3], "b": [[1, 2], [3, 4], [5, 6]]})
        assert len(w) == 3
    assert mshard.open(tmp_path / "x")[2].b.tolist() == [5, 6]


def test_field_specs(tmp_path):
    fields = {
        "image": ("uint8", (4, 4, 3)), "label": (np.int32, ()), "other": (np.dtype("f4"), 3), "length": ("u1", None),
        "fine": {"dtype": "uint8", "content": "label"},
        "scaled": {"dtype": "uint8", "shape": (2,), "scale": 0.5, "offset": -1},
    }
    with writer(tmp_path / "x", fields, classes={"label": ["a"], "fine": ["b", "c"]}) as w:
        w.write((np.zeros((4, 4, 3), np.uint8), 0, [1, 2, 3], b"xyz", 1, [0, 4]))
        assert w.fields["other"] == ("float32", (3,), "values")
    ds = mshard.open(tmp_path / "x")
    assert [f.content for f in ds.fields.values()] == ["image", "label", "values", "values", "label", "values"]
    assert ds.fields["length"].shape == (None,) and ds.fields["label"].dtype == "int32"
    assert (ds.fields["scaled"].scale, ds.fields["scaled"].offset) == (0.5, -1.0)
    assert ds.classes == ["a"] and ds.fields["fine"].classes == ["b", "c"] and ds.fields["other"].classes is None


def test_classes_make_a_label(tmp_path):
    with writer(tmp_path / "x", {"kind": ("uint8", ())}, classes={"kind": ["a", "b"]}) as w:
        w.write((1,))
    ds = mshard.open(tmp_path / "x")
    assert ds.fields["kind"].content == "label" and ds.classes == ["a", "b"] and ds.targets.tolist() == [1]


@pytest.mark.parametrize("fields, classes, error", [
    ({}, None, ValueError), ({"a b": ("int8", ())}, None, ValueError), ({"x": ("int7", ())}, None, TypeError),
    ({"x": ("complex64", ())}, None, TypeError), ({"x": ("int8",)}, None, ValueError), ({"x": ("int8", (-1,))}, None, ValueError),
    ({"x": ("int8", (1,) * 9)}, None, ValueError), ({"x": ("int8", (), "nonsense")}, None, ValueError),
    ({"x": ("int8", ())}, ["a"], ValueError), ({"label": ("int8", ())}, ["a", "a"], ValueError),
    ({"label": ("int8", ())}, {"other": ["a"]}, ValueError), ({"__key__": ("uint8", (None,))}, None, ValueError),
    ({"x": {"shape": ()}}, None, ValueError), ({"x": ("S3", ())}, None, TypeError), ({1: ("int8", ())}, None, TypeError),
])
def test_fields_refused(tmp_path, fields, classes, error):
    with pytest.raises(error):
        writer(tmp_path / "x", fields, classes=classes)
    assert not (tmp_path / "x").exists()
    assert list(tmp_path.iterdir()) == []


def test_abort_on_exception(tmp_path):
    with pytest.raises(RuntimeError, match="mine"):
        with writer(tmp_path / "x", {"v": ("int8", ())}) as w:
            w.write((1,))
            raise RuntimeError("mine")
    assert w.closed and list(tmp_path.iterdir()) == []
    for use in (lambda: w.write((1,)), lambda: w.commit(), lambda: w.write_batch(([1],))):
        with pytest.raises(ValueError, match="closed"):
            use()
    w.abort()


def test_forgotten_writer(tmp_path):
    w = writer(tmp_path / "x", {"v": ("int8", ())})
    w.write((1,))
    with pytest.warns(ResourceWarning):
        del w
        gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_nothing_written(tmp_path):
    with pytest.raises(ValueError):
        with writer(tmp_path / "x", {"v": ("int8", ())}):
            pass
    assert list(tmp_path.iterdir()) == []


def test_existing(tmp_path):
    for value in (1, 2):
        with writer(tmp_path / "x", {"v": ("int8", ())}, overwrite=value == 2) as w:
            w.write((value,))
    with pytest.raises(FileExistsError) as error:
        writer(tmp_path / "x", {"v": ("int8", ())})
    assert error.value.filename == str(tmp_path / "x")
    assert mshard.open(tmp_path / "x")[0].v == 2


def test_keys(tmp_path):
    with writer(tmp_path / "x", {"v": ("int8", ())}, keys=True) as w:
        w.write((1,), key="a")
        w.write_batch({"v": np.array([2, 3], np.int8)}, keys=["b", b"c"])
        for wrong in (lambda: w.write((1,)), lambda: w.write_batch(([1],)), lambda: w.write_batch(([1],), keys=["x", "y"])):
            with pytest.raises(ValueError):
                wrong()
        with pytest.raises(TypeError):
            w.write((1,), key=5)
        with pytest.raises(ValueError):
            w.write((1,), key="x" * 600)
    assert list(mshard.open(tmp_path / "x").keys) == ["a", "b", "c"]
    with pytest.raises(FileExistsError):
        with writer(tmp_path / "y", {"v": ("int8", ())}, keys=True) as w:
            w.write_batch(([1, 2],), keys=["same", "same"])
    with writer(tmp_path / "z", {"v": ("int8", ())}) as w:
        with pytest.raises(ValueError, match="keys=True"):
            w.write((1,), key="a")
        w.abort()


def test_same_bytes(tmp_path):
    ids = []
    for name in "ab":
        with writer(tmp_path / name, {"v": ("float32", (4,))}) as w:
            w.write_batch((np.arange(40, dtype=np.float32).reshape(10, 4),))
        ids.append(mshard.open(tmp_path / name).id)
    assert ids[0] == ids[1]


def test_two_threads(tmp_path):
    w = writer(tmp_path / "x", {"v": ("uint8", (1 << 20,))})
    rows = np.zeros((8, 1 << 20), np.uint8)
    outcome = []

    def work():
        for _ in range(8):
            try:
                w.write_batch((rows,))
                outcome.append("written")
            except RuntimeError as error:
                outcome.append("another thread" in str(error) and "refused")

    threads = [threading.Thread(target=work) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert set(outcome) <= {"written", "refused"} and len(w) == 8 * outcome.count("written")
    w.abort()


def test_lengths_are_no_truth(tmp_path):
    with writer(tmp_path / "x", {"v": ("int8", ())}) as w:
        assert w and len(w) == 0 and "0 records" in repr(w)
        w.write((1,))


@pytest.mark.parametrize("options", [{"shard_size": -1}, {"records_per_shard": -1}, {"align": 3}, {"align": -1}, {"align": 1 << 40}])
def test_options_refused(tmp_path, options):
    with pytest.raises(ValueError):
        writer(tmp_path / "x", {"v": ("int8", ())}, **options)
    assert list(tmp_path.iterdir()) == []
