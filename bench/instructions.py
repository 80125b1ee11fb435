"""Counts the instructions of a fixed epoch of 64 images. Counts are repeatable; times are not.

    ./run bench --check              compares the counts with bench/results/instructions.json; fails if one differs by > 1 %
    ./run bench --check --update     stores the counts

The images and their labels are counted twice: as image records, and as sample records of two fields (docs/formats/frs1.md).
The check also fails if sample records need over 2 % more instructions than image records.

Runs one thread that reads with pread and calls the loader's worker directly (bench/instructions/), under valgrind's callgrind.
Valgrind emulates the same processor on every machine, with at most AVX2. A count therefore depends on the instruction set, not on
the machine, and is stored under the name of the instruction set. The count also depends on the compiler and on libjpeg-turbo, so
their versions are stored with it.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORED = ROOT / "bench" / "results" / "instructions.json"
LIMIT = 0.01
KINDS = {"image records": "make-image-records", "sample records": "make-sample-records"}
SAMPLE_LIMIT = 0.02  # how many more instructions sample records may need
SMALLEST_PART = 0.002  # a function with a smaller share of all instructions is not stored
SHOWN = 12  # number of functions with the largest differences that are printed


def self_costs(lines: Iterable[str]) -> dict[str, int]:
    """Instructions by function, without callees, from callgrind's output file.

    If a library has no names for its functions, they are counted under the library's name.
    """
    names: dict[tuple[str, str], str] = {}  # (kind, number) -> name
    costs: collections.Counter[str] = collections.Counter()
    library, function, is_call = "", "", False
    for line in lines:
        if named := re.match(r"(c?)(fn|ob)=(\(\d+\))(?: (.*))?$", line):
            called, kind, number, name = named.groups()
            if name:
                names[kind, number] = name
            if kind == "ob" and not called:
                library = pathlib.PurePath(names[kind, number]).name
            elif not called:
                function = names[kind, number]
                if function.startswith("0x"):
                    function = library
        elif line.startswith("calls="):
            is_call = True  # the next line has the cost of the callee
        elif re.match(r"[+*\-0-9]", line):
            if not is_call:
                costs[function] += int(line.split()[1])
            is_call = False
    return dict(costs)


def plain(name: str) -> str:
    """A function's name without the parts that another compilation may change."""
    return re.sub(r"( \[clone )?\.(constprop|isra|part|cold|lto_priv)\.?\d*\]?|'\d+$", "", name)


def count(build: pathlib.Path, kind: str) -> dict[str, Any]:
    """Runs the epoch on records of a kind under callgrind. Returns: the counts, and the versions of the tools."""
    program = str(build / "bench" / "instructions" / "fuelrail_instructions")
    fuelrail = str(build / "bin" / "fuelrail")
    with tempfile.TemporaryDirectory(prefix="fuelrail-instructions-") as folder:
        images, out = f"{folder}/images.rec", pathlib.Path(folder) / "callgrind.out"
        subprocess.run([program, KINDS[kind], images], check=True)
        subprocess.run([fuelrail, "index", images], check=True, capture_output=True)  # checksums
        command = [
            *("valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={out}"),
            *("--collect-atstart=no", "--toggle-collect=counted_epoch*"),
            *(program, "run", images),
        ]
        said = subprocess.run(command, check=True, capture_output=True, text=True)
        with out.open() as lines:
            costs = self_costs(lines)
    doctor = subprocess.run([fuelrail, "doctor", "--json"], check=True, capture_output=True)
    machine = json.loads(doctor.stdout)
    functions: collections.Counter[str] = collections.Counter()
    for name, cost in costs.items():
        functions[plain(name)] += cost
    total = sum(functions.values())
    answer = json.loads(said.stdout)
    if kind != "image records":
        answer["target"] += f", {kind}"
    return {
        **answer,
        "instructions": total,
        "compiler": machine["fuelrail"]["compiler"],
        "libjpeg-turbo": machine["libraries"]["libjpeg-turbo"],
        "libc": machine["system"]["libc"],
        "valgrind": subprocess.run(
            ["valgrind", "--version"], check=True, capture_output=True, text=True
        ).stdout.strip(),
        "functions": {
            name: cost for name, cost in functions.most_common() if cost > SMALLEST_PART * total
        },
    }


def differences(now: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """The differences between two counts, as lines; empty if the total is within the limit."""
    change = now["instructions"] / before["instructions"] - 1
    if abs(change) <= LIMIT:
        return []
    lines = [
        f"{now['target']}: {now['instructions']:,} instructions, {change:+.2%} to the stored {before['instructions']:,}"
    ]
    for name in ("images", "pixels", "compiler", "libjpeg-turbo", "libc", "valgrind"):
        if now[name] != before[name]:
            lines.append(f"  {name} was {before[name]}, now {now[name]}")
    changes = {
        name: now["functions"].get(name, 0) - before["functions"].get(name, 0)
        for name in {**now["functions"], **before["functions"]}
    }
    for name in sorted(changes, key=lambda name: -abs(changes[name]))[:SHOWN]:
        if changes[name]:
            lines.append(f"  {changes[name] / before['instructions']:+7.2%}  {name}")
    return lines


def compare(now: dict[str, Any], stored: dict[str, Any]) -> bool:
    """Prints how a count differs from the stored one. Returns: whether the check has failed."""
    target = now["target"]
    if target not in stored:
        print(
            f"bench: no count is stored for {target}; this run took {now['instructions']:,} instructions.\n"
            f"Stored counts: {'; '.join(stored) or 'none'}. To store this one: ./run bench --check --update"
        )
        return True
    if lines := differences(now, stored[target]):
        print("\n".join(lines))
        print(
            "If the change is intended, run ./run bench --check --update and give the reason in the commit"
        )
        return True
    change = now["instructions"] / stored[target]["instructions"] - 1
    print(f"{target}: {now['instructions']:,} instructions, {change:+.3%} to the stored count")
    return False


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="ignored; accepted because ./run bench passes it on"
    )
    parser.add_argument(
        "--update", action="store_true", help="store the counts before they are compared"
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit(
            "bench: valgrind is not installed. Install it with: sudo apt-get install -y valgrind"
        )
    stored: dict[str, Any] = json.loads(STORED.read_text()) if STORED.exists() else {}
    counts = {kind: count(options.build, kind) for kind in KINDS}
    if options.update:
        stored.update({now["target"]: now for now in counts.values()})
        STORED.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n")
    failed = [compare(now, stored) for now in counts.values()]
    images, samples = (counts[kind]["instructions"] for kind in KINDS)
    more = samples / images - 1
    print(f"sample records: {more:+.3%} to image records; at most {SAMPLE_LIMIT:+.0%} is allowed")
    return int(any(failed) or more > SAMPLE_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
