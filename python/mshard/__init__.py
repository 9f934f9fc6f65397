"""mshard: data sets packed once into memory-mapped shards, every sample a view into the page cache.

    ds = mshard.open("train.msd")
    image, label = ds[0]            # read-only numpy view, int
    ds["image"][100:164]            # one view, no copy

See Dataset, Column, Writer, pack and verify.
"""

from ._dataset import Dataset, Field, Shard, Stats, open
from ._mshard import Column, FormatError, IncompleteError, Keys
from ._mshard import version as __version__
from ._packing import PackEvent, PackResult, pack
from ._sample import Batch, Sample
from ._verify import Finding, VerifyResult, verify
from ._writer import Writer

__all__ = [
    "Batch",
    "Column",
    "Dataset",
    "Field",
    "Finding",
    "FormatError",
    "IncompleteError",
    "Keys",
    "PackEvent",
    "PackResult",
    "Sample",
    "Shard",
    "Stats",
    "VerifyResult",
    "Writer",
    "__version__",
    "open",
    "pack",
    "verify",
]
