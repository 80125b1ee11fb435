"""fuelrail.ffrecord.torch.DataLoader: start at any step of an epoch, and its state."""

from __future__ import annotations

import functools
import gc
import io
import pathlib
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.data as torch_data

import fuelrail as fr
from ffrecord_numbers import FORKS, Numbers, Plain, generator, lists, numbers
from fuelrail.ffrecord.torch import DataLoader

pytestmark = FORKS


@pytest.fixture
def make(tmp_path: pathlib.Path) -> Callable[..., Numbers]:
    return functools.partial(numbers, tmp_path)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_tail_after_set_step_is_the_whole_epochs(
    make: Callable[..., Numbers], workers: int, batch: int, shuffle: bool
) -> None:
    options: dict[str, Any] = {"batch_size": batch, "shuffle": shuffle, "num_workers": workers}
    ours = DataLoader(make(28), **options, generator=generator())
    theirs = torch_data.DataLoader(Plain(28), **options, generator=generator())
    length = len(theirs)
    ours.set_step(5)
    assert len(ours) == length - 5
    assert lists(ours) == lists(theirs)[5:]
    assert lists(ours) == lists(theirs)[5:]  # the step applies until it is set again
    ours.set_step(0)
    assert len(ours) == length
    assert lists(ours) == lists(theirs)


def test_skipped_batches_are_not_read(make: Callable[..., Numbers]) -> None:
    read: list[int] = []

    class Counted(Numbers):
        def process(self, indices: Sequence[int], data: list[np.ndarray]) -> list[int]:
            read.extend(indices)
            return super().process(indices, data)

    loader = DataLoader(Counted(make(20).fnames), 4)
    loader.set_step(3)
    assert lists(loader) == [[12, 13, 14, 15], [16, 17, 18, 19]]
    assert read == list(range(12, 20))


def test_persistent_workers_hear_of_the_step(make: Callable[..., Numbers]) -> None:
    loader = DataLoader(make(20), 4, num_workers=2, persistent_workers=True)
    assert len(lists(loader)) == 5
    loader.set_step(4)
    assert lists(loader) == [[16, 17, 18, 19]]
    del loader
    gc.collect()


def test_wrong_steps(make: Callable[..., Numbers]) -> None:
    loader = DataLoader(make(20), 4)
    for bad in (6, -1):
        with pytest.raises(AssertionError, match="`step` is out of range"):
            loader.set_step(bad)
    with pytest.raises(AssertionError, match="not skippable"):
        DataLoader(make(20), 4, skippable=False).set_step(1)
    with pytest.raises(TypeError):
        loader.set_step(1.5)


def test_c2_9_all_steps_may_be_skipped(make: Callable[..., Numbers]) -> None:
    loader = DataLoader(make(20), 4)
    loader.set_step(len(loader))
    assert len(loader) == 0
    assert lists(loader) == []


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("own", [True, False])
def test_c2_9_a_state_goes_on_after_the_last_batch(
    make: Callable[..., Numbers], workers: int, own: bool
) -> None:
    def loader() -> DataLoader:
        torch.manual_seed(11)
        rng = generator() if own else None
        return DataLoader(make(40), 4, True, num_workers=workers, generator=rng)

    whole = loader()
    expected = [lists(whole), lists(whole), lists(whole)]
    first = loader()
    lists(first)
    epoch = iter(first)
    states = []
    for taken in range(11):
        states.append(io.BytesIO())
        torch.save(first.state_dict(), states[-1])
        assert taken == 10 or next(epoch).tolist() == expected[1][taken]
    del epoch
    for taken in (0, 1, 7, 10):
        states[taken].seek(0)
        second = loader()
        torch.rand(5, generator=second.generator)
        second.load_state_dict(torch.load(states[taken]))
        assert len(second) == 10 - taken
        assert second.state_dict()["step"] == taken
        assert lists(second) == expected[1][taken:]
        assert len(second) == 10
        assert lists(second) == expected[2]


def test_c2_9_a_state_between_epochs(make: Callable[..., Numbers]) -> None:
    loader = DataLoader(make(), 4, True, generator=generator())
    lists(loader)
    state = loader.state_dict()
    assert state["step"] == 0
    expected = lists(loader)
    again = DataLoader(make(), 4, True, generator=generator(99))
    again.load_state_dict(state)
    assert lists(again) == expected


