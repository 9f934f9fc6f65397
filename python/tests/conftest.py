"""Data sets the tests share, made once by mshard.Writer."""

import numpy as np
import pytest

import mshard

N = 10


def arrays():
    """The values of every data set here."""
    rng = np.random.default_rng(7)
    return {"image": rng.integers(0, 256, (N, 6, 5, 3), dtype=np.uint8), "label": np.arange(N, dtype=np.int64) % 3}


def write(path, per_shard, **options):
    with mshard.Writer(path, {"image": ("uint8", (6, 5, 3)), "label": ("int64", ())}, ["cat", "dog", "<b>&"],
                       records_per_shard=per_shard, sync=False, **options) as writer:
        writer.write_batch(arrays())
    return str(path)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def one_path(folder):
    """One shard of 10 records."""
    return write(folder / "one.msd", 100)


@pytest.fixture(scope="session")
def many_path(folder):
    """Shards of 4, 4 and 2 records."""
    return write(folder / "many.msd", 4)


@pytest.fixture(scope="session")
def keyed_path(folder):
    """Three shards, keys k0 .. k9, one of them not UTF-8, and text of different lengths."""
    path = folder / "keyed.msd"
    with mshard.Writer(path, {"text": ("uint8", (None,), "text"), "grid": ("float32", (None, 2))}, keys=True,
                       records_per_shard=4, sync=False) as writer:
        for i in range(N):
            writer.write(("x" * i, np.full((i, 2), i, np.float32)), key=b"\xff" if i == 5 else f"k{i}")
    return str(path)


@pytest.fixture(params=["one", "many"])
def ds(request, one_path, many_path):
    return mshard.open(one_path if request.param == "one" else many_path)


@pytest.fixture(scope="session")
def data():
    return arrays()
