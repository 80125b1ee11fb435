"""Structured samples in DALI pipelines."""

from __future__ import annotations

from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["SampleDataGroup"]
