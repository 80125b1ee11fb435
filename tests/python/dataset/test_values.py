"""Masks and maps decode to the numbers that Pillow and NumPy read from the same bytes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

import fuelrail as fr
from fuelrail import _core

# Pillow's modes with one number for each pixel, and the options for writing each format.
KINDS: list[tuple[str, str, dict[str, object]]] = [
    *(("PNG", mode, {}) for mode in ("1", "L", "P", "I;16")),
    *(("PNG", "P", {"bits": bits}) for bits in (1, 2, 4)),
    *(("BMP", mode, {}) for mode in ("1", "L", "P")),
    ("JPEG", "L", {"quality": 90}),
]
SIZES = st.tuples(st.integers(1, 70), st.integers(1, 70))


def decoded(data: bytes, rgb: bool = False, upright: bool = True) -> np.ndarray:
    array = _core.decode_values(data, rgb, upright, _core.DEFAULT_MAX_PIXELS)
    return np.asarray(array)


def random_array(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return (random.standard_normal(shape) * 1000).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def image_of(
    mode: str, options: dict[str, object], size: tuple[int, int], seed: int
) -> Image.Image:
    if mode == "I;16":
        return Image.fromarray(random_array("uint16", size, seed))
    levels = random_array("uint8", size, seed)
    if mode == "1":
        return Image.fromarray(levels > 99)
    if mode == "L":
        return Image.fromarray(levels)
    colours = 2 ** int(str(options.get("bits", 8)))
    image = Image.frombytes("P", size[::-1], (levels & (colours - 1)).tobytes())
    image.putpalette(random_array("uint8", (3 * colours,), seed + 1).tobytes())
    return image


def encoded(image: Image.Image, kind: str, options: dict[str, object]) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def expected(data: bytes) -> np.ndarray:
    array = np.array(ImageOps.exif_transpose(Image.open(io.BytesIO(data))))
    return array.astype("uint8") if array.dtype == bool else array


@given(kind=st.sampled_from(KINDS), size=SIZES, seed=st.integers(0, 2**32))
def test_values_are_pillows_array(
    kind: tuple[str, str, dict[str, object]], size: tuple[int, int], seed: int
) -> None:
    name, mode, options = kind
    data = encoded(image_of(mode, options, size, seed), name, options)
    found, wanted = decoded(data), expected(data)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@given(size=SIZES, seed=st.integers(0, 2**32), orientation=st.integers(1, 8))
def test_masks_are_turned_upright(size: tuple[int, int], seed: int, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(image_of("P", {}, size, seed), "PNG", {"exif": exif})
    np.testing.assert_array_equal(decoded(data), expected(data))
    stored = np.array(Image.open(io.BytesIO(data)))
    np.testing.assert_array_equal(decoded(data, upright=False), stored)


@given(
    kind=st.sampled_from(["PNG", "BMP", "WEBP"]),
    mode=st.sampled_from(["RGB", "RGBA"]),
    size=SIZES,
    seed=st.integers(0, 2**32),
)
def test_panoptic_colours_are_the_numbers_that_they_encode(
    kind: str, mode: str, size: tuple[int, int], seed: int
) -> None:
    colours = random_array("uint8", (*size, len(mode)), seed)
    options: dict[str, object] = {"lossless": True, "exact": True} if kind == "WEBP" else {}
    found = decoded(encoded(Image.fromarray(colours), kind, options), rgb=True)
    assert found.dtype == np.int32
    numbers = colours[..., :3].astype(np.int32) @ np.array([1, 256, 65536], np.int32)
    np.testing.assert_array_equal(found, numbers)


@given(
    dtype=st.sampled_from(["uint8", "uint16", "int32", "float16", "float32"]),
    channels=st.sampled_from([None, 1, 3, 4]),
    size=SIZES,
    version=st.sampled_from([(1, 0), (2, 0), (3, 0)]),
    seed=st.integers(0, 2**32),
)
def test_arrays_are_read_as_numpy_writes_them(
    dtype: str,
    channels: int | None,
    size: tuple[int, int],
    version: tuple[int, int],
    seed: int,
) -> None:
    if np.dtype(dtype).kind != "f" and channels in (3, 4):
        channels = None
    shape = size if channels is None else (*size, channels)
    array = random_array(dtype, shape, seed)
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    found = decoded(out.getvalue())
    wanted = array[..., 0] if channels == 1 else array
    assert found.dtype == (np.float32 if array.dtype.kind == "f" else array.dtype)
    np.testing.assert_array_equal(found, wanted.astype(found.dtype))


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.array([[None, {}]], object), "never unpickled"),
        (np.asfortranarray(np.zeros((2, 3), np.uint8)), "Fortran order"),
        (np.zeros((2, 3), ">u2"), "big-endian"),
        (np.zeros((2, 3), [("a", "u1")]), "several fields"),
        (np.zeros((2, 3), np.int64), "expected uint8, uint16, int32, float16 or float32"),
        (np.zeros((2, 3), bool), "expected uint8, uint16, int32, float16 or float32"),
        (np.zeros((2, 3, 5), np.uint8), "shape of an image"),
        (np.zeros(3, np.uint8), "shape of an image"),
    ],
)
def test_other_arrays_are_refused(array: np.ndarray, match: str) -> None:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=array.dtype == object)
    with pytest.raises(fr.UnsupportedError, match=match):
        decoded(out.getvalue())


def test_images_without_single_values_are_refused_with_a_remedy() -> None:
    colours = Image.fromarray(random_array("uint8", (5, 6, 3), 1))
    with pytest.raises(fr.UnsupportedError, match='encoding="rgb"'):
        decoded(encoded(colours, "PNG", {}))
    with pytest.raises(fr.UnsupportedError, match="Store the mask as PNG"):
        decoded(encoded(colours, "JPEG", {}), rgb=True)
    with pytest.raises(fr.UnsupportedError, match='encoding="index"'):
        decoded(encoded(colours.convert("L"), "PNG", {}), rgb=True)
