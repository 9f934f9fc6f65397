"""mshard.pack: the command `mshard pack` as a function. libvips and libarchive load on the first call, not on import."""

import os
import re
from typing import Any, Callable, Iterable, Mapping, NamedTuple

from ._interrupt import interruptible

_Path = str | bytes | os.PathLike[Any]
_KINDS = {1: "progress", 2: "skipped", 3: "failed", 4: "note", 5: "phase"}
_ON_ERROR = {"stop": 0, "skip": 1}
_ON_OVERFLOW = {"error": 0, "clamp": 1, "inf": 2}
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class PackEvent(NamedTuple):
    """What `progress` is called with."""

    kind: str
    """'progress', 'skipped', 'failed', 'note' or 'phase'"""
    text: str | None
    path: str | None
    error: Exception | None
    done: int
    """inputs done, of total"""
    total: int
    bytes_in: int
    bytes_out: int
    skipped: int
    shards_done: int
    shards: int
    memory_limit: int
    """bytes of buffers this run holds at most"""


class PackResult(NamedTuple):
    """What pack did."""

    path: str
    id: str
    inputs: int
    records: int
    skipped: list[tuple[str, Exception]]
    """inputs left out with on_error='skip', and why"""
    ignored: int
    """files that are no inputs: hidden ones, other types"""
    duplicates: int
    bytes_in: int
    bytes_out: int
    shards: int
    largest_error: float
    """of conversion to float16, absolute"""
    overflowed: int
    notes: list[str]
    elapsed: float
    """seconds, verify_elapsed included"""
    verify_elapsed: float
    memory_limit: int


def pack(
    inputs: _Path | Iterable[_Path],
    out: _Path | None = None,
    *,
    format: str | None = None,
    resize: int | tuple[int, int] | None = None,
    crop: int | tuple[int, int] | None = None,
    gray: bool = False,
    encoded: bool = False,
    variable: bool = False,
    dtype: Mapping[str, str] | Iterable[str] | None = None,
    raw_dtype: str | None = None,
    raw_shape: str | Iterable[int] | None = None,
    raw_skip: int = 0,
    labels: _Path | None = None,
    shards: int = 0,
    shard_size: int | str = 0,
    align: int = 0,
    shuffle: int | None = None,
    keys: bool = False,
    on_error: str = "stop",
    on_overflow: str = "error",
    dry_run: bool = False,
    overwrite: bool = False,
    allow_empty: bool = False,
    sync: bool = True,
    jobs: int = 0,
    max_pixels: int = 0,
    max_member: int | str = 0,
    progress: Callable[[PackEvent], Any] | None = None,
) -> Any:
    """Pack raw files into the data set `out`: folders of images, archives, lists, .npy, CIFAR, idx, raw.

    The options are those of the command, `mshard pack --help`, and mean the same; sizes take '256M' as well.
    resize, crop: a number, or (width, height). dtype: {'image': 'float16'} or ['image=float16'].
    shuffle: the seed. progress: called with each PackEvent, from another thread; an exception raised there stops the
    pack, as Ctrl-C does, and nothing is left at out.

    Returns PackResult; with dry_run=True a dict: what would be packed. (Any for type checkers: annotate what you take.)
    FormatError (code 'decode'): inputs are damaged; `.failures` of the exception lists all of them as (path, error).
    FileExistsError: out exists. NotImplementedError: this build of the package was made without libvips or libarchive.
    ImportError: it was made with them, but they are not on this machine.
    """
    try:
        from ._pack import pack as pack_c
    except ModuleNotFoundError:
        raise NotImplementedError(
            "mshard.pack is not in this build: install libvips and libarchive with their headers (on Debian: apt-get "
            "install libvips-dev libarchive-dev) and build mshard again") from None
    if out is None and not dry_run:
        raise TypeError("pack() needs an output path, or dry_run=True")
    width, height = _two(crop)
    options: dict[str, Any] = dict(
        crop_width=width, crop_height=height, gray=int(gray), encoded=int(encoded), variable=int(variable),
        raw_skip=raw_skip, shards=shards, shard_size=_bytes("shard_size", shard_size), align=align, keys=int(keys),
        on_error=_choice("on_error", on_error, _ON_ERROR), on_overflow=_choice("on_overflow", on_overflow, _ON_OVERFLOW),
        dry_run=int(dry_run), overwrite=int(overwrite), allow_empty=int(allow_empty), no_sync=int(not sync), jobs=jobs,
        max_pixels=max_pixels, max_member=_bytes("max_member", max_member), shuffle=int(shuffle is not None),
        shuffle_seed=shuffle or 0)
    if isinstance(resize, int):
        options["resize"] = resize
    elif resize is not None:
        options["resize_width"], options["resize_height"] = _two(resize)
    texts = {"format": format, "raw_dtype": raw_dtype, "labels": None if labels is None else os.fsencode(labels),
             "raw_shape": raw_shape if raw_shape is None or isinstance(raw_shape, str) else ",".join(map(str, raw_shape))}
    options.update((name, text) for name, text in texts.items() if text is not None)
    for name, number in options.items():
        if isinstance(number, int) and not 0 <= number < 1 << 64:
            raise ValueError(f"{name} must be a number from 0 on, found {number}")
    return _run(pack_c, _paths(inputs), out, options, _dtypes(dtype), progress)


