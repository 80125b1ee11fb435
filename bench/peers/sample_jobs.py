"""The jobs of bench/samples.py, as all of its contenders know them."""

from __future__ import annotations

from typing import NamedTuple

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CAMERA = (720, 1280)  # height and width of a camera's picture
SCALED, CROPPED = (
    (396, 704),
    (384, 704),
)  # it is resized to the first size, and cropped to the second


class Job(NamedTuple):
    batch: int
    size: tuple[int, int]  # height and width of the images in a batch
    passes: int = 1  # over the file, in one measurement


JOBS = {
    "masks": Job(32, (512, 512)),
    "boxes": Job(16, (640, 640)),
    "cameras": Job(16, CROPPED),
    "raw": Job(256, (224, 224), 4),
    "squares": Job(256, (224, 224), 4),
}
