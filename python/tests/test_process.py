"""Other processes: fork, spawn, and what importing costs."""

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest

import mshard


def label_of(ds, i):
    return ds[i].label


def key_of(ds, key):
    return ds.keys.find(key)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers(many_path, data, method):
    ds = mshard.open(many_path)
    ds[0]  # mapped before the fork
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        assert list(pool.map(label_of, [ds] * 10, range(10))) == data["label"].tolist()


def test_inherited_by_fork(many_path, keyed_path, data):
    ds, keyed = mshard.open(many_path), mshard.open(keyed_path)
    view = ds[0].image
    assert keyed.keys.find("k3") == 3
    child = os.fork()
    if child == 0:  # nothing of pytest may run here
        good = False
        try:
            good = (np.array_equal(view, data["image"][0]) and ds[9].label == data["label"][9]
                    and keyed.keys.find("k7") == 7)
        finally:
            os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert keyed.keys.find("k8") == 8


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_no_packing_libraries(one_path):
    code = f"""
import mshard
ds = mshard.open({one_path!r}); ds[0], ds.stats, ds.fields, repr(ds)
maps = open('/proc/self/maps').read()
print([name for name in ('libvips', 'libarchive', 'libglib') if name in maps])
"""
    assert run(code).strip() == "[]"


def test_import_is_thin():
    code = """
import sys, numpy
before = set(sys.modules)
import mshard
print(sorted(name for name in set(sys.modules) - before if not name.startswith('mshard')))
"""
    late = eval(run(code))
    assert not {"json", "zlib", "html", "torch", "ml_dtypes", "dataclasses", "asyncio"} & set(late), late


def test_cut_shard_is_an_error_not_a_crash(tmp_path):
    from conftest import write

    path = write(tmp_path / "a.msd", 100)
    shard = os.path.join(path, mshard.open(path).shards[0].name)
    os.truncate(shard, os.path.getsize(shard) - 4096)
    with pytest.raises(mshard.FormatError) as error:
        mshard.open(path)[0]
    assert error.value.code == "truncated" and error.value.path.endswith(".mshard")
