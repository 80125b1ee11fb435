"""How far a long job is: told to a callback of the user's, or shown on the terminal."""

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
    """How far packing has come."""

    done: int
    """Images, also those left out; of `convert` and `merge` records, of `recover` bytes read."""
    total: int
    bytes: int
    """Written so far."""
    seconds: float


Progress = Callable[[PackProgress], object] | Literal[False] | None
"""A function that is called, False for nothing, None for a line on the terminal."""

CoreProgress = Callable[[int, int, int, float], object] | None


def progress_of(progress: Progress) -> CoreProgress:
    """The core's callback for the user's; None where there is none."""
    if progress is None or progress is False:
        return None
    if not callable(progress):
        raise ArgumentTypeError(
            "`progress` cannot be called",
            expected="a function, False for nothing, or None for a line on the terminal",
            found=typed(progress),
        )
    return lambda *now: progress(PackProgress(*now))


@contextlib.contextmanager
def shown_progress(progress: Progress, verb: str, things: str) -> Iterator[CoreProgress]:
    """`progress_of`; without a callback, and where standard error is a terminal, a line there.

    The line is the command's, and is gone when the job has ended. verb, things: "packed" and
    "images", or "records"; "bytes" are shown as kB, MB and so on.
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
    except (AttributeError, ValueError):  # None, no file, or closed
        return False


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # nobody is left to be shown it
        sys.stderr.write(text)
        sys.stderr.flush()
