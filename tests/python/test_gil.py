"""Native calls let other Python threads run while they last.

No clock decides. The interpreter is told never to take its lock from a running thread, so another
thread gets on only if a call gives the lock away. One call may be over before the system has woken
that thread, so calls are repeated until it has got on; calls that keep the lock never let it.
"""

from __future__ import annotations

import pathlib
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

import fuelrail as fr
from conftest import encoded, photograph
from fuelrail.mxnet.io import InputSplit

Call = Callable[[], object]
HOURS = 10_000.0  # seconds; far longer than any test runs


@pytest.fixture
def keeps_the_lock() -> Iterator[None]:
    """Threads lose the interpreter's lock only by giving it away."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(HOURS)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def large_file(make_file: Callable[..., pathlib.Path]) -> pathlib.Path:
    return make_file([encoded(photograph(1, 1500, 1500), quality=98)])


def another_thread_gets_on(call: Call, attempts: int) -> bool:
    """Whether a thread that has something to do does it in one of the calls."""
    ready, gate, done = threading.Event(), threading.Lock(), threading.Event()

    def other() -> None:
        ready.set()
        with gate:  # gives the interpreter's lock away, and needs it again to go on
            done.set()

    gate.acquire()
    thread = threading.Thread(target=other)
    thread.start()
    ready.wait()
    gate.release()
    try:
        # From here on, nothing but the call can give the lock away.
        return any((call(), done.is_set())[1] for _ in range(attempts))
    finally:
        thread.join()


@pytest.mark.usefixtures("keeps_the_lock")
def test_a_call_that_keeps_the_lock_is_noticed() -> None:
    assert not another_thread_gets_on(lambda: sum(range(100_000)), attempts=100)


@pytest.mark.usefixtures("keeps_the_lock")
def test_decoding_lets_other_threads_run(large_file: pathlib.Path) -> None:
    sample = fr.open(large_file)[0]
    sample.decode()  # imports numpy
    assert another_thread_gets_on(sample.decode, attempts=200)


@pytest.mark.usefixtures("keeps_the_lock")
def test_reading_a_sample_lets_other_threads_run(large_file: pathlib.Path) -> None:
    data = fr.open(large_file)
    assert another_thread_gets_on(lambda: data[0], attempts=10_000)


@pytest.mark.usefixtures("keeps_the_lock")
def test_opening_lets_other_threads_run(record_file: pathlib.Path, folder: pathlib.Path) -> None:
    for source in (record_file, folder):
        assert another_thread_gets_on(lambda source=source: fr.open(source), attempts=10_000)


@pytest.mark.usefixtures("keeps_the_lock")
def test_waiting_for_a_batch_lets_other_threads_run(large_file: pathlib.Path) -> None:
    data = fr.open(large_file).subset([0] * 400)
    crop = fr.transforms.RandomResizedCrop(8)
    with fr.Loader(data, 2, transforms=[crop], threads=1, prefetch=1) as loader:
        batches = iter(loader)
        assert another_thread_gets_on(lambda: next(batches), attempts=200)


@pytest.mark.usefixtures("keeps_the_lock")
def test_dropping_an_input_split_lets_other_threads_run(record_file: pathlib.Path) -> None:
    splits = [InputSplit(record_file) for _ in range(100)]
    for split in splits:
        split.next_record()  # a thread reads ahead from here on
    del split
    assert another_thread_gets_on(lambda: splits.pop() is None, attempts=100)
