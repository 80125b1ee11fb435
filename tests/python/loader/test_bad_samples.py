"""Samples whose fields do not fit their image are errors that name record and field."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail import fields as F
from fuelrail import transforms as T
from photographs import encoded, photograph

SCHEMA = fr.Schema(
    {
        "image": F.Image(),
        "mask": F.Mask(),
        "map": F.Map(),
        "depth": F.Image("image"),
        "boxes": F.Boxes("xyxy", rows="objects"),
        "labels": F.Label(["car", "bus"], rows="objects"),
        "points": F.Points(rows="objects"),
        "camera": F.CameraMatrix(),
    }
)


def sample(i: int = 0, **changed: Any) -> dict[str, Any]:
    return {
        "image": encoded(photograph(i, 20, 30)),
        "mask": np.full((20, 30), i, np.uint8),
        "map": np.full((20, 30), i, np.float32),
        "depth": encoded(photograph(i, 40, 60)),
        "boxes": [[i, 0, 20, 20]],
        "labels": [i % 2],
        "points": [[i, 10]],
        "camera": np.eye(3, dtype=np.float32),
        **changed,
    }


def file(folder: pathlib.Path, *samples: dict[str, Any]) -> pathlib.Path:
    fr.pack(samples, folder / "out.rec", schema=SCHEMA, verify_images=False, overwrite=True)
    return folder / "out.rec"


def load(path: pathlib.Path, **options: Any) -> list[Any]:
    return list(fr.Loader(path, 1, fields=list(SCHEMA.names), as_dict=True, **options))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mask": np.zeros((20, 20), np.uint8)}, "field 'mask', offset .*another aspect ratio than its image"),
        ({"map": np.zeros((30, 20), np.float32)}, "field 'map', offset .*another aspect ratio"),
        ({"depth": encoded(photograph(1, 30, 30))}, "field 'depth', offset .*another aspect ratio"),
        ({"mask": encoded(photograph(1, 20, 30), "PNG")}, "field 'mask', offset .*the image has colours or alpha"),
        ({"map": encoded(photograph(1, 20, 30), "PNG")}, "field 'map', offset .*the image has colours or alpha"),
        ({"mask": b"no image"}, "field 'mask', offset"),
    ],
)  # fmt: skip
def test_what_does_not_fit_its_image_is_named_while_loading(
    tmp_path: pathlib.Path, changed: dict[str, Any], message: str
) -> None:
    path = file(tmp_path, sample(0), sample(1, **changed))
    with pytest.raises(fr.Error, match=f"out.rec: record 1, {message}") as caught:
        load(path)
    assert (caught.value.path, caught.value.record) == (str(path), 1)
    assert caught.value.field == next(iter(changed))


def test_a_substitute_brings_all_its_fields(tmp_path: pathlib.Path) -> None:
    path = file(tmp_path, sample(7, mask=b"no image"), *(sample(i) for i in range(1, 4)))
    with pytest.warns(fr.FuelrailWarning, match="record 0, field 'mask'"):
        batches = load(path, on_error="skip", transforms=[T.CenterCrop(20)], dtype="uint8")
    for batch in batches:
        number = int(np.asarray(batch["mask"]).max())
        assert number in (1, 2, 3)
        assert np.asarray(batch["map"]).max() == number
        assert np.asarray(batch["labels"][0]).tolist() == [number % 2]
        assert np.asarray(batch["boxes"][0])[0].tolist() == [0, 0, 15, 20]
        assert np.asarray(batch["points"][0])[0].tolist() == [number - 5, 10]


def test_a_mask_of_16_bits_is_never_cut_to_8(tmp_path: pathlib.Path) -> None:
    wide = np.full((20, 30), 300, np.uint16)
    path = file(tmp_path, sample(0), sample(1, mask=wide))
    for dtype in (None, "uint8"):
        options = {} if dtype is None else {"dtype": {"mask": dtype}}
        with pytest.raises(
            fr.UnsupportedError,
            match=r"record 1, field 'mask', .*do not fit .*expected uint8, .*found uint16\. "
            r'Set the type of this field, as in dtype={"mask": "uint16"}',
        ):
            load(path, **options)
    for dtype in ("uint16", "int32", "int64"):
        masks = [np.asarray(batch["mask"]) for batch in load(path, dtype={"mask": dtype})]
        assert [mask.dtype.name for mask in masks] == [dtype] * 2
        assert [int(mask.max()) for mask in masks] == [0, 300]
    first = file(tmp_path, sample(0, mask=wide))
    assert np.asarray(load(first)[0]["mask"]).dtype == np.uint16


def test_samples_without_objects_have_empty_columns(tmp_path: pathlib.Path) -> None:
    empty = {"boxes": [], "labels": [], "points": []}
    path = file(tmp_path, sample(0, **empty), sample(1, **empty))
    for ragged, shape in [("pad", (2, 0, 4)), ("packed", (0, 4))]:
        loader = fr.Loader(
            path, 2, fields=["boxes", "labels", "points"], ragged=ragged, as_dict=True,
            transforms=[T.RandomIoUCrop(), T.Resize((8, 8))],
        )  # fmt: skip
        (batch,) = list(loader)
        assert (batch["boxes"].shape, batch["boxes"].dtype) == (shape, "float32")
        assert (batch["labels"].shape, batch["labels"].dtype) == (shape[:-1], "int64")
        assert (batch["points"].shape, batch["points"].dtype) == ((*shape[:-1], 2), "float32")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"transforms": {"imge": [T.HorizontalFlip()]}}, "`transforms` matches no field: found 'imge'. Did you mean 'image'"),
        ({"transforms": {"mask": [T.HorizontalFlip()]}}, "`transforms` matches no image: found 'mask', which matches 'mask'"),
        ({"transforms": {"boxes": [T.HorizontalFlip()]}}, "`transforms` matches no image: found 'boxes'"),
        ({"transforms": {"im*": [], "*ge": []}}, "two patterns of `transforms` match the field 'image': found 'im.' and '.ge'"),
        ({"fields": ["*boxs"]}, "a pattern of `fields` matches no field: found '.boxs'. Did you mean 'boxes'"),
        ({"fields": ["maks"]}, "`fields` contains an unknown name: found 'maks'. Did you mean 'mask'"),
    ],
)  # fmt: skip
def test_patterns_that_do_not_fit_are_refused(
    tmp_path: pathlib.Path, options: dict[str, Any], message: str
) -> None:
    path = file(tmp_path, sample(0))
    with pytest.raises(fr.InvalidArgumentError, match=message):
        fr.Loader(path, 1, **{"fields": ["image"], **options})
