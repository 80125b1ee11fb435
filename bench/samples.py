"""Measures samples of many fields: loading them, loading raw pixels, and packing them, beside other loaders and the limit.

    ./run bench samples               the whole run, on ../shared/data/imagenet-sample
    ./run bench samples --quick       fewer rounds and records, for a rough figure only
    ./run bench samples --only raw    one of masks, boxes, cameras, raw, squares, packing; may be repeated

Loading, to float32 NCHW with a normalisation, on two threads (bench/peers/sample_jobs.py has the batches):
- masks: photographs with a mask of class numbers; random-resized-crop 512 and flip.
- boxes: photographs with 1 to 40 boxes; random IoU crop, flip, resize to 640 x 640.
- cameras: two cameras of 720 x 1280 with boxes and matrices; resize to 396 x 704, random crop to 384 x 704.
- raw: photographs of shorter side 256 as .npy arrays; random-resized-crop 224 and flip.
- squares: the same of 256 x 256, because TurboLoader stores images of one size only.

The first three are compared with torch's DataLoader with Pillow and torchvision v2 (the best of 1 to 4 workers), with DALI on the
CPU (masks and cameras), and with a limit: bare decoding and fuelrail's resampling of the same boxes (bench/limit/sample_limit.cc).
Raw pixels are compared with FFCV's write_mode="raw", with TurboLoader's RAW_U8, and with a limit that reads records, computes
their checksums, resamples and writes. bench/sample_sets.py computes masks and boxes from the photographs. fuelrail and the limit
read sample records, the other loaders files with the same bytes or their own format of raw pixels.

Packing, with two threads: the photographs by their paths from a dataset with `__getitem__`, beside a program that copies the
files into one file and syncs it; and from an iterator of bytes in memory, into memory (/dev/shm).

Every loader is a separate process (bench/peers/), and each round runs all of them in turn (bench/rounds.py). A ratio is the median
over the rounds of the ratio within the round; its spread is half the distance between the quartiles. DALI, FFCV and TurboLoader
have environments of their own (.cache/peers/). Results go to bench/results/samples-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import itertools
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from rounds import (
    PEERS,
    ROOT,
    THREADS,
    WORK,
    Contender,
    begun,
    best_workers,
    heading,
    median_and_spread,
    options_of,
    pair,
    peer_python,
    publish,
    run_epochs,
    turns,
)

sys.path.append(str(PEERS))
from sample_jobs import JOBS
from sample_sets import RAW, photographs, sample_set

import fuelrail as fr

T = TypeVar("T")

OURS, TORCH, LIMIT = "fuelrail", "torch DataLoader + torchvision v2", "limit"
COPY = "plain copy"
RAW_JOBS = ("raw", "squares")
# The other loaders of each job: name, environment and program.
OTHERS = {
    "masks": [("DALI", "dali", "dali_samples.py")],
    "boxes": [],
    "cameras": [("DALI", "dali", "dali_samples.py")],
    "raw": [("FFCV", "ffcv", "ffcv_samples.py")],
    "squares": [
        ("FFCV", "ffcv", "ffcv_samples.py"),
        ("TurboLoader", "turboloader", "turboloader_samples.py"),
    ],
}
# The records of each job, for 8,000 photographs that are packed.
RECORDS = {"masks": 1600, "boxes": 1600, "cameras": 800, "raw": 3200, "squares": 3200}
MEMORY = pathlib.Path("/dev/shm")


def adapter(name: str, python: str, program: str, *arguments: object) -> Contender:
    return Contender(name, [python, str(PEERS / program), *map(str, arguments)])


def limit(job: str, folder: pathlib.Path, threads: int) -> Contender:
    program = ROOT / "build" / "release" / "bench" / "limit" / "fuelrail_sample_limit"
    passes = [str(JOBS[job].passes)] if job in RAW_JOBS else []
    name = "raw" if job in RAW_JOBS else job
    return Contender(LIMIT, [str(program), name, str(folder / "all.rec"), str(threads), *passes])


def loading(job: str, records: int, options: argparse.Namespace) -> dict[str, Any]:
    print(f"-- {job}", flush=True)
    folder = sample_set(job, records)
    source = (job, folder, records)
    results: dict[str, Any] = {"records": records}

    def torchvision(workers: int) -> Contender:
        return adapter(TORCH, sys.executable, "torchvision_samples.py", *source, workers)

    everybody = [
        adapter(OURS, sys.executable, "fuelrail_samples.py", *source, options.threads),
        limit(job, folder, options.threads),
    ]
    if job not in RAW_JOBS:
        results["workers"] = best_workers(torchvision, options.threads)
        everybody.append(torchvision(results["workers"]))
    for name, environment, program in OTHERS[job]:
        python = peer_python(environment)
        everybody.append(adapter(name, python, program, *source, options.threads))
    return {**results, "contenders": run_epochs(everybody, options.rounds)}


class Files:
    """Samples of photographs by their paths, and of their numbers."""

    def __init__(self, paths: list[pathlib.Path], samples: int) -> None:
        self._paths, self._samples = paths, samples

    def __len__(self) -> int:
        return self._samples

    def __getitem__(self, index: int) -> dict[str, Any]:
        label = index % len(self._paths)
        return {"image": self._paths[label], "label": label}


def streamed(images: list[bytes], samples: int) -> Iterator[dict[str, Any]]:
    for index in range(samples):
        label = index % len(images)
        yield {"image": images[label], "label": label}


def copied(parts: Iterable[bytes], output: pathlib.Path) -> None:
    with output.open("wb", buffering=1 << 20) as out:
        for part in parts:
            out.write(part)
        out.flush()
        os.fsync(out.fileno())


def timed(work: Callable[[pathlib.Path], object], folder: pathlib.Path) -> float:
    """Seconds to write a file in the folder, which is then removed."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="fuelrail-bench-") as made:
        os.sync()  # so that no way waits for data that a different one wrote
        begin = time.perf_counter()
        work(pathlib.Path(made) / "packed.rec")
        return time.perf_counter() - begin


