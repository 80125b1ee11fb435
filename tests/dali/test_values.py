"""Values and texts pass through DALI unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_pipelines import loader_of
from fuelrail.inputs import DataProvider, SampleDataGroup, ShuffledShardedInputCallable
from fuelrail.inputs.data_type import DataType
from structured_sources import TEXTS, Numbered

NUMBERS = [kind for kind in DataType if kind is not DataType.STRING]
# The types that DALI's iterator for torch has.
TORCH = {"BOOL", "FLOAT", "FLOAT16", "FLOAT64", "INT8", "INT16", "INT32", "INT64", "UINT8"}


class OneField(DataProvider):
    """A sample for each value of one field."""

    def __init__(self, kind: DataType, values: list[Any]) -> None:
        self._kind, self._values = kind, values

    @property
    def sample_data_structure(self) -> SampleDataGroup:
        fields = SampleDataGroup()
        fields.add_data_field("value", self._kind)
        return fields

    def get_number_of_samples(self) -> int:
        return len(self._values)

    def get_data(self, sample_index: int) -> SampleDataGroup:
        sample = self.sample_data_structure
        sample["value"] = self._values[sample_index]
        return sample


class Padded:
    """A step that pads all fields with 7."""

    def check_input_data_format_and_set_output_data_format(
        self, fields: SampleDataGroup
    ) -> SampleDataGroup:
        return fields

    def __call__(self, sample: SampleDataGroup) -> SampleDataGroup:
        sample.ensure_uniform_size_in_batch(7)
        return sample


def batch_of(kind: DataType, values: list[Any], steps: Any = (), **options: Any) -> Any:
    source = ShuffledShardedInputCallable(OneField(kind, values), len(values))
    return next(iter(loader_of(source, len(values), steps, **options)))["value"]


@pytest.mark.parametrize(
    ("kind", "torch"),
    [(kind, False) for kind in NUMBERS] + [(kind, True) for kind in NUMBERS if kind.name in TORCH],
    ids=str,
)
def test_numbers_of_every_type_arrive_as_themselves(kind: DataType, torch: bool) -> None:
    dtype = np.dtype(SampleDataGroup.get_numpy_type_for_dali_type(kind))
    if dtype.kind == "f":
        ends = [np.finfo(dtype).min, np.finfo(dtype).max]
    elif dtype.kind == "b":
        ends = [False, True]
    else:
        ends = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    values = [np.array([[end, 1, 0]], dtype) for end in ends]
    batch = np.asarray(batch_of(kind, values, torch=torch))
    assert batch.dtype == dtype
    assert np.array_equal(batch, np.stack(values))


@pytest.mark.parametrize("shape", [(), (0,), (0, 4), (2, 0), (1, 1, 1)])
def test_scalars_and_empty_arrays_keep_their_shape(shape: tuple[int, ...]) -> None:
    batch = batch_of(DataType.FLOAT, [np.ones(shape, np.float32)] * 2)
    assert batch.shape == (2, *shape)


def test_arrays_of_any_memory_layout_keep_their_values() -> None:
    whole = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    values = [
        whole[:, ::-1, 1::2],
        np.asfortranarray(whole)[:, :, :2],
        whole.astype(">i4")[..., 2:],
    ]
    assert np.array_equal(batch_of(DataType.INT32, values), np.stack(values))


@pytest.mark.parametrize(("torch", "method"), [(False, "fork"), (True, "fork"), (True, "spawn")])
def test_texts_of_differing_length_come_back(torch: bool, method: str) -> None:
    source = ShuffledShardedInputCallable(Numbered(len(TEXTS)), len(TEXTS))
    loader = loader_of(source, len(TEXTS), torch=torch, method=method)
    [batch] = loader
    assert batch["text"] == TEXTS


def test_a_batch_of_empty_texts_comes_back() -> None:
    assert batch_of(DataType.STRING, ["", ""]) == ["", ""]


def test_nul_characters_at_the_end_of_a_text_are_lost_to_padding() -> None:
    assert batch_of(DataType.STRING, ["a\0", "bcd", "\0e"]) == ["a", "bcd", "\0e"]


def test_fields_are_padded_at_their_ends() -> None:
    values = [np.full((rows, 2), rows, np.int32) for rows in (0, 1, 3)]
    batch = batch_of(DataType.INT32, values, [Padded()])
    assert batch[..., 0].tolist() == [[7, 7, 7], [1, 7, 7], [3, 3, 3]]


def test_texts_are_padded_with_nuls_whatever_the_fill_value() -> None:
    assert batch_of(DataType.STRING, ["a", "bcd", ""], [Padded()]) == ["a", "bcd", ""]


def test_shapes_that_differ_are_an_error_that_names_the_field() -> None:
    values = [np.ones((rows, 2), np.float32) for rows in (1, 3)]
    with pytest.raises(ValueError, match=r"field 'value': .* differ in shape: found \(1, 2\) and"):
        batch_of(DataType.FLOAT, values)
