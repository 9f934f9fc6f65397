"""Packing of raw files; not in builds made without libvips or libarchive. See mshard.pack."""

from typing import Any, Callable

version: str

def pack(
    inputs: list[bytes],
    out: bytes | None,
    options: dict[str, Any],
    dtypes: list[bytes],
    event: Callable[[tuple[Any, ...]], Any],
) -> dict[str, Any]: ...
