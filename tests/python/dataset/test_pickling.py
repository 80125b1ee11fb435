"""Datasets and loaders pickle as their arguments; samples do not pickle."""

from __future__ import annotations

import copy
import itertools
import pathlib
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
import many_fields
from fuelrail import transforms as T
from loading import FIELDS

RANDOM = [T.RandomResizedCrop(3), T.HorizontalFlip()]
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
    with pytest.raises(TypeError, match=r"cannot be pickled.*Pickle the dict"):
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


# --- Loaders ------------------------------------------------------------------------------------

LOADERS: dict[str, Callable[[], dict[str, object]]] = {
    "plain": dict,
    "shuffled": lambda: {"shuffle": True, "seed": 2**64 - 1, "last_batch": "wrap"},
    "windows": lambda: {"shuffle": fr.WindowShuffle(4, 3), "on_error": "skip", "max_bad": 0.5},
    "weights": lambda: {"weights": (float(i) for i in range(97)), "num_samples": 40},
    "sampler": lambda: {"sampler": [5, 3, 96, 0]},
    "batch sampler": lambda: {
        "batch_size": 1,
        "batch_sampler": torch.utils.data.BatchSampler(range(50), 7, drop_last=True),
    },
    "one rank": lambda: {"rank": 1, "world_size": 3, "last_batch": "pad", "threads": 3},
    "pixels": lambda: {"dtype": torch.uint8, "layout": "NHWC", "orientation": "ignore"},
}


def batches_of(loader: fr.Loader, epochs: int = 2) -> list[object]:
    epoch = itertools.chain.from_iterable(itertools.repeat(loader, epochs))
    return [many_fields.bits(batch) for batch in epoch]


@pytest.mark.parametrize(
    ("source", "options"),
    [("tiny_file", options) for options in LOADERS.values()]
    + [("many_fields_file", lambda: {**many_fields.OPTIONS, "shuffle": True})],
    ids=[*LOADERS, "many fields"],
)
def test_a_loader_that_has_not_started_comes_back_as_it_was(
    request: pytest.FixtureRequest, source: str, options: Callable[[], dict[str, object]]
) -> None:
    given = {"batch_size": 6, "transforms": RANDOM, "fields": FIELDS, **options()}
    loader = fr.Loader(request.getfixturevalue(source), **given)
    loader.set_epoch(3)
    again = pickle.loads(pickle.dumps(loader))
    assert repr(again) == repr(loader)
    assert again.state_dict() == loader.state_dict()
    copies = [again, copy.copy(loader), copy.deepcopy(loader), pickle.loads(pickle.dumps(again))]
    expected = batches_of(loader)
    for other in copies:
        assert batches_of(other) == expected


def test_a_restored_loader_takes_its_place_with_it(tiny_file: pathlib.Path) -> None:
    options = {"batch_size": 10, "transforms": RANDOM, "fields": FIELDS, "shuffle": True}
    first = fr.Loader(tiny_file, **options)
    for _ in itertools.islice(first, 4):
        pass
    second = fr.Loader(tiny_file, **options)
    second.load_state_dict(first.state_dict())
    third = pickle.loads(pickle.dumps(second))
    third.set_epoch(0)  # keeps the restored position, as without the pickle
    assert len(batches_of(second, 1)) == len(batches_of(third, 1)) == 6


def test_a_loader_comes_back_as_its_own_class(tiny_file: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(tiny_file, 10, transforms=RANDOM, dtype=torch.float16)
    images, _ = next(iter(pickle.loads(pickle.dumps(loader))))
    assert images.dtype == torch.float16


@pytest.mark.parametrize("order", [{}, {"sampler": range(20)}], ids=["computed", "fed"])
def test_a_pickled_loader_keeps_a_rank_that_was_given_and_finds_any_other_anew(
    tiny_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch, order: dict[str, Any]
) -> None:
    found = fr.Loader(tiny_file, 10, fields=["id"], **order)
    given = fr.Loader(tiny_file, 10, fields=["id"], rank=1, world_size=3, **order)
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "4")
    pickled = pickle.dumps((found, given))
    assert "rank 2 of 4" in repr(found)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "5")
    found, given = pickle.loads(pickled)
    assert "rank 0 of 5" in repr(found)
    assert "rank 1 of 3" in repr(given)


def test_options_that_change_after_the_loader_was_made_do_not_change_its_pickle(
    tiny_file: pathlib.Path,
) -> None:
    options: dict[str, list[object]] = {
        "transforms": list(RANDOM),
        "fields": list(FIELDS),
        "weights": [1.0] * 97,
    }
    loader = fr.Loader(tiny_file, 10, **options)
    for option in options.values():
        option.clear()
    assert batches_of(pickle.loads(pickle.dumps(loader))) == batches_of(loader)


def test_a_started_loader_says_what_to_send_instead(tiny_file: pathlib.Path) -> None:
    loader = fr.Loader(tiny_file, 10, fields=["id"])
    iterator = iter(loader)
    with pytest.raises(fr.StateError, match="iterator of a loader cannot be copied or pickled"):
        pickle.dumps(iterator)
    pickle.dumps(loader)
    next(iterator)
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(fr.StateError, match=r"started cannot.*pass its `state_dict\(\)`"):
            duplicate(loader)
    loader.close()
    with pytest.raises(fr.StateError, match="closed"):
        pickle.dumps(loader)


def test_an_order_that_cannot_be_pickled_is_pickles_own_error(tiny_file: pathlib.Path) -> None:
    loader = fr.Loader(tiny_file, 10, fields=["id"], sampler=(i for i in range(9)))
    with pytest.raises(TypeError, match="generator"):
        pickle.dumps(loader)
    assert len(batches_of(loader, 1)) == 1  # the loader was not changed
