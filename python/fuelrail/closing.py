"""Closes objects at the end of their `with` block, or when the interpreter exits."""

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
    """The base of classes with a `close`, which the end of a `with` block calls."""

    def close(self) -> None:
        raise NotImplementedError

    def _end(self, failed: bool) -> None:
        """Called at the end of a `with` block. failed: whether an exception leaves the block.
        Default: calls `close` in both cases.
        """
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
_exits_in: int | None = None  # the thread that runs the exit, once it has begun


def close_at_exit(thing: T, close: Callable[[T], None]) -> None:
    """Calls `close(thing)` when the interpreter exits, if `thing` still exists then."""
    _open[thing] = close
    end_thread_at_exit()  # if the exit has missed `thing`, this thread ends


def end_thread_at_exit() -> None:
    """Raises SystemExit in a daemon thread once the interpreter is exiting, because the objects
    that the thread uses are closed. Python ends such a thread silently. Does nothing in other
    threads.
    """
    exits = _exits_in not in (None, threading.get_ident())
    if exits and threading.current_thread().daemon:
        raise SystemExit


@atexit.register
def _close_all() -> None:
    """Closes all objects that are still open at exit."""
    global _exits_in
    _exits_in = threading.get_ident()
    _core.process_ends()
    # The ExitStack closes all objects even if one raises. No loop over `_open`: it would fail if
    # another thread added an object meanwhile.
    with contextlib.ExitStack() as all_of_them, contextlib.suppress(KeyError):
        while True:
            thing, close = _open.popitem()
            all_of_them.callback(close, thing)
