"""mshard.Dataset: the C module's data set with what trainers and notebooks look for."""

import os
from functools import cached_property
from types import MappingProxyType
from typing import Any, Mapping, NamedTuple

import numpy as np

from . import _mshard


class Field(NamedTuple):
    """One field of every record."""

    name: str
    dtype: str
    """'uint8', 'float16', 'bfloat16', ...; the numpy dtype is ds[name].dtype"""
    shape: tuple[int | None, ...]
    """of one value; () for a scalar, None for a dimension that differs from record to record"""
    content: str
    """'values', 'image', 'label', 'encoded' or 'text'"""
    scale: float
    """as a float a stored number means stored * scale + offset"""
    offset: float
    classes: list[str] | None
    """class names of a label field"""

    @property
    def variable(self) -> bool:
        """Values differ in shape from record to record."""
        return None in self.shape


class Stats(NamedTuple):
    """Figures of one field, taken when it was packed, in stored units. Tuples have one entry a channel."""

    channels: int
    values: int
    """values a channel"""
    nan: int
    inf: int
    min: tuple[float, ...]
    max: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    """of the population; NaN and infinities are left out"""
    counts: tuple[int, ...] | None
    """records of each class, for labels"""
    min_size: int | None
    """variable fields: bytes of the smallest value, and of the largest"""
    max_size: int | None


class Shard(NamedTuple):
    """One file of the data set."""

    name: str
    first_record: int
    records: int
    size: int
    """bytes"""
    header_sum: int


class Dataset(_mshard.Dataset):
    """A packed data set, open for reading. Every array is a read-only view of the mapped files.

    ds[i]           Sample, a named tuple: image, label = ds[0]; ds[0].image. Transforms are applied.
                    Scalar fields are Python's int, float and bool. A data set of one field gives a Sample of one.
    ds[a:b:c]       Batch of arrays [n, shape...]: views when the slice lies in one shard, else copies; variable fields
                    give lists of views. No transforms.
    ds[array]       Batch of copies; lists, ranges and masks of bool too. No transforms.
    ds["image"]     Column: all values of one field; ds["image"][i] is the fastest way to one value.
    "image" in ds   there is such a field. For keys: key in ds.keys, ds.keys.find(key).

    Views keep the files mapped after the data set is gone. Pickling and spawn send the path, absolute, and the id: the
    other side opens the files itself and refuses another data set at that path. fork() needs nothing. Threads share it.
    torch.from_numpy warns about read-only arrays: use torch.from_numpy(numpy.array(view)), or a slice's copy.

    IndexError: no such record. KeyError: no such field. mshard.FormatError: a shard is damaged, found when it is first used.
    """

    def __init__(self, path: str | bytes | os.PathLike[Any], check: str = "open") -> None:
        # The object is made by the C module; the path must still lead there when the working directory has changed.
        self._absolute = os.path.abspath(os.fsdecode(path))

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The fields in order: name -> Field. Read-only."""
        return MappingProxyType({row[0]: Field(*row) for row in self._fields_()})

    @cached_property
    def stats(self) -> dict[str, Stats]:
        """Field name -> Stats, for the fields that have them."""
        return {name: Stats(*row[:-1], *row[-1]) for name, row in self._stats_().items()}

    @cached_property
    def shards(self) -> list[Shard]:
        """The files, in record order."""
        return [Shard(*row) for row in self._shards_()]

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """All of dataset.json; empty for a single shard."""
        import json

        made: dict[str, Any] = json.loads(self._manifest_() or "{}")
        return made

    @property
    def source(self) -> dict[str, Any]:
        """What was packed: kind, inputs, skipped, ..."""
        made: dict[str, Any] = self.manifest.get("source", {})
        return made

    @property
    def options(self) -> dict[str, Any]:
        """The options it was packed with."""
        made: dict[str, Any] = self.manifest.get("options", {})
        return made

    @property
    def _label(self) -> Field | None:
        labels = [field for field in self.fields.values() if field.content == "label"]
        named = [field for field in labels if field.classes]
        return next(iter(named or labels), None)

    @property
    def classes(self) -> list[str] | None:
        """Class names of the label field (the first that has them); None without."""
        return None if self._label is None else self._label.classes

    @property
    def class_to_idx(self) -> dict[str, int] | None:
        """Class name -> number; None without classes."""
        return None if self.classes is None else {name: i for i, name in enumerate(self.classes)}

    @cached_property
    def targets(self) -> np.ndarray[Any, Any]:
        """The labels of all records, [len(ds)], read-only: a view when there is one shard.

        AttributeError: no field is a label.
        """
        if self._label is None:
            raise AttributeError("no field of this data set is a label")
        labels = np.asarray(self[self._label.name])
        labels.flags.writeable = False
        return labels

    def close(self) -> None:
        """Unmap the files now. BufferError while views are alive: they would dangle.

        `del ds` and the end of a with block unmap when the last view goes. Closing twice is harmless.
        """
        for name in ("targets",):
            self.__dict__.pop(name, None)
        super().close()

    def __enter__(self) -> "Dataset":
        return self

    def __exit__(self, *error: Any) -> None:
        self.__dict__.pop("targets", None)
        self._release()

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in self.__dict__.items()
                 if name not in ("fields", "stats", "shards", "manifest", "targets")}
        return _reopen, (type(self), self._absolute, self.check, self.id, self.transform, self.target_transform, state)

    def __copy__(self) -> "Dataset":
        made: Dataset = self._share()
        made.__dict__.update(self.__dict__)
        return made

    def __bool__(self) -> bool:
        return len(self) > 0

    def __repr__(self) -> str:
        from ._display import text

        return text(self)

    def _repr_html_(self) -> str:
        from ._display import html

        return html(self)


def _reopen(kind: type[Dataset], path: str, check: str, id: str, transform: Any, target_transform: Any,
            state: dict[str, Any]) -> Dataset:
    made = kind(path, check)
    if made.id != id:
        raise ValueError(f"{path}: another data set is there now: expected id {id}, found {made.id}")
    made.__dict__.update(state)
    made.transform, made.target_transform = transform, target_transform
    return made


def open(path: str | bytes | os.PathLike[Any], check: str = "open") -> Dataset:
    """Open the data set at path: its folder, or the dataset.json in it. A single shard file opens as a data set without
    classes, statistics and key index.

    check: 'open' compares the checksums of dataset.json and of each shard's header when it is first used; 'touch' each
        64 KiB block when it is first read, too; 'all' every byte of a shard when it is first used; 'none' only makes sure
        that nothing outside the files is read.
    FileNotFoundError: nothing is there. mshard.IncompleteError: packing did not finish. mshard.FormatError: a damaged or
    foreign file, or one that needs a newer version. OSError: it cannot be read.
    """
    return Dataset(path, check)
