"""Draws pictures of shapes on a noisy ground, with a mask of the shapes' classes."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from typing import Any

import numpy as np

SIDE = 96  # pixels of a picture's side

Plane = np.ndarray[Any, np.dtype[Any]]

# Each shape as a function of x and y, which are measured from its middle in units of its radius.
SHAPES: dict[str, Callable[[Plane, Plane], Plane]] = {
    "disc": lambda x, y: np.hypot(x, y) < 1,
    "ring": lambda x, y: abs(np.hypot(x, y) - 0.8) < 0.2,
    "cross": lambda x, y: (np.maximum(abs(x), abs(y)) < 0.95) & (np.minimum(abs(x), abs(y)) < 0.33),
    "triangle": lambda x, y: (y < 0.5) & (abs(x) * 3**0.5 < y + 1),
}
CLASSES = ["background", *SHAPES]  # the numbers in the masks


class Shapes:
    """`count` samples. Like any dataset for torch's DataLoader, `fr.pack` takes it as it is."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> dict[str, Any]:
        if not 0 <= i < self.count:
            raise IndexError(i)
        random = np.random.default_rng((self.seed, i))
        rows, columns = np.mgrid[:SIDE, :SIDE] + 0.5  # the middles of the pixels
        pixels = ground(random, rows, columns)
        mask = np.zeros((SIDE, SIDE), np.uint8)
        boxes, circles = [], []
        for _ in range(random.integers(2, 9)):
            (x, y), radius = random.uniform(8, SIDE - 8, 2), random.uniform(10, 20)
            if any(np.hypot(x - u, y - v) < radius + other for u, v, other in circles):
                continue  # would hide a part of another shape
            turn = np.exp(1j * random.uniform(-0.3, 0.3))
            places = (columns - x + 1j * (rows - y)) * turn / radius
            number = random.integers(1, len(CLASSES))
            inside = SHAPES[CLASSES[number]](places.real, places.imag)
            pixels[inside], mask[inside] = color(random), number
            boxes.append(box(inside))
            circles.append((x, y, radius))
        pixels += random.normal(0, 8, pixels.shape)
        return {
            "image": pixels.clip(0, 255).astype(np.uint8),
            "mask": mask,
            "boxes": np.array(boxes, np.float32),
            "middles": np.array(circles, np.float32)[:, :2],
        }


def color(random: np.random.Generator) -> Plane:
    return 255 * np.array(colorsys.hsv_to_rgb(*random.uniform((0, 0.2, 0.7), 1)))


def ground(random: np.random.Generator, rows: Plane, columns: Plane) -> Plane:
    """A gradient between two dark colours."""
    one, other = random.uniform(20, 90, (2, 3))
    part = (rows * random.uniform() + columns * random.uniform()) / (2 * SIDE)
    return one + (other - one) * part[..., None]


def box(inside: Plane) -> list[int]:
    """Left, top, right and bottom of the pixels that are true."""
    (x,), (y,) = inside.any(0).nonzero(), inside.any(1).nonzero()
    return [x[0], y[0], x[-1] + 1, y[-1] + 1]
