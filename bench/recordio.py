"""ImageRecordIter beside MXNet's own, the native loader and a Pillow pipeline, interleaved in one run.

    ./run bench recordio                 the whole run, on ../shared/data/imagenet-sample
    ./run bench recordio --quick         fewer rounds, fewer records: a look, not a result

The job: shuffled by the index, random-resized-crop 224 (bilinear, not antialiased: OpenCV's), mirror, mean and deviation,
float32 NCHW batches of 256, on the photographs as they are and packed with `--resize 256`. ImageRecordIter is one program for
both (bench/peers/image_record_iter.py); MXNet 1.9.1 has an environment of its own (.cache/peers/mxnet) and the threads that it
gives itself: one on two cores, whatever is asked for. What a ratio and its spread are, bench/loader.py says. Results go to
bench/results/recordio-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any

from loader import (
    BATCH,
    PEERS,
    SIDE,
    Contender,
    best_pillow_workers,
    machine,
    pair,
    peer_python,
    prepare,
    processor,
    summary,
    write,
)

OURS, MXNET = "fuelrail.mxnet.io.ImageRecordIter", "mxnet.io.ImageRecordIter 1.9.1"
NATIVE, PILLOW = "fuelrail.torch.DataLoader", "torch DataLoader + Pillow"


def contenders(
    folder: pathlib.Path, records: int, threads: int, pillow_workers: int
) -> list[Contender]:
    rec, shape = str(folder / "all.rec"), [str(BATCH), str(SIDE)]
    iterator = str(PEERS / "image_record_iter.py")
    native = [str(PEERS / "fuelrail_loader.py"), rec, str(threads), *shape, "--no-antialias"]
    pillow = [str(PEERS / "pillow_loader.py"), str(folder / "files"), str(records)]
    return [
        Contender(OURS, [sys.executable, iterator, "fuelrail", rec, str(threads), *shape]),
        Contender(MXNET, [peer_python("mxnet"), iterator, "mxnet", rec, str(threads), *shape]),
        Contender(NATIVE, [sys.executable, *native]),
        Contender(PILLOW, [sys.executable, *pillow, str(pillow_workers), *shape]),
    ]


def measure(folder: pathlib.Path, records: int, rounds: int, threads: int) -> dict[str, Any]:
    workers = best_pillow_workers(folder, records, threads)
    everybody = contenders(folder, records, threads, workers)
    for contender in everybody:
        contender.run(0, keep=False)  # warms the page cache and the contender
        contender.settle()
    for epoch in range(1, rounds + 1):
        first = epoch % len(everybody)
        for contender in [*everybody[first:], *everybody[:first]]:
            answer = contender.run(1000 + 2 * epoch)
            contender.settle()
            speed = answer["images"] / answer["seconds"]
            print(f"  round {epoch}/{rounds}  {contender.name}: {speed:.0f} img/s", flush=True)
    for contender in everybody:
        contender.stop()
    return {
        "pillow_workers": workers,
        "contenders": {c.name: summary(c, everybody) for c in everybody},
    }


def report(results: dict[str, Any]) -> str:
    about = results["machine"]
    lines = [
        f"# ImageRecordIter, {about['date']}, commit {about['commit']}",
        "",
        f"{processor(about)}; "
        f"Python {about['python']}, libjpeg-turbo {about['libjpeg-turbo']}, torch {about['torch']}, Pillow {about['pillow']}.",
        f"Command: `{results['command']}` ({results['records']} records, {results['rounds']} rounds, {results['threads']} "
        "threads, page cache warm).",
        "Values are medians over the rounds, +- half the distance between the quartiles.",
    ]
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
    options = parser.parse_args()
    if options.quick:
        options.records, options.rounds = 1600, 3
    results: dict[str, Any] = {
        "command": " ".join(["./run bench recordio", *sys.argv[1:]]),
        "records": options.records,
        "rounds": options.rounds,
        "threads": options.threads,
        "machine": machine(),
        "sets": {},
    }
    for name, folder in prepare(options.records).items():
        print(f"-- {name}", flush=True)
        results["sets"][name] = measure(folder, options.records, options.rounds, options.threads)
    text = report(results)
    print("\n" + text)
    if not options.quick:
        write("recordio", results, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
