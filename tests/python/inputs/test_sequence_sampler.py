"""The batches of SequenceSampler, its state, and its memory."""

from __future__ import annotations

import copy
import json
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.inputs import SamplerBase, SequenceSampler

LENGTHS = [3, 4, 2, 3]
SEED_42 = [
    *([9, 7], [10, 8], [11, 0], [3, 1], [4, 2], [5, 7]),
    *([6, 8], [9, 3], [10, 4], [11, 5], [0, 6], [1, 9]),
]


def batches(sampler: SamplerBase, count: int) -> list[list[int]]:
    return [sampler.get_next_batch_indices() for _ in range(count)]


def by_definition(slots: int, lengths: list[int], seed: int, count: int) -> list[list[int]]:
    """The batches as the class describes them, slot by slot."""
    begins = np.cumsum([0, *lengths])
    columns = []
    for slot in range(slots):
        generator = np.random.default_rng(seed)
        column: list[int] = []
        while len(column) < count:
            for sequence in generator.permutation(len(lengths))[slot::slots]:
                column += range(begins[sequence], begins[sequence + 1])
        columns.append(column[:count])
    return [list(batch) for batch in zip(*columns, strict=True)]


# --- Order ---


def test_the_given_order_without_shuffling_is_the_golden() -> None:
    sampler = SequenceSampler(2, LENGTHS, 1, False)
    assert batches(sampler, 12) == [
        *([0, 3], [1, 4], [2, 5], [7, 6], [8, 9], [0, 10]),
        *([1, 11], [2, 3], [7, 4], [8, 5], [0, 6], [1, 9]),
    ]


def test_the_shuffled_orders_are_the_goldens() -> None:
    assert batches(SequenceSampler(2, LENGTHS, 42), 12) == SEED_42
    assert batches(SequenceSampler(3, [2, 3, 1, 4, 2], 7), 3) == [
        [5, 0, 10],
        [2, 1, 11],
        [3, 6, 10],
    ]


@pytest.mark.parametrize("seed", [0, 7, 2**31, 2**64 + 1, 2**130 + 5])
@pytest.mark.parametrize("slots", [1, 2, 5, 7])
def test_batches_are_those_of_the_definition(slots: int, seed: int) -> None:
    lengths = [1 + (7 * i) % 5 for i in range(7)]
    sampler = SequenceSampler(slots, lengths, seed)
    assert batches(sampler, 300) == by_definition(slots, lengths, seed, 300)


def test_slots_of_very_different_speed_are_those_of_the_definition() -> None:
    lengths = [1, 500, 1, 1]
    sampler = SequenceSampler(4, lengths, 3)
    assert batches(sampler, 3000) == by_definition(4, lengths, 3, 3000)


def test_indices_are_integers_of_python() -> None:
    (batch,) = batches(SequenceSampler(2, np.array(LENGTHS), np.int64(42)), 1)
    assert batch == SEED_42[0]
    assert [type(index) for index in batch] == [int, int]


def test_it_has_no_epochs() -> None:
    sampler = SequenceSampler(2, LENGTHS, 42)
    assert sampler.length is None
    assert sampler.num_batches is None
    assert sampler.num_samples is None
    assert sampler.is_epoch_based is False
    with pytest.raises(RuntimeError, match="SequencesSampler is not epoch-based"):
        sampler.reset()
    assert batches(sampler, 12) == SEED_42


