"""Replaces dmlc-core's ThreadedIter, which prepares items in a background thread."""

from __future__ import annotations

import inspect
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fuelrail.closing import Closing
from fuelrail.errors import ArgumentTypeError, StateError, UnsupportedError
from fuelrail.options import suggests_options, typed, whole

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ThreadedIter"]

T = TypeVar("T")


class ThreadedIter(Closing, Generic[T]):
    """Iterates over a producer's items. A thread prepares up to `max_capacity` items in advance.

    >>> from fuelrail.mxnet.io import ThreadedIter
    >>> with ThreadedIter(lambda: range(3), max_capacity=4) as items:
    ...     once = list(items)
    ...     items.before_first()
    ...     again = list(items)
    >>> once, again
    ([0, 1, 2], [0, 1, 2])

    If the producer raises an exception, the iterator first returns the items that were produced
    earlier, and then raises the exception. Several threads may use the same iterator. The iterator
    can be rewound, closed and deleted at any time. `close` waits until the producer has finished
    its current item. The thread that prepares the items is a daemon, so Python does not wait for it
    at exit. After `close`, and in a forked child, every method except `close` raises StateError.
    """

    @suggests_options
    def __init__(
        self,
        producer: Iterable[T] | Callable[..., Any],
        before_first: Callable[[], Any] | None = None,
        max_capacity: int = 8,
    ) -> None:
        """Starts the thread.

        producer: one of three kinds of object.
            An iterable. Every pass over the items calls `iter(producer)`.
            A callable without arguments. Every pass calls it once, and it returns an iterable.
            A callable with one argument. It is called for each item, returns the item (not None),
            and raises StopIteration at the end. Its argument is None, or an item that was passed to
            `recycle` and may be reused.
        before_first: a function without arguments that rewinds the producer. It is called by
            `ThreadedIter.before_first`, while the producer is paused. Without it, an iterator or a
            callable with one argument cannot be rewound. Default: no function.
        max_capacity: the largest number of items that are prepared in advance.

        Errors: ArgumentTypeError; InvalidArgumentError if max_capacity is below 1.
        """
        self._shared: _Shared[T] = _Shared(
            _source_of(producer), before_first, whole("max_capacity", max_capacity, least=1)
        )
        self._shared.start()

    def next(self) -> T | None:
        """Waits for the next item and returns it. At the end of the pass, returns None.

        After the end, further calls return None until `before_first` is called. If the producer has
        raised an exception, further calls raise this exception again until `before_first` is
        called. If an item can be None, use a `for` loop, which does not mistake None for the end.

        Errors: any exception that the producer raises; StateError in a forked child and after
        `close`.
        """
        try:
            return self._shared.take()
        except StopIteration:
            return None

    def recycle(self, item: T) -> None:
        """Passes an item back to the producer, which may reuse the item's memory."""
        self._shared.recycle(item)

    def before_first(self) -> None:
        """Starts a new pass: discards the prepared items, rewinds the producer and clears its error.

        First waits until the producer has finished its current item.

        Errors: UnsupportedError if the producer cannot be rewound; StateError in a forked child and
        after `close`; any exception of the function that was passed to the constructor as
        `before_first`. After an exception of this function, later calls of `next` raise the same
        exception.
        """
        self._shared.rewind()

    def close(self) -> None:
        """Stops the thread. Calls that are waiting for an item raise StateError. After `close`,
        every other method raises StateError.
        """
        self._shared.close()

    destroy = close

    def __iter__(self) -> Iterator[T]:
        """Yields the remaining items of the current pass."""
        while True:
            try:
                item = self._shared.take()
            except StopIteration:
                return
            yield item

    def __del__(self) -> None:
        shared = getattr(self, "_shared", None)
        if shared is not None:
            shared.abandon()

    def __reduce__(self) -> tuple[Any, ...]:
        raise StateError(
            "a threaded iterator cannot be pickled",
            remedy="Create it in the process that uses its items",
        )


class _Source(Generic[T]):
    """Produces the items of an iterable, with a new iterator for each pass."""

    fills_cells = False

    def __init__(self, make: Callable[[], Iterator[T]], can_rewind: bool = True) -> None:
        self.can_rewind = can_rewind
        self._make = make
        self._items: Iterator[T] | None = None

    def next(self, cell: T | None) -> T:
        if self._items is None:
            self._items = self._make()
        return next(self._items)

    def rewind(self) -> None:
        self._items = None


class _Filler(_Source[T]):
    """Calls `fill` for each item. The argument of `fill` is a recycled item or None."""

    fills_cells = True

    def __init__(self, fill: Callable[[T | None], T]) -> None:
        super().__init__(lambda: iter(()), can_rewind=False)
        self._fill = fill

    def next(self, cell: T | None) -> T:
        item = self._fill(cell)
        if item is None:
            raise StateError(
                "the producer returned None instead of an item",
                remedy="Return an item, or raise StopIteration at the end",
            )
        return item


