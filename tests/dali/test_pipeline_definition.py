"""PipelineDefinition: steps, checks and copies in a graph."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from nvidia.dali import fn
from nvidia.dali.types import DALIDataType

import fuelrail as fr
from dali_pipelines import loader_of
from fuelrail.inputs import SampleDataGroup, ShuffledShardedInputCallable
from fuelrail.inputs.pipeline import PipelineDefinition
from structured_sources import Handmade, HandmadeBatches, Numbered, two_fields

FLOAT, INT32 = DALIDataType.FLOAT, DALIDataType.INT32


class Replaced:
    """A step that replaces the field `id`.

    promised: the type of the field after the step, as its format check says.
    """

    def __init__(self, replacement: Any, promised: DALIDataType = INT32) -> None:
        self._replacement, self._promised = replacement, promised

    def check_input_data_format_and_set_output_data_format(
        self, fields: SampleDataGroup
    ) -> SampleDataGroup:
        fields = fields.get_empty_like_self()
        fields.change_type_of_data_and_remove_data("id", self._promised)
        return fields

    def __call__(self, sample: SampleDataGroup) -> SampleDataGroup:
        value = self._replacement(sample["id"])
        sample.change_type_of_data_and_remove_data("id", self._promised)
        sample["id"] = value
        return sample


def halved(value: Any) -> Any:
    return fn.cast(value, dtype=FLOAT) / 2.0


def doubled_if_large(value: Any) -> Any:
    if value > 3:
        value = value * 2
    return value


class SharedBlueprint(Handmade):
    """Gives the same blueprint each time."""

    used_sample_data_structure = two_fields()


def ids(loader: Any) -> list[Any]:
    return [batch["id"].tolist() for batch in loader]


def test_steps_run_in_their_order_and_none_is_no_step() -> None:
    steps = [None, Replaced(lambda value: value + 10), Replaced(halved, FLOAT), None]
    loader = loader_of(Handmade(), 4, steps)
    assert ids(loader) == [[5.0, 5.5, 6.0, 6.5], [7.0, 7.5, 8.0, 8.5]]
    assert loader.sample_data_structure_blueprint.get_type_of_field("id").name == "FLOAT"


def test_a_step_may_branch_on_values_of_the_graph() -> None:
    loader = loader_of(
        Handmade(), 4, [Replaced(doubled_if_large)], options={"enable_conditionals": True}
    )
    assert ids(loader) == [[0, 1, 2, 3], [8, 10, 12, 14]]


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("source", [Handmade(), HandmadeBatches()])
def test_a_callable_gives_samples_and_an_iterable_batches(source: Any, parallel: bool) -> None:
    loader = loader_of(source, 2, use_parallel_external_source=parallel)
    assert [ids(loader) for _ in range(2)] == [[[0, 1], [2, 3], [4, 5], [6, 7]]] * 2


def test_a_wrong_type_in_the_graph_is_an_error_only_with_checks() -> None:
    wrong = [Replaced(halved, INT32)]
    assert ids(loader_of(Handmade(), 8, wrong)) == [[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]]
    said = "Expected type int32 for the field 'id', but its actual data type is float32"
    with (
        pytest.warns(fr.FuelrailWarning, match="takes time"),
        pytest.raises(RuntimeError, match=said),
    ):
        next(iter(loader_of(Handmade(), 8, wrong, check_data_format=True)))


def test_checks_leave_values_and_layouts_as_they_are() -> None:
    layouts: list[Any] = []

    def seen(value: Any) -> Any:
        layouts.append(value)
        return fn.reshape(value, layout="")

    steps = [Replaced(lambda value: fn.reshape(value, shape=[1], layout="X")), Replaced(seen)]
    with pytest.warns(fr.FuelrailWarning, match="takes time"):
        loader = loader_of(Handmade(), 4, steps, check_data_format=True)
    assert ids(loader) == [[[0], [1], [2], [3]], [[4], [5], [6], [7]]]
    assert len(layouts) == 1


def test_the_formats_are_printed_before_and_after_each_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    loader_of(Handmade(), 4, [Replaced(halved, FLOAT)], print_sample_data_group_format=True)
    printed = capsys.readouterr().out
    before, after = printed.split("Fields after step 1, Replaced:\n")
    assert before.startswith("Fields of the source:\n")
    assert "INT32" in before
    assert "INT32" not in after


def test_a_step_that_refuses_the_fields_is_reported_before_any_data_is_loaded() -> None:
    definition = PipelineDefinition(
        Handmade(0, "never loaded"),
        [Replaced(halved, "float")],  # type: ignore[arg-type]
        check_data_format=False,
        copy_external_source_passthrough_outputs=True,
    )
    for check in (
        definition.check_and_get_output_data_structure,
        lambda: definition.get_dali_pipeline(batch_size=1, num_threads=1),
    ):
        with pytest.raises(ValueError, match="the type of a data field is invalid"):
            check()


@pytest.mark.parametrize("conditionals", [False, True])
def test_an_error_in_a_step_keeps_its_class(conditionals: bool) -> None:
    class Missing(Replaced):
        def __call__(self, sample: SampleDataGroup) -> SampleDataGroup:
            sample["missing"] = sample["id"]
            return sample

    with pytest.raises(KeyError, match="No field with name 'missing'"):
        loader_of(Handmade(), 2, [Missing(halved)], options={"enable_conditionals": conditionals})


def test_an_error_that_a_step_makes_of_another_one_is_its_own() -> None:
    class Renaming(Replaced):
        def __call__(self, sample: SampleDataGroup) -> SampleDataGroup:
            try:
                return sample["missing"]  # type: ignore[no-any-return]
            except KeyError as error:
                raise ZeroDivisionError("of the step") from error

    with pytest.raises(ZeroDivisionError, match="of the step"):
        loader_of(Handmade(), 2, [Renaming(halved)])


def test_the_source_keeps_its_blueprint() -> None:
    source = SharedBlueprint()
    before = str(source.used_sample_data_structure)
    with pytest.warns(fr.FuelrailWarning, match="takes time"):
        loader = loader_of(source, 4, check_data_format=True)
    assert ids(loader) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert str(source.used_sample_data_structure) == before


def copies_in_the_graph(folder: pathlib.Path, **selection: Any) -> int:
    definition = PipelineDefinition(Handmade(), check_data_format=False, **selection)
    pipeline = definition.get_dali_pipeline(batch_size=1, num_threads=1)
    pipeline.build()
    pipeline.save_graph_to_dot_file(str(folder / "graph.dot"))
    return (folder / "graph.dot").read_text().count("-> __Copy")


def test_the_graph_copies_the_selected_outputs(tmp_path: pathlib.Path) -> None:
    def copies(**selection: Any) -> int:
        return copies_in_the_graph(
            tmp_path, copy_external_source_passthrough_outputs=True, **selection
        )

    assert copies() == 2
    assert copies(passthrough_copy_field_names=["id"]) == 1
    assert copies(passthrough_copy_branch_paths=["matrix"]) == 1
    assert copies(passthrough_copy_branch_paths=[]) == 0
    assert copies_in_the_graph(tmp_path, copy_external_source_passthrough_outputs=False) == 0


@pytest.mark.parametrize("copies", [True, False])
def test_batches_that_are_kept_are_not_overwritten(copies: bool) -> None:
    """DALI 1.53 lists as a known issue that they could be, without copies."""
    source = ShuffledShardedInputCallable(Numbered(64), 1)
    loader = loader_of(source, 1, ahead=2, copy_external_source_passthrough_outputs=copies)
    kept = list(loader)
    assert ids(kept) == [[i] for i in range(64)]
    assert [batch["cameras"][1]["boxes"][0, 0, 0] for batch in kept] == list(range(100, 164))
