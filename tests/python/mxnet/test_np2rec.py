from __future__ import annotations

import io
import pathlib
import warnings
from typing import Any

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from fuelrail import transforms
from fuelrail.mxnet import np2rec, recordio

PNG = {"encoding": ".png"}


def stored(path: object) -> list[np.ndarray]:
    return [np.asarray(Image.open(io.BytesIO(sample.image))) for sample in fr.open(str(path))]


def levels(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def test_grey_colour_and_alpha_are_stored_as_they_are(tmp_path: pathlib.Path) -> None:
    labels = [3, 1, 2]
    grey = levels(3, 20, 30)
    assert np2rec(grey, labels, None, PNG, tmp_path / "g.rec") == str(tmp_path / "g.rec")
    for made, expected in zip(stored(tmp_path / "g.rec"), grey, strict=True):
        np.testing.assert_array_equal(made, expected)
    for channels in (3, 4):
        data = levels(3, channels, 20, 30)
        path = np2rec(data, labels, None, PNG, tmp_path / f"{channels}.rec")
        for made, expected in zip(stored(path), data, strict=True):
            np.testing.assert_array_equal(made, expected.transpose(1, 2, 0))
        assert [int(sample.label) for sample in fr.open(str(path))] == labels
        assert [sample.id for sample in fr.open(str(path))] == [0, 1, 2]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64", "uint64"])
def test_integers_are_levels_and_clipped(dtype: str, tmp_path: pathlib.Path) -> None:
    limits = np.iinfo(dtype)
    values = np.array([limits.min, limits.max, 0, 1, 100, 127], dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # values are clipped
        path = np2rec(values.reshape(1, 2, 3), [0], None, PNG, tmp_path / "x.rec")
    expected = [0, min(int(limits.max), 255), 0, 1, 100, 127]
    assert stored(path)[0].ravel().tolist() == expected


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
def test_floats_are_from_0_to_1(dtype: str, tmp_path: pathlib.Path) -> None:
    values = np.array([0, 1, 0.5, -3, 7, np.inf], dtype)
    with pytest.warns(fr.FuelrailWarning, match=r"data: 1 image has values outside 0 to 1"):
        path = np2rec(values.reshape(1, 2, 3), [0], None, PNG, tmp_path / "x.rec")
    assert stored(path)[0].ravel().tolist() == [0, 255, 128, 0, 255, 255]


def test_what_is_clipped_is_warned_of_and_rounding_is_not(tmp_path: pathlib.Path) -> None:
    floats = np.zeros((5, 4, 4), np.float32)
    floats[2:4] = 200  # levels that nobody has divided by 255
    first = r"2 images have .*the first is data\[2\]\. If the values go from 0 to 255, divide"
    with pytest.warns(fr.FuelrailWarning, match=first):
        np2rec(floats, range(5), None, PNG | {"num_workers": 3}, tmp_path / "floats.rec")
    with pytest.warns(fr.FuelrailWarning, match=r"3 images have values outside 0 to 255, which"):
        np2rec(np.full((3, 4, 4), 256), range(3), None, PNG, tmp_path / "integers.rec")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = np.full((1, 4, 4), np.nextafter(np.float32(1), np.float32(2)))
        np2rec(near, [0], None, PNG, tmp_path / "near.rec")
        np2rec(-near / 600, [0], None, PNG, tmp_path / "below.rec")


def test_views_of_any_order_are_packed(tmp_path: pathlib.Path) -> None:
    data = levels(4, 20, 30, 3)
    views = data.transpose(0, 3, 1, 2)[::-2, :, :, ::-1]
    path = np2rec(views, [0, 1], None, PNG, tmp_path / "x.rec")
    for made, expected in zip(stored(path), data[::-2, :, ::-1], strict=True):
        np.testing.assert_array_equal(made, expected)
    readonly = levels(2, 8, 8)
    readonly.flags.writeable = False
    np2rec(readonly, [0, 1], None, PNG, tmp_path / "y.rec")
    np.testing.assert_array_equal(np.stack(stored(tmp_path / "y.rec")), readonly)


def test_transforms_and_settings_apply(tmp_path: pathlib.Path) -> None:
    data = levels(2, 3, 40, 60)
    path = np2rec(
        data,
        [0, 1],
        [transforms.CenterCrop(16), lambda image: 255 - image],
        PNG | {"center_crop": 1, "resize": 32, "num_workers": 2},
        tmp_path / "x.rec",
    )
    assert [image.shape for image in stored(path)] == [(16, 16, 3)] * 2
    plain = np2rec(
        data, [0, 1], [transforms.CenterCrop(16)], PNG | {"center_crop": 1, "resize": 32},
        tmp_path / "y.rec",
    )  # fmt: skip
    for a, b in zip(stored(path), stored(plain), strict=True):
        np.testing.assert_array_equal(a, 255 - b)


def test_several_labels_need_pack_label(tmp_path: pathlib.Path) -> None:
    data, labels = levels(2, 8, 8), np.array([[1, 2.5], [3, 4]])
    np2rec(data, labels, None, PNG | {"pack_label": 1}, tmp_path / "all.rec")
    record = recordio.MXRecordIO(str(tmp_path / "all.rec"), "r")
    assert list(recordio.unpack(record.read())[0].label) == [1, 2.5]
    record.close()
    with pytest.raises(fr.InvalidArgumentError, match="pack_label"):
        np2rec(data, labels, None, PNG, tmp_path / "first.rec")


def test_parts_merge_to_the_whole(tmp_path: pathlib.Path) -> None:
    data, labels = levels(10, 3, 16, 16), np.arange(10)
    np2rec(data, labels, None, {}, tmp_path / "whole.rec")
    parts = np2rec(data, labels, None, {"nsplit": 4}, tmp_path / "p.rec")
    fr.merge(tmp_path / "m.rec", parts)
    for end in (".rec", ".idx", ".rec.frx"):
        assert (tmp_path / f"m{end}").read_bytes() == (tmp_path / f"whole{end}").read_bytes()


def test_a_nan_is_one_images_failure(tmp_path: pathlib.Path) -> None:
    data = np.zeros((3, 4, 4), np.float32)
    data[1, 2, 2] = np.nan
    with pytest.raises(fr.CorruptError, match=r"data\[1\].*not a number"):
        np2rec(data, [0, 1, 2], None, PNG, tmp_path / "x.rec")
    np2rec(data, [0, 1, 2], None, PNG | {"max_errors": 1}, tmp_path / "x.rec")
    assert [sample.id for sample in fr.open(tmp_path / "x.rec")] == [0, 2]


@pytest.mark.parametrize(
    ("data", "labels", "params", "error", "message"),
    [
        (levels(2, 4, 8, 8), [0, 1], {}, fr.InvalidArgumentError, "JPEG cannot store alpha"),
        (levels(2, 2, 8, 8), [0, 1], {}, fr.InvalidArgumentError, r"2 channels$"),
        (levels(2, 16, 9, 3), [0, 1], {}, fr.InvalidArgumentError, r"\(N, H, W, C\).*transpose"),
        ([levels(8, 8), levels(9, 8)], [0, 1], {}, fr.InvalidArgumentError, "one size"),
        (levels(8, 8), [0] * 8, {}, fr.InvalidArgumentError, "wrong number of dimensions"),
        (levels(2, 8, 8), [0], {}, fr.InvalidArgumentError, "expected 2, found 1"),
        (levels(0, 8, 8), [], {}, fr.InvalidArgumentError, "no image"),
        (np.zeros((1, 8, 8), complex), [0], {}, fr.ArgumentTypeError, "`data` has the wrong type"),
        (np.zeros((1, 8, 8), bool), [0], {}, fr.ArgumentTypeError, r"astype\(np.uint8\) \* 255"),
        (levels(1, 8, 8), ["a"], {}, fr.ArgumentTypeError, "wrong type or shape"),
        (levels(1, 8, 8), [2**24 + 1], {}, fr.InvalidArgumentError, "exactly as float32"),
        (levels(1, 8, 8), [1e300], {}, fr.InvalidArgumentError, "exactly as float32"),
        (levels(1, 8, 8), [np.nan], {}, fr.InvalidArgumentError, "not a finite number"),
        (levels(1, 8, 8), [-np.inf], {}, fr.InvalidArgumentError, "not a finite number"),
        (levels(1, 8, 8), [0], {"label_width": 2}, fr.InvalidArgumentError, "label_width"),
        (levels(1, 8, 8), [0], {"root": "."}, fr.InvalidArgumentError, "not apply to np2rec"),
        (levels(1, 8, 8), [0], {"nsplits": 1}, fr.InvalidArgumentError, "nsplit"),
    ],
)
def test_what_cannot_be_packed_is_refused(
    data: np.ndarray,
    labels: list[Any],
    params: dict[str, Any],
    error: type[Exception],
    message: str,
    tmp_path: pathlib.Path,
) -> None:
    with pytest.raises(error, match=message):
        np2rec(data, labels, None, params, tmp_path / "x.rec")
    assert list(tmp_path.iterdir()) == []