def test_c2_9_a_state_names_the_samplers_epoch(make: Callable[..., Numbers]) -> None:
    def loader() -> tuple[DataLoader, Any]:
        dataset = make(40)
        sampler = torch_data.DistributedSampler(dataset, num_replicas=2, rank=1, seed=5)
        return DataLoader(dataset, 4, sampler=sampler), sampler

    first, sampler = loader()
    sampler.set_epoch(3)
    expected = lists(first)
    epoch = iter(first)
    next(epoch)
    second, _ = loader()
    second.load_state_dict(first.state_dict())
    assert lists(second) == expected[1:]


def test_c2_9_states_that_do_not_fit(make: Callable[..., Numbers]) -> None:
    state = DataLoader(make(20), 4).state_dict()
    with pytest.raises(ValueError, match="number of batches"):
        DataLoader(make(20), 5).load_state_dict(state)
    for bad in ({}, 3, {**state, "version": 2}, {"version": 1, "step": 0}):
        with pytest.raises(
            ValueError, match=r"the state (is not a dict|has an unsupp|is incomplete)"
        ):
            DataLoader(make(20), 4).load_state_dict(bad)
    with pytest.raises(AssertionError):
        DataLoader(make(20), 4, skippable=False).state_dict()


def state_and_rest(loader: DataLoader, taken: int | None) -> tuple[dict[str, Any], list[Any]]:
    """The loader's state and, after it, the rest of the epoch and the next one.

    taken: the number of batches taken before; None = the epoch has not started.
    """
    epoch = None if taken is None else iter(loader)
    for _ in range(taken or 0):
        next(epoch)
    state = loader.state_dict()
    return state, [lists(loader if epoch is None else epoch), lists(loader)]


def random_samplers(kind: str, dataset: Numbers) -> dict[str, Any]:
    """Arguments whose order is drawn from another generator."""
    sampler = torch_data.RandomSampler(dataset, generator=generator(7))
    return {
        "global": {"batch_size": 4, "shuffle": True},
        "loader's": {"batch_size": 4, "shuffle": True, "generator": generator()},
        "sampler's": {"batch_size": 4, "sampler": sampler},
        "sampler's without": {
            "batch_size": 4,
            "sampler": torch_data.RandomSampler(dataset),
            "generator": generator(),
        },
        "batch sampler's": {"batch_sampler": torch_data.BatchSampler(sampler, 4, False)},
    }[kind]


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("taken", [None, 0, 2])
@pytest.mark.parametrize(
    "kind", ["global", "loader's", "sampler's", "sampler's without", "batch sampler's"]
)
def test_c2_9_a_state_has_all_that_the_order_is_drawn_from(
    make: Callable[..., Numbers], kind: str, taken: int | None, persistent: bool
) -> None:
    def loader() -> DataLoader:
        dataset = make(20)
        workers: Any = {"num_workers": 1, "persistent_workers": True} if persistent else {}
        return DataLoader(dataset, **random_samplers(kind, dataset), **workers)

    torch.manual_seed(11)
    first = loader()
    lists(first)
    state, expected = state_and_rest(first, taken)
    torch.manual_seed(12)
    second = loader()
    second.load_state_dict(state)
    assert [lists(second), lists(second)] == expected
    if persistent:  # persistent workers draw no new seed
        second.load_state_dict(state)
        assert [lists(second), lists(second)] == expected


def test_c2_9_a_state_leaves_random_numbers_of_others_alone(make: Callable[..., Numbers]) -> None:
    dataset = make(20)
    sampler = torch_data.DistributedSampler(dataset, num_replicas=2, rank=1)
    for options in ({"shuffle": True}, {"sampler": sampler}):
        loader = DataLoader(dataset, 4, generator=generator(), **options)
        state = loader.state_dict()
        torch.manual_seed(5)
        expected = torch.rand(1)
        torch.manual_seed(5)
        loader.load_state_dict(state)
        lists(loader)
        assert torch.rand(1) == expected


def test_c2_9_a_state_of_other_generators_does_not_fit(make: Callable[..., Numbers]) -> None:
    dataset = make(20)
    two = DataLoader(dataset, **random_samplers("sampler's", dataset))
    with pytest.raises(ValueError, match="a different number of random generators"):
        DataLoader(dataset, 4).load_state_dict(two.state_dict())


class DrawingBatches:
    """Batches in an order that is drawn in `__iter__`, or at the first batch."""

    def __init__(self, length: int, draw: Callable[[int], Any], eager: bool) -> None:
        self.length = length
        self.draw = draw
        self.eager = eager

    def __len__(self) -> int:
        return self.length // 4

    def __iter__(self) -> Iterator[list[int]]:
        return self.batches(self.draw(self.length)) if self.eager else self.late()

    def late(self) -> Iterator[list[int]]:
        yield from self.batches(self.draw(self.length))

    def batches(self, order: Any) -> Iterator[list[int]]:
        return (list(map(int, order[at : at + 4])) for at in range(0, self.length, 4))


