"""Measures packing: `fuelrail im2rec`, MXNet's im2rec.py, bare libjpeg-turbo and a plain copy, interleaved in one run.

    ./run bench im2rec                  the whole run, on ../shared/data/imagenet-sample
    ./run bench im2rec --quick          fewer rounds and images, for a rough figure only

Two jobs run on the same list. "Encoded anew": resize to a shorter side of 256 (bilinear) and encode as JPEG of quality 95.
"Passed through": store the files unchanged. Both commands are timed as whole processes, from start to exit, on two threads
(MXNet: two processes that read and encode). The first job is compared with a limit: decoding by libjpeg-turbo, the same
resize and the same encoding, on two threads and all in memory (bench/limit/pack_limit.cc). The limit of the second job is a
program that copies the files into one file and waits until it is on the disk, as `fuelrail` does (MXNet does not). Each round
runs all contenders in turn. A ratio is the median over the rounds of the ratio within the round; its spread is half the
distance between the quartiles. Results go to bench/results/im2rec-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from typing import Any

from rounds import (
    ROOT,
    SAMPLE,
    WORK,
    Contender,
    begun,
    heading,
    median_and_spread,
    options_of,
    pair,
    peer_python,
    publish,
    turns,
)

OURS, MXNET, LIMIT = "fuelrail im2rec", "MXNet's im2rec.py 1.9.1", "the limit"
SIDE, QUALITY, THREADS = 256, 95, 2
JOBS = {
    "encoded anew": ["--resize", str(SIDE), "--quality", str(QUALITY)],
    "passed through": ["--pass-through"],
}


def listing(images: int) -> pathlib.Path:
    """Creates a folder with the list `all.lst`."""
    if not SAMPLE.is_dir():
        sys.exit(f"bench: {SAMPLE} does not exist; the benchmark needs its photographs")
    names = sorted(path.name for path in SAMPLE.glob("*.JPEG"))
    folder = WORK / f"im2rec-{images}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = (f"{i}\t{i % len(names)}\t{names[i % len(names)]}\n" for i in range(images))
    (folder / "all.lst").write_text("".join(rows))
    return folder


def timed(work: Callable[[], Any]) -> float:
    os.sync()  # so that no contender waits for data that a different one wrote
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def command(who: str, folder: pathlib.Path, job: str) -> list[str]:
    """The command line of one of the two commands. Both take the same arguments."""
    words = [str(folder / "all"), f"{SAMPLE}/", *JOBS[job], "--num-thread", str(THREADS)]
    if who == OURS:
        return [str(pathlib.Path(sysconfig.get_path("scripts")) / "fuelrail"), "im2rec", *words]
    python = peer_python("mxnet")
    (tool,) = pathlib.Path(python).parent.parent.glob("lib/*/site-packages/mxnet/tools/im2rec.py")
    return [python, str(tool), *words]


def run_command(who: str, folder: pathlib.Path, job: str) -> float:
    for name in ("all.rec", "all.idx", "all.rec.frx"):
        (folder / name).unlink(missing_ok=True)
    words = command(who, folder, job)

    def run() -> None:
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    return timed(run)


def copy(folder: pathlib.Path) -> float:
    names = [line.split("\t")[2] for line in (folder / "all.lst").read_text().splitlines()]

    def run() -> None:
        with (folder / "copy").open("wb", buffering=1 << 20) as out:
            for name in names:
                out.write((SAMPLE / name).read_bytes())
            out.flush()
            os.fsync(out.fileno())

    seconds = timed(run)
    (folder / "copy").unlink()
    return seconds


def check_same(folder: pathlib.Path) -> int:
    """Checks that both commands write the same file when they pass images through. Returns: its size."""
    made = []
    for who in (OURS, MXNET):
        run_command(who, folder, "passed through")
        made.append((folder / "all.rec").read_bytes())
    if made[0] != made[1]:
        sys.exit("bench: the two commands wrote different files when they passed images through")
    return len(made[0])


def measure(folder: pathlib.Path, images: int, rounds: int) -> dict[str, Any]:
    limit = Contender(
        LIMIT,
        [
            str(ROOT / "build" / "release" / "bench" / "limit" / "fuelrail_pack_limit"),
            *(str(SAMPLE), str(images), str(THREADS), str(SIDE), str(QUALITY)),
        ],
    )
    ways: dict[str, dict[str, Callable[[], float]]] = {
        job: {
            OURS: lambda job=job: run_command(OURS, folder, job),  # type: ignore[misc]
            MXNET: lambda job=job: run_command(MXNET, folder, job),  # type: ignore[misc]
        }
        for job in JOBS
    }
    ways["encoded anew"][LIMIT] = lambda: limit.run(0, keep=False)["seconds"]
    ways["passed through"][LIMIT] = lambda: copy(folder)
    seconds: dict[str, dict[str, list[float]]] = {
        job: {name: [] for name in contenders} for job, contenders in ways.items()
    }
    for job, contenders in ways.items():
        for number, name in turns(list(contenders), rounds):
            took = contenders[name]()
            seconds[job][name].append(took)
            print(
                f"  round {number}/{rounds}  {job}, {name}: {images / took:.0f} img/s", flush=True
            )
    limit.stop()
    return {
        job: {
            name: {
                "images_per_second": median_and_spread([images / s for s in taken]),
                "fuelrail_is_faster": median_and_spread(
                    [s / ours for s, ours in zip(taken, found[OURS], strict=True)]
                ),
            }
            for name, taken in found.items()
        }
        for job, found in seconds.items()
    }


def report(results: dict[str, Any]) -> str:
    about = results["machine"]
    software = f"libjpeg-turbo {about['libjpeg-turbo']}"
    job = (
        f"{results['images']} images, {results['bytes'] / 1e6:.0f} MB as they are, {results['rounds']} rounds, "
        f"{THREADS} threads; the files are in the page cache"
    )
    lines = heading("im2rec", results, software, job)
    for job, found in results["jobs"].items():
        lines += [
            "",
            f"## {job.capitalize()}",
            "",
            "| | img/s | fuelrail is that many times faster |",
        ]
        lines.append("|---|---|---|")
        for name, c in found.items():
            faster = "-" if name == OURS else pair(c["fuelrail_is_faster"], 2)
            lines.append(f"| {name} | {pair(c['images_per_second'], 0)} | {faster} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    options = options_of(__doc__, "images", 3, (800, 2))
    folder = listing(options.images)
    results = begun("./run bench im2rec", options, "images")
    results["bytes"] = check_same(folder)
    results["jobs"] = measure(folder, options.images, options.rounds)
    shutil.rmtree(folder)
    publish("im2rec", results, report(results), options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
