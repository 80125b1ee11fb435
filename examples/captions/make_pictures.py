"""Draws pictures of two things, one above the other, with captions in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image, ImageDraw

SIDE = 56  # pixels of a picture's side
COLORS = {
    "red": (210, 50, 50),
    "green": (50, 160, 70),
    "blue": (50, 80, 210),
    "yellow": (230, 200, 50),
    "purple": (150, 50, 180),
    "white": (240, 240, 240),
}
SHAPES = ("disc", "square", "triangle", "cross")
CAPTIONS = (
    "a {upper} above a {lower}",
    "a {upper} over a {lower}",
    "a {lower} below a {upper}",
    "there is a {lower} under a {upper}",
)


class Pictures:
    """`count` samples. Like any dataset for torch's DataLoader, `fr.pack` takes it as it is."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> dict[str, Any]:
        if not 0 <= i < self.count:
            raise IndexError(i)
        random = np.random.default_rng((self.seed, i))
        picture = Image.new("RGB", (SIDE, SIDE), tuple(random.integers(60, 120, 3).tolist()))
        names = {}
        for place, y in (("upper", 0.27), ("lower", 0.73)):
            color, shape = str(random.choice(list(COLORS))), str(random.choice(SHAPES))
            names[place] = f"{color} {shape}"
            middle = SIDE * np.array([random.uniform(0.25, 0.75), y + random.uniform(-0.04, 0.04)])
            draw(picture, shape, COLORS[color], middle, SIDE * random.uniform(0.13, 0.2))
        pixels = np.asarray(picture) + random.normal(0, 6, (SIDE, SIDE, 3))
        chosen = random.permutation(CAPTIONS)[: random.integers(1, 4)]
        return {
            "image": pixels.clip(0, 255).astype(np.uint8),
            "captions": [str(caption).format(**names) for caption in chosen],
        }


def draw(
    picture: Image.Image,
    shape: str,
    color: tuple[int, int, int],
    middle: np.ndarray[Any, np.dtype[Any]],
    radius: float,
) -> None:
    x, y = middle.tolist()
    pen = ImageDraw.Draw(picture)
    if shape == "disc":
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)
    elif shape == "square":
        side = 0.85 * radius
        pen.rectangle((x - side, y - side, x + side, y + side), fill=color)
    elif shape == "triangle":
        pen.polygon(
            [(x, y - radius), (x + radius, y + radius), (x - radius, y + radius)], fill=color
        )
    else:
        thin = 0.35 * radius
        pen.rectangle((x - radius, y - thin, x + radius, y + thin), fill=color)
        pen.rectangle((x - thin, y - radius, x + thin, y + radius), fill=color)
