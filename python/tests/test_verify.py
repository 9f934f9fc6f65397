"""verify: results, findings, parts, progress."""

import shutil

import pytest

import mshard


@pytest.fixture
def damaged(many_path, tmp_path):
    path = shutil.copytree(many_path, tmp_path / "damaged")
    ds = mshard.open(path)
    with open(path / ds.shards[1].name, "r+b") as file:
        file.seek(ds["image"].offset(1))
        byte = file.read(1)
        file.seek(ds["image"].offset(1))
        file.write(bytes([byte[0] ^ 255]))
    return path, ds.shards[1]


def test_good(ds):
    result = mshard.verify(ds.path)
    assert result.ok and result and result.findings == [] and result.shards == len(ds.shards)
    assert result.bad_blocks == 0 and result.blocks > 0 and result.bytes > 0
    for level in ("headers", "index"):
        assert mshard.verify(ds.path, level).ok


def test_damage(damaged):
    path, shard = damaged
    result = mshard.verify(path, threads=2)
    assert not result.ok and not result and result.bad_shards == 1 and result.bad_blocks == 1
    finding = next(f for f in result.findings if f.record_count)
    assert finding.code == "corrupt" and finding.shard == shard.name and finding.path.endswith(shard.name)
    assert finding.first_record <= shard.first_record < finding.first_record + finding.record_count
    assert shard.name in finding.message
    assert mshard.verify(path, "headers").ok


def test_one_shard_alone(damaged):
    path, shard = damaged
    assert not mshard.verify(path / shard.name).ok
    assert mshard.verify(path / "shard-000000.mshard").ok


def test_parts(ds):
    whole = mshard.verify(ds.path).blocks
    parts = [mshard.verify(ds.path, subset=(i, 3)) for i in (1, 2, 3)]
    assert all(p.ok for p in parts) and sum(p.blocks for p in parts) >= whole
    assert mshard.verify(ds.path, subset="2/2").ok and mshard.verify(ds.path, sample="50%", seed=3).ok
    assert mshard.verify(ds.path, sample=1.0).blocks == whole


@pytest.mark.parametrize("options", [{"subset": "0/2"}, {"subset": "3/2"}, {"subset": "x"}, {"subset": (1, 2, 3)}, {"sample": 0},
                                     {"sample": "200%"}, {"sample": "x"}, {"level": "some"}, {"threads": -1}, {"seed": -1}])
def test_bad_options(one_path, options):
    with pytest.raises(ValueError):
        mshard.verify(one_path, **options)


def test_progress(one_path):
    seen = []
    assert mshard.verify(one_path, progress=lambda done, total: seen.append((done, total))).ok
    assert seen and all(0 <= done <= total for done, total in seen)


def test_exception_in_progress(one_path):
    def fails(done, total):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mshard.verify(one_path, progress=fails)


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        mshard.verify(tmp_path / "nothing")
