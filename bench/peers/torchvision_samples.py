"""The contender torch DataLoader with Pillow and torchvision v2: JOB FOLDER RECORDS WORKERS.

It reads the files of FOLDER, repeated to RECORDS samples. torchvision moves masks and boxes with their image. It has no camera
matrices, so `cameras` draws the crop itself and moves the matrix by hand.
"""

from __future__ import annotations

import json
import pathlib
import random
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from answer import serve
from PIL import Image
from sample_jobs import CAMERA, CROPPED, JOBS, MEAN, SCALED, STD
from torch.utils.data import default_collate

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests" / "python" / "support"))
from torchvision_v2 import functional, tv_tensors, v2

TRANSFORMS = {
    "masks": v2.Compose([v2.RandomResizedCrop(512), v2.RandomHorizontalFlip()]),
    "boxes": v2.Compose(
        [
            v2.RandomIoUCrop(),
            v2.SanitizeBoundingBoxes(),
            v2.RandomHorizontalFlip(),
            v2.Resize((640, 640)),
        ]
    ),
    "cameras": v2.SanitizeBoundingBoxes(),
}
FLOATS = v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD, inplace=True)])


def moved(job: str, sample: dict[str, Any]) -> dict[str, Any]:
    """With its image in floats. Images that Pillow has decoded are channels-last, and faster to resize so; making them contiguous
    before they become floats is faster than after."""
    sample = TRANSFORMS[job](sample)
    return {**sample, "image": FLOATS(sample["image"].contiguous())}


def opened(path: pathlib.Path) -> Any:
    with Image.open(path) as image:
        return tv_tensors.Image(functional.pil_to_tensor(image.convert("RGB")))


def boxes_of(objects: dict[str, Any], size: tuple[int, int]) -> dict[str, Any]:
    boxes = torch.tensor(objects["boxes"])
    return {
        "boxes": tv_tensors.BoundingBoxes(boxes, format="XYXY", canvas_size=size),  # type: ignore[call-overload]
        "labels": torch.tensor(objects["labels"]),
    }


def read_masks(stem: pathlib.Path, _: Any) -> dict[str, Any]:
    with Image.open(stem.with_suffix(".png")) as mask:
        numbers = tv_tensors.Mask(functional.pil_to_tensor(mask)[0])
    return {"image": opened(stem.with_suffix(".jpg")), "mask": numbers}


def read_boxes(stem: pathlib.Path, objects: dict[str, Any]) -> dict[str, Any]:
    image = opened(stem.with_suffix(".jpg"))
    return {"image": image, **boxes_of(objects, image.shape[-2:])}


def read_camera(path: pathlib.Path, camera: dict[str, Any]) -> dict[str, Any]:
    sample = v2.Resize(SCALED)({"image": opened(path), **boxes_of(camera, CAMERA)})
    top = random.randint(0, SCALED[0] - CROPPED[0])
    for name in ("image", "boxes"):
        sample[name] = functional.crop(sample[name], top, 0, *CROPPED)
    (height, width), (rows, columns) = CAMERA, SCALED
    change = torch.tensor([[columns / width, 0, 0], [0, rows / height, -top], [0, 0, 1]])
    return {**moved("cameras", sample), "intrinsics": change @ torch.tensor(camera["intrinsics"])}


class Samples(torch.utils.data.Dataset[dict[str, Any]]):
    def __init__(self, job: str, folder: pathlib.Path, records: int) -> None:
        self._job, self._files, self._records = job, folder / "files", records
        self._annotations = json.loads((folder / "annotations.json").read_text())

    def __len__(self) -> int:
        return self._records

    def __getitem__(self, index: int) -> dict[str, Any]:
        index %= len(self._annotations)
        stem, annotation = self._files / f"{index:04}", self._annotations[index]
        if self._job == "cameras":
            sample: dict[str, Any] = {}
            for number, camera in enumerate(annotation):
                values = read_camera(stem.with_name(f"{stem.name}-{number}.jpg"), camera)
                sample.update({f"{number}.{name}": value for name, value in values.items()})
            return sample
        read = {"masks": read_masks, "boxes": read_boxes}[self._job]
        return moved(self._job, read(stem, annotation))


def collate(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Boxes and labels become lists. torch's own function writes the rest into shared memory."""
    columns = {name: [sample[name] for sample in samples] for name in samples[0]}
    return {
        name: column if name.endswith(("boxes", "labels")) else default_collate(column)
        for name, column in columns.items()
    }


def main() -> None:
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    records, workers = map(int, sys.argv[3:5])
    job = JOBS[name]
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="This DataLoader will create")
    begin = time.perf_counter()
    loader = torch.utils.data.DataLoader(
        Samples(name, folder, records),
        batch_size=job.batch,
        shuffle=True,
        num_workers=workers,
        persistent_workers=True,
        collate_fn=collate,
    )
    next(iter(loader))
    first = time.perf_counter() - begin

    def run(_: int) -> Iterator[int]:
        for batch in loader:
            yield len(next(iter(batch.values())))

    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    main()
