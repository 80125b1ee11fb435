"""Loader throughput: fuelrail, a Pillow pipeline in torch's DataLoader, and the limit, interleaved in one run.

    ./run bench                  the whole run, on ../shared/data/imagenet-sample
    ./run bench --quick          fewer rounds, fewer records: a look, not a result
    ./run bench --threads 1      one thread for each contender, not two
    ./run bench --dali           also NVIDIA DALI, in a virtual environment of its own (.cache/peers/dali, 1.1 GB)

The job: random-resized-crop 224, horizontal flip, normalise, float32 NCHW batches of 256, on the photographs as they are
and packed with `--resize 256`. Every contender is a process of its own (bench/peers/) that answers "run epoch E"; rounds
go through all contenders in turn, so that what disturbs the machine disturbs all alike. A ratio is the median over the
rounds of the ratio within the round; its spread is half the distance between the quartiles. Results go to
bench/results/loader-<cpu>-<date>.json and .md.
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
from typing import Any

import numpy
import PIL.features
import torch

import fuelrail

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLE = ROOT.parent / "shared" / "data" / "imagenet-sample"
PEERS = ROOT / "bench" / "peers"
WORK = ROOT / ".cache" / "bench"
BATCH, SIDE = 256, 224
OURS = (
    "memory_mib",
    "slots_mib",
    "growth_mib",
    "fetch_ms_per_image",
    "process_ms_per_image",
    "limited_by",
)


def cpu_ticks(group: int) -> int:
    """The processor time that the living processes of a group have used, in clock ticks."""
    ticks = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks


class Contender:
    """A process that loads one dataset, epoch by epoch."""

    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self.epochs: list[dict[str, float]] = []
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0
        )
        self.start = (
            self._answer()
        )  # first-batch latency and memory, where the contender knows them

    def run(self, request: object, keep: bool = True) -> dict[str, float]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()
        answer = self._answer()
        if keep:
            self.epochs.append(answer)
        return answer

    def settle(self) -> None:
        """Waits until it and its children do nothing: most contenders read ahead of an epoch nobody has asked for,
        and would take the processor from the next one."""
        used, deadline = 0, time.monotonic() + 30
        while abs(used - (used := cpu_ticks(self._process.pid))) > 1:  # of ten a core
            if time.monotonic() > deadline:
                sys.exit(f"bench: {self.name} still works, 30 s after its epoch")
            time.sleep(0.1)

    def stop(self) -> None:
        self._process.communicate()

    def _answer(self) -> dict[str, float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"bench: {self.name} ended without an answer")
        answer: dict[str, float] = json.loads(line)
        return answer


def prepare(records: int) -> dict[str, pathlib.Path]:
    """Packs the photographs, repeated, as they are and with --resize 256; and the latter's images as files."""
    if not SAMPLE.is_dir():
        sys.exit(f"bench: {SAMPLE} is not here; the benchmark needs its photographs")
    photographs = sorted(SAMPLE.glob("*.JPEG"))
    fuelrail = str(pathlib.Path(sysconfig.get_path("scripts")) / "fuelrail")
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
        command = [
            fuelrail,
            "pack",
            str(listing),
            str(folder / "all.rec"),
            "--root",
            str(SAMPLE),
            *arguments,
            "--overwrite",  # of a run that was cut short
        ]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        for i in range(
            len(photographs)
        ):  # the same bytes as files, for the loaders that read files
            image = subprocess.run(
                [fuelrail, "cat", str(folder / "all.rec"), str(i)], check=True, capture_output=True
            )
            (folder / "files" / f"{i:04}.jpg").write_bytes(image.stdout)
        (folder / "done").touch()
    return made


def peer_python(peer: str) -> str:
    """The interpreter of a peer's own environment, which is made when it is not there: bench/peers/PEER.txt says of what."""
    environment = ROOT / ".cache" / "peers" / peer
    python = environment / "bin" / "python"
    if not python.exists():
        print(f"making {environment} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        wanted = str(PEERS / f"{peer}.txt")
        subprocess.run([str(python), "-m", "pip", "install", "-q", "-r", wanted], check=True)
    return str(python)


def contenders(
    folder: pathlib.Path, records: int, threads: int, pillow_workers: int, dali: bool
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
                str(threads),
                *shape,
            ],
        ),
        Contender(
            "torch DataLoader + Pillow",
            [
                python,
                str(PEERS / "pillow_loader.py"),
                str(folder / "files"),
                str(records),
                str(pillow_workers),
                *shape,
            ],
        ),
        Contender("limit", [*limit, str(threads), *shape]),
    ]
    if dali:
        adapter = [
            peer_python("dali"),
            str(PEERS / "dali_loader.py"),
            str(folder / "all.rec"),
            str(threads),
        ]
        everybody.insert(2, Contender("DALI", [*adapter, *shape]))
    return everybody


