"""`Schema.flatten`: values in, and every refusal names the sample and the field."""

from __future__ import annotations

import enum
import pathlib
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import fields as F

JPEG = b"\xff\xd8\xff\xe0 not decoded here"
SCHEMA = fr.Schema(
    {
        "image": F.Image(),
        "objects": {
            "boxes": F.Boxes("xyxy", rows="rows"),
            "labels": F.Label(["car", "bus"], rows="rows"),
        },
        "pair": [F.Tensor("uint8", (2,)), F.Text()],
        "captions": F.Text(list=True),
    }
)


def sample(**changed: Any) -> dict[str, Any]:
    return {
        "image": JPEG,
        "objects": {"boxes": [[1, 2, 3, 4.5]], "labels": [1]},
        "pair": [np.array([7, 8], np.uint8), "text"],
        "captions": ["one", "two"],
        **changed,
    }


def refuses(schema: fr.Schema, given: Any, message: str, index: int | None = 65) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=message) as caught:
        schema.flatten(given, index=index)
    assert caught.value.path == (None if index is None else f"sample {index}")


def tensor(field: F.FieldSpec, value: Any) -> Any:
    (made,) = fr.Schema({"x": field}).flatten({"x": value})
    return made


def test_values_come_in_the_order_of_the_fields_and_go_back() -> None:
    values = SCHEMA.flatten(sample())
    assert values[0] == JPEG
    assert values[1].dtype == np.float32
    assert values[1].tolist() == [[1, 2, 3, 4.5]]
    assert values[2].dtype == np.int64
    assert values[5] == ["one", "two"]
    assert SCHEMA.nest(values)["pair"][1] == "text"


class Split(str, enum.Enum):
    TRAIN = "train"


class Number(enum.IntEnum):
    ONE = 1


def test_enums_are_their_values() -> None:
    assert tensor(F.Text(), Split.TRAIN) == "train"
    assert tensor(F.Text(list=True), [Split.TRAIN]) == ["train"]
    assert tensor(F.Tensor("int64"), Number.ONE) == 1
    assert tensor(F.Tensor("float32"), type("Real", (float,), {})(0.5)) == 0.5


def test_a_number_that_cannot_be_stored_is_shown() -> None:
    schema = fr.Schema({"x": F.Tensor("int64", (2,))})
    for number in (2**63, 2**70):
        refuses(schema, {"x": [1, number]}, f"found {number}")


def test_keys_may_be_joined_by_dots() -> None:
    joined = {
        "image": JPEG,
        "objects.boxes": np.zeros((0, 4), np.float32),
        "objects.labels": [],
        "pair.0": [1, 2],
        "pair.1": "text",
        "captions": [],
    }
    values = SCHEMA.flatten(joined)
    assert values[1].shape == (0, 4)
    assert values[2].shape == (0,)
    assert values[3].tolist() == [1, 2]
    refuses(SCHEMA, {**joined, "pair": [1]}, "the sample has two values for 'pair")


def test_an_image_is_a_path_bytes_or_pixels(tmp_path: pathlib.Path) -> None:
    pixels = np.zeros((4, 5, 3), np.uint8)
    for value, made in [
        (tmp_path / "a.jpg", str(tmp_path / "a.jpg")),
        ("a.jpg", "a.jpg"),
        (bytearray(JPEG), JPEG),
        (memoryview(JPEG), JPEG),
        (pixels, pixels),
        (torch.from_numpy(pixels), pixels),
        (np.asfortranarray(pixels), pixels),
    ]:
        found = tensor(F.Image(), value)
        assert type(found) is type(made)
        assert np.array_equal(found, made)
        assert not isinstance(found, np.ndarray) or found.flags.c_contiguous


def test_an_array_keeps_its_values_whatever_its_layout() -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    field = F.Tensor("float32", (2, 3))
    for array in (
        values.astype(">f4"),
        np.asfortranarray(values),
        np.repeat(values, 2, axis=1)[:, ::2],
        torch.from_numpy(values).requires_grad_(),
        torch.from_numpy(values.T.copy()).T,
        values.tolist(),
        list(values),
        [torch.from_numpy(row).requires_grad_() for row in values],
        [list(row) for row in values],
    ):
        made = tensor(field, array)
        assert np.array_equal(made, values)
        assert made.dtype.str == "<f4"
        assert made.flags.c_contiguous
    assert tensor(F.Tensor("int64"), np.int64(3)).shape == ()
    assert tensor(F.Tensor("bool"), True).dtype == np.bool_


def test_bfloat16_has_the_bits_that_torch_gives() -> None:
    numbers = [0.0, 1.0, -2.5, 3.14159, 1e-40, 65280.0, 1 + 2**-8, 1 + 3 * 2**-8]
    expected = torch.tensor(numbers).to(torch.bfloat16)
    bits = expected.view(torch.int16).numpy().view(np.uint16)
    field = F.Tensor("bfloat16", (-1,))
    assert np.array_equal(tensor(field, numbers), bits)
    assert np.array_equal(tensor(field, expected), bits)
    assert np.array_equal(tensor(field, list(expected)), bits)
    assert tensor(field, [float("nan")]).tolist() == [0x7FC0]


