"""DALIStructuredOutputIterator: what it gives, how it iterates, and how it passes for a DataLoader."""

from __future__ import annotations

import gc
import itertools
import os
import pathlib
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from dali_pipelines import loader_of
from fuelrail.inputs import SampleDataGroup, ShuffledShardedInputCallable
from fuelrail.inputs.pipeline import (
    DALIStructuredOutputIterator,
    NumPyIterator,
    PipelineDefinition,
)
from structured_sources import TEXTS, Handmade, Numbered


def definition_and_pipeline() -> tuple[SampleDataGroup, Any]:
    definition = PipelineDefinition(
        ShuffledShardedInputCallable(Numbered(6), 2),
        check_data_format=False,
        copy_external_source_passthrough_outputs=True,
    )
    pipeline = definition.get_dali_pipeline(batch_size=2, num_threads=1)
    return definition.check_and_get_output_data_structure(), pipeline


def made(**arguments: Any) -> DALIStructuredOutputIterator:
    fields, pipeline = definition_and_pipeline()
    return DALIStructuredOutputIterator(3, pipeline, fields, **arguments)


def ids(batches: Any) -> list[Any]:
    return [batch["id"].tolist() for batch in batches]


EPOCH = [[0, 1], [2, 3], [4, 5]]


def test_batches_are_dicts_of_torch_tensors_by_default() -> None:
    batch = next(iter(made()))
    assert list(batch) == ["id", "text", "cameras"]
    assert list(batch["cameras"]) == [0, 1]
    assert torch.equal(batch["id"], torch.tensor([0, 1], dtype=torch.int32))
    assert batch["cameras"][1]["boxes"].shape == (2, 3, 4)
    assert batch["text"] == TEXTS[:2]


def test_batches_are_numpy_arrays_with_the_iterator_for_numpy() -> None:
    batch = next(iter(made(dali_generic_iterator_class=NumPyIterator)))
    assert isinstance(batch["id"], np.ndarray)
    assert batch["id"].tolist() == [0, 1]
    batch["id"][0] = 5  # the batch's own memory


def test_both_iterators_give_the_same_batches() -> None:
    for tensors, arrays in zip(
        made(), made(dali_generic_iterator_class=NumPyIterator), strict=True
    ):
        assert tensors["text"] == arrays["text"]
        for i in range(2):
            boxes = tensors["cameras"][i]["boxes"].numpy()
            assert np.array_equal(boxes, arrays["cameras"][i]["boxes"])


def test_a_batch_may_stay_a_group() -> None:
    batch = next(iter(made(convert_sample_data_group_to_dict=False)))
    assert isinstance(batch, SampleDataGroup)
    assert batch["id"].tolist() == [0, 1]
    assert batch["text"] == TEXTS[:2]
    assert batch.get_item_in_path(("cameras", 1, "boxes"))[0, 0, 0] == 100


@pytest.mark.parametrize("as_dict", [True, False])
def test_a_function_may_replace_each_batch(as_dict: bool) -> None:
    loader = made(
        convert_sample_data_group_to_dict=as_dict,
        post_process_func=lambda batch: (type(batch).__name__, batch["id"].sum().item()),
    )
    name = "dict" if as_dict else "SampleDataGroup"
    assert list(loader) == [(name, 1), (name, 5), (name, 9)]


@pytest.mark.parametrize("torch", [False, True])
def test_a_loop_begins_the_next_epoch_after_the_end_of_one(torch: bool) -> None:
    loader = loader_of(Handmade(), 2, torch=torch)
    assert [ids(loader) for _ in range(3)] == [[[0, 1], [2, 3], [4, 5], [6, 7]]] * 3


def test_a_loop_that_stopped_early_is_continued() -> None:
    loader = made()
    assert ids(itertools.islice(loader, 1)) == EPOCH[:1]
    assert ids(loader) == EPOCH[1:]
    assert ids(loader) == EPOCH


class Collecting(Handmade):
    """Collects garbage in its worker."""

    def __call__(self, info: Any) -> Any:
        gc.collect()
        return super().__call__(info)


