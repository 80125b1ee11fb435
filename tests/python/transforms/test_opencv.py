"""Resizing, warps and colours, against OpenCV."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fuelrail as fr
from fuelrail import _core
from fuelrail.mxnet.image import imresize

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)  # Intel's library rounds differently

SIDES = st.integers(1, 96)
CHANNELS = st.sampled_from([1, 3, 4])
INTERPOLATIONS = st.integers(0, 4)
# OpenCV drops the last axis of an image with one channel.
SEEDS = st.integers(0, 2**32 - 1)


def noise(height: int, width: int, channels: int, seed: int) -> np.ndarray:
    """Random images; half are only black and white, to test overshoot and clipping."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)
    return np.where(pixels < 128, 0, 255).astype(np.uint8) if seed % 2 else pixels


@settings(max_examples=600, deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, CHANNELS, INTERPOLATIONS, SEEDS)
def test_any_size_resizes_to_any_other_as_in_opencv(
    height, width, new_height, new_width, channels, interp, seed
):
    pixels = noise(height, width, channels, seed)
    expected = cv2.resize(pixels, (new_width, new_height), interpolation=interp)
    expected = expected.reshape(new_height, new_width, channels)
    np.testing.assert_array_equal(imresize(pixels, new_width, new_height, interp), expected)


@settings(max_examples=200, deadline=None)
@given(SIDES, SIDES, st.integers(1, 6), st.integers(1, 6), CHANNELS, INTERPOLATIONS, SEEDS)
def test_whole_multiples_shrink_as_in_opencv(height, width, down, across, channels, interp, seed):
    pixels = noise(height * down, width * across, channels, seed)
    expected = cv2.resize(pixels, (width, height), interpolation=interp).reshape(
        height, width, channels
    )
    np.testing.assert_array_equal(imresize(pixels, width, height, interp), expected)


@pytest.mark.parametrize("interp", range(5))
@pytest.mark.parametrize("size", [(256, 341), (224, 224), (48, 1000), (900, 1200)])
def test_photographs_sizes_resize_as_in_opencv(interp, size):
    pixels = noise(375, 500, 3, 8)
    expected = cv2.resize(pixels, size[::-1], interpolation=interp)
    np.testing.assert_array_equal(imresize(pixels, size[1], size[0], interp), expected)


@settings(max_examples=400, deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, CHANNELS, INTERPOLATIONS, SEEDS)
def test_affine_warps_are_opencvs(height, width, new_height, new_width, channels, interp, seed):
    pixels = noise(height, width, channels, seed)
    random = np.random.default_rng(seed)
    matrix = np.eye(2, 3) + random.normal(0, 0.4, (2, 3)) * [1, 1, 30]
    if seed % 7 == 0:
        matrix = np.round(matrix)  # integers, and matrices without an inverse
    expected = cv2.warpAffine(
        pixels,
        matrix,
        (new_width, new_height),
        flags=interp,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=(201,) * 4,
    )
    made = _core.cv_warp_affine(
        pixels, matrix.ravel().tolist(), new_height, new_width, interp, 201
    ).numpy()
    np.testing.assert_array_equal(made, expected.reshape(new_height, new_width, channels))


def colours() -> np.ndarray:
    """One in 64 of all colours, evenly spaced, in rows of 512."""
    level = np.arange(0, 256, dtype=np.uint8)
    some = np.stack(np.meshgrid(level[::4], level[1::4], level[3::4], indexing="ij"), -1)
    return np.ascontiguousarray(some.reshape(-1, 512, 3))


def test_hue_lightness_and_saturation_are_opencvs_but_for_fused_multiplications():
    pixels = colours()
    made = _core.cv_rgb_to_hls(pixels).numpy()
    difference = np.abs(made.astype(int) - cv2.cvtColor(pixels, cv2.COLOR_RGB2HLS))
    # If OpenCV's build fuses multiply and add, one hue in ten thousand rounds differently.
    assert difference.max() <= 1
    assert np.count_nonzero(difference) <= pixels.size // 10_000


def test_colours_of_hue_lightness_and_saturation_are_opencvs():
    pixels = colours()
    np.testing.assert_array_equal(
        _core.cv_hls_to_rgb(pixels).numpy(), cv2.cvtColor(pixels, cv2.COLOR_HLS2RGB)
    )


LONG = 2**20 + 1


@pytest.mark.parametrize("shape", [(1, LONG, 3), (LONG, 2, 1)])
def test_images_of_any_length_are_resized_by_nearest_and_copied(shape):
    pixels = noise(*shape, 4)
    nearest = cv2.resize(pixels, (7, 3), interpolation=cv2.INTER_NEAREST).reshape(3, 7, shape[2])
    np.testing.assert_array_equal(imresize(pixels, 7, 3, 0), nearest)
    for interp in range(5):
        np.testing.assert_array_equal(imresize(pixels, shape[1], shape[0], interp), pixels)


@pytest.mark.parametrize("interp", range(1, 5))
def test_sums_of_images_that_are_too_long_are_refused(interp):
    said = f"of at most 1048576 pixels, found height 1, width {LONG}. .* nearest interpolation"
    with pytest.raises(fr.UnsupportedError, match=said):
        imresize(np.zeros((1, LONG, 1), np.uint8), 10, 1, interp)


def test_interpolation_9_chooses_by_the_sizes():
    pixels = noise(40, 50, 3, 2)
    for (width, height), interp in {(90, 80): 2, (20, 30): 3, (90, 20): 1, (50, 80): 1}.items():
        np.testing.assert_array_equal(
            imresize(pixels, width, height, 9), imresize(pixels, width, height, interp)
        )


def test_pixels_need_not_lie_together():
    pixels = noise(40, 50, 3, 2)
    np.testing.assert_array_equal(
        imresize(pixels[::2, ::-1], 20, 10), imresize(pixels[::2, ::-1].copy(), 20, 10)
    )


def test_what_is_no_image_of_bytes_is_refused():
    with pytest.raises(fr.ArgumentTypeError, match="expected uint8, found float32"):
        imresize(np.zeros((4, 4, 3), np.float32), 2, 2)
    for shape in [(4, 4), (4, 4, 2), (0, 4, 3), (4, 0, 3), (1, 4, 4, 3)]:
        with pytest.raises(fr.InvalidArgumentError, match="the pixels have an invalid shape"):
            imresize(np.zeros(shape, np.uint8), 2, 2)


@pytest.mark.parametrize(
    ("width", "height", "interp"), [(0, 4, 1), (4, -1, 1), (4, 4, 5), (4, 4, 10), (4, 4, -1)]
)
def test_sizes_and_interpolations_that_are_none_are_refused(width, height, interp):
    with pytest.raises(fr.InvalidArgumentError):
        imresize(np.zeros((4, 4, 3), np.uint8), width, height, interp)


def test_a_side_that_the_warp_cannot_count_is_refused():
    with pytest.raises(fr.InvalidArgumentError, match="at most 32766"):
        _core.cv_warp_affine(np.zeros((1, 32767, 1), np.uint8), [1, 0, 0, 0, 1, 0], 4, 4, 1, 0)
