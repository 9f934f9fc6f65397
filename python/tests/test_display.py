"""repr and HTML: stable, escaped, with pictures."""

import base64
import re
import struct
import zlib

import numpy as np

import mshard


def test_repr(one_path, tmp_path):
    import shutil

    ds = mshard.open(one_path)
    lines = repr(ds).split("\n")
    assert lines[0] == f"mshard data set {ds.id}" and lines[1].startswith("10 records, 1 shard, ")
    assert re.fullmatch(r"image +uint8 +6 x 5 x 3 +image", lines[3]) and "label, 3 classes" in lines[4]
    other = shutil.copytree(one_path, tmp_path / "elsewhere")
    assert repr(mshard.open(other)) == repr(ds) and "one.msd" not in repr(ds) and "0x" not in repr(ds)


def test_repr_of_variable_fields(keyed_path):
    text = repr(mshard.open(keyed_path))
    assert "? x 2" in text and "keys" in text


def pixels(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts, size = 8, b"", None
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at:at + 8])
        data = png[at + 8:at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + data)
        if name == b"IHDR":
            size = struct.unpack(">IIBBBBB", data)
        parts += data if name == b"IDAT" else b""
        at += 12 + length
    width, height, channels = size[0], size[1], {2: 3, 0: 1}[size[3]]
    rows = np.frombuffer(zlib.decompress(parts), np.uint8).reshape(height, 1 + width * channels)
    assert (rows[:, 0] == 0).all()
    return rows[:, 1:].reshape(height, width, channels)


def test_html(ds, data):
    html = ds._repr_html_()
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    assert len(pictures) == 10 and html.count("<figure") == 10 and "<pre>" in html
    for i, picture in enumerate(pictures):
        assert np.array_equal(pixels(base64.b64decode(picture)), data["image"][i])
    assert "<b>&" not in html and "2: &lt;b&gt;&amp;" in html


def test_html_is_bounded(tmp_path):
    with mshard.Writer(tmp_path / "x", {"image": ("uint8", (500, 300))}, sync=False) as w:
        for i in range(40):
            w.write((np.full((500, 300), i, np.uint8),))
    html = mshard.open(tmp_path / "x")._repr_html_()
    pictures = re.findall(r'base64,([^"]+)"', html)
    assert len(pictures) == 16
    assert all(max(pixels(base64.b64decode(p)).shape) <= 96 for p in pictures) and len(html) < 100_000


def test_html_of_encoded_images(tmp_path):
    gif = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
    with mshard.Writer(tmp_path / "x", {"image": ("uint8", (None,), "encoded")}, sync=False) as w:
        w.write((gif,))
        w.write((b"not an image",))
    html = mshard.open(tmp_path / "x")._repr_html_()
    assert html.count("<img") == 1 and "data:image/gif;base64," + base64.b64encode(gif).decode() in html


def test_html_without_images(keyed_path):
    html = mshard.open(keyed_path)._repr_html_()
    assert html.startswith("<pre>") and "<img" not in html


def test_closed(one_path):
    ds = mshard.open(one_path)
    ds.close()
    assert repr(ds) == "<mshard data set, closed>" and "closed" in ds._repr_html_()
