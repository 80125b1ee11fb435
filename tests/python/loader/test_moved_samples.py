"""Loaders move masks, boxes, points and cameras with their image."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail import fields as F
from fuelrail import transforms as T

COUNT = 9
SCHEMA = fr.Schema(
    {
        "left": {
            "image": F.Image(encode="png"),
            "mask": F.Mask(fill=9),
            "depth": F.Map(),
            "boxes": F.Boxes("xywh", rows="objects"),
            "labels": F.Label(rows="objects"),
            "camera": F.CameraMatrix(),
        },
        "right": {"image": F.Image(encode="png"), "points": F.Points(shape=(4, 2))},
        "caption": F.Text(),
    }
)
LIST = [T.RandomResizedCrop((24, 32)), T.HorizontalFlip()]


def sample(i: int) -> dict[str, Any]:
    height, width = 40 + i, 50
    rows, columns = np.mgrid[:height, :width]
    pixels = np.stack([columns, rows, columns + rows], axis=2).astype(np.uint8)
    objects = i % 4
    corners = np.arange(4 * objects, dtype=np.float32).reshape(objects, 4) + 3
    return {
        "left": {
            "image": pixels,
            "mask": (rows // 8 * 8 + columns // 8).astype(np.uint8),
            "depth": (rows + columns).astype(np.float32),
            "boxes": corners,
            "labels": np.arange(objects),
            "camera": np.array([[9, 0, 20], [0, 9, 15], [0, 0, 1]], np.float32),
        },
        "right": {
            "image": pixels[:, ::-1],
            "points": np.array([[0, 0], [10, 0], [0, 10], [20, 30]], np.float32),
        },
        "caption": f"sample {i}",
    }


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("moved") / "pairs.rec"
    fr.pack([sample(i) for i in range(COUNT)], path, schema=SCHEMA)
    return path


def batches(file: pathlib.Path, **options: Any) -> list[Any]:
    loader = fr.Loader(file, 4, **{"transforms": LIST, "seed": 5, "flat": True, **options})
    return list(loader)


def test_everything_follows_what_draw_says(file: pathlib.Path) -> None:
    fields = ["*", "left.image.affine", "right.image.affine", "index", "position"]
    for batch in batches(file, shuffle=True, fields=fields):
        for row in range(len(batch["index"].numpy())):
            stored = sample(int(batch["index"].numpy()[row]))
            position = int(batch["position"].numpy()[row])
            for leader, side in enumerate(["left", "right"]):
                drawn = T.draw(
                    LIST,
                    stored[side]["image"].shape[:2],
                    seed=5,
                    epoch=0,
                    position=position,
                    leader=leader,
                )
                assert np.array_equal(batch[f"{side}.image.affine"].numpy()[row], drawn.affine)
            affine = batch["right.image.affine"].numpy()[row]
            points = stored["right"]["points"] @ affine[:, :2].T + affine[:, 2]
            np.testing.assert_allclose(batch["right.points"].numpy()[row], points, atol=1e-4)
            affine = np.vstack([batch["left.image.affine"].numpy()[row], [0, 0, 1]])
            camera = affine @ stored["left"]["camera"]
            np.testing.assert_allclose(batch["left.camera"].numpy()[row], camera, atol=1e-4)
            assert len(batch["left.boxes"][row].numpy()) == len(batch["left.labels"][row].numpy())


def test_columns_have_the_documented_types_and_shapes(file: pathlib.Path) -> None:
    first = batches(file, ragged={"left.boxes": "packed", "left.labels": "pad"})[0]
    shapes = {
        name: (column.dtype, tuple(column.shape))
        for name, column in first.items()
        if name != "caption"
    }
    assert shapes["left.image"] == ("float32", (4, 3, 24, 32))
    assert shapes["left.mask"] == ("uint8", (4, 24, 32))
    assert shapes["left.depth"] == ("float32", (4, 1, 24, 32))
    assert shapes["left.boxes.offsets"] == ("int64", (5,))
    assert shapes["left.labels.length"] == ("int64", (4, 1))
    assert shapes["left.camera"] == ("float32", (4, 3, 3))
    assert shapes["right.points"] == ("float32", (4, 4, 2))
    wide = batches(file, dtype={"*.mask": "int64"}, layout={"left.*": "NHWC"})[0]
    assert np.array_equal(wide["left.mask"].numpy(), first["left.mask"].numpy())
    assert wide["left.mask"].dtype == "int64"
    assert wide["left.depth"].shape == (4, 24, 32, 1)


def test_shared_images_draw_the_same_numbers(file: pathlib.Path) -> None:
    fields = ["left.image.affine", "right.image.affine"]
    apart = batches(file, fields=fields)[0]
    together = batches(file, fields=fields, shared=[("left.image", "right.image")])[0]
    assert not np.array_equal(apart[fields[0]].numpy(), apart[fields[1]].numpy())
    assert np.array_equal(together[fields[0]].numpy(), together[fields[1]].numpy())
    assert np.array_equal(together[fields[0]].numpy(), apart[fields[0]].numpy())


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"shared": "left.image"}, TypeError, r"`shared` has the wrong type: expected groups of"),
        ({"shared": ["left.image"]}, TypeError, r"`shared\[0\]` has the wrong type"),
        ({"shared": [("left.image",)]}, ValueError, "a group of fewer than two images"),
        ({"dtype": {"left.mask": "float32"}}, ValueError, "expected uint8, uint16, int32 or int64"),
        ({"dtype": {"left.depth": "float16"}}, ValueError, "expected float32, found float16"),
        ({"dtype": "int64"}, ValueError, "the dtype is not supported for images"),
        ({"boxes": "yxyx"}, ValueError, "`boxes` is invalid"),
        ({"min_area": 1.5}, ValueError, "`min_area` is out of range"),
        (
            {"transforms": {"right.image": [T.RandomIoUCrop()]}},
            ValueError,
            "no boxes refer to the image 'right.image'",
        ),
    ],
)
def test_wrong_options_are_refused(
    file: pathlib.Path, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        batches(file, **options)
