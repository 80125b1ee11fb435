"""Measures the gap between epochs: the time from the last batch of an epoch to the first batch of the next.

    .venv/bin/python bench/epoch_gap.py [FILE.rec] [--records 1600] [--epochs 40] [--threads 2]

FILE: any packed file; its first RECORDS records are an epoch. Default: the photographs of ../shared/data/imagenet-sample,
repeated and packed with resize=256.
The job is the one of bench/loader.py, for two kinds of user. One takes batches as fast as they come. The other works on each
batch for twice as long as the loader needs to make it (it sleeps instead of using an accelerator), so that the loader is ahead.
Both also run only every second epoch, chosen by `set_epoch`. The loader cannot prefetch an epoch that is chosen in this way, so
this measures the cost of a loader that prefetches only within epochs.

"step" is the time between two batches of an epoch. "gap" is the time between the last batch of an epoch and the first of the
next. "over" is the gap minus the run's median step: the cost of an epoch's end. Results go to
bench/results/epoch-gap-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import statistics
import sys
import time
from collections.abc import Callable

from rounds import SAMPLE, SIDE, WORK, machine, write

import fuelrail as fr

BATCH = 64
MOST_MS = 20.0


def sample(records: int = 1600) -> pathlib.Path:
    """Returns the file of the repeated photographs, and packs it if it does not exist."""
    folder = WORK / "epoch-gap"
    path = folder / "all.rec"
    if not path.exists():
        if not SAMPLE.is_dir():
            sys.exit(f"bench: {SAMPLE} does not exist; give the path of a packed file")
        folder.mkdir(parents=True, exist_ok=True)
        photographs = itertools.cycle(sorted(SAMPLE.glob("*.JPEG")))
        lines = [f"{i}\t0\t{p}\n" for i, p in enumerate(itertools.islice(photographs, records))]
        (folder / "all.lst").write_text("".join(lines))
        fr.pack(folder / "all.lst", path, resize=256)
    return path


def make(data: fr.Dataset, threads: int) -> fr.Loader:
    return fr.Loader(
        data, BATCH, shuffle="full", seed=1, threads=threads,
        transforms=[
            fr.transforms.RandomResizedCrop(SIDE),
            fr.transforms.HorizontalFlip(0.5),
            fr.transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ],
    )  # fmt: skip


def measure(
    loader: fr.Loader, epochs: int, work: Callable[[], None], stride: int
) -> dict[str, float]:
    """Measures in milliseconds. `stride`: 1 runs consecutive epochs; 2 skips to epochs that were not prefetched."""
    steps: list[float] = []
    gaps: list[float] = []
    first = loader.state_dict()["epoch"]
    before = None
    for epoch in range(first, first + stride * epochs, stride):
        if stride > 1:
            loader.set_epoch(epoch)
        for number, _ in enumerate(loader):
            now = time.perf_counter()
            if before is not None:
                (gaps if number == 0 else steps).append(1000 * (now - before))
            before = now
            work()
    step = statistics.median(steps)
    low, *_, high = statistics.quantiles(steps, n=20)
    return {
        "step_ms": step,
        "step_5_percent_ms": low,
        "step_95_percent_ms": high,
        "gap_ms": statistics.median(gaps),
        "gap_most_ms": max(gaps),
        "over_ms": statistics.median(gaps) - step,
        "over_most_ms": max(gaps) - step,
        "gaps": len(gaps),
    }


def report(results: dict[str, object]) -> str:
    about, runs = results["machine"], results["runs"]
    assert isinstance(about, dict)
    assert isinstance(runs, dict)
    lines = [
        f"# The gap between epochs, {about['date']}, commit {about['commit']}",
        "",
        f"{about['cpu']}, {about['cores']} cores; load {results['load']} at the beginning.",
        f"Command: `{results['command']}` ({results['records']} records, {results['batches']} batches of {BATCH} an epoch, "
        f"page cache warm). Milliseconds.",
        "",
        "| | gaps | step: median (5 %, 95 %) | gap: median, most | over the median step: median, most |",
        "|---|---|---|---|---|",
    ]
    for name, r in runs.items():
        lines.append(
            f"| {name} | {r['gaps']} | {r['step_ms']:.1f} ({r['step_5_percent_ms']:.1f}, {r['step_95_percent_ms']:.1f}) | "
            f"{r['gap_ms']:.1f}, {r['gap_most_ms']:.1f} | {r['over_ms']:.1f}, {r['over_most_ms']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--records", type=int, default=1600)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    load = pathlib.Path("/proc/loadavg").read_text().split()[0]
    loader = make(fr.open(options.file or sample())[: options.records], options.threads)
    for _ in loader:  # warms the page cache
        pass
    runs: dict[str, dict[str, float]] = {}

    def run(name: str, work: Callable[[], None], stride: int) -> None:
        runs[name] = measure(loader, options.epochs, work, stride)
        print(
            f"  {name}: over {runs[name]['over_ms']:.1f} ms, at most {runs[name]['over_most_ms']:.1f}"
        )

    run("as fast as they come", lambda: None, 1)
    seconds = 2 * runs["as fast as they come"]["step_ms"] / 1000
    run("a user who works on each", lambda: time.sleep(seconds), 1)
    run("as fast as they come, epochs not foreseen", lambda: None, 2)
    run("a user who works on each, epochs not foreseen", lambda: time.sleep(seconds), 2)

    results: dict[str, object] = {
        "command": " ".join(["bench/epoch_gap.py", *sys.argv[1:]]),
        "records": len(loader.dataset),
        "batches": len(loader),
        "load": load,
        "machine": machine(),
        "runs": runs,
    }
    text = report(results)
    print("\n" + text)
    write("epoch-gap", results, text)
    foreseen = [name for name in runs if "not foreseen" not in name]
    return 0 if all(runs[name]["over_ms"] < MOST_MS for name in foreseen) else 1


if __name__ == "__main__":
    sys.exit(main())
