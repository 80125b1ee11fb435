"""Datasets into FFRecord files."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from fuelrail.errors import Error, InvalidArgumentError, StateError
from fuelrail.ffrecord.callers import warn_user
from fuelrail.ffrecord.names import SUFFIX, output_name, path_name
from fuelrail.ffrecord.writer import FileWriter
from fuelrail.options import whole

__all__ = ["DumpError", "dump"]

_MOST_PROCESSES = 16


class DumpError(StateError):
    """A process that wrote a part has failed."""


def dump(
    dataset: Sequence[Any], fname: str | os.PathLike[str], nfiles: int, verbose: bool = False
) -> None:
    """Writes the items of a dataset, each of which has a buffer (bytes, an array), to `.ffr` files.

    nfiles: 1 = one file, `fname`. More: that many files `PART_00000.ffr` and so on in the folder
    `fname`, which is made where it is missing, of as many items each (the last of fewer), written by
    as many processes, at most 16 at a time; a FuelrailWarning where the items fill fewer files, and
    where the folder has other `.ffr` files, such as those of a dump into more.
    verbose: show progress, by tqdm where it is installed.

    Errors: DumpError (a RuntimeError) with the traceback of the process that failed; no file of
    this call is left then. InvalidArgumentError for an empty dataset that is to fill several files.
    Those of `FileWriter`.
    """
    items = len(dataset)
    files = whole("nfiles", nfiles, least=1)
    if files == 1:
        _dump_part(dataset, output_name("`fname`", fname), 0, items)
        return
    if items == 0:
        raise InvalidArgumentError("an empty dataset fills no files", remedy="Pass nfiles=1")
    folder = path_name("`fname`", fname)
    os.makedirs(folder, exist_ok=True)
    chunk = -(-items // files)
    parts = [
        (os.path.join(folder, f"PART_{i:05}.ffr"), begin, min(begin + chunk, items))
        for i, begin in enumerate(range(0, items, chunk))
    ]
    if len(parts) < files:
        warn_user(f"{items} items fill {len(parts)} files, not {files}")
    _dump_parts(dataset, parts, _progress(len(parts)) if verbose else None)
    _warn_of_others(folder, parts)


def _dump_parts(dataset: Sequence[Any], parts: list[tuple[str, int, int]], bar: Any) -> None:
    # A fork where there is one, as the original has: the dataset need not be one that pickles.
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("fork" if "fork" in methods else None)
    waiting = list(reversed(parts))
    running: dict[Connection, Any] = {}
    written: list[str] = []
    before = {name: _identity(name) for name, _, _ in parts}
    try:
        while waiting or running:
            while waiting and len(running) < _MOST_PROCESSES:
                part = waiting.pop()
                theirs: Connection
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(theirs, dataset, *part))
                process.start()
                theirs.close()
                running[ours] = (process, part[0])
            for ours in multiprocessing.connection.wait(list(running)):
                process, name = running.pop(ours)  # type: ignore[call-overload]
                _finish(ours, process, name)
                written.append(name)
                if bar is not None:
                    bar.update()
    except BaseException:
        for ours, (process, name) in running.items():
            process.terminate()
            process.join()
            ours.close()
            written.append(name)  # it may just have been done
        for name in written:
            if _identity(name) not in (None, before[name]):  # what was there before stays
                os.remove(name)
        raise
    finally:
        if bar is not None:
            bar.close()


def _identity(name: str) -> tuple[int, int, int] | None:
    """Which file has this name."""
    try:
        status = os.stat(name)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns


def _warn_of_others(folder: str, parts: list[tuple[str, int, int]]) -> None:
    made = {os.path.basename(name) for name, _, _ in parts}
    others = sorted(
        name for name in os.listdir(folder) if name.endswith(SUFFIX) and name not in made
    )
    if others:
        warn_user(
            f"{folder} has files that are not of this dataset, {others[0]} among them: a reader of "
            "the folder reads them too"
        )


def _finish(ours: Any, process: Any, name: str) -> None:
    try:
        failure = ours.recv()
    except EOFError:  # it was killed
        failure = "the process ended without a word"
    ours.close()
    process.join()
    if failure is not None:
        text = failure.rstrip()
        raise DumpError(f"a part of the dataset could not be written, {name}:\n{text}")


def _work(theirs: Connection, dataset: Sequence[Any], name: str, begin: int, end: int) -> None:
    # Ended by the parent, it leaves the way an exception does: nothing stays of its file.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        _dump_part(dataset, name, begin, end)
        theirs.send(None)
    except SystemExit:
        raise
    except Error as error:
        theirs.send(str(error))
    except BaseException:
        theirs.send(traceback.format_exc())


def _dump_part(dataset: Sequence[Any], name: str, begin: int, end: int) -> None:
    with FileWriter(name, end - begin) as writer:
        for i in range(begin, end):
            writer.write_one(dataset[i])


class _Lines:
    """Progress without tqdm."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0

    def update(self) -> None:
        self._done += 1
        print(f"{self._done}/{self._total} files")

    def close(self) -> None:
        pass


def _progress(total: int) -> Any:
    try:
        import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return _Lines(total)
    return tqdm.tqdm(total=total, unit="file")
