"""Closes objects at the end of a `with` block, or when the interpreter exits."""

from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from fuelrail import _core

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["Closing", "close_at_exit", "end_thread_at_exit"]

T = TypeVar("T")


class Closing:
    """Base class of objects that are closed at the end of a `with` block."""

    def close(self) -> None:
        raise NotImplementedError

    def _end(self, failed: bool) -> None:
        """Runs at the end of a `with` block. `failed` is True if the block raised an exception."""
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end(failed=kind is not None)


_open: weakref.WeakKeyDictionary[Any, Callable[[Any], None]] = weakref.WeakKeyDictionary()
_exits_in: int | None = None  # the thread that runs the exit handlers; None before the exit


def close_at_exit(thing: T, close: Callable[[T], None]) -> None:
    """Calls `close(thing)` at interpreter exit, unless `thing` has already been deleted."""
    _open[thing] = close
    end_thread_at_exit()  # ends this thread if it is too late for the exit to close `thing`


def end_thread_at_exit() -> None:
    """Ends the calling thread with SystemExit if it is a daemon thread and the interpreter is
    exiting. A thread that continues could use objects that are already closed.
    """
    exits = _exits_in not in (None, threading.get_ident())
    if exits and threading.current_thread().daemon:
        raise SystemExit


@atexit.register
def _close_all() -> None:
    global _exits_in
    _exits_in = threading.get_ident()
    _core.process_ends()
    # The ExitStack closes all objects even if one raises. A `for` loop over `_open` would fail if a
    # different thread added an object during the loop.
    with contextlib.ExitStack() as all_of_them, contextlib.suppress(KeyError):
        while True:
            thing, close = _open.popitem()
            all_of_them.callback(close, thing)
