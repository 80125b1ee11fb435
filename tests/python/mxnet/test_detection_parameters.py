"""Each parameter of ImageDetRecordIter: its effect on images and boxes, against NumPy and OpenCV.

Random positions are read from the pixels (detection_images.py). The random numbers of a sample do
not depend on limits and labels.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from detection_images import (
    HEIGHT,
    WHOLE,
    WIDTH,
    Box,
    coded_image,
    crop_size,
    depth_of_centre,
    expect_boxes_on_their_pixels,
    expect_padded,
    hls_shift,
    label_of,
    rows_of,
    window_of,
    write_coded,
    write_records,
)
from fuelrail import _core
from fuelrail.mxnet import io
from photographs import encoded

COUNT = 60
OBJECTS = [Box(12, 15, 52, 75), Box(70, 9, 110, 81)]
SHOWN: set[str] = set()


def shows(*names: str) -> Callable[[Any], Any]:
    """Records the parameters without which the test would fail."""
    SHOWN.update(names)
    return lambda test: test


def test_no_parameter_is_left_out() -> None:
    common = {
        *(
            "path_imgrec",
            "path_imglist",
            "data_shape",
            "batch_size",
            "num_parts",
            "part_index",
            "shuffle",
            "seed",
        ),
        *("shuffle_chunk_size", "shuffle_chunk_seed", "round_batch", "mean_img", "dtype"),
        *("mean_r", "mean_g", "mean_b", "mean_a", "std_r", "std_g", "std_b", "std_a", "scale"),
        *("preprocess_threads", "prefetch_buffer"),
    }  # the binding sets these for both iterators; other files test them
    assert {name for name, *_ in _core.record_parameters(True)} == SHOWN | common
    assert not SHOWN & common


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The coded image with two objects, COUNT times."""
    return write_coded(tmp_path_factory.mktemp("det") / "objects.rec", OBJECTS, COUNT)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The coded image with two objects, once."""
    return write_coded(tmp_path_factory.mktemp("det") / "one.rec", OBJECTS, 1)


@shows("resize")
def test_resize_makes_the_shorter_side_so_long(one: pathlib.Path) -> None:
    (row,) = rows_of(one, resize=45)
    assert row.size == (45, 60)
    np.testing.assert_array_equal(row.image, cv2.resize(coded_image(OBJECTS), (60, 45)))
    assert rows_of(one)[0].size == (HEIGHT, WIDTH)


@shows("resize_mode")
@pytest.mark.parametrize(
    ("mode", "shape", "size"),
    [
        ("force", (50, 50), (50, 50)),
        ("shrink", (50, 60), (45, 60)),
        ("shrink", (100, 130), (HEIGHT, WIDTH)),
        ("fit", (50, 60), (45, 60)),
        ("fit", (200, 160), (120, 160)),
    ],
)
def test_resize_mode_decides_on_the_ratio_and_on_small_images(
    mode: str, shape: tuple[int, int], size: tuple[int, int], one: pathlib.Path
) -> None:
    (row,) = rows_of(one, resize_mode=mode, data_shape=(3, *shape))
    assert row.size == size
    expected = cv2.resize(coded_image(OBJECTS), (size[1], size[0]))
    np.testing.assert_array_equal(row.image, expected)
    np.testing.assert_allclose(list(row.objects.values()), fractions(OBJECTS), atol=1e-6)
    (nearest,) = rows_of(one, resize_mode=mode, data_shape=(3, *shape), inter_method=0)
    expect_boxes_on_their_pixels(nearest)


def fractions(boxes: Sequence[Box]) -> list[Box]:
    return [box.scaled(1 / WIDTH, 1 / HEIGHT) for box in boxes]


@shows("inter_method")
@pytest.mark.parametrize("method", [0, 1, 2, 3, 4, 9])
def test_inter_method_is_opencvs(method: int, tmp_path: pathlib.Path) -> None:
    noise = np.random.default_rng(7).integers(0, 256, (40, 56, 3), dtype=np.uint8)
    path = write_records(
        tmp_path / "noise.rec", [(encoded(Image.fromarray(noise), "PNG"), label_of([WHOLE]))]
    )
    for height, width, automatic in ((25, 30, 3), (60, 70, 2), (25, 70, 1)):
        (row,) = rows_of(
            path, inter_method=method, resize_mode="force", data_shape=(3, height, width)
        )
        interpolation = automatic if method == 9 else method
        expected = cv2.resize(noise, (width, height), interpolation=interpolation)
        most = 2 if interpolation == cv2.INTER_CUBIC else 1
        assert np.abs(row.image - expected.astype(int)).max() <= most


# --- Colours ---


@pytest.fixture(scope="module")
def patches(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, np.ndarray]:
    """48 colours, neither dark nor pale, COUNT times."""
    colours = np.random.default_rng(5).integers(40, 160, (6, 8, 3), dtype=np.uint8)
    record = (encoded(Image.fromarray(colours), "PNG"), label_of([WHOLE]))
    path = tmp_path_factory.mktemp("det") / "patches.rec"
    return write_records(path, [record] * COUNT), colours


def images_of(path: pathlib.Path, **parameters: Any) -> list[np.ndarray]:
    return [row.image for row in rows_of(path, data_shape=(3, 6, 8), **parameters)]


@shows(
    *("max_random_hue", "random_hue_prob", "max_random_saturation", "random_saturation_prob"),
    *("max_random_illumination", "random_illumination_prob"),
)
@pytest.mark.parametrize(
    ("channel", "most", "probability"),
    [
        (0, "max_random_hue", "random_hue_prob"),
        (1, "max_random_illumination", "random_illumination_prob"),
        (2, "max_random_saturation", "random_saturation_prob"),
    ],
)
def test_each_of_hls_is_shifted_by_at_most_so_much_and_alone(
    channel: int, most: str, probability: str, patches: tuple[pathlib.Path, np.ndarray]
) -> None:
    path, colours = patches
    for limit in (12, 40):
        found = images_of(path, **{most: limit, probability: 1})
        shifts = [hls_shift(colours, image, channel) for image in found]
        assert -limit <= min(shifts) < -limit / 2
        assert limit / 2 < max(shifts) <= limit
    for none in ({most: 40}, {probability: 1}, {most: 40, probability: 0}):
        for image in images_of(path, **none):
            np.testing.assert_array_equal(image, colours)
    half = [
        hls_shift(colours, image, channel)
        for image in images_of(path, **{most: 40, probability: 0.5})
    ]
    assert COUNT / 4 < half.count(0) < COUNT * 3 / 4


@shows("max_random_contrast", "random_contrast_prob")
def test_contrast_is_one_factor_of_all_levels(patches: tuple[pathlib.Path, np.ndarray]) -> None:
    path, colours = patches
    factors = []
    for image in images_of(path, max_random_contrast=0.5, random_contrast_prob=1):
        factor = image.sum() / colours.sum()
        assert np.abs(image - colours * factor).max() <= 1
        factors.append(factor)
    assert 0.5 <= min(factors) < 0.75
    assert 1.25 < max(factors) <= 1.5
    for none in ({"max_random_contrast": 0.5}, {"random_contrast_prob": 1}):
        for image in images_of(path, **none):
            np.testing.assert_array_equal(image, colours)


# --- Mirror and pad ---


@shows("rand_mirror_prob")
def test_mirror_exchanges_left_and_right_of_image_and_boxes(objects: pathlib.Path) -> None:
    flipped = coded_image(OBJECTS)[:, ::-1]
    expected = [Box(1 - box.right, box.top, 1 - box.left, box.bottom) for box in fractions(OBJECTS)]
    for row in rows_of(objects, rand_mirror_prob=1):
        np.testing.assert_array_equal(row.image, flipped)
        np.testing.assert_allclose(list(row.objects.values()), expected, atol=1e-6)
        expect_boxes_on_their_pixels(row, pixels=0.01)
    some = [np.array_equal(row.image, flipped) for row in rows_of(objects, rand_mirror_prob=0.5)]
    assert COUNT / 4 < sum(some) < COUNT * 3 / 4


@shows("rand_pad_prob", "max_pad_scale", "fill_value")
def test_pad_lays_image_and_boxes_into_a_canvas_of_the_fill_value(objects: pathlib.Path) -> None:
    large = {"data_shape": (3, 3 * HEIGHT, 3 * WIDTH), "rand_pad_prob": 1}
    for scale, fill in ((1.5, 77), (3, 201)):
        rows = rows_of(objects, max_pad_scale=scale, fill_value=fill, **large)
        scales = [expect_padded(row, OBJECTS, fill) for row in rows]
        assert (1 + scale) / 2 < max(scales) <= scale
        assert len(set(scales)) > COUNT / 2
    for none in ({"max_pad_scale": 1}, {"max_pad_scale": 3, "rand_pad_prob": 0}):
        assert {row.size for row in rows_of(objects, **(large | none))} == {(HEIGHT, WIDTH)}
    some = rows_of(objects, max_pad_scale=3, **(large | {"rand_pad_prob": 0.5}))
    unchanged = [row for row in some if row.size == (HEIGHT, WIDTH)]
    assert COUNT / 4 < len(unchanged) < COUNT * 3 / 4
    assert {expect_padded(row, OBJECTS, 127) >= 1 for row in some} == {True}  # the default


def raw_labels(path: pathlib.Path, **parameters: Any) -> np.ndarray:
    iterator = io.ImageDetRecordIter(
        path_imgrec=path, data_shape=(3, 8, 8), batch_size=1, **parameters
    )
    batch = iterator.next()
    assert batch.label[0].shape == iterator.provide_label[0].shape
    return batch.label[0].asnumpy()[0]


@shows("label_pad_width", "label_pad_value")
def test_labels_are_filled_up_to_the_width_with_the_value(one: pathlib.Path) -> None:
    label = np.float32([3, 8, 8, 12, *label_of(OBJECTS)])
    for width in (0, -1, 12):
        np.testing.assert_array_equal(raw_labels(one, label_pad_width=width), label)
    filled = raw_labels(one, label_pad_width=20, label_pad_value=-7.5)
    np.testing.assert_array_equal(filled, [*label, *[-7.5] * 8])
    np.testing.assert_array_equal(raw_labels(one, label_pad_width=13), [*label, -1])


@shows("label_width")
def test_label_width_is_how_many_numbers_of_a_lists_row_count(
    one: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    first, second = [2, 5, 7, 0, 0, 0.5, 0.5], [8, 0.5, 0.5, 1, 1]
    numbers = "\t".join(map(str, first + second))
    (tmp_path / "some.lst").write_text(f"500\t{numbers}\tan image.png\n")
    listed = {"path_imglist": tmp_path / "some.lst"}
    np.testing.assert_array_equal(raw_labels(one, **listed)[3:], [12, *first, *second])
    np.testing.assert_array_equal(
        raw_labels(one, label_width=-1, **listed), raw_labels(one, **listed)
    )
    np.testing.assert_array_equal(raw_labels(one, label_width=7, **listed)[3:], [7, *first])
    np.testing.assert_array_equal(raw_labels(one, label_width=12), raw_labels(one))


# --- Crops ---

# One try of one sampler, which crops half of each side at a position that limits do not change.
HALF = {"rand_crop_prob": 1, "min_crop_scales": 0.5, "max_crop_scales": 0.5, "max_crop_trials": 1}


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> list[Box]:
    """The window of each sample's first try: an object that fills the image accepts any window."""
    path = write_coded(tmp_path_factory.mktemp("det") / "whole.rec", [WHOLE], COUNT)
    return [
        window_of(row)
        for row in rows_of(path, **HALF, crop_emit_mode="overlap", emit_overlap_thresh=0)
    ]


