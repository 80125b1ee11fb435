"""A contender that reads records of an FFRecord file in one way: fuelrail | original | pread | preadv FILE.

It prints a description of itself, or reports that the library is missing. Then it answers requests, each a line of JSON:
{"check": bool, "batches": [[index, ...], ...]}. Each batch is released before the next is read. If the request has "digest",
nothing is measured, and the answer is a checksum of the bytes.
"""

from __future__ import annotations

import array
import contextlib
import importlib
import importlib.metadata
import json
import os
import resource
import struct
import sys
import time
import zlib
from collections.abc import Callable
from typing import Any

Read = Callable[[list[int]], list[Any]]


def plain(path: str, read_one: Callable[[int, int, int], Any]) -> Callable[[bool], Read]:
    """Reads each record with one system call. The table is read as docs/formats/ffrecord.md describes."""
    file = os.open(path, os.O_RDONLY)
    (count,) = struct.unpack("<q", os.pread(file, 8, 4))
    crcs = array.array("I", os.pread(file, 4 * count, 12))
    offsets = array.array("q", os.pread(file, 8 * count, 12 + 4 * count))
    offsets.append(os.fstat(file).st_size)

    def read(indices: list[int]) -> list[Any]:
        return [read_one(file, offsets[i + 1] - offsets[i], offsets[i]) for i in indices]

    def checked(indices: list[int]) -> list[Any]:
        records = read(indices)
        for i, record in zip(indices, records, strict=True):
            if zlib.crc32(record) != crcs[i]:
                raise ValueError(f"the checksum of record {i} is wrong")
        return records

    return lambda check: checked if check else read


def preadv() -> Callable[[int, int, int], Any]:
    import numpy

    def read_one(file: int, length: int, offset: int) -> Any:
        record = numpy.empty(length, numpy.uint8)
        if os.preadv(file, [record], offset) != length:
            raise ValueError("a record was cut short")
        return record

    return read_one


def way(name: str, path: str) -> tuple[Callable[[bool], Read], dict[str, str]]:
    if name == "pread":
        return plain(path, os.pread), {}
    if name == "preadv":
        return plain(path, preadv()), {}
    module = importlib.import_module("ffrecord" if name == "original" else "fuelrail.ffrecord")
    readers = {check: module.FileReader(path, check_data=check) for check in (False, True)}
    about = {}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        about["version"] = importlib.metadata.version(module.__name__.partition(".")[0])
    if name == "fuelrail":
        about["read_backend"] = readers[True].read_backend
    return lambda check: readers[check].read, about


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)  # of the process, with all threads
    return usage.ru_utime + usage.ru_stime


def timed(read: Read, batches: list[list[int]]) -> dict[str, float]:
    used, begin = cpu_seconds(), time.perf_counter()
    for batch in batches:
        records = read(batch)
        del records
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "cpu_seconds": cpu_seconds() - used, "peak_mib": peak}


def digest(read: Read, batches: list[list[int]]) -> dict[str, int]:
    crc = 0
    for batch in batches:
        for record in read(batch):
            crc = zlib.crc32(record, crc)
    return {"digest": crc}


def main() -> None:
    name, path = sys.argv[1:]
    try:
        reader, about = way(name, path)
    except ImportError as absent:
        print(json.dumps({"absent": str(absent)}), flush=True)
        return
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        run = digest if "digest" in request else timed
        print(json.dumps(run(reader(request["check"]), request["batches"])), flush=True)


if __name__ == "__main__":
    main()
