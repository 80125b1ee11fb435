"""The interpolations of im2rec, from Python and the command, against OpenCV."""

from __future__ import annotations

import io
import pathlib
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from fuelrail.mxnet import im2rec
from photographs import encoded, photograph

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)  # Intel's library rounds differently

METHODS = range(5)
PNG = {"encoding": ".png", "color": -1}

# Height, width, mode, and the method that 9 selects for 35 x 45.
SHAPES = [
    (40, 60, "RGB", 3),
    (35, 90, "RGB", 1),
    (50, 30, "RGB", 1),
    (20, 30, "RGB", 2),
    (33, 44, "L", 2),
    (70, 90, "L", 3),
    (30, 50, "RGBA", 1),
    (64, 50, "RGBA", 3),
]


def picture(number: int, height: int, width: int, mode: str) -> Image.Image:
    image = photograph(number, height, width)
    if mode == "RGBA":
        image.putalpha(photograph(number + 100, height, width).convert("L"))
    return image.convert(mode)


def stored(path: object) -> list[np.ndarray]:
    return [np.asarray(Image.open(io.BytesIO(sample.image))) for sample in fr.open(str(path))]


@pytest.fixture
def shapes(tmp_path: pathlib.Path) -> pathlib.Path:
    """A list with one image of each shape."""
    with (tmp_path / "x.lst").open("w") as lines:
        for i, (height, width, mode, _) in enumerate(SHAPES):
            image = picture(i, height, width, mode)
            (tmp_path / f"{i}.png").write_bytes(encoded(image, "PNG"))
            lines.write(f"{i}\t0\t{i}.png\n")
    return tmp_path / "x.lst"


@pytest.mark.parametrize("method", [*METHODS, 9])
def test_interpolations_are_opencvs(shapes: pathlib.Path, method: int) -> None:
    made = stored(im2rec(shapes, None, PNG | {"resize": (45, 35), "inter_method": method}))
    for i, (*_, auto) in enumerate(SHAPES):
        original = np.asarray(Image.open(shapes.with_name(f"{i}.png")))
        used = auto if method == 9 else method
        expected = cv2.resize(original, (45, 35), interpolation=used)
        np.testing.assert_array_equal(made[i], expected, err_msg=str(SHAPES[i]))


def test_sizes_are_width_and_height(shapes: pathlib.Path) -> None:
    made = stored(im2rec(shapes, None, PNG | {"resize": (30, 20)}))
    assert [image.shape[:2] for image in made] == [(20, 30)] * len(SHAPES)


def resized(original: np.ndarray, side: int, method: int) -> np.ndarray:
    """Resizes with OpenCV; the shorter side is as in MXNet's im2rec."""
    height, width = original.shape[:2]
    shorter = min(height, width)
    size = (width * side // shorter, height * side // shorter)
    return cv2.resize(original, size, interpolation=method)


@pytest.mark.parametrize("method", [*METHODS, 9])
def test_the_command_has_the_same_numbers(shapes: pathlib.Path, method: int) -> None:
    options = ["--color", "-1", "--encoding", ".png", "--resize", "40"]
    words = ["im2rec", shapes.with_suffix(""), shapes.parent, *options, "-q"]
    words += ["--inter-method", method]
    assert fr._core.cli_main(["fuelrail", *map(str, words)]) == 0
    made = stored(shapes.with_suffix(".rec"))
    for i, (height, width, *_) in enumerate(SHAPES):
        original = np.asarray(Image.open(shapes.with_name(f"{i}.png")))
        auto = 2 if min(height, width) < 40 else 3  # if equal, nothing is resized
        used = (1 if min(height, width) == 40 else auto) if method == 9 else method
        expected = resized(original, 40, used)
        np.testing.assert_array_equal(made[i], expected, err_msg=str(SHAPES[i]))


# --- Method 10 ---

IMAGES = 40


@pytest.fixture
def repeated(tmp_path: pathlib.Path) -> pathlib.Path:
    """A list that repeats one image, so that only the method can differ."""
    (tmp_path / "one.png").write_bytes(encoded(photograph(1, 61, 83), "PNG"))
    (tmp_path / "x.lst").write_text("".join(f"{i}\t0\tone.png\n" for i in range(IMAGES)))
    return tmp_path / "x.lst"


def methods_of(made: list[np.ndarray], original: np.ndarray) -> list[int]:
    """The method, of five, that resized each image."""
    five = [resized(original, 40, method) for method in METHODS]
    found = [[m for m in METHODS if np.array_equal(five[m], image)] for image in made]
    assert [len(methods) for methods in found] == [1] * len(made)
    return [method for (method,) in found]


def test_method_10_is_any_of_the_five_for_each_image(repeated: pathlib.Path) -> None:
    original = np.asarray(Image.open(repeated.with_name("one.png")))
    params: dict[str, Any] = PNG | {"resize": 40, "inter_method": 10, "overwrite": True}
    used = methods_of(stored(im2rec(repeated, None, params)), original)
    assert len(used) == IMAGES
    assert set(used) == set(METHODS)
    for same in ({"num_workers": 3}, {"seed": 0}):
        assert methods_of(stored(im2rec(repeated, None, params | same)), original) == used
    other = methods_of(stored(im2rec(repeated, None, params | {"seed": 1})), original)
    assert set(other) == set(METHODS)
    assert other != used


def test_method_10_of_the_command_is_that_of_python(
    repeated: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    params = PNG | {"resize": 40, "inter_method": 10}
    expected = im2rec(repeated, None, params, tmp_path / "python.rec")
    words = ["im2rec", repeated.with_suffix(""), tmp_path, "--resize", 40, "--inter-method", 10]
    words += ["--color", -1, "--encoding", ".png", "--num-thread", 2, "-q"]
    assert fr._core.cli_main(["fuelrail", *map(str, words)]) == 0
    assert repeated.with_suffix(".rec").read_bytes() == pathlib.Path(str(expected)).read_bytes()
