"""ACCV-Lab's structured inputs: samples of many fields, from a provider to DALI or to our loader.

docs/inputs.md is the guide.
"""

from __future__ import annotations

from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["DataType", "SampleDataGroup"]
