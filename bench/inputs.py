"""Measures structured inputs: samples of a data provider with two cameras, beside DALI and torch.

    ./run bench inputs                the whole run
    ./run bench inputs --quick        fewer rounds and records, for a rough figure only
    ./run bench inputs --only raw     one of encoded, raw, first, memory, fields; may be repeated

The provider (bench/peers/two_cameras.py) gives two images of 720 x 1280, boxes, classes, matrices and a text. All contenders
call it, shuffle, decode its images, resize them to 396 x 704 with antialiasing, normalise them to float32 NCHW, and move boxes
and matrices with them, in batches of 16:

- packed: `fuelrail.torch.DataLoader` on the file that `fuelrail.pack` makes of the provider, with two threads;
- provider: the same on the provider itself, in two worker processes and two threads;
- DALI: `ShuffledShardedInputCallable` and `PipelineDefinition` of fuelrail.inputs, with a parallel external source of two workers;
- torch: torch's DataLoader with two workers, and Pillow.

`encoded`: the provider gives the bytes of JPEG files. `raw`: it gives pixels, which it reads from memory-mapped `.npy` files. DALI and torch
run with the fastest of several settings, which are tried first. Before the rounds, all must give the same values: classes,
texts and other fields equal, boxes within 1e-4 pixels, images as the report says.

`first`: seconds from the construction of a loader to its first batch, in fresh processes, after imports. `memory`: of the
loader's process and its workers, after 2 and after 20 epochs. `fields`: what the small fields of the two cameras cost in the
process that takes the batches.

The photographs are those of bench/samples.py, or made up if they are missing. Every contender is a separate process, and each
round runs all of them in turn (bench/rounds.py). Results go to bench/results/inputs-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile
from typing import Any

import numpy as np
from PIL import Image
from rounds import (
    PEERS,
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
    run_epochs,
)

sys.path.append(str(PEERS))
from sample_jobs import CAMERA, STD
from sample_sets import photographs, two_cameras
from two_cameras import BATCH, TwoCameras

import fuelrail as fr

PACKED, PROVIDER, DALI, TORCH = "fuelrail, packed", "fuelrail, provider", "DALI", "torch + Pillow"
KINDS = ("encoded", "raw")
FRAMES = 64  # that differ
SETTINGS = {
    DALI: [(2, ahead, start) for start in ("fork", "spawn") for ahead in (2, 4)],
    TORCH: [
        (resize, where) for resize in ("pillow", "torchvision") for where in ("worker", "consumer")
    ],
}
HEADS = {
    DALI: "num_threads, prefetch, py_start_method",
    TORCH: "resizing by, normalisation in the",
}
MEMORY_EPOCHS = (2, 20)
COLUMNS = 8  # small fields of the two cameras
SMALL_RECORDS = 4096  # samples without images


def pictures(folder: pathlib.Path) -> list[pathlib.Path]:
    """The photographs, or smooth noise."""
    if SAMPLE.is_dir():
        return photographs()[:FRAMES]
    made = []
    for number in range(FRAMES):
        small = np.random.default_rng(number).integers(0, 256, (30, 52, 3), dtype=np.uint8)
        made.append(folder / f"{number}.png")
        Image.fromarray(small).resize(CAMERA[::-1], Image.Resampling.BICUBIC).save(made[-1])
    return made


def frames(records: int) -> pathlib.Path:
    """Makes the provider's files, and packs `records` samples of each kind. Returns: their folder."""
    folder = WORK / f"inputs-{records}"
    done = folder / "done"
    if done.exists():
        return folder
    print(f"making {folder} ...", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "files").mkdir(parents=True)
    annotations = []
    with tempfile.TemporaryDirectory() as made:
        for number, path in enumerate(pictures(pathlib.Path(made))):
            stem = folder / "files" / f"{number:04}"
            annotations.append(two_cameras(path, np.random.default_rng(number), stem))
            for camera in range(2):
                with Image.open(f"{stem}-{camera}.jpg") as image:
                    np.save(f"{stem}-{camera}.npy", np.asarray(image))
    (folder / "annotations.json").write_text(json.dumps(annotations))
    for kind, samples in (*((kind, records) for kind in KINDS), ("small", SMALL_RECORDS)):
        data = fr.open_python(TwoCameras(folder, kind, samples), workers=0)
        fr.pack(data, folder / f"{kind}.rec", schema=data.schema_as_given)
    done.touch()
    return folder


