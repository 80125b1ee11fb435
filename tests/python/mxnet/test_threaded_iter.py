"""fuelrail.mxnet.io.ThreadedIter: its behaviour in Python."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator

import pytest

import fuelrail as fr
from fuelrail.mxnet.io import ThreadedIter


def within_patience(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + 60
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


class Counted:
    """Counts from 0, and records how many numbers it returned."""

    def __init__(self, end: int, broken_at: int | None = None) -> None:
        self.end, self.broken_at, self.made = end, broken_at, 0

    def __call__(self) -> Iterator[int]:
        for i in range(self.end):
            if i == self.broken_at:
                raise KeyError(f"broken at {i}")
            self.made += 1
            yield i


def iter_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "fuelrail-iter"}


# The tests of dmlc-core's unittest_threaditer.
def test_capacity_of_one_gives_ten_items_and_stays_at_the_end() -> None:
    items = ThreadedIter(range(10), max_capacity=1)
    assert list(items) == list(range(10))
    assert items.next() is None
    assert items.next() is None
    items.before_first()
    items.before_first()
    assert [items.next() for _ in range(4)] == [0, 1, 2, 3]
    items.before_first()
    assert list(items) == list(range(10))
    items.close()


def test_iterables_callables_and_cells_are_producers() -> None:
    assert list(ThreadedIter([1, 2, 3])) == [1, 2, 3]
    assert list(ThreadedIter(i for i in "abc")) == ["a", "b", "c"]
    factory = ThreadedIter(Counted(5))
    assert list(factory) == [0, 1, 2, 3, 4]
    factory.before_first()
    assert list(factory) == [0, 1, 2, 3, 4]

    made: list[bytearray] = []
    left = 100

    def fill(cell: bytearray | None) -> bytearray:
        nonlocal left
        if left == 0:
            raise StopIteration
        left -= 1
        if cell is None:
            cell = bytearray(4)
            made.append(cell)
        cell[:] = left.to_bytes(4, "big")
        return cell

    cells = ThreadedIter(fill, max_capacity=3)
    taken = 0
    for cell in cells:
        assert cell == (99 - taken).to_bytes(4, "big")
        taken += 1
        cells.recycle(cell)
    assert taken == 100
    assert len(made) <= 4


def test_the_producer_runs_ahead_by_the_capacity_and_no_further() -> None:
    producer = Counted(100)
    items = ThreadedIter(producer, max_capacity=5)
    assert within_patience(lambda: producer.made == 5)
    items.next()
    assert within_patience(lambda: producer.made == 6)
    time.sleep(0.02)
    assert producer.made == 6
    default = Counted(100)
    eight = ThreadedIter(default)
    assert within_patience(lambda: default.made == 8)
    time.sleep(0.02)
    assert default.made == 8
    eight.close()
    items.close()


def test_items_before_an_error_come_before_it_and_it_is_the_original() -> None:
    producer = Counted(10, broken_at=3)
    items = ThreadedIter(producer, max_capacity=8)
    assert within_patience(lambda: producer.made == 3)
    assert [items.next() for _ in range(3)] == [0, 1, 2]
    depths = set()
    for _ in range(3):
        with pytest.raises(KeyError, match="broken at 3") as raised:
            items.next()
        depths.add(len(raised.traceback))
    assert len(depths) == 1  # the depth does not grow
    items.before_first()
    with pytest.raises(KeyError):
        list(items)
    producer.broken_at = None
    items.before_first()
    assert list(items) == list(range(10))


def test_errors_that_are_no_exceptions_come_out_too() -> None:
    def stop() -> Iterator[int]:
        yield 1
        raise SystemExit(3)

    items = ThreadedIter(stop)
    assert items.next() == 1
    with pytest.raises(SystemExit):
        items.next()


def test_rewind_that_raises_raises_out_of_next_too() -> None:
    broken = True

    def rewind() -> None:
        if broken:
            raise OSError("no way back")

    items = ThreadedIter([1, 2], before_first=rewind)
    for _ in range(2):
        with pytest.raises(OSError, match="no way back"):
            items.before_first()
        with pytest.raises(OSError, match="no way back"):
            items.next()
    broken = False
    items.before_first()
    assert list(items) == [1, 2]


def test_one_shot_iterators_have_no_way_back_unless_it_is_given() -> None:
    items = ThreadedIter(iter([1, 2]))
    with pytest.raises(fr.UnsupportedError, match="cannot be rewound"):
        items.before_first()
    assert list(items) == [1, 2]
    left = [3, 2, 1]

    def pop(cell: int | None) -> int:
        if not left:
            raise StopIteration
        return left.pop()

    filler = ThreadedIter(pop, before_first=lambda: left.extend([9]))
    assert list(filler) == [1, 2, 3]
    filler.before_first()
    assert list(filler) == [9]


def test_a_filler_that_returns_none_is_told_how_to_end() -> None:
    left = [2, 1]
    items = ThreadedIter(lambda cell: left.pop() if left else None)
    assert [items.next(), items.next()] == [1, 2]
    with pytest.raises(fr.StateError, match=r"returned None.*raise StopIteration at the end"):
        items.next()


def test_nones_are_items_too_when_iterated() -> None:
    assert list(ThreadedIter([None, 1, None])) == [None, 1, None]


def test_closing_at_any_time_ends_the_thread() -> None:
    before = iter_threads()
    for taken in range(12):
        items = ThreadedIter(range(10), max_capacity=2)
        for _ in range(taken):
            items.next()
        items.close()
        items.close()
    with ThreadedIter(range(10**9)) as items:
        assert items.next() == 0
    assert iter_threads() <= before


def test_a_closed_iterator_says_so_and_is_not_at_its_end() -> None:
    with ThreadedIter(range(10)) as items:
        assert items.next() == 0
    for call in (items.next, items.before_first, lambda: list(items), lambda: items.recycle(1)):
        with pytest.raises(fr.StateError, match=r"iterator is closed\. Create a new iterator"):
            call()


def test_closing_ends_the_producers_pass_too() -> None:
    ended: list[str] = []

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            ended.append(threading.current_thread().name)

    items = ThreadedIter(endless)
    assert items.next() == 1
    items.close()
    assert ended == ["fuelrail-iter"]


def test_an_interrupted_rewind_leaves_the_pass_as_it_is() -> None:
    gate, begun = threading.Event(), threading.Event()

    def slow() -> Iterator[int]:
        yield 0
        begun.set()
        gate.wait(60)
        yield 1

    items = ThreadedIter(slow)
    begun.wait(60)

    def interrupt() -> None:
        assert within_patience(lambda: items._shared.paused)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        items.before_first()
    helper.join()
    gate.set()
    assert list(items) == [0, 1]
    items.before_first()
    assert list(items) == [0, 1]
    items.close()


def test_closing_lets_out_a_consumer_that_waits() -> None:
    gate = threading.Event()

    def slow() -> Iterator[int]:
        gate.wait(60)
        yield 1

    items = ThreadedIter(slow)
    told: list[str] = []

    def take() -> None:
        try:
            items.next()
        except fr.StateError as error:
            told.append(str(error))

    consumer = threading.Thread(target=take)
    consumer.start()
    closer = threading.Thread(target=items.close)
    closer.start()
    consumer.join()
    assert told == ["the threaded iterator is closed. Create a new iterator."]
    gate.set()
    closer.join()


def test_dropped_iterators_leave_no_thread_and_no_items() -> None:
    class Item:
        pass

    before = iter_threads()
    alive: list[weakref.ref[Item]] = []

    def endless() -> Iterator[Item]:
        while True:
            item = Item()
            alive.append(weakref.ref(item))
            yield item

    items = ThreadedIter(endless, max_capacity=3)
    items.next()
    del items
    gc.collect()
    assert within_patience(lambda: iter_threads() <= before)
    gc.collect()
    assert within_patience(lambda: all(item() is None for item in alive))


def test_consumers_share_every_item_once() -> None:
    items = ThreadedIter(range(3000), max_capacity=4)
    taken: list[list[int]] = [[] for _ in range(4)]
    threads = [threading.Thread(target=into.extend, args=(items,)) for into in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(item for of_one in taken for item in of_one) == list(range(3000))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_is_told_and_may_close() -> None:
    items = ThreadedIter(range(10), max_capacity=2)
    assert items.next() == 0
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = []
        for call in (items.next, items.before_first, lambda: items.recycle(1)):
            try:
                call()
                said.append("nothing")
            except fr.StateError:
                said.append("told")
        items.close()
        os.write(writing, ",".join(said).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "told,told,told"
    os.waitpid(child, 0)
    assert list(items) == list(range(1, 10))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(fr.InvalidArgumentError, match="max_capacity"):
        ThreadedIter([1], max_capacity=0)
    with pytest.raises(TypeError, match="expected an iterable or a callable"):
        ThreadedIter(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Did you mean 'max_capacity'"):
        ThreadedIter([1], max_capacty=2)  # type: ignore[call-arg]
    with pytest.raises(fr.StateError, match="cannot be pickled"):
        pickle.dumps(ThreadedIter([1]))
