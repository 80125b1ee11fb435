"""The contender TurboLoader on raw pixels: JOB FOLDER RECORDS THREADS. It chooses its number of threads itself.

At its first run, it packs the arrays of FOLDER, which must have one size, as RAW_U8 into a `.tbl` file. It has no labels: a
caller looks them up by the indices of each batch.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Iterator

import numpy as np
import turboloader
from answer import serve
from sample_jobs import JOBS, MEAN, STD


def write(folder: pathlib.Path, records: int, path: pathlib.Path) -> None:
    files = sorted((folder / "files").glob("*.npy"))
    writer = turboloader.TblWriterV2(str(path), enable_compression=False)
    for index in range(records):
        pixels = np.load(files[index % len(files)])
        height, width, _ = pixels.shape
        writer.add_sample(
            pixels.tobytes(), turboloader.SampleFormat.RAW_U8, width=width, height=height
        )
    writer.finalize()


def main() -> None:
    name, folder, records = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    job = JOBS[name]
    path = folder / "all.tbl"
    if not path.exists():
        making = folder / "making.tbl"
        write(folder, records, making)
        making.rename(path)
    labels = np.arange(records) % len(list((folder / "files").glob("*.npy")))
    begin = time.perf_counter()
    loader = turboloader.TblRawImageLoader(
        path,
        job.batch,
        mean=MEAN,
        std=STD,
        seed=1,
        hflip_prob=0.5,
        train_aug=True,
        image_size=job.size,
    )
    next(iter(loader))
    first = time.perf_counter() - begin

    def run(epoch: int) -> Iterator[int]:
        for number in range(epoch * job.passes, (epoch + 1) * job.passes):
            loader.set_epoch(number)
            for images, meta in loader:
                labels[meta["indices"]]
                yield len(images)

    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    main()
