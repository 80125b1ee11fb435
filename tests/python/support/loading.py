"""Loaders of the tiny file, readers of their batches, and writers of record files."""

from __future__ import annotations

import itertools
import pathlib
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import fuelrail as fr
from fuelrail import transforms as T
from many_fields import bits
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


def rows_of(batch: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The bits of the rows of a flat batch. Packed columns are cut into rows, and the fill of
    padded columns is cut off: it depends on the other rows.
    """
    columns = []
    for name, column in batch.items():
        if name.endswith(".offsets"):
            continue
        rows = column if isinstance(column, list) else column.numpy()
        if (offsets := batch.get(f"{name}.offsets")) is not None:
            rows = [rows[begin:end] for begin, end in itertools.pairwise(offsets.numpy())]
        if (length := batch.get(f"{name}.length")) is not None:
            rows = [row[(*map(slice, n),)] for row, n in zip(rows, length.numpy(), strict=True)]
        columns.append([bits(row) for row in rows])
    return list(zip(*columns, strict=True))


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
