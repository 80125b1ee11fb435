"""Writes runs.tsv: the run lengths that pycocotools makes of polygons and of masks, from fixed random numbers.

    python -m venv /tmp/coco && /tmp/coco/bin/pip install pycocotools==2.0.11
    /tmp/coco/bin/python tests/golden/coco/make.py

A line a case, its parts separated by spaces; RUNS is the compressed string:
    polygon HEIGHT WIDTH RUNS X Y X Y ...
    mask    HEIGHT WIDTH RUNS N N ...       (the run lengths of random pixels, as a list)
"""

import pathlib
import random

import numpy as np
from pycocotools import mask

random.seed(20)


def coordinate(side: int, kind: int) -> float:
    """A number on a whole, half or fine grid, and one that may be outside."""
    low, high = (0, side) if kind < 4 else (-side, 2 * side)
    number = random.uniform(low, high)
    return [
        float(round(number)),
        round(2 * number) / 2,
        round(number, 2),
        number,
        round(number, 1),
    ][kind]


def polygon() -> str:
    height, width = random.randint(1, 40), random.randint(1, 40)
    kind, corners = random.randrange(5), random.randint(3, 9)
    xy = [coordinate((width, height)[i % 2], kind) for i in range(2 * corners)]
    if random.random() < 0.2:  # a corner twice
        xy += xy[-2:]
    runs = mask.frPyObjects([xy], height, width)[0]["counts"].decode()
    return f"polygon {height} {width} {runs} " + " ".join(map(repr, xy))


def pixels() -> str:
    height, width = random.randint(1, 60), random.randint(1, 60)
    random_pixels = np.random.default_rng(random.randrange(1000)).random((height, width))
    inside = np.asfortranarray(random_pixels < random.choice([0.0, 0.01, 0.5, 0.9, 1.0])).astype(
        np.uint8
    )
    column_by_column = inside.ravel(order="F").astype(int)
    changes = np.flatnonzero(np.diff(np.concatenate([[0], column_by_column])))
    lengths = np.diff(np.concatenate([[0], changes, [column_by_column.size]]))
    runs = mask.encode(np.asfortranarray(inside))["counts"].decode()
    return f"mask {height} {width} {runs} " + " ".join(map(str, lengths))


lines = [polygon() for _ in range(400)] + [pixels() for _ in range(12)]
(pathlib.Path(__file__).parent / "runs.tsv").write_text("\n".join(lines) + "\n")
