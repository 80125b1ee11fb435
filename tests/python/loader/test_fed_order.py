"""Orders from the user: iterables of indices or of index batches, and torch's samplers."""

from __future__ import annotations

import itertools
import pathlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import transforms as T
from loading import batches, epoch_ids, tiny
from photographs import TINY_COUNT

FIELDS = ("id", "position", "image")


# --- Batches ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: [5, 3, 3, 96, 0, 1, 2],
        lambda: (5, 3, 3, 96, 0, 1, 2),
        lambda: np.array([5, 3, 3, 96, 0, 1, 2]),
        lambda: torch.tensor([5, 3, 3, 96, 0, 1, 2]),
        lambda: [5, 3, 3, -1, 0, 1, 2],
    ],
    ids=["list", "tuple", "array", "tensor", "negative"],
)
def test_indices_come_as_they_are_fed(tiny_file: pathlib.Path, make: Callable[[], Any]) -> None:
    loader = tiny(tiny_file, 3, sampler=make())
    assert len(loader) == 3
    for _ in range(2):
        assert batches(loader) == [[5, 3, 3], [96, 0, 1], [2]]
    loader = tiny(tiny_file, 3, sampler=make(), last_batch="drop")
    assert len(loader) == 2
    assert batches(loader) == [[5, 3, 3], [96, 0, 1]]


def test_batches_of_any_size_come_as_they_are_fed(tiny_file: pathlib.Path) -> None:
    sizes = [1, 3, 0, 2, 40, 7, 1, 97, 5]
    fed = [[(7 * i + size) % TINY_COUNT for i in range(size)] for size in sizes]
    fed[3] = torch.tensor(fed[3])  # type: ignore[call-overload]
    loader = tiny(tiny_file, 1, batch_sampler=fed, prefetch=3)
    expected = [list(map(int, batch)) for batch in fed]
    assert len(loader) == len(fed)
    for _ in range(3):
        assert batches(loader) == expected


