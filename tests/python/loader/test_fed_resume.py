"""Interrupted and resumed runs over orders from the user."""

from __future__ import annotations

import itertools
import json
import pathlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import fuelrail as fr
from fuelrail import transforms as T
from loading import tiny
from photographs import TINY_COUNT

FIELDS = ("id", "position", "image")


class OwnState:
    """A sampler that counts and permutes its epochs itself, without `set_epoch`."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while True:
            self.at += 1
            yield (self.at * 5) % TINY_COUNT
            if self.at % 20 == 0:
                return

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class LiveState(OwnState):
    """A sampler whose state methods share its own dict instead of a copy."""

    def __init__(self) -> None:
        self.own = {"at": 0}

    @property
    def at(self) -> int:
        return self.own["at"]

    @at.setter
    def at(self, value: int) -> None:
        self.own["at"] = value

    def state_dict(self) -> dict[str, int]:
        return self.own

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.own = state


class IteratorWithState:
    """A sampler whose iterators have the state, as in torchdata."""

    class Iterator:
        def __init__(self) -> None:
            self.at = 0

        def __iter__(self) -> IteratorWithState.Iterator:
            return self

        def __next__(self) -> int:
            if self.at == 20:
                raise StopIteration
            self.at += 1
            return self.at

        def state_dict(self) -> dict[str, int]:
            return {"at": self.at}

        def load_state_dict(self, state: dict[str, int]) -> None:
            self.at = state["at"]

    def __iter__(self) -> Iterator:
        return self.Iterator()


def shuffled(batch_size: int) -> dict[str, Any]:
    sampler: Any = torch.utils.data.DistributedSampler(
        range(50),
        num_replicas=2,
        rank=1,
        seed=9,  # type: ignore[arg-type]
    )
    if batch_size % 2:
        return {"sampler": sampler, "batch_size": batch_size}
    return {"batch_sampler": torch.utils.data.BatchSampler(sampler, batch_size, drop_last=False)}


MAKE: list[Callable[[int], dict[str, Any]]] = [
    shuffled,
    lambda size: {"sampler": [*range(0, 90, 3)], "batch_size": size},
    lambda size: {"sampler": OwnState(), "batch_size": size},
    lambda size: {"sampler": LiveState(), "batch_size": size},
    lambda size: {"sampler": IteratorWithState(), "batch_size": size},
]


@given(
    kind=st.sampled_from(MAKE),
    batch_size=st.integers(1, 9),
    prefetch=st.integers(1, 5),
    prefetch_after=st.integers(1, 5),
    last_batch=st.sampled_from(["short", "drop"]),
    world_size=st.integers(1, 3),
    share=st.floats(0, 1),
)
def test_a_fed_run_goes_on_as_the_uninterrupted_one(
    tiny_file: pathlib.Path,
    kind: Callable[[int], dict[str, Any]],
    batch_size: int,
    prefetch: int,
    prefetch_after: int,
    last_batch: str,
    world_size: int,
    share: float,
) -> None:
    def make(prefetch: int) -> fr.Loader:
        options = kind(batch_size)
        size = options.pop("batch_size", 1)
        if "sampler" in options:
            options["last_batch"] = last_batch
        return tiny(
            tiny_file, size, fields=FIELDS, transforms=[T.RandomResizedCrop(3)], prefetch=prefetch,
            rank=world_size - 1, world_size=world_size, **options,
        )  # fmt: skip

    def stream(loader: fr.Loader, epochs: int) -> Iterator[tuple[bytes, ...]]:
        for _ in range(epochs):
            for batch in loader:
                yield tuple(bytes(column) for column in batch)

    expected = list(stream(make(2), 3))
    taken = round(share * len(expected))
    first = make(prefetch)
    rows = list(itertools.islice(stream(first, 3), taken))
    state = json.loads(json.dumps(first.state_dict()))
    first.close()
    second = make(prefetch_after)
    second.load_state_dict(state)
    assert second.state_dict() == state
    rows += itertools.islice(stream(second, 4), len(expected) - taken)
    assert rows == expected


def test_a_state_and_the_samplers_own_dict_go_their_own_ways(tiny_file: pathlib.Path) -> None:
    expected = [*itertools.islice(tiny(tiny_file, 3, sampler=LiveState()), 7)]
    first = tiny(tiny_file, 3, sampler=LiveState(), prefetch=4)
    iterator = iter(first)
    for _ in range(2):
        next(iterator)
    state = first.state_dict()
    saved = json.dumps(state)
    assert state["sampler"]["state"]["state"] == {"at": 6}
    next(iterator)
    assert json.dumps(state) == saved

    second = tiny(tiny_file, 3, sampler=LiveState())
    second.load_state_dict(state)
    state["sampler"]["state"]["state"]["at"] = 96  # the caller may change its dict
    rest = [batch[0].numpy().tolist() for batch in second]
    assert rest == [batch[0].numpy().tolist() for batch in expected[2:]]
    assert json.loads(saved)["sampler"]["state"]["state"] == {"at": 6}


def test_a_fed_state_of_other_ranks_or_batch_size_is_refused(tiny_file: pathlib.Path) -> None:
    def make(batch_size: int, world_size: int) -> fr.Loader:
        return tiny(tiny_file, batch_size, sampler=range(40), rank=0, world_size=world_size)

    make(4, 3).load_state_dict(make(4, 2).state_dict())  # at an epoch's start
    saved = make(4, 2)
    next(iter(saved))
    state = saved.state_dict()
    for loader, match in ((make(5, 2), "batch_size.*expected 5, found 4"),
                          (make(4, 3), "world_size.*expected 3, found 2"),
                          (tiny(tiny_file, 4), "shuffle.*expected none, found fed")):  # fmt: skip
        with pytest.raises(fr.InvalidArgumentError, match=match):
            loader.load_state_dict(state)
    with pytest.raises(fr.InvalidArgumentError, match="expected fed, found none"):
        make(4, 2).load_state_dict(tiny(tiny_file, 4).state_dict())
    del state["sampler"]
    with pytest.raises(fr.InvalidArgumentError, match="'sampler'"):
        make(4, 2).load_state_dict(state)


def test_a_state_that_lost_the_samplers_own_is_refused(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=OwnState())
    next(iter(loader))
    state = loader.state_dict()
    assert state["sampler"]["has_state"]
    del state["sampler"]["state"]  # as what restores only the names that a fresh loader has
    with pytest.raises(fr.InvalidArgumentError, match=r"missing: .* state\['sampler'\]"):
        tiny(tiny_file, 4, sampler=OwnState()).load_state_dict(state)


@pytest.mark.parametrize("own", [3, {}, {"of": "nobody", "state": {}}, {"of": "iterator"}])
def test_an_own_state_that_is_none_is_refused(tiny_file: pathlib.Path, own: object) -> None:
    state = tiny(tiny_file, 4, sampler=OwnState()).state_dict()
    state["sampler"] |= {"state": own, "has_state": True}
    with pytest.raises(fr.InvalidArgumentError, match="own state is invalid: expected a dict"):
        tiny(tiny_file, 4, sampler=OwnState()).load_state_dict(state)


def test_an_own_state_needs_a_sampler_that_takes_it(tiny_file: pathlib.Path) -> None:
    first = tiny(tiny_file, 4, sampler=OwnState())
    next(iter(first))
    loader = tiny(tiny_file, 4, sampler=range(40))
    loader.load_state_dict(first.state_dict())
    with pytest.raises(fr.InvalidArgumentError, match="`load_state_dict` of the"):
        next(iter(loader))


def test_an_order_that_has_become_shorter_is_refused(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=range(40))
    next(itertools.islice(loader, 6, 7))
    short = tiny(tiny_file, 4, sampler=range(20))
    short.load_state_dict(loader.state_dict())
    with pytest.raises(fr.InvalidArgumentError, match="too few batches to resume"):
        next(iter(short))


def test_a_restored_sampler_that_may_not_repeat_is_warned_of(tiny_file: pathlib.Path) -> None:
    def restored(sampler: object) -> None:
        first = fr.Loader(tiny_file, 8, fields=["id"], sampler=sampler)
        next(iter(first))
        fr.Loader(tiny_file, 8, fields=["id"], sampler=sampler).load_state_dict(first.state_dict())

    data = range(TINY_COUNT)
    with pytest.warns(fr.FuelrailWarning, match="RandomSampler has neither") as said:
        restored(torch.utils.data.RandomSampler(data))
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restored(list(data))
        restored(np.arange(TINY_COUNT))
        restored(torch.utils.data.SequentialSampler(data))
        restored(torch.utils.data.DistributedSampler(data, num_replicas=1, rank=0))
