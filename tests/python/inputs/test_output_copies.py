"""Which outputs of a DALI pipeline are copied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

import fuelrail as fr
from fuelrail.inputs import SampleDataGroup
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.pipeline import PipelineDefinition
from fuelrail.inputs.pipeline.output_copies import Path, fields_to_copy
from fuelrail.inputs.processing_steps import PaddingToUniform

ALL: list[Path] = [
    ("image",),
    ("camera", "image"),
    ("camera", "label"),
    ("camera", "metadata", "label"),
    ("camera", "metadata", "score"),
    ("lidar", "points"),
    ("views", 0, "label"),
    ("views", 1, "label"),
]
METADATA = ALL[3:5]


def output() -> SampleDataGroup:
    metadata = SampleDataGroup()
    metadata.add_data_field("label", DataType.INT32)
    metadata.add_data_field("score", DataType.FLOAT)
    camera = SampleDataGroup()
    camera.add_data_field("image", DataType.UINT8)
    camera.add_data_field("label", DataType.INT32)
    camera.add_data_group_field("metadata", metadata)
    lidar = SampleDataGroup()
    lidar.add_data_field("points", DataType.FLOAT)
    view = SampleDataGroup()
    view.add_data_field("label", DataType.INT32)
    fields = SampleDataGroup()
    fields.add_data_field("image", DataType.UINT8)
    fields.add_data_group_field("camera", camera)
    fields.add_data_group_field("lidar", lidar)
    fields.add_data_group_field_array("views", view, 2)
    return fields


def labels(inside: Iterable[str | int] = ()) -> list[Path]:
    inside = tuple(inside)
    return [path for path in ALL if path[-1] == "label" and path[: len(inside)] == inside]


def test_without_a_selection_all_fields_are_copied() -> None:
    assert fields_to_copy(output()) == ALL
    assert fields_to_copy(output(), scope_paths=[]) == ALL


@pytest.mark.parametrize("selection", [{"names": []}, {"branch_paths": []}])
def test_an_empty_selection_copies_nothing(selection: dict[str, Any]) -> None:
    assert fields_to_copy(output(), **selection) == []


def test_a_name_selects_the_field_in_every_group() -> None:
    assert fields_to_copy(output(), ["label"]) == labels()


def test_the_name_of_a_group_selects_all_fields_in_it() -> None:
    assert fields_to_copy(output(), ["metadata"]) == METADATA
    assert fields_to_copy(output(), [1]) == [("views", 1, "label")]


def test_a_name_is_only_looked_for_inside_its_scopes() -> None:
    assert fields_to_copy(output(), ["label"], [("camera", "metadata")]) == labels(METADATA[0][:2])
    assert fields_to_copy(output(), ["label"], ["camera"]) == labels(["camera"])
    assert fields_to_copy(output(), ["label"], ["lidar", ("views", 0)]) == labels(["views", 0])
    assert fields_to_copy(output(), ["label"], []) == []


def test_the_name_of_the_scope_itself_selects_nothing() -> None:
    assert fields_to_copy(output(), ["camera"], ["camera"]) == []


def test_a_branch_is_a_field_or_all_fields_of_a_group() -> None:
    branches = [("lidar", "points"), ("camera", "metadata")]
    assert fields_to_copy(output(), branch_paths=branches) == [*METADATA, ("lidar", "points")]
    assert fields_to_copy(output(), branch_paths=["image", "views"]) == [ALL[0], *ALL[6:]]


def test_names_and_branches_add_up_without_repetition() -> None:
    both = fields_to_copy(output(), ["label"], branch_paths=[("camera", "metadata"), "image"])
    assert both == [path for path in ALL if path in {*labels(), *METADATA, ("image",)}]


def test_a_path_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"the path \('missing',\) does not exist"):
        fields_to_copy(output(), branch_paths=["missing"])
    with pytest.raises(ValueError, match="does not exist"):
        fields_to_copy(output(), branch_paths=[("image", "deeper")])
    with pytest.raises(ValueError, match="does not exist"):
        fields_to_copy(output(), ["label"], [("views", 2)])


def test_a_scope_that_is_a_field_is_an_error() -> None:
    with pytest.raises(ValueError, match="not that of a data group field"):
        fields_to_copy(output(), ["label"], ["image"])


def test_scopes_without_names_are_an_error() -> None:
    with pytest.raises(ValueError, match="needs non-empty passthrough_copy_field_names"):
        fields_to_copy(output(), scope_paths=["camera"])
    with pytest.raises(ValueError, match="needs non-empty passthrough_copy_field_names"):
        fields_to_copy(output(), [], ["camera"])


def test_a_name_that_no_field_has_is_a_warning() -> None:
    with pytest.warns(fr.FuelrailWarning, match="'lable', because no field has this name"):
        assert fields_to_copy(output(), ["lable", "points"]) == [("lidar", "points")]


# The arguments of PipelineDefinition, which needs no DALI until the pipeline is made.


class Source:
    """A source that is never called."""

    @property
    def used_sample_data_structure(self) -> SampleDataGroup:
        return output()

    def __call__(self, _: Any) -> Any:
        raise NotImplementedError


def definition(**arguments: Any) -> PipelineDefinition:
    return PipelineDefinition(Source(), **{"check_data_format": False, **arguments})


SELECTIONS: list[dict[str, Any]] = [
    {"passthrough_copy_field_names": ["label"]},
    {"passthrough_copy_field_names": []},
    {"passthrough_copy_field_names_scope_paths": ["camera"]},
    {"passthrough_copy_branch_paths": ["image"]},
]


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("copies", [None, False])
def test_a_selection_needs_copying(copies: bool | None, selection: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Pass copy_external_source_passthrough_outputs=True"):
        definition(copy_external_source_passthrough_outputs=copies, **selection)


def test_copying_by_default_warns() -> None:
    with pytest.warns(fr.FuelrailWarning, match="All outputs of the pipeline are copied"):
        definition()


@pytest.mark.parametrize("copies", [True, False])
def test_an_explicit_choice_does_not_warn(copies: bool) -> None:
    definition(copy_external_source_passthrough_outputs=copies)


def test_checking_types_warns_about_its_cost() -> None:
    with pytest.warns(fr.FuelrailWarning, match="takes time. Pass check_data_format=False"):
        definition(check_data_format=True, copy_external_source_passthrough_outputs=False)


def test_a_selection_that_does_not_fit_says_what_it_is_part_of() -> None:
    selecting = definition(
        copy_external_source_passthrough_outputs=True, passthrough_copy_branch_paths=["missing"]
    )
    with pytest.raises(ValueError, match=r"outputs to copy does not fit .* does not exist"):
        selecting.check_and_get_output_data_structure()


@pytest.mark.parametrize("argument", ["field_names", "field_names_scope_paths", "branch_paths"])
def test_a_name_that_is_not_in_a_list_is_not_read_as_letters(argument: str) -> None:
    with pytest.raises(TypeError, match=f"passthrough_copy_{argument} has the wrong type"):
        definition(
            copy_external_source_passthrough_outputs=True,
            **{f"passthrough_copy_{argument}": "label"},
        )


def test_a_source_without_fields_is_an_error() -> None:
    class Empty(Source):
        used_sample_data_structure = SampleDataGroup()

    empty = PipelineDefinition(
        Empty(), check_data_format=False, copy_external_source_passthrough_outputs=True
    )
    with pytest.raises(ValueError, match="the source's samples have no data fields"):
        empty.check_and_get_output_data_structure()


@pytest.mark.parametrize("source", [None, [], lambda _: (), object()])
def test_a_source_without_its_fields_is_an_error(source: Any) -> None:
    with pytest.raises(TypeError, match="expected a CallableBase or an IterableBase"):
        PipelineDefinition(source)


@pytest.mark.parametrize("step", ["image", PaddingToUniform, lambda sample: sample])
def test_a_step_without_a_format_check_is_an_error(step: Any) -> None:
    with pytest.raises(TypeError, match="a step of preprocess_functors has the wrong type"):
        PipelineDefinition(Source(), [None, step])
