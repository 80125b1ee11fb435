"""The batches of our sources under DALI, which are the same for any number of workers."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from dali_pipelines import METHODS, bare_epochs, loader_of
from fuelrail.inputs import (
    SamplerBase,
    SamplerInputCallable,
    SamplerInputIterable,
    SequenceSampler,
    ShuffledShardedInputCallable,
)
from structured_sources import Numbered

Epochs = list[list[list[int]]]

# 10 samples, seed 21, batches of 4: the last two samples of each epoch are dropped.
SHUFFLED: Epochs = [[[1, 0, 4, 6], [7, 5, 8, 3]], [[5, 1, 3, 7], [6, 9, 2, 8]]]
# 11 samples, seed 5, batches of 2, each of two shards: one sample of each epoch is in no shard.
SHARDED: list[Epochs] = [
    [[[10, 7], [1, 3]], [[4, 9], [2, 10]]],
    [[[4, 6], [0, 9]], [[3, 8], [0, 5]]],
]
# Sequences of 3, 4, 2 and 3 samples in two slots, seed 42.
SEQUENCES = [
    *([9, 7], [10, 8], [11, 0], [3, 1], [4, 2], [5, 7]),
    *([6, 8], [9, 3], [10, 4], [11, 5], [0, 6], [1, 9]),
]


def sharded(shard: int) -> ShuffledShardedInputCallable:
    return ShuffledShardedInputCallable(Numbered(11), 2, shard, 2, shuffle=True, seed=5)


class Epochwise(SamplerBase):
    """Epochs of 3 batches of 2: 0 to 5, then 100 to 105, ..."""

    def __init__(self) -> None:
        self._epoch = self._batch = 0

    def get_next_batch_indices(self) -> list[int]:
        if self._batch == 3:
            raise StopIteration
        self._batch += 1
        first = 100 * self._epoch + 2 * (self._batch - 1)
        return [first, first + 1]

    def reset(self) -> None:
        self._epoch, self._batch = self._epoch + 1, 0

    @property
    def is_epoch_based(self) -> bool:
        return True

    @property
    def length(self) -> int:
        return 3


EPOCHWISE: Epochs = [[[0, 1], [2, 3], [4, 5]], [[100, 101], [102, 103], [104, 105]]]


# Of how workers start, how many there are, and how many batches they prepare. Spawned workers take
# long to start, so each number of them is tested with one number of batches.
STARTS = [
    *(("spawn", workers, ahead) for workers, ahead in ((1, 4), (2, 1), (4, 2))),
    *(("fork", workers, ahead) for workers in (1, 2, 4) for ahead in (1, 2, 4)),
]


@pytest.mark.parametrize(("method", "workers", "ahead"), STARTS)
def test_two_epochs_of_two_shards_are_the_goldens(method: str, workers: int, ahead: int) -> None:
    for shard in [0, 1] if method == "fork" or workers == 2 else [0]:
        epochs = bare_epochs(sharded(shard), 2, 2, workers=workers, method=method, ahead=ahead)
        assert epochs == SHARDED[shard]


@pytest.mark.parametrize("method", METHODS)
def test_a_shuffled_epoch_without_its_incomplete_batch_is_the_golden(method: str) -> None:
    source = ShuffledShardedInputCallable(Numbered(10), 4, shuffle=True)
    assert bare_epochs(source, 4, 2, workers=2, method=method, ahead=4) == SHUFFLED


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("make", ["callable", "iterable"])
def test_sequences_are_the_goldens(make: str, parallel: bool) -> None:
    sampler = SequenceSampler(2, [3, 4, 2, 3], 42)
    source: Any
    if make == "callable":
        source = SamplerInputCallable(Numbered(12), sampler, len(SEQUENCES), 4)
    else:
        source = SamplerInputIterable(Numbered(12), sampler)
    loader = loader_of(source, 2, use_parallel_external_source=parallel)
    batches = itertools.islice(loader, len(SEQUENCES))
    assert [batch["id"].tolist() for batch in batches] == SEQUENCES


@pytest.mark.parametrize("shard", [0, 1])
@pytest.mark.parametrize("make", ["callable", "iterable"])
def test_a_shard_of_sequences_is_its_slots(make: str, shard: int) -> None:
    sampler = SequenceSampler(2, [3, 4, 2, 3], 42)
    source: Any
    if make == "callable":
        source = SamplerInputCallable(Numbered(12), sampler, len(SEQUENCES), 4, shard, 2)
    else:
        source = SamplerInputIterable(Numbered(12), sampler, shard, 2)
    batches = itertools.islice(loader_of(source, 1), len(SEQUENCES))
    assert [batch["id"].tolist() for batch in batches] == [[b[shard]] for b in SEQUENCES]


@pytest.mark.parametrize(
    ("method", "workers", "ahead"),
    [("spawn", 2, 4), *(("fork", workers, ahead) for workers in (1, 4) for ahead in (1, 2, 4))],
)
def test_epochs_of_a_sampler_are_those_of_its_table(method: str, workers: int, ahead: int) -> None:
    source = SamplerInputCallable(Numbered(1000), Epochwise(), 9, 4)
    assert bare_epochs(source, 2, 2, workers=workers, method=method, ahead=ahead) == EPOCHWISE


@pytest.mark.parametrize(("method", "ahead"), [("spawn", 2), ("fork", 1), ("fork", 2), ("fork", 4)])
def test_epochs_of_an_iterable_are_those_of_its_sampler(method: str, ahead: int) -> None:
    source = SamplerInputIterable(Numbered(1000), Epochwise())
    assert bare_epochs(source, 2, 2, method=method, ahead=ahead) == EPOCHWISE


def test_an_iterable_without_workers_gives_the_same_epochs() -> None:
    source = SamplerInputIterable(Numbered(1000), Epochwise())
    assert bare_epochs(source, 2, 2, parallel=False) == EPOCHWISE


@pytest.mark.parametrize("torch", [False, True])
@pytest.mark.parametrize("ahead", [1, 2, 4])
def test_loops_over_a_loader_are_the_epochs(ahead: int, torch: bool) -> None:
    """DALI has asked for all of an epoch before its first batch is read."""
    loader = loader_of(sharded(0), 2, workers=2, ahead=ahead, torch=torch)
    assert [[batch["id"].tolist() for batch in loader] for _ in range(2)] == SHARDED[0]
