"""Tests whether a native call releases the interpreter's lock (the GIL), without measuring time.

The interpreter is configured never to take the lock from a running thread, so another thread runs
only if a call releases the lock. One call may end before the system has woken that thread, so calls
are repeated until it has run. If calls keep the lock, it never runs.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest

Call = Callable[[], object]
HOURS = 10_000.0  # seconds; far longer than any test runs


@pytest.fixture
def keeps_the_lock() -> Iterator[None]:
    """Makes threads keep the interpreter's lock until they release it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(HOURS)
    yield
    sys.setswitchinterval(before)


def another_thread_gets_on(call: Call, attempts: int) -> bool:
    """Whether a waiting thread runs during one of the calls."""
    ready, gate, done = threading.Event(), threading.Lock(), threading.Event()

    def other() -> None:
        ready.set()
        with gate:  # releases the interpreter's lock, and needs it again to continue
            done.set()

    gate.acquire()
    thread = threading.Thread(target=other)
    thread.start()
    ready.wait()
    gate.release()
    try:
        # From here on, only the call can release the lock.
        return any((call(), done.is_set())[1] for _ in range(attempts))
    finally:
        thread.join()
