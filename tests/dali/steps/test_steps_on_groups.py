"""Steps of a program's own, applied to groups, and steps on fields of any content."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from nvidia.dali import fn

from fuelrail.inputs import DataType, SampleDataGroup
from fuelrail.inputs.internal_helpers import (
    check_type,
    get_as_data_node,
    get_mapped,
    print_tensor_op,
    print_tensor_size_op,
)
from fuelrail.inputs.processing_steps import (
    DataGroupArrayInPathElementsAppliedStep,
    DataGroupArrayWithNameElementsAppliedStep,
    DataGroupInPathAppliedStep,
    DataGroupsWithNameAppliedStep,
    PaddingToUniform,
    PipelineStepBase,
    UnneededFieldRemover,
)
from fuelrail.inputs.processing_steps.field_steps import TensorSizeAdder
from step_samples import after, batch_of


class Noisy(PipelineStepBase):
    """Adds the same random number to all fields `x`, and a field `y`."""

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        noise = fn.random.uniform(range=[1.0, 2.0])
        for path in data.find_all_occurrences("x"):
            data.set_item_in_path(path, data.get_item_in_path(path) + noise)
        if noise > 0:  # noqa: SIM108, because DALI knows statements only
            number = get_as_data_node(7)
        else:
            number = get_as_data_node(8)
        data.add_data_field("y", DataType.INT32)
        data["y"] = number
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        data_empty.add_data_field("y", DataType.INT32)
        return data_empty


class Untrue(Noisy):
    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        return data_empty


ZERO = {"x": np.zeros(2, np.float32)}
SAMPLE = {
    "x": ZERO["x"],
    "group": {"x": ZERO["x"], "array": {0: ZERO, 1: ZERO}},
    "array": {0: ZERO},
}


@pytest.mark.parametrize(
    ("step", "changed"),
    [
        (DataGroupInPathAppliedStep(Noisy(), "group"), [("group",)]),
        (DataGroupInPathAppliedStep(Noisy(), ["group", "array", 1]), [("group", "array", 1)]),
        (DataGroupsWithNameAppliedStep(Noisy(), 0), [("array", 0), ("group", "array", 0)]),
        (
            DataGroupArrayInPathElementsAppliedStep(Noisy(), ("group", "array")),
            [("group", "array", 0), ("group", "array", 1)],
        ),
        (
            DataGroupArrayWithNameElementsAppliedStep(Noisy(), "array"),
            [("array", 0), ("group", "array", 0), ("group", "array", 1)],
        ),
    ],
)
def test_a_step_changes_the_selected_groups_independently(step: Any, changed: list[Any]) -> None:
    batch = batch_of(step, SAMPLE)

    def value(path: Any) -> Any:
        found: Any = batch
        for name in path:
            found = found[name]
        return found

    numbers = [value((*path, "x"))[0, 0] for path in changed]
    assert len(set(numbers)) == len(changed)
    assert min(numbers) >= 1
    assert all(value((*path, "y")).tolist() == [7] for path in changed)
    assert batch["x"].tolist() == [[0, 0]]
    inner = batch["group"]["array"][1]["x"][0, 0]
    assert inner == {"group": numbers[0], 1: numbers[-1]}.get(changed[-1][-1], 0)


def test_the_format_is_that_of_the_contained_step_in_its_place() -> None:
    fields = after(DataGroupsWithNameAppliedStep(Noisy(), "array"), SAMPLE)
    assert fields.contained_top_level_field_names == ("x", "group", "array")
    assert fields["group"]["array"].contained_top_level_field_names == (0, 1, "y")
    assert not fields["group"]["array"][0].has_child("y")


def test_a_step_that_breaks_its_promise_is_an_assertion_error() -> None:
    with pytest.raises(AssertionError, match="Untrue gives other fields"):
        batch_of(Untrue(), SAMPLE)


def test_fields_are_padded_in_a_batch() -> None:
    samples: list[dict[Any, Any]] = [
        {"a": np.ones((n, 2), np.float32), "group": {"b": np.ones(n, np.int32), "text": "abc"[:n]}}
        for n in (1, 3, 0)
    ]
    batch = batch_of(PaddingToUniform(fill_value=-1), *samples)
    assert batch["a"].shape == (3, 3, 2)
    assert batch["group"]["b"].tolist() == [[1, -1, -1], [1, 1, 1], [-1, -1, -1]]
    assert batch["group"]["text"] == ["a", "abc", ""]
    some = [{**sample, "a": samples[1]["a"]} for sample in samples]
    assert batch_of(PaddingToUniform("group"), *some)["group"]["b"].shape == (3, 3)
    batch = batch_of(PaddingToUniform(["b", "text"], -1), *some)
    assert batch["group"]["b"].tolist()[2] == [-1, -1, -1]
    assert batch["group"]["text"] == ["a", "abc", ""]


def test_fields_are_removed_everywhere() -> None:
    with pytest.warns(Warning, match="outputs at the indices 2, 3, 4 are not used"):
        batch = batch_of(UnneededFieldRemover(["array", "nothing"]), SAMPLE)
    assert set(batch) == {"x", "group"}


def test_sizes_are_added_beside_images() -> None:
    image = np.zeros((4, 6, 3), np.uint8)
    step = TensorSizeAdder("image", "_hw", DataType.INT64)
    batch = batch_of(step, {"camera": {"image": image}})
    assert batch["camera"]["image_hw"].tolist() == [[4, 6]]
    assert batch["camera"]["image_hw"].dtype == np.int64
    with pytest.raises(KeyError, match="adds the field 'image_hw', which exists already"):
        after(step, {"image": image, "image_hw": image})


class Helped(PipelineStepBase):
    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        node = check_type(data["x"], np.float32, "x")
        print_tensor_op(node, "x of a step")
        print_tensor_size_op(node, "size of x")
        data["x"] = node + get_as_data_node([[1.5, 2.5]])[0]
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        return data_empty


def test_helpers_check_print_and_make_constants(capfd: pytest.CaptureFixture[str]) -> None:
    assert batch_of(Helped(), ZERO)["x"].tolist() == [[1.5, 2.5]]
    printed = capfd.readouterr().out
    assert "x of a step[0]: float32 [2]\n[0. 0.]" in printed
    assert "size of x[0]: float32 [2]\n" in printed
    with pytest.raises(RuntimeError, match="Expected type float32"):
        batch_of(Helped(), {"x": np.zeros(2)})
    for wrong in ("text", 2**31):
        with pytest.raises(ValueError, match="the constant of a graph"):
            get_as_data_node(wrong)


def test_values_are_mapped_to_numbers() -> None:
    mapping = {"car": 1, None: 0}
    assert get_mapped(["car", ("bus", "car")], mapping) == [1, [0, 1]]
    assert get_mapped("car", mapping, encapsulate=True) == [1]
    with pytest.raises(KeyError, match="not in the mapping"):
        get_mapped("bus", {"car": 1})


@pytest.mark.parametrize("dynamic", [False, True])
def test_steps_run_in_both_executors_of_dali(dynamic: bool) -> None:
    batch = batch_of(DataGroupsWithNameAppliedStep(Noisy(), 0), SAMPLE, exec_dynamic=dynamic)
    assert batch["array"][0]["y"].tolist() == [7]
