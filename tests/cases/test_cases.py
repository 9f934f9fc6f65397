"""Every real file of the shared case collection against its expected value or expected refusal.

The expectations were computed by Pillow, numpy, tarfile, zipfile and bsdtar (see the collection's MANIFEST.md). The
collection is no part of this project: without it (MSHARD_CASES, else ../shared/cases) all tests here skip.
"""
import hashlib
import json
import os
import pathlib
import stat
import zipfile

import numpy as np
import pytest

import mshard

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = pathlib.Path(os.environ.get("MSHARD_CASES", ROOT.parent / "shared" / "cases"))

pytestmark = pytest.mark.skipif(not (CASES / "expected").is_dir(), reason=f"no case collection at {CASES}")


def expected(name):
    path = CASES / "expected" / f"{name}.json"
    return json.loads(path.read_text())["files"] if path.exists() else {}


def sha(data):
    return hashlib.sha256(data).hexdigest()


# Damaged PNGs that Pillow decodes all the same; docs/packing.md: mshard refuses them.
DAMAGED_PNG = {
    "png/libpng/crashers_badadler.png",
    "png/libpng/crashers_badcrc.png",
    "png/libpng/badpal_regression-palette-8.png",
}
IMAGES = expected("images")


@pytest.fixture(scope="module")
def packed_images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    listing = folder / "list.csv"
    listing.write_text("path\n" + "".join(f"{CASES / name}\n" for name in sorted(IMAGES)))
    result = mshard.pack([listing], folder / "out.msd", format="list", variable=True, keys=True, on_error="skip")
    skipped = {}
    log = folder / "out.msd" / "skipped.jsonl"
    if log.exists():
        for line in log.read_text().splitlines():
            row = json.loads(line)
            skipped[row["path"]] = row["reason"]
    return mshard.open(folder / "out.msd"), skipped, result


@pytest.mark.parametrize("name", sorted(IMAGES))
def test_image(name, packed_images):
    ds, skipped, _ = packed_images
    image = IMAGES[name]["image"]
    path = str(CASES / name)
    refusals = [reason for where, reason in skipped.items() if where.endswith(name)]
    if not image["ok"] or name in DAMAGED_PNG:
        assert refusals and refusals[0], f"{name} must be refused and named"
        return
    assert not refusals, refusals
    want = image.get("exif_transposed", image["as_stored"])
    pixels = ds[ds.keys.find(path)].image
    assert list(pixels.shape) == want["shape_hwc"]
    assert sha(pixels.tobytes()) == want["sha256"]


def test_images_add_up(packed_images):
    ds, skipped, result = packed_images
    assert len(ds) + len(skipped) == len(IMAGES)
    assert result.records == len(ds) and len(result.skipped) == len(skipped)


ARRAYS = expected("arrays")
NPY = {name: row["array"] for name, row in ARRAYS.items() if "array" in row}
IDX = {name: row["idx"] for name, row in ARRAYS.items() if "idx" in row}


def members():
    for name, array in sorted(NPY.items()):
        if "members" in array:
            for member, row in array["members"].items():
                yield name, member, row
        else:
            yield name, None, array


@pytest.mark.parametrize("name,member,row", [pytest.param(*m, id=f"{m[0]}:{m[1]}") for m in members()])
def test_array(name, member, row, tmp_path):
    spec = f"x={CASES / name}" + (f":{member}" if member else "")
    storable = "dtype" in row and "expect" not in row and len(row["shape"]) >= 1
    if not storable:
        with pytest.raises((mshard.FormatError, ValueError)) as caught:
            mshard.pack([spec], tmp_path / "out.msd", allow_empty=True)
        assert pathlib.Path(name).name in str(caught.value)
        assert not (tmp_path / "out.msd").exists()
        return
    exact = np.dtype(row["dtype"]).newbyteorder("=").name
    mshard.pack([spec], tmp_path / "exact.msd", dtype=[f"x={exact}"], allow_empty=True)
    ds = mshard.open(tmp_path / "exact.msd")
    assert len(ds) == row["shape"][0]
    column = np.asarray(ds["x"])
    assert list(column.shape) == row["shape"]
    assert sha(column.astype(np.dtype(exact).newbyteorder("<"), copy=False).tobytes()) == row["sha256_c_order_le"]
    if "f16" in row:
        if row["f16"]["overflow_to_inf"]:
            with pytest.raises(ValueError):
                mshard.pack([spec], tmp_path / "strict.msd", dtype=["x=float16"])
        mshard.pack([spec], tmp_path / "half.msd", dtype=["x=float16"], on_overflow="inf")
        assert sha(np.asarray(mshard.open(tmp_path / "half.msd")["x"]).tobytes()) == row["f16"]["sha256"]


