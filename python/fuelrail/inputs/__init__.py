"""ACCV-Lab's structured inputs: samples of many fields, from a data provider to DALI pipelines and
to fuelrail's loader. A program written for ACCV-Lab only needs to change its imports.

>>> from fuelrail.inputs import DataProvider, ShuffledShardedInputCallable
>>> from fuelrail.inputs.pipeline import PipelineDefinition, SampleDataGroup

Neither DALI nor torch is imported before it is used. docs/inputs.md is the guide.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

try:
    import numpy  # noqa: F401  values are NumPy arrays
except ImportError as absent:
    raise ImportError(
        "fuelrail.inputs returns values as NumPy arrays, but NumPy is not installed. Install it "
        "with `pip install numpy`."
    ) from absent

from fuelrail.inputs.callable_base import CallableBase
from fuelrail.inputs.data_provider import DataProvider
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import ExhaustedError, FieldError, InputArgumentError, ProviderError
from fuelrail.inputs.iterable_base import IterableBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.inputs.sampler_base import SamplerBase
from fuelrail.inputs.sampler_input_callable import SamplerInputCallable
from fuelrail.inputs.sampler_input_iterable import SamplerInputIterable
from fuelrail.inputs.sequence_sampler import SequenceSampler
from fuelrail.inputs.sfuffled_sharded_input_callable import ShuffledShardedInputCallable

__all__ = [
    "CallableBase",
    "DataProvider",
    "DataType",
    "ExhaustedError",
    "FieldError",
    "InputArgumentError",
    "IterableBase",
    "ProviderError",
    "SampleDataGroup",
    "SamplerBase",
    "SamplerInputCallable",
    "SamplerInputIterable",
    "SequenceSampler",
    "ShuffledShardedInputCallable",
]


if not TYPE_CHECKING:  # so that type checkers still report unknown attributes

    def __getattr__(name: str) -> Any:
        if name in ("internal_helpers", "pipeline", "processing_steps"):
            return importlib.import_module(f"fuelrail.inputs.{name}")
        raise AttributeError(f"module 'fuelrail.inputs' has no attribute '{name}'")
