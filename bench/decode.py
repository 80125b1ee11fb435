"""Measures fuelrail's JPEG decoder beside bare calls of libjpeg-turbo, on one core.

    ./run bench decode           on the photographs and CIFAR images of ../shared/data

Runs decode_benchmark (src/fuelrail/decode/decode_benchmark.cc) on the photographs, on the photographs packed with `--resize
256`, and on CIFAR images. It repeats its parts in random order; a ratio is the median over the repetitions of the ratio within
a repetition. Results go to bench/results/decode-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

from rounds import (
    ROOT,
    SAMPLE,
    begun,
    heading,
    median_and_spread,
    options_of,
    pair,
    prepare,
    publish,
)

BENCHMARK = ROOT / "build" / "release" / "src" / "fuelrail" / "decode" / "decode_benchmark"
CIFAR = SAMPLE.parent / "cifar10" / "test"
# Of fuelrail's part, and of libjpeg-turbo's.
RATIOS = {
    "crop, entry points": ("decode_with_fuelrail/crop_indexed", "decode_barely/crop"),
    "crop": ("decode_with_fuelrail/crop", "decode_barely/crop"),
    "whole": ("decode_with_fuelrail/whole", "decode_barely/whole"),
}
ALONE = ("make_all_hints", "probe_all")


def measured(folder: pathlib.Path, repetitions: int, parts_of: str) -> dict[str, list[float]]:
    """The milliseconds of an image, for each part and repetition. `parts_of`: a regular expression of the parts' names."""
    done = subprocess.run(
        [
            str(BENCHMARK),
            f"--benchmark_filter={parts_of}",
            "--benchmark_enable_random_interleaving=true",
            f"--benchmark_repetitions={repetitions}",
            "--benchmark_format=json",
        ],
        env={**os.environ, "FUELRAIL_BENCHMARK_IMAGES": str(folder)},
        preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
        stdout=subprocess.PIPE,
        check=True,
    )
    parts: dict[str, list[float]] = {}
    runs = [run for run in json.loads(done.stdout)["benchmarks"] if run["run_type"] == "iteration"]
    for run in sorted(runs, key=lambda run: run["repetition_index"]):
        parts.setdefault(run["name"].removesuffix(f"/repeats:{repetitions}"), []).append(
            1000 / run["items_per_second"]
        )
    return parts


def summary(parts: dict[str, list[float]]) -> dict[str, Any]:
    ratios = {
        name: median_and_spread([b / a for a, b in zip(parts[ours], parts[bare], strict=True)])
        for name, (ours, bare) in RATIOS.items()
    }
    return {
        "ms_per_image": {name: median_and_spread(values) for name, values in parts.items()},
        "ratio_to_libjpeg": ratios,
    }


def report(results: dict[str, Any]) -> str:
    about = results["machine"]
    software = f"libjpeg-turbo {about['libjpeg-turbo']}"
    lines = heading(
        "JPEG decoding", results, software, f"{results['rounds']} repetitions, one core"
    )
    lines += [
        "",
        "Speed relative to libjpeg-turbo: its region decoding for crops, its full decoding for whole images.",
        "",
        "| | " + " | ".join(results["sets"]) + " |",
        "|---" * (1 + len(results["sets"])) + "|",
    ]
    for name in RATIOS:
        cells = [pair(part["ratio_to_libjpeg"][name], 2) for part in results["sets"].values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "Milliseconds an image:", "", *lines[-len(RATIOS) - 2 : -len(RATIOS)]]
    for name in [*dict.fromkeys(sum(RATIOS.values(), ())), *ALONE]:
        cells = [pair(part["ms_per_image"][name], 4) for part in results["sets"].values()]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    options: argparse.Namespace = options_of(__doc__, "records", 15, (800, 3), count=800)
    results = begun("./run bench decode", options, "records")
    folders = {
        "photographs": SAMPLE,
        "shorter side 256": prepare(options.records)["short256"] / "files",
        "CIFAR": CIFAR,
    }
    results["sets"] = {
        name: summary(measured(folder, options.rounds, "^(decode_|probe_all|make_all_hints)"))
        for name, folder in folders.items()
    }
    publish("decode", results, report(results), options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
