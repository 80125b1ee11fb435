"""dmlc-core's ThreadedIter for Python: a thread that runs ahead of a loop, within a bound."""

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
    """The items of a producer, which a thread makes up to `max_capacity` ahead.

    >>> from fuelrail.mxnet.io import ThreadedIter
    >>> with ThreadedIter(lambda: range(3), max_capacity=4) as items:
    ...     once = list(items)
    ...     items.before_first()
    ...     again = list(items)
    >>> once, again
    ([0, 1, 2], [0, 1, 2])

    What was made before an error comes before the error, which is the producer's own. Any thread
    may take items. It may be rewound, closed and dropped at any time, also while the producer waits
    for room; closing waits for the item that is being made. The thread is a daemon: an interpreter
    that exits does not wait for it. In a forked child, and once it is closed, every call but `close`
    is a StateError.
    """

    @suggests_options
    def __init__(
        self,
        producer: Iterable[T] | Callable[..., Any],
        before_first: Callable[[], Any] | None = None,
        max_capacity: int = 8,
    ) -> None:
        """Starts the thread.

        producer: an iterable, of which every pass takes a new iterator (a one-shot iterator has no
        way back, unless `before_first` gives it one); or a callable without arguments that returns
        an iterable, called once a pass; or a callable with one argument, the cell: None or an item
        that was given to `recycle`, to be filled again. It returns an item, not None, and
        raises StopIteration at the end. before_first: called in the thread that rewinds, while the
        producer stands; default: none. max_capacity: items that wait at most.

        Errors: ArgumentTypeError, InvalidArgumentError for a capacity below 1.
        """
        self._shared: _Shared[T] = _Shared(
            _source_of(producer), before_first, whole("max_capacity", max_capacity, least=1)
        )
        self._shared.start()

    def next(self) -> T | None:
        """The next item, waiting for it; None at the end, again and again until `before_first`.

        Errors: what the producer raised, again and again until `before_first`; StateError in a
        forked child and when it is closed. For producers of None, iterate instead.
        """
        try:
            return self._shared.take()
        except StopIteration:
            return None

    def recycle(self, item: T) -> None:
        """Gives an item back to the producer, which may fill it again."""
        self._shared.recycle(item)

    def before_first(self) -> None:
        """Begins a new pass: waits for the item that is being made, drops what waits, rewinds.

        An error is forgotten. Errors: UnsupportedError where the producer has no way back; what
        `before_first` raises, which `next` then raises, too; StateError in a forked child
        and when it is closed.
        """
        self._shared.rewind()

    def close(self) -> None:
        """Ends the thread. Those who wait get a StateError, and so do calls from now on."""
        self._shared.close()

    destroy = close

    def __iter__(self) -> Iterator[T]:
        """What is left of the pass."""
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
            remedy="Make it where its items are used",
        )


class _Source(Generic[T]):
    """Makes items, on one thread at a time: a new iterator a pass."""

    fills_cells = False

    def __init__(self, make: Callable[[], Iterator[T]], can_rewind: bool = True) -> None:
        self.can_rewind = can_rewind
        self._make = make
        self._items: Iterator[T] | None = None

    def next(self, cell: T | None) -> T:
        """The next item. Raises StopIteration at the end."""
        if self._items is None:
            self._items = self._make()
        return next(self._items)

    def rewind(self) -> None:
        """Makes the next pass begin anew, and releases the iterator."""
        self._items = None


class _Filler(_Source[T]):
    """Calls a function that fills cells."""

    fills_cells = True

    def __init__(self, fill: Callable[[T | None], T]) -> None:
        super().__init__(lambda: iter(()), can_rewind=False)
        self._fill = fill

    def next(self, cell: T | None) -> T:
        item = self._fill(cell)
        if item is None:
            raise StateError(
                "the producer filled no cell, and was not done",
                remedy="Let it return an item, or raise StopIteration at the end",
            )
        return item


def _source_of(producer: Iterable[T] | Callable[..., Any]) -> _Source[T]:
    if isinstance(producer, Iterable):
        return _Source(lambda: iter(producer), can_rewind=iter(producer) is not producer)
    if not callable(producer):
        raise ArgumentTypeError(
            "`producer` is neither an iterable nor callable", found=typed(producer)
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
    """What the thread and its consumers share; the thread does not keep the iterator alive."""

    def __init__(
        self, source: _Source[T], before_first: Callable[[], Any] | None, capacity: int
    ) -> None:
        self.source = source
        self.user_rewind = before_first
        self.capacity = capacity
        self.process = os.getpid()
        # Re-entrant: the thread that has it may collect garbage, and so the iterator.
        self.changed = threading.Condition(threading.RLock())
        self.queue: deque[T] = deque()
        self.free: list[T] = []
        self.error: BaseException | None = None
        self.traceback: TracebackType | None = None  # as it was raised; each raise adds to it
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
                "the iterator's thread belongs to the parent of this process",
                remedy="Make a new one after the fork",
            )

    def check_open(self) -> None:
        if self.closed:
            raise StateError("the threaded iterator is closed", remedy="Make a new one")

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
        except BaseException as raised:  # the consumer's to judge
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
                "this threaded iterator has no way back to its beginning",
                remedy="Give `before_first`, or an iterable that can be had twice",
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
        """Lets the producer stand, and drops what waits."""
        with self.changed:
            while self.paused and not self.closed:
                self.changed.wait()
            self.check_open()
            self.paused = True
            try:
                while self.making:
                    self.changed.wait()
            except BaseException:  # an interrupt: the pass goes on
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
            return  # the lock may have been held by a thread that is not here
        with self.changed:
            self.closed = True
            self.queue.clear()
            self.free.clear()
            self.note(None)
            self.changed.notify_all()