def _run(pack_c: Any, inputs: list[bytes], out: _Path | None, options: dict[str, Any], dtypes: list[bytes],
         progress: Callable[[PackEvent], Any] | None) -> Any:
    skipped: list[tuple[str, Exception]] = []
    failures: list[tuple[str, Exception]] = []
    notes: list[str] = []

    def call(check: Callable[[], None]) -> Any:
        def listen(event: Any) -> None:
            check()
            made = PackEvent(_KINDS.get(event[0], "note"), *event[1:])
            if made.kind == "skipped" and made.error is not None:
                skipped.append((made.path or "", made.error))
            elif made.kind == "failed" and made.error is not None:
                failures.append((made.path or "", made.error))
            elif made.kind == "note" and made.text:
                notes.append(made.text)
            if progress is not None:
                progress(made)

        return pack_c(inputs, None if out is None else os.fsencode(out), options, dtypes, listen)

    try:
        result = interruptible(call)
    except Exception as error:
        if failures:
            error.failures = failures  # type: ignore[attr-defined]
            for path, cause in failures[1:20]:
                error.add_note(f"also: {cause}")
            if len(failures) > 20:
                error.add_note(f"and {len(failures) - 20} more, in .failures")
        raise
    plan = result.pop("plan_json")
    if options["dry_run"]:
        import json

        return json.loads(plan)
    return PackResult(path=os.fsdecode(out or b""), notes=notes,
                      **{name: value for name, value in result.items() if name in PackResult._fields and name != "skipped"},
                      skipped=skipped)


def _paths(inputs: _Path | Iterable[_Path]) -> list[bytes]:
    if isinstance(inputs, (str, bytes, os.PathLike)):
        inputs = [inputs]
    made = [os.fsencode(path) for path in inputs]
    if not made:
        raise ValueError("pack() needs at least one input")
    return made


def _two(given: int | tuple[int, int] | None) -> tuple[int, int]:
    if given is None:
        return 0, 0
    if isinstance(given, int):
        return given, given
    width, height = given
    return width, height


def _dtypes(given: Mapping[str, str] | Iterable[str] | None) -> list[bytes]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"{field}={dtype}".encode() for field, dtype in given.items()]
    return [given.encode()] if isinstance(given, str) else [text.encode() for text in given]


def _choice(name: str, given: str, choices: dict[str, int]) -> int:
    if given not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, found {given!r}")
    return choices[given]


def _bytes(name: str, given: int | str) -> int:
    if isinstance(given, int):
        return given
    match = re.fullmatch(r"(\d+)\s*([kmgt]?)(?:i?b)?", given.strip().lower())
    if match is None:
        raise ValueError(f"{name} must be a number of bytes like 1048576 or '256M', found {given!r}")
    return int(match.group(1)) * _UNITS[match.group(2)]
