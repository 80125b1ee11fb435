"""Loaders and datasets in worker processes of users: forked, spawned, torch's."""

from __future__ import annotations

import itertools
import multiprocessing
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
from loading import CROP
from photographs import TINY_COUNT

METHODS = pytest.mark.parametrize("method", ["fork", "spawn"])
pytestmark = pytest.mark.filterwarnings(
    # Python 3.12 warns about any fork with threads; these tests need forks.
    "ignore:.*multi-threaded, use of fork:DeprecationWarning"
)


class Streamed(torch.utils.data.IterableDataset[Any]):
    """A user's dataset that wraps a loader for torch's DataLoader."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[Any]:
        return iter(self.loader)


def make(file: object, **options: object) -> fr.torch.DataLoader:
    given = {"transforms": CROP, "fields": ["id", "image"], "shuffle": True, **options}
    return fr.torch.DataLoader(file, 10, **given)


def by_torch(dataset: Any, method: str, **options: object) -> Any:
    given = {"num_workers": 1, "multiprocessing_context": method, "timeout": 60, **options}
    return torch.utils.data.DataLoader(dataset, **given)


def assert_same(ours: Any, theirs: Any) -> None:
    for left, right in zip(ours, theirs, strict=True):
        for one, other in zip(left, right, strict=True):
            assert torch.equal(one, other)


@METHODS
def test_a_loader_that_had_not_started_runs_in_torchs_worker(
    tiny_file: pathlib.Path, method: str
) -> None:
    loader = make(tiny_file, seed=5)
    loader.set_epoch(2)
    kept = list(by_torch(Streamed(loader), method, batch_size=None))  # the worker has ended by then
    assert len(kept) == len(loader)
    assert_same(loader, kept)  # the loader is still at epoch 2 in this process


@METHODS
def test_a_started_loader_is_refused_by_torchs_worker_at_once(
    tiny_file: pathlib.Path, method: str
) -> None:
    loader = make(tiny_file)
    iterator = iter(loader)
    next(iterator)
    remedy = "Create the loader after the fork" if method == "fork" else "Pickle it before"
    with pytest.raises(fr.StateError, match=remedy):
        next(iter(by_torch(Streamed(loader), method, batch_size=None)))
    assert len(list(iterator)) == len(loader) - 1


@METHODS
def test_a_map_dataset_gives_the_same_samples_in_workers(
    tiny_file: pathlib.Path, method: str
) -> None:
    dataset = fr.torch.MapDataset(tiny_file, transforms=[fr.transforms.RandomCrop(3)], seed=3)
    dataset.set_epoch(4)
    dataset[0]  # starts its threads in this process
    options = {"batch_size": 10, "collate_fn": fr.torch.collate}
    here = list(torch.utils.data.DataLoader(dataset, **options))
    workers = 2 if method == "fork" else 1  # other methods import torch in each worker
    there = list(by_torch(dataset, method, num_workers=workers, **options))
    assert_same(here, there)


def first_pixels(samples: list[fr.Sample]) -> list[list[int]]:
    return [sample.decode()[0, 0].tolist() for sample in samples]


def test_a_dataset_is_read_in_forked_workers(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    loader = by_torch(data, "fork", batch_size=8, num_workers=2, collate_fn=first_pixels)
    assert list(itertools.chain(*loader)) == first_pixels(list(data))


def all_ids(loader: fr.Loader) -> list[int]:
    return [i for batch in loader for i in batch[0].numpy().tolist()]


def test_a_spawned_process_gets_a_loader_with_its_place(tiny_file: pathlib.Path) -> None:
    options = {"transforms": CROP, "fields": ["id"], "sampler": range(TINY_COUNT - 1, -1, -1)}
    first = fr.Loader(tiny_file, 10, **options)
    for _ in itertools.islice(first, 3):
        pass
    second = fr.Loader(tiny_file, 10, **options)
    second.load_state_dict(first.state_dict())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply_async(all_ids, [second]).get(timeout=60)
    assert there == list(range(TINY_COUNT - 31, -1, -1))
    np.testing.assert_array_equal(all_ids(second), there)
