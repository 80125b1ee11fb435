"""Pipelines of DALI where DALI is not installed: one line says what to do, when it is needed."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from fuelrail.inputs.pipeline import (
    DALIStructuredOutputIterator,
    PipelineDefinition,
    SampleDataGroup,
)
from structured_sources import Handmade

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nvidia") is not None, reason="DALI may be installed"
)
MISSING = (
    "^fuelrail.inputs needs NVIDIA DALI, which is not installed. Install it with `pip install "
    r'"fuelrail\[dali\]"`\.$'
)


def definition() -> PipelineDefinition:
    return PipelineDefinition(
        Handmade(), check_data_format=False, copy_external_source_passthrough_outputs=True
    )


def test_the_fields_of_the_output_are_known() -> None:
    fields = definition().check_and_get_output_data_structure()
    assert isinstance(fields, SampleDataGroup)
    assert fields.field_names_flat == ("matrix", "id")


def test_making_a_pipeline_says_how_to_install_dali() -> None:
    with pytest.raises(ImportError, match=MISSING):
        definition().get_dali_pipeline(batch_size=1, num_threads=1)


def test_iterating_says_how_to_install_dali() -> None:
    pipeline: Any = None
    with pytest.raises(ImportError, match=MISSING):
        DALIStructuredOutputIterator(1, pipeline, definition().input_data_structure)