class Makers:
    """Starts the contenders of one kind of images."""

    def __init__(self, folder: pathlib.Path, kind: str, records: int) -> None:
        self._job = (folder, kind, records)
        self._saved = folder / "saved"
        self._saved.mkdir(exist_ok=True)

    def fuelrail(self, source: str, *more: str) -> Contender:
        name = {"packed": PACKED, "provider": PROVIDER}[source]
        return self._contender(name, sys.executable, "fuelrail_inputs.py", (source,), more)

    def dali(self, *settings: object) -> Contender:
        return self._contender(DALI, peer_python("dali"), "dali_inputs.py", (), settings)

    def torch(self, *settings: object) -> Contender:
        return self._contender(TORCH, sys.executable, "torch_inputs.py", (), settings)

    def best(self, name: str) -> tuple[Contender, dict[str, float]]:
        """The contender with its fastest settings, and the samples/s of all settings with fewer samples, fastest first."""
        make = self.dali if name == DALI else self.torch
        fewer = Makers(self._job[0], self._job[1], FRAMES)
        trial = fewer.dali if name == DALI else fewer.torch
        speeds = {}
        for settings in SETTINGS[name]:
            contender = trial(*settings)
            answers = [contender.run(epoch) for epoch in range(2)]
            contender.stop()
            speeds[settings] = max(answer["images"] / answer["seconds"] for answer in answers)
            print(f"  {name}, {settings}: {speeds[settings]:.0f} samples/s", flush=True)
        order = sorted(speeds, key=lambda settings: -speeds[settings])
        return make(*order[0]), {", ".join(map(str, one)): speeds[one] for one in order}

    def saved(self, name: str) -> dict[str, Any]:
        """What the contender has saved of its first batches."""
        with np.load(self._path(name)) as values:
            return dict(values)

    def _path(self, name: str) -> pathlib.Path:
        return self._saved / f"{self._job[1]} {name}.npz"

    def _contender(
        self, name: str, python: str, program: str, before: tuple[str, ...], after: Any
    ) -> Contender:
        words = [*before, *self._job, self._path(name), *after]
        return Contender(name, [python, str(PEERS / program), *map(str, words)])


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    """The largest and the mean difference of images, in levels of 255, and of boxes in pixels. Ends the program if anything
    else differs."""
    levels, boxes = [], [0.0]
    if ours.keys() != theirs.keys():
        sys.exit(f"bench: fields differ: {sorted(ours.keys() ^ theirs.keys())}")
    for name, value in ours.items():
        if name.endswith("image"):
            levels.append(abs(value - theirs[name]) * 255 * np.array(STD).reshape(3, 1, 1))
        elif name.endswith("boxes"):
            boxes.append(float(abs(value - theirs[name]).max()))
        elif not np.array_equal(value, theirs[name]):
            sys.exit(f"bench: '{name}' differs: {value} and {theirs[name]}")
    if max(boxes) > 1e-4:
        sys.exit(f"bench: boxes differ by up to {max(boxes)} pixels")
    return {
        "largest": float(np.max(levels)),
        "mean": float(np.mean(levels)),
        "boxes": max(boxes),
    }


def loading(folder: pathlib.Path, kind: str, options: argparse.Namespace) -> dict[str, Any]:
    print(f"-- {kind}", flush=True)
    make = Makers(folder, kind, options.records)
    peers = {name: make.best(name) for name in (DALI, TORCH)}
    everybody = [make.fuelrail("packed"), make.fuelrail("provider")]
    everybody += [contender for contender, _ in peers.values()]
    ours = make.saved(PACKED)
    return {
        "settings": {name: speeds for name, (_, speeds) in peers.items()},
        "differences": {
            name: differences(ours, make.saved(name)) for name in (PROVIDER, DALI, TORCH)
        },
        "contenders": run_epochs(everybody, options.rounds),
    }


