"""Shows the progress of long jobs on the terminal, or passes it to a callback."""

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
    """The progress of `pack`, `convert`, `merge` or `recover`."""

    done: int
    """Number of images or samples that are packed or skipped. `convert` and `merge` count records instead, and
    `recover` counts the bytes read.
    """
    total: int
    """Number of images, samples, records or bytes in the whole job; 0 if it is unknown."""
    bytes: int
    """Bytes written so far."""
    seconds: float
    """Time since the job started, in seconds."""


Progress = Callable[[PackProgress], object] | Literal[False] | None
"""The type of the option `progress`. None shows a line on the terminal, and False shows nothing."""

CoreProgress = Callable[[int, int, int, float], object] | None


def progress_of(progress: Progress) -> CoreProgress:
    """Returns a function that converts its arguments to a PackProgress and calls `progress` with
    it. If `progress` is None or False, returns None instead. Errors: ArgumentTypeError.
    """
    if progress is None or progress is False:
        return None
    if not callable(progress):
        raise ArgumentTypeError(
            "`progress` has the wrong type",
            expected="a function, None or False",
            found=typed(progress),
        )
    return lambda *now: progress(PackProgress(*now))


@contextlib.contextmanager
def shown_progress(progress: Progress, verb: str, things: str) -> Iterator[CoreProgress]:
    """Yields the function that the core calls to report its progress, or None for no reports.

    If `progress` is None and standard error is a terminal, yields a function that shows a progress
    line. This line is removed at the end of the `with` block. In all other cases, yields
    `progress_of(progress)`.

    verb, things: words in the progress line, such as "read" and "images". If `things` is
        "bytes", the line shows amounts in kB, MB and so on.
    """
    if progress is not None or not _is_terminal():
        yield progress_of(progress)
        return
    start = time.monotonic()

    def show(done: int, total: int, _bytes: int, _seconds: float) -> None:
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