def test_python_numbers_become_any_type_that_has_them() -> None:
    assert tensor(F.Tensor("uint8", (2,)), [0, 255]).dtype == np.uint8
    assert tensor(F.Tensor("uint64"), 2**64 - 1) == 2**64 - 1
    assert tensor(F.Tensor("uint64", (2,)), [1, 2**63]).tolist() == [1, 2**63]
    assert tensor(F.Tensor("float64", (2,)), [2**53 + 2, 2**70]).tolist() == [2.0**53 + 2, 2.0**70]
    assert tensor(F.Tensor("float16"), 0.1) == np.float16(0.1)
    assert tensor(F.Tensor("float32"), float("inf")) == np.inf
    assert tensor(F.Tensor("float32", (2,)), [1, 2.0**24 + 1]).tolist() == [1, 2**24]  # rounded
    for field, value in [
        (F.Tensor("uint8"), 256),
        (F.Tensor("uint8"), -1),
        (F.Tensor("uint64"), 2**64),
        (F.Tensor("int64", (2,)), [1, -(2**70)]),
        (F.Tensor("float32"), 2**24 + 1),
        (F.Tensor("float64"), 2**53 + 1),
        (F.Tensor("float64"), 2**64 - 1),
        (F.Tensor("bfloat16", (2,)), [256, 257]),
        (F.Tensor("float16"), 1e6),
        (F.Tensor("float32", (2,)), [1.0, 1e300]),
        (F.Tensor("float32", (2, 2)), [[0.5, 1], [2, 2**24 + 1]]),
        (F.Tensor("float64", (2,)), [0.5, 2**64 - 1]),
    ]:
        with pytest.raises(fr.InvalidArgumentError, match="a number in 'x' cannot be stored"):
            tensor(field, value)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (F.Tensor("float32", (2,)), np.zeros(2), "'x' has the wrong dtype: expected float32, found float64. Convert it"),
        (F.Tensor("int64"), 1.5, "'x' has the wrong dtype: expected int64, found float"),
        (F.Tensor("int64"), True, "'x' has the wrong dtype: expected int64, found bool"),
        (F.Tensor("bool"), 1, "'x' has the wrong dtype: expected bool, found int"),
        (F.Tensor("int64"), np.int32(1), "expected int64, found int32"),
        (F.Tensor("float32", (1,)), [np.float64(1)], "expected float32, found float64"),
        (F.Tensor("float32", (-1,)), np.array([None, 1]), "found an array of Python objects"),
        (F.Tensor("float32", (-1,)), [None, 1.0], "'x' has the wrong type"),
        (F.Tensor("float32", (-1,)), [[1.0], [1.0, 2.0]], "'x' has the wrong type"),
        (F.Tensor("float32"), "1", "'x' has the wrong type"),
        (F.Tensor("float32"), None, "There is no null; for an absent value, pass an empty"),
        (F.Tensor("float32", (-1, 4)), np.zeros((2, 3), np.float32), r"'x' has the wrong shape: expected \(-1, 4\), found \(2, 3\)"),
        (F.Tensor("float32", (2,)), [], "'x' has the wrong shape"),
        (F.Tensor("float32"), torch.zeros((), device="meta"), "'x' cannot be read.*`.cpu\\(\\)`"),
        (F.Tensor("float32", (2,)), [torch.zeros(()), torch.zeros((), device="meta")], "'x' cannot be read"),
        (F.Tensor("bfloat16", (2,)), [torch.zeros((), dtype=torch.bfloat16), torch.zeros(())], "'x' has the wrong type"),
        (F.Tensor("float32", (-1, 4)), [1, 2, 3, 4], "Pass a list of rows, even for one object"),
        (F.Label(["car", "bus"], shape=(-1,)), ["bus"], "Pass class numbers: 'bus' is 1"),
        (F.Label(), "bus", "'x' has the wrong type.*Pass class numbers"),
        (F.Text(), b"abc", r"'x' has the wrong type: expected a str.*Decode it"),
        (F.Text(), "\udcff", "'x' is not valid Unicode"),
        (F.Text(), None, "There is no null"),
        (F.Text(list=True), "abc", "'x' has the wrong type: expected a list"),
        (F.Text(list=True), ["a", 1], "item 1 of 'x' has the wrong type"),
        (F.Bytes(), "abc", "'x' has the wrong type: expected bytes"),
        (F.Image(), b"", "'x' is an empty image"),
        (F.Image(), np.zeros((0, 4), np.uint8), "'x' is an empty image"),
        (F.Image(), 3, "'x' has the wrong type: expected a path, the bytes of an image, or an array"),
        (F.Image(), np.zeros((4, 4)), "'x' has the wrong dtype: expected uint8, found float64"),
        (F.Image(), np.zeros((3, 8, 8), np.uint8), r"'x' has the wrong shape.*Move the channels"),
        (F.Image(), np.zeros((8, 8, 4), np.uint8), r"'x' has the wrong shape"),
        (F.Image(list=True), [JPEG, b""], "item 1 of 'x' is an empty image"),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_type_is_refused(field: F.FieldSpec, value: Any, message: str) -> None:
    refuses(fr.Schema({"x": field}), {"x": value}, message)