def drawing_loader(
    dataset: Numbers, whose: str, eager: bool, **options: Any
) -> tuple[DataLoader, Any]:
    """A loader on DrawingBatches, and the function that seeds their random numbers."""
    own = generator(3)
    numpy_own = np.random.default_rng(3)
    draws: dict[str, tuple[Callable[[int], Any], Any]] = {
        "torch's": (torch.randperm, torch.manual_seed),
        "generator's": (lambda n: torch.randperm(n, generator=own), own.manual_seed),
        "Python's": (lambda n: random.sample(range(n), n), random.seed),
        "NumPy's own": (numpy_own.permutation, None),
    }
    draw, seed = draws[whose]
    batches = DrawingBatches(len(dataset), draw, eager)
    if whose == "generator's":
        batches.generator = own  # type: ignore[attr-defined]
    return DataLoader(dataset, batch_sampler=batches, **options), seed


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("whose", ["torch's", "generator's", "Python's"])
def test_c2_9_set_step_leaves_the_tail_of_a_batch_sampler_that_draws(
    make: Callable[..., Numbers], whose: str, workers: int, eager: bool
) -> None:
    loader, seed = drawing_loader(make(20), whose, eager, num_workers=workers)
    seed(5)
    expected = [lists(loader), lists(loader)]
    seed(5)
    loader.set_step(2)
    tail = lists(loader)
    loader.set_step(0)
    assert [tail, lists(loader)] == [expected[0][2:], expected[1]]


@pytest.mark.parametrize("workers", [(0, 0), (2, 2), (0, 2), (2, 0)])
@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("whose", ["torch's", "generator's"])
def test_c2_9_a_state_goes_on_with_a_batch_sampler_that_draws(
    make: Callable[..., Numbers], whose: str, eager: bool, workers: tuple[int, int]
) -> None:
    dataset = make(20)
    first, _ = drawing_loader(dataset, whose, eager, num_workers=workers[0])
    torch.manual_seed(11)
    lists(first)
    states = [first.state_dict()]  # between epochs, at the start of an epoch, within it
    epoch = iter(first)
    states.append(first.state_dict())
    taken = [next(epoch).tolist() for _ in range(3)]
    states.append(first.state_dict())
    whole, following = [*taken, *lists(epoch)], lists(first)
    for state in states:
        second, seed = drawing_loader(dataset, whose, eager, num_workers=workers[1])
        torch.manual_seed(12)
        seed(13)
        second.load_state_dict(state)
        assert second.state_dict() | {"rng": []} == state | {"rng": []}
        assert [lists(second), lists(second)] == [whole[state["step"] :], following]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("whose", ["Python's", "NumPy's own"])
def test_c2_9_a_state_that_the_batch_sampler_cannot_go_on_with_is_refused(
    make: Callable[..., Numbers], whose: str, eager: bool, workers: int
) -> None:
    dataset = make(200)
    first, seed = drawing_loader(dataset, whose, eager, num_workers=workers)
    random.seed(1)
    if seed is None:
        lists(first)  # its random numbers continue
    epoch = iter(first)
    taken = [next(epoch), next(epoch)]
    state = first.state_dict()
    expected = lists(epoch)
    random.seed(2)
    second, _ = drawing_loader(dataset, whose, eager, num_workers=workers)
    second.load_state_dict(state)
    with pytest.raises(fr.StateError, match="the batches has changed since the state was saved"):
        lists(second)
    if seed is not None:  # with the same seed, the epoch resumes
        third, _ = drawing_loader(dataset, whose, eager, num_workers=workers)
        third.load_state_dict(state)
        seed(1)
        assert lists(third) == expected
        assert len(taken) + len(expected) == len(third)


def test_c2_9_batches_that_come_in_any_order_have_no_state(make: Callable[..., Numbers]) -> None:
    loader = DataLoader(make(40), 4, num_workers=2, in_order=False)
    assert loader.state_dict()["step"] == 0
    epoch = iter(loader)
    next(epoch)
    with pytest.raises(AssertionError, match="cannot be saved within an epoch if `in_order=False`"):
        loader.state_dict()
    list(epoch)
    assert loader.state_dict()["step"] == 0


def test_a_loader_without_a_length_has_no_steps() -> None:
    class Endless(torch_data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(6))

    loader = DataLoader(Endless(), 2)
    assert lists(loader) == [[0, 1], [2, 3], [4, 5]]
    for ask in (lambda: loader.set_step(1), loader.state_dict):
        with pytest.raises(TypeError, match="because the dataset or its sampler has no length"):
            ask()
