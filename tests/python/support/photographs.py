"""Creates and decodes images with Pillow."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

TINY_COUNT = 97


def photograph(seed: int, height: int, width: int) -> Image.Image:
    """An image that is as smooth and as noisy as a photograph."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (height // 16 + 2, width // 16 + 2, 3), dtype=np.uint8)
    smooth = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    noise = random.normal(0, 6, (height, width, 3))
    return Image.fromarray(np.clip(np.asarray(smooth) + noise, 0, 255).astype(np.uint8))


def encoded(image: Image.Image, kind: str = "JPEG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def pixels(data: bytes) -> np.ndarray:
    """Pillow's full decode, RGB."""
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