@pytest.mark.parametrize(
    ("field", "array", "remedy"),
    [
        (F.Image(), np.full((2, 2), 0.5), r"from 0 to 1; use `\(255 \* x\).round\(\)"),
        (F.Image(), np.array([[0, 300]]), "from 0 to 300; scale them to 0 to 255"),
        (F.Image(), np.array([[0, 255]]), r"from 0 to 255; use `.astype\(numpy.uint8\)`"),
        (F.Mask(), np.array([[0, 300]]), r"from 0 to 300; use `.astype\(numpy.uint16\)`"),
        (F.Mask(), np.array([[-1, 3]]), "store another number, such as 255, in place of negative"),
        (F.Mask(), np.array([[0, 70000]]), r"pass int32, .* F.Mask\(encoding=.rgb.\)"),
        (F.Mask(), np.array([[0.0, 1]]), "are integers; for continuous values, declare F.Map"),
        (F.Map(), np.array([[0.0, 1]]), r"`.astype\(numpy.float32\)`"),
        (F.Map(encode="png"), np.array([[0.5, 1]]), 'encode="npy", or scale the values'),
    ],
)
def test_the_advice_about_a_dtype_keeps_what_the_pixels_mean(
    field: F.FieldSpec, array: Any, remedy: str
) -> None:
    refuses(fr.Schema({"image": F.Image(), "x": field}), {"image": JPEG, "x": array}, remedy)


def test_colours_in_place_of_a_mask_are_refused_with_what_they_may_be() -> None:
    colors = np.zeros((2, 3, 3), np.uint8)
    refuses(
        fr.Schema({"image": F.Image(), "x": F.Mask()}),
        {"image": JPEG, "x": colors},
        r"'x' has the wrong shape.*Convert the colours to class numbers.*encoding=.rgb.",
    )


def test_masks_and_maps_have_their_own_types() -> None:
    schema = fr.Schema(
        {
            "image": F.Image(encode="png"),
            "mask": F.Mask(),
            "wide": F.Mask(encode="npy"),
            "panoptic": F.Mask(encoding="rgb"),
            "raw": F.Mask(encoding="rgb", encode="npy"),
            "depth": F.Map(),
        }
    )
    numbers = np.array([[0, 1 + 256 * 2 + 65536 * 3]], np.int32)
    given = {
        "image": np.zeros((1, 2, 4), np.uint8),
        "mask": np.array([[1, 65535]], np.uint16),
        "wide": numbers,
        "panoptic": numbers,
        "raw": numbers,
        "depth": np.array([[0.5, 2]], np.float32),
    }
    values = schema.flatten(given)
    assert values[1].dtype == np.uint16
    assert values[2].dtype == np.int32
    assert values[3].tolist() == values[4].tolist() == [[[0, 0, 0], [1, 2, 3]]]
    assert values[5].dtype == np.float32
    for name, value, message in [
        ("mask", numbers, "'mask' has the wrong dtype: expected uint8 or uint16, found int32"),
        ("mask", np.zeros((1, 2, 3), np.uint8), "'mask' has the wrong shape"),
        ("panoptic", numbers << 8, "a number that RGB cannot store.*0 to 16777215"),
        ("depth", np.zeros((1, 2)), "'depth' has the wrong dtype"),
    ]:
        refuses(schema, {**given, name: value}, message)


def test_a_sample_has_exactly_the_fields_of_the_schema() -> None:
    missing = sample()
    del missing["captions"]
    for index in (0, 65):
        refuses(SCHEMA, missing, "the sample has no field 'captions'", index)
        refuses(
            SCHEMA,
            {**missing, "caption": []},
            "the sample has an unknown field 'caption'. Did you mean 'captions'",
            index,
        )
        refuses(SCHEMA, sample(extra=1), "the sample has an unknown field 'extra'", index)
    refuses(SCHEMA, sample(objects={"boxes": []}), "the sample has no field 'objects.labels'")
    refuses(SCHEMA, sample(objects=None), "'objects' has the wrong type: .* There is no null")
    refuses(SCHEMA, sample(pair=[1]), "the list 'pair' has the wrong length: expected 2, found 1")
    refuses(SCHEMA, sample(pair="ab"), "'pair' has the wrong type: expected a list")
    refuses(SCHEMA, {**sample(), 1: 2}, "a key has the wrong type")
    refuses(SCHEMA, JPEG, "the sample has the wrong type: expected a dict", None)


def test_a_hundred_thousand_objects_are_read_at_once() -> None:
    boxes = np.tile(np.float32([0, 0, 1, 1]), (100_000, 1))
    values = SCHEMA.flatten(sample(objects={"boxes": boxes, "labels": np.zeros(100_000, np.int64)}))
    assert np.shares_memory(values[1], boxes)
