#!/usr/bin/env python3
"""assemble.py - annotated hex text (spec/vectors/README.md) to files

    assemble.py NAME.hex OUT      a shard: the file OUT; a data set: the files in the folder OUT
"""
import os
import sys


def assemble(path):
    """{file name: bytes}; the name of a lone shard is "" """
    files, name = {}, ""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            data = files.get(name)
            if line.startswith("| "):
                files.setdefault(name, bytearray()).extend(line[2:].encode() + b"\n")
                continue
            word, _, rest = line.partition("#")[0].strip().partition(" ")
            if not word:
                continue
            if word == "include":
                files.update(assemble(os.path.join(os.path.dirname(path), rest)))
            elif word == "file":
                name = rest
                files.setdefault(name, bytearray())
            elif word == "delete":
                del files[rest]
            elif word[0] == "@":
                size = int(word[1:], 16)
                data = files.setdefault(name, bytearray())
                data[size:] = bytes(max(0, size - len(data)))
            else:
                at, raw = int(word.rstrip(":"), 16), bytes.fromhex(rest)
                data = files.setdefault(name, bytearray())
                data.extend(bytes(max(0, at + len(raw) - len(data))))
                data[at:at + len(raw)] = raw
    return files


def write(path, out):
    files = assemble(path)
    if "" not in files:
        os.makedirs(out, exist_ok=True)
    for name, data in files.items():
        with open(os.path.join(out, name) if name else out, "wb") as f:
            f.write(data)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(sys.argv[1], sys.argv[2])