def sizes_of(path: pathlib.Path, **parameters: Any) -> list[tuple[int, int]]:
    """Sizes of crops that any object accepts; checks their pixels and boxes."""
    always = {"rand_crop_prob": 1, "crop_emit_mode": "overlap", "emit_overlap_thresh": 0}
    rows = rows_of(path, **(always | parameters))
    for row in rows:
        window_of(row)
        expect_boxes_on_their_pixels(row)
    return [row.size for row in rows]


@shows("rand_crop_prob", "num_crop_sampler")
def test_crops_happen_with_their_probability_and_by_a_sampler(objects: pathlib.Path) -> None:
    whole = {(HEIGHT, WIDTH)}
    half = {"min_crop_scales": 0.5, "max_crop_scales": 0.5}
    assert set(sizes_of(objects, **half)) == {crop_size(0.5)}
    assert set(sizes_of(objects, rand_crop_prob=0, **half)) == whole
    assert set(sizes_of(objects, num_crop_sampler=0, **half)) == whole
    some = sizes_of(objects, rand_crop_prob=0.5, **half)
    assert COUNT / 4 < some.count((HEIGHT, WIDTH)) < COUNT * 3 / 4


@shows("min_crop_scales", "max_crop_scales")
def test_scales_are_the_limits_of_a_crops_sides(objects: pathlib.Path) -> None:
    for scale in (0.3, 0.6):
        found = sizes_of(objects, min_crop_scales=scale, max_crop_scales=scale)
        assert set(found) == {crop_size(scale)}
    least = [height for height, _ in sizes_of(objects, min_crop_scales=0.6, max_crop_scales=0.8)]
    assert (
        crop_size(0.6)[0]
        <= min(least)
        < crop_size(0.65)[0]
        < crop_size(0.75)[0]
        < max(least)
        <= crop_size(0.8)[0]
    )
    assert min(sizes_of(objects, min_crop_scales=0.6)) >= crop_size(0.6)
    assert crop_size(0.3) < max(sizes_of(objects, max_crop_scales=0.4)) <= crop_size(0.4)


