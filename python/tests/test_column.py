"""Column: values, slices, arrays, conversion, and the way to numpy.memmap."""

import os

import numpy as np
import pytest

import mshard


def test_values(ds, data):
    column = ds["image"]
    assert len(column) == 10 and column.shape == (10, 6, 5, 3) and column.ndim == 4
    assert column.dtype == np.uint8 and column.name == "image"
    assert np.array_equal(column[3], data["image"][3]) and np.array_equal(column[-1], data["image"][-1])
    assert np.array_equal(list(column), data["image"])
    assert ds["label"][4] == 1 and type(ds["label"][4]) is int
    with pytest.raises(IndexError):
        column[10]
    with pytest.raises(TypeError):
        column[None]
    with pytest.raises(TypeError):
        1 in column


def test_numpy_like_tuples(ds, data):
    column = ds["image"]
    for key in ((3, ..., 0), (3, 2, 1, 0), (slice(2, 6), 0), ([9, 0], slice(None), 1), (slice(None, None, 2), ..., [0, 2])):
        assert np.array_equal(column[key], data["image"][key])
    assert np.array_equal(column[(3,)], data["image"][3])
    with pytest.raises(IndexError):
        column[()]


def test_slice_inside_a_shard_is_a_view(ds):
    column = ds["image"]
    for view in (column[1:3], column[0:4:2], column[3:0:-1]):
        assert not view.flags.writeable and not view.flags.owndata
    assert np.shares_memory(column[1:3], column[2])
    assert np.shares_memory(column[3:0:-1], column[2])


def test_slice_over_shards_is_a_copy(many_path, data):
    column = mshard.open(many_path)["image"]
    copy = column[2:7]
    assert copy.flags.writeable and np.array_equal(copy, data["image"][2:7])
    assert not np.shares_memory(copy, column[2])


def test_views(ds, data):
    views = ds["image"].views()
    assert [len(v) for v in views] == [shard.records for shard in ds.shards]
    assert np.array_equal(np.concatenate(views), data["image"])
    assert all(np.shares_memory(v, ds["image"][s.first_record]) for v, s in zip(views, ds.shards))


def test_asarray(one_path, many_path, data):
    one, many = mshard.open(one_path)["image"], mshard.open(many_path)["image"]
    assert np.array_equal(np.asarray(one), data["image"]) and np.array_equal(np.asarray(many), data["image"])
    assert np.shares_memory(np.asarray(one), one[0]) and not np.shares_memory(np.asarray(many), many[0])
    assert np.array(one).flags.writeable and not np.shares_memory(np.array(one), one[0])
    assert np.asarray(one, np.float32).dtype == np.float32 and np.asarray(many, np.float32).dtype == np.float32
    assert np.shares_memory(one.__array__(copy=False), one[0])
    assert np.shares_memory(one.__array__("uint8", None), one[0])
    assert not np.shares_memory(one.__array__(copy=True), one[0])
    with pytest.raises(ValueError):
        many.__array__(copy=False)
    with pytest.raises(ValueError):
        one.__array__(np.float32, copy=False)
    assert (one == data["image"]).all() if isinstance(one == data["image"], np.ndarray) else True
    assert np.mean(one) == data["image"].mean()


def test_variable(keyed_path):
    ds = mshard.open(keyed_path)
    text, grid = ds["text"], ds["grid"]
    assert text.shape == (10, None) and grid.shape == (10, None, 2) and ds.fields["grid"].variable
    assert [bytes(v) for v in text] == [b"x" * i for i in range(10)]
    assert [v.shape for v in grid] == [(i, 2) for i in range(10)]
    assert isinstance(grid[2:6], list) and [len(v) for v in grid[2:6]] == [2, 3, 4, 5]
    assert [len(v) for v in grid[::-3]] == [9, 6, 3, 0] and [len(v) for v in grid[[7, 1]]] == [7, 1]
    assert isinstance(ds[2:4].text, list) and grid[3].dtype == np.float32 and (grid[3] == 3).all()
    assert grid[2:2] == [] and not grid[3].flags.writeable
    assert ds.stats["grid"].min_size == 0 and ds.stats["grid"].max_size == 72
    for refused in (lambda: np.asarray(grid), lambda: grid.views()):
        with pytest.raises(TypeError, match="grid"):
            refused()
    with pytest.raises(ValueError):
        grid.offset()


def test_memmap_reads_the_same(ds):
    for name in ("image", "label"):
        column = ds[name]
        for number, shard in enumerate(ds.shards):
            mapped = np.memmap(os.path.join(ds.path, shard.name), column.dtype, "r", offset=column.offset(number),
                               shape=(shard.records, *column.shape[1:]))
            assert np.array_equal(mapped, column[shard.first_record:shard.first_record + shard.records])
    with pytest.raises(IndexError):
        ds["image"].offset(len(ds.shards))


def test_repr(one_path):
    assert repr(mshard.open(one_path)["image"]) == "<mshard column image, uint8, shape (10, 6, 5, 3)>"
