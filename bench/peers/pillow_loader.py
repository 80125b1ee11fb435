"""The common pipeline: torch's DataLoader over an ImageFolder-style dataset, with torchvision's transforms on Pillow images.

SOURCE RECORDS WORKERS BATCH SIDE. SOURCE: a folder, whose files are repeated to RECORDS items. torchvision has no CPU-only build
here, so this program does what torchvision does with Pillow images (decode, crop, resize, transpose, to float, normalise).

SOURCE may also be a record file with its .idx beside it. In that case, boxes are drawn and pixels are resampled as in
ImageRecordIter.
"""

from __future__ import annotations

import io
import math
import os
import pathlib
import random
import struct
import sys
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import torch
from answer import serve
from PIL import Image

MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def torchvision_sides(area: float) -> tuple[float, float]:
    """Draws the (width, height) of a crop as RandomResizedCrop.get_params does with its defaults."""
    area *= random.uniform(0.08, 1.0)
    aspect = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
    return math.sqrt(area * aspect), math.sqrt(area / aspect)


def mxnet_sides(area: float) -> tuple[float, float]:
    """Draws the (width, height) of a crop as random_resized_crop does with the same limits (docs/mxnet_augmentation.md)."""
    area *= random.uniform(0.08, 1.0)
    aspect = random.uniform(3 / 4, 4 / 3)
    sides = math.sqrt(area * aspect), math.sqrt(area / aspect)
    return sides if random.random() <= 0.5 else sides[::-1]


def random_box(
    width: int, height: int, sides: Callable[[float], tuple[float, float]]
) -> tuple[int, int, int, int]:
    """Returns (left, top, right, bottom) of the first of ten boxes that fits, or of the centre square if none fits."""
    for _ in range(10):
        w, h = map(round, sides(width * height))
        if 0 < w <= width and 0 < h <= height:
            left, top = random.randint(0, width - w), random.randint(0, height - h)
            return left, top, left + w, top + h
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    return left, top, left + side, top + side


class Files:
    """The encoded images of a folder, repeated."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._files = sorted(map(str, folder.iterdir()))

    def read(self, index: int) -> tuple[bytes, int]:
        label = index % len(self._files)
        with open(self._files[label], "rb") as file:
            return file.read(), label


class Records:
    """The encoded images of a record file, without dmlc's frame (8 bytes) and MXNet's header (24 bytes)."""

    def __init__(self, path: pathlib.Path) -> None:
        lines = path.with_suffix(".idx").read_text().splitlines()
        self._offsets = [int(line.split("\t")[1]) for line in lines]
        self._file = path.open("rb", buffering=0)

    def read(self, index: int) -> tuple[bytes, int]:
        offset = self._offsets[index]
        size = struct.unpack("<II", os.pread(self._file.fileno(), 8, offset))[1] & (1 << 29) - 1
        payload = os.pread(self._file.fileno(), size, offset + 8)
        return payload[24:], int(struct.unpack_from("<f", payload, 4)[0])


def normalised(pixels: np.ndarray) -> torch.Tensor:
    tensor = torch.from_numpy(pixels).permute(2, 0, 1).contiguous().float().div_(255)
    return tensor.sub_(MEAN).div_(STD)


class Photographs(torch.utils.data.Dataset[tuple[torch.Tensor, int]]):
    def __init__(self, source: pathlib.Path, records: int, side: int) -> None:
        self._as_mxnet = source.is_file()
        self._images: Files | Records = Records(source) if self._as_mxnet else Files(source)
        self._records = records
        self._side = side

    def __len__(self) -> int:
        return self._records

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        encoded, label = self._images.read(index)
        image = Image.open(io.BytesIO(encoded)).convert("RGB")
        shape = (self._side, self._side)
        if self._as_mxnet:  # not antialiased
            box = random_box(image.width, image.height, mxnet_sides)
            crop = image.transform(shape, Image.Transform.EXTENT, box, Image.Resampling.BILINEAR)
        else:
            crop = image.crop(random_box(image.width, image.height, torchvision_sides))
            crop = crop.resize(shape, Image.Resampling.BILINEAR)
        if random.random() < 0.5:
            crop = crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return normalised(np.array(crop)), label


def run_with(kind: type[Photographs]) -> None:
    source, records, workers, batch, side = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:6])
    torch.set_num_threads(1)
    warnings.filterwarnings(
        "ignore", message="This DataLoader will create"
    )  # worker counts above the number of cores are tried too
    begin = time.perf_counter()
    loader = torch.utils.data.DataLoader(
        kind(source, records, side),
        batch_size=batch,
        shuffle=True,
        num_workers=workers,
        persistent_workers=True,
    )
    next(iter(loader))
    first = time.perf_counter() - begin

    def run(_: int) -> Iterator[int]:
        for images, _labels in loader:
            yield len(images)

    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    run_with(Photographs)
