"""pack: raw files into a data set, where this build can."""

import importlib.util
import struct
import zlib

import numpy as np
import pytest

import mshard

if importlib.util.find_spec("mshard._pack") is None:
    pytest.skip("built without libvips or libarchive", allow_module_level=True)


def png(path, array):
    rows = np.zeros((array.shape[0], 1 + array.shape[1] * 3), np.uint8)
    rows[:, 1:] = array.reshape(array.shape[0], -1)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", array.shape[1], array.shape[0], 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b""))


@pytest.fixture
def pictures(tmp_path):
    rng = np.random.default_rng(3)
    images = {}
    for kind in ("cat", "dog"):
        for i in range(4):
            images[f"{kind}/{i}.png"] = rng.integers(0, 256, (8, 9, 3), dtype=np.uint8)
            png(tmp_path / "in" / kind / f"{i}.png", images[f"{kind}/{i}.png"])
    return tmp_path / "in", images


def test_folder(pictures, tmp_path):
    path, images = pictures
    events = []
    result = mshard.pack(path, tmp_path / "out.msd", keys=True, jobs=2, sync=False, progress=events.append)
    assert result.records == result.inputs == 8 and result.skipped == [] and result.path == str(tmp_path / "out.msd")
    ds = mshard.open(tmp_path / "out.msd")
    assert ds.id == result.id and ds.classes == ["cat", "dog"] and len(ds) == 8
    for i, (name, image) in enumerate(sorted(images.items())):
        assert np.array_equal(ds[i].image, image) and ds[i].label == (name[0] == "d")
    assert ds.keys.find(ds.keys[3]) == 3
    assert mshard.verify(tmp_path / "out.msd").ok
    assert {"phase"} <= {event.kind for event in events}


@pytest.mark.parametrize("dtype", ["float16", "float32", "int16"])
@pytest.mark.parametrize("variable", [False, True])
def test_pixels_of_another_dtype(pictures, tmp_path, dtype, variable):
    path, images = pictures
    mshard.pack(path, tmp_path / "out.msd", dtype={"image": dtype}, variable=variable, sync=False)
    ds = mshard.open(tmp_path / "out.msd")
    for i, (_, image) in enumerate(sorted(images.items())):
        assert ds[i].image.dtype == dtype and np.array_equal(ds[i].image, image.astype(dtype))


def test_npy(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(60, dtype=np.float16).reshape(5, 3, 4))
    mshard.pack([tmp_path / "a.npy"], tmp_path / "out.msd", sync=False)
    ds = mshard.open(tmp_path / "out.msd")
    (name,) = ds.fields
    assert np.array_equal(np.asarray(ds[name]), np.load(tmp_path / "a.npy"))


def test_options(pictures, tmp_path):
    mshard.pack(str(pictures[0]), tmp_path / "out.msd", resize=(6, 4), shards=2, shuffle=5, sync=False)
    ds = mshard.open(tmp_path / "out.msd")
    assert ds[0].image.shape == (4, 6, 3) and len(ds.shards) == 2


def test_dtype(tmp_path):
    values = np.linspace(0, 1, 60, dtype=np.float32).reshape(5, 12)
    np.save(tmp_path / "a.npy", values)
    result = mshard.pack(tmp_path / "a.npy", tmp_path / "half.msd", sync=False)  # float32 is kept only when asked for
    (name,) = mshard.open(tmp_path / "half.msd").fields
    column = mshard.open(tmp_path / "half.msd")[name]
    assert column.dtype == np.float16 and np.array_equal(np.asarray(column), values.astype(np.float16))
    assert 0 < result.largest_error < 1e-3 and "float16" in result.notes[0]
    for dtype in ({name: "float32"}, [f"{name}=float32"], f"{name}=float32"):
        result = mshard.pack(tmp_path / "a.npy", tmp_path / "wide.msd", dtype=dtype, overwrite=True, sync=False)
        assert np.array_equal(np.asarray(mshard.open(tmp_path / "wide.msd")[name]), values) and result.largest_error == 0


def test_dry_run(pictures):
    plan = mshard.pack(pictures[0], dry_run=True)
    assert isinstance(plan, dict) and not (pictures[0].parent / "out.msd").exists()


def test_damaged_inputs(pictures, tmp_path):
    for name in ("cat/0.png", "dog/2.png"):
        data = (pictures[0] / name).read_bytes()
        (pictures[0] / name).write_bytes(data[:60])
    with pytest.raises(mshard.FormatError) as error:
        mshard.pack(pictures[0], tmp_path / "out.msd", sync=False)
    assert error.value.code == "decode" and "cat/0.png" in error.value.path
    assert len(error.value.failures) == 2 and not (tmp_path / "out.msd").exists()
    result = mshard.pack(pictures[0], tmp_path / "out.msd", on_error="skip", sync=False)
    assert result.records == 6 and len(result.skipped) == 2
    assert isinstance(result.skipped[0][1], mshard.FormatError)


def test_errors(pictures, tmp_path):
    with pytest.raises(FileNotFoundError):
        mshard.pack(tmp_path / "nothing", tmp_path / "out.msd")
    mshard.pack(pictures[0], tmp_path / "out.msd", sync=False)
    with pytest.raises(FileExistsError):
        mshard.pack(pictures[0], tmp_path / "out.msd")
    for options in ({"on_error": "ignore"}, {"on_overflow": "wrap"}, {"shard_size": "12 parsecs"}, {"format": "nonsense"}, {"jobs": -1}, {"shuffle": -1}, {"jobs": 2**40}):
        with pytest.raises(ValueError):
            mshard.pack(pictures[0], tmp_path / "other.msd", **options)
    with pytest.raises(TypeError):
        mshard.pack(pictures[0])
    with pytest.raises(ValueError):
        mshard.pack([], tmp_path / "other.msd")


def test_exception_in_progress(pictures, tmp_path):
    def fails(event):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mshard.pack(pictures[0], tmp_path / "out.msd", progress=fails)
    assert not (tmp_path / "out.msd").exists()
