"""Providers and sources of structured samples, in a module that worker processes can import."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fuelrail.inputs import DataProvider, SampleDataGroup
from fuelrail.inputs.data_type import DataType

TEXTS = ["plain", "", "a\0b", "\0leading", "Grüße", "😀 and 漢字", "x" * 300]


class Numbered(DataProvider):
    """Samples with their number, scalar and in boxes, and a text."""

    def __init__(self, samples: int) -> None:
        self._samples = samples

    @property
    def sample_data_structure(self) -> SampleDataGroup:
        camera = SampleDataGroup()
        camera.add_data_field("boxes", DataType.FLOAT)
        fields = SampleDataGroup()
        fields.add_data_field("id", DataType.INT32)
        fields.add_data_field("text", DataType.STRING)
        fields.add_data_group_field_array("cameras", camera, 2)
        return fields

    def get_number_of_samples(self) -> int:
        return self._samples

    def get_data(self, sample_index: int) -> SampleDataGroup:
        sample = self.sample_data_structure
        sample["id"] = sample_index
        sample["text"] = TEXTS[sample_index % len(TEXTS)]
        for i in range(2):
            sample["cameras"][i]["boxes"] = np.full((3, 4), sample_index + 100 * i, np.float32)
        return sample


class Raising(Numbered):
    """Raises an error for one sample."""

    def __init__(self, samples: int, bad: int, error: Exception) -> None:
        super().__init__(samples)
        self._bad, self._error = bad, error

    def get_data(self, sample_index: int) -> SampleDataGroup:
        if sample_index == self._bad:
            raise self._error
        return super().get_data(sample_index)


class Leaving(Numbered):
    """Ends the process at one sample."""

    def __init__(self, samples: int, bad: int) -> None:
        super().__init__(samples)
        self._bad = bad

    def get_data(self, sample_index: int) -> SampleDataGroup:
        if sample_index == self._bad:
            os._exit(3)
        return super().get_data(sample_index)


def two_fields() -> SampleDataGroup:
    fields = SampleDataGroup()
    fields.add_data_field("matrix", DataType.FLOAT)
    fields.add_data_field("id", DataType.INT32)
    return fields


class Handmade:
    """A callable that is not derived from CallableBase: 8 samples, of which one is replaced."""

    def __init__(self, number: int = -1, replaced: Any = None) -> None:
        self._number, self._replaced = number, replaced

    @property
    def used_sample_data_structure(self) -> SampleDataGroup:
        return two_fields()

    def __call__(self, sample_info: Any) -> Any:
        number = sample_info.idx_in_epoch
        if number >= 8:
            raise StopIteration
        if number == self._number:
            return self._replaced
        return np.eye(2, dtype=np.float32), np.array(number, np.int32)


class HandmadeBatches:
    """An iterable of 4 batches of 2, of which one is replaced."""

    def __init__(self, number: int = -1, replaced: Any = None) -> None:
        self._number, self._replaced = number, replaced

    @property
    def used_sample_data_structure(self) -> SampleDataGroup:
        return two_fields()

    def __iter__(self) -> HandmadeBatches:
        self._next = 0
        return self

    def __next__(self) -> Any:
        number = self._next
        if number >= 4:
            raise StopIteration
        self._next += 1
        if number == self._number:
            return self._replaced
        ids = [np.array(2 * number + i, np.int32) for i in range(2)]
        return [np.eye(2, dtype=np.float32)] * 2, ids