@shows("min_crop_aspect_ratios", "max_crop_aspect_ratios")
def test_aspect_ratios_are_the_limits_of_width_by_height(objects: pathlib.Path) -> None:
    half = {"min_crop_scales": 0.5, "max_crop_scales": 0.5}
    for ratio in (0.5, 2):
        found = sizes_of(
            objects, min_crop_aspect_ratios=ratio, max_crop_aspect_ratios=ratio, **half
        )
        assert set(found) == {crop_size(0.5, ratio)}
    flat = [width / height for height, width in sizes_of(objects, max_crop_aspect_ratios=2, **half)]
    assert 0.97 < min(flat) < 1.4 < 1.7 < max(flat) < 2.1
    high = [
        width / height for height, width in sizes_of(objects, min_crop_aspect_ratios=0.5, **half)
    ]
    assert 0.48 < min(high) < 0.65 < 0.85 < max(high) < 1.03


@shows("max_crop_trials")
def test_each_sampler_has_its_values_and_trials(objects: pathlib.Path) -> None:
    scales = {"min_crop_scales": [0.3, 0.5, 0.7], "max_crop_scales": [0.3, 0.5, 0.7]}
    found = sizes_of(objects, num_crop_sampler=3, **scales)
    assert set(found) == {crop_size(0.3), crop_size(0.5), crop_size(0.7)}
    found = sizes_of(objects, num_crop_sampler=3, max_crop_trials=[0, 5, 0], **scales)
    assert set(found) == {crop_size(0.5)}
    assert set(sizes_of(objects, max_crop_trials=0)) == {(HEIGHT, WIDTH)}
    rare = HALF | {"min_crop_object_coverages": 0.75}
    missed = [sizes_of(objects, **(rare | {"max_crop_trials": n})) for n in (1, 5, 1000)]
    whole = [sizes.count((HEIGHT, WIDTH)) for sizes in missed]
    assert whole[0] > whole[1] > whole[2] == 0


