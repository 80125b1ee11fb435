"""A dataset in Python gives the batches of the same data in a file, bit for bit."""

from __future__ import annotations

import itertools
import json
import pathlib
import pickle
import warnings
from typing import Any

import pytest

import fuelrail as fr
import many_fields_writer
from fuelrail import fields as F
from fuelrail import transforms as T
from many_fields import OPTIONS, bits
from python_datasets import LocksLate, ManyFields, Numbers, Photographs, ProcessIds


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> fr.Dataset:
    path = tmp_path_factory.mktemp("provider") / "many.rec"
    dataset = ManyFields()
    fr.pack([dataset[i] for i in range(40)], path, schema=many_fields_writer.SCHEMA)
    return fr.open(path)


def opened(workers: int = 2, count: int = 40) -> fr.Dataset:
    return fr.open_python(ManyFields(count), many_fields_writer.SCHEMA, workers=workers)


@pytest.fixture(scope="module")
def data() -> fr.Dataset:
    """With two workers, which start once."""
    return opened()


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_batches_are_those_of_the_packed_file(packed: fr.Dataset, workers: int) -> None:
    data = opened(workers)
    assert data.schema == packed.schema
    for shuffle in (False, True):
        options: dict[str, Any] = {**OPTIONS, "shuffle": shuffle, "seed": 5, "last_batch": "pad"}
        expected = fr.Loader(packed, 7, **options)
        loader = fr.Loader(data, 7, threads=workers + 1, **options)
        for _ in range(2):
            assert [bits(batch) for batch in loader] == [bits(batch) for batch in expected]


def test_samples_are_those_of_the_packed_file(packed: fr.Dataset, data: fr.Dataset) -> None:
    for i in (0, 7, 39):
        ours, theirs = data[i].nested(), packed[i].nested()
        for camera in (0, 1):
            for name in ("image", "mask"):
                field = f"cameras.{camera}.{name}"
                assert (data[i].decode(field) == packed[i].decode(field)).all()
                ours["cameras"][camera].pop(name)
                theirs["cameras"][camera].pop(name)
        assert bits(ours) == bits(theirs)


