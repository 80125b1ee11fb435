"""The contender FFCV on raw pixels: JOB FOLDER RECORDS THREADS.

At its first run, it packs the arrays of FOLDER into a `.beton` file with write_mode="raw". Its images are channels-last in
memory, which is its faster layout. One measurement is one long epoch over repeated indices.
"""

from __future__ import annotations

import multiprocessing
import pathlib
import sys
import time
from collections.abc import Iterator

import numpy as np
from answer import serve
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, Squeeze, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from sample_jobs import JOBS, MEAN, STD


class Arrays:
    """The arrays of a folder, repeated."""

    def __init__(self, folder: pathlib.Path, records: int) -> None:
        self._files, self._records = sorted(folder.glob("*.npy")), records

    def __len__(self) -> int:
        return self._records

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        label = index % len(self._files)
        return np.load(self._files[label]), label


def main() -> None:
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    records, threads = map(int, sys.argv[3:5])
    job = JOBS[name]
    path = folder / "all.beton"
    if not path.exists():
        fields = {"image": RGBImageField(write_mode="raw"), "label": IntField()}
        making = path.with_suffix(".making")
        DatasetWriter(str(making), fields, num_workers=threads).from_indexed_dataset(
            Arrays(folder / "files", records)
        )
        multiprocessing.active_children()  # collects the ended processes of the writer
        making.rename(path)
    begin = time.perf_counter()
    image = [
        RandomResizedCropRGBImageDecoder(job.size),
        RandomHorizontalFlip(),
        NormalizeImage(255 * np.array(MEAN), 255 * np.array(STD), np.float32),
        ToTensor(),
        ToTorchImage(convert_back_int16=False),
    ]
    loader = Loader(
        str(path),
        batch_size=job.batch,
        num_workers=threads,
        os_cache=True,
        order=OrderOption.RANDOM,
        drop_last=False,
        indices=np.tile(np.arange(records, dtype=np.uint64), job.passes),
        pipelines={"image": image, "label": [IntDecoder(), ToTensor(), Squeeze()]},
    )
    next(iter(loader))
    first = time.perf_counter() - begin

    def run(_: int) -> Iterator[int]:
        for images, _labels in loader:
            yield len(images)

    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    main()
