"""The contender torch DataLoader with Pillow on bench/inputs.py's samples: FOLDER KIND RECORDS SAVED RESIZE NORMALIZE.

Two workers call the provider. RESIZE: "pillow" or "torchvision". NORMALIZE: whether images are normalised in the "worker", or by
the "consumer", so that the workers send bytes in place of floats.
"""

from __future__ import annotations

import io
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from answer import serve
from PIL import Image
from sample_jobs import CAMERA, MEAN, SCALED, STD
from torch.utils.data import default_collate
from two_cameras import BATCH, TwoCameras, saving

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests" / "python" / "support"))
from torchvision_v2 import functional

WIDER, HIGHER = SCALED[1] / CAMERA[1], SCALED[0] / CAMERA[0]
ON_BOXES = np.array([WIDER, HIGHER, WIDER, HIGHER], np.float32)
ON_MATRIX = np.array([[WIDER], [HIGHER], [1]], np.float32)
LESS = torch.tensor([255 * value for value in MEAN]).view(3, 1, 1)
TIMES = torch.tensor([1 / (255 * value) for value in STD]).view(3, 1, 1)


def normalized(images: torch.Tensor) -> torch.Tensor:
    return images.to(torch.float32).sub_(LESS).mul_(TIMES)


class Samples(torch.utils.data.Dataset[dict[str, Any]]):
    def __init__(self, provider: TwoCameras, resize: str, normalizes: bool) -> None:
        self._provider, self._resize, self._normalizes = provider, resize, normalizes

    def __len__(self) -> int:
        return self._provider.get_number_of_samples()

    def __getitem__(self, index: int) -> dict[str, Any]:
        sample = self._provider.get_data(index)
        fields = {"scene": sample["scene"], "frame": sample["frame"]}
        for number, camera in sample["cameras"].items():
            moved = {
                "image": self._image(camera["image"]),
                "boxes": camera["boxes"] * ON_BOXES,
                "classes": camera["classes"],
                "intrinsics": camera["intrinsics"] * ON_MATRIX,
                "extrinsics": camera["extrinsics"],
            }
            fields.update({f"cameras.{number}.{name}": value for name, value in moved.items()})
        return fields

    def _image(self, given: np.ndarray[Any, Any]) -> torch.Tensor:
        if given.ndim == 1:
            given = Image.open(io.BytesIO(given)).convert("RGB")
        if self._resize == "pillow":
            image = given if isinstance(given, Image.Image) else Image.fromarray(given)
            pixels = np.array(image.resize(SCALED[::-1], Image.Resampling.BILINEAR))
            resized = torch.from_numpy(pixels).permute(2, 0, 1)
        else:
            pixels = torch.from_numpy(np.array(given)).permute(2, 0, 1)
            resized = functional.resize(pixels, SCALED, antialias=True)
        resized = resized.contiguous()
        return normalized(resized) if self._normalizes else resized


def collate(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Images go through shared memory, for which torch's own function writes them. Arrays are faster to send than tensors."""
    columns = {name: [sample[name] for sample in samples] for name in samples[0]}
    for name, column in columns.items():
        if name.endswith("image"):
            columns[name] = default_collate(column)
        elif name.endswith(("intrinsics", "extrinsics", "frame")):
            columns[name] = np.stack(column)
    return columns


def main() -> None:
    folder, kind, records = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    saved, resize, in_worker = pathlib.Path(sys.argv[4]), sys.argv[5], sys.argv[6] == "worker"
    torch.set_num_threads(1)
    provider = TwoCameras(folder, kind, records)
    begin = time.perf_counter()
    loader = torch.utils.data.DataLoader(
        Samples(provider, resize, in_worker),
        batch_size=BATCH,
        shuffle=True,
        num_workers=2,
        persistent_workers=True,
        collate_fn=collate,
    )

    def batches() -> Iterator[dict[str, Any]]:
        for batch in loader:
            for name, column in batch.items():
                if name.endswith("image"):
                    batch[name] = column if in_worker else normalized(column)
                elif isinstance(column, np.ndarray):
                    batch[name] = torch.from_numpy(column)
                elif isinstance(column[0], np.ndarray):
                    batch[name] = [torch.from_numpy(value) for value in column]
            yield batch

    next(batches())
    first = time.perf_counter() - begin

    def run(_: int) -> Iterator[int]:
        for batch in batches():
            yield len(batch["frame"])

    sum(saving(saved, batches()))
    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    main()
