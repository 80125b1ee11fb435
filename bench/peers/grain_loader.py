"""The contender Google Grain with OpenCV: FILES RECORDS WORKERS BATCH SIDE. FILES: a folder, whose files are repeated.

OpenCV decodes whole images, resizes crops with `INTER_AREA`, and normalises with a table. Batches are NHWC, which is the faster
layout. The workers are processes; as many as cores are best. They work on an endless dataset, because a new epoch would start new
processes. What they have made ahead is discarded before each measurement.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Iterator

import cv2
import grain
import numpy as np
from answer import serve
from sample_jobs import MEAN, STD

TABLE = ((np.arange(256)[:, None] / 255 - MEAN) / STD).astype(np.float32)[None]
MODE = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION


class Files:
    """The encoded images of a folder, repeated."""

    def __init__(self, folder: pathlib.Path, records: int) -> None:
        self._files, self._records = sorted(map(str, folder.iterdir())), records

    def __len__(self) -> int:
        return self._records

    def __getitem__(self, index: int) -> tuple[bytes, int]:
        label = index % len(self._files)
        with open(self._files[label], "rb") as file:
            return file.read(), label


def random_box(width: int, height: int, random: np.random.Generator) -> tuple[int, int, int, int]:
    """Returns (left, top, width, height) of the first of ten boxes that fits, or of the centre square if none fits."""
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1.0)
        aspect = np.exp(random.uniform(np.log(3 / 4), np.log(4 / 3)))
        w, h = round((area * aspect) ** 0.5), round((area / aspect) ** 0.5)
        if 0 < w <= width and 0 < h <= height:
            return random.integers(width - w + 1), random.integers(height - h + 1), w, h
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, side, side


class Augment(grain.transforms.RandomMap):
    def __init__(self, side: int) -> None:
        self._side = side

    def random_map(
        self, sample: tuple[bytes, int], rng: np.random.Generator
    ) -> tuple[np.ndarray, int]:
        encoded, label = sample
        image = cv2.imdecode(np.frombuffer(encoded, np.uint8), MODE)
        left, top, w, h = random_box(image.shape[1], image.shape[0], rng)
        crop = image[top : top + h, left : left + w]
        crop = cv2.resize(crop, (self._side, self._side), interpolation=cv2.INTER_AREA)
        if rng.random() < 0.5:
            crop = cv2.flip(crop, 1)
        return cv2.LUT(crop, TABLE), label


def one_thread(_worker: int, _workers: int) -> None:
    cv2.setNumThreads(1)


def main() -> None:
    folder, records, workers, batch, side = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:6])
    begin = time.perf_counter()
    samples = grain.MapDataset.source(Files(folder, records)).seed(1).shuffle().repeat()
    made = samples.random_map(Augment(side)).to_iter_dataset(grain.ReadOptions(0, 0)).batch(batch)
    options = grain.MultiprocessingOptions(num_workers=workers, per_worker_buffer_size=1)
    batches = iter(made.mp_prefetch(options, one_thread))
    next(batches)
    first = time.perf_counter() - begin

    def discard() -> None:
        for _ in range(4 * workers):
            next(batches)

    def run(_: int) -> Iterator[int]:
        for _batch in range(-(-records // batch)):
            images, _labels = next(batches)
            yield len(images)

    serve(run, {"first_batch_seconds": first}, before=discard)
    batches.close()


if __name__ == "__main__":
    main()