def first_batches(folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds to the first batch of fuelrail, packed and provider, in fresh processes."""
    results: dict[str, Any] = {}
    for kind in KINDS:
        print(f"-- first batch, {kind}", flush=True)
        make = Makers(folder, kind, options.records)
        seconds: dict[str, list[float]] = {}
        for _ in range(options.rounds):
            for source in ("packed", "provider"):
                contender = make.fuelrail(source, "first")
                contender.stop()
                seconds.setdefault(contender.name, []).append(
                    contender.start["first_batch_seconds"]
                )
        results[kind] = {name: median_and_spread(values) for name, values in seconds.items()}
    return results


def memory(folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    """MiB of the provider's loader and its workers, with epochs of FRAMES samples."""
    results: dict[str, Any] = {}
    for kind in KINDS:
        print(f"-- memory, {kind}", flush=True)
        contender = Makers(folder, kind, FRAMES).fuelrail("provider", "long")
        answers = [contender.run(epoch) for epoch in range(MEMORY_EPOCHS[-1])]
        contender.stop()
        results[kind] = {
            name: [answers[epoch - 1][name] for epoch in MEMORY_EPOCHS]
            for name in ("memory_mib", "shared_mib")
        }
    return results


def fields(folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    """Microseconds for a field of a sample, in the process that takes the batches."""
    print("-- small fields", flush=True)
    results: dict[str, Any] = {}
    make = Makers(folder, "small", SMALL_RECORDS)
    for source in ("packed", "provider"):
        contenders = {columns: make.fuelrail(source, columns) for columns in ("frame", "whole")}
        values: dict[str, list[float]] = {}
        for number in range(options.rounds + 1):
            cost = {columns: contender.run(number) for columns, contender in contenders.items()}
            for name in ("consumer_us", "process_us"):
                more = cost["whole"][name] - cost["frame"][name]
                values.setdefault(name, []).append(more / COLUMNS)
        for contender in contenders.values():
            contender.stop()
        results[source] = {name: median_and_spread(them[1:]) for name, them in values.items()}
    return results


def report(results: dict[str, Any]) -> str:
    about = results["machine"]
    software = (
        f"Python {about['python']}, libjpeg-turbo {about['libjpeg-turbo']}, torch {about['torch']}, "
        f"Pillow {about['pillow']} (libjpeg-turbo {about['pillow_libjpeg-turbo']}), {about['dali']}"
    )
    job = (
        f"{results['records']} samples of {FRAMES} pairs of images, {results['rounds']} rounds, batches of {BATCH}, 2 threads "
        "or worker processes, page cache warm"
    )
    lines = heading("Structured inputs", results, software, job)
    for kind, part in results["loading"].items():
        lines += [
            "",
            f"## {kind} images",
            "",
            "| | samples/s | CPU s / 1,000 samples | first batch, s | memory, MiB | packed is that many times faster "
            "| provider is that many times faster |",
            "|---|---|---|---|---|---|---|",
        ]
        ratios = [part["contenders"][name]["ratio_to"] for name in (PACKED, PROVIDER)]
        for who, c in part["contenders"].items():
            times = " | ".join(pair(ratio.get(who), 2) for ratio in ratios)
            lines.append(
                f"| {who} | {pair(c['images_per_second'], 0)} | {pair(c['cpu_seconds_per_1000_images'], 2)} | "
                f"{c['first_batch_seconds']:.2f} | {c['memory_mib']:.0f} | {times} |"
            )
        lines.append("")
        lines += [
            f"{name} with ({HEADS[name]}), samples/s of {FRAMES} samples: "
            + "; ".join(f"({one}) {speed:.0f}" for one, speed in part["settings"][name].items())
            + ". The first took part."
            for name in (DALI, TORCH)
        ]
        lines += [
            "",
            "Images differ from those of the packed file by, in levels of 255: "
            + "; ".join(
                f"{name}: at most {d['largest']:.2f}, on average {d['mean']:.3f}"
                for name, d in part["differences"].items()
            )
            + ".",
        ]
    if "first" in results:
        lines += [
            "",
            "## Seconds to the first batch",
            "",
            f"| | {' | '.join(KINDS)} |",
            "|---|---|---|",
        ]
        for name in (PACKED, PROVIDER):
            times = " | ".join(pair(results["first"][kind][name], 3) for kind in KINDS)
            lines.append(f"| {name} | {times} |")
    if "memory" in results:
        lines += [
            "",
            f"## Memory of {PROVIDER} after {MEMORY_EPOCHS[0]} and {MEMORY_EPOCHS[1]} epochs, MiB",
            "",
            "| | process and workers | of which shared memory |",
            "|---|---|---|",
        ]
        for kind, of in results["memory"].items():
            cells = [f"{a:.0f}, {b:.0f}" for a, b in of.values()]
            lines.append(f"| {kind} | {' | '.join(cells)} |")
    if "fields" in results:
        lines += [
            "",
            f"## {COLUMNS} small fields: microseconds for a field of a sample",
            "",
            "| | thread that takes the batches | its process, all threads |",
            "|---|---|---|",
        ]
        for source, cost in results["fields"].items():
            cells = [pair(cost[name], 2) for name in ("consumer_us", "process_us")]
            lines.append(f"| {source} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parts = {"first": first_batches, "memory": memory, "fields": fields}
    only = {
        "action": "append",
        "choices": [*KINDS, *parts],
        "help": "measure only this part; may be repeated",
    }
    options = options_of(__doc__, "records", 5, (64, 2), ("--only", only), count=128)
    chosen = options.only or [*KINDS, *parts]
    use_own_bytecode()
    results = begun("./run bench inputs", options, "records")
    folder = frames(options.records)
    results["loading"] = {kind: loading(folder, kind, options) for kind in KINDS if kind in chosen}
    for part, measure in parts.items():
        if part in chosen:
            results[part] = measure(folder, options)
    publish("inputs", results, report(results), options.quick or options.only is not None)
    return 0


def use_own_bytecode() -> None:
    """From now on, programs that are started find this package, and the compiled modules that pip makes at installation: those
    of .venv are not compiled."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(WORK / "bytecode")
    os.environ["PYTHONPATH"] = str(pathlib.Path(fr.__file__).parents[1])


if __name__ == "__main__":
    sys.exit(main())
