from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail import fields as F

CAMERA = {
    "image": F.Image(),
    "boxes": F.Boxes("xyxy", rows="objects"),
    "labels": F.Label(["car", "bus"], rows="objects"),
    "intrinsics": F.CameraMatrix(),
}
DRIVE = fr.Schema({"cameras": [CAMERA, CAMERA], "caption": F.Text()})

EVERY_FIELD = fr.Schema(
    {
        "image": F.Image(),
        "clip": F.Image(list=True),
        "depth": F.Image("image", colors=False),
        "mask": F.Mask("image", fill=0),
        "panoptic": F.Mask("image", encoding="rgb"),
        "disparity": F.Map("image", fill=float("nan"), vectors=False),
        "flow": F.Map("image", dtype="float16", shape=(-1, -1, 2)),
        "objects": {
            "boxes": F.Boxes("cxcywh", "image", rows="group", relative=True),
            "points": F.Points("image", "group", (-1, 17, 3), pixel_centers=True, dtype="float64"),
            "labels": F.Label(rows="group"),
            "scores": F.Tensor("bfloat16", (-1, 2), rows="other"),
            "more": F.Tensor("float32", (-1,), rows="other"),
        },
        "camera": F.CameraMatrix("image", (3, 4), dtype="float64"),
        "label": F.Label(["cat", "dog's", 'a "b"']),
        "several": F.Label(shape=(-1,)),
        "number": F.Tensor("uint16"),
        "captions": F.Text(list=True),
        "raw": F.Bytes(),
    }
)


def made_by(code: str) -> fr.Schema:
    made: fr.Schema = eval(code, {"fr": fr, "F": F})
    return made


def test_names_are_paths_and_rows_and_images_are_numbers() -> None:
    assert DRIVE.names[:2] == ("cameras.0.image", "cameras.0.boxes")
    assert DRIVE.names[-1] == "caption"
    boxes = ("cameras.1.boxes", "tensor", "float32", (-1, 4), "boxes", 4, 5, 0, 0)
    assert DRIVE.native[5] == boxes
    assert DRIVE.native[6][5:7] == (None, 5)
    assert DRIVE.native[7][5] == 4
    assert DRIVE.image_of("cameras.1.boxes") == "cameras.1.image"
    assert DRIVE.image_of("caption") is None
    assert DRIVE.classes["cameras.0.labels"] == ["car", "bus"]


def test_a_schema_is_a_sequence_of_names_and_types() -> None:
    assert DRIVE[0] == fr.Field("cameras.0.image", "image", None, ())
    assert DRIVE[-1] == ("caption", "text", None, ())
    assert [field.name for field in DRIVE] == list(DRIVE.names)
    assert len(DRIVE) == 9
    assert "caption" in DRIVE
    assert all(field in DRIVE for field in DRIVE)
    assert DRIVE["caption"] == F.Text()
    assert DRIVE.tree == {"cameras": [CAMERA, CAMERA], "caption": F.Text()}


@pytest.mark.parametrize("schema", [DRIVE, EVERY_FIELD], ids=["drive", "every field"])
def test_a_schema_is_a_value_and_its_repr_makes_it(schema: fr.Schema) -> None:
    for again in (
        made_by(repr(schema)),
        pickle.loads(pickle.dumps(schema)),
        copy.deepcopy(schema),
        fr.Schema(dict(schema.fields)),
    ):
        assert again == schema
        assert hash(again) == hash(schema)
        assert repr(again) == repr(schema)


@pytest.mark.parametrize("schema", [DRIVE, EVERY_FIELD], ids=["drive", "every field"])
def test_a_schema_comes_back_from_what_records_store(schema: fr.Schema) -> None:
    again = fr.Schema.from_native(schema.native, schema.classes)
    assert again == schema
    assert made_by(repr(again)) == schema


