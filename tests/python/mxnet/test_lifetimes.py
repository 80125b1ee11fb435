"""MXNet's iterators release everything, let other threads run, and stop when closed."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Callable

import pytest

from fuelrail.mxnet import io
from interpreter_lock import another_thread_gets_on, keeps_the_lock  # noqa: F401
from mxnet_goldens import copied

Python = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    return copied(tmp_path)


DROPPED = """
import gc, os, sys
from fuelrail.mxnet import io

def threads(): return len(os.listdir("/proc/self/task"))
def descriptors(): return len(os.listdir("/proc/self/fd"))
def memory():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def use(batches):
    iterator = io.ImageRecordIter(
        path_imgrec=sys.argv[1], data_shape=(3, 32, 32), batch_size=4, rand_crop=True, resize=40,
    )
    for _ in range(batches):
        if not iterator.iter_next():
            iterator.reset()

for batches in (0, 1, 8):
    use(batches)
gc.collect()
before = threads(), descriptors()
for i in range(60):
    use(i % 8)
    if i == 20:
        begin = memory()
gc.collect()
assert (threads(), descriptors()) == before, (threads(), descriptors(), before)
assert memory() < begin + (4 << 20), (begin, memory())
print("nothing left")
"""


def test_dropped_iterators_leave_no_thread_descriptor_or_memory(
    root: pathlib.Path, python: Python
) -> None:
    run = python(DROPPED, root / "small.rec")
    assert run.stdout == "nothing left\n", run.stderr


@pytest.mark.usefixtures("keeps_the_lock")
def test_waiting_for_a_batch_lets_other_threads_run(root: pathlib.Path) -> None:
    iterator = io.ImageRecordIter(
        path_imgrec=str(root / "small.rec"), data_shape=(3, 300, 300), batch_size=10
    )

    def call() -> None:
        if not iterator.iter_next():
            iterator.reset()

    assert another_thread_gets_on(call, attempts=500)


INTERRUPTED = """
import signal, sys, threading
import numpy as np
from fuelrail.mxnet import io

iterator = io.ImageRecordIter(
    path_imgrec=sys.argv[1], data_shape=(3, 4000, 4000), batch_size=20, round_batch=False,
    preprocess_threads=1, prefetch_buffer=1, inter_method=4,
)
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
try:
    while True:
        if not iterator.iter_next():
            iterator.reset()
except KeyboardInterrupt:
    print("interrupted")
signal.setitimer(signal.ITIMER_REAL, 0)
iterator.close()
"""


def test_ctrl_c_ends_a_wait(root: pathlib.Path, python: Python) -> None:
    run = python(INTERRUPTED, root / "small.rec")
    assert run.stdout == "interrupted\n", run.stderr


def test_a_program_that_ends_beside_a_live_threaded_iter_says_nothing(
    root: pathlib.Path, python: Python, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FUELRAIL_LEAK_WARNINGS")
    script = """
import sys
from fuelrail.mxnet.io import ImageRecordIter, ThreadedIter
train = ImageRecordIter(path_imgrec=sys.argv[1], data_shape=(3, 8, 8), batch_size=4, resize=9)
ahead = ThreadedIter(train, before_first=train.reset)
ahead.next()
"""
    run = python(script, root / "small.rec")
    assert (run.returncode, run.stderr) == (0, "")
