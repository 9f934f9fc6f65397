"""Sample views a second from Python, against ndarray[i], and what importing and opening cost beside importing numpy.

    python3 bench/bench_python_access.py [--folder DIR] [--records N] [--runs N]

One JSON line a case: medians of alternating runs in one process, in the form of bench/harness.h. Numbers are random record
numbers made beforehand; the loop itself is the same for all. Targets: ds[i] of two fields 0.4 of ndarray[i], ds["image"][i]
0.65, import and open under 30 ms beyond numpy.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import mshard

SHAPE = (32, 32, 3)


def make(path, records, per_shard):
    images = np.random.default_rng(0).integers(0, 256, (records, *SHAPE), dtype=np.uint8)
    with mshard.Writer(path, {"image": ("uint8", SHAPE), "label": ("int64", ())}, records_per_shard=per_shard, sync=False) as w:
        w.write_batch({"image": images, "label": np.arange(records) % 10})
    return images


def loop_rate(thing, numbers):
    """thing[i] a second, as written in a for loop."""
    begin = time.perf_counter()
    for i in numbers:
        thing[i]
    return len(numbers) / (time.perf_counter() - begin)


def named_rate(ds, numbers):
    """ds["image"][i] a second, the column looked up each time."""
    begin = time.perf_counter()
    for i in numbers:
        ds["image"][i]
    return len(numbers) / (time.perf_counter() - begin)


def report(name, unit, ours, reference, reference_is, target=None):
    line = {"bench": name, "unit": unit, "mshard": statistics.median(ours), "min": min(ours), "max": max(ours),
            "reference": statistics.median(reference), "reference_is": reference_is}
    line["ratio"] = line["mshard"] / line["reference"]
    if target is not None:
        line["target"] = target
    line["runs"] = len(ours)
    print(json.dumps(line), flush=True)


def alternate(cases, runs):
    """Name -> rates of runs rounds, each round running every case once."""
    rates = {name: [] for name in cases}
    for _ in range(runs):
        for name, case in cases.items():
            rates[name].append(case())
    return rates


def access(folder, records, runs):
    images = make(os.path.join(folder, "one.msd"), records, records)
    make(os.path.join(folder, "many.msd"), records, -(-records // 20))
    one, many = mshard.open(os.path.join(folder, "one.msd")), mshard.open(os.path.join(folder, "many.msd"))
    memmap = np.memmap(os.path.join(one.path, one.shards[0].name), np.uint8, "r", offset=one["image"].offset(), shape=images.shape)
    numbers = [random.Random(1).randrange(records) for _ in range(200_000)]
    rates = alternate({
        "ndarray": lambda: loop_rate(images, numbers),
        "memmap": lambda: loop_rate(memmap, numbers),
        "column": lambda: loop_rate(one["image"], numbers),
        "named": lambda: named_rate(one, numbers),
        "sample": lambda: loop_rate(one, numbers),
        "sample 20 shards": lambda: loop_rate(many, numbers),
        "label": lambda: loop_rate(one["label"], numbers),
    }, runs)
    reference = rates["ndarray"], "ndarray[i]"
    report("python memmap[i]", "views/s", rates["memmap"], *reference)
    report("python ds['image'][i]", "views/s", rates["named"], *reference, 0.65)
    report("python column[i]", "views/s", rates["column"], *reference, 0.65)
    report("python ds[i], two fields", "samples/s", rates["sample"], *reference, 0.4)
    report("python ds[i], two fields, 20 shards", "samples/s", rates["sample 20 shards"], *reference, 0.4)
    report("python column[i] of labels", "values/s", rates["label"], *reference)

    batch = np.random.default_rng(2).integers(0, records, 256)
    rates = alternate({
        "gather": lambda: batches(one["image"], batch),
        "numpy": lambda: batches(images, batch),
        "slice": lambda: loop_rate(one["image"], [slice(100, 164)] * 200_000),
        "ndarray slice": lambda: loop_rate(images, [slice(100, 164)] * 200_000),
    }, runs)
    report("python column[256 numbers]", "batches/s", rates["gather"], rates["numpy"], "ndarray[256 numbers]")
    report("python column[100:164]", "views/s", rates["slice"], rates["ndarray slice"], "ndarray[100:164]")


def batches(thing, numbers):
    begin = time.perf_counter()
    for _ in range(200):
        thing[numbers]
    return 200 / (time.perf_counter() - begin)


def startup(folder, runs):
    """Import mshard, open, take the first sample: in a fresh process, after numpy is there, compiled files cached."""
    program = f"""
import time, numpy
begin = time.perf_counter()
import mshard
mshard.open({os.path.join(folder, "one.msd")!r})[0]
print(time.perf_counter() - begin)
"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def start():
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
        return float(done.stdout) * 1e3

    start()
    times = [start() for _ in range(max(runs, 9))]
    print(json.dumps({"bench": "python import, open and first sample beyond numpy", "unit": "ms", "mshard": statistics.median(times),
                      "min": min(times), "max": max(times), "bound": 30, "runs": len(times)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", help="where to make the data (default: a temporary folder)")
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="bench-python-", dir=options.folder)
    try:
        access(folder, options.records, options.runs)
        startup(folder, options.runs)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
