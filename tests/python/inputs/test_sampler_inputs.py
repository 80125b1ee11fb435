"""Inputs that read what a sampler draws: a callable with a table, and an iterable."""

from __future__ import annotations

import json
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.inputs import (
    SamplerBase,
    SamplerInputCallable,
    SamplerInputIterable,
    SequenceSampler,
)
from structured_sources import Numbered

Batches = list[list[int]]


class Scripted(SamplerBase):
    """Draws the given batches, epoch by epoch; after the last epoch, its epochs are empty."""

    def __init__(self, *epochs: Any, is_epoch_based: bool = True) -> None:
        self._epochs = epochs
        self._is_epoch_based = is_epoch_based
        self.epoch = self._batch = self.drawn = 0

    def get_next_batch_indices(self) -> list[int]:
        batches = self._epochs[self.epoch] if self.epoch < len(self._epochs) else []
        if self._batch == len(batches):
            raise StopIteration
        self._batch += 1
        self.drawn += 1
        batch: list[int] = batches[self._batch - 1]
        return batch

    def reset(self) -> None:
        self.epoch, self._batch = self.epoch + 1, 0

    @property
    def is_epoch_based(self) -> bool:
        return self._is_epoch_based

    @property
    def length(self) -> int | None:
        return len(self._epochs[0]) if self._is_epoch_based else None


def three_batches_an_epoch(epochs: int = 9) -> Scripted:
    """3 batches of 2: 0 to 5, then 100 to 105, ..."""
    return Scripted(*([[100 * e + 2 * b, 100 * e + 2 * b + 1] for b in range(3)] for e in range(9)))


def table(sampler: SamplerBase, *arguments: Any, **options: Any) -> SamplerInputCallable:
    return SamplerInputCallable(Numbered(1000), sampler, *arguments, **options)


def sample_info(epoch: int, index: int, size: int) -> Any:
    return SimpleNamespace(epoch_idx=epoch, idx_in_epoch=index, idx_in_batch=index % size)


def epoch_of(source: SamplerInputCallable, epoch: int, size: int) -> Batches:
    """The batches of an epoch, with `size` samples each."""
    batches: Batches = []
    while True:
        begin = size * len(batches)
        try:
            values = [source(sample_info(epoch, begin + row, size))[0] for row in range(size)]
        except StopIteration:
            return batches
        batches.append([int(value) for value in values])


def read(source: SamplerInputIterable) -> Batches:
    """The batches up to the end of the epoch."""
    return [[int(value) for value in batch[0]] for batch in iter(lambda: next(source, None), None)]


# --- The callable ---


def test_the_table_has_the_epochs_of_the_sampler_in_the_golden_sizes() -> None:
    source = table(three_batches_an_epoch(), 6, 2)
    epochs = [epoch_of(source, epoch, 2) for epoch in (0, 1)]
    assert epochs == [[[e, e + 1], [e + 2, e + 3], [e + 4, e + 5]] for e in (0, 100)]
    assert [int(source(sample_info(2, i, 2))[0]) for i in range(4)] == [200, 201, 202, 203]
    assert (source.length, source.num_batches, source.num_samples) == (3, 3, 6)


def test_shards_are_slices_of_each_batch() -> None:
    epochs = [[[0, 1, 2, 3], [4, 5, 6, 7]], [[8, 9, 10, 11]]]
    shards = [table(Scripted(*epochs), 3, 0, shard, 2) for shard in (0, 1)]
    assert [epoch_of(shard, 0, 2) for shard in shards] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert [epoch_of(shard, 1, 2) for shard in shards] == [[[8, 9]], [[10, 11]]]
    assert [shard.num_samples for shard in shards] == [4, 4]


def test_a_sampler_without_epochs_gives_one_epoch() -> None:
    source = table(SequenceSampler(2, [3, 4, 2, 3], 1, False), 5, 1)
    found = [[int(source(sample_info(0, 2 * b + i, 2))[0]) for i in (0, 1)] for b in range(6)]
    assert found == [[0, 3], [1, 4], [2, 5], [7, 6], [8, 9], [0, 10]]
    assert source.length == 6


