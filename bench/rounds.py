"""Shared code of the benchmarks: contenders that take turns, their statistics, the machine's description, and results.

A contender is a separate process (bench/peers/) that runs the epochs it is asked for. Each round runs all contenders in turn and
begins with a different contender, so that disturbances of the machine affect all of them equally.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy
import PIL.features
import torch

import fuelrail

T = TypeVar("T")

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLE = ROOT.parent / "shared" / "data" / "imagenet-sample"
PEERS = ROOT / "bench" / "peers"
WORK = ROOT / ".cache" / "bench"
OF_FUELRAIL = (  # values that only fuelrail's adapter reports
    "memory_mib",
    "slots_mib",
    "growth_mib",
    "fetch_ms_per_image",
    "process_ms_per_image",
    "limited_by",
)
BATCH, SIDE = 256, 224


def options_of(
    description: str | None,
    counted: str,
    rounds: int,
    quick: tuple[int, int],
    *more: Any,
    count: int = 8000,
) -> argparse.Namespace:
    """Parses --COUNTED, --rounds, --quick and `more`, pairs (name, settings). `quick`: --COUNTED and --rounds with --quick.
    `count`: the default of --COUNTED."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(f"--{counted}", type=int, default=count)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"use {quick[0]:,} {counted} and {quick[1]} rounds, and write nothing to bench/results",
    )
    for name, settings in more:
        parser.add_argument(name, **settings)
    options = parser.parse_args()
    if options.quick:
        setattr(options, counted, quick[0])
        options.rounds = quick[1]
    return options


THREADS = (
    "--threads",
    {"type": int, "default": 2, "help": "threads of each contender (default 2)"},
)


def begun(command: str, options: argparse.Namespace, *counted: str) -> dict[str, Any]:
    """The entries with which all results begin."""
    return {
        "command": " ".join([command, *sys.argv[1:]]),
        **{name: getattr(options, name) for name in (*counted, "rounds")},
        "machine": machine(),
    }


def turns(everybody: Sequence[T], rounds: int) -> Iterator[tuple[int, T]]:
    """Yields (round, contender). Rounds count from 1, and each begins with a different contender."""
    for number in range(1, rounds + 1):
        first = number % len(everybody)
        for who in [*everybody[first:], *everybody[:first]]:
            yield number, who


def cpu_ticks(group: int) -> int:
    """The processor time that the living processes of a group have used, in clock ticks."""
    ticks = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # the process has just ended
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks


class Contender:
    """A process that loads one dataset, epoch by epoch."""

    def __init__(
        self, name: str, command: list[str], environment: Mapping[str, str] | None = None
    ) -> None:
        """`environment`: variables beside those of this process."""
        self.name = name
        self.epochs: list[dict[str, float]] = []
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            process_group=0,
            env={**os.environ, **(environment or {})},
        )
        self.start = self._answer()  # first-batch latency and memory, if reported

    def run(self, request: object, keep: bool = True) -> dict[str, float]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()
        answer = self._answer()
        if keep:
            self.epochs.append(answer)
        return answer

    def settle(self) -> None:
        """Waits until the contender and its children are idle. Most contenders read ahead into the next epoch, which would
        take processor time from the next contender."""
        used, deadline = 0, time.monotonic() + 30
        while abs(used - (used := cpu_ticks(self._process.pid))) > 1:  # a busy core uses 10
            if time.monotonic() > deadline:
                sys.exit(f"bench: {self.name} is still busy 30 s after its epoch")
            time.sleep(0.1)

    def stop(self) -> None:
        self._process.communicate()

    def _answer(self) -> dict[str, float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"bench: {self.name} exited without an answer")
        answer: dict[str, float] = json.loads(line)
        return answer


def run_epochs(everybody: list[Contender], rounds: int) -> dict[str, Any]:
    """Runs all contenders round by round, and stops them. Returns: the summary of each contender."""
    for contender in everybody:
        contender.run(0, keep=False)  # warms the page cache and the contender
        contender.settle()
    for number, contender in turns(everybody, rounds):
        answer = contender.run(
            1000 + 2 * number
        )  # an epoch number, which gives all contenders the same order and the same crop boxes
        contender.settle()
        speed = answer["images"] / answer["seconds"]
        print(f"  round {number}/{rounds}  {contender.name}: {speed:.0f} img/s", flush=True)
    for contender in everybody:
        contender.stop()
    return {contender.name: summary(contender, everybody) for contender in everybody}


