"""mshard.Writer: what its arguments may look like, turned into what the C module takes."""

import os
from typing import Any, Mapping, Sequence

import numpy as np

from . import _mshard

_FieldSpec = Sequence[Any] | Mapping[str, Any]
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


class Writer(_mshard.Writer):
    """Makes a data set from arrays.

        with mshard.Writer("out.msd", {"image": ("uint8", (32, 32, 3)), "label": ("int64", ())}) as w:
            w.write({"image": array, "label": 3})
            w.write_batch({"image": images, "label": labels})   # a leading dimension of records

    fields: name -> (dtype, shape) or (dtype, shape, content), or a mapping with dtype, shape, content, scale, offset.
        dtype: bool, int8..int64, uint8..uint64, float16, bfloat16, float32, float64, by name or as numpy dtype.
        shape: of one record; () for a scalar, None for a dimension that differs from record to record.
        content: 'values', 'image', 'label', 'encoded' or 'text'. Left out: a uint8 field named `image` of two or three
        dimensions is an image, an integer scalar named `label` or given classes is a label, all else are values.
        scale, offset: what a stored number means as a float: stored * scale + offset.
    classes: class names: a list for the only label field, or a dict of field -> list.
    shard_size: bytes a shard aims at (0: 256 MiB); records_per_shard: exactly so many instead.
    align: of columns in the file, a power of two (0: 4096). keys: each write gives a key; makes the key index.
    overwrite: replace a data set at path when committed. sync=False: leave out fsync (scratch data).

    Leaving the with block commits; leaving it by an exception aborts. Nothing opens as a data set before.
    FileExistsError: something is at path. ValueError: a field breaks a rule. len(writer): records so far.
    """

    path: str
    fields: dict[str, tuple[str, tuple[int | None, ...], str]]

    def __new__(
        cls,
        path: str | bytes | os.PathLike[Any],
        fields: Mapping[str, _FieldSpec],
        classes: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
        *,
        shard_size: int = 0,
        records_per_shard: int = 0,
        align: int = 0,
        keys: bool = False,
        overwrite: bool = False,
        sync: bool = True,
    ) -> "Writer":
        if min(shard_size, records_per_shard, align) < 0 or max(shard_size, records_per_shard) >> 64 or align >> 32:
            raise ValueError("shard_size, records_per_shard and align are numbers from 0 on")
        specs = [_spec(name, given) for name, given in dict(fields).items()]
        by_field = _classes(classes, specs)
        specs = [(n, d, s, "label", sc, o) if n in by_field and c == "values" else (n, d, s, c, sc, o)
                 for n, d, s, c, sc, o in specs]
        made: "Writer" = super().__new__(cls, path, specs, [(name, list(names)) for name, names in by_field.items()],
                               shard_size, records_per_shard, align, keys, overwrite, sync)
        made.path = os.fsdecode(path)
        made.fields = {name: (dtype, shape, content) for name, dtype, shape, content, _, _ in specs}
        return made

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self.closed:
            return
        if kind is None:
            self.commit()
        else:
            self.abort()

    def __repr__(self) -> str:
        return f"<mshard.Writer {self.path!r}, {len(self)} records{', closed' if self.closed else ''}>"

    def __bool__(self) -> bool:
        return True  # a writer without records is no false value


_Spec = tuple[str, str, tuple[Any, ...], str, Any, float]


def _spec(name: str, given: _FieldSpec) -> _Spec:
    content: Any = None
    scale: Any = None
    offset = 0.0
    if isinstance(given, Mapping):
        unknown = given.keys() - {"dtype", "shape", "content", "scale", "offset"}
        if unknown or "dtype" not in given:
            raise ValueError(f"field {name}: expected dtype, shape, content, scale, offset, found {', '.join(map(str, given))}")
        dtype, shape, content = given["dtype"], given.get("shape", ()), given.get("content")
        scale, offset = given.get("scale"), float(given.get("offset", 0.0))
        if scale is None and "offset" in given:
            scale = 1.0
    elif isinstance(given, (tuple, list)) and len(given) in (2, 3):
        dtype, shape = given[0], given[1]
        content = given[2] if len(given) == 3 else None
    else:
        raise ValueError(f"field {name}: expected (dtype, shape) or (dtype, shape, content), found {given!r}")
    shape = (shape,) if shape is None or isinstance(shape, (int, np.integer)) else tuple(shape)
    dtype_name = _dtype_name(name, dtype)
    return name, dtype_name, shape, content or _content(name, dtype_name, shape), scale, offset


def _dtype_name(name: str, dtype: Any) -> str:
    if isinstance(dtype, str) and dtype == "bfloat16":
        return dtype
    try:
        made = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"field {name}: {dtype!r} is no dtype") from None
    return str(made.newbyteorder("=").name)


def _content(name: str, dtype: str, shape: tuple[Any, ...]) -> str:
    if name == "image" and dtype == "uint8" and (len(shape) == 2 or len(shape) == 3 and shape[2] in (1, 3)):
        return "image"
    if name == "label" and dtype in _INTEGERS and shape == ():
        return "label"
    return "values"


def _classes(classes: Any, specs: list[_Spec]) -> dict[str, list[str]]:
    if classes is None:
        return {}
    if isinstance(classes, Mapping):
        unknown = [name for name in classes if name not in {spec[0] for spec in specs}]
        if unknown:
            raise ValueError(f"classes: {unknown[0]!r} is no field")
        return {name: list(map(str, names)) for name, names in classes.items()}
    labels = [spec[0] for spec in specs if spec[3] == "label"]
    if len(labels) != 1:
        raise ValueError(f"classes: give a dict of field -> names, there are {len(labels)} label fields")
    return {labels[0]: list(map(str, classes))}
