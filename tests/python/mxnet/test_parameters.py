"""Defaults of MXNet's iterators: in the specification, the binding and the docstrings."""

from __future__ import annotations

import ast
import pathlib
import re
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from detection_images import write_records
from fuelrail import _core
from fuelrail.mxnet import io
from photographs import encoded

# Kind and default of each option, by iterator. Source: MXNet 1.9.1's own list.
COMMON = {
    "path_imgrec": ("path", ""),
    "path_imglist": ("path", ""),
    "data_shape": ("shape", (3, 0, 0)),
    "num_parts": ("int", 1),
    "part_index": ("int", 0),
    "shuffle": ("bool", False),
    "shuffle_chunk_size": ("int", 0),
    "shuffle_chunk_seed": ("int", 0),
    "seed": ("int", 0),
    "batch_size": ("int", 0),
    "round_batch": ("bool", True),
    "mean_img": ("path", ""),
    **dict.fromkeys(("mean_r", "mean_g", "mean_b", "mean_a"), ("float", 0)),
    "scale": ("float", 1),
    "preprocess_threads": ("int", 4),
    "prefetch_buffer": ("int", 4),
    "dtype": ("one of float32 uint8 int8", "float32"),
}
STDS = ("std_r", "std_g", "std_b", "std_a")
PLAIN = COMMON | {
    **dict.fromkeys(STDS, ("float", 1)),
    "path_imgidx": ("path", ""),
    "label_width": ("int", 1),
    "seed_aug": ("int or None", None),
    "resize": ("int", -1),
    "rotate": ("int", -1),
    "max_rotate_angle": ("int", 0),
    "rotate_list": ("ints", []),
    "max_shear_ratio": ("float", 0),
    "max_random_scale": ("float", 1),
    "min_random_scale": ("float", 1),
    "max_aspect_ratio": ("float", 0),
    "min_aspect_ratio": ("float or None", None),
    "max_img_size": ("float", 1e10),
    "min_img_size": ("float", 0),
    "pad": ("int", 0),
    "fill_value": ("int", 255),
    "random_resized_crop": ("bool", False),
    "max_random_area": ("float", 1),
    "min_random_area": ("float", 1),
    "max_crop_size": ("int", -1),
    "min_crop_size": ("int", -1),
    "rand_crop": ("bool", False),
    "inter_method": ("int", 1),
    "brightness": ("float", 0),
    "contrast": ("float", 0),
    "saturation": ("float", 0),
    "random_h": ("int", 0),
    "random_s": ("int", 0),
    "random_l": ("int", 0),
    "pca_noise": ("float", 0),
    "mirror": ("bool", False),
    "rand_mirror": ("bool", False),
    "max_random_contrast": ("float", 0),
    "max_random_illumination": ("float", 0),
}
DETECTION = COMMON | {
    **dict.fromkeys(STDS, ("float", 0)),
    "label_width": ("int", -1),
    "label_pad_width": ("int", 0),
    "label_pad_value": ("float", -1),
    "resize": ("int", -1),
    "inter_method": ("int", 1),
    "rand_crop_prob": ("float", 0),
    "num_crop_sampler": ("int", 1),
    "min_crop_scales": ("floats", [0]),
    "max_crop_scales": ("floats", [1]),
    "min_crop_aspect_ratios": ("floats", [1]),
    "max_crop_aspect_ratios": ("floats", [1]),
    "min_crop_overlaps": ("floats", [0]),
    "max_crop_overlaps": ("floats", [1]),
    "min_crop_sample_coverages": ("floats", [0]),
    "max_crop_sample_coverages": ("floats", [1]),
    "min_crop_object_coverages": ("floats", [0]),
    "max_crop_object_coverages": ("floats", [1]),
    "max_crop_trials": ("ints", [25]),
    "crop_emit_mode": ("one of center overlap", "center"),
    "emit_overlap_thresh": ("float", 0.3),
    "rand_pad_prob": ("float", 0),
    "max_pad_scale": ("float", 1),
    "fill_value": ("int", 127),
    "max_random_hue": ("int", 0),
    "random_hue_prob": ("float", 0),
    "max_random_saturation": ("int", 0),
    "random_saturation_prob": ("float", 0),
    "max_random_illumination": ("int", 0),
    "random_illumination_prob": ("float", 0),
    "max_random_contrast": ("float", 0),
    "random_contrast_prob": ("float", 0),
    "rand_mirror_prob": ("float", 0),
    "resize_mode": ("one of force shrink fit", "force"),
}
TABLES = {False: PLAIN, True: DETECTION}
REQUIRED = ("path_imgrec", "data_shape", "batch_size")
ITERATORS: dict[bool, Any] = {False: io.ImageRecordIter, True: io.ImageDetRecordIter}


def same(found: Any, expected: Any) -> bool:
    """Equal in value and type, except for float32."""
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, bool) or isinstance(found, bool):
        return found is expected
    if isinstance(expected, (int, float)):
        return isinstance(found, (int, float)) and np.float32(found) == np.float32(expected)
    return bool(found == expected)


@pytest.mark.parametrize("detection", [False, True])
def test_every_parameter_has_mxnets_kind_and_default(detection: bool) -> None:
    found = {name: (kind, value) for name, kind, value, *_ in _core.record_parameters(detection)}
    assert {name: kind for name, (kind, _) in found.items()} == {
        name: kind for name, (kind, _) in TABLES[detection].items()
    }
    wrong = {
        name: (value, TABLES[detection][name][1])
        for name, (_, value) in found.items()
        if not same(value, TABLES[detection][name][1])
    }
    assert not wrong
    assert len(found) == len(_core.record_parameters(detection))


