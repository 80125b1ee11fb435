"""Shared by all contenders of bench/rounds.py: reads epoch numbers from standard input, and prints measurements of each epoch."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterable


def family(pid: int) -> list[int]:
    """The process and all its descendants, which any of its threads may have started."""
    lists = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for of_thread in lists for child in of_thread.read_text().split()]
    return [pid] + [p for child in children for p in family(child)]


def cpu_seconds() -> float:
    """User and system time of this process and its living descendants."""
    ticks = 0
    for pid in family(os.getpid()):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory_mib(part: str = "Pss") -> float:
    """Proportional set size of this process and its descendants, which counts shared pages once. part: "Pss_Shmem" for shared
    memory alone."""
    kib = 0
    for pid in family(os.getpid()):
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith(f"{part}:"):
                kib += int(line.split()[1])
    return kib / 1024


def serve(
    batches: Callable[[int], Iterable[int]],
    start: dict[str, float],
    after: Callable[[], dict[str, object]] | None = None,
    before: Callable[[], object] | None = None,
) -> None:
    """Answers requests until standard input ends. `batches(epoch)` yields the number of rows of each batch of an epoch. `start`
    is printed once. `after()` returns values that are added to each answer. `before()` is called before the clock starts."""
    print(json.dumps(start), flush=True)
    for line in sys.stdin:
        if before is not None:
            before()
        cpu, begin = cpu_seconds(), time.perf_counter()
        images = sum(batches(int(line)))
        seconds = time.perf_counter() - begin
        answer = {
            "images": images,
            "seconds": seconds,
            "cpu_seconds": cpu_seconds() - cpu,
            "memory_mib": memory_mib(),
        }
        print(json.dumps({**answer, **(after() if after else {})}), flush=True)