def command(name: str) -> str:
    """The path of a program of this environment."""
    return str(pathlib.Path(sysconfig.get_path("scripts")) / name)


def prepare(records: int) -> dict[str, pathlib.Path]:
    """Packs the repeated photographs, once unchanged and once with --resize 256. Also writes the packed images as files."""
    if not SAMPLE.is_dir():
        sys.exit(f"bench: {SAMPLE} does not exist; the benchmark needs its photographs")
    photographs = sorted(SAMPLE.glob("*.JPEG"))
    program = command("fuelrail")
    made = {}
    for name, arguments in (("original", []), ("short256", ["--resize", "256"])):
        folder = WORK / f"{name}-{records}"
        made[name] = folder
        if (folder / "done").exists():
            continue
        (folder / "files").mkdir(parents=True, exist_ok=True)
        listing = folder / "all.lst"
        listing.write_text(
            "".join(
                f"{i}\t{i % len(photographs)}\t{photographs[i % len(photographs)].name}\n"
                for i in range(records)
            )
        )
        print(f"packing {folder / 'all.rec'} ...", flush=True)
        packing = [
            program,
            "pack",
            str(listing),
            str(folder / "all.rec"),
            "--root",
            str(SAMPLE),
            *arguments,
            "--overwrite",  # replaces the file of an interrupted run
        ]
        subprocess.run(packing, check=True, stderr=subprocess.DEVNULL)
        # Writes the same bytes as files, for the loaders that read files.
        for i in range(min(records, len(photographs))):
            image = subprocess.run(
                [program, "cat", str(folder / "all.rec"), str(i)], check=True, capture_output=True
            )
            (folder / "files" / f"{i:04}.jpg").write_bytes(image.stdout)
        (folder / "done").touch()
    return made


