"""Reports the progress of long jobs to a callback or on the terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError
from fuelrail.options import typed

__all__ = ["PackProgress", "Progress"]


@dataclass(frozen=True)
class PackProgress:
    """The progress of a packing job, a conversion, a merge or a recovery."""

    done: int
    """Images done, including skipped ones. For `convert` and `merge`: records. For `recover`: bytes
    read.
    """
    total: int
    """Images, records or bytes in the whole job."""
    bytes: int
    """Bytes written so far."""
    seconds: float
    """Seconds since the job started."""


Progress = Callable[[PackProgress], object] | Literal[False] | None
"""A function to call, False for no output, or None for a line on the terminal."""

CoreProgress = Callable[[int, int, int, float], object] | None


def progress_of(progress: Progress) -> CoreProgress:
    """Wraps the function `progress` for the core. Returns None if `progress` is None or False.
    Errors: ArgumentTypeError.
    """
    if progress is None or progress is False:
        return None
    if not callable(progress):
        raise ArgumentTypeError(
            "`progress` has the wrong type",
            expected="a function, False for no output, or None for a line on the terminal",
            found=typed(progress),
        )
    return lambda *now: progress(PackProgress(*now))


@contextlib.contextmanager
def shown_progress(progress: Progress, verb: str, things: str) -> Iterator[CoreProgress]:
    """If `progress` is None and standard error is a terminal, yields a function that shows a line
    on the terminal, and removes the line when the job ends. Otherwise yields the result of
    `progress_of`.

    The line has the same format as in the `fuelrail` command. verb: for example "packed". things:
    for example "images"; "bytes" are shown in kB, MB and so on.
    """
    if progress is not None or not _is_terminal():
        yield progress_of(progress)
        return
    start = time.monotonic()

    def show(done: int, total: int, _bytes: int, _seconds: float) -> None:
        if total > 0:
            seconds = time.monotonic() - start
            _write(f"\r{_core.progress_line(verb, things, done, total, seconds)}\x1b[K")

    try:
        yield show
    finally:
        _write("\r\x1b[K")


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # stderr is None, closed, or not a file
        return False


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # stderr is closed, so nothing is shown
        sys.stderr.write(text)
        sys.stderr.flush()
