"""The data set as a table: text, and HTML with thumbnails.

The table holds id and counts, never a path or an address: grain compares repr() when it restores a checkpoint. Names come
from files and are escaped. The pictures are PNGs made with zlib, or the files themselves where the field keeps them.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._dataset import Dataset, Field

_PICTURES = 16
_SIDE = 96  # pixels of a thumbnail at most
_ENCODED_LIMIT = 1 << 16  # bytes of an encoded file that goes into the page
_MAGIC = ((b"\xff\xd8\xff", "image/jpeg"), (b"\x89PNG\r\n\x1a\n", "image/png"), (b"GIF8", "image/gif"))


def _bytes(n: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n} bytes"


def _rows(ds: "Dataset") -> list[tuple[str, str, str, str]]:
    rows = [("field", "dtype", "shape", "content")]
    for field in ds.fields.values():
        shape = " x ".join("?" if d is None else str(d) for d in field.shape) or "scalar"
        classes = f", {len(field.classes)} classes" if field.classes else ""
        rows.append((field.name, field.dtype, shape, field.content + classes))
    return rows


def _title(ds: "Dataset") -> str:
    shards = len(ds.shards)
    keys = ", keys" if ds.keys is not None else ""
    return f"{len(ds)} records, {shards} shard{'' if shards == 1 else 's'}, {_bytes(ds.nbytes)}{keys}"


def text(ds: "Dataset") -> str:
    """What repr() shows."""
    if ds.closed:
        return "<mshard data set, closed>"
    rows = _rows(ds)
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([f"mshard data set {ds.id}", _title(ds), *lines])


def html(ds: "Dataset") -> str:
    """What notebooks show. Text in <pre> stands where the style is not trusted."""
    from html import escape

    plain = f"<pre>{escape(text(ds))}</pre>"
    if ds.closed:
        return plain
    field = next((f for f in ds.fields.values() if f.content in ("image", "encoded")), None)
    pictures = "" if field is None else "".join(_figure(ds, field, i) for i in _chosen(len(ds)))
    if not pictures:
        return plain
    return f'<div>{plain}<div style="display:flex;flex-wrap:wrap;gap:6px">{pictures}</div></div>'


def _chosen(n: int) -> list[int]:
    count = min(n, _PICTURES)
    return [i * n // count for i in range(count)]


def _figure(ds: "Dataset", field: "Field", i: int) -> str:
    from base64 import b64encode
    from html import escape

    value = ds[field.name][i]
    kind, data = _encoded(value) if field.content == "encoded" else ("image/png", _png(_thumbnail(value)))
    if not data:
        return ""
    caption = escape(_caption(ds, i))
    return (f'<figure style="margin:0;max-width:{_SIDE}px;font-size:11px;overflow-wrap:anywhere">'
            f'<img style="max-width:{_SIDE}px" alt="{caption}" src="data:{kind};base64,{b64encode(data).decode()}">'
            f"<figcaption>{caption}</figcaption></figure>")


def _caption(ds: "Dataset", i: int) -> str:
    label = next((f for f in ds.fields.values() if f.content == "label"), None)
    if label is None:
        return str(i)
    number = ds[label.name][i]
    if label.classes and 0 <= number < len(label.classes):
        return f"{i}: {label.classes[number]}"
    return f"{i}: {number}"


def _encoded(value: Any) -> tuple[str, bytes]:
    data = b"" if value.size > _ENCODED_LIMIT else value.tobytes()
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp", data
    return next(((kind, data) for magic, kind in _MAGIC if data.startswith(magic)), ("", b""))


def _thumbnail(value: Any) -> Any:
    """uint8 [height, width, 1 or 3], every n-th pixel."""
    image = value if value.ndim == 3 else value[:, :, None]
    step = max(1, -(-max(image.shape[:2]) // _SIDE))
    return np.ascontiguousarray(image[::step, ::step])


def _png(image: Any) -> bytes:
    import struct
    import zlib

    height, width, channels = image.shape
    if height == 0 or width == 0:
        return b""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each row starts with its filter, none
    rows[:, 1:] = image.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
            + chunk(b"IEND", b""))