def before_cut(window: Box) -> Box:
    """The position of a window of HALF, to half a pixel, before it was rounded to whole pixels."""
    length = (HEIGHT * WIDTH) ** 0.5 / 2
    left, top = window.left + 0.5, window.top + 0.5
    return Box(left, top, left + length, top + length)


LARGE = Box(20, 15, 80, 75)


def overlap(window: Box) -> float:
    common = window.common(LARGE).area
    return common / (window.area + LARGE.area - common)


def sample_coverage(window: Box) -> float:
    return window.common(LARGE).area / window.area


def object_coverage(window: Box) -> float:
    return window.common(LARGE).area / LARGE.area


@shows(
    *("min_crop_overlaps", "max_crop_overlaps", "min_crop_sample_coverages"),
    *("max_crop_sample_coverages", "min_crop_object_coverages", "max_crop_object_coverages"),
)
@pytest.mark.parametrize(
    ("parameter", "measure", "limit"),
    [
        ("min_crop_overlaps", overlap, 0.4),
        ("max_crop_overlaps", overlap, 0.4),
        ("min_crop_sample_coverages", sample_coverage, 0.5),
        ("max_crop_sample_coverages", sample_coverage, 0.5),
        ("min_crop_object_coverages", object_coverage, 0.5),
        ("max_crop_object_coverages", object_coverage, 0.5),
    ],
)
def test_a_limit_refuses_crops_by_its_own_measure(
    parameter: str,
    measure: Callable[[Box], float],
    limit: float,
    windows: list[Box],
    tmp_path: pathlib.Path,
) -> None:
    path = write_coded(tmp_path / "large.rec", [LARGE], COUNT)
    always = {"crop_emit_mode": "overlap", "emit_overlap_thresh": 0}
    rows = rows_of(path, **HALF, **always, **{parameter: limit})
    taken = [row.size != (HEIGHT, WIDTH) for row in rows]

    def expected(measured: Callable[[Box], float]) -> list[bool]:
        places = map(before_cut, windows)
        return [(measured(place) >= limit) == parameter.startswith("min") for place in places]

    # A part that is the whole image may be rounded up, and then exceeds the other limit, 1.
    measures = [measure(before_cut(window)) for window in windows]
    sure = [abs(each - limit) > 0.02 and each < 0.99 for each in measures]
    assert sum(sure) > COUNT / 2
    for found, wanted, certain in zip(taken, expected(measure), sure, strict=True):
        assert found == wanted or not certain
    for other in {overlap, sample_coverage, object_coverage} - {measure}:
        told_apart = zip(expected(other), expected(measure), sure, strict=True)
        assert any(theirs != ours and certain for theirs, ours, certain in told_apart)
    for row, window, cropped in zip(rows, windows, taken, strict=True):
        assert window_of(row) == (window if cropped else WHOLE)
        expect_boxes_on_their_pixels(row)


