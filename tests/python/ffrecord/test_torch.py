"""fuelrail.ffrecord.torch: datasets, joined datasets, and unchanged behaviour of torch's loader."""

from __future__ import annotations

import functools
import importlib
import inspect
import pathlib
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch.utils.data as torch_data

import ffrecord_files as files
import fuelrail as fr
from ffrecord_numbers import FORKS, Numbers, Plain, generator, lists, numbers
from fuelrail.ffrecord import FileReader, PackedFolder
from fuelrail.ffrecord.torch import ConcatDataset, DataLoader, Dataset, ReaderRegistry, Subset

pytestmark = FORKS


@pytest.fixture
def make(tmp_path: pathlib.Path) -> Callable[..., Numbers]:
    return functools.partial(numbers, tmp_path)


def test_a_dataset_reads_batches(make: Callable[..., Numbers]) -> None:
    dataset = make()
    assert len(dataset) == 100
    assert dataset[[3, 1, 3]] == dataset.__getitems__((3, 1, 3)) == [3, 1, 3]
    assert dataset[(5,)] == [5]
    for bad in (3, np.array([1]), slice(2), "a"):
        with pytest.raises(TypeError, match="`indices` has the wrong type: expected a list"):
            dataset[bad]
    with pytest.raises(RuntimeError):
        dataset[[100]]
    copy = pickle.loads(pickle.dumps(dataset))
    assert copy[[7]] == [7]
    with pytest.raises(NotImplementedError):
        Dataset(dataset.fnames)[[0]]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("shuffle", [False, True])
def test_it_loads_what_torch_loads(
    make: Callable[..., Numbers], workers: int, shuffle: bool
) -> None:
    options: dict[str, Any] = {"batch_size": 7, "shuffle": shuffle, "num_workers": workers}
    ours = DataLoader(make(), **options, generator=generator())
    theirs = torch_data.DataLoader(Plain(100), **options, generator=generator())
    assert lists(ours) == lists(theirs)
    assert lists(ours) == lists(theirs)
    assert len(ours) == len(theirs) == 15


def test_torch_datasets_are_torchs_business() -> None:
    class Stream(torch_data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(10))

    assert lists(DataLoader(Plain(10), 4)) == lists(torch_data.DataLoader(Plain(10), 4))
    stream = DataLoader(Stream(), 4)
    assert lists(stream) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    with pytest.raises(TypeError):
        stream.set_step(1)


def test_without_batches_the_dataset_gets_lists_of_one(make: Callable[..., Numbers]) -> None:
    given: list[Any] = []

    def collate(samples: Any) -> Any:
        given.append(samples)
        return samples[0]

    loader = DataLoader(make(10), batch_size=None, skippable=False, collate_fn=collate)
    assert list(loader) == list(range(10))
    assert given == [[i] for i in range(10)]
    assert len(loader) == 10
    shuffled = DataLoader(
        make(10), None, True, skippable=False, generator=generator(), collate_fn=collate
    )
    assert sorted(shuffled) == list(range(10))
    with pytest.raises(AssertionError):
        DataLoader(make(10), batch_size=None)


def test_attributes_of_the_loader_are_torchs(make: Callable[..., Numbers]) -> None:
    dataset = make(20)
    loader = DataLoader(dataset, 4, drop_last=True)
    assert loader.dataset is dataset
    assert loader.batch_size == 4
    assert loader.drop_last is True
    assert loader.batch_sampler.batch_size == 4
    assert isinstance(loader.sampler, torch_data.SequentialSampler)
    assert isinstance(loader, torch_data.DataLoader)


def test_an_epoch_that_is_left_ends_its_workers(make: Callable[..., Numbers]) -> None:
    loader = DataLoader(make(20), 4, num_workers=1)
    iterator = iter(loader)
    next(iterator)
    worker = iterator._workers[0]
    del iterator
    worker.join(30)
    assert not worker.is_alive()


def test_subsets_and_sums(make: Callable[..., Numbers]) -> None:
    a, b = make(10), make(5, 100)
    both = a + b
    assert isinstance(both, ConcatDataset)
    assert (
        both[[14, 0, -1, 9, 10]]
        == ConcatDataset([a, b])[[14, 0, -1, 9, 10]]
        == [104, 0, 104, 9, 100]
    )
    assert len(both) == 15
    three = both + make(2, 200)
    assert three[[16, 11]] == [201, 101]
    part = Subset(both, [14, 3, 3])
    assert part[[0, 1, 2]] == [104, 3, 3]
    assert len(part) == 3
    with pytest.raises(TypeError):
        part[0]
    assert lists(DataLoader(part, 2)) == [[104, 3], [3]]
    assert lists(DataLoader(both, 4)) == lists(
        torch_data.DataLoader(torch_data.ConcatDataset([Plain(10), Plain(5, 100)]), 4)
    )
    for bad in ([], [a, Plain(3)]):
        with pytest.raises(AssertionError):
            ConcatDataset(bad)
    with pytest.raises(ValueError, match="sample index is out of range"):
        both[[-16]]
    with pytest.raises(IndexError):
        both[[15]]
    assert pickle.loads(pickle.dumps(three))[[16]] == [201]


