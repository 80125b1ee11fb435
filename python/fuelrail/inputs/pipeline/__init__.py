"""Pipelines of NVIDIA DALI whose samples are described once, by a data provider.

`PipelineDefinition` makes a DALI pipeline of a source and of processing steps, and
`DALIStructuredOutputIterator` returns its batches as nested dicts. DALI is imported when a pipeline
is made; install it with ``pip install "fuelrail[dali]"``.
"""

from __future__ import annotations

from fuelrail.inputs.pipeline.dali_structured_output_iterator import DALIStructuredOutputIterator
from fuelrail.inputs.pipeline.numpy_iterator import NumPyIterator
from fuelrail.inputs.pipeline.pipeline import PipelineDefinition
from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = [
    "DALIStructuredOutputIterator",
    "NumPyIterator",
    "PipelineDefinition",
    "SampleDataGroup",
]