def test_defaults_are_left_out_of_a_schema_that_comes_back() -> None:
    again = fr.Schema.from_native(DRIVE.native, DRIVE.classes)
    assert repr(again) == repr(DRIVE)


def test_schemas_differ_by_what_is_stored() -> None:
    assert fr.Schema({"a": F.Image(encode="png")}) == fr.Schema({"a": F.Image(quality=80)})
    named, other = fr.Schema({"a": F.Label(["b"])}), fr.Schema({"a": F.Label(["c"])})
    assert named == other
    assert named.classes != other.classes
    both = {"a": F.Image(), "b": F.Text()}
    assert fr.Schema(both) != fr.Schema(dict(reversed(both.items())))
    one_group, two_groups = (
        fr.Schema({"a": F.Label(rows="x"), "b": F.Label(rows=name)}) for name in ("x", "y")
    )
    assert one_group != two_groups


def test_the_image_is_that_of_the_nearest_group() -> None:
    schema = fr.Schema(
        {
            "image": F.Image(),
            "depth": F.Image("image"),
            "boxes": F.Boxes("xyxy"),
            "objects": {"points": F.Points()},
            "other": {"image": F.Image(), "mask": F.Mask(), "far": F.Points("image")},
            "pair": [F.Image(), F.Mask()],
        }
    )
    found = {name: schema.image_of(name) for name in schema.names}
    assert {name: of for name, of in found.items() if of is not None} == {
        "depth": "image",
        "boxes": "image",
        "objects.points": "image",
        "other.mask": "other.image",
        "other.far": "other.image",
        "pair.1": "pair.0",
    }


def test_names_may_differ_in_case_and_have_255_bytes() -> None:
    fr.Schema({"a": F.Text(), "A": F.Text(), "b-2_" + "c" * 251: F.Text(), "d.0": F.Text()})
    fr.Schema({f"f{i}": F.Text() for i in range(4096)})


