"""Which samples ShuffledShardedInputCallable reads, and when an epoch ends."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.inputs import DataType, SampleDataGroup, ShuffledShardedInputCallable
from structured_sources import Numbered

SHUFFLED = [[1, 0, 4, 6, 7, 5, 8, 3, 9, 2], [5, 1, 3, 7, 6, 9, 2, 8, 0, 4]]  # seed 21, 10 samples


class Counting(Numbered):
    """Lists which samples were asked for."""

    def __init__(self, samples: int) -> None:
        super().__init__(samples)
        self.asked: list[int] = []

    def get_data(self, sample_index: int) -> SampleDataGroup:
        self.asked.append(sample_index)
        return super().get_data(sample_index)


def sample_info(index: int, epoch: int = 0, batch_size: int = 1) -> Any:
    return SimpleNamespace(
        idx_in_epoch=index,
        idx_in_batch=index % batch_size,
        iteration=index // batch_size,
        epoch_idx=epoch,
    )


def epoch_of(source: Callable[[Any], Any], epoch: int = 0) -> list[int]:
    found: list[int] = []
    while True:
        try:
            found.append(int(source(sample_info(len(found), epoch))[0]))
        except StopIteration:
            return found


def of(samples: int, *arguments: Any, **options: Any) -> ShuffledShardedInputCallable:
    return ShuffledShardedInputCallable(Numbered(samples), *arguments, **options)


# --- Order ---


def test_the_shuffled_epochs_are_the_goldens() -> None:
    source = of(10, 1, shuffle=True)
    assert [epoch_of(source, epoch) for epoch in (0, 1, 0)] == [*SHUFFLED, SHUFFLED[0]]


def test_shards_are_slices_of_one_order_without_its_remainder() -> None:
    shards = [of(11, 1, shard, 2, True, 5) for shard in (0, 1)]
    assert [epoch_of(shard) for shard in shards] == [[10, 7, 1, 3, 2], [4, 6, 0, 9, 5]]


def test_without_shuffling_the_order_is_that_of_the_data_set() -> None:
    assert epoch_of(of(7, 1)) == epoch_of(of(7, 1), 3) == [0, 1, 2, 3, 4, 5, 6]
    assert epoch_of(of(7, 1, 1, 2)) == [3, 4, 5]


def test_an_epoch_ends_before_its_incomplete_batch_which_is_not_loaded() -> None:
    provider = Counting(10)
    source = ShuffledShardedInputCallable(provider, 4, shuffle=True)
    assert epoch_of(source) == SHUFFLED[0][:8]
    for index in (8, 9, 10, 1000):
        with pytest.raises(StopIteration):
            source(sample_info(index))
    assert provider.asked == SHUFFLED[0][:8]


def test_the_provider_gets_integers_of_python() -> None:
    provider = Counting(10)
    epoch_of(ShuffledShardedInputCallable(provider, 1, shuffle=True))
    assert {type(index) for index in provider.asked} == {int}


def test_lengths_are_batches_of_the_shard() -> None:
    source = of(11, 2, 0, 2)
    assert (source.length, source.num_batches, source.num_samples) == (2, 2, 4)


# --- The last batch ---


@pytest.mark.parametrize(
    ("samples", "batch_size", "shards", "pad", "wrap"),
    [
        (10, 4, 1, [[*range(10), 9, 9]], [[*range(10), 0, 1]]),
        (8, 4, 1, [[*range(8)]], [[*range(8)]]),
        (3, 8, 1, [[0, 1, 2, 2, 2, 2, 2, 2]], [[0, 1, 2, 0, 1, 2, 0, 1]]),
        (7, 2, 2, [[0, 1, 2, 3], [4, 5, 6, 6]], [[0, 1, 2, 3], [4, 5, 6, 4]]),
        (5, 2, 4, [[0, 1], [2, 2], [3, 3], [4, 4]], [[0, 1], [2, 2], [3, 3], [4, 4]]),
        (9, 4, 2, [[0, 1, 2, 3, 4, 4, 4, 4], [5, 6, 7, 8, 8, 8, 8, 8]],
                  [[0, 1, 2, 3, 4, 0, 1, 2], [5, 6, 7, 8, 5, 6, 7, 8]]),
    ],
)  # fmt: skip
def test_pad_and_wrap_keep_every_sample(
    samples: int, batch_size: int, shards: int, pad: Any, wrap: Any
) -> None:
    for last_batch, expected in (("pad", pad), ("wrap", wrap)):
        sources = [
            of(samples, batch_size, shard, shards, last_batch=last_batch) for shard in range(shards)
        ]
        assert [epoch_of(source) for source in sources] == expected
        assert len({source.num_batches for source in sources}) == 1
        assert sum(source.num_samples for source in sources) == samples
        own = (epoch_of(source)[: source.num_samples] for source in sources)
        assert sorted(itertools.chain(*own)) == list(range(samples))  # the repetitions come last


def test_pad_and_wrap_follow_the_shuffled_order() -> None:
    order = SHUFFLED[1]
    assert epoch_of(of(10, 4, shuffle=True, last_batch="wrap"), 1) == [*order, *order[:2]]
    assert epoch_of(of(10, 4, shuffle=True, last_batch="pad"), 1) == [*order, order[9], order[9]]


# --- Checks at construction ---


@pytest.mark.parametrize(
    ("samples", "arguments", "kind", "text"),
    [
        (10, (0,), ValueError, "`batch_size` is out of range: expected at least 1, found 0"),
        (10, (2.5,), TypeError, "`batch_size` has the wrong type"),
        (10, (2, 2, 2), IndexError, r"`shard_id` is out of range: expected \[0, 2\), found 2"),
        (10, (2, -1, 2), IndexError, "`shard_id` is out of range"),
        (10, (2, None, 2), TypeError, "`shard_id` has the wrong type"),
        (10, (2, 0, 0), ValueError, "`num_shards` is out of range"),
        (3, (1, 0, 4), ValueError, "fewer samples than there are shards: expected at least 4"),
        (0, (1,), ValueError, "fewer samples than there are shards"),
        (10, (6, 1, 2), ValueError, "larger than the shard.*at most 5, found 6.*last_batch"),
        (10, (2, 0, 1, True, -3), ValueError, "`seed` is out of range"),
        (10, (2, 0, 1, True, "x"), TypeError, "`seed` has the wrong type"),
    ],
)
def test_bad_arguments_are_refused(
    samples: int, arguments: Any, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text) as caught:
        of(samples, *arguments)
    assert isinstance(caught.value, fr.Error)


def test_an_unknown_last_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="`last_batch` is invalid"):
        of(10, 2, last_batch="short")


# --- Blueprint and pickle ---


class Shared(Numbered):
    """Gives the same blueprint object each time."""

    def __init__(self) -> None:
        super().__init__(4)
        self.blueprint = SampleDataGroup()
        self.blueprint.add_data_field("label", DataType.INT32, {"car": 0})

    @property
    def sample_data_structure(self) -> SampleDataGroup:
        return self.blueprint

    def get_data(self, sample_index: int) -> SampleDataGroup:
        sample = self.blueprint.get_empty_like_self()
        sample["label"] = "car"
        return sample


def test_the_blueprint_of_the_provider_is_not_changed() -> None:
    provider = Shared()
    source = ShuffledShardedInputCallable(provider, 2)
    blueprint = source.used_sample_data_structure
    assert source(sample_info(0))[0] == 0  # the provider's mapping still applies
    blueprint.add_data_field("more", DataType.BOOL)
    blueprint["label"] = 5
    assert provider.blueprint.field_names_flat == ("label",)
    assert provider.blueprint["label"] is None
    with pytest.raises(ValueError, match="'label'"):
        blueprint["label"] = "car"  # values from the source are mapped already


def test_a_pickle_does_not_hold_the_order() -> None:
    source = of(100_000, 1, shuffle=True)
    source(sample_info(0))
    text = pickle.dumps(source)
    assert len(text) < 2000
    assert epoch_of_some(pickle.loads(text)) == epoch_of_some(source)


def epoch_of_some(source: Any) -> list[int]:
    return [int(source(sample_info(index, 2))[0]) for index in (0, 99_999, 7)]


def test_values_are_arrays_in_the_order_of_the_flat_names() -> None:
    source = of(5, 1)
    values = source(sample_info(3))
    assert isinstance(values, tuple)
    assert {type(value) for value in values} == {np.ndarray}
    filled = source.used_sample_data_structure.set_data(values)
    assert filled["id"] == 3
    assert filled["text"] == "\0leading"
    assert filled["cameras"][1]["boxes"].tolist() == [[103.0] * 4] * 3