def peer_python(peer: str) -> str:
    """Returns the interpreter of a peer's own environment, which is created from bench/peers/PEER.txt if it does not exist.
    Packages that pip compiles find the .pc files in bench/peers/PEER/."""
    environment = ROOT / ".cache" / "peers" / peer
    python = environment / "bin" / "python"
    if not python.exists():
        print(f"creating {environment} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        wanted = str(PEERS / f"{peer}.txt")
        subprocess.run(
            [str(python), "-m", "pip", "install", "-q", "-r", wanted],
            check=True,
            env={**os.environ, "PKG_CONFIG_PATH": str(PEERS / peer)},
        )
    return str(python)


def best_workers(make: Callable[[int], Contender], threads: int) -> int:
    """Measures one epoch of `make(workers)` for each worker count, after a warm-up epoch. Returns: the fastest count; 1 if only
    one thread is used."""
    if threads == 1:
        return 1
    speeds = {}
    for workers in range(1, 2 * threads + 1):
        contender = make(workers)
        contender.run(0)
        answer = contender.run(1)
        contender.stop()
        speeds[workers] = answer["images"] / answer["seconds"]
    shown = ", ".join(f"{workers}: {speed:.0f} img/s" for workers, speed in speeds.items())
    print(f"  {contender.name} by workers: {shown}", flush=True)
    return max(speeds, key=lambda workers: speeds[workers])


def best_pillow_workers(source: pathlib.Path, records: int, threads: int) -> int:
    command = [
        sys.executable,
        str(PEERS / "pillow_loader.py"),
        str(source),
        str(min(records, 3200)),
    ]

    def make(workers: int) -> Contender:
        return Contender(
            "torch DataLoader + Pillow", [*command, str(workers), str(BATCH), str(SIDE)]
        )

    return best_workers(make, threads)


def measure_sets(
    options: argparse.Namespace,
    contenders: Callable[[pathlib.Path, argparse.Namespace, int], list[Contender]],
    pillow_reads: str,
) -> dict[str, Any]:
    """Runs all contenders on each set of photographs. `contenders`: takes a folder, the options, and Pillow's worker count."""
    sets = {}
    for name, folder in prepare(options.records).items():
        print(f"-- {name}", flush=True)
        workers = best_pillow_workers(folder / pillow_reads, options.records, options.threads)
        everybody = contenders(folder, options, workers)
        sets[name] = {
            "pillow_workers": workers,
            "contenders": run_epochs(everybody, options.rounds),
        }
    return sets


def summary(contender: Contender, everybody: list[Contender]) -> dict[str, object]:
    speeds = [e["images"] / e["seconds"] for e in contender.epochs]
    ratios = {}
    for other in everybody:
        if other is not contender:
            pairs = zip(contender.epochs, other.epochs, strict=True)
            ratios[other.name] = median_and_spread(
                [(a["images"] / a["seconds"]) / (b["images"] / b["seconds"]) for a, b in pairs]
            )
    result: dict[str, object] = {
        "images_per_second": median_and_spread(speeds),
        "cpu_seconds_per_1000_images": median_and_spread(
            [1000 * e["cpu_seconds"] / e["images"] for e in contender.epochs]
        ),
        "ratio_to": ratios,
        **contender.start,
    }
    last = contender.epochs[-1]
    for stage in ("read", "decode", "resize", "write"):
        if stage in last:
            result[f"{stage}_ms_per_image"] = median_and_spread(
                [1000 * e[stage] / e["images"] for e in contender.epochs]
            )
    for key in OF_FUELRAIL:
        if key in last:
            result[key] = last[key]
    return result


def median_and_spread(values: list[float]) -> list[float]:
    """The median, and half the distance between the quartiles."""
    if len(values) < 2:
        return [values[0], 0.0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return [middle, (high - low) / 2]


def machine() -> dict[str, object]:
    info = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    field = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in info if ":" in line}
    flags = set(field.get("flags", "").split())
    vectors = sorted(f for f in flags if f.startswith(("avx", "sse4", "fma", "vaes", "gfni")))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    jpeg = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "libjpeg62-turbo"], capture_output=True, text=True
    )
    return {
        "cpu": field.get("model name", platform.processor()),
        "cores": os.cpu_count(),
        "cpu_flags": vectors,
        "python": platform.python_version(),
        "fuelrail": fuelrail.__version__,
        "libjpeg-turbo": jpeg.stdout,
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "pillow": PIL.__version__,
        "pillow_libjpeg-turbo": PIL.features.version("libjpeg_turbo"),
        "dali": (PEERS / "dali.txt").read_text().strip(),
        "system": platform.platform(),
        "commit": commit.strip(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def processor(about: dict[str, Any]) -> str:
    flags = about["cpu_flags"]
    vectors = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    return f"{about['cpu']}, {about['cores']} cores, {vectors}"


def pair(value: list[float] | None, digits: int) -> str:
    """A median and its spread."""
    return "-" if value is None else f"{value[0]:.{digits}f} +- {value[1]:.{digits}f}"


def heading(title: str, results: dict[str, Any], software: str, job: str) -> list[str]:
    """The first lines of a report. `software`: names and versions; `job`: records, rounds and threads of the run."""
    about = results["machine"]
    return [
        f"# {title}, {about['date']}, commit {about['commit']}",
        "",
        f"{processor(about)}; {software}.",
        f"Command: `{results['command']}` ({job}).",
        "Values are medians over the rounds, +- half the distance between the quartiles.",
    ]


def publish(name: str, results: dict[str, Any], text: str, quick: bool) -> None:
    """Prints the report. Unless `quick`, also writes it to bench/results, as NAME-<cpu>-<date>.json and .md."""
    print("\n" + text)
    if not quick:
        write(name, results, text)


def write(name: str, results: dict[str, object], text: str) -> None:
    """Writes the results to bench/results, as NAME-<cpu>-<date>.json and .md."""
    about = results["machine"]
    assert isinstance(about, dict)
    cpu = "".join(c if c.isalnum() else "-" for c in str(about["cpu"])).strip("-").lower()
    stem = ROOT / "bench" / "results" / f"{name}-{cpu}-{about['date']}"
    stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    stem.with_suffix(".md").write_text(text)
    print(f"written: {stem}.md and .json")
