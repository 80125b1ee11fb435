"""Datasets travel to other processes as how they were made; samples are copied, not sent."""

from __future__ import annotations

import copy
import itertools
import pathlib
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch

import fuelrail as fr

PARTS: dict[str, Callable[[fr.Dataset], fr.Dataset]] = {
    "all of it": lambda data: data,
    "slice": lambda data: data[20:3:-2],
    "empty slice": lambda data: data[5:5],
    "slice of a slice": lambda data: data[3:][::4],
    "subset": lambda data: data.subset([5, 0, -1, 5]),
    "array of indices": lambda data: data.subset(np.array([7, 2])),
    "part of a split": lambda data: data.split({"a": 0.5, "b": 0.25}, seed=9)["b"],
    "slice of a part": lambda data: data.split({"a": 0.5})["a"][1:4],
    "list": lambda data: fr.open([data[:4], [data.subset([9])]]),
}


@pytest.mark.parametrize("make", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("source", ["record_file", "folder"])
def test_a_dataset_comes_back_from_a_pickle_as_it_was(
    request: pytest.FixtureRequest, source: str, make: Callable[[fr.Dataset], fr.Dataset]
) -> None:
    data = make(fr.open(request.getfixturevalue(source)))
    again = pickle.loads(pickle.dumps(data))
    assert again.fingerprint == data.fingerprint
    assert again.classes == data.classes
    assert repr(again) == repr(data)
    assert [sample.place for sample in again] == [sample.place for sample in data]
    assert [sample.image for sample in again] == [sample.image for sample in data]


def test_a_pickle_holds_no_records(record_file: pathlib.Path) -> None:
    assert len(pickle.dumps(fr.open(record_file))) < 1000


def test_a_pickled_dataset_whose_file_is_gone_or_changed_is_refused(
    record_file: pathlib.Path, tiny_file: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "copy.rec"
    file.write_bytes(record_file.read_bytes())
    pickled = pickle.dumps(fr.open(file)[:3])
    file.unlink()
    with pytest.raises(fr.NotFoundError, match=r"copy\.rec"):
        pickle.loads(pickled)
    file.write_bytes(tiny_file.read_bytes())
    with pytest.raises(fr.CorruptError, match="changed since it was pickled") as caught:
        pickle.loads(pickled)
    assert caught.value.path == str(file)


def test_copies_of_what_cannot_change_are_itself(record_file: pathlib.Path) -> None:
    data = fr.open(record_file)
    for thing in (data, data[2:5], data[0]):
        assert copy.copy(thing) is thing
        assert copy.deepcopy([thing])[0] is thing


def test_a_sample_that_is_pickled_says_what_to_pickle(record_file: pathlib.Path) -> None:
    sample = fr.open(record_file)[3]
    with pytest.raises(TypeError, match=r"cannot be pickled.*Pickle its values"):
        pickle.dumps(sample)
    values = {name: sample[name] for name in sample.fields}
    assert pickle.loads(pickle.dumps(values)) == values


def test_a_sample_without_state_has_no_attributes() -> None:
    empty = fr.Sample.__new__(fr.Sample)
    for name in ("_schema", "__setstate__", "_ipython_display_"):
        assert not hasattr(empty, name)


def labels_and_sizes(samples: list[fr.Sample]) -> list[tuple[int, tuple[int, ...]]]:
    return [(sample.label, sample.decode().shape) for sample in samples]


def test_torchs_own_loader_reads_it_in_a_spawned_worker(record_file: pathlib.Path) -> None:
    data = fr.open(record_file)[::3]
    loader: torch.utils.data.DataLoader[fr.Sample] = torch.utils.data.DataLoader(
        data,  # type: ignore[arg-type]
        batch_size=4,
        num_workers=1,
        collate_fn=labels_and_sizes,
        multiprocessing_context="spawn",
    )
    assert list(itertools.chain(*loader)) == labels_and_sizes(list(data))