# --- Docstrings ---


def said_of(iterator: Any) -> dict[str, tuple[str, str]]:
    """The kind and text of each keyword in a docstring with entries `name (kind): text.`."""
    text = re.sub(r"\n {8}", " ", iterator.__doc__)
    entries = re.findall(r"^ {4}(\w+) \((.+?)\): (.+)$", text, re.MULTILINE)
    return {name: (kind, said) for name, kind, said in entries}


def said_default(said: str) -> Any:
    found = re.search(r" Default: (.+)\.$", said)
    return ast.literal_eval(found[1]) if found else None


@pytest.mark.parametrize("detection", [False, True])
def test_docstrings_say_every_parameters_kind_meaning_and_default(detection: bool) -> None:
    said = said_of(ITERATORS[detection])
    for name, (kind, default) in TABLES[detection].items():
        found, text = said[name]
        assert found == kind
        assert not text.startswith(("Default: ", "Required."))
        if name in REQUIRED and not (detection and name == "path_imgrec"):
            assert text.endswith(" Required.")
        elif name != "path_imgrec":
            assert same(said_default(text), default), (name, text)


def test_detections_records_have_a_default_name() -> None:
    assert said_default(said_of(io.ImageDetRecordIter)["path_imgrec"][1]) == "./data/imgrec.rec"


def test_docstrings_name_what_is_taken_without_effect() -> None:
    for iterator in ITERATORS.values():
        for name in ("aug_seq", "ctx", "device_id", "verbose", "augmenter", "data_name"):
            assert re.search(rf"\b{name}\b", iterator.__doc__), name


# --- Parameters of both iterators without golden outputs of MXNet ---


@pytest.fixture(scope="module")
def noise() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (30, 42, 4), dtype=np.uint8)


def one_row(tmp_path: pathlib.Path, noise: np.ndarray, detection: bool, **parameters: Any) -> Any:
    label = [2, 5, 0, 0.1, 0.1, 0.9, 0.9] if detection else 1.0
    write_records(tmp_path / "noise.rec", [(encoded(Image.fromarray(noise), "PNG"), label)])
    options = {"path_imgrec": tmp_path / "noise.rec", "data_shape": (4, 30, 42), "batch_size": 1}
    return ITERATORS[detection](**(options | parameters)).next().data[0].asnumpy()[0]


@pytest.mark.parametrize("detection", [False, True])
def test_each_channel_has_a_mean_and_a_std_of_its_own(
    detection: bool, tmp_path: pathlib.Path, noise: np.ndarray
) -> None:
    means = {"mean_r": 10.0, "mean_g": 60.0, "mean_b": 110.0, "mean_a": 160.0}
    stds = {"std_r": 2.0, "std_g": 4.0, "std_b": 8.0, "std_a": 16.0}
    found = one_row(tmp_path, noise, detection, **means, **stds, scale=0.5)
    for channel, (mean, std) in enumerate(zip(means.values(), stds.values(), strict=True)):
        expected = (noise[:, :, channel].astype(np.float32) - mean) / std * 0.5
        np.testing.assert_array_equal(found[channel], expected)


@pytest.mark.parametrize("detection", [False, True])
def test_a_mean_alone_leaves_the_other_channels(
    detection: bool, tmp_path: pathlib.Path, noise: np.ndarray
) -> None:
    found = one_row(tmp_path, noise, detection, mean_a=7)
    expected = noise.astype(np.float32) - [0, 0, 0, 7]
    np.testing.assert_array_equal(found, expected.transpose(2, 0, 1))
    found = one_row(tmp_path, noise, detection, std_a=4)
    np.testing.assert_array_equal(found[3], noise[:, :, 3] / np.float32(4))
    np.testing.assert_array_equal(found[:3], noise[:, :, :3].transpose(2, 0, 1))


def test_detection_without_a_std_divides_by_nothing(
    tmp_path: pathlib.Path, noise: np.ndarray
) -> None:
    found = one_row(tmp_path, noise, True, std_r=0, std_g=-3, std_b=2)
    np.testing.assert_array_equal(found[0], noise[:, :, 0])
    np.testing.assert_array_equal(found[1], noise[:, :, 1])
    np.testing.assert_array_equal(found[2], noise[:, :, 2] / np.float32(2))


@pytest.mark.parametrize("detection", [False, True])
def test_a_random_interpolation_is_each_of_the_five(
    detection: bool, tmp_path: pathlib.Path, noise: np.ndarray
) -> None:
    image = encoded(Image.fromarray(noise[:, :, :3]), "PNG")
    label = [2, 5, 0, 0.1, 0.1, 0.9, 0.9] if detection else 1.0
    write_records(tmp_path / "many.rec", [(image, label)] * 40)
    iterator = ITERATORS[detection](
        path_imgrec=tmp_path / "many.rec",
        data_shape=(3, 20, 28),
        batch_size=40,
        inter_method=10,
        resize=20,
    )
    methods = [
        cv2.resize(noise[:, :, :3], (28, 20), interpolation=method).transpose(2, 0, 1).astype(int)
        for method in range(5)
    ]
    counts = [0] * 5
    for row in iterator.next().data[0].asnumpy():
        distances = [np.abs(row - method).max() for method in methods]
        method = int(np.argmin(distances))
        assert distances[method] <= (2 if method == cv2.INTER_CUBIC else 1)
        counts[method] += 1
    assert min(counts) >= 2, counts
