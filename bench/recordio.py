"""Measures fuelrail's ImageRecordIter, MXNet's ImageRecordIter, fuelrail.Loader and a Pillow pipeline, interleaved in one run.

    ./run bench recordio                 the whole run, on ../shared/data/imagenet-sample
    ./run bench recordio --quick         fewer rounds and records, for a rough figure only

The job: shuffle by the index, random-resized-crop 224 (OpenCV's bilinear, not antialiased), mirror, mean and deviation,
float32 NCHW batches of 256. It runs on the unchanged photographs and on photographs packed with `--resize 256`; all
contenders read the same file. One program runs both ImageRecordIters (bench/peers/image_record_iter.py). MXNet 1.9.1 has its
own environment (.cache/peers/mxnet) and chooses its number of threads itself: on two cores it uses one, whatever is
requested. bench/loader.py explains ratios and spreads. Results go to bench/results/recordio-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any

from rounds import (
    BATCH,
    PEERS,
    SIDE,
    THREADS,
    Contender,
    begun,
    heading,
    measure_sets,
    options_of,
    pair,
    peer_python,
    publish,
)

OURS, MXNET = "fuelrail.mxnet.io.ImageRecordIter", "mxnet.io.ImageRecordIter 1.9.1"
NATIVE, PILLOW = "fuelrail.torch.DataLoader", "torch DataLoader + Pillow"


def contenders(
    folder: pathlib.Path, options: argparse.Namespace, pillow_workers: int
) -> list[Contender]:
    threads = str(options.threads)
    rec, shape = str(folder / "all.rec"), [str(BATCH), str(SIDE)]
    iterator = str(PEERS / "image_record_iter.py")
    native = [str(PEERS / "fuelrail_loader.py"), rec, threads, *shape, "--no-antialias"]
    pillow = [str(PEERS / "pillow_loader.py"), rec, str(options.records)]
    return [
        Contender(OURS, [sys.executable, iterator, "fuelrail", rec, threads, *shape]),
        Contender(MXNET, [peer_python("mxnet"), iterator, "mxnet", rec, threads, *shape]),
        Contender(NATIVE, [sys.executable, *native]),
        Contender(PILLOW, [sys.executable, *pillow, str(pillow_workers), *shape]),
    ]


def report(results: dict[str, Any]) -> str:
    about = results["machine"]
    software = (
        f"Python {about['python']}, libjpeg-turbo {about['libjpeg-turbo']}, torch {about['torch']}, "
        f"Pillow {about['pillow']}"
    )
    job = f"{results['records']} records, {results['rounds']} rounds, {results['threads']} threads, page cache warm"
    lines = heading("ImageRecordIter", results, software, job)
    for name, part in results["sets"].items():
        lines += [
            "",
            f"## {name}",
            "",
            f"| | img/s | CPU s / 1,000 img | {OURS} is that many times faster | first batch, s | memory, MiB |",
            "|---|---|---|---|---|---|",
        ]
        ours = part["contenders"][OURS]
        for contender, c in part["contenders"].items():
            lines.append(
                f"| {contender} | {pair(c['images_per_second'], 0)} | {pair(c['cpu_seconds_per_1000_images'], 2)} | "
                f"{pair(ours['ratio_to'].get(contender), 2)} | {c['first_batch_seconds']:.2f} | "
                f"{c['memory_mib']:.0f} |"
            )
        lines += ["", f"Pillow at its best worker count, {part['pillow_workers']}."]
    return "\n".join(lines) + "\n"


def main() -> int:
    options = options_of(__doc__, "records", 7, (1600, 3), THREADS)
    results = begun("./run bench recordio", options, "records", "threads")
    results["sets"] = measure_sets(options, contenders, "all.rec")
    publish("recordio", results, report(results), options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