@pytest.mark.parametrize("name", sorted(IDX))
def test_idx(name, tmp_path):
    row = IDX[name]
    if not row["ok"]:
        with pytest.raises(mshard.FormatError) as caught:
            mshard.pack([CASES / name], tmp_path / "out.msd", format="idx")
        assert pathlib.Path(name).name in str(caught.value)
        if "payload_expected" in row:
            assert str(row["payload_expected"]) in str(caught.value) and str(row["payload_found"]) in str(caught.value)
        return
    mshard.pack([CASES / name], tmp_path / "out.msd")
    ds = mshard.open(tmp_path / "out.msd")
    assert len(ds) == row["dims"][0]
    if len(row["dims"]) == 1:
        values = np.asarray(ds["label"]).astype("uint8")
        assert list(values[:10]) == row["first10"]
        assert list(np.bincount(values)) == row["histogram"]
    else:
        values = np.asarray(ds["image"])
        assert list(values.shape) == row["dims"]
    assert sha(values.tobytes()) == row["payload_sha256"]


ARCHIVES = expected("archives")
# What the reference reader lists, and mshard does not take for a record: twins of macOS metadata, hidden files.
HIDDEN = ("._", ".")


def zip_links(path):
    """Members of a zip that are symbolic links by their mode: the reference reader extracts them as links."""
    if not zipfile.is_zipfile(path):
        return set()
    with zipfile.ZipFile(path) as z:
        return {i.filename for i in z.infolist() if stat.S_ISLNK(i.external_attr >> 16)}


def regular(row, path):
    """name -> sha256 of regular members as Python's reader sees them; None when it cannot read the archive."""
    listing = row.get("tar") or row.get("zip")
    if not listing or "error" in listing:
        return None
    links = zip_links(path)
    found = {}
    for m in listing["members"]:
        if m.get("error") or m.get("encrypted") or "sha256" not in m or m["name"].endswith("/"):
            continue
        if m.get("type", "file") != "file" or os.path.basename(m["name"]).startswith(HIDDEN) or "__MACOSX" in m["name"]:
            continue
        if m["name"] + "/" in row["bsdtar"]["names"] or m["name"] in links:
            continue
        found.setdefault(m["name"], m["sha256"])
    return found


@pytest.mark.parametrize("name", sorted(ARCHIVES))
def test_archive(name, tmp_path):
    row = ARCHIVES[name]
    bsdtar = row.get("bsdtar", {})
    refused = bsdtar.get("list_rc") or bsdtar.get("extract_rc")
    out = tmp_path / "out.msd"
    try:
        mshard.pack([CASES / name], out, format="bytes", keys=True, allow_empty=True)
    except (mshard.FormatError, ValueError, NotImplementedError, FileExistsError) as err:
        assert pathlib.Path(name).name in str(err) or any(n and n in str(err) for n in bsdtar.get("names", []))
        assert not out.exists()
        names = bsdtar.get("names", [])
        duplicates = len(set(names)) != len(names)
        links = "hardlink" in name or "symlink" in name
        assert refused or duplicates or links, f"refused for no stated reason: {err}"
        return
    assert not refused, "the reference reader refuses this archive"
    ds = mshard.open(out)
    want = regular(row, CASES / name)
    if want is None:
        return
    got = {ds.keys[i]: sha(ds[i][0].tobytes()) for i in range(len(ds))}
    for member, digest in want.items():
        key = member.lstrip("/")
        while key.startswith("./"):
            key = key[2:]
        if key.isascii():
            assert got.get(key) == digest, member


def test_webdataset_sample(tmp_path):
    name = "archive/webdataset/sample.tgz"
    if not (CASES / name).exists():
        pytest.skip("not in this collection")
    mshard.pack([CASES / name], tmp_path / "out.msd", keys=True)
    ds = mshard.open(tmp_path / "out.msd")
    assert len(ds) == 90
    assert set(ds[0]._fields) == {"image", "label"}
    members = {m["name"]: m for m in ARCHIVES[name]["tar"]["members"]}
    for i in range(len(ds)):
        assert str(ds[i].label).encode() and sha(str(ds[i].label).encode()) == members[f"{ds.keys[i]}.cls"]["sha256"]
