"""Measures loader throughput: fuelrail, its peers, and limits, interleaved in one run.

    ./run bench                  the whole run, on ../shared/data/imagenet-sample
    ./run bench --quick          fewer rounds and records, for a rough figure only
    ./run bench --threads 1      one thread for each contender instead of two
    ./run bench --peers dali,ffcv,turboloader,grain
                                 also measures these, in virtual environments of their own (.cache/peers; DALI: 1.1 GB)

The job: random-resized-crop 224, horizontal flip, normalise, float32 NCHW batches of 256. It runs on the unchanged
photographs, and on photographs packed with `--resize 256`. fuelrail takes part with entry points, without, and with
libjpeg-turbo instead of its own decoder. The limits (bench/limit/limit.cc) are libjpeg-turbo's region decoding or fuelrail's
decoder, resizing and writing, without an engine. Every contender is a separate process (bench/peers/), and each round runs all
contenders in turn (bench/rounds.py). A ratio is the median over the rounds of the ratio within the round; its spread is half
the distance between the quartiles. Results go to bench/results/loader-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
from typing import Any

from rounds import (
    BATCH,
    PEERS,
    ROOT,
    SIDE,
    THREADS,
    WORK,
    Contender,
    begun,
    command,
    heading,
    measure_sets,
    options_of,
    pair,
    peer_python,
    publish,
)

# The peers besides Pillow: the program in bench/peers, and whether it reads the packed file or a folder of files.
OTHERS = {
    "dali": ("DALI", "dali_loader.py", "packed"),
    "ffcv": ("FFCV", "ffcv_loader.py", "files"),
    "turboloader": ("TurboLoader", "turboloader_loader.py", "files"),
    "grain": ("Grain", "grain_loader.py", "files"),
}
# With entry points, without, and the limits: libjpeg-turbo; fuelrail's decoder; this with reading and checksums.
INDEXED, PLAIN, LIBJPEG = "fuelrail, entry points", "fuelrail", "fuelrail with libjpeg-turbo"
LIMITS = {"limit, libjpeg-turbo": "libjpeg", "limit": "own", "limit with reading": "read"}
PILLOW = "torch DataLoader + Pillow"
COMPARED = (LIBJPEG, PILLOW, *LIMITS)


def indexed(folder: pathlib.Path) -> pathlib.Path:
    """The same file under another name, with entry points in its sidecar."""
    other = folder / "indexed.rec"
    other.unlink(missing_ok=True)
    other.hardlink_to(folder / "all.rec")
    subprocess.run([command("fuelrail"), "index", str(other), "-q"], check=True)
    return other


def share_of_entry_points(folder: pathlib.Path) -> float:
    """Their bytes, relative to the packed file's."""
    sizes = [(folder / f"{name}.rec.frx").stat().st_size for name in ("indexed", "all")]
    return (sizes[0] - sizes[1]) / (folder / "all.rec").stat().st_size


def contenders(
    folder: pathlib.Path, options: argparse.Namespace, pillow_workers: int
) -> list[Contender]:
    python = sys.executable
    plain, threads, shape = str(folder / "all.rec"), str(options.threads), [str(BATCH), str(SIDE)]
    with_points = str(indexed(folder))
    loader = [python, str(PEERS / "fuelrail_loader.py")]
    pillow = [python, str(PEERS / "pillow_loader.py"), str(folder / "files"), str(options.records)]
    limit = str(ROOT / "build" / "release" / "bench" / "limit" / "fuelrail_limit")
    everybody = [
        Contender(INDEXED, [*loader, with_points, threads, *shape]),
        Contender(PLAIN, [*loader, plain, threads, *shape]),
        Contender(LIBJPEG, [*loader, plain, threads, *shape], {"FUELRAIL_JPEG": "libjpeg"}),
        Contender(PILLOW, [*pillow, str(pillow_workers), *shape]),
    ]
    for peer in filter(None, options.peers.split(",")):
        name, program, reads = OTHERS[peer]
        source = [plain] if reads == "packed" else [str(folder / "files"), str(options.records)]
        everybody.append(
            Contender(name, [peer_python(peer), str(PEERS / program), *source, threads, *shape])
        )
    for name, way in LIMITS.items():
        everybody.append(Contender(name, [limit, with_points, threads, *shape, way]))
    return everybody


def table(part: dict[str, Any]) -> list[str]:
    lines = [
        "| | img/s | CPU s / 1,000 img | ratio to "
        + " | ratio to ".join(COMPARED)
        + " | first batch, s | memory, MiB |",
        "|" + "---|" * (5 + len(COMPARED)),
    ]
    for contender, c in part["contenders"].items():
        first = f"{c['first_batch_seconds']:.2f}" if "first_batch_seconds" in c else "-"
        memory = f"{c['memory_mib']:.0f}" if "memory_mib" in c else "-"
        ratios = " | ".join(pair(c["ratio_to"].get(other), 3) for other in COMPARED)
        lines.append(
            f"| {contender} | {pair(c['images_per_second'], 0)} | {pair(c['cpu_seconds_per_1000_images'], 2)} | "
            f"{ratios} | {first} | {memory} |"
        )
    return lines


def report(results: dict[str, Any]) -> str:
    about = results["machine"]
    software = (
        f"Python {about['python']}, libjpeg-turbo {about['libjpeg-turbo']}, torch {about['torch']}, "
        f"Pillow {about['pillow']} (its own libjpeg-turbo {about['pillow_libjpeg-turbo']})"
    )
    job = f"{results['records']} records, {results['rounds']} rounds, {results['threads']} threads, page cache warm"
    lines = heading("Loader throughput", results, software, job)
    for name, part in results["sets"].items():
        lines += ["", f"## {name}", "", *table(part), ""]
        for limit in LIMITS:
            c = part["contenders"][limit]
            spent = ", ".join(
                f"{stage} {pair(c[f'{stage}_ms_per_image'], 3)}"
                for stage in ("read", "decode", "resize", "write")
            )
            lines.append(f"Milliseconds an image of `{limit}`: {spent}.")
        for contender in (INDEXED, PLAIN):
            c = part["contenders"][contender]
            lines.append(
                f"Milliseconds an image of `{contender}`: reading {c['fetch_ms_per_image']:.3f}, decoding to writing "
                f"{c['process_ms_per_image']:.3f}; limited by `{c['limited_by']}`. Its memory grew by "
                f"{c['growth_mib']:.0f} MiB at the peak since before the loader was built, of which batch slots "
                f"{c['slots_mib']:.0f} MiB."
            )
        lines.append(
            f"Pillow at its best worker count, {part['pillow_workers']}. Entry points: {part['entry_points'] * 100:.2f} % "
            "of the file."
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    peers = {"default": "", "help": f"peers to measure too, by commas: {', '.join(OTHERS)}"}
    options = options_of(__doc__, "records", 7, (1600, 3), THREADS, ("--peers", peers))
    if unknown := set(filter(None, options.peers.split(","))) - set(OTHERS):
        sys.exit(f"bench: unknown peers: {', '.join(sorted(unknown))}; known: {', '.join(OTHERS)}")
    results = begun("./run bench", options, "records", "threads")
    results["sets"] = measure_sets(options, contenders, "files")
    for name, part in results["sets"].items():
        part["entry_points"] = share_of_entry_points(WORK / f"{name}-{options.records}")
    name = "loader" if options.threads == 2 else f"loader-{options.threads}-threads"
    publish(name, results, report(results), options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
