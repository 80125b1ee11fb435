"""Loaders in the user's threads, several at once, and in other interpreters."""

from __future__ import annotations

import itertools
import pathlib
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import fuelrail as fr
import many_fields
from loading import epoch_ids, tiny
from photographs import TINY_COUNT

Python = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize("fed", [{}, {"sampler": range(TINY_COUNT)}], ids=["computed", "fed"])
def test_a_loader_lives_in_a_thread_of_its_own(
    tiny_file: pathlib.Path, fed: dict[str, object]
) -> None:
    def whole_life() -> list[int]:
        assert threading.current_thread() is not threading.main_thread()
        with tiny(tiny_file, **fed) as loader:
            return epoch_ids(loader)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(whole_life).result() == list(range(TINY_COUNT))


def test_a_loader_moves_from_thread_to_thread(any_file: pathlib.Path) -> None:
    data = fr.open(any_file)
    expected, loader = (
        fr.Loader(data, 10, shuffle=True, seed=2, **many_fields.options_of(data)) for _ in range(2)
    )
    seen: list[object] = []
    iterator = iter(loader)
    for _ in range(len(loader)):  # each batch in a new thread, which then ends
        thread = threading.Thread(target=lambda: seen.append(many_fields.bits(next(iterator))))
        thread.start()
        thread.join()
    assert seen == [many_fields.bits(batch) for batch in expected]
    thread = threading.Thread(target=loader.close)
    thread.start()
    thread.join()


def test_two_loaders_of_one_dataset_do_not_disturb_each_other(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    options = [{"shuffle": True, "seed": seed} for seed in (1, 2)]
    alone = [epoch_ids(tiny(data, **each)) for each in options]
    first, second = (tiny(data, **each) for each in options)
    rows = [list(itertools.chain.from_iterable(ids)) for ids in zip(*(
        [(a[0].numpy().tolist(), b[0].numpy().tolist()) for a, b in zip(first, second, strict=True)]
    ), strict=True)]  # fmt: skip
    assert rows == alone
    with ThreadPoolExecutor(4) as pool:
        each_twice = pool.map(lambda each: epoch_ids(tiny(data, **each)), options * 2)
        assert list(each_twice) == alone * 2


def test_threads_close_a_loader_that_others_use(tiny_file: pathlib.Path) -> None:
    for _ in range(20):
        loader = tiny(tiny_file, 1)
        taken = threading.Event()

        def consume(loader: fr.Loader = loader, taken: threading.Event = taken) -> str:
            try:
                while True:
                    for _ in loader:
                        taken.set()
            except fr.StateError as error:
                return str(error)

        with ThreadPoolExecutor(1) as pool:
            said = pool.submit(consume)
            taken.wait()
            loader.close()
            assert "closed" in said.result() or "stopped" in said.result()


SUBINTERPRETER = """
import sys
try:
    import _interpreters as interpreters  # Python 3.13 and later
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
import fuelrail as fr
code = '''
try:
    import fuelrail
except ImportError as error:
    print("refused:", error, flush=True)
else:
    print("imported", flush=True)
'''
other = interpreters.create()
run(other, code)
interpreters.destroy(other)
loader = fr.Loader(sys.argv[1], 4, fields=["id"])
assert len(list(loader)) == len(loader)
print("works")
"""


def test_a_sub_interpreter_is_refused_and_the_main_one_goes_on(
    python: Python, tiny_file: pathlib.Path
) -> None:
    done = python(SUBINTERPRETER, tiny_file)
    assert done.returncode == 0, done.stderr
    refused, works = done.stdout.splitlines()
    assert refused.startswith("refused:"), sys.version
    assert "interpreter" in refused
    assert works == "works"
