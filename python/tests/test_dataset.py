"""Dataset: samples, batches, attributes, closing, copies."""

import copy
import gc
import os
import pickle

import numpy as np
import pytest

import mshard


def test_length_and_samples(ds, data):
    assert len(ds) == 10
    for i in (0, 3, 4, 9, -1, -10):
        image, label = ds[i]
        assert np.array_equal(image, data["image"][i])
        assert label == data["label"][i] and type(label) is int
    assert ds[0].image.shape == (6, 5, 3) and ds[0].image.dtype == np.uint8


@pytest.mark.parametrize("i", [10, -11, 2**62, 2**70, -(2**70), np.int64(10)])
def test_out_of_range(ds, i):
    with pytest.raises(IndexError):
        ds[i]


@pytest.mark.parametrize("key", [1.0, None, (1, 2), {1}, np.array([1.5])])
def test_not_a_record_number(ds, key):
    with pytest.raises((TypeError, IndexError)):
        ds[key]


def test_numpy_integers(ds, data):
    for kind in (np.int8, np.uint8, np.int64, np.uint64):
        assert ds[kind(3)].label == data["label"][3]
    assert ds[np.array(3)].label == data["label"][3]


@pytest.mark.parametrize("cut", [slice(None), slice(2, 4), slice(2, 7), slice(1, None, 3), slice(None, None, -1),
                                 slice(8, 1, -2), slice(3, 3), slice(7, 2), slice(-3, 100), slice(0, 3, 2)])
def test_slices(ds, data, cut):
    batch = ds[cut]
    assert isinstance(batch, mshard.Batch) and batch._fields == ("image", "label")
    assert np.array_equal(batch.image, data["image"][cut]) and batch.image.shape == data["image"][cut].shape
    assert np.array_equal(batch.label, data["label"][cut]) and batch.label.dtype == np.int64


@pytest.mark.parametrize("numbers", [[3, 1, 1, -1], range(2, 9, 3), np.array([9, 0], np.uint64), np.array([-1, 2], np.int8),
                                     [], np.arange(10) % 2 == 0, [False] * 9 + [True], np.arange(20)[::-3] % 10])
def test_index_arrays(ds, data, numbers):
    expected = np.asarray(numbers) if len(numbers) else np.array([], int)
    batch = ds[numbers]
    assert np.array_equal(batch.image, data["image"][expected])
    assert np.array_equal(batch.label, data["label"][expected])
    assert batch.image.flags.writeable and batch.image.flags.owndata


@pytest.mark.parametrize("numbers", [[10], [-11], np.array([2**63 + 9], np.uint64), [0.0], [True] * 9, [[1, 2]],
                                     np.array(["a"])])
def test_bad_index_arrays(ds, numbers):
    with pytest.raises(IndexError):
        ds[numbers]


def test_columns_by_name(ds):
    assert "image" in ds and "nothing" not in ds
    assert ds["image"] is ds["image"]
    with pytest.raises(KeyError, match="nothing.*image"):
        ds["nothing"]
    with pytest.raises(TypeError):
        0 in ds


def test_iteration(ds, data):
    assert [sample.label for sample in ds] == data["label"].tolist()
    assert [sample.label for sample in reversed(ds)] == data["label"][::-1].tolist()


def test_getitems(ds, data):
    samples = ds.__getitems__([2, 9, 2])
    assert [s.label for s in samples] == data["label"][[2, 9, 2]].tolist()
    assert all(type(s) is ds.sample_type for s in samples)
    assert len(ds.__getitems__(np.array([1, 2]))) == 2 and ds.__getitems__([]) == []
    with pytest.raises(IndexError):
        ds.__getitems__([0, 10])


def test_attributes(ds, data, one_path):
    assert len(ds.id) == 32 and int(ds.id, 16) >= 0
    assert ds.generation == 1 and ds.check == "open" and not ds.closed
    assert list(ds.fields) == ["image", "label"]
    field = ds.fields["image"]
    assert (field.name, field.dtype, field.shape, field.content, field.variable) == ("image", "uint8", (6, 5, 3), "image", False)
    assert ds.classes == ["cat", "dog", "<b>&"]
    assert ds.class_to_idx == {"cat": 0, "dog": 1, "<b>&": 2}
    assert np.array_equal(ds.targets, data["label"]) and not ds.targets.flags.writeable
    assert ds.nbytes == sum(shard.size for shard in ds.shards)
    for shard in ds.shards:
        assert os.path.getsize(os.path.join(ds.path, shard.name)) == shard.size
    assert sum(shard.records for shard in ds.shards) == 10
    assert ds.manifest["records"] == 10 and ds.source == ds.manifest["source"] and isinstance(ds.options, dict)
    assert ds.keys is None
    with pytest.raises(TypeError):
        ds.fields["image"] = None


def test_stats(ds, data):
    stats = ds.stats["image"]
    assert stats.channels == 3 and stats.values == 10 * 6 * 5 and stats.nan == 0
    assert np.allclose(stats.mean, data["image"].mean((0, 1, 2))) and np.allclose(stats.std, data["image"].std((0, 1, 2)))
    assert stats.min == tuple(data["image"].min((0, 1, 2)))
    assert ds.stats["label"].counts == (4, 3, 3)
    assert stats.min_size is None


