"""The format of samples: fields, paths, copies, the flat form, and errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.inputs import DataType, FieldError, InputArgumentError, SampleDataGroup


def detection() -> SampleDataGroup:
    annotation = SampleDataGroup()
    annotation.add_data_field("boxes", DataType.FLOAT)
    annotation.add_data_field("label", DataType.INT32, {"car": 0, "bus": 1, None: -1})
    camera = SampleDataGroup()
    camera.add_data_field("image", DataType.UINT8)
    camera.add_data_group_field("annotation", annotation)
    sample = SampleDataGroup()
    sample.add_data_field("id", DataType.INT64)
    sample.add_data_group_field_array("cameras", camera, 2)
    sample.add_data_field_array("scores", DataType.FLOAT16, 2)
    sample.add_data_field("scene", DataType.STRING)
    return sample


FLAT = (
    "id",
    *("cameras.[0].image", "cameras.[0].annotation.boxes", "cameras.[0].annotation.label"),
    *("cameras.[1].image", "cameras.[1].annotation.boxes", "cameras.[1].annotation.label"),
    *("scores.[0]", "scores.[1]", "scene"),
)


# --- The flat form ---


def test_flat_names_and_types_are_depth_first_in_order_of_insertion() -> None:
    sample = detection()
    assert sample.field_names_flat == FLAT
    camera = (DataType.UINT8, DataType.FLOAT, DataType.INT32)
    assert sample.field_types_flat == (
        *(DataType.INT64, *camera, *camera, DataType.FLOAT16, DataType.FLOAT16),
        DataType.UINT8,  # text, as it is stored
    )


def test_groups_without_data_fields_vanish_from_the_flat_form() -> None:
    sample = SampleDataGroup()
    sample.add_data_group_field("empty", SampleDataGroup())
    sample.add_data_field("x", DataType.BOOL)
    assert sample.field_names_flat == ("x",)
    assert sample.get_data() == (None,)
    assert len(sample) == 2


def test_two_fields_of_one_flat_name_are_an_error() -> None:
    inner = SampleDataGroup()
    inner.add_data_field("b", DataType.BOOL)
    sample = SampleDataGroup()
    sample.add_data_group_field("a", inner)
    sample.add_data_field("a.b", DataType.BOOL)
    with pytest.raises(FieldError, match=r"two fields have the flat name 'a\.b'"):
        _ = sample.field_names_flat


def test_data_of_one_group_fills_another_of_the_same_format() -> None:
    sample, other = detection(), detection()
    sample["id"] = 7
    sample["cameras"][1]["annotation"]["label"] = ["bus", "tram"]
    sample["scene"] = "crossing"
    assert other.set_data(sample.get_data()) is other
    assert other["id"] == 7
    assert other["cameras"][1]["annotation"]["label"].tolist() == [1, -1]
    assert other["scene"] == "crossing"
    assert isinstance(sample.get_data(), tuple)
    assert isinstance(sample.get_data(as_list_type=True), list)


def test_set_data_checks_the_number_of_values() -> None:
    sample = detection()
    with pytest.raises(IndexError, match="expected 10: id, cameras"):
        sample.set_data(range(9))
    with pytest.raises(fr.OutOfRangeError):
        sample.set_data([])
    with pytest.raises(ValueError, match="found 11"):
        sample.set_data(range(11))


def test_the_output_of_an_iterator_is_read_by_flat_name() -> None:
    sample = detection()
    output = [{}, {name: number for number, name in enumerate(reversed(FLAT))}]
    sample.set_data_from_dali_generic_iterator_output(output, 1)
    assert sample["id"] == 9
    assert sample["scores"][1] == 1
    del output[1]["scores.[0]"]
    with pytest.raises(KeyError, match=r"the output has no field 'scores\.\[0\]'"):
        sample.set_data_from_dali_generic_iterator_output(output, 1)


def test_get_data_gives_arrays_in_native_byte_order_and_never_scalars() -> None:
    sample = SampleDataGroup()
    for name in ("foreign", "number", "scalar"):
        sample.add_data_field(name, DataType.INT32)
    sample.set_do_convert(False)
    sample["foreign"] = np.array([1, 2], ">i4")
    sample["number"] = 3
    sample["scalar"] = np.int32(4)
    foreign, number, scalar = sample.get_data()
    assert foreign.dtype.isnative
    assert foreign.tolist() == [1, 2]
    for value, expected in ((number, 3), (scalar, 4)):
        assert isinstance(value, np.ndarray)
        assert (value.dtype, value.shape, value.item()) == (np.int32, (), expected)


# --- Children ---


def test_a_group_is_iterated_like_a_mapping() -> None:
    sample = detection()
    assert list(sample) == ["id", "cameras", "scores", "scene"]
    assert list(sample.keys()) == list(sample.contained_top_level_field_names)
    assert "id" in sample
    assert "image" not in sample
    assert 0 in sample["cameras"]
    assert ["id"] not in sample
    sample["id"] = 3
    assert [name for name, _ in sample.items()] == list(sample)
    assert sample.values()[0] == 3
    assert len(sample) == 4


def test_types_of_children_are_data_types_or_the_class_of_groups() -> None:
    sample = detection()
    types = (DataType.INT64, SampleDataGroup, SampleDataGroup, DataType.STRING)
    assert sample.field_top_level_types == types
    assert sample.get_type_of_field("scene") == DataType.STRING
    assert sample.get_type_of_item_in_path(["cameras", 0, "image"]) == DataType.UINT8
    assert sample.get_type_of_item_in_path(()) == SampleDataGroup
    with pytest.raises(AssertionError, match="expected a list or tuple"):
        sample.get_type_of_item_in_path("id")


def test_a_name_that_exists_is_refused() -> None:
    sample = detection()
    add: list[Callable[[], None]] = [
        lambda: sample.add_data_field("id", DataType.BOOL),
        lambda: sample.add_data_group_field("id", SampleDataGroup()),
        lambda: sample.add_data_field_array("id", DataType.BOOL, 2),
        lambda: sample.add_data_group_field_array("id", SampleDataGroup(), 2),
    ]
    for call in add:
        with pytest.raises(KeyError, match="the group has a field 'id' already"):
            call()
    assert sample.type_matches(detection())


@pytest.mark.parametrize("name", [1.5, None, ("a", "b"), b"x"])
def test_names_are_text_or_integers(name: Any) -> None:
    sample = SampleDataGroup()
    with pytest.raises(AssertionError, match="expected a str or an int"):
        sample.add_data_field(name, DataType.BOOL)
    with pytest.raises(InputArgumentError):
        sample[name]
    with pytest.raises(InputArgumentError):
        sample[name] = 1
    assert name not in sample


def test_integers_of_numpy_are_names() -> None:
    group = SampleDataGroup.create_data_field_array(DataType.INT32, 2)
    for place in np.arange(2):
        group[place] = place
        assert place in group
        assert group.path_exists((place,))
        assert group.get_item_in_path(place) == group.get_item_in_path([place]) == place
    group.add_data_field(np.int64(2), DataType.INT32)
    assert group.is_array()
    assert {type(name) for name in group} == {int}
    assert group.field_names_flat == ("[0]", "[1]", "[2]")


@pytest.mark.parametrize("kind", [SampleDataGroup, SampleDataGroup(), np.float32, "FLOAT", 9, None])
def test_a_type_that_is_no_data_type_is_refused(kind: Any) -> None:
    sample = SampleDataGroup()
    with pytest.raises(AssertionError, match="the type of a data field is invalid"):
        sample.add_data_field("x", kind)
    assert len(sample) == 0
    sample.get_copy()


def test_a_string_field_cannot_have_a_mapping() -> None:
    with pytest.raises(AssertionError, match="'x' is a STRING field, which cannot have a mapping"):
        SampleDataGroup().add_data_field("x", DataType.STRING, {"a": 1})


def test_a_blueprint_must_be_a_group() -> None:
    blueprint: Any = {"x": DataType.BOOL}
    with pytest.raises(AssertionError, match="expected a SampleDataGroup"):
        SampleDataGroup().add_data_group_field("x", blueprint)


def test_arrays_are_groups_with_the_names_0_1_2() -> None:
    sample = detection()
    assert sample["cameras"].contained_top_level_field_names == (0, 1)
    kinds = ("is_array", "is_data_field_array", "is_data_group_field_array")
    found = {n: [getattr(sample, k)(n) for k in kinds] for n in sample}
    assert found == {
        "id": [False, False, False],
        "cameras": [True, False, True],
        "scores": [True, True, False],
        "scene": [False, False, False],
    }
    assert not sample.is_array()
    mixed = SampleDataGroup.create_data_field_array(DataType.BOOL, 1)
    mixed.add_data_group_field(1, SampleDataGroup())
    assert [getattr(mixed, k)() for k in kinds] == [True, False, False]


def test_an_empty_group_is_no_array() -> None:
    assert not SampleDataGroup().is_array()
    assert not SampleDataGroup().is_data_field_array()
    assert not SampleDataGroup().is_data_group_field_array()


def test_a_field_is_removed_here_or_everywhere() -> None:
    sample = detection()
    assert sample.get_num_occurrences("label") == 2
    sample.remove_all_occurrences("label")
    assert sample.get_num_occurrences("label") == 0
    sample.remove_field("scores")
    assert "scores" not in sample
    with pytest.raises(KeyError, match="Cannot delete field 'scores'"):
        sample.remove_field("scores")
    sample.add_data_field("scores", DataType.STRING)  # a mapping of the old field is gone, too
    assert list(sample)[-1] == "scores"


def test_check_has_children_names_what_is_missing_or_of_another_kind() -> None:
    sample = detection()
    sample.check_has_children(["id", "scene"], None, "scores", ("cameras",), "sample")
    sample.check_has_children(data_group_field_children=["cameras", "scores"])
    with pytest.raises(ValueError, match=r"group 'root' does not have child `idd`.*mean 'id'"):
        sample.check_has_children("idd", current_name="root")
    with pytest.raises(ValueError, match="the child `id` of the group is not a data field array"):
        sample.check_has_children(data_field_array_children="id")


# --- Paths ---


def test_values_are_read_and_assigned_at_paths() -> None:
    sample = detection()
    sample.set_item_in_path(("cameras", 0, "annotation", "boxes"), [[1, 2, 3, 4]])
    assert sample.get_item_in_path(["cameras", 0, "annotation", "boxes"]).tolist() == [[1, 2, 3, 4]]
    sample.set_item_in_path("id", 5)
    assert sample.get_item_in_path("id") == sample.get_item_in_path(["id"]) == 5
    assert sample.get_item_in_path([]) is sample
    assert sample.get_parent_of_path("id") is sample
    assert sample.get_parent_of_path(("cameras", 0)) is sample["cameras"]


@pytest.mark.parametrize(
    "path", ["no", ("no", "x"), ("id", "x"), ("id", "x", "y"), ("cameras", 2), ("cameras", "0")]
)
def test_a_path_that_does_not_exist_is_no_error_to_ask_for(path: Any) -> None:
    sample = detection()
    assert not sample.path_exists(path)
    assert not sample.path_exists_and_is_data_group_field(path)
    for call in (sample.get_item_in_path, sample.get_parent_of_path):
        with pytest.raises(KeyError):
            call(path)
    with pytest.raises(KeyError):
        sample.set_item_in_path(path, 1)


def test_paths_that_exist_are_found() -> None:
    sample = detection()
    groups = ["cameras", (), ["cameras", 1], ("cameras", 1, "annotation")]
    fields = ["id", ("id",), ("cameras", 0, "image")]
    assert all(sample.path_exists(path) for path in groups + fields)
    assert all(sample.path_exists_and_is_data_group_field(path) for path in groups)
    assert not any(sample.path_exists_and_is_data_group_field(path) for path in fields)
    assert sample["cameras"].path_exists_and_is_data_group_field(0)


def test_errors_of_paths_say_what_is_there() -> None:
    sample = detection()
    with pytest.raises(KeyError, match=r"^No field with name 'camera'.*Did you mean 'cameras'"):
        sample["camera"]
    with pytest.raises(KeyError, match=r"'cameras\.\[0\]\.image' is a data field"):
        sample.get_item_in_path(("cameras", 0, "image", "x"))
    with pytest.raises(KeyError, match="No element 'x' is present"):
        sample.get_parent_of_path(("cameras", "x"))
    with pytest.raises(AssertionError, match="the path is empty"):
        sample.set_item_in_path((), 1)
    with pytest.raises(AssertionError, match="the path is empty"):
        sample.get_parent_of_path([])
    path: Any = {"id"}
    with pytest.raises(AssertionError, match="a path has the wrong type"):
        sample.get_item_in_path(path)


def test_a_path_is_a_single_name_unless_it_is_a_sequence() -> None:
    assert SampleDataGroup.path_is_single_name("cameras")
    assert SampleDataGroup.path_is_single_name(3)
    assert not SampleDataGroup.path_is_single_name(["cameras"])
    assert not SampleDataGroup.path_is_single_name(())


def test_occurrences_are_found_parents_first() -> None:
    inner = SampleDataGroup()
    inner.add_data_field("x", DataType.BOOL)
    middle = SampleDataGroup()
    middle.add_data_group_field("a", inner)
    middle.add_data_field("x", DataType.BOOL)
    outer = SampleDataGroup()
    outer.add_data_group_field("a", middle)
    assert outer.find_all_occurrences("x") == (("a", "x"), ("a", "a", "x"))
    assert outer.find_all_occurrences("a") == (("a",), ("a", "a"))
    assert outer.find_all_occurrences("y") == ()


# --- Groups as values ---


def test_a_group_of_the_same_format_is_stored_by_reference() -> None:
    sample, camera = detection(), detection()["cameras"][0]
    sample["cameras"][1] = camera
    assert sample["cameras"][1] is camera


@pytest.mark.parametrize("value", [None, 3, {"image": 1}, np.zeros(2)])
def test_a_group_set_to_something_else_is_a_key_error(value: Any) -> None:
    with pytest.raises(KeyError, match="'cameras' is a data group field"):
        detection()["cameras"] = value


def test_a_group_of_another_format_is_a_key_error_that_says_where() -> None:
    sample, other = detection(), detection()["cameras"]
    other.change_type_of_data_and_remove_data((1, "annotation", "boxes"), DataType.FLOAT64)
    with pytest.raises(KeyError) as caught:
        sample["cameras"] = other
    assert "expected '[1].annotation.boxes' of FLOAT" in str(caught.value)
    assert "found '[1].annotation.boxes' of FLOAT64" in str(caught.value)
    with pytest.raises(KeyError, match="the types of the group 'cameras' do not match"):
        sample["cameras"] = SampleDataGroup()


def test_formats_match_by_names_order_and_types() -> None:
    sample = detection()
    assert sample.type_matches(detection())
    assert sample.get_flat_index_first_discrepancy_to_other(detection()) == -1
    for change in (
        lambda s: s["cameras"].remove_field(1),
        lambda s: s["cameras"][1].add_data_field("x", DataType.BOOL),
        lambda s: s.change_type_of_data_and_remove_data("id", DataType.INT32),
        lambda s: s.add_data_group_field("empty", SampleDataGroup()),
    ):
        other = detection()
        change(other)
        assert not sample.type_matches(other)
        assert not other.type_matches(sample)
    swapped = SampleDataGroup()
    for name in reversed(list(sample)):
        if sample.is_data_field(name):
            swapped.add_data_field(name, sample.get_type_of_field(name))
        else:
            swapped.add_data_group_field(name, sample[name])
    assert not sample.type_matches(swapped)


def test_values_mappings_and_flags_do_not_change_the_format() -> None:
    sample, other = detection(), detection()
    other["id"] = 3
    other.set_do_convert(False)
    other.change_type_of_data_and_remove_data(
        ("cameras", 0, "annotation", "label"), DataType.INT32, {"tram": 5}
    )
    assert sample.type_matches(other)


# --- Changes of types ---


def test_a_new_type_drops_the_value_and_the_mapping() -> None:
    sample = detection()
    path = ("cameras", 0, "annotation", "label")
    sample.set_item_in_path(path, ["car"])
    sample.change_type_of_data_and_remove_data(path, DataType.STRING)
    assert sample.get_item_in_path(path) is None
    assert sample.field_names_flat == FLAT  # its place stays
    sample.set_item_in_path(path, "car")
    assert sample.get_item_in_path(path) == "car"
    sample.change_type_of_data_and_remove_data(path, DataType.UINT8, {"car": 200})
    sample.set_item_in_path(path, "car")
    assert sample.get_item_in_path(path) == 200


def test_a_data_field_does_not_become_a_group_nor_the_reverse() -> None:
    sample = detection()
    with pytest.raises(AssertionError, match="'id' would change between"):
        sample.change_type_of_data_and_remove_data("id", SampleDataGroup())
    with pytest.raises(AssertionError, match="'cameras' would change between"):
        sample.change_type_of_data_and_remove_data("cameras", DataType.BOOL)
    with pytest.raises(AssertionError, match="'cameras' is a group, which cannot have a mapping"):
        sample.change_type_of_data_and_remove_data("cameras", SampleDataGroup(), {"a": 1})
    with pytest.raises(AssertionError, match="STRING field"):
        sample.change_type_of_data_and_remove_data("id", DataType.STRING, {"a": 1})
    assert sample.type_matches(detection())


# --- Flags ---


def flags(group: SampleDataGroup) -> tuple[bool, bool, bool]:
    return group._do_apply_mapping, group._do_convert, group._do_check_type


def test_all_flags_go_to_all_groups_below_and_to_new_ones() -> None:
    sample = detection()
    sample.set_apply_mapping(False)
    sample.set_do_convert(False)
    sample.set_do_check_type(False)
    sample.add_data_group_field("new", SampleDataGroup())
    blueprint = detection()
    sample.change_type_of_data_and_remove_data("scores", blueprint)
    below = [sample, sample["cameras"][1]["annotation"], sample["new"], sample["scores"]]
    assert [flags(group) for group in below] == [(False, False, False)] * 4
    assert flags(sample["scores"]["cameras"]) == (False, False, False)
    assert flags(blueprint) == (True, True, True)  # it was copied


def test_without_conversion_and_mapping_values_are_stored_as_they_are() -> None:
    sample = detection()
    sample.set_apply_mapping(False)
    sample.set_do_convert(False)
    value = object()
    sample["id"] = value
    assert sample["id"] is value
    sample["cameras"][0]["annotation"]["label"] = ["car"]
    assert sample["cameras"][0]["annotation"]["label"] == ["car"]


# --- Copies ---


def test_a_copy_shares_values_and_no_structure() -> None:
    sample = detection()
    sample["cameras"][0]["image"] = np.zeros((2, 2), np.uint8)
    twin = sample.get_copy()
    assert twin["cameras"][0]["image"] is sample["cameras"][0]["image"]
    twin["cameras"][0].remove_field("image")
    twin["id"] = 1
    assert sample["id"] is None
    assert sample.type_matches(detection())


def test_an_empty_copy_keeps_mappings_and_flags() -> None:
    sample = detection()
    sample["cameras"][0]["annotation"]["label"] = ["car"]
    sample.set_do_check_type(False)
    empty = sample.get_empty_like_self()
    assert all(value is None for value in empty.get_data())
    assert flags(empty["cameras"]) == (True, True, False)
    empty["cameras"][0]["annotation"]["label"] = "bus"
    assert empty["cameras"][0]["annotation"]["label"] == 1


@pytest.mark.parametrize("through", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_groups_are_copied_and_pickled(through: Callable[[Any], Any]) -> None:
    sample = detection()
    sample["id"] = 4
    sample["scene"] = "crossing"
    again = through(sample)
    assert again.type_matches(sample)
    assert again.to_dictionary()["id"] == 4
    assert again["scene"] == "crossing"


def test_a_dictionary_has_the_names_of_the_fields_as_keys() -> None:
    sample = detection()
    sample["id"] = 4
    sample["scene"] = "crossing"
    found = sample.to_dictionary()
    assert found["id"] == 4
    assert found["scene"] == "crossing"
    assert list(found["cameras"]) == [0, 1]
    assert found["cameras"][1] == {"image": None, "annotation": {"boxes": None, "label": None}}
    assert type(found["cameras"][1]) is dict


def test_the_tree_is_shown_as_text() -> None:
    inner = SampleDataGroup.create_data_field_array(DataType.FLOAT, 1, {"a": 1})
    sample = SampleDataGroup()
    sample.add_data_field("id", DataType.INT64)
    sample.add_data_group_field("list", inner)
    sample["id"] = 4
    assert sample.get_string_no_details() == "{\n  id: INT64\n  list:\n  {\n    0: FLOAT\n  }\n}\n"
    assert str(sample) == (
        "{\n  id: INT64  (set: True, mapping: False)\n"
        "  list:\n  {\n    0: FLOAT  (set: False, mapping: True)\n  }\n}\n"
    )


def test_numpy_types_are_those_of_the_names() -> None:
    found = {t.name: SampleDataGroup.get_numpy_type_for_dali_type(t) for t in list(DataType)[:-1]}
    assert found == {
        **{f"INT{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
        **{f"UINT{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
        "FLOAT16": np.float16,
        "FLOAT": np.float32,
        "FLOAT64": np.float64,
        "BOOL": bool,
    }
    for kind in (DataType.STRING, None, 3):
        with pytest.raises(ValueError, match="does not have a corresponding numpy type"):
            SampleDataGroup.get_numpy_type_for_dali_type(kind)  # type: ignore[arg-type]