@shows("crop_emit_mode", "emit_overlap_thresh")
@pytest.mark.parametrize(
    ("mode", "threshold"), [("center", 0.9), ("overlap", 0.2), ("overlap", 0.7)]
)
def test_crops_keep_objects_by_their_centres_or_by_how_much_they_show(
    mode: str, threshold: float, windows: list[Box], objects: pathlib.Path
) -> None:
    rows = rows_of(objects, **HALF, crop_emit_mode=mode, emit_overlap_thresh=threshold)
    kept_of_all = []
    for row, window in zip(rows, windows, strict=True):
        place = before_cut(window)
        shown = [box.common(place).area / box.area for box in OBJECTS]
        if mode == "center":
            kept = {n for n, box in enumerate(OBJECTS) if depth_of_centre(place, box) > 0}
            sure = all(abs(depth_of_centre(place, box)) > 0.6 for box in OBJECTS)
        else:
            kept = {n for n, share in enumerate(shown) if share > threshold}
            sure = all(abs(share - threshold) > 0.03 for share in shown)
        if not sure:
            continue
        kept_of_all.append(tuple(kept))
        if not kept:
            assert window_of(row) == WHOLE
            continue
        assert window_of(row) == window
        assert set(row.objects) == kept
        for number in kept:
            assert (
                np.abs(np.subtract(row.objects[number], OBJECTS[number].within(place))).max() < 0.04
            )
    assert len(kept_of_all) > COUNT / 2
    assert len(set(kept_of_all)) > 1
