#!/usr/bin/env python3
"""Packing photographs: CPU against libvips decoding the same files alone, and the gain of a second job.

    bench_pack_images.py BUILD-FOLDER PHOTOS [--runs N]

PHOTOS is a folder of JPEG files at any depth; those that libvips cannot read are left out of both. Runs alternate; one JSON
line a figure. Needs the programs tools/mshard and bench/vips_decode of the build (make bench).
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import time


def run(command, stdin=None):
    """(wall seconds, user + system CPU seconds) of a command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(command, input=stdin, text=True, check=True, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("photos", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    mshard = options.build / "tools" / "mshard"
    vips = options.build / "bench" / "vips_decode"
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="mshard-bench-"))
    try:
        folder = scratch / "photos"
        folder.mkdir()
        files = []
        for i, path in enumerate(sorted(options.photos.rglob("*.jp*g"))):
            link = folder / f"{i:06}.jpg"
            os.symlink(path.resolve(), link)
            files.append(str(link))
        listing = "\n".join(files) + "\n"
        common = [mshard, "pack", folder, "--format", "flat", "--variable", "--on-error", "skip", "--quiet", "--overwrite"]

        def pack(jobs):
            command = [*map(str, common), "-o", str(scratch / "out.msd"), "-j", str(jobs)]
            try:
                return run(command)
            except subprocess.CalledProcessError as err:
                if err.returncode != 4:  # 4: done, inputs were left out
                    raise
                raise SystemExit(f"{options.photos}: holds files that do not decode; choose clean ones") from err

        run([vips], listing)  # files into the page cache
        cpu, alone, one, two = [], [], [], []
        for _ in range(options.runs):
            alone.append(run([vips], listing)[1])
            wall, used = pack(1)
            one.append(wall)
            cpu.append(used)
            two.append(pack(2)[0])
        median = statistics.median
        print(json.dumps({"bench": "pack photographs, user + system CPU", "unit": "s", "files": len(files), "mshard": median(cpu),
                          "reference": median(alone), "reference_is": "libvips decoding the same files alone",
                          "ratio": median(cpu) / median(alone), "runs": options.runs}))
        print(json.dumps({"bench": "pack photographs, -j 2 against -j 1", "unit": "s", "mshard": median(two), "reference": median(one),
                          "reference_is": "-j 1", "speedup": median(one) / median(two), "runs": options.runs}))
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
