"""The contender fuelrail on samples of many fields: JOB FOLDER RECORDS THREADS. RECORDS is not used."""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import torch  # imports are not measured
from answer import serve
from sample_jobs import CROPPED, JOBS, MEAN, SCALED, STD

import fuelrail as fr

T = fr.transforms
NORMALIZE = T.Normalize(MEAN, STD)
CROP = [T.RandomResizedCrop(224), T.HorizontalFlip(0.5), NORMALIZE]
OPTIONS: dict[str, dict[str, Any]] = {
    "masks": {
        "fields": ("image", "mask"),
        "transforms": [T.RandomResizedCrop(512), T.HorizontalFlip(0.5), NORMALIZE],
    },
    "boxes": {
        "fields": ("image", "boxes", "labels"),
        "transforms": [T.RandomIoUCrop(), T.HorizontalFlip(0.5), T.Resize((640, 640)), NORMALIZE],
    },
    "cameras": {
        "fields": ("cameras",),
        "transforms": {"cameras.*.image": [T.Resize(SCALED), T.RandomCrop(CROPPED), NORMALIZE]},
    },
    "raw": {"fields": ("image", "label"), "transforms": CROP},
    "squares": {"fields": ("image", "label"), "transforms": CROP},
}


def main() -> None:
    name, folder, threads = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[4])
    job = JOBS[name]
    torch.empty(1)
    begin = time.perf_counter()
    loader = fr.torch.DataLoader(
        folder / "all.rec",
        batch_size=job.batch,
        shuffle="full",
        seed=1,
        threads=threads,
        as_dict=True,
        flat=True,
        **OPTIONS[name],
    )
    first = next(iter(loader))
    start = {"first_batch_seconds": time.perf_counter() - begin}
    images = next(iter(first))  # the name of a column of images

    def run(epoch: int) -> Iterator[int]:
        loader.set_epoch(epoch * job.passes)  # not prefetched, so it starts with no batches ready
        for _ in range(job.passes):
            for batch in loader:
                yield len(batch[images])

    def after() -> dict[str, object]:
        stats = loader.stats()
        return {
            "fetch_ms_per_image": 1000 * stats.fetch.busy_seconds / stats.fetch.items,
            "process_ms_per_image": 1000 * stats.process.busy_seconds / stats.process.items,
            "limited_by": stats.limit,
        }

    serve(run, start, after)


if __name__ == "__main__":
    main()
