"""Kills training processes at many moments. loader/test_killed_run.py runs it in an interpreter:

    killed_run.py FILE FOLDER KILLS

It imports only what training needs, and forks every training process. Each process resumes from
the checkpoint of the earlier ones with the code of docs/resume.md. The last process is not killed
and completes its epoch.

FOLDER/checkpoint  the states of the loader and the model
FOLDER/log         the batches that the model has learned from, one line per step: the ids and a
                   checksum of all columns. It represents the model's weights: text beyond the
                   length in the checkpoint is discarded.
FOLDER/all         all batches that any process received: number of the process, then as above

Processes 0 to KILLS - 1 are killed at random moments, the later ones at the calls in CALLS.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import random
import signal
import sys
import time
import traceback
import zlib
from collections.abc import Callable
from typing import Any

import fuelrail as fr
from many_fields import bits, ids_of, options_of
from page import code_of

recipe: dict[str, Any] = {}
exec(code_of("resume.md")[0], recipe)


def make_loader(file: str, **options: int) -> fr.Loader:
    data = fr.open(file)
    return fr.Loader(data, 4, shuffle="full", seed=7, **options_of(data), **options)


def seen(batch: Any) -> list[int]:
    return [*ids_of(batch), zlib.crc32(repr(bits(batch)).encode())]


CALLS = [
    (name, after, count)
    for name in ("fsync", "replace")
    for after in (False, True)
    for count in (1, 2, 3)
]
"""Kills right before or after the count-th call of an `os` function that saves the checkpoint."""


class Model:
    def __init__(self, folder: pathlib.Path, process: int, tick: Callable[[], None]) -> None:
        self.log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT)
        self.all = os.open(folder / "all", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.process = process
        self.tick = tick
        self.bytes = 0

    def step(self, batch: Any) -> None:
        numbers = " ".join(map(str, seen(batch)))
        # 32 bytes, so that no line crosses a page, where a kill could truncate a write.
        os.write(self.all, f"{self.process} {numbers}".ljust(31).encode() + b"\n")
        os.ftruncate(self.log, self.bytes)
        self.bytes += os.pwrite(self.log, f"{numbers}\n".encode(), self.bytes)
        self.tick()

    def state_dict(self) -> dict[str, int]:
        return {"bytes": self.bytes}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.bytes = state["bytes"]


def train(file: str, folder: pathlib.Path, process: int, tick: Callable[[], None]) -> None:
    last = process < 0
    loader = make_loader(file, threads=1 + process % 3, prefetch=1 + process % 4)
    model = Model(folder, process, tick)
    checkpoint = str(folder / "checkpoint")
    epochs = 2**31
    if last:
        with open(checkpoint) as state:
            epochs = json.load(state)["loader"]["epoch"] + 1
    recipe["train"](checkpoint, loader, model, epochs)


def forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return child


def note(pipe: int) -> None:
    os.write(pipe, b".")


def expect(child: int, code: int) -> None:
    found = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if found != code:
        sys.exit(f"a process ended with {found}, not {code}")


def kill_at_a_random_moment(
    file: str, folder: pathlib.Path, process: int, chance: random.Random
) -> None:
    """Kills after up to four steps and up to 2 ms more, which is longer than a step."""
    heard, told = os.pipe()
    child = forked(lambda: train(file, folder, process, lambda: note(told)))
    os.close(told)
    for _ in range(chance.randrange(5)):
        if not os.read(heard, 1):
            break
    time.sleep(chance.uniform(0, 0.002))
    os.kill(child, signal.SIGKILL)
    os.close(heard)
    expect(child, -signal.SIGKILL)


def kill_at_the_call(
    file: str, folder: pathlib.Path, process: int, name: str, count: int, after: bool
) -> None:
    real = getattr(os, name)
    calls = iter(range(1, count + 1))

    @functools.wraps(real)
    def deadly(*arguments: object) -> object:
        now = next(calls) == count
        if now and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments)
        if now:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    def work() -> None:
        setattr(os, name, deadly)
        train(file, folder, process, lambda: None)

    expect(forked(work), -signal.SIGKILL)


def main() -> None:
    file, folder, kills = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(1)
    for process in range(kills):
        kill_at_a_random_moment(file, folder, process, chance)
    for process, (name, after, count) in enumerate(CALLS, start=kills):
        kill_at_the_call(file, folder, process, name, count, after)
    expect(forked(lambda: train(file, folder, -1, lambda: None)), 0)


if __name__ == "__main__":
    main()
