"""The order of samples, by rank and epoch."""

from __future__ import annotations

import itertools
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fuelrail as fr
import many_fields
from fuelrail import transforms as T
from loading import FIELDS, arrays, epoch_ids, tiny
from photographs import TINY_COUNT


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (
            "record_file",
            {"transforms": [T.RandomResizedCrop(24), T.HorizontalFlip()], "fields": FIELDS},
        ),
        ("many_fields_file", many_fields.OPTIONS),
    ],
    ids=["images", "many fields"],
)
def test_threads_and_prefetch_change_no_bit(
    request: pytest.FixtureRequest, source: str, options: dict[str, object]
) -> None:
    data = fr.open(request.getfixturevalue(source))

    def epochs(threads: int, prefetch: int) -> list[object]:
        loader = fr.Loader(
            data, 7, shuffle=True, seed=11, threads=threads, prefetch=prefetch, **options
        )
        return [many_fields.bits(batch) for _ in range(2) for batch in loader]

    expected = epochs(1, 1)
    for threads, prefetch in [(2, 1), (3, 5), (8, 2)]:
        assert epochs(threads, prefetch) == expected


def test_shuffled_epochs_differ_and_are_complete(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, shuffle="full", seed=1)
    first, second = epoch_ids(loader), epoch_ids(loader)
    assert sorted(first) == sorted(second) == list(range(TINY_COUNT))
    assert first != second
    assert epoch_ids(tiny(tiny_file, shuffle=True, seed=1)) == first
    assert epoch_ids(tiny(tiny_file, shuffle=True, seed=2)) != first


def test_two_visits_of_a_sample_differ(record_file: pathlib.Path) -> None:
    loader = fr.Loader(record_file, 31, transforms=[T.RandomResizedCrop(16)])
    (first,), (second,) = list(loader), list(loader)
    different = np.asarray(first[0]) != np.asarray(second[0])
    assert different.any(axis=(1, 2, 3)).all()


@settings(max_examples=25)
@given(
    batch_size=st.integers(1, 40),
    world_size=st.integers(1, 5),
    last_batch=st.sampled_from(["short", "drop", "pad", "wrap"]),
    shuffle=st.booleans(),
)
def test_the_ranks_together_are_the_epoch(
    tiny_file: pathlib.Path, batch_size: int, world_size: int, last_batch: str, shuffle: bool
) -> None:
    order = epoch_ids(tiny(tiny_file, shuffle=shuffle, seed=9))
    total = batch_size * world_size
    ranks = []
    for rank in range(world_size):
        loader = tiny(
            tiny_file, batch_size, rank=rank, world_size=world_size, last_batch=last_batch,
            shuffle=shuffle, seed=9, threads=1,
        )  # fmt: skip
        batches = [arrays(batch) for batch in loader]
        count = TINY_COUNT // total if last_batch == "drop" else -(-TINY_COUNT // total)
        assert len(batches) == len(loader) == count
        ranks.append(batches)
    rows = [
        (id_, valid)
        for step in zip(*ranks, strict=True)
        for ids, _, valids, *_ in step
        for id_, valid in zip(ids.tolist(), valids.tolist(), strict=True)
    ]
    full = TINY_COUNT // total * total
    expected = [(id_, True) for id_ in order[:full]]
    if last_batch == "short":
        expected = [(id_, True) for id_ in order]
    elif last_batch != "drop" and full < TINY_COUNT:
        expected = [(id_, True) for id_ in order]
        missing = full + total - TINY_COUNT
        if last_batch == "pad":
            expected += [(order[-1], False)] * missing
        else:
            expected += [(order[i % TINY_COUNT], True) for i in range(missing)]
    assert rows == expected


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
def test_a_rank_without_rows_gets_an_empty_batch(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 48, rank=1, world_size=2)
    *_, last = loader
    assert [array.shape for array in last] == [(0,), (0,), (0,), (0,), (0, 3, 4, 4)]
    assert np.from_dlpack(last[4]).shape == (0, 3, 4, 4)
    assert np.asarray(last[4]).shape == (0, 3, 4, 4)


def orders(file: pathlib.Path, epochs: int) -> list[list[int]]:
    loader = tiny(file, shuffle=True)
    return [epoch_ids(loader) for _ in range(epochs)]


@pytest.mark.parametrize("taken", [1, 3, 9, 10])
def test_leaving_the_loop_early_ends_the_epoch(tiny_file: pathlib.Path, taken: int) -> None:
    first, second, third = orders(tiny_file, 3)
    loader = tiny(tiny_file, shuffle=True)
    begun = [i for batch in itertools.islice(loader, taken) for i in batch[0].numpy().tolist()]
    assert begun == first[: taken * 10]
    assert epoch_ids(loader) == second
    assert epoch_ids(loader) == third


def test_an_iterator_that_was_not_used_takes_no_epoch(tiny_file: pathlib.Path) -> None:
    (first,) = orders(tiny_file, 1)
    loader = tiny(tiny_file, shuffle=True)
    iter(loader)
    assert epoch_ids(loader) == first


def test_an_exhausted_iterator_stays_so(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file)
    iterator = iter(loader)
    assert len(list(iterator)) == 10
    assert next(iterator, None) is None
    iter(loader)
    assert next(iterator, None) is None


def test_set_epoch_makes_it_the_next_one(tiny_file: pathlib.Path) -> None:
    expected = orders(tiny_file, 4)
    loader = tiny(tiny_file, shuffle=True)
    loader.set_epoch(2)
    assert epoch_ids(loader) == expected[2]
    assert epoch_ids(loader) == expected[3]
    loader.set_epoch(0)
    next(iter(loader))
    loader.set_epoch(0)
    assert epoch_ids(loader) == expected[0]
    loader.set_epoch(1)  # the next epoch anyway
    assert epoch_ids(loader) == expected[1]


@pytest.mark.parametrize("epoch", [-1, 2**32, "1", 0.5])
def test_an_epoch_is_a_number_of_32_bits(tiny_file: pathlib.Path, epoch: object) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="epoch"):
        tiny(tiny_file).set_epoch(epoch)


def test_there_is_one_iterator_at_a_time(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file)
    old = iter(loader)
    next(old)
    new = iter(loader)
    with pytest.raises(fr.StateError, match="one iterator"):
        next(old)
    assert next(new)[1].numpy()[0] == 0
    loader.set_epoch(5)
    with pytest.raises(fr.StateError, match="one iterator"):
        next(new)


def test_an_epoch_without_a_full_batch_is_empty_under_drop(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 98, last_batch="drop")
    assert len(loader) == 0
    assert list(loader) == []
    assert list(loader) == []
