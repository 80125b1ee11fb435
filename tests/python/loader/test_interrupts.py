"""Ctrl-C while batches are taken: iterators continue, and no batch is lost or repeated."""

from __future__ import annotations

import itertools
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuelrail.mxnet import io
from interrupting import Interrupting, read_on
from loading import tiny
from mxnet_goldens import copied

ORDERS: list[dict[str, Any]] = [{}, {"shuffle": True}, {"sampler": range(0, 60, 2)}]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("call", ["next", "warnings", "progress"])
@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_around_a_call_loses_and_repeats_nothing(
    tiny_file: pathlib.Path, order: dict[str, Any], call: str, after: bool
) -> None:
    expected, _ = read_on(tiny(tiny_file, 4, **order))
    for number in range(1, 8):
        loader = tiny(tiny_file, 4, **order)
        loader._core = Interrupting(loader._core, call, number, after)
        assert read_on(loader) == (expected, 1)
        assert read_on(loader)[1] == 0


@pytest.mark.parametrize("order", ORDERS)
def test_the_state_in_between_stands_before_the_batch_that_was_not_given(
    tiny_file: pathlib.Path, order: dict[str, Any]
) -> None:
    expected, _ = read_on(tiny(tiny_file, 4, **order))
    loader = tiny(tiny_file, 4, **order)
    loader._core = Interrupting(loader._core, "next", 3, True)
    batches = iter(loader)
    seen = [next(batches)[0].numpy().tolist() for _ in range(2)]
    with pytest.raises(KeyboardInterrupt):
        next(batches)
    restored = tiny(tiny_file, 4, **order)
    restored.load_state_dict(loader.state_dict())
    assert seen + read_on(restored)[0] == expected
    loader.load_state_dict(loader.state_dict())
    assert seen + read_on(loader)[0] == expected


def test_a_batch_transform_that_is_interrupted_costs_its_batch(tiny_file: pathlib.Path) -> None:
    def interrupted(batch: Any) -> Any:
        if batch[0].numpy()[0] == 4:
            batch[0].numpy()[:] = 0  # must not run twice
            raise KeyboardInterrupt
        return batch

    expected, _ = read_on(tiny(tiny_file, 4))
    seen, interrupts = read_on(tiny(tiny_file, 4, batch_transforms=[interrupted]))
    assert (seen, interrupts) == (expected[:1] + expected[2:], 1)


SIGNALS_AT_ANY_TIME = """if True:
    import signal, sys
    import fuelrail as fr
    from loading import CROP

    def loader():
        return fr.Loader(sys.argv[1], 3, transforms=CROP, fields=("id",), threads=2)

    def numbers(batches):
        return [batch[0].numpy().tolist() for batch in batches]

    signal.signal(signal.SIGALRM, signal.default_int_handler)
    expected = numbers(loader())
    interrupts = 0
    for i in range(16):
        batches, seen, delay = iter(loader()), [], 0.0001 * 1.4**i
        while True:
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                seen.extend(batches)  # what it has appended stays, whatever comes
                signal.setitimer(signal.ITIMER_REAL, 0)
                break
            except KeyboardInterrupt:
                interrupts, delay = interrupts + 1, 0
        assert numbers(seen) == expected, (i, numbers(seen))
    print(interrupts)
"""


def test_signals_at_any_time_lose_and_repeat_nothing(
    tiny_file: pathlib.Path, python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """In a separate process, so that a late signal does not end another test."""
    run = python(SIGNALS_AT_ANY_TIME, tiny_file, cwd=pathlib.Path(__file__).parents[1] / "support")
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 0  # else no signal came in time


def record_iterator(root: pathlib.Path, **options: Any) -> io.ImageRecordIter:
    return io.ImageRecordIter(
        path_imgrec=str(root / "small.rec"),
        data_shape=(3, 32, 32),
        batch_size=3,
        dtype="uint8",
        **options,
    )


def read_records(iterator: io.ImageRecordIter) -> tuple[list[tuple[list[int], int, bytes]], int]:
    seen: list[tuple[list[int], int, bytes]] = []
    interrupts = 0
    while True:
        try:
            batch = next(iterator, None)
        except KeyboardInterrupt:
            interrupts += 1
            continue
        if batch is None:
            return seen, interrupts
        seen.append((batch.index.tolist(), batch.pad, batch.data[0].asnumpy().tobytes()))


@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_costs_image_record_iter_no_batch(tmp_path: pathlib.Path, after: bool) -> None:
    root = copied(tmp_path)
    plain = record_iterator(root)
    expected = [read_records(plain)[0]]
    plain.reset()
    expected.append(read_records(plain)[0])
    for number in range(1, len(expected[0]) + 2):
        iterator = record_iterator(root)
        iterator._core = Interrupting(iterator._core, "next", number, after)
        assert read_records(iterator) == (expected[0], 1)
        iterator.reset()
        assert read_records(iterator) == (expected[1], 0)


def test_a_reset_forgets_a_batch_that_was_not_given(tmp_path: pathlib.Path) -> None:
    root = copied(tmp_path)
    iterator = record_iterator(root)
    first = iterator.next().index.tolist()
    iterator._core = Interrupting(iterator._core, "next", 1, True)
    with pytest.raises(KeyboardInterrupt):
        iterator.next()
    iterator.reset()
    assert iterator.next().index.tolist() == first


@pytest.mark.parametrize("after", [False, True])
def test_a_reset_that_is_interrupted_forgets_it_too(tmp_path: pathlib.Path, after: bool) -> None:
    iterator = record_iterator(copied(tmp_path))
    first = iterator.next().index.tolist()
    second = iterator.next().index.tolist()
    core = iterator._core
    iterator._core = Interrupting(core, "next", 1, True)
    with pytest.raises(KeyboardInterrupt):
        iterator.next()
    iterator._core = Interrupting(core, "reset", 1, after)
    with pytest.raises(KeyboardInterrupt):
        iterator.reset()
    if not after:
        iterator.reset()
    assert [iterator.next().index.tolist() for _ in range(2)] == [first, second]


def test_an_augmenter_that_is_interrupted_costs_its_batch(tmp_path: pathlib.Path) -> None:
    root = copied(tmp_path)
    calls = itertools.count()

    def interrupted(images: np.ndarray) -> np.ndarray:
        if next(calls) == 1:
            raise KeyboardInterrupt
        return images

    expected, _ = read_records(record_iterator(root))
    seen, interrupts = read_records(record_iterator(root, augmenter=interrupted))
    assert (seen, interrupts) == (expected[:1] + expected[2:], 1)
