"""Schemas that are inferred from samples, and what stays open."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import fields as F
from fuelrail.schema_inference import infer, looked_at
from photographs import encoded, photograph

ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
JPEG = encoded(photograph(1, 20, 30))


def test_types_come_from_the_values(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(JPEG)
    sample = {
        "image": JPEG,
        "path": path,
        "name": str(path),
        "raw": b"bytes",
        "text": "no.jpg",
        "flag": True,
        "count": 3,
        "score": 0.5,
        "seconds": 1_700_000_000.123,
        "half": np.float16(1),
        "brain": torch.zeros((2, 3), dtype=torch.bfloat16),
        "list": [[1, 2], [3, 4]],
        "rows": [torch.zeros(4), torch.ones(4)],
        "pair": [np.zeros((9, 9)), np.zeros((9, 9))],
        "clip": [JPEG, JPEG],
        "captions": ["one", "two"],
        "nested": {"group": [{"a": 1}, {"a": 2}], "arrays": [np.zeros(2), np.zeros(3)]},
    }
    assert infer([sample]) == fr.Schema(
        {
            "image": F.Image(),
            "path": F.Image(),
            "name": F.Image(),
            "raw": F.Bytes(),
            "text": F.Text(),
            "flag": F.Tensor("bool"),
            "count": F.Tensor("int64"),
            "score": F.Tensor("float32"),
            "seconds": F.Tensor("float64"),
            "half": F.Tensor("float16"),
            "brain": F.Tensor("bfloat16", (2, 3)),
            "list": F.Tensor("int64", (2, 2)),
            "rows": F.Tensor("float32", (2, 4)),
            "pair": [F.Tensor("float64", (9, 9))] * 2,
            "clip": F.Image(list=True),
            "captions": F.Text(list=True),
            "nested": {
                "group": [{"a": F.Tensor("int64")}, {"a": F.Tensor("int64")}],
                "arrays": [F.Tensor("float64", (2,)), F.Tensor("float64", (3,))],
            },
        }
    )


def test_what_differs_between_samples_is_joined() -> None:
    samples = [
        {"boxes": [], "score": 1, "array": np.zeros((2, 5)), "captions": []},
        {"boxes": [[1, 2, 3, 4]], "score": 0.5, "array": np.zeros((3, 5)), "captions": ["a"]},
        {"boxes": [[1.5, 2, 3, 4]] * 2, "score": 2, "array": np.zeros((3, 5)), "captions": []},
    ]
    schema = infer(samples)
    assert schema == fr.Schema(
        {
            "boxes": F.Tensor("float32", (-1, 4)),
            "score": F.Tensor("float32"),
            "array": F.Tensor("float64", (-1, 5)),
            "captions": F.Text(list=True),
        }
    )
    assert [schema.flatten(sample)[0].shape for sample in samples] == [(0, 4), (1, 4), (2, 4)]


@pytest.mark.parametrize(
    ("samples", "question", "field"),
    [
        ([{"x": np.zeros((40, 50, 3), np.uint8)}], "an image (F.Image), or F.Tensor", F.Image()),
        ([{"x": np.zeros((40, 50), np.uint8)}], "an image (F.Image), or F.Tensor", F.Image()),
        ([{"image": JPEG, "x": np.zeros((40, 50), np.uint8)}], "(F.Mask), a map of values (F.Map), a grey image (F.Image), or F.Tensor", F.Mask()),
        ([{"image": JPEG, "x": np.zeros((40, 50), np.uint16)}], "(F.Mask), a map of values (F.Map), or F.Tensor", F.Mask()),
        ([{"x": np.zeros((7, 40, 50, 3), np.uint8)}], "the frames of a clip (F.Image(list=True)", F.Image(list=True)),
        ([{"x": [np.zeros((40, 50), np.uint8)] * 2}], "an image (F.Image), or F.Tensor", None),
        ([{"x": "images/0.jpg"}, {"x": "images/1.GIF"}], "the path of an image that cannot be read", F.Image()),
        ([{"x": ["0.jpg", "1.jpg"]}], "or F.Text(list=True)", F.Image(list=True)),
        ([{"x": []}, {"x": []}], "an empty list in every sample", F.Tensor("float32", (-1,))),
        ([{"x": [{"a": 1}]}, {"x": [{"a": 1}] * 2}], "a list of 1 dicts or arrays in one sample and of 2", None),
        ([{"x": []}, {"x": [{"a": 1}]}], "an empty list in one sample", None),
    ],
)  # fmt: skip
def test_an_open_field_is_an_error_with_code_to_paste(
    samples: list[Any], question: str, field: Any
) -> None:
    samples = [{"caption": "a", **sample} for sample in samples]
    with pytest.raises(fr.InvalidArgumentError, match="do not show the type of every") as caught:
        infer(samples)
    assert question in str(caught.value.found)
    names: dict[str, Any] = {"fr": fr, "F": F}
    code = re.search(r"schema=(fr\.Schema.*), with the right field for 'x", str(caught.value))
    assert code is not None
    schema = eval(code[1], names)
    assert schema["caption"] == F.Text()
    assert field is None or schema["x"] == field


@pytest.mark.parametrize(
    ("first", "other", "message"),
    [
        ({"x": 1}, {"x": "a"}, "'x' has a different type: expected F.Tensor.*found F.Text"),
        ({"x": JPEG}, {"x": b"raw"}, r"expected F\.Image\(\), found F\.Bytes\(\)"),
        ({"x": np.zeros(2)}, {"x": np.zeros((2, 2))}, "'x' has a different type"),
        ({"x": np.zeros(2)}, {"x": np.zeros(2, "f")}, "'x' has a different type"),
        ({"x": {"a": 1}}, {"x": 1}, "'x' has a different type: expected a dict of a"),
        ({"x": 1}, {"x": []}, "'x' has a different type"),
        ({"x": [1, 2]}, {"x": np.zeros(2, "f")}, "'x' has a different type"),
        ({"x": np.zeros(2, "int64")}, {"x": [0.5, 1]}, "'x' has a different type"),
        (
            {"x": 1},
            {"x": np.array(["a", "b"])},
            "'x' has the wrong dtype: .*found str32.*a list of str",
        ),
        ({"x": 1}, {"x": np.zeros(2, complex)}, "'x' has the wrong dtype: .*found complex128"),
        ({"x": 1}, {"x": 1, "y": 2}, "the sample has an unknown field 'y'"),
        ({"x": 1}, {}, "the sample is an empty dict"),
        ({"x": {"a": 1, "b": 1}}, {"x": {"a": 1}}, r"the sample has no field 'x\.b'"),
        ({"x": 1}, {"x": None}, "'x' has the wrong type.*There is no null"),
        ({"x": 1}, {"x": ["a", b"b"]}, "the items of 'x' have different types"),
        ({"x": 1}, {"x": pathlib.Path("absent.txt")}, "'x' is a path, but not of an image"),
        ({"x": 1}, 5, "the sample has the wrong type: expected a dict"),
        ({"x": 1}, {"x": ENDLESS}, "the sample is nested too deeply"),
        ({"x": 1}, {"x": np.ma.masked_array([1, 2], [0, 1])}, "'x' has masked elements"),
    ],
)
def test_a_sample_that_differs_is_named(first: Any, other: Any, message: str) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=message) as caught:
        infer([first] * 3 + [other])
    assert caught.value.path == "sample 3"


def test_file_names_beside_an_image_and_in_some_samples_are_text() -> None:
    assert infer([{"image": JPEG, "file_name": "a.jpg"}])["file_name"] == F.Text()
    assert infer([{"x": "a.jpg"}, {"x": "a cat"}])["x"] == F.Text()


def test_fewer_samples_are_looked_at_if_they_are_large() -> None:
    large = [{"x": [np.zeros(16 << 20, np.uint8)], "y": i} for i in range(9)]
    assert [sample["y"] for sample in looked_at(large)] == [0, 1, 2, 3, 4]
    assert len(list(looked_at([{"x": 0}] * 100))) == 64
    assert len(list(looked_at([ENDLESS]))) == 1