def _source_of(producer: Iterable[T] | Callable[..., Any]) -> _Source[T]:
    if isinstance(producer, Iterable):
        return _Source(lambda: iter(producer), can_rewind=iter(producer) is not producer)
    if not callable(producer):
        raise ArgumentTypeError(
            "`producer` has the wrong type",
            expected="an iterable or a callable",
            found=typed(producer),
        )
    if _takes_a_cell(producer):
        return _Filler(producer)
    return _Source(lambda: iter(producer()))


def _takes_a_cell(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind()
    except TypeError:
        return True
    except ValueError:  # a built-in without a signature
        return False
    return False


class _Shared(Generic[T]):
    """The state that the thread and the iterator share. It has no reference to the iterator."""

    def __init__(
        self, source: _Source[T], before_first: Callable[[], Any] | None, capacity: int
    ) -> None:
        self.source = source
        self.user_rewind = before_first
        self.capacity = capacity
        self.process = os.getpid()
        # Re-entrant, because garbage collection may delete the iterator in the thread that holds
        # the lock.
        self.changed = threading.Condition(threading.RLock())
        self.queue: deque[T] = deque()
        self.free: list[T] = []
        self.error: BaseException | None = None
        self.traceback: TracebackType | None = None  # of the first raise; each later one extends it
        self.ended = False
        self.making = False
        self.paused = False
        self.closed = False
        self.thread = threading.Thread(target=self.produce, name="fuelrail-iter", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def check_process(self) -> None:
        if self.process != os.getpid():
            raise StateError(
                "the iterator's thread exists only in the parent process",
                remedy="Create a new iterator after the fork",
            )

    def check_open(self) -> None:
        if self.closed:
            raise StateError("the threaded iterator is closed", remedy="Create a new iterator")

    # The producer's side.

    def produce(self) -> None:
        while self.wait_for_room():
            self.make_one()
        self.source.rewind()

    def wait_for_room(self) -> bool:
        with self.changed:
            while not self.closed and (
                self.paused or self.ended or len(self.queue) >= self.capacity
            ):
                self.changed.wait()
            self.making = not self.closed
            return self.making

    def make_one(self) -> None:
        with self.changed:
            cell = self.free.pop() if self.free else None
        items: list[T] = []
        error: BaseException | None = None
        try:
            items.append(self.source.next(cell))
        except StopIteration:
            pass
        except BaseException as raised:  # `take` raises it
            error = raised
        with self.changed:
            self.making = False
            self.queue.extend(items)
            self.ended = not items
            self.note(error)
            self.changed.notify_all()

    # The consumers' side.

    def take(self) -> T:
        self.check_process()
        with self.changed:
            while not self.closed and (self.paused or not (self.queue or self.ended)):
                self.changed.wait()
            self.check_open()
            if self.queue:
                item = self.queue.popleft()
                self.changed.notify_all()
                return item
            if self.error is not None:
                raise self.error.with_traceback(self.traceback)
            raise StopIteration

    def recycle(self, item: T) -> None:
        self.check_process()
        with self.changed:
            self.check_open()
            self.keep(item)

    def keep(self, item: T) -> None:
        if self.source.fills_cells:
            self.free.append(item)

    def note(self, error: BaseException | None) -> None:
        self.error = error
        self.traceback = error.__traceback__ if error is not None else None

    def rewind(self) -> None:
        self.check_process()
        if not self.source.can_rewind and self.user_rewind is None:
            raise UnsupportedError(
                "the threaded iterator cannot be rewound",
                remedy="Pass a function as `before_first`, or an iterable that can be iterated "
                "again",
            )
        self.pause()
        error: BaseException | None = None
        try:
            if self.user_rewind is not None:
                self.user_rewind()
            self.source.rewind()
        except BaseException as raised:
            error = raised
            raise
        finally:
            with self.changed:
                self.note(error)
                self.ended = error is not None
                self.go_on()

    def pause(self) -> None:
        """Pauses the producer and drops the prepared items."""
        with self.changed:
            while self.paused and not self.closed:
                self.changed.wait()
            self.check_open()
            self.paused = True
            try:
                while self.making:
                    self.changed.wait()
            except BaseException:  # an interrupt: the pass continues
                self.go_on()
                raise
            for item in self.queue:
                self.keep(item)
            self.queue.clear()
            self.note(None)

    def go_on(self) -> None:
        self.paused = False
        self.changed.notify_all()

    def close(self) -> None:
        self.abandon()
        if self.process == os.getpid() and self.thread is not threading.current_thread():
            self.thread.join()

    def abandon(self) -> None:
        if self.process != os.getpid():
            return  # a thread of the parent may have held the lock at the fork
        with self.changed:
            self.closed = True
            self.queue.clear()
            self.free.clear()
            self.note(None)
            self.changed.notify_all()
