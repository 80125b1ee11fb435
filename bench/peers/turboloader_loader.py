"""The contender TurboLoader on a tar of JPEG files: FILES RECORDS THREADS BATCH SIDE. FILES: a folder, whose files are repeated.

At its first run, it packs the files into a tar beside FILES. TurboLoader decodes only the crop, and antialiases. It starts one
thread for each processor that it may use, so this program allows it THREADS processors. It has no labels: a caller looks them up
by the indices of each batch.
"""

from __future__ import annotations

import os
import pathlib
import sys
import tarfile
import time
from collections.abc import Iterator

import numpy as np
import turboloader
from answer import serve


def write(files: list[pathlib.Path], records: int, path: pathlib.Path) -> None:
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT, dereference=True) as tar:
        for index in range(records):
            tar.add(files[index % len(files)], f"{index:08}.jpg")


def main() -> None:
    folder, records, threads, batch, side = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:6])
    files = sorted(folder.iterdir())
    path = folder.with_name(f"{records}.tar")
    if not path.exists():
        making = path.with_suffix(".making")
        write(files, records, making)
        making.rename(path)
    labels = np.arange(records) % len(files)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    begin = time.perf_counter()
    loader = turboloader.DataLoader(
        str(path),
        batch_size=batch,
        image_size=side,
        output_format="numpy_chw",
        transform=turboloader.ImageNetNormalize(),
        shuffle=True,
        train_aug=True,
        antialias=True,
        prefetch_batches=2,
    )
    next(iter(loader))
    first = time.perf_counter() - begin

    def run(epoch: int) -> Iterator[int]:
        loader.set_epoch(epoch)
        for images, meta in loader:
            labels[meta["indices"]]
            yield len(images)

    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    main()
