"""Measures loader throughput: fuelrail, a Pillow pipeline in torch's DataLoader, and the limit, interleaved in one run.

    ./run bench                  the whole run, on ../shared/data/imagenet-sample
    ./run bench --quick          fewer rounds and records, for a rough figure only
    ./run bench --threads 1      one thread for each contender instead of two
    ./run bench --dali           also measures NVIDIA DALI, in its own virtual environment (.cache/peers/dali, 1.1 GB)

The job: random-resized-crop 224, horizontal flip, normalise, float32 NCHW batches of 256. It runs on the unchanged
photographs, and on photographs packed with `--resize 256`. Every contender is a separate process (bench/peers/), and each
round runs all contenders in turn (bench/rounds.py). A ratio is the median over the rounds of the ratio within the round; its
spread is half the distance between the quartiles. Results go to bench/results/loader-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any

from rounds import (
    BATCH,
    PEERS,
    ROOT,
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


def contenders(
    folder: pathlib.Path, options: argparse.Namespace, pillow_workers: int
) -> list[Contender]:
    python = sys.executable
    shape = [str(BATCH), str(SIDE)]
    limit = [
        str(ROOT / "build" / "release" / "bench" / "limit" / "fuelrail_limit"),
        str(folder / "all.rec"),
    ]
    everybody = [
        Contender(
            "fuelrail",
            [
                python,
                str(PEERS / "fuelrail_loader.py"),
                str(folder / "all.rec"),
                str(options.threads),
                *shape,
            ],
        ),
        Contender(
            "torch DataLoader + Pillow",
            [
                python,
                str(PEERS / "pillow_loader.py"),
                str(folder / "files"),
                str(options.records),
                str(pillow_workers),
                *shape,
            ],
        ),
        Contender("limit", [*limit, str(options.threads), *shape]),
    ]
    if options.dali:
        adapter = [
            peer_python("dali"),
            str(PEERS / "dali_loader.py"),
            str(folder / "all.rec"),
            str(options.threads),
        ]
        everybody.insert(2, Contender("DALI", [*adapter, *shape]))
    return everybody


def report(results: dict[str, Any]) -> str:
    about = results["machine"]
    software = (
        f"Python {about['python']}, libjpeg-turbo {about['libjpeg-turbo']}, torch {about['torch']}, "
        f"Pillow {about['pillow']} (its own libjpeg-turbo {about['pillow_libjpeg-turbo']})"
    )
    job = f"{results['records']} records, {results['rounds']} rounds, {results['threads']} threads, page cache warm"
    lines = heading("Loader throughput", results, software, job)
    for name, part in results["sets"].items():
        lines += [
            "",
            f"## {name}",
            "",
            "| | img/s | CPU s / 1,000 img | ratio to Pillow | ratio to limit | first batch, s | memory, MiB |",
            "|---|---|---|---|---|---|---|",
        ]
        for contender, c in part["contenders"].items():
            first = f"{c['first_batch_seconds']:.2f}" if "first_batch_seconds" in c else "-"
            memory = f"{c['memory_mib']:.0f}" if "memory_mib" in c else "-"
            lines.append(
                f"| {contender} | {pair(c['images_per_second'], 0)} | {pair(c['cpu_seconds_per_1000_images'], 2)} | "
                f"{pair(c['ratio_to'].get('torch DataLoader + Pillow'), 2)} | {pair(c['ratio_to'].get('limit'), 3)} | "
                f"{first} | {memory} |"
            )
        limit, ours = part["contenders"]["limit"], part["contenders"]["fuelrail"]
        lines += [
            "",
            f"Pillow at its best worker count, {part['pillow_workers']}. The limit's milliseconds an image: decode "
            f"{pair(limit['decode_ms_per_image'], 3)}, resize {pair(limit['resize_ms_per_image'], 3)}, normalise and "
            f"write {pair(limit['write_ms_per_image'], 3)}.",
            f"fuelrail's threads, milliseconds an image: reading {ours['fetch_ms_per_image']:.3f}, decoding to writing "
            f"{ours['process_ms_per_image']:.3f}; limited by `{ours['limited_by']}`.",
            f"Its memory grew by {ours['growth_mib']:.0f} MiB at the peak since before the loader was built, of which batch "
            f"slots {ours['slots_mib']:.0f} MiB.",
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    dali = {"action": "store_true", "help": "also measure NVIDIA DALI, in its own environment"}
    options = options_of(__doc__, "records", 7, (1600, 3), THREADS, ("--dali", dali))
    results = begun("./run bench", options, "records", "threads")
    results["sets"] = measure_sets(options, contenders, "files")
    name = "loader" if options.threads == 2 else f"loader-{options.threads}-threads"
    publish(name, results, report(results), options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
