"""Native calls let other Python threads run meanwhile."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest

import fuelrail as fr
from fuelrail.mxnet.io import InputSplit
from interpreter_lock import another_thread_gets_on, keeps_the_lock  # noqa: F401
from photographs import encoded, photograph


@pytest.fixture
def large_file(make_file: Callable[..., pathlib.Path]) -> pathlib.Path:
    return make_file([encoded(photograph(1, 1500, 1500), quality=98)])


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
        split.next_record()  # a thread reads ahead from now on
    del split
    assert another_thread_gets_on(lambda: splits.pop() is None, attempts=100)