T = F.Text()


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (T, "a schema has the wrong type"),
        ({}, "the schema has no fields"),
        ({"a": {"b": []}}, "'a.b' has no fields"),
        ({"a": F.Text}, r"'a' is not a field or a group.*Create one: F\.Text\(\.\.\.\)"),
        ({"a": "image"}, "'a' is not a field or a group"),
        ({"": T}, r"the field name '.*' is invalid"),
        ({"a": {"": {"b": T}}}, r"the field name 'a\.' is invalid: .* found the part ''"),
        ({"a..b": T}, r"the field name '.*' is invalid"),
        ({"a.": T}, r"the field name '.*' is invalid"),
        ({"1a": T}, r"the field name '.*' is invalid"),
        ({"a.00": T}, r"the field name '.*' is invalid"),
        ({"über": T}, r"the field name '.*' is invalid"),
        ({"a" * 256: T}, "the name of a field is too long.*found 256 bytes"),
        ({"a" * 200: {"b" * 55: T}}, "the name of a field is too long"),
        ({f"f{i}": T for i in range(4097)}, "too many fields.*at most 4096, found 4097"),
        ({"a": T, "a.b": T}, "'a' is both a field and a group"),
        ({"a.b": T, "a": {"b": T}}, r"two fields have the name 'a\.b'"),
        ({"a.0": T, "a.b": T}, "the members of 'a' are not a list"),
        ({"a.0": T, "a.2": T}, "the members of 'a' are not a list"),
        ({1: T}, "a key has the wrong type"),
    ],
)
def test_an_invalid_tree_is_refused(tree: Any, message: str) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=message):
        fr.Schema(tree)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"boxes": F.Boxes("xyxy")}, "'boxes' refers to no image"),
        (
            {"a": F.Image(), "b": F.Image(), "m": F.Mask()},
            "'m' may refer to several images: expected one image, found a, b",
        ),
        (
            {"c": [{"image": F.Image()}, {"image": F.Image()}], "m": F.Mask()},
            r"found c\.0\.image, c\.1\.image",
        ),
        (
            {"image": F.Image(), "m": F.Mask("imag")},
            "the `of` of 'm' is not a field: found 'imag'. Did you mean 'image'",
        ),
        ({"image": F.Image(), "t": T, "m": F.Mask("t")}, "the `of` of 'm' is not an image"),
        (
            {"image": F.Image(), "d": F.Image("image"), "m": F.Mask("d")},
            "the `of` of 'm' is a partner of another image",
        ),
        ({"image": F.Image("image")}, "the `of` of 'image' is not a field"),
    ],
)
def test_an_image_that_is_not_one_image_is_refused(tree: Any, message: str) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=message):
        fr.Schema(tree)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: F.Boxes("xxyy"), "`format` is invalid.*Did you mean 'xyxy'"),
        (lambda: F.Boxes("xyxy", rows=""), "`rows` is empty"),
        (lambda: F.Mask(fill=65536), "`fill` is out of range"),
        (lambda: F.Mask(encoding="rbg"), "Did you mean 'rgb'"),
        (lambda: F.Map(fill=1e6), "`fill` is out of range"),
        (lambda: F.Map(shape=(2, 3)), "`shape` applies only to a map with `dtype`"),
        (lambda: F.Map(dtype="float32", shape=(1,)), "the shape of a map is invalid"),
        (lambda: F.Image(quality=0), "`quality` is out of range"),
        (lambda: F.Image(encode="png", quality=90), "`quality` applies only to JPEG"),
        (lambda: F.Image(colors=False), "`colors=False` applies only to an image with `of`"),
        (lambda: F.Image(list=1), "`list` has the wrong type"),
        (lambda: F.Image("other", list=True), "an image with `of` cannot be a list"),
        (lambda: F.Mask(list=True), r"unknown option 'list'. One mask has the numbers of all"),
        (lambda: F.Points(shape=(4,)), "the shape of points is invalid"),
        (lambda: F.CameraMatrix(shape=(2, 3)), "the shape of a camera matrix is invalid"),
        (
            lambda: F.CameraMatrix((3, 3)),
            r"`of` has the wrong type: .* A shape is given by its name",
        ),
        (lambda: F.Label(["a", "a"]), "two classes have the same name"),
        (lambda: F.Label(["a", ""]), "the name of a class is empty"),
        (lambda: F.Label(rows="o", shape=(2,)), "a field with `rows` has the wrong shape"),
        (lambda: F.Tensor("float"), "Did you mean 'float32'"),
        (lambda: F.Tensor("int8", (1,) * 9), "at most 8 dimensions"),
        (lambda: F.Tensor("int8", (-2,)), "`shape` is out of range"),
        (lambda: F.Tensor("int8", shap=(2,)), "unknown option 'shap'. Did you mean 'shape'"),
    ],
)
def test_an_invalid_option_of_a_field_is_refused(make: Any, message: str) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=message):
        make()


def test_types_of_other_libraries_name_dtypes() -> None:
    assert F.Tensor(np.float32) == F.Tensor(np.dtype("float32")) == F.Tensor("float32")
    assert F.Tensor("int8", np.array([2, -1])) == F.Tensor("int8", [2, -1])


def test_a_combination_without_a_class_is_named() -> None:
    rows = [("a", "image", None, (), "image", None, None, 64, 0)]
    with pytest.raises(fr.UnsupportedError, match=r"'a' has no class in fuelrail\.fields"):
        fr.Schema.from_native(rows)


def test_nested_values_have_the_order_of_the_fields() -> None:
    values = list(range(9))
    nested = DRIVE.nest(values)
    assert nested["cameras"][1] == {"image": 4, "boxes": 5, "labels": 6, "intrinsics": 7}
    assert nested["caption"] == 8
    with pytest.raises(fr.InvalidArgumentError, match="the number of values is wrong"):
        DRIVE.nest(values[:-1])
