"""Writes samples of many fields: two cameras with all that moves with an image, and text."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

import fuelrail as fr
from fuelrail import fields as F

SCHEMA = fr.Schema(
    {
        "cameras": [
            {
                "image": F.Image(encode="png"),
                "mask": F.Mask(),
                "depth": F.Map(dtype="float32"),
                "boxes": F.Boxes("xyxy", rows="objects"),
                "labels": F.Label(rows="objects"),
                "points": F.Points(rows="objects", shape=(-1, 2, 3)),
                "matrix": F.CameraMatrix(shape=(3, 4), dtype="float64"),
            }
            for _ in range(2)
        ],
        "clip": F.Image(list=True, encode="npy"),
        "caption": F.Text(),
        "notes": F.Text(list=True),
    }
)


def pixels(random: np.random.Generator, height: int, width: int) -> np.ndarray:
    return random.integers(0, 256, (height, width, 3), dtype=np.uint8)


def camera(random: np.random.Generator) -> dict[str, Any]:
    """An image with up to four objects."""
    height, width = random.integers(12, 20), random.integers(12, 20)
    count = random.integers(0, 5)
    corners = random.uniform(0, 0.6, (count, 2)) * (width, height)
    sides = random.uniform(0.2, 0.4, (count, 2)) * (width, height)
    points = np.ones((count, 2, 3))
    points[..., :2] = corners[:, None] + sides[:, None] * random.uniform(0, 1, (count, 2, 2))
    return {
        "image": pixels(random, height, width),
        "mask": random.integers(0, 9, (height, width), dtype=np.uint8),
        "depth": random.uniform(0, 9, (height, width)).astype(np.float32),
        "boxes": np.concatenate([corners, corners + sides], axis=1).astype(np.float32),
        "labels": random.integers(0, 9, count),
        "points": points.astype(np.float32),
        "matrix": random.uniform(-1, 1, (3, 4)),
    }


def sample(number: int) -> dict[str, Any]:
    random = np.random.default_rng(number)
    return {
        "cameras": [camera(random), camera(random)],
        "clip": [pixels(random, 7, 9) for _ in range(number % 3)],
        "caption": f"sample {number}",
        "notes": [f"note {k} of {number}" for k in range(number % 3)],
    }


def write_samples(path: pathlib.Path, samples: list[dict[str, Any]]) -> pathlib.Path:
    """Packs the samples without looking at their images."""
    fr.pack(samples, path, schema=SCHEMA, verify_images=False)
    return path
