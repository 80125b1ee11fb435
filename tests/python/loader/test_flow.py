"""Optical flow moves with its pictures: it still maps the first picture to the second."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail import fields as F
from fuelrail import transforms as T

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]

SIZE = (96, 128)
SEED = 4
GROWTH = np.array([[0.03, -0.06], [0.05, -0.02]])
SHIFT = np.array([5.0, -4.0])
SCHEMA = fr.Schema(
    {
        "first": F.Image(encode="png"),
        "second": F.Image("first", encode="png"),
        "flow": F.Map("first", fill=float("nan")),
        "tensor": F.Map("first", fill=float("nan"), dtype="float64", shape=(-1, -1, 2)),
        "half": F.Map("first", fill=float("nan")),
        "numbers": F.Map("first", fill=float("nan"), vectors=False),
    }
)
FLOWS = ["flow", "tensor", "half"]
LISTS: list[list[T.Transform]] = [
    [T.CenterCrop((80, 90))],
    [T.HorizontalFlip(1)],
    [T.VerticalFlip(1), T.Resize((60, 200))],
    [T.RandomResizedCrop((70, 80), scale=(0.4, 0.9)), T.HorizontalFlip()],
    [T.RandomRotation(40, interpolation="bilinear", expand=True), T.HorizontalFlip(1)],
    [
        T.HorizontalFlip(1),
        T.RandomAffine(30, scale=(0.9, 1.4), shear=(-15, 15), interpolation="bilinear"),
        T.Resize(80),
    ],
]


def places(size: tuple[int, int]) -> Floats:
    """The middles of the pixels of an image, as (x, y)."""
    rows, columns = np.mgrid[: size[0], : size[1]] + 0.5
    return np.stack([columns, rows], -1)


def picture(at: Floats) -> Floats:
    x, y = at[..., 0], at[..., 1]
    waves = [np.sin(x / 5 + y / 9), np.cos(x / 8 - y / 6), np.sin(x / 11) * np.cos(y / 7)]
    return 127.5 + 100 * np.stack(waves, -1)


def flow(at: Floats) -> Floats:
    return at @ GROWTH.T + SHIFT


def sample() -> dict[str, Any]:
    """The second picture shows at p + flow(p) what the first one shows at p."""
    at = places(SIZE)
    before = (at - SHIFT) @ np.linalg.inv(np.eye(2) + GROWTH).T
    small = places((SIZE[0] // 2, SIZE[1] // 2))
    vectors = flow(at).astype(np.float32)
    return {
        "first": picture(at).round().astype(np.uint8),
        "second": picture(before).round().astype(np.uint8),
        "flow": vectors,
        "tensor": flow(at),
        "half": (flow(2 * small) / 2).astype(np.float32),  # in pixels of the map
        "numbers": vectors,
    }


def sampled(image: Floats, at: Floats) -> Floats:
    """The image's linearly interpolated values; NaN beyond the middles of its outermost pixels."""
    height, width = image.shape[:2]
    x, y = at[..., 0] - 0.5, at[..., 1] - 0.5
    inside = (x >= 0) & (y >= 0) & (x < width - 1) & (y < height - 1)
    x, y = np.where(inside, x, 0), np.where(inside, y, 0)
    left, top = x.astype(int), y.astype(int)
    right, lower = (x - left)[..., None], (y - top)[..., None]
    upper_row = image[top, left] * (1 - right) + image[top, left + 1] * right
    lower_row = image[top + 1, left] * (1 - right) + image[top + 1, left + 1] * right
    values: Floats = np.where(
        inside[..., None], upper_row * (1 - lower) + lower_row * lower, np.nan
    )
    return values


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("flow") / "pairs.rec"
    fr.pack([sample()] * 3, path, schema=SCHEMA)
    return path


@pytest.mark.parametrize("transforms", LISTS)
def test_moved_flow_maps_the_moved_pictures(
    file: pathlib.Path, transforms: list[T.Transform]
) -> None:
    loader = fr.Loader(
        file, 1, transforms=transforms, seed=SEED, dtype="uint8", layout="NHWC", as_dict=True
    )
    for position, batch in enumerate(loader):
        first, second = (np.asarray(batch[name])[0].astype(float) for name in ("first", "second"))
        drawn = T.draw(transforms, SIZE, SEED, 0, position)
        for name in [*FLOWS, "numbers"]:
            moved = np.asarray(batch[name])[0]
            vectors = name != "numbers"
            expected = drawn.move_map(sample()[name], fill=np.nan, vectors=vectors)
            assert np.array_equal(moved, expected, equal_nan=True)
            to = places(first.shape[:2]) + moved
            known = np.isfinite(sampled(moved, to)).all(-1)  # not in a border, in either picture
            errors = np.abs(sampled(second, to) - first)[known]
            assert known.mean() > 0.3
            assert (errors.mean() < 2) == (vectors or drawn.affine[0, 0] == 1), (name, position)


def test_only_two_channels_are_vectors(tmp_path: pathlib.Path) -> None:
    values = {"image": np.zeros((8, 8, 3), np.uint8), "map": np.zeros((8, 8, 3), np.float32)}
    fr.pack([values], tmp_path / "x.rec", schema={"image": F.Image(), "map": F.Map()})
    assert len(list(fr.Loader(tmp_path / "x.rec", 1, transforms=[T.CenterCrop(4)]))) == 1
    with pytest.raises(fr.UnsupportedError, match=r"'map'.* two channels.*3 channels.*vectors=Fal"):
        list(fr.Loader(tmp_path / "x.rec", 1, transforms=[T.HorizontalFlip(1)]))