def packing(samples: int, options: argparse.Namespace) -> dict[str, Any]:
    """The speeds of fuelrail and of plain copying, in GB/s of the images' bytes."""
    paths = photographs()
    arrays = sorted((sample_set("raw", records_of("raw", options)) / "files").iterdir())
    in_memory = {
        "iterator of photographs": [path.read_bytes() for path in paths],
        "iterator of arrays": [path.read_bytes() for path in arrays],
    }

    def pack(source: Any, output: pathlib.Path) -> None:
        fr.pack(source, output, schema=RAW, threads=options.threads)

    def repeated(values: Sequence[T]) -> Iterator[T]:
        return itertools.islice(itertools.cycle(values), samples)

    def ways(images: list[bytes]) -> dict[str, Callable[[pathlib.Path], object]]:
        return {
            OURS: lambda output: pack(streamed(images, samples), output),
            COPY: lambda output: copied(repeated(images), output),
        }

    jobs: dict[str, tuple[pathlib.Path, dict[str, Callable[[pathlib.Path], object]]]] = {
        "dataset of paths": (
            WORK,
            {
                OURS: lambda output: pack(Files(paths, samples), output),
                COPY: lambda output: copied((p.read_bytes() for p in repeated(paths)), output),
            },
        ),
        **{job: (MEMORY, ways(images)) for job, images in in_memory.items()},
    }
    results: dict[str, Any] = {}
    for job, (folder, contenders) in jobs.items():
        images = in_memory["iterator of photographs" if folder == WORK else job]
        size = sum(map(len, repeated(images)))
        seconds: dict[str, list[float]] = {name: [] for name in contenders}
        for number, name in turns(list(contenders), options.rounds):
            seconds[name].append(timed(contenders[name], folder))
            speed = size / seconds[name][-1] / 1e9
            print(f"  round {number}/{options.rounds}  {job}, {name}: {speed:.2f} GB/s", flush=True)
        results[job] = {
            "bytes": size,
            **{
                name: median_and_spread([size / one / 1e9 for one in all_of_them])
                for name, all_of_them in seconds.items()
            },
            "ratio": median_and_spread(
                [copy / ours for ours, copy in zip(seconds[OURS], seconds[COPY], strict=True)]
            ),
        }
    return results


def records_of(job: str, options: argparse.Namespace) -> int:
    return max(32, RECORDS[job] * options.records // 8000)


def version_of(environment: str) -> str:
    """The version of a peer, from the first line of its list of packages."""
    wanted = (PEERS / f"{environment}.txt").read_text().splitlines()
    return wanted[0].partition("==")[2]


def report(results: dict[str, Any]) -> str:
    about = results["machine"]
    software = (
        f"Python {about['python']}, libjpeg-turbo {about['libjpeg-turbo']}, torch {about['torch']}, "
        f"torchvision {about['torchvision']}, Pillow {about['pillow']}, "
        + ", ".join(
            f"{name} {version_of(environment)}"
            for name, environment in (
                ("DALI", "dali"),
                ("FFCV", "ffcv"),
                ("TurboLoader", "turboloader"),
            )
        )
    )
    job = f"{results['rounds']} rounds, {results['threads']} threads, page cache warm"
    lines = heading("Samples of many fields", results, software, job)
    for name, part in results["loading"].items():
        lines += [
            "",
            f"## {name}: {part['records']:,} records",
            "",
            "| | samples/s | CPU s / 1,000 samples | fuelrail is that many times faster | first batch, s | memory, MiB |",
            "|---|---|---|---|---|---|",
        ]
        ours = part["contenders"][OURS]
        for who, c in part["contenders"].items():
            first = f"{c['first_batch_seconds']:.2f}" if "first_batch_seconds" in c else "-"
            memory = f"{c['memory_mib']:.0f}" if "memory_mib" in c else "-"
            lines.append(
                f"| {who} | {pair(c['images_per_second'], 0)} | {pair(c['cpu_seconds_per_1000_images'], 2)} | "
                f"{pair(ours['ratio_to'].get(who), 3)} | {first} | {memory} |"
            )
        if "workers" in part:
            lines += ["", f"{TORCH} at its best worker count, {part['workers']}."]
    if "packing" in results:
        lines += [
            "",
            "## Packing, GB/s",
            "",
            "| | fuelrail | plain copy | ratio |",
            "|---|---|---|---|",
        ]
    for job, p in results.get("packing", {}).items():
        lines.append(f"| {job} | {pair(p[OURS], 2)} | {pair(p[COPY], 2)} | {pair(p['ratio'], 2)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    only = {
        "action": "append",
        "choices": [*JOBS, "packing"],
        "help": "measure only this job; may be repeated",
    }
    options = options_of(__doc__, "records", 5, (800, 2), THREADS, ("--only", only))
    chosen = options.only or [*JOBS, "packing"]
    results = begun("./run bench samples", options, "records", "threads")
    (about,) = (ROOT / ".venv" / "torchvision").glob("torchvision-*.dist-info")
    results["machine"]["torchvision"] = importlib.metadata.Distribution.at(about).version
    results["loading"] = {
        job: loading(job, records_of(job, options), options) for job in JOBS if job in chosen
    }
    if "packing" in chosen:
        results["packing"] = packing(options.records, options)
    publish("samples", results, report(results), options.quick or options.only is not None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
