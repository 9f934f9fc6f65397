"""Views: read-only, without a copy, and alive for as long as anyone holds one."""

import gc
import threading
import weakref

import numpy as np
import pytest

import mshard


def test_read_only(ds):
    for view in (ds[0].image, ds["image"][0], ds["image"][0:2], ds["image"].views()[0]):
        with pytest.raises(ValueError):
            view[0] = 1
        with pytest.raises(ValueError):
            view.flags.writeable = True


def test_no_copy(ds):
    assert ds[0].image.ctypes.data == ds["image"][0].ctypes.data
    assert np.shares_memory(ds[0].image, ds[0:2].image)


@pytest.mark.parametrize("take", [lambda ds: ds[1].image, lambda ds: ds["image"][1], lambda ds: ds["image"][1:3][0],
                                  lambda ds: ds[1:3].image[0], lambda ds: ds["image"].views()[0][1],
                                  lambda ds: next(iter(ds["image"][1:3]))])
def test_views_outlive_the_data_set(ds, data, take):
    path = ds._absolute
    gone = weakref.ref(other := mshard.open(path))
    view = take(other)
    del other
    gc.collect()
    assert gone() is None
    assert np.array_equal(view, data["image"][1])


def test_column_outlives_the_data_set(one_path, data):
    column = mshard.open(one_path)["image"]
    gc.collect()
    assert np.array_equal(column[9], data["image"][9])
    keys_of_nobody = iter(mshard.open(one_path))
    assert next(keys_of_nobody).label == 0


def test_mapping_goes_with_the_last_view(one_path):
    def mapped():
        with open("/proc/self/maps") as maps:
            return sum("one.msd/shard-" in line for line in maps)

    gc.collect()
    before = mapped()
    ds = mshard.open(one_path)
    view = ds[0].image
    assert mapped() == before + 1
    del ds
    assert mapped() == before + 1
    del view
    assert mapped() == before


def test_alignment(tmp_path):
    fields = {"odd": ("uint8", (3,)), "half": ("float16", (5,)), "wide": ("float64", (2,)), "any": ("float32", (None,))}
    with mshard.Writer(tmp_path / "x", fields, sync=False) as w:
        for i in range(7):
            w.write(([i] * 3, [i] * 5, [i] * 2, np.arange(i, dtype=np.float32)))
    ds = mshard.open(tmp_path / "x")
    for sample in ds:
        for value in sample:
            assert value.flags.aligned and value.ctypes.data % value.itemsize == 0
    assert all(ds[name].offset() % 4096 == 0 for name in ("odd", "half", "wide"))


@pytest.mark.parametrize("check", ["open", "none", "touch", "all"])
def test_threads_share(many_path, data, check):
    ds = mshard.open(many_path, check)
    wrong = []

    def work(seed):
        for i in np.random.default_rng(seed).integers(0, 10, 300):
            if ds[i].label != data["label"][i] or not np.array_equal(ds[int(i):int(i) + 2].image, data["image"][i:i + 2]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_closing_under_readers(many_path):
    for _ in range(20):
        ds = mshard.open(many_path, "touch")

        def work():
            try:
                while True:
                    ds[3], ds[[1, 9]], ds["label"][2:7]
            except ValueError:
                pass

        threads = [threading.Thread(target=work) for _ in range(3)]
        [t.start() for t in threads]
        ds._release()
        [t.join() for t in threads]
