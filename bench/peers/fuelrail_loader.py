"""The contender fuelrail: FILE.rec THREADS BATCH SIDE [--no-antialias]."""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Iterator

import torch  # imports are not measured
from answer import serve

import fuelrail as fr

PREFETCH = 2  # batches; the loader's default


def peak_mib() -> float:
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    path, threads, batch, side = sys.argv[1], *map(int, sys.argv[2:5])
    make = fr.torch.DataLoader
    torch.empty(1)
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = peak_mib()
    begin = time.perf_counter()
    loader = make(
        path,
        batch_size=batch,
        shuffle="full",
        seed=1,
        threads=threads,
        prefetch=PREFETCH,
        transforms=[
            fr.transforms.RandomResizedCrop(side, antialias="--no-antialias" not in sys.argv),
            fr.transforms.HorizontalFlip(0.5),
            fr.transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ],
    )
    next(iter(loader))
    first = time.perf_counter() - begin

    def run(epoch: int) -> Iterator[int]:
        loader.set_epoch(
            epoch
        )  # an epoch that is not prefetched, so that it starts with no batches ready
        for images, _ in loader:
            yield len(images)

    def after() -> dict[str, object]:
        stats = loader.stats()
        slot = batch * 3 * side * side * 4 / 2**20
        return {
            "growth_mib": peak_mib() - before,
            "slots_mib": slot
            * (PREFETCH + 2),  # the number of slots that the loader creates at first
            "fetch_ms_per_image": 1000 * stats.fetch.busy_seconds / stats.fetch.items,
            "process_ms_per_image": 1000 * stats.process.busy_seconds / stats.process.items,
            "limited_by": stats.limit,
        }

    serve(run, {"first_batch_seconds": first}, after)


if __name__ == "__main__":
    main()
