"""What moves with an image is moved as by torchvision's transforms v2, with the same numbers."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import fields as F
from fuelrail import transforms as T
from photographs import photograph
from torchvision_moves import between_pixels, moves
from torchvision_v2 import tv_tensors, v2

COUNT = 8
SEED = 7
FILL = 200
SCHEMA = fr.Schema(
    {
        "image": F.Image(encode="npy"),
        "mask": F.Mask(fill=FILL, encode="npy"),
        "boxes": F.Boxes("xyxy", rows="objects", dtype="float64"),
        "numbers": F.Label(rows="objects"),
    }
)


class Objects:
    """An image with random boxes, and a mask in which every pixel has a random number."""

    def __init__(self, number: int) -> None:
        random = np.random.default_rng(number)
        self.size = tuple(int(side) for side in random.integers(200, 1025, 2))
        height, width = self.size
        corners = random.uniform(0, 1, (12, 2, 2)) * (width, height)
        self.boxes = np.concatenate([corners.min(1), corners.max(1)], 1)
        self.mask = random.integers(0, 256, self.size, np.uint8)
        self.image = np.array(photograph(number, *self.size))

    def values(self) -> dict[str, Any]:
        numbers = np.arange(len(self.boxes))
        return {"image": self.image, "mask": self.mask, "boxes": self.boxes, "numbers": numbers}


@pytest.fixture(scope="module")
def objects() -> list[Objects]:
    return [Objects(number) for number in range(COUNT)]


@pytest.fixture(scope="module")
def file(objects: list[Objects], tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("torchvision") / "x.rec"
    fr.pack([one.values() for one in objects], path, schema=SCHEMA)
    return path


LISTS: dict[str, list[T.Transform]] = {
    "classification": [T.RandomResizedCrop((224, 300)), T.HorizontalFlip(), T.VerticalFlip()],
    "evaluation": [T.Resize(256), T.CenterCrop((224, 280))],
    "SSD": [
        T.RandomZoomOut((9, 8, 7), (1.0, 2.0)),
        T.RandomIoUCrop(),
        T.HorizontalFlip(),
        T.Resize((300, 310)),
    ],
    "large scale jitter": [
        T.ScaleJitter((500, 400), (0.3, 1.5)),
        T.RandomCrop((300, 350), pad_if_needed=True, fill=(1, 2, 3)),
        T.HorizontalFlip(),
    ],
    "shortest size": [T.HorizontalFlip(), T.RandomShortestSize([200, 300, 333], 400, "bicubic")],
    "mirrored": [
        T.Pad((30, 4, 5, 60), padding_mode="reflect"),
        T.RandomCrop((190, 150), (7, 9), padding_mode="symmetric"),
        T.Resize(None, max_size=211),
    ],
    "rotated": [T.RandomCrop(190), T.RandomRotation(60, "bilinear", fill=(5, 6, 7)), T.Pad(9)],
    "sheared": [
        T.VerticalFlip(),
        T.RandomAffine((-30, 45), (0.1, 0.3), (0.5, 1.5), 20, "bilinear", (1, 2, 3)),
        T.CenterCrop((180, 170)),
    ],
}


@pytest.mark.parametrize("name", LISTS)
def test_images_masks_and_boxes_are_torchvisions(
    name: str, file: pathlib.Path, objects: list[Objects]
) -> None:
    transforms = LISTS[name]
    loader = fr.Loader(
        file,
        COUNT,
        transforms=transforms,
        seed=SEED,
        dtype="uint8",
        fields=["image", "mask", "boxes", "numbers"],
    )
    with loader:
        ((images, masks, all_boxes, all_numbers),) = loader
    kept = 0
    for position, one in enumerate(objects):
        drawn = T.draw(transforms, one.size, SEED, 0, position, boxes=one.boxes)
        image, mask, boxes = torchvisions(transforms, one, position)
        made = row(images, position)
        levels = np.abs(made.astype(int) - image.numpy())
        assert levels.max() <= 1, position  # each list resamples once
        differs = row(masks, position) != mask.numpy()[0]
        assert not (differs & ~between_pixels(drawn)).any(), position

        numbers = row(all_numbers, position)
        valid = v2.functional.sanitize_bounding_boxes(boxes)[1].numpy()
        stay = np.flatnonzero(valid & ~drawn.removed)  # torchvision sets the removed boxes to 0
        if any(step["step"] == "warp" for step in drawn.steps):
            # torchvision keeps a box around a turned object of which nothing is visible.
            assert {*numbers} <= {*stay}
        else:
            assert numbers.tolist() == stay.tolist()
        assert np.abs(row(all_boxes, position) - boxes.numpy()[numbers]).max(initial=0) < 1e-4
        kept += len(numbers)
    assert kept > 4 * COUNT


def torchvisions(transforms: list[T.Transform], one: Objects, position: int) -> list[Any]:
    """The image, the mask and the boxes, moved by torchvision's functions."""
    values = [
        tv_tensors.Image(torch.from_numpy(one.image).permute(2, 0, 1)),
        tv_tensors.Mask(torch.from_numpy(one.mask)[None]),
        tv_tensors.BoundingBoxes(torch.from_numpy(one.boxes), format="XYXY", canvas_size=one.size),
    ]
    for move in moves(transforms, one.size, SEED, position, one.boxes, FILL):
        values = [move(value) for value in values]
    return [*values[:2], v2.functional.clamp_bounding_boxes(values[2])]


def row(column: Any, position: int) -> np.ndarray:
    return np.asarray(
        column[position] if isinstance(column, list) else np.asarray(column)[position]
    )
