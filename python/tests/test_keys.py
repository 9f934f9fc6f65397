"""Keys: a sequence of str that finds."""

import shutil

import numpy as np
import pytest

import mshard


def test_sequence(keyed_path):
    keys = mshard.open(keyed_path).keys
    assert len(keys) == 10 and keys[0] == "k0" and keys[-1] == "k9"
    assert keys[1:4] == ["k1", "k2", "k3"] and keys[::-4] == ["k9", keys[5], "k1"] and keys[[2, 2]] == ["k2", "k2"]
    assert list(keys)[:3] == ["k0", "k1", "k2"] and keys[np.int32(4)] == "k4" and keys[3:3] == []
    for wrong in (10, -11):
        with pytest.raises(IndexError):
            keys[wrong]
    assert "10" in repr(keys)


def test_find(keyed_path):
    keys = mshard.open(keyed_path).keys
    assert [keys.find(key) for key in keys] == list(range(10))
    assert keys.find(b"k4") == 4 and keys.find(b"\xff") == 5
    assert "k4" in keys and b"k4" in keys and "nothing" not in keys and 4 not in keys and "" not in keys
    assert "x" * 1000 not in keys
    with pytest.raises(KeyError, match="nothing"):
        keys.find("nothing")
    with pytest.raises(TypeError):
        keys.find(4)


def test_the_key_is_no_field(keyed_path):
    ds = mshard.open(keyed_path)
    assert list(ds.fields) == ["text", "grid"] and ds[0]._fields == ("text", "grid") and "__key__" not in ds


def test_without_keys(one_path):
    assert mshard.open(one_path).keys is None


def test_closed(keyed_path):
    ds = mshard.open(keyed_path)
    keys = ds.keys
    ds.close()
    for use in (lambda: keys[0], lambda: len(keys), lambda: keys.find("k0"), lambda: "k0" in keys):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert "closed" in repr(keys)


def test_damaged_index(tmp_path):
    path = tmp_path / "x"
    with mshard.Writer(path, {"x": ("int8", ())}, keys=True, sync=False) as w:
        w.write((1,), key="a")
    with open(path / "keys.mdb", "r+b") as file:
        file.seek(100)
        file.write(b"\xff")
    ds = mshard.open(path)
    assert ds.keys[0] == "a"
    with pytest.raises(mshard.FormatError) as error:
        ds.keys.find("a")
    assert error.value.code == "corrupt"


def test_keys_without_an_index(keyed_path, tmp_path):
    path = shutil.copytree(keyed_path, tmp_path / "copy")
    lines = (path / "dataset.json").read_text().split("\n")
    (path / "dataset.json").write_text("\n".join(line for line in lines if not line.startswith('"keys"')))
    (path / "keys.mdb").unlink()
    keys = mshard.open(path, check="none").keys  # its id is no longer right
    assert [keys.find(key) for key in keys] == list(range(10)) and "nothing" not in keys
