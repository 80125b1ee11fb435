"""What most people run: torch's DataLoader over an ImageFolder-style dataset, torchvision's transforms on Pillow images.

FOLDER RECORDS WORKERS BATCH SIDE: the folder's files, repeated to RECORDS items. torchvision itself has no build for the
processor alone here; the transforms are its Pillow path, operation by operation (decode, crop, resize, transpose,
to float, normalise).
"""

from __future__ import annotations

import math
import pathlib
import random
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
import torch
from answer import serve
from PIL import Image

MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def random_box(width: int, height: int) -> tuple[int, int, int, int]:
    """torchvision's RandomResizedCrop.get_params with its defaults; left, top, right, bottom."""
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1.0)
        aspect = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            top, left = random.randint(0, height - h), random.randint(0, width - w)
            return left, top, left + w, top + h
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    return left, top, left + side, top + side


class Photographs(torch.utils.data.Dataset[tuple[torch.Tensor, int]]):
    def __init__(self, folder: pathlib.Path, records: int, side: int) -> None:
        self._files = sorted(map(str, folder.iterdir()))
        self._records = records
        self._side = side

    def __len__(self) -> int:
        return self._records

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        label = index % len(self._files)
        with open(self._files[label], "rb") as file:
            image = Image.open(file).convert("RGB")
        crop = image.crop(random_box(image.width, image.height))
        crop = crop.resize((self._side, self._side), Image.Resampling.BILINEAR)
        if random.random() < 0.5:
            crop = crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        tensor = torch.from_numpy(np.array(crop)).permute(2, 0, 1).contiguous().float().div_(255)
        return tensor.sub_(MEAN).div_(STD), label


def main() -> None:
    folder, records, workers, batch, side = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:6])
    torch.set_num_threads(1)
    warnings.filterwarnings(
        "ignore", message="This DataLoader will create"
    )  # more workers than cores are tried too
    begin = time.perf_counter()
    loader = torch.utils.data.DataLoader(
        Photographs(folder, records, side),
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
    main()
