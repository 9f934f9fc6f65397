"""Exceptions: which, and what they carry."""

import os
import pickle
import sys

import pytest

import mshard


def copy_of(path, tmp_path, name="copy"):
    import shutil

    return shutil.copytree(path, tmp_path / name)


def test_hierarchy():
    assert issubclass(mshard.FormatError, ValueError) and issubclass(mshard.IncompleteError, mshard.FormatError)


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        mshard.open(tmp_path / "nothing")
    assert error.value.filename == str(tmp_path / "nothing") and error.value.errno == 2


def test_foreign_folder(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(mshard.FormatError) as error:
        mshard.open(tmp_path)
    assert error.value.code == "format" and error.value.path and error.value.offset is None


def test_foreign_file(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises((mshard.FormatError, OSError)):
        mshard.open(tmp_path / "a.txt")


def test_incomplete(one_path, tmp_path):
    path = copy_of(one_path, tmp_path)
    os.remove(path / "dataset.json")
    with pytest.raises(mshard.IncompleteError) as error:
        mshard.open(path)
    assert error.value.code == "incomplete"


def test_changed_manifest(one_path, tmp_path):
    path = copy_of(one_path, tmp_path)
    text = (path / "dataset.json").read_text().replace('"dog"', '"fog"')
    (path / "dataset.json").write_text(text)
    with pytest.raises(mshard.FormatError) as error:
        mshard.open(path)
    assert error.value.code == "corrupt" and error.value.path.endswith("dataset.json")
    again = pickle.loads(pickle.dumps(error.value))
    assert (again.code, again.path, str(again)) == (error.value.code, error.value.path, str(error.value))


def test_levels_of_checking(one_path, tmp_path):
    path = copy_of(one_path, tmp_path)
    ds = mshard.open(path)
    at = ds["image"].offset()
    shard = path / ds.shards[0].name
    with open(shard, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))
    assert mshard.open(path)[0] and mshard.open(path, "none")[0]
    for check in ("touch", "all"):
        with pytest.raises(mshard.FormatError) as error:
            mshard.open(path, check)[0]
        assert error.value.code == "corrupt" and error.value.path == str(shard)
        with pytest.raises(mshard.FormatError):
            mshard.open(path, check)["image"][0:3]
        with pytest.raises(mshard.FormatError):
            mshard.open(path, check)[[1, 2]]
    with pytest.raises(ValueError, match="check"):
        mshard.open(path, "everything")


def test_missing_shard(many_path, tmp_path):
    path = copy_of(many_path, tmp_path)
    ds = mshard.open(path)
    os.remove(path / ds.shards[1].name)
    assert ds[0].label == 0
    with pytest.raises((FileNotFoundError, mshard.FormatError)) as error:
        ds[5]
    assert ds.shards[1].name in str(error.value)
    assert ds[9].label == 0  # the others go on


def test_paths(one_path):
    from pathlib import Path

    for path in (one_path, Path(one_path), os.fsencode(one_path), one_path + "/dataset.json"):
        assert len(mshard.open(path)) == 10
    with pytest.raises((TypeError, ValueError)):
        mshard.open("a\0b")
    with pytest.raises(TypeError):
        mshard.open(3)


def test_build_without_packing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mshard._pack", None)  # as if it were not there
    with pytest.raises(NotImplementedError, match="libvips-dev"):
        mshard.pack(tmp_path, tmp_path / "out.msd")