def test_torchs_own_subset_and_split_work(make: Callable[..., Numbers]) -> None:
    parts = torch_data.random_split(make(20), [15, 5], generator=generator())
    got = [i for part in parts for batch in lists(torch_data.DataLoader(part, 4)) for i in batch]
    assert sorted(got) == list(range(20))


def test_c2_9_one_process_works(make: Callable[..., Numbers]) -> None:
    assert lists(DataLoader(make(4), 2, num_workers=0, prefetch_factor=2)) == [[0, 1], [2, 3]]


def test_c2_9_all_arguments_of_torch_are_taken(make: Callable[..., Numbers]) -> None:
    ours = inspect.signature(DataLoader.__init__).parameters
    theirs = inspect.signature(torch_data.DataLoader.__init__).parameters
    assert list(ours)[1:13] == [
        *("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers"),
        *("collate_fn", "pin_memory", "drop_last", "timeout", "worker_init_fn", "generator"),
    ]
    defaults = {
        name: one.default
        for name, one in theirs.items()
        if name not in ("self", "dataset", "shuffle", "prefetch_factor")
    }
    assert lists(DataLoader(make(4), **{**defaults, "batch_size": 2})) == [[0, 1], [2, 3]]
    with pytest.raises(TypeError):
        DataLoader(make(4), no_such_option=1)


def one_of_two(worker: int) -> None:
    assert worker in (0, 1)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_c2_9_any_start_method(make: Callable[..., Numbers], method: str) -> None:
    loader = DataLoader(
        make(20),
        5,
        num_workers=2 if method == "fork" else 1,  # other methods import torch in each worker
        multiprocessing_context=method,
        worker_init_fn=one_of_two,
        in_order=True,
    )
    assert [i for batch in lists(loader) for i in batch] == list(range(20))


def test_c2_9_workers_fork_after_the_parent_has_read(make: Callable[..., Numbers]) -> None:
    dataset = make(50)
    dataset.reader.read(range(50))
    assert len(lists(DataLoader(dataset, 5, num_workers=2))) == 10


def test_c2_9_torch_is_not_patched() -> None:
    module = importlib.import_module("torch.utils.data.dataloader")
    assert [name for name in dir(module._DatasetKind) if not name.startswith("_")] == [
        "Iterable",
        "Map",
        "create_fetcher",
    ]
    assert module._DatasetKind.create_fetcher.__module__ == module.__name__


def test_c2_3_an_index_of_any_size_is_out_of_range(make: Callable[..., Numbers]) -> None:
    both = make(10) + make(5, 100)
    for bad in (10**30, -(10**30), 10**5000, 2**63):
        for dataset in (make(10), both, Subset(both, [1, 2])):
            with pytest.raises(IndexError):
                dataset[[1, bad]]
        with pytest.raises(AssertionError):
            DataLoader(both).set_step(bad)


def test_c2_10_repeated_indices_in_a_sum(make: Callable[..., Numbers]) -> None:
    both = make(10) + make(5, 100)
    assert both[[1, 1, 2]] == [1, 1, 2]
    assert both[[12, 1, 12, -3, 1]] == [102, 1, 102, 102, 1]


def test_c2_10_the_registry_sees_containers_and_what_is_there_now(
    make: Callable[..., Numbers],
) -> None:
    a, b, c, d = (FileReader(make(4).fnames) for _ in range(4))
    holder = ReaderRegistry()
    inner = ReaderRegistry()
    holder.one = a
    holder.more = [b, {"c": c}, (3, "x")]
    holder.inner = inner
    inner.one = d
    inner.around = holder
    assert holder.ffreaders() == [a, b, c, d]
    assert len(inner.ffreaders()) == 4
    holder.one = 7
    assert holder.one == 7
    assert holder.ffreaders() == [b, c, d]
    del holder.more
    assert not hasattr(holder, "more")
    assert holder.ffreaders() == [d]
    both = make(4) + make(5, 100)
    assert len(both.ffreaders()) == 2
    assert Subset(both, [1]).ffreaders() == both.ffreaders()
    folder = PackedFolder(files.GOLDEN / "folder.ffr")
    holder.folder = folder
    assert holder.ffreaders() == [d, folder.reader]


def test_errors_are_of_the_family(make: Callable[..., Numbers]) -> None:
    with pytest.raises(fr.Error):
        make(4)[3]


def test_one_index_is_answered_with_how_to_write_it(make: Callable[..., Numbers]) -> None:
    dataset = make()
    for one in (dataset, Subset(dataset, [1]), dataset + dataset):
        with pytest.raises(TypeError, match=r"Write `dataset\[\[3\]\]`"):
            one[3]