class Lost:
    """Garbage, as a pipeline can be: a file says that another process has collected it."""

    def __init__(self, file: pathlib.Path) -> None:
        self._file, self._process, self._itself = file, os.getpid(), self

    def __del__(self) -> None:
        if os.getpid() != self._process:
            self._file.touch()


@pytest.mark.parametrize("is_frozen", [False, True])
def test_a_forked_worker_does_not_collect_what_was_lost_before(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, is_frozen: bool
) -> None:
    if not is_frozen:  # as it is here, and not in most programs
        request.addfinalizer(gc.freeze)
        gc.unfreeze()
    request.addfinalizer(gc.enable)
    gc.disable()  # so that only the worker collects
    Lost(tmp_path / "collected")
    assert ids(loader_of(Collecting(), 2)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert not list(tmp_path.iterdir())


def test_all_iterators_share_their_position() -> None:
    loader = made()
    first, second = iter(loader), iter(loader)
    assert [ids([next(each)])[0] for each in (first, second, first)] == EPOCH
    with pytest.raises(StopIteration):
        next(second)
    with pytest.raises(StopIteration):
        next(first)


def test_the_end_of_an_epoch_stays_the_end_until_a_reset() -> None:
    loader = made()
    batches = iter(loader)
    assert ids(batches) == EPOCH
    assert ids(batches) == []
    batches.reset()
    assert ids(batches) == EPOCH
    loader.reset()
    assert ids(batches) == EPOCH


def test_a_reset_before_the_end_changes_nothing() -> None:
    loader = made()
    batches = iter(loader)
    next(batches)
    loader.reset()
    batches.reset()
    assert ids(batches) == EPOCH[1:]


def test_lengths_and_the_dataset_are_what_was_passed() -> None:
    dataset = object()
    loader = made(contained_dataset=dataset)
    assert len(loader) == len(iter(loader)) == 3
    assert loader.dataset is dataset
    without = made()
    assert without.dataset is without


def test_the_blueprint_is_a_new_one_at_each_access() -> None:
    loader = made()
    loader.sample_data_structure_blueprint.remove_field("id")
    assert loader.sample_data_structure_blueprint.has_child("id")


def test_the_internal_iterator_is_that_of_dali() -> None:
    assert type(made().internal_iterator).__name__ == "DALIGenericIterator"
    iterator = made(dali_generic_iterator_class=NumPyIterator).internal_iterator
    assert isinstance(iterator, NumPyIterator)


# As a DataLoader.


def as_data_loader(**arguments: Any) -> Any:
    fields, pipeline = definition_and_pipeline()
    return DALIStructuredOutputIterator.CreateAsDataLoaderObject(3, pipeline, fields, **arguments)


def test_an_object_passes_for_a_data_loader_and_iterates_as_before() -> None:
    loader = as_data_loader()
    assert isinstance(loader, DataLoader)
    assert isinstance(loader, DALIStructuredOutputIterator)
    assert not isinstance(made(), DataLoader)
    assert len(loader) == 3
    assert loader.dataset is loader
    assert [ids(loader) for _ in range(2)] == [EPOCH] * 2


@pytest.mark.parametrize(
    "name", ["multiprocessing_context", "_get_iterator", "check_worker_number_rationality"]
)
def test_what_only_a_data_loader_has_is_an_error(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"{name} of torch's DataLoader cannot be used"):
        getattr(as_data_loader(), name)


def test_what_a_data_loader_gets_in_its_constructor_does_not_exist() -> None:
    assert not hasattr(as_data_loader(), "collate_fn")


def test_attributes_may_be_assigned_even_those_of_a_data_loader() -> None:
    loader = as_data_loader()
    loader.batch_size, loader._iterator, loader.mine = 2, "set", 1
    assert (loader.batch_size, loader._iterator, loader.mine) == (2, "set", 1)
    del loader.batch_size
    assert not hasattr(loader, "batch_size")
