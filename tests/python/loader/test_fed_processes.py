"""Orders from the user, while a process ends, forks or is interrupted."""

from __future__ import annotations

import pathlib
import signal
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from interrupting import Interrupting, read_on
from loading import tiny
from photographs import TINY_COUNT

PRELUDE = """
import os, signal, sys, threading, time
import fuelrail as fr
def make(sampler, **options):
    return fr.Loader(sys.argv[1], 4, transforms=[fr.transforms.CenterCrop(4)], sampler=sampler,
                     **options)
class Stuck:  # gives some, then never comes back
    def __iter__(self):
        yield from range(16)
        reached.set()
        while True: time.sleep(0.01)  # a signal may come right before a long one
reached = threading.Event()
"""


@pytest.mark.parametrize(
    "script",
    [
        "loader = make(range(90))\nnext(iter(loader))\n",
        "loader = make(Stuck(), prefetch=1)\nnext(iter(loader))\n",
        "iterator = iter(make(range(90), prefetch=9))\nnext(iterator)\nsys.exit(0)\n",
        "loader = make(range(90))\nnext(iter(loader))\nloader.close()\nloader.close()\n",
    ],
    ids=["live", "stuck", "exit", "close"],
)
def test_the_interpreter_exits_cleanly(
    python: Callable[..., Any], tiny_file: pathlib.Path, script: str
) -> None:
    done = python(PRELUDE + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_iterable_that_is_stuck_in_a_daemon_thread_holds_nobody_up(
    python: Callable[..., Any], tiny_file: pathlib.Path
) -> None:
    script = """
loader = make(Stuck(), prefetch=2)
threading.Thread(target=lambda: list(loader), daemon=True).start()
reached.wait()
loader.close()
"""
    assert python(PRELUDE + script, tiny_file).returncode == 0


def test_ctrl_c_ends_an_iterable_that_is_stuck(
    python: Callable[..., Any], tiny_file: pathlib.Path
) -> None:
    script = """
loader = make(Stuck(), prefetch=1)
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt():
    reached.wait()
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
threading.Thread(target=interrupt).start()
iterator = iter(loader)
seen = 0
try:
    for batch in iterator: seen += 1
except KeyboardInterrupt:
    print("interrupted")
rest = 0
try:
    for batch in iterator: rest += 1
except fr.StateError as error:
    print("over" if "interrupted" in str(error) else error)
assert seen + rest == 3, (seen, rest)  # whether a fourth is the last, nobody has said
"""
    done = python(PRELUDE + script, tiny_file)
    assert (done.stdout, done.returncode) == ("interrupted\nover\n", 0), done.stderr


class InterruptingDeque(deque[Any]):
    left = 3

    def append(self, item: Any) -> None:
        super().append(item)
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)


SIZES = [1, 3, 0, 2, 40, 7, 1, 97, 5]


@pytest.mark.parametrize("prefetch", [1, 4])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("call", "number"), [("feed", 1), ("feed", 4), ("reserve", 2)])
def test_ctrl_c_while_it_is_fed_loses_and_repeats_nothing(
    tiny_file: pathlib.Path, call: str, number: int, after: bool, prefetch: int
) -> None:
    fed = [[(7 * i + size) % TINY_COUNT for i in range(size)] for size in SIZES]
    loader = tiny(tiny_file, 1, batch_sampler=fed, prefetch=prefetch)
    loader._core = Interrupting(loader._core, call, number, after)
    assert read_on(loader) == (fed, 1)
    assert read_on(loader) == (fed, 0)


def test_ctrl_c_between_noting_a_batch_and_feeding_it_loses_and_repeats_nothing(
    tiny_file: pathlib.Path,
) -> None:
    fed = [[i, i + 1] for i in range(0, 20, 2)]
    loader = tiny(tiny_file, 1, batch_sampler=fed)
    assert loader._fed is not None
    loader._fed._ahead = InterruptingDeque()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert read_on(loader) == (fed, 1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert loader.state_dict()["epoch"] == 1
