"""`Sample.decode` of masks, maps and lists of images; its errors name the field."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail import fields as F
from photographs import encoded, photograph, pixels

FRAMES = [encoded(photograph(i, 20, 30 + i)) for i in range(3)]
NUMBERS = (np.arange(600) * 100).reshape(20, 30)


@pytest.fixture
def sample(tmp_path: pathlib.Path) -> fr.Sample:
    schema = {
        "clip": F.Image(list=True),
        "mask": F.Mask(),
        "panoptic": F.Mask(encoding="rgb"),
        "depth": F.Map(),
        "flow": F.Map(),
    }
    given: dict[str, Any] = {
        "clip": FRAMES,
        "mask": NUMBERS.astype(np.uint16),
        "panoptic": NUMBERS.astype(np.int32),
        "depth": NUMBERS.astype(np.float16),
        "flow": np.stack([NUMBERS, -NUMBERS], 2).astype(np.float32),
    }
    fr.pack([given], tmp_path / "out.rec", schema=schema)
    return fr.open(tmp_path / "out.rec")[0]


def test_an_item_of_a_list_is_decoded(sample: fr.Sample) -> None:
    for i, frame in enumerate(FRAMES):
        np.testing.assert_array_equal(sample.decode("clip", item=i), pixels(frame))
    for options, error, message in [
        ({"field": "clip"}, fr.InvalidArgumentError, "'clip' is a list of images. Pass the number"),
        ({"field": "mask", "item": 0}, fr.InvalidArgumentError, "'mask' is one image.*Omit `item`"),
        ({"field": "clip", "item": 3}, fr.OutOfRangeError, "expected `item` below 3, found 3"),
        ({"field": "clip", "item": -1}, fr.InvalidArgumentError, "`item` is out of range"),
        ({"field": "clip", "item": "1"}, fr.ArgumentTypeError, "`item` has the wrong type"),
    ]:
        with pytest.raises(error, match=message):
            sample.decode(**options)


@pytest.mark.parametrize(
    ("field", "dtype"), [("mask", "uint16"), ("panoptic", "int32"), ("depth", "float32")]
)
def test_masks_and_maps_are_decoded_to_their_numbers(
    sample: fr.Sample, field: str, dtype: str
) -> None:
    found = sample.decode(field)
    assert found.dtype == dtype
    expected = NUMBERS.astype(np.float16) if field == "depth" else NUMBERS
    np.testing.assert_array_equal(found, expected)


def test_a_map_of_two_channels_is_optical_flow(sample: fr.Sample) -> None:
    np.testing.assert_array_equal(sample.decode("flow"), np.stack([NUMBERS, -NUMBERS], 2))
    with pytest.raises(
        fr.InvalidArgumentError, match=r"wrong shape: .*\(height, width, 1\), found"
    ):
        fr.Schema({"image": F.Image(), "x": F.Map()}).flatten(
            {"image": FRAMES[0], "x": np.zeros((4, 5, 2), np.uint8)}
        )


def test_errors_name_the_field_and_the_item(tmp_path: pathlib.Path) -> None:
    schema = {"image": F.Image(), "clip": F.Image(list=True)}
    cut = FRAMES[1][:-100]
    given = {"image": cut, "clip": [FRAMES[0], cut]}
    fr.pack([given], tmp_path / "out.rec", schema=schema)
    sample = fr.open(tmp_path / "out.rec")[0]
    for item, field in [(None, "image"), (1, "clip[1]")]:
        with pytest.raises(fr.TruncatedError) as caught:
            sample.decode(field.partition("[")[0], item=item)
        error = caught.value
        assert (error.path, error.record, error.field) == (str(sample.place.path), 0, field)
        assert f": record 0, field '{field}', offset {sample.place.offset}: " in str(error)


def test_errors_of_the_only_image_name_no_field(tmp_path: pathlib.Path) -> None:
    cut = FRAMES[1][:-100]
    fr.pack([{"image": cut}], tmp_path / "out.rec", schema={"image": F.Image()})
    with pytest.raises(fr.TruncatedError, match="record 0, offset") as caught:
        fr.open(tmp_path / "out.rec")[0].decode()
    assert caught.value.field is None
