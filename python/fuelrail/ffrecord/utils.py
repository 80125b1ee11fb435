"""Writes datasets to FFRecord files. The module has the same name as in FFRecord."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeAlias, cast

from fuelrail.errors import Error, InvalidArgumentError, StateError, warn_user
from fuelrail.ffrecord.paths import SUFFIX, output_name, path_name
from fuelrail.ffrecord.writer import FileWriter
from fuelrail.options import whole

__all__ = ["DumpError", "dump"]

_MOST_PROCESSES = 16

_Tell: TypeAlias = Callable[[int], object]  # called with the number of newly written items


class DumpError(StateError):
    """A process of `dump` failed to write its file."""


def dump(
    dataset: Sequence[Any], fname: str | os.PathLike[str], nfiles: int, verbose: bool = False
) -> None:
    """Writes the items of a dataset to one or more `.ffr` files.

    dataset: an object with `__len__` and `__getitem__`, such as a list. Its items are bytes-like,
    for example bytes or arrays.
    fname: the path of the file if `nfiles` is 1, otherwise the path of a folder, which is created
    if necessary.
    nfiles: the number of files. Several files are named `PART_00000.ffr`, `PART_00001.ffr` and so
    on. All have the same number of items, except that the last file may have fewer. Each file is
    written by a separate process; at most 16 processes run at a time.
    verbose: show the number of written items, with tqdm if it is installed.

    If `nfiles` is above 1, a FuelrailWarning is issued if the items fill fewer than `nfiles` files,
    or if the folder has other `.ffr` files, for example from an earlier call with more files.

    Errors: the errors of `FileWriter` if `nfiles` is 1. If `nfiles` is above 1:
    InvalidArgumentError if the dataset is empty; DumpError (also a RuntimeError) if a process
    fails. The DumpError contains the error text or the traceback of this process. After an error,
    the files that this call has written are removed.
    """
    items = len(dataset)
    files = whole("nfiles", nfiles, least=1)
    if files == 1:
        with _progress(items, verbose) as tell:
            _dump_part(dataset, output_name("`fname`", fname), 0, items, tell)
        return
    if items == 0:
        raise InvalidArgumentError(
            "an empty dataset cannot be split into several files", remedy="Pass nfiles=1"
        )
    folder = path_name("`fname`", fname)
    os.makedirs(folder, exist_ok=True)
    chunk = -(-items // files)
    parts = [
        (os.path.join(folder, f"PART_{i:05}.ffr"), begin, min(begin + chunk, items))
        for i, begin in enumerate(range(0, items, chunk))
    ]
    if len(parts) < files:
        warn_user(
            f"only {len(parts)} of the {files} requested files are written, because they hold "
            f"all {items} items (at most {chunk} per file)"
        )
    with _progress(items, verbose) as tell:
        _dump_parts(dataset, parts, tell)
    _warn_of_others(folder, parts)


def _dump_parts(dataset: Sequence[Any], parts: list[tuple[str, int, int]], tell: _Tell) -> None:
    # Forks where possible, as FFRecord does, so that the dataset need not be picklable.
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
            ready = multiprocessing.connection.wait(list(running))
            for ours in cast("list[Connection]", ready):
                process, name = running[ours]
                if (done := _heard(ours, name)) is not None:
                    tell(done)
                    continue
                del running[ours]
                ours.close()
                process.join()
                written.append(name)
    except BaseException:
        for ours, (process, name) in running.items():
            process.terminate()
            process.join()
            ours.close()
            written.append(name)  # it may have finished just now
        for name in written:
            if _identity(name) not in (None, before[name]):  # keep an older file
                os.remove(name)
        raise


def _identity(name: str) -> tuple[int, int, int] | None:
    """Returns numbers that identify a file and its last change, or None if it does not exist."""
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
            f"{folder} has `.ffr` files that this call did not write, such as {others[0]}. A "
            "reader that opens the folder also reads these files. If they do not belong to the "
            "dataset, move them to another folder."
        )


def _heard(ours: Connection, name: str) -> int | None:
    """Returns the number of items that a child process has just written, or None if that process
    has finished.
    """
    try:
        said = ours.recv()
    except EOFError:  # it was killed
        said = "the process ended without a message"
    if said is None or isinstance(said, int):
        return said
    raise DumpError(f"`dump` cannot write {name}:\n{said.rstrip()}")


class _Told:
    """Sends the number of written items to the parent process at intervals."""

    def __init__(self, parent: Connection) -> None:
        self._parent = parent
        self._untold, self._last = 0, time.monotonic()

    def update(self, items: int) -> None:
        self._untold += items
        if time.monotonic() - self._last > 0.1:
            self.tell()

    def tell(self) -> None:
        self._parent.send(self._untold)
        self._untold, self._last = 0, time.monotonic()


def _work(theirs: Connection, dataset: Sequence[Any], name: str, begin: int, end: int) -> None:
    # SIGTERM from the parent ends the process like an exception, so that its file is discarded.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        told = _Told(theirs)
        _dump_part(dataset, name, begin, end, told.update)
        told.tell()
        theirs.send(None)
    except SystemExit:
        raise
    except Error as error:
        theirs.send(str(error))
    except BaseException:
        theirs.send(traceback.format_exc())


def _dump_part(dataset: Sequence[Any], name: str, begin: int, end: int, tell: _Tell) -> None:
    with FileWriter(name, end - begin) as writer:
        for i in range(begin, end):
            writer.write_one(dataset[i])
            tell(1)


class _Lines:
    """Prints lines with the number of written items, in place of tqdm's progress bar."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done, self._last = 0, time.monotonic()

    def update(self, items: int) -> None:
        self._done += items
        if self._done == self._total or time.monotonic() - self._last > 1:
            self._last = time.monotonic()
            print(f"{self._done}/{self._total} items", flush=True)


@contextlib.contextmanager
def _progress(total: int, verbose: bool) -> Iterator[_Tell]:
    if not verbose:
        yield lambda items: None
        return
    try:
        import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        tqdm = None
    if tqdm is None:
        yield _Lines(total).update
        return
    with tqdm.tqdm(total=total, unit="item") as bar:
        yield bar.update