def test_encoded_images_are_decoded_as_those_of_a_file(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    dataset = Photographs(folder)
    fr.pack(dataset, tmp_path / "x.rec")
    options: dict[str, Any] = {
        "shuffle": True,
        "transforms": [T.RandomResizedCrop(32), T.HorizontalFlip()],
        "fields": ["image", "number"],
    }
    ours = fr.Loader(dataset, 8, **options)  # a dataset is opened by the loader
    theirs = fr.Loader(tmp_path / "x.rec", 8, **options)
    assert [bits(batch) for batch in ours] == [bits(batch) for batch in theirs]


def test_torchs_loader_takes_a_dataset() -> None:
    loader = fr.torch.DataLoader(Numbers(), 5, fields=["number"])
    assert [batch.tolist() for (batch,) in loader][1] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("at", [0, 1, 3, 5])
def test_resumes_at_any_batch(packed: fr.Dataset, data: fr.Dataset, at: int) -> None:
    options: dict[str, Any] = {**OPTIONS, "shuffle": True, "seed": 2}
    expected = [bits(batch) for batch in fr.Loader(packed, 7, **options)]
    loader = fr.Loader(data, 7, **options)
    for _ in itertools.islice(loader, at):
        pass
    state = json.loads(json.dumps(loader.state_dict()))
    resumed = fr.Loader(opened(workers=0), 7, **options)
    resumed.load_state_dict(state)
    assert [bits(batch) for batch in resumed] == expected[at:]


def test_the_number_of_ranks_may_change_at_a_restore() -> None:
    options: dict[str, Any] = {"shuffle": True, "seed": 4, "fields": ["number"]}

    def numbers(batch: Any) -> list[int]:
        return batch[0].numpy().tolist()

    data = fr.open_python(Numbers(24))
    alone = fr.Loader(data, 8, rank=0, world_size=1, **options)
    expected = [numbers(batch) for batch in alone]
    first = fr.Loader(data, 8, rank=0, world_size=1, **options)
    assert numbers(next(iter(first))) == expected[0]
    ranks = [fr.Loader(data, 4, rank=rank, world_size=2, **options) for rank in (0, 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for loader in ranks:
            loader.load_state_dict(first.state_dict())
    steps = zip(*ranks, strict=True)
    assert [numbers(one) + numbers(other) for one, other in steps] == expected[1:]


def test_a_state_without_fingerprint_warns_once() -> None:
    loader = fr.Loader(Numbers(), 5, fields=["number"])
    next(iter(loader))
    other = fr.Loader(Numbers(), 5, fields=["number"])
    with pytest.warns(fr.FuelrailWarning, match="Numbers has no `fingerprint`"):
        other.load_state_dict(loader.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.load_state_dict(loader.state_dict())


def test_a_state_of_other_data_is_refused(data: fr.Dataset) -> None:
    loader = fr.Loader(data, 5, fields=["caption"])
    loader.state_dict()
    with pytest.raises(fr.InvalidArgumentError, match="dataset"):
        fr.Loader(opened(count=39), 5, fields=["caption"]).load_state_dict(loader.state_dict())
    dataset = ManyFields()
    dataset.fingerprint = "others"
    other = fr.open_python(dataset, many_fields_writer.SCHEMA)
    with pytest.raises(fr.InvalidArgumentError, match="dataset"):
        fr.Loader(other, 5, fields=["caption"]).load_state_dict(loader.state_dict())


def test_subsets_and_joined_datasets_load() -> None:
    data = fr.open_python(Numbers(10))
    loader = fr.Loader(fr.open([data.subset([3, 1]), data[8:]]), 4, fields=["number"])
    assert next(iter(loader))[0].numpy().tolist() == [3, 1, 8, 9]


def test_samplers_feed_a_dataset() -> None:
    loader = fr.Loader(Numbers(10), batch_sampler=[[1, 1], [9], [0, 5, 3]], fields=["number"])
    assert [batch.numpy().tolist() for (batch,) in loader] == [[1, 1], [9], [0, 5, 3]]


def test_workers_are_processes_or_none() -> None:
    import os

    for workers, processes in ((0, 1), (1, 1), (2, 2)):
        loader = fr.Loader(fr.open_python(ProcessIds(), workers=workers), 10, fields=["process"])
        found = {i for (batch,) in loader for i in batch.numpy().tolist()}
        assert 1 <= len(found) <= processes
        assert (os.getpid() in found) == (workers == 0)


def test_a_dataset_is_pickled_before_it_reads_a_sample() -> None:
    loader = fr.Loader(LocksLate(), 5, fields=["number"])
    assert sum(len(batch.numpy()) for (batch,) in loader) == 20


def test_pickles_of_an_opened_dataset_hold_the_programs() -> None:
    data = pickle.loads(pickle.dumps(opened()))
    assert data.schema == many_fields_writer.SCHEMA
    assert data[5]["caption"] == "sample 5"


def test_samples_of_many_megabytes() -> None:
    data = fr.open_python(Numbers(12, bytes_=9_000_000), {"number": F.Label(), "bytes": F.Tensor("uint8", (-1,))})  # fmt: skip
    kept = list(fr.Loader(data, 2, fields=["number", "bytes"]))
    for k, (numbers, rows) in enumerate(kept):
        assert numbers.numpy().tolist() == [2 * k, 2 * k + 1]
        for number, row in zip(numbers.numpy(), rows, strict=True):
            assert (row.numpy() == number).all()
            assert row.shape == (9_000_000,)


def test_a_batch_is_kept_while_the_loader_runs_on(data: fr.Dataset) -> None:
    loader = fr.Loader(data, 8, **OPTIONS)
    kept = next(iter(loader))
    before = bits(kept)
    for _ in range(3):
        for _ in loader:
            pass
    assert bits(kept) == before


def test_memory_is_flat_over_the_epochs() -> None:
    def resident() -> int:
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

    data = fr.open_python(Numbers(40, bytes_=300_000))
    loader = fr.Loader(data, 8, fields=["bytes"])
    sizes = []
    for _ in range(20):
        for _ in loader:
            pass
        sizes.append(resident())
    assert sizes[-1] < 1.2 * sizes[3]