def test_a_table_that_is_exhausted_in_an_epoch_is_an_error_not_an_end() -> None:
    endless = table(SequenceSampler(2, [3, 4], 1), 3, 1)
    within = table(three_batches_an_epoch(), 6, 2)
    for source, epoch, index in ((endless, 0, 8), (within, 2, 4)):
        with pytest.raises(RuntimeError) as caught:
            source(sample_info(epoch, index, 2))
        assert isinstance(caught.value, fr.OutOfRangeError)
        assert "the table of the sampler's batches is exhausted" in str(caught.value)
    assert "at most 6 iterations and 2 batches ahead, found batch 2 of epoch 2" in str(caught.value)


def test_an_epoch_beyond_the_table_is_an_error_with_both_limits() -> None:
    source = table(three_batches_an_epoch(), 3, 0)
    with pytest.raises(RuntimeError, match="at most 3 iterations and 0 batches ahead"):
        source(sample_info(1, 0, 2))


def test_a_table_that_ends_with_an_epoch_of_the_sampler_ends_with_an_epoch() -> None:
    sampler = three_batches_an_epoch()
    source = table(sampler, 6, 0)
    assert len(epoch_of(source, 1, 2)) == 3
    assert sampler.epoch == 1  # the next epoch was not begun


@pytest.mark.parametrize("epochs", [([],), ([[0, 1]], [])])
def test_an_epoch_without_batches_is_an_error_not_an_endless_loop(epochs: Any) -> None:
    with pytest.raises(AssertionError, match=f"epoch {len(epochs) - 1} of the sampler has no full"):
        table(Scripted(*epochs), 10, 0)


def test_the_table_is_one_array_of_small_integers() -> None:
    batches = [[(8 * b + i) % 1000 for i in range(8)] for b in range(1000)]
    source = table(Scripted(batches), 1000, 0, 1, 2)
    size = len(pickle.dumps(source))
    assert 1000 * 4 * 2 < size < 1000 * 4 * 2 + 2000  # two bytes for each sample of the shard
    assert epoch_of(pickle.loads(pickle.dumps(source)), 0, 4) == [batch[4:] for batch in batches]


def test_the_sampler_is_not_kept() -> None:
    sampler = Scripted([[0], [1]])
    sampler.unpicklable = lambda: None  # type: ignore[attr-defined]
    pickle.dumps(table(sampler, 2, 0))


@pytest.mark.parametrize(
    ("last_batch", "batches", "samples"),
    [
        ("drop", [[0, 1], [4, 5]], [4, 4]),
        ("pad", [[0, 1], [4, 5], [8, 9]], [6, 4]),
        ("wrap", [[0, 1], [4, 5], [8, 9]], [6, 4]),
    ],
)
def test_a_smaller_last_batch_of_an_epoch_is_dropped_or_filled(
    last_batch: Any, batches: Batches, samples: list[int]
) -> None:
    epochs = [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]] * 2
    shards = [table(Scripted(*epochs), 4, 0, s, 2, last_batch=last_batch) for s in (0, 1)]
    assert epoch_of(shards[0], 0, 2) == batches
    last = {"drop": [], "pad": [[9, 9]], "wrap": [[0, 1]]}[last_batch]
    assert epoch_of(shards[1], 0, 2) == [[2, 3], [6, 7], *last]
    assert [shard.num_samples for shard in shards] == samples


def test_another_batch_size_of_the_pipeline_is_an_error() -> None:
    source = table(Scripted([[0, 1, 2, 3]]), 1, 0)
    with pytest.raises(ValueError, match=r"batch size differs from the sampler's.*expected 4"):
        source(SimpleNamespace(epoch_idx=0, idx_in_epoch=2, idx_in_batch=0))


# --- The iterable ---


def test_the_iterable_reads_epochs_field_by_field() -> None:
    source = SamplerInputIterable(Numbered(1000), Scripted([[0, 1], [2, 3]], [[4, 5]]))
    assert iter(source) is source
    batch = next(source)
    assert isinstance(batch, list)
    assert [len(values) for values in batch] == [2, 2, 2, 2]
    assert batch[0] == [0, 1]
    assert [text.tobytes() for text in batch[1]] == [b"plain", b""]
    assert batch[3][1].tolist() == [[101.0] * 4] * 3
    assert read(source) == [[2, 3]]
    with pytest.raises(StopIteration):
        next(source)
    assert read(iter(source)) == [[4, 5]]


def test_shards_of_the_iterable_are_slices_of_each_batch() -> None:
    epochs = [[[0, 1, 2, 3], [4, 5, 6, 7]]]
    shards = [SamplerInputIterable(Numbered(9), Scripted(*epochs), s, 2) for s in (0, 1)]
    assert [read(shard) for shard in shards] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


