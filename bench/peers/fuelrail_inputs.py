"""The contender fuelrail on bench/inputs.py's samples: SOURCE FOLDER KIND RECORDS SAVED [MODE].

SOURCE: "packed" reads the file FOLDER/KIND.rec; "provider" makes the samples in two processes. Both decode in two threads.
SAVED: where the batches are saved that are compared with others. MODE: "frame" only loads the frames' numbers; any other
loads all fields, and saves nothing.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Iterator

import torch  # imports are not measured
from answer import memory_mib, serve
from sample_jobs import MEAN, SCALED, STD
from two_cameras import BATCH, TwoCameras, saving

import fuelrail as fr
import fuelrail.torch

T = fr.transforms


def main() -> None:
    source, folder, kind = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    records, saved, mode = int(sys.argv[4]), pathlib.Path(sys.argv[5]), sys.argv[6:]
    transforms = {"cameras.*.image": [T.Resize(SCALED), T.Normalize(MEAN, STD)]}
    provider = TwoCameras(folder, kind, records)
    torch.empty(1)
    begin = time.perf_counter()
    loader = fr.torch.DataLoader(
        folder / f"{kind}.rec" if source == "packed" else provider,
        BATCH,
        shuffle="full",
        seed=1,
        threads=2,
        transforms=None if kind == "small" else transforms,
        fields=["frame"] if mode == ["frame"] else ["*"],
        flat=True,
    )
    next(iter(loader))
    start = {"first_batch_seconds": time.perf_counter() - begin}
    used: dict[str, float] = {}

    def run(epoch: int) -> Iterator[int]:
        loader.set_epoch(epoch)  # not prefetched, so it starts with no batches ready
        clocks = {"consumer_us": time.thread_time, "process_us": time.process_time}
        begin = {name: clock() for name, clock in clocks.items()}
        for batch in loader:
            yield len(batch["frame"])
        used.update(
            {name: 1e6 * (clock() - begin[name]) / records for name, clock in clocks.items()}
        )

    if not mode and kind != "small":
        sum(saving(saved, loader))
    serve(run, start, lambda: {**used, "shared_mib": memory_mib("Pss_Shmem")})


if __name__ == "__main__":
    main()
