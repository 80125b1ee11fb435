"""Measures reading batches of random FFRecord records: fuelrail, the original and plain reads, interleaved in one run.

    ./run bench ffrecord                                  the whole run
    ./run bench ffrecord --original .../bin/python        also measures the original, which that interpreter imports as `ffrecord`
    ./run bench ffrecord --quick                          fewer rounds and records, for a rough figure only

The batches have 4, 64 and 1,024 records of 1 KB, 100 KB and 1 MB (1 KB is 1,024 bytes). They are read with a warm and with a
dropped page cache, with and without checksums. Contenders are separate processes (bench/peers/ffrecord_reader.py) that read the
same records in the same order. Each round runs all contenders in turn, and each contender begins equally often. The plain reads
are one `os.pread` per record, and one `os.preadv` per record into new NumPy memory; with checksums they call `zlib.crc32`. A
ratio is the median over the rounds of the ratio within the round; its spread is half the distance between the quartiles.

The cache is dropped before each turn by posix_fadvise(DONTNEED) on the file and, if run as root, by /proc/sys/vm/drop_caches. The
caches of the device and of a virtual machine's host are not dropped. Results go to bench/results/ffrecord-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from rounds import PEERS, WORK, Contender, machine, median_and_spread, publish

from fuelrail.ffrecord import FileWriter

SIZES = (1 << 10, 100 << 10, 1 << 20)  # bytes per record
BATCHES = (4, 64, 1024)
FEWEST, MOST = 1280, 65536  # limits of the number of records in a file
FILE_BYTES = 400 << 20  # of a file, if FEWEST and MOST allow it
FUELRAIL, ORIGINAL, PLAIN = "fuelrail", "the original", ("os.pread", "os.preadv")
NOT_INSTALLED = "not installed"
DROP_CACHES = pathlib.Path("/proc/sys/vm/drop_caches")


def shown(size: int) -> str:
    for shift, unit in ((20, "MB"), (10, "KB")):
        if size >> shift and size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def records_of(size: int, quick: bool) -> int:
    return FEWEST if quick else max(FEWEST, min(MOST, FILE_BYTES // size))


def make(path: pathlib.Path, size: int, records: int) -> None:
    content = random.Random(size)
    with FileWriter(path, records) as writer:
        for _ in range(records):
            writer.write_one(content.randbytes(size))


class Cache:
    """The page cache of one file."""

    def __init__(self, path: pathlib.Path, drop_all: bool) -> None:
        self._path, self._drop_all = path, drop_all

    def warm(self) -> None:
        with self._path.open("rb", buffering=0) as file:
            while file.read(1 << 20):
                pass

    def drop(self) -> None:
        file = os.open(self._path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
        if self._drop_all:
            DROP_CACHES.write_text("1")

    def cached(self) -> float:
        """The fraction of the file that is in the page cache."""
        command = ["fincore", "--noheadings", "--bytes", "--output", "RES,SIZE", str(self._path)]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        return int(found[0]) / int(found[1])


def contenders(path: pathlib.Path, original: str) -> dict[str, Contender]:
    commands = {
        FUELRAIL: (sys.executable, "fuelrail"),
        ORIGINAL: (original, "original"),
        PLAIN[0]: (sys.executable, "pread"),
        PLAIN[1]: (sys.executable, "preadv"),
    }
    peer = str(PEERS / "ffrecord_reader.py")
    return {
        name: Contender(name, [python, peer, way, str(path)])
        for name, (python, way) in commands.items()
    }


def request(batches: list[list[int]], check: bool, **more: bool) -> str:
    return json.dumps({"batches": batches, "check": check, **more})


def draw(records: int, batch: int, turn_records: int, seed: str) -> list[list[int]]:
    """Returns the batches of a turn. A record occurs at most once in a batch and, if the file has enough records, in a turn."""
    dice, left, batches = random.Random(seed), [], []
    for _ in range(max(1, turn_records // batch)):
        if len(left) < batch:
            left = dice.sample(range(records), records)
        batches.append([left.pop() for _ in range(batch)])
    return batches


def check_same(peers: dict[str, Contender], records: int) -> None:
    """Runs a turn that is not measured, and checks that all contenders read the same bytes."""
    for check in (False, True):
        asked = request(draw(records, max(BATCHES), 0, "same"), check, digest=True)
        found = {name: peer.run(asked, keep=False)["digest"] for name, peer in peers.items()}
        if len(set(found.values())) != 1:
            sys.exit(f"bench: the contenders read different bytes: {found}")


def measure(
    path: pathlib.Path, size: int, options: argparse.Namespace, about: dict[str, Any]
) -> list[dict[str, Any]]:
    """Measures all rows of the table for one file."""
    records = records_of(size, options.quick)
    make(path, size, records)
    cache = Cache(path, options.drop_all)
    peers = contenders(path, options.original)
    about["fuelrail"] = peers[FUELRAIL].start
    absent = peers[ORIGINAL].start.get("absent")
    about["original"] = peers[ORIGINAL].start if absent is None else f"{NOT_INSTALLED}: {absent}"
    if absent is not None:
        peers.pop(ORIGINAL).stop()
    check_same(peers, records)
    rows = []
    for dropped in (False, True):
        cases = [(batch, check) for batch in BATCHES for check in (False, True)]
        turns: dict[tuple[int, bool], list[dict[str, Any]]] = {case: [] for case in cases}
        for number in range(options.rounds):
            if not dropped:
                cache.warm()
            else:
                cache.drop()
                before = about.get("cached_after_drop", 0.0)
                about["cached_after_drop"] = max(before, cache.cached())
            for case, (batch, check) in enumerate(cases):
                turn_bytes, turn_records = options.turn[dropped]
                count = min(turn_bytes // size, turn_records)
                # The same batches with and without checksums.
                batches = draw(records, batch, count, f"{number} {batch}")
                asked = request(batches, check)
                turn = {}
                first = (number + case) % len(peers)
                for name in [*list(peers)[first:], *list(peers)[:first]]:
                    if dropped:
                        cache.drop()
                    turn[name] = peers[name].run(asked)
                turns[batch, check].append({"records": batch * len(batches), **turn})
            print(
                f"  {shown(size)}, {'dropped' if dropped else 'warm'}: round {number + 1} of {options.rounds}",
                flush=True,
            )
        rows += [row(size, dropped, case, turns) for case in cases]
    for peer in peers.values():
        peer.stop()
    path.unlink()
    return rows


def row(
    size: int,
    dropped: bool,
    case: tuple[int, bool],
    turns: dict[tuple[int, bool], list[dict[str, Any]]],
) -> dict[str, Any]:
    batch, check = case
    rounds = turns[case]
    names = [name for name in rounds[0] if name != "records"]

    def speeds(name: str, rounds: list[dict[str, Any]] = rounds) -> list[float]:
        return [turn["records"] / turn[name]["seconds"] for turn in rounds]

    def ratio(ours: list[float], theirs: list[float]) -> list[float]:
        return median_and_spread([a / b for a, b in zip(ours, theirs, strict=True)])

    measured = {
        name: {
            "gb_per_second": median_and_spread([s * size / 1e9 for s in speeds(name)]),
            "records_per_second": median_and_spread(speeds(name)),
            "cpu_us_per_record": median_and_spread(
                [1e6 * turn[name]["cpu_seconds"] / turn["records"] for turn in rounds]
            ),
            "peak_mib": max(turn[name]["peak_mib"] for turn in rounds),
        }
        for name in names
    }
    best = max(PLAIN, key=lambda name: measured[name]["records_per_second"][0])
    ratios = {"plain": ratio(speeds(FUELRAIL), speeds(best))}
    if ORIGINAL in measured:
        ratios["original"] = ratio(speeds(FUELRAIL), speeds(ORIGINAL))
    if check:
        without = speeds(FUELRAIL, turns[batch, False])
        ratios["without_checksums"] = ratio(speeds(FUELRAIL), without)
    return {
        "record_bytes": size,
        "batch": batch,
        "cache": "dropped" if dropped else "warm",
        "checksums": check,
        "records_a_round": rounds[0]["records"],
        "contenders": {name: measured.get(name) for name in (FUELRAIL, ORIGINAL, *PLAIN)},
        "plain": best,
        "ratio_of_fuelrail_to": ratios,
    }


def pair(value: list[float], digits: int = 2) -> str:
    return f"{value[0]:.{digits}f} +- {value[1]:.{digits}f}"


def expectations(rows: list[dict[str, Any]]) -> list[str]:
    """The comparisons in docs/benchmarks.md, each with the row that has the smallest ratio."""

    def least(name: str, text: str, **wanted: object) -> str:
        chosen = [r for r in rows if all(r[key] == value for key, value in wanted.items())]
        found = min(chosen, key=lambda r: r["ratio_of_fuelrail_to"][name][0])
        value = pair(found["ratio_of_fuelrail_to"][name])
        return f"- {text}: at least {value} ({shown(found['record_bytes'])}, batches of {found['batch']})"

    return [
        "fuelrail's records/s, as a ratio:",
        "",
        least(
            "plain",
            "warm, without checksums, to the faster plain way",
            cache="warm",
            checksums=False,
        ),
        least(
            "plain",
            "dropped, batches of 64, without checksums, to the same",
            cache="dropped",
            checksums=False,
            batch=64,
        ),
        least(
            "without_checksums",
            "dropped, with checksums to without",
            cache="dropped",
            checksums=True,
        ),
        least("without_checksums", "warm, with checksums to without", cache="warm", checksums=True),
    ]


def report(results: dict[str, Any]) -> str:
    about, rows = results["machine"], results["rows"]
    fuelrail, original = results["readers"]["fuelrail"], results["readers"]["original"]
    peaks = {
        name: max(r["contenders"][name]["peak_mib"] for r in rows if r["contenders"][name])
        for name in (FUELRAIL, ORIGINAL, *PLAIN)
        if rows[0]["contenders"][name]
    }
    lines = [
        f"# Batches of FFRecord records, {about['date']}, commit {about['commit']}",
        "",
        f"{about['cpu']}, {about['cores']} cores; load {results['load']} at the beginning; on "
        f"{results['file_system']}; Python {about['python']}, NumPy {about['numpy']}. fuelrail reads by "
        f"{fuelrail['read_backend']}. The original: {original if isinstance(original, str) else original.get('version', 'of no known version')}.",
        f"Command: `{results['command']}` ({results['rounds']} rounds). Dropped by {results['dropped_by']}; "
        f"{100 * results['readers']['cached_after_drop']:.0f} % of a file was still cached then, at most.",
        "Values are medians over the rounds, +- half the distance between the quartiles.",
        "",
        *expectations(rows),
        "",
        "Most memory of each process, MiB: "
        + ", ".join(f"{name} {peak:.0f}" for name, peak in peaks.items())
        + ".",
    ]
    for cache in ("warm", "dropped"):
        for check in (False, True):
            lines += [
                "",
                f"## {cache.capitalize()}, {'with' if check else 'without'} checksums",
                "",
                "Of each: GB/s; records/s; CPU microseconds a record.",
                "",
                f"| record | batch | {FUELRAIL} | {ORIGINAL} | {' | '.join(PLAIN)} | to the faster plain way | to the original |",
                "|---|---|---|---|---|---|---|---|",
            ]
            for r in rows:
                if (r["cache"], r["checksums"]) != (cache, check):
                    continue
                cells = [
                    NOT_INSTALLED
                    if c is None
                    else f"{pair(c['gb_per_second'], 3)}; {c['records_per_second'][0]:,.0f}; {pair(c['cpu_us_per_record'], 1)}"
                    for c in r["contenders"].values()
                ]
                ratios = r["ratio_of_fuelrail_to"]
                cells += [
                    pair(ratios["plain"]),
                    pair(ratios["original"]) if "original" in ratios else NOT_INSTALLED,
                ]
                lines.append(
                    f"| {shown(r['record_bytes'])} | {r['batch']:,} | {' | '.join(cells)} |"
                )
    return "\n".join(lines) + "\n"


def file_system(directory: pathlib.Path) -> str:
    command = ["stat", "--file-system", "--format=%T", str(directory)]
    name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return "ext2, 3 or 4" if name == "ext2/ext3" else name  # they share one name


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--dir",
        type=pathlib.Path,
        default=WORK,
        help="folder for temporary files, up to 1.3 GB at a time (default .cache/bench)",
    )
    parser.add_argument(
        "--original",
        metavar="PYTHON",
        default=sys.executable,
        help="Python interpreter that can import the original (default: the current one)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run 2 rounds of fewer batches, drop only the cache of the file, and write nothing to bench/results",
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=SIZES,
        metavar="BYTES",
        help="record sizes to measure",
    )
    parser.add_argument(
        "--json", type=pathlib.Path, metavar="FILE", help="also write the results to FILE"
    )
    options = parser.parse_args()
    # The limits of a turn, as (bytes, records), for a warm and for a dropped cache. A turn reads at least one batch.
    options.turn = ((512 << 20, 1 << 16), (64 << 20, 1 << 10))
    if options.quick:
        options.rounds, options.turn = 2, ((16 << 20, 1 << 10), (4 << 20, 1 << 8))
    options.drop_all = not options.quick and os.access(DROP_CACHES, os.W_OK)
    if shutil.which(options.original) is None:
        parser.error(f"--original: {options.original} does not exist")
    return options


def main() -> int:
    options = parsed()
    options.dir.mkdir(parents=True, exist_ok=True)
    wanted = max(size * records_of(size, options.quick) for size in options.sizes)
    if shutil.disk_usage(options.dir).free < wanted + (64 << 20):
        sys.exit(
            f"bench: {options.dir} has no room for {wanted >> 20} MiB; choose a different folder with --dir"
        )
    readers: dict[str, Any] = {}
    results: dict[str, Any] = {
        "command": " ".join(["./run bench ffrecord", *sys.argv[1:]]),
        "rounds": options.rounds,
        "load": pathlib.Path("/proc/loadavg").read_text().split()[0],
        "machine": machine(),
        "file_system": file_system(options.dir),
        "dropped_by": "posix_fadvise(DONTNEED)"
        + (f" and {DROP_CACHES}" if options.drop_all else " alone"),
        "readers": readers,
        "rows": [],
    }
    with tempfile.TemporaryDirectory(prefix="ffrecord-", dir=options.dir) as folder:
        for size in options.sizes:
            results["rows"] += measure(pathlib.Path(folder) / "all.ffr", size, options, readers)
    text = report(results)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    publish("ffrecord", results, text, options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