def test_an_epoch_that_was_not_read_is_not_skipped() -> None:
    source = SamplerInputIterable(Numbered(1000), three_batches_an_epoch())
    for _ in range(3):
        iter(source)
    assert read(source) == [[0, 1], [2, 3], [4, 5]]
    for _ in range(3):
        iter(source)
    assert next(source)[0] == [100, 101]
    assert next(iter(source))[0] == [200, 201]  # within an epoch, the next one begins


def test_a_sampler_without_epochs_continues_where_it_is() -> None:
    source = SamplerInputIterable(Numbered(12), SequenceSampler(2, [3, 4, 2, 3], 1, False))
    assert next(iter(source))[0] == [0, 3]
    assert next(iter(source))[0] == [1, 4]


def test_lengths_of_the_iterable_are_those_of_the_sampler() -> None:
    class Counted(Scripted):
        @property
        def num_batches(self) -> int:
            return 1

        @property
        def num_samples(self) -> int:
            return 4

    source = SamplerInputIterable(Numbered(9), Counted([[0, 1, 2, 3]]), 0, 2)
    assert (source.length, source.num_batches, source.num_samples) == (1, 1, 2)
    source = SamplerInputIterable(Numbered(9), SequenceSampler(1, [3], 1))
    assert (source.length, source.num_batches, source.num_samples) == (None, None, None)


@pytest.mark.parametrize("read_before", [0, 1, 3])
def test_the_iterable_is_pickled_at_any_batch(read_before: int) -> None:
    sampler = SequenceSampler(2, [3, 4, 2, 3], 42)
    source = SamplerInputIterable(Numbered(12), sampler)
    for _ in range(read_before):
        next(source)
    again = pickle.loads(pickle.dumps(source))
    assert [next(again)[0] for _ in range(9)] == [next(source)[0] for _ in range(9)]


def test_smaller_batches_are_passed_on_if_they_can_be_divided() -> None:
    epochs = [[[0, 1, 2, 3], [4, 5]]]
    shards = [SamplerInputIterable(Numbered(9), Scripted(*epochs), s, 2) for s in (0, 1)]
    assert [read(shard) for shard in shards] == [[[0, 1], [4]], [[2, 3], [5]]]


# --- Bad samplers, for both ---


def callable_of(sampler: SamplerBase, shards: int = 1) -> None:
    table(sampler, 20, 0, 0, shards)


def iterable_of(sampler: SamplerBase, shards: int = 1) -> None:
    source = SamplerInputIterable(Numbered(1000), sampler, 0, shards)
    for _ in range(20):
        read(iter(source))


@pytest.mark.parametrize("make", [callable_of, iterable_of])
@pytest.mark.parametrize(
    ("batches", "shards", "kind", "text"),
    [
        ([[0, 1, 2]], 2, AssertionError, "not divisible by the number of shards.*found 3"),
        ([[0, 1], [2, 3, 4]], 1, AssertionError, "changed its batch size: expected 2, .* found 3"),
        ([[0, 1], []], 1, AssertionError, "drew a batch without samples"),
        ([[]], 1, AssertionError, "drew a batch without samples"),
        ([[0, 1000]], 1, IndexError, r"index that is no sample.*expected \[0, 1000\), found 1000"),
        ([[0, -1]], 1, IndexError, "found -1"),
        ([[0, 2**80]], 1, TypeError, "a batch of the sampler has the wrong type"),
        ([[0.5, 1]], 1, TypeError, "a batch of the sampler has the wrong type"),
        (["01"], 1, TypeError, "expected a list of integers"),
        ([3], 1, TypeError, "expected a list of integers, found 3"),
        ([None], 1, TypeError, "expected a list of integers, found None"),
    ],
)
def test_a_bad_batch_is_an_error(
    make: Any, batches: Any, shards: int, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text) as caught:
        make(Scripted(batches), shards)
    assert isinstance(caught.value, fr.Error)


def test_a_smaller_batch_before_the_last_is_an_error_of_the_table() -> None:
    with pytest.raises(AssertionError, match="drew a batch after a smaller one"):
        callable_of(Scripted([[0, 1], [2], [3, 4]]))


