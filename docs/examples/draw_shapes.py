#!/usr/bin/env python3
"""Draw a small set of class folders with real JPEG and PNG files: one folder a shape, sizes and colors vary.

    draw_shapes.py OUT [--count N] [--seed S]

Same arguments, same pictures. Needs Pillow.
"""
import argparse
import math
import pathlib
import random

from PIL import Image, ImageDraw, ImageFilter

CLASSES = ("circle", "cross", "ring", "square", "star", "triangle")


def polygon(cx, cy, r, corners, turn, inner=None):
    points = []
    steps = corners * (2 if inner else 1)
    for k in range(steps):
        radius = r if not inner or k % 2 == 0 else r * inner
        angle = turn + 2 * math.pi * k / steps
        points.append((cx + radius * math.sin(angle), cy - radius * math.cos(angle)))
    return points


def draw(shape, rng):
    width, height = rng.randint(80, 160), rng.randint(80, 160)
    dark = tuple(rng.randint(0, 110) for _ in range(3))
    light = tuple(rng.randint(140, 255) for _ in range(3))
    back, front = (dark, light) if rng.random() < 0.5 else (light, dark)
    image = Image.new("RGB", (width, height), back)
    pen = ImageDraw.Draw(image)
    for _ in range(12):  # a background with some texture, so that JPEG has work to do
        x, y = rng.randint(0, width), rng.randint(0, height)
        shade = tuple(max(0, min(255, c + rng.randint(-25, 25))) for c in back)
        pen.ellipse((x - 20, y - 20, x + 20, y + 20), fill=shade)
    r = rng.uniform(0.25, 0.42) * min(width, height)
    cx, cy = width / 2 + rng.uniform(-6, 6), height / 2 + rng.uniform(-6, 6)
    box = (cx - r, cy - r, cx + r, cy + r)
    turn = rng.uniform(-0.3, 0.3)
    if shape == "circle":
        pen.ellipse(box, fill=front)
    elif shape == "ring":
        pen.ellipse(box, outline=front, width=max(3, int(r / 3)))
    elif shape == "square":
        pen.polygon(polygon(cx, cy, r, 4, turn + math.pi / 4), fill=front)
    elif shape == "triangle":
        pen.polygon(polygon(cx, cy, r, 3, turn), fill=front)
    elif shape == "star":
        pen.polygon(polygon(cx, cy, r, 5, turn, inner=0.45), fill=front)
    else:
        arm = r / 3.2
        pen.rectangle((cx - r, cy - arm, cx + r, cy + arm), fill=front)
        pen.rectangle((cx - arm, cy - r, cx + arm, cy + r), fill=front)
    return image.filter(ImageFilter.SMOOTH)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=100, help="pictures a class (default 100)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for shape in CLASSES:
        folder = options.out / shape
        folder.mkdir(parents=True, exist_ok=True)
        rng = random.Random(f"{options.seed} {shape}")
        for i in range(options.count):
            image = draw(shape, rng)
            if i % 3 == 2:
                image.save(folder / f"{shape}-{i:04}.png")
            else:
                image.save(folder / f"{shape}-{i:04}.jpg", quality=88)


if __name__ == "__main__":
    main()
