"""Loaders of the tiny file, readers of their batches, and writers of record files."""

from __future__ import annotations

import pathlib
import struct
from collections.abc import Sequence

import numpy as np

import fuelrail as fr
from fuelrail import transforms as T
from photographs import pixels

FIELDS = ("id", "position", "valid", "label", "image")
CROP = [T.CenterCrop(4)]
MAGIC = 0xCED7230A


def arrays(batch: Sequence[fr.Array]) -> list[np.ndarray]:
    return [array.numpy() for array in batch]


def tiny(file: pathlib.Path, batch_size: int = 10, **options: object) -> fr.Loader:
    return fr.Loader(file, batch_size, **{"transforms": CROP, "fields": FIELDS, **options})


def epoch_ids(loader: fr.Loader) -> list[int]:
    return [i for batch in loader for i in batch[0].numpy().tolist()]


def batches(loader: fr.Loader) -> list[list[int]]:
    """The values of the first field in the rest of an epoch, batch by batch."""
    return [batch[0].numpy().tolist() for batch in loader]


def crop_of(encoded_image: bytes, height: int, width: int) -> np.ndarray:
    image = pixels(encoded_image)
    top, left = round((image.shape[0] - height) / 2), round((image.shape[1] - width) / 2)
    return image[top : top + height, left : left + width]


def framed(number: int, image: bytes) -> bytes:
    """A record in dmlc's framing (docs/formats/recordio.md); label and id are its number."""
    payload = struct.pack("<IfQQ", 0, number, number, 0) + image
    return struct.pack("<II", MAGIC, len(payload)) + payload + bytes(-len(payload) % 4)


def record_file(path: pathlib.Path, images: list[bytes]) -> pathlib.Path:
    """Writes images of any bytes, even those that `pack` would skip."""
    assert not any(struct.pack("<I", MAGIC) in image for image in images)
    path.write_bytes(b"".join(framed(i, image) for i, image in enumerate(images)))
    return path