def best_pillow_workers(folder: pathlib.Path, records: int, threads: int) -> int:
    """One epoch for each worker count (one thread is one worker), after one that is not counted; the fastest wins."""
    if threads == 1:
        return 1
    speeds = {}
    for workers in range(1, 2 * threads + 1):
        command = [
            sys.executable,
            str(PEERS / "pillow_loader.py"),
            str(folder / "files"),
            str(min(records, 3200)),
        ]
        contender = Contender(
            "torch DataLoader + Pillow", [*command, str(workers), str(BATCH), str(SIDE)]
        )
        contender.run(0)
        answer = contender.run(1)
        contender.stop()
        speeds[workers] = answer["images"] / answer["seconds"]
    print(
        "  Pillow by workers: " + ", ".join(f"{w}: {s:.0f} img/s" for w, s in speeds.items()),
        flush=True,
    )
    return max(speeds, key=lambda workers: speeds[workers])


def measure(
    folder: pathlib.Path, records: int, rounds: int, threads: int, dali: bool
) -> dict[str, object]:
    workers = best_pillow_workers(folder, records, threads)
    all_contenders = contenders(folder, records, threads, workers, dali)
    for contender in all_contenders:
        contender.run(0, keep=False)  # warms the page cache and the contender
        contender.settle()
    for epoch in range(1, rounds + 1):
        for contender in all_contenders:
            # One epoch, one order, the same boxes for fuelrail and the limit.
            answer = contender.run(1000 + 2 * epoch)
            contender.settle()
            print(
                f"  round {epoch}/{rounds}  {contender.name}: {answer['images'] / answer['seconds']:.0f} img/s",
                flush=True,
            )
    for contender in all_contenders:
        contender.stop()
    return {
        "pillow_workers": workers,
        "contenders": {c.name: summary(c, all_contenders) for c in all_contenders},
    }


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
    for stage in ("decode", "resize", "write"):
        if stage in last:
            result[f"{stage}_ms_per_image"] = median_and_spread(
                [1000 * e[stage] / e["images"] for e in contender.epochs]
            )
    for key in OURS:
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


def report(results: dict[str, object]) -> str:
    about = results["machine"]
    assert isinstance(about, dict)
    lines = [
        f"# Loader throughput, {about['date']}, commit {about['commit']}",
        "",
        f"{processor(about)}; "
        f"Python {about['python']}, libjpeg-turbo {about['libjpeg-turbo']}, torch {about['torch']}, "
        f"Pillow {about['pillow']} (its own libjpeg-turbo {about['pillow_libjpeg-turbo']}).",
        f"Command: `{results['command']}` ({results['records']} records, {results['rounds']} rounds, {results['threads']} threads, page "
        "cache warm).",
        "Values are medians over the rounds, +- half the distance between the quartiles.",
    ]
    for name, part in results["sets"].items():  # type: ignore[attr-defined]
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


def write(name: str, results: dict[str, object], text: str) -> None:
    """Into bench/results, as NAME-<cpu>-<date>.json and .md."""
    about = results["machine"]
    assert isinstance(about, dict)
    cpu = "".join(c if c.isalnum() else "-" for c in str(about["cpu"])).strip("-").lower()
    stem = ROOT / "bench" / "results" / f"{name}-{cpu}-{about['date']}"
    stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    stem.with_suffix(".md").write_text(text)
    print(f"written: {stem}.md and .json")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2, help="of each contender; default 2")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="1,600 records, 3 rounds, nothing written to bench/results",
    )
    parser.add_argument(
        "--dali", action="store_true", help="also NVIDIA DALI, in an environment of its own"
    )
    options = parser.parse_args()
    if options.quick:
        options.records, options.rounds = 1600, 3
    results: dict[str, object] = {
        "command": " ".join(["./run bench", *sys.argv[1:]]),
        "records": options.records,
        "rounds": options.rounds,
        "threads": options.threads,
        "machine": machine(),
    }
    sets: dict[str, object] = {}
    results["sets"] = sets
    for name, folder in prepare(options.records).items():
        print(f"-- {name}", flush=True)
        sets[name] = measure(folder, options.records, options.rounds, options.threads, options.dali)
    text = report(results)
    print("\n" + text)
    if not options.quick:
        name = "loader" if options.threads == 2 else f"loader-{options.threads}-threads"
        write(name, results, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
