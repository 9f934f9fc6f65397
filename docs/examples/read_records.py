#!/usr/bin/env python3
"""Open a data set and read every record as a numpy view, without a copy.

    python read_records.py train.msd
"""
import sys

import mshard

ds = mshard.open(sys.argv[1])
print(ds)
total = 0
for image, label in ds:
    total += int(image.sum(dtype="uint64"))
name = ds.classes[label] if ds.classes else "no name"
print(f"{len(ds):,} records, sum of all pixels {total}, last label {label} ({name})")
print("first image:", ds[0].image.shape, ds[0].image.dtype, "writable:", ds[0].image.flags.writeable)
