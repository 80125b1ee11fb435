"""What can be closed ends with its `with`, or with the interpreter."""

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
    """The base of what has a `close`, which the end of a `with` calls."""

    def close(self) -> None:
        raise NotImplementedError

    def _end(self, failed: bool) -> None:
        """What a `with` ends in. failed: an exception leaves it. Default: `close` in both cases."""
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
_exits_in: int | None = None  # the thread that ends the interpreter, once it does


def close_at_exit(thing: T, close: Callable[[T], None]) -> None:
    """Calls `close(thing)` when the interpreter exits, if `thing` still lives."""
    _open[thing] = close
    end_thread_at_exit()  # after that: the exit closes `thing`, or this thread ends


def end_thread_at_exit() -> None:
    """Raises SystemExit, of which Python says nothing, in a daemon thread once the interpreter
    exits: what the thread uses has been closed. Does nothing in other threads.
    """
    exits = _exits_in not in (None, threading.get_ident())
    if exits and threading.current_thread().daemon:
        raise SystemExit


@atexit.register
def _close_all() -> None:
    """Closes what is still open at exit, also what a reference keeps alive until then."""
    global _exits_in
    _exits_in = threading.get_ident()
    _core.process_ends()
    # All are closed, also after one that fails. Other threads may still add to `_open`, and a loop
    # over it would fail then.
    with contextlib.ExitStack() as all_of_them, contextlib.suppress(KeyError):
        while True:
            thing, close = _open.popitem()
            all_of_them.callback(close, thing)
