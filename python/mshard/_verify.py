"""mshard.verify: check a data set or one shard."""

import os
from typing import Any, Callable, NamedTuple

from . import _mshard
from ._interrupt import interruptible

_LEVELS = {"headers": 1, "index": 2, "all": 3}


class Finding(NamedTuple):
    """One fault."""

    message: str
    """path, byte, what was expected and what was found"""
    code: str
    """'corrupt', 'truncated', ...: as FormatError.code"""
    path: str
    offset: int | None
    """byte in path, where there is one"""
    shard: str | None
    """file name of the shard"""
    field: str | None
    byte_offset: int
    """the damaged bytes of the shard; byte_size 0 when it is not about bytes"""
    byte_size: int
    first_record: int
    """records touched: first_record and the record_count - 1 after it; 0: none, or it cannot be said"""
    record_count: int


class VerifyResult(NamedTuple):
    """What verify found. True when all is well."""

    findings: list[Finding]
    shards: int
    bad_shards: int
    blocks: int
    """blocks of 64 KiB compared with their checksums"""
    bad_blocks: int
    bytes: int
    """read and compared"""
    bad_records: int

    @property
    def ok(self) -> bool:
        """No fault was found."""
        return not self.findings

    def __bool__(self) -> bool:
        return self.ok


def verify(
    path: str | bytes | os.PathLike[Any],
    level: str = "all",
    *,
    subset: str | tuple[int, int] | None = None,
    sample: float | str | None = None,
    threads: int = 0,
    seed: int = 0,
    progress: Callable[[int, int], Any] | None = None,
) -> VerifyResult:
    """Check the data set (folder) or shard (file) at path; every fault is reported, not only the first.

    level: 'headers' (dataset.json, shard headers, sizes), 'index' (and offsets of variable fields, keys.mdb) or 'all'
        (and every byte against its checksum).
    subset: part of the blocks, '2/5' or (2, 5). sample: share of the blocks, 0.025 or '2.5%', chosen by seed.
    threads: 0 for as many as the machine gives. progress: called with bytes done and bytes in all, from another thread;
        an exception raised there ends the check. Ctrl-C does too.
    FileNotFoundError, FormatError, OSError: the check could not run. Damage is in the result, not raised.
    """
    if level not in _LEVELS:
        raise ValueError(f"level must be 'headers', 'index' or 'all', found {level!r}")
    if not 0 <= threads < 1 << 16 or not 0 <= seed < 1 << 64:
        raise ValueError(f"threads and seed are numbers from 0 on, found {threads} and {seed}")
    part, parts = _subset(subset)
    share = _share(sample)

    def call(check: Callable[[], None]) -> Any:
        def tick(done: int, total: int) -> None:
            check()
            if progress is not None:
                progress(done, total)

        return _mshard.verify(path, _LEVELS[level], threads, part, parts, share, seed, tick)

    findings, *figures = interruptible(call)
    return VerifyResult([Finding(*finding) for finding in findings], *figures)


def _subset(given: str | tuple[int, int] | None) -> tuple[int, int]:
    if given is None:
        return 0, 0
    try:
        part, parts = given.split("/") if isinstance(given, str) else given
        numbers = int(part), int(parts)
    except (TypeError, ValueError):
        raise ValueError(f"subset must be like '2/5', found {given!r}") from None
    if not 1 <= numbers[0] <= numbers[1]:
        raise ValueError(f"subset: part {numbers[0]} of {numbers[1]} does not exist")
    return numbers


def _share(given: float | str | None) -> float:
    if given is None:
        return 0.0
    try:
        share = float(given[:-1]) / 100 if isinstance(given, str) and given.endswith("%") else float(given)
    except ValueError:
        raise ValueError(f"sample must be like 0.025 or '2.5%', found {given!r}") from None
    if not 0 < share <= 1:
        raise ValueError(f"sample must be above 0 and at most 1 (100%), found {given!r}")
    return share