def test_rows_are_the_records_named(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    fed = [[1, 2], [50, 3, 4]]
    for batch, indices in zip(tiny(tiny_file, 1, batch_sampler=fed), fed, strict=True):
        _, position, valid, label, image = batch
        assert label.numpy().tolist() == [data[i].label for i in indices]
        assert valid.numpy().all()
        expected = np.stack([data[i].decode() for i in indices]).transpose(0, 3, 1, 2)
        np.testing.assert_array_equal(image.numpy() * np.float32(255), expected)
    assert position.numpy().tolist() == [2, 3, 4]


def test_ranks_of_one_sampler_draw_differently(record_file: pathlib.Path) -> None:
    order = [5, 5, 9, 1, 30]

    def rows(rank: int) -> tuple[list[int], list[bytes]]:
        contexts: list[fr.BatchContext] = []

        def note(batch: Any, context: fr.BatchContext) -> Any:
            contexts.append(context)
            return batch

        (batch,) = fr.Loader(
            record_file, 5, sampler=order, rank=rank, world_size=2, seed=3, fields=FIELDS,
            transforms=[T.RandomResizedCrop(8)], batch_transforms=[note],
        )  # fmt: skip
        ids, positions, images = (column.numpy() for column in batch)
        assert ids.tolist() == order
        assert contexts[0].positions.tolist() == positions.tolist()
        return positions.tolist(), [image.tobytes() for image in images]

    (positions, images), (others, other_images) = rows(0), rows(1)
    assert positions == [0, 2, 4, 6, 8]
    assert others == [1, 3, 5, 7, 9]
    assert len({*images, *other_images}) == 10


def test_one_rank_draws_what_the_order_itself_would_draw(record_file: pathlib.Path) -> None:
    options: dict[str, Any] = {"transforms": [T.RandomResizedCrop(8)], "fields": FIELDS, "seed": 3}
    computed = fr.Loader(record_file, 4, **options)
    fed = fr.Loader(record_file, 4, sampler=range(31), **options)
    for _ in range(2):
        for expected, found in zip(computed, fed, strict=True):
            assert [*map(bytes, found)] == [*map(bytes, expected)]


def test_a_rank_that_does_not_exist_is_refused_with_a_sampler_too(tiny_file: pathlib.Path) -> None:
    with pytest.raises(fr.OutOfRangeError, match="rank below 2, found 2"):
        tiny(tiny_file, 4, sampler=[1, 2], rank=2, world_size=2)


def torch_samplers(data: Any) -> dict[str, Callable[[], dict[str, Any]]]:
    utils = torch.utils.data

    def generator() -> torch.Generator:
        return torch.Generator().manual_seed(3)

    return {
        "SequentialSampler": lambda: {"sampler": utils.SequentialSampler(data)},
        "RandomSampler": lambda: {"sampler": utils.RandomSampler(data, generator=generator())},
        "WeightedRandomSampler": lambda: {
            "sampler": utils.WeightedRandomSampler(range(1, 30), 17, generator=generator())
        },
        "SubsetRandomSampler": lambda: {
            "sampler": utils.SubsetRandomSampler(range(0, 90, 7), generator=generator())
        },
        "DistributedSampler": lambda: {
            "sampler": utils.DistributedSampler(data, num_replicas=3, rank=1, seed=4)
        },
        "BatchSampler": lambda: {
            "batch_sampler": utils.BatchSampler(
                utils.DistributedSampler(data, num_replicas=3, rank=1, seed=4), 7, drop_last=True
            )
        },
    }


@pytest.mark.parametrize("name", list(torch_samplers([])))
def test_torchs_samplers_mean_what_they_mean_to_torch(tiny_file: pathlib.Path, name: str) -> None:
    data = fr.open(tiny_file)
    make = torch_samplers(range(len(data)))[name]
    ours = make()
    loader = tiny(tiny_file, 1 if "batch_sampler" in ours else 5, **ours)
    theirs = make()
    options = theirs if "batch_sampler" in theirs else {**theirs, "batch_size": 5}
    reference = torch.utils.data.DataLoader(range(len(data)), **options)  # type: ignore[arg-type]
    assert len(loader) == len(reference)
    for epoch in range(3):
        for sampler in theirs.values():
            named = getattr(sampler, "sampler", sampler)
            if hasattr(named, "set_epoch"):
                named.set_epoch(epoch)
        assert batches(loader) == [batch.tolist() for batch in reference]


def test_the_torch_loader_takes_them_too(tiny_file: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(
        tiny_file, batch_sampler=[[4, 2], [7]], transforms=[fr.transforms.CenterCrop(4)],
        fields=["id"],
    )  # fmt: skip
    assert [ids.tolist() for (ids,) in loader] == [[4, 2], [7]]


# --- Sampler calls ------------------------------------------------------------------------------


class Asked:
    """A sampler of 20 indices per epoch that records its calls."""

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.given = 0

    def set_epoch(self, epoch: int) -> None:
        self.epochs.append(epoch)

    def __iter__(self) -> Iterator[int]:
        for i in range(20):
            self.given += 1
            yield (i + self.epochs[-1]) % TINY_COUNT


@pytest.mark.parametrize("prefetch", [1, 2, 5])
def test_it_is_asked_prefetch_ahead_of_use_and_over_the_gap(
    tiny_file: pathlib.Path, prefetch: int
) -> None:
    order = Asked()
    loader = tiny(tiny_file, 2, sampler=order, prefetch=prefetch)
    iterator = iter(loader)
    assert order.given == 0
    for count in range(1, 11):
        next(iterator)
        fed = count + prefetch  # and one more, to detect the last batch of an epoch
        assert order.given == 2 * (fed if fed % 10 == 0 else fed + 1)
        assert order.epochs == list(range(1 + (fed - 1) // 10))
    assert next(iterator, None) is None
    assert batches(loader)[0] == [1, 2]


def test_set_epoch_names_it_to_the_sampler(tiny_file: pathlib.Path) -> None:
    order = Asked()
    loader = tiny(tiny_file, 10, sampler=order)
    loader.set_epoch(40)
    assert epoch_ids(loader) == [*range(40, 60)]
    loader.set_epoch(7)
    assert order.epochs[0] == 40
    assert epoch_ids(loader) == [*range(7, 27)]


def test_an_endless_order_is_one_epoch(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=(i % TINY_COUNT for i in itertools.count()))
    with pytest.raises(TypeError):
        len(loader)
    seen = [i for batch in itertools.islice(loader, 60) for i in batch[0].numpy().tolist()]
    assert seen == [i % TINY_COUNT for i in range(240)]


def test_an_iterator_is_read_once(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=iter(range(10)))
    assert batches(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert batches(loader) == []
    loader = tiny(tiny_file, 4, sampler=iter(range(90)))
    next(iter(loader))
    with pytest.raises(fr.StateError, match="already been read"):
        next(iter(loader))


def test_an_order_without_samples_is_an_empty_epoch(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=[])
    assert len(loader) == 0
    assert batches(loader) == batches(loader) == []


def test_leaving_the_loop_early_ends_the_epoch(tiny_file: pathlib.Path) -> None:
    for taken in (1, 4, 9, 10):
        loader = tiny(tiny_file, 2, sampler=Asked())
        assert len(list(itertools.islice(loader, taken))) == taken
        assert epoch_ids(loader) == [*range(1, 21)]


# --- Errors -------------------------------------------------------------------------------------


class Broken(Exception):
    pass


class Failing:
    """Fails at the 8th index of the named epochs."""

    def __init__(self, *epochs: int) -> None:
        self.epochs = epochs
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        for i in range(12):
            if i == 8 and self.epoch in self.epochs:
                self.fail()
            yield i

    def fail(self) -> None:
        raise Broken("mine")


@pytest.mark.parametrize("batch_size", [1, 3, 4, 8])
@pytest.mark.parametrize("prefetch", [1, 3, 9])
def test_an_error_comes_in_the_place_of_its_batch_as_it_was_raised(
    tiny_file: pathlib.Path, batch_size: int, prefetch: int
) -> None:
    loader = tiny(tiny_file, batch_size, sampler=Failing(1), prefetch=prefetch)
    assert epoch_ids(loader) == [*range(12)]
    iterator = iter(loader)
    good = 8 // batch_size
    assert [next(iterator)[0].numpy()[0] for _ in range(good)] == [*range(0, 8, batch_size)][:good]
    state = loader.state_dict()
    with pytest.raises(Broken, match="mine") as caught:
        next(iterator)
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][-2:] == ["__iter__", "fail"]
    assert loader.state_dict() == state
    assert next(iterator, None) is None
    assert epoch_ids(loader) == [*range(12)]
    assert loader.state_dict()["epoch"] == 3


def test_an_error_before_the_first_batch_is_raised_each_time(tiny_file: pathlib.Path) -> None:
    attempts = itertools.count()

    class Late:
        def __iter__(self) -> Iterator[int]:
            if next(attempts) < 2:
                raise Broken("not yet")
            return iter([1, 2, 3])

    loader = tiny(tiny_file, 2, sampler=Late())
    for _ in range(2):
        with pytest.raises(Broken):
            list(loader)
    assert batches(loader) == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("options", "kind", "match"),
    [
        ({"sampler": [0, 1, TINY_COUNT]}, fr.OutOfRangeError, "97"),
        ({"sampler": [0, 1, "2"]}, fr.ArgumentTypeError, "integer"),
        ({"sampler": [[0, 1], [2]]}, fr.ArgumentTypeError, "integer"),
        ({"batch_sampler": [0, 1]}, fr.ArgumentTypeError, "sampler"),
        ({"batch_sampler": [[0], [None]]}, fr.ArgumentTypeError, "integer"),
    ],
)
def test_a_bad_index_is_an_error_in_its_place(
    tiny_file: pathlib.Path, options: dict[str, Any], kind: type[Exception], match: str
) -> None:
    with pytest.raises(kind, match=match):
        list(tiny(tiny_file, 1, **options))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"sampler": [1], "batch_sampler": [[1]]}, "`sampler` and `batch_sampler`"),
        ({"sampler": [1], "shuffle": True}, "`shuffle` and `sampler`"),
        ({"weights": [1] * TINY_COUNT, "shuffle": "window"}, "`shuffle` and `weights`"),
        ({"batch_sampler": [[1]], "batch_size": 3}, "batch_size"),
        ({"batch_sampler": [[1]], "last_batch": "drop"}, "last_batch"),
        ({"sampler": [1], "last_batch": "pad"}, "last_batch"),
        ({"sampler": 3}, "`sampler` has the wrong type: expected an iterable"),
        ({"batch_sampler": "abc"}, "`batch_sampler` has the wrong type: expected an iterable"),
        ({"num_samples": 3}, "weights"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tiny_file: pathlib.Path, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=match):
        fr.Loader(tiny_file, transforms=[fr.transforms.CenterCrop(4)], **options)
