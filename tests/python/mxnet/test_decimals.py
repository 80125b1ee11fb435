"""Decimals of MXNet's parameters, against MXNet 1.9.1's float32 (golden/mxnet/decimals.json)."""

from __future__ import annotations

import pathlib
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from detection_images import write_records
from fuelrail.mxnet import io
from fuelrail.mxnet.io.parameters import read_keywords
from mxnet_goldens import said
from photographs import encoded

MADE: dict[str, str | None] = said("decimals.json")
TAKEN = {
    text: np.float32(struct.unpack("<f", bytes.fromhex(made))[0])
    for text, made in MADE.items()
    if made is not None
}
REFUSED = [text for text, made in MADE.items() if made is None]


def scale(value: Any) -> float:
    read: float = read_keywords({"scale": value}, detection=False)["scale"]
    return read


def test_a_decimal_is_mxnets_float() -> None:
    assert {text: np.float32(scale(text)) for text in TAKEN} == TAKEN


def test_the_goldens_tell_dmlcs_floats_from_the_nearest() -> None:
    assert sum(np.float32(text.rstrip("f")) != made for text, made in TAKEN.items()) > 10


@pytest.mark.parametrize("text", REFUSED)
def test_what_mxnet_refuses_is_an_error(text: str) -> None:
    with pytest.raises((fr.ArgumentTypeError, fr.InvalidArgumentError), match=r"`scale` (is|has) "):
        scale(text)


def test_a_number_is_read_by_its_text_as_mxnet_does() -> None:
    for value in (1.8222, np.float64(1.8222), np.float32(1.8222), np.array(1.8222)):
        assert np.float32(scale(value)) == TAKEN["1.8222"]
    assert [scale(value) for value in (2, True, Fraction(1, 4))] == [2, 1, 0.25]


def test_in_lists_and_beside_none_the_nearest_float_is_read() -> None:
    read = read_keywords({"min_crop_scales": "(1.8222,)", "max_crop_scales": 1.8222}, True)
    assert read == {"min_crop_scales": [1.8222], "max_crop_scales": [1.8222]}
    assert read_keywords({"min_aspect_ratio": 1.8222}, False) == {"min_aspect_ratio": 1.8222}


@pytest.mark.parametrize("iterator", [io.ImageRecordIter, io.ImageDetRecordIter])
@pytest.mark.parametrize("value", [1.8222, "1.8222"])
def test_pixels_are_scaled_by_it(iterator: Any, value: Any, tmp_path: pathlib.Path) -> None:
    ones = encoded(Image.fromarray(np.ones((2, 2, 3), np.uint8)), "PNG")
    label = [2, 5, 0, 0.1, 0.1, 0.9, 0.9] if iterator is io.ImageDetRecordIter else 1.0
    write_records(tmp_path / "one.rec", [(ones, label)])
    options = {"path_imgrec": tmp_path / "one.rec", "data_shape": (3, 2, 2), "batch_size": 1}
    batch = iterator(**options, scale=value).next()
    assert (batch.data[0].asnumpy() == TAKEN["1.8222"]).all()
