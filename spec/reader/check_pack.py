#!/usr/bin/env python3
"""check_pack.py - what a packer wrote from raw bytes, in order and shuffled, read by the second reader

    check_pack.py RAW RECORD_SIZE PLAIN SHUFFLED SEED      exit status 1 when a record is not the one it must be
"""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [here, os.path.join(here, "..", "tools")]
import mshard_reader
import order


def main(raw, size, plain, shuffled, seed):
    size = int(size)
    with open(raw, "rb") as f:
        data = f.read()
    rows = [data[i:i + size] for i in range(0, len(data), size)]
    places = order.Permutation(len(rows), int(seed), 0)
    for path, expected in ((plain, rows), (shuffled, [rows[places.at(i)] for i in range(len(rows))])):
        found = mshard_reader.open_path(path)
        found.verify()
        assert [found.value(r, 0)[1] for r in range(found.records)] == expected, path


if __name__ == "__main__":
    main(*sys.argv[1:])
