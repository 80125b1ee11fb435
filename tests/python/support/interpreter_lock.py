"""Whether a native call gives the interpreter's lock away. No clock decides.

The interpreter is told never to take its lock from a running thread, so another thread gets on only
if a call gives the lock away. One call may be over before the system has woken that thread, so calls
are repeated until it has got on; calls that keep the lock never let it.
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
    """Threads lose the interpreter's lock only by giving it away."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(HOURS)
    yield
    sys.setswitchinterval(before)


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
