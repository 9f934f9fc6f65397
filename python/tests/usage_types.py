"""What users write, for a type checker: mypy --strict python/tests/usage_types.py (test_types.py runs it)."""

from typing import Any

import numpy as np
import numpy.typing as npt

import mshard

Image = npt.NDArray[np.uint8]


def read(path: str) -> int:
    ds = mshard.open(path, check="touch")
    sample: mshard.Sample = ds[0]
    image: Image
    image, label = ds[np.int64(1)]
    batch: mshard.Batch = ds[2:5]
    again: mshard.Batch = ds[[1, 2]]
    column: mshard.Column = ds["image"]
    array: npt.NDArray[Any] = np.asarray(column)
    names: tuple[str, ...] = sample._fields
    values: dict[str, Any] = again._asdict()
    shape: tuple[int | None, ...] = ds.fields["image"].shape
    if ds.keys is not None:
        number: int = ds.keys.find("a")
        assert ds.keys[number] == "a"
    if ds.class_to_idx is not None:
        ds.class_to_idx["cat"] + 1
    ds.transform = lambda x: x
    ds.target_transform = None
    mean: tuple[float, ...] = ds.stats["image"].mean
    for one in ds:
        print(one.image, one.label)
    with ds:
        pass
    batch.image.ndim + int(label)
    return len(ds) + len(names) + len(values) + len(shape) + len(mean) + array.ndim + image.ndim


def write(path: str, images: Image) -> None:
    with mshard.Writer(path, {"image": ("uint8", (32, 32, 3)), "label": (np.int64, ())}, ["cat", "dog"], keys=True) as w:
        w.write({"image": images[0], "label": 1}, key="a")
        w.write((images[0], 1), key=b"b")
        w.write_batch({"image": images, "label": [0, 1]}, keys=["c", "d"])


def check(path: str) -> list[mshard.Finding]:
    try:
        result = mshard.verify(path, subset="1/2", progress=lambda done, total: None)
    except mshard.IncompleteError as error:
        print(error.code, error.path, error.offset)
        return []
    return [] if result.ok else result.findings


def pack(path: str) -> int:
    result: mshard.PackResult = mshard.pack([path], "out", resize=(3, 4), dtype={"image": "float16"}, shard_size="1G", progress=print)
    plan: dict[str, Any] = mshard.pack(path, dry_run=True)
    return result.records + len(plan["classes"])
