"""Samples that go through processing steps of a DALI pipeline on the CPU. Needs DALI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dali_pipelines import loader_of
from fuelrail.inputs import DataType, SampleDataGroup

TYPES = {kind.dtype: kind for kind in reversed(DataType) if kind is not DataType.STRING}


class Samples:
    """A source of given samples, as nested dicts of arrays and texts of equal structure."""

    def __init__(self, samples: Sequence[Mapping[Any, Any]]) -> None:
        self.length = 1
        self._samples = [sample_of(sample) for sample in samples]

    @property
    def used_sample_data_structure(self) -> SampleDataGroup:
        return self._samples[0].get_empty_like_self()

    def __call__(self, info: Any) -> tuple[Any, ...]:
        if info.idx_in_epoch >= len(self._samples):
            raise StopIteration
        values: tuple[Any, ...] = self._samples[info.idx_in_epoch].get_data()
        return values


def sample_of(values: Mapping[Any, Any]) -> SampleDataGroup:
    sample = SampleDataGroup()
    for name, value in values.items():
        if isinstance(value, Mapping):
            sample.add_data_group_field(name, sample_of(value))
            sample[name] = sample_of(value)
        elif isinstance(value, str):
            sample.add_data_field(name, DataType.STRING)
            sample[name] = value
        else:
            sample.add_data_field(name, TYPES[np.asarray(value).dtype])
            sample[name] = value
    return sample


def batch_of(steps: Any, *samples: Mapping[Any, Any], **options: Any) -> dict[Any, Any]:
    """One batch of the samples after a step, or after several."""
    listed = steps if isinstance(steps, list) else [steps]
    options = {"enable_conditionals": True, **options}
    loader = loader_of(
        Samples(samples), len(samples), listed, options=options, use_parallel_external_source=False
    )
    batch: dict[Any, Any] = next(iter(loader))
    return batch


def after(step: Any, sample: Mapping[Any, Any]) -> SampleDataGroup:
    """The format of a sample after a step, without a pipeline."""
    fields: SampleDataGroup = step.check_input_data_format_and_set_output_data_format(
        sample_of(sample)
    )
    return fields