# --- Checks at construction ---


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ((2, [5], 1), AssertionError, "must be at least the total batch size"),
        ((1, [], 1), AssertionError, "fewer sequences"),
        ((2, [3, 0], 1), AssertionError, "sequence 1 has no samples"),
        ((2, [3, -1], 1), ValueError, r"sequence_lenghts\[1\]"),
        ((2, [3, 1.5], 1), TypeError, r"sequence_lenghts\[1\]"),
        ((2, 7, 1), TypeError, "expected a list"),
        ((2, [2**62, 2**62], 1), ValueError, "too many samples"),
        ((0, [3], 1), ValueError, "`total_batch_size` is out of range"),
        (("2", [3], 1), TypeError, "`total_batch_size`"),
        ((1, [3], -1), ValueError, "`seed` is out of range"),
        ((1, [3], None), TypeError, "`seed` has the wrong type"),
    ],
)
def test_bad_arguments_are_refused(arguments: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        SequenceSampler(*arguments)
    assert isinstance(caught.value, fr.InvalidArgumentError)


# --- State ---


def through_json(sampler: SequenceSampler) -> SequenceSampler:
    again = SequenceSampler(2, LENGTHS, 42)
    again.load_state_dict(json.loads(json.dumps(sampler.state_dict())))
    return again


def through_pickle(sampler: SequenceSampler) -> SequenceSampler:
    again: SequenceSampler = pickle.loads(pickle.dumps(sampler))
    return again


@pytest.mark.parametrize("through", [through_json, through_pickle, copy.deepcopy])
def test_it_resumes_at_any_batch(through: Any) -> None:
    whole = batches(SequenceSampler(2, LENGTHS, 42), 60)
    sampler = SequenceSampler(2, LENGTHS, 42)
    for done in range(50):
        again = through(sampler)
        assert batches(again, 10) == whole[done : done + 10]
        assert sampler.get_next_batch_indices() == whole[done]


@pytest.mark.parametrize(("randomize", "apart"), [(True, 10), (False, 1000)])
def test_it_resumes_when_its_slots_are_many_cycles_apart(randomize: bool, apart: int) -> None:
    sampler, again = (SequenceSampler(4, [1, 500, 1, 1], 3, randomize) for _ in range(2))
    batches(sampler, 1500)
    state = sampler.state_dict()
    assert max(state["cycles"]) - min(state["cycles"]) >= apart
    again.load_state_dict(state)
    assert batches(again, 1500) == batches(sampler, 1500)


def test_a_state_is_the_cycle_and_position_of_each_slot() -> None:
    sampler = SequenceSampler(2, LENGTHS, 42)
    batches(sampler, 7)
    assert sampler.state_dict() == {
        "version": 1,
        "slots": 2,
        "sequences": "4 of 12 samples, 9b3f19e8",
        "seed": "42",
        "randomize": "True",
        "cycles": [1, 1],
        "positions": [0, 2],
    }


def test_a_state_is_small() -> None:
    sampler = SequenceSampler(64, [100] * 5000, 1)
    batches(sampler, 100)
    assert len(json.dumps(sampler.state_dict())) < 1000


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((1, LENGTHS, 42), "slots"),
        ((2, [3, 4, 3, 2], 42), "sequences"),
        ((2, LENGTHS, 43), "seed"),
        ((2, LENGTHS, 42, False), "randomize"),
    ],
)
def test_a_state_of_another_sampler_is_refused(arguments: Any, name: str) -> None:
    state = SequenceSampler(2, LENGTHS, 42).state_dict()
    with pytest.raises(ValueError, match=f"another sampler: '{name}' differs"):
        SequenceSampler(*arguments).load_state_dict(state)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"version": 2}, "'version' differs"),
        ({"cycles": [1]}, "'cycles' is invalid: expected 2 integers"),
        ({"cycles": [0, -1]}, "'cycles' is invalid"),
        ({"cycles": None}, "'cycles' is invalid"),
        ({"positions": [0, 1.5]}, "'positions' is invalid"),
        ({"positions": [0, 2**70]}, "'positions' is invalid"),
        ({"positions": [0, 12]}, r"'positions\[1\]' is invalid: expected below"),
        ({"seed": 42}, "'seed' has the wrong type"),
    ],
)
def test_after_a_bad_state_the_position_is_unchanged(change: dict[str, Any], text: str) -> None:
    sampler = SequenceSampler(2, LENGTHS, 42)
    batches(sampler, 3)
    with pytest.raises(ValueError, match=text):
        sampler.load_state_dict(sampler.state_dict() | change)
    assert batches(sampler, 9) == SEED_42[3:]


# --- Memory ---


def peak_of(sampler_of: Any, count: int) -> int:
    tracemalloc.start()
    try:
        batches(sampler_of(), count)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_samples() -> None:
    few = peak_of(lambda: SequenceSampler(8, [10] * 100, 1), 100)
    many = peak_of(lambda: SequenceSampler(8, [10**9] * 100, 1), 100)
    assert many < few + 100 * 8 * 32  # larger integers in the batches


def test_memory_does_not_grow_with_the_batches() -> None:
    """The slots drift apart by hundreds of cycles."""
    lengths = [1, 500, 1, 1]
    short = peak_of(lambda: SequenceSampler(4, lengths, 3), 200)
    long = peak_of(lambda: SequenceSampler(4, lengths, 3), 4000) - 4000 * 200  # of the list
    assert long < 4 * short


def test_a_pickle_grows_with_slots_and_sequences_only() -> None:
    lengths = [1, 500, 1, 1] * 250
    sampler = SequenceSampler(4, lengths, 3)
    batches(sampler, 5000)
    assert len(pickle.dumps(sampler)) < 8 * 4 * len(lengths) + 1000 * 4


# --- As the order of our loader ---


def test_every_sampler_is_iterated_by_epochs() -> None:
    class Epochs(SamplerBase):
        def __init__(self) -> None:
            self.epoch = self.batch = 0

        def get_next_batch_indices(self) -> list[int]:
            if self.batch == 2:
                raise StopIteration
            self.batch += 1
            return [10 * self.epoch + self.batch]

        def reset(self) -> None:
            self.epoch, self.batch = self.epoch + 1, 0

        @property
        def is_epoch_based(self) -> bool:
            return True

        @property
        def length(self) -> int:
            return 2

    sampler = Epochs()
    assert [list(sampler) for _ in range(3)] == [[[1], [2]], [[11], [12]], [[21], [22]]]


def test_our_loader_reads_sequences_and_resumes(tiny_file: Any) -> None:
    def loader() -> fr.Loader:
        order = SequenceSampler(4, [10, 7, 20, 5, 3, 9, 12], 5)
        return fr.Loader(
            str(tiny_file), batch_sampler=order, fields=["index"], rank=0, world_size=1
        )

    expected = batches(SequenceSampler(4, [10, 7, 20, 5, 3, 9, 12], 5), 60)
    first = loader()
    stream = iter(first)
    for done in (0, 7, 20):
        assert [next(stream)[0].numpy().tolist() for _ in range(10)] == expected[:10]
        state = json.loads(json.dumps(first.state_dict()))
        again = loader()
        again.load_state_dict(state)
        rest = iter(again)
        del expected[:10]
        assert [next(rest)[0].numpy().tolist() for _ in range(10)] == expected[:10], done
        again.close()
    first.close()