def test_a_sampler_without_epochs_that_ends_is_reset() -> None:
    """As in ACCV-Lab, so a sampler that cannot be reset says so."""

    class Ending(Scripted):
        def reset(self) -> None:
            raise RuntimeError("no reset")

    with pytest.raises(RuntimeError, match="no reset"):
        callable_of(Ending([[0, 1]], is_epoch_based=False))


@pytest.mark.parametrize("make", [callable_of, iterable_of])
def test_batches_may_be_arrays_tuples_and_repeat(make: Any) -> None:
    make(Scripted(*[[np.array([3, 3]), (3, 3), [3, np.int32(3)]]] * 9))


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ((0, 0), ValueError, "the table of the sampler's batches would be empty"),
        ((-1, 2), ValueError, "`max_num_iterations` is out of range"),
        ((1, -1), ValueError, "`pre_fetch_queue_length` is out of range"),
        ((1.5, 1), TypeError, "`max_num_iterations` has the wrong type"),
        ((1, 1, 2, 2), IndexError, "`shard_id` is out of range"),
        ((1, 1, 0, 0), ValueError, "`num_shards` is out of range"),
    ],
)
def test_bad_arguments_are_refused(arguments: Any, kind: type[Exception], text: str) -> None:
    sampler = three_batches_an_epoch()
    with pytest.raises(kind, match=text):
        table(sampler, *arguments)
    assert sampler.drawn == 0


def test_a_table_that_memory_cannot_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"`max_num_iterations` is out of range: .* in advance"):
        table(three_batches_an_epoch(), 2**62, 1)


class Saved(Scripted):
    """A sampler with epochs and a state."""

    def state_dict(self) -> dict[str, int]:
        return {"epoch": self.epoch, "batch": self._batch}

    def load_state_dict(self, state: Any) -> None:
        self.epoch, self._batch = state["epoch"], state["batch"]


def saved() -> SamplerInputIterable:
    batches = ([[4 * e, 4 * e + 1], [4 * e + 2, 4 * e + 3]] for e in range(3))
    return SamplerInputIterable(Numbered(12), Saved(*batches), 1, 2)


@pytest.mark.parametrize("read", range(6))
def test_the_iterable_resumes_at_any_batch(read: int) -> None:
    """With a loop over each epoch, before and after; also at the end of an epoch."""

    def epochs(source: SamplerInputIterable, count: int) -> list[Any]:
        return [[int(numbers[0]) for numbers, *_ in source] for _ in range(count)]

    first = saved()
    whole, rest = divmod(read, 3)  # a third step is the end of the epoch
    epochs(first, whole)
    batches = iter(first)
    for _ in range(rest):
        next(batches)
    state = json.loads(json.dumps(first.state_dict()))
    resumed = saved()
    resumed.load_state_dict(state)
    expected = epochs(saved(), 3)
    expected = [expected[whole][rest:], *expected[whole + 1 :]]
    assert epochs(resumed, 3 - whole) == expected


def test_the_iterable_resumes_after_the_end_of_an_epoch() -> None:
    first = saved()
    list(first)
    resumed = saved()
    resumed.load_state_dict(first.state_dict())
    assert [int(numbers[0]) for numbers, *_ in resumed] == [5, 7]


def test_a_state_of_the_iterable_needs_that_of_a_sampler() -> None:
    without = SamplerInputIterable(Numbered(4), Scripted([[0, 1]]))
    with pytest.raises(RuntimeError, match="the sampler has no `state_dict`"):
        without.state_dict()
    state = saved().state_dict()
    with pytest.raises(fr.UnsupportedError, match="the sampler has no `load_state_dict`"):
        without.load_state_dict(state)
    for wrong in ({}, {**state, "version": 2}, {k: state[k] for k in list(state)[:3]}):
        with pytest.raises(fr.InvalidArgumentError, match="not that of a SamplerInputIterable"):
            saved().load_state_dict(wrong)
    source = SamplerInputIterable(Numbered(12), SequenceSampler(2, [3, 4, 2, 3], 42))
    next(source)
    other = SamplerInputIterable(Numbered(12), SequenceSampler(2, [3, 4, 2, 3], 42))
    other.load_state_dict(source.state_dict())
    assert [number.item() for number in next(other)[0]] == [10, 8]


def test_a_shard_of_the_iterable_that_does_not_exist_is_refused() -> None:
    with pytest.raises(IndexError, match="`shard_id` is out of range"):
        SamplerInputIterable(Numbered(4), Scripted([[0]]), 1, 1)
