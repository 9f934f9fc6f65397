#!/usr/bin/env python3
"""order.py - spec/order.md as a program; prints vectors/order.json

Independent of the C library: the numbers it prints are what every implementation must give.
"""
import json

MASK, GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15
FACTOR1, FACTOR2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix(x):
    x = (x ^ x >> 30) * FACTOR1 & MASK
    x = (x ^ x >> 27) * FACTOR2 & MASK
    return x ^ x >> 31


def random(seed, epoch, index, stream):
    h = mix(seed + GOLDEN & MASK)
    for word in (epoch, stream, index):
        h = mix((h ^ word) + GOLDEN & MASK)
    return mix(h + GOLDEN & MASK)


class Permutation:
    def __init__(self, n, seed, epoch):
        self.n, bits = n, (n - 1).bit_length()
        self.left, self.right = bits // 2, bits - bits // 2
        self.passes = 4 if bits <= 8 else 1
        self.keys = [random(seed, epoch, r, 2**63 + n) for r in range(6)]

    def at(self, i):
        while True:
            i = self.encrypt(i)
            if i < self.n:
                return i

    def encrypt(self, x):
        low, high = x % (1 << self.right), x >> self.right
        for p in range(self.passes):
            for r in (0, 2, 4):
                high ^= round_value(low, self.keys[r] + p * GOLDEN & MASK) % (1 << self.left)
                low ^= round_value(high, self.keys[r + 1] + p * GOLDEN & MASK) % (1 << self.right)
        return high << self.right | low


def round_value(x, key):
    z = (x ^ key) * FACTOR1 & MASK
    z = (z ^ z >> 32) * FACTOR2 & MASK
    return z >> 32


def main():
    numbers = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (MASK, MASK, MASK, MASK), (42, 7, 123456789, 3)]
    rows = [json.dumps({"seed": str(s), "epoch": str(e), "index": str(i), "stream": str(t), "random": "%016x" % random(s, e, i, t)})
            for s, e, i, t in numbers]
    orders = []
    for n, seed, epoch in ((1, 0, 0), (2, 0, 0), (2, 1, 0), (3, 0, 0), (7, 5, 1), (16, 0, 0), (16, 0, 1), (17, 0, 0), (100, 1, 2), (257, 9, 0)):
        p = Permutation(n, seed, epoch)
        order = [p.at(i) for i in range(n)]
        assert sorted(order) == list(range(n))
        orders.append(json.dumps({"n": n, "seed": seed, "epoch": epoch, "first": order[:32]}))
    for n in (1000, 65535, 65536, 65537, 10**6, 2**32, 2**32 + 1, 10**10, 2**40 - 1, 2**40):
        p = Permutation(n, 42, 3)
        orders.append(json.dumps({"n": n, "seed": 42, "epoch": 3, "first": [p.at(i) for i in range(8)], "last": p.at(n - 1)}))
    print('{\n"random": [\n ' + ",\n ".join(rows) + '\n],\n"permutations": [\n ' + ",\n ".join(orders) + "\n]\n}")


if __name__ == "__main__":
    main()