def test_transforms(one_path):
    ds = mshard.open(one_path)
    assert ds.transform is None
    ds.transform = lambda image: image.astype(np.float32) / 255
    ds.target_transform = str
    image, label = ds[4]
    assert image.dtype == np.float32 and label == "1"
    assert next(iter(ds)).label == "0" and ds.__getitems__([1])[0].label == "1"
    assert ds[0:2].image.dtype == np.uint8 and ds["label"][4] == 1  # batches and columns stay raw
    ds.transform = ds.target_transform = None
    assert ds[4].label == 1
    with pytest.raises(TypeError):
        ds.transform = 3

    def fails(image):
        raise RuntimeError("from the transform")

    ds.transform = fails
    with pytest.raises(RuntimeError, match="from the transform"):
        ds[0]


def test_transform_that_closes(one_path):
    ds = mshard.open(one_path)
    ds.transform = lambda image: ds.__exit__() or image
    assert ds[0].image.shape == (6, 5, 3)
    with pytest.raises(ValueError, match="closed"):
        ds[0]


def test_close_refuses_while_views_live(ds):
    view = ds[0].image
    with pytest.raises(BufferError, match="1 views"):
        ds.close()
    assert ds[1].label == 1
    del view
    column = ds["image"]
    ds.close()
    ds.close()
    assert ds.closed
    for use in (lambda: ds[0], lambda: ds["image"], lambda: column[0], lambda: column[0:2], lambda: np.asarray(column),
                lambda: ds.id, lambda: ds[[1]], lambda: column.offset(), lambda: column.views(), lambda: column.name,
                lambda: list(ds), lambda: "image" in ds):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert "closed" in repr(ds) and "closed" in repr(column)


def test_with_block_lets_go(ds, data):
    with ds as same:
        image = same[0].image
        same.targets
    assert ds.closed
    gc.collect()
    assert np.array_equal(image, data["image"][0])
    assert np.array_equal(ds.sample_type(1, 2), (1, 2))


def test_copies_share(ds):
    other = copy.copy(ds)
    assert other.id == ds.id and other[1].label == 1
    ds.transform = lambda image: 0
    assert other.transform is None
    view = other[0].image
    ds.close()  # the other one keeps the files
    assert other[2].label == 2
    with pytest.raises(BufferError):
        other.close()
    del view
    other.close()
    deep = copy.deepcopy(mshard.open(other._absolute))
    assert deep[1].label == 1


def test_pickle(ds, tmp_path, monkeypatch):
    ds.transform = np.asarray
    ds.note = "mine"
    data = pickle.dumps(ds)
    monkeypatch.chdir(tmp_path)
    other = pickle.loads(data)
    assert other.id == ds.id and other[3].label == ds[3].label and other.transform is np.asarray and other.note == "mine"
    assert len(data) < 2000


def test_pickle_goes_by_the_path_at_opening(one_path, tmp_path, monkeypatch):
    monkeypatch.chdir(os.path.dirname(one_path))
    ds = mshard.open("one.msd", check="all")
    monkeypatch.chdir(tmp_path)
    other = pickle.loads(pickle.dumps(ds))
    assert other.id == ds.id and other.check == "all"


def test_unpickle_refuses_another_data_set(tmp_path):
    from conftest import write

    path = write(tmp_path / "a.msd", 4)
    data = pickle.dumps(mshard.open(path))
    write(tmp_path / "a.msd", 5, overwrite=True)
    with pytest.raises(ValueError, match="another data set is there now"):
        pickle.loads(data)


def test_reading_goes_on_after_replacement(tmp_path, data):
    from conftest import write

    path = write(tmp_path / "a.msd", 100)
    ds = mshard.open(path)
    assert ds[0].label == 0
    write(tmp_path / "a.msd", 5, overwrite=True)
    assert np.array_equal(ds[:].image, data["image"])


def test_one_field(tmp_path):
    with mshard.Writer(tmp_path / "x", {"x": ("float16", (2,))}, sync=False) as w:
        w.write(([1, 2],))
    (x,) = mshard.open(tmp_path / "x")[0]
    assert x.dtype == np.float16 and x.tolist() == [1, 2]


def test_no_label(tmp_path):
    with mshard.Writer(tmp_path / "x", {"x": ("float16", (2,))}, sync=False) as w:
        w.write(([1, 2],))
    ds = mshard.open(tmp_path / "x")
    assert ds.classes is None and ds.class_to_idx is None and not hasattr(ds, "targets")
    ds.target_transform = str
    assert ds[0].x.tolist() == [1, 2]


def test_odd_field_names(tmp_path):
    names = ("class", "_x", "index", "_fields")
    with mshard.Writer(tmp_path / "x", {n: ("int32", ()) for n in names}, sync=False) as w:
        w.write((1, 2, 3, 4))
    sample = mshard.open(tmp_path / "x")[0]
    assert sample == (1, 2, 3, 4) and sample._fields == names and getattr(sample, "class") == 1 and sample.index == 3
    assert sample._asdict() == dict(zip(names, (1, 2, 3, 4)))


def test_subclass(one_path):
    class Mine(mshard.Dataset):
        def first(self):
            return self[0]

    ds = Mine(one_path)
    assert ds.first().label == 0 and isinstance(copy.copy(ds), Mine)


def test_cycles_are_collected(one_path):
    import weakref

    ds = mshard.open(one_path)
    ds.self = ds
    ds.transform = lambda image: ds
    gone = weakref.ref(ds)
    del ds
    gc.collect()
    assert gone() is None
