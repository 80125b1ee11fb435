"""Steps on images, and the engine's transforms that do the same."""

from __future__ import annotations

import io
import pathlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from fuelrail import transforms as T
from fuelrail.inputs import DataType
from fuelrail.inputs.processing_steps import (
    AffineTransformer,
    AxesLayoutSetter,
    ImageDecoder,
    ImageMeanStdDevNormalizer,
    ImageRange01Normalizer,
    ImageToTileSizePadder,
    PhotoMetricDistorter,
)
from loading import record_file
from step_samples import after, batch_of

RANDOM = np.random.default_rng(3)
NOISE = RANDOM.integers(0, 256, (48, 64, 3), np.uint8)
SMOOTH = np.asarray(Image.fromarray(NOISE).resize((96, 72), Image.Resampling.BICUBIC))
A = AffineTransformer
UNCHANGED: dict[str, Any] = {
    "image_name": "image",
    "min_max_brightness": [0, 0],
    "min_max_hue": [0, 0],
    "min_max_contrast": [1, 1],
    "min_max_saturation": [1, 1],
    "prob_brightness_aug": 0,
    "prob_hue_aug": 0,
    "prob_contrast_aug": 0,
    "prob_saturation_aug": 0,
    "prob_swap_channels": 0,
    "enforce_process_on_gpu": False,
}


def encoded(image: np.ndarray, form: str = "PNG") -> np.ndarray:
    file = io.BytesIO()
    Image.fromarray(image).save(file, form, quality=90)
    return np.frombuffer(file.getvalue(), np.uint8)


def of_engine(
    folder: pathlib.Path, image: np.ndarray, transforms: list[Any], **options: Any
) -> np.ndarray:
    """The engine's batch of the image after transforms: HWC."""
    file = image if image.ndim == 1 else encoded(image)
    path = record_file(folder / "one.rec", [file.tobytes()])
    options = {"dtype": "uint8", "layout": "NHWC", "fields": ("image",), **options}
    loader = fr.Loader(path, 1, transforms=transforms, **options)
    with loader:
        [images] = next(iter(loader))
        image = images.numpy()[0] if isinstance(images, fr.Array) else images[0].numpy()
        return np.array(image)


def of_dali(step: Any, image: np.ndarray) -> np.ndarray:
    result: np.ndarray = batch_of(step, {"image": image})["image"][0]
    return result


def test_the_engine_normalizes_to_the_same_floats(tmp_path: pathlib.Path) -> None:
    mean, std = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
    own = of_dali(ImageMeanStdDevNormalizer("image", mean, std), NOISE)
    of_one = T.Normalize([value / 255 for value in mean], [value / 255 for value in std])
    by_engine = of_engine(tmp_path, NOISE, [of_one], dtype="float32")
    assert own.dtype == by_engine.dtype == np.float32
    assert np.abs(own - by_engine).max() < 1e-6
    own = of_dali(ImageRange01Normalizer("image"), NOISE)
    assert (own == NOISE.astype(np.float32) / np.float32(255)).all()


def test_the_engine_decodes_jpegs_to_the_same_pixels(tmp_path: pathlib.Path) -> None:
    file = encoded(SMOOTH, "JPEG")
    own = of_dali(ImageDecoder("image", use_device_mixed=False), file)
    by_engine = of_engine(tmp_path, file, [])
    assert np.abs(own.astype(int) - by_engine).max() <= 1
    blue_first = of_dali(ImageDecoder("image", False, as_bgr=True), file)
    assert (blue_first == own[..., ::-1]).all()


def test_an_image_of_any_name_is_decoded() -> None:
    batch = batch_of(ImageDecoder("front", False), {"front": encoded(NOISE)})
    assert (batch["front"][0] == NOISE).all()


def test_the_engine_changes_saturation_alike(tmp_path: pathlib.Path) -> None:
    step = PhotoMetricDistorter(
        **{**UNCHANGED, "min_max_saturation": [0.7, 0.7], "prob_saturation_aug": 1}
    )
    own = of_dali(step, NOISE).astype(int)
    by_engine = of_engine(tmp_path, NOISE, [T.ColorJitter(saturation=(0.7, 0.7))])
    assert np.abs(own - by_engine).max() <= 1


def test_contrast_is_what_the_engine_calls_brightness(tmp_path: pathlib.Path) -> None:
    step = PhotoMetricDistorter(
        **{**UNCHANGED, "min_max_contrast": [1.3, 1.3], "prob_contrast_aug": 1}
    )
    own = of_dali(step, NOISE).astype(int)
    by_engine = of_engine(tmp_path, NOISE, [T.ColorJitter(brightness=(1.3, 1.3))])
    assert np.abs(own - by_engine).max() <= 1


@pytest.mark.parametrize(
    ("steps", "transforms"),
    [
        ([A.Rotation(1, 20)], [T.RandomAffine((-20, -20), interpolation="bilinear")]),
        (
            [A.UniformScaling(1, 1.5)],
            [T.RandomAffine(0, scale=(1.5, 1.5), interpolation="bilinear")],
        ),
        ([A.Shearing(1, [-9, 0])], [T.RandomAffine(0, shear=(9, 9), interpolation="bilinear")]),
        ([], []),
    ],
)
def test_the_engine_warps_to_the_same_pixels(
    tmp_path: pathlib.Path, steps: list[Any], transforms: list[Any]
) -> None:
    step = A(
        SMOOTH.shape[:2],
        A.ResizingMode.STRETCH,
        image_field_names="image",
        transformation_steps=steps,
        transform_image_on_gpu=False,
    )
    inside = np.s_[15:-15, 20:-20]  # borders are mixed with black in different ways
    own = of_dali(step, SMOOTH)[inside].astype(int)
    by_engine = of_engine(tmp_path, SMOOTH, transforms)[inside]
    assert np.abs(own - by_engine).max() <= 1


def test_the_engine_enlarges_to_the_same_pixels(tmp_path: pathlib.Path) -> None:
    step = A(
        [144, 192], A.ResizingMode.STRETCH, image_field_names="image", transform_image_on_gpu=False
    )
    own = of_dali(step, SMOOTH).astype(int)
    by_engine = of_engine(tmp_path, SMOOTH, [T.Resize((144, 192))])
    assert np.abs(own - by_engine)[1:-1, 1:-1].max() <= 1  # DALI mixes borders with black


def test_the_engine_pads_alike(tmp_path: pathlib.Path) -> None:
    own = of_dali(ImageToTileSizePadder("image", [48, 32]), NOISE)
    assert (own == of_engine(tmp_path, NOISE, [T.Pad((0, 0, 32, 16))])).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_colors_are_changed_with_their_probabilities_and_alike_in_a_sample(dtype: Any) -> None:
    image = (NOISE / (255 if dtype == np.float32 else 1)).astype(dtype)
    step = PhotoMetricDistorter(
        "image",
        [0, 0],
        [-18, 18],
        [0.5, 1.5],
        [1, 1],
        prob_swap_channels=0,
        enforce_process_on_gpu=False,
    )
    samples = [{"image": image, "other": {"image": image[:20]}}] * 24
    batch = batch_of(step, *samples, seed=7)
    assert (batch["image"][:, :20] == batch["other"]["image"]).all()
    same = [(changed == image).all() for changed in batch["image"]]
    assert 0 < sum(same) < 24  # neither hue nor contrast: one of 4
    assert batch["image"].dtype == dtype
    assert batch["image"].max() <= image.max() or dtype == np.uint8


def test_a_color_image_is_brightened_and_clipped() -> None:
    step = PhotoMetricDistorter(
        **{**UNCHANGED, "min_max_brightness": [40, 40], "prob_brightness_aug": 1}
    )
    assert (of_dali(step, NOISE) == np.minimum(NOISE.astype(int) + 40, 255)).all()


def test_images_are_padded_to_tiles_each_by_itself() -> None:
    samples = [{"image": NOISE[:, :side], "camera": {"image": NOISE}} for side in (30, 33)]
    batch = batch_of([ImageToTileSizePadder("image", [16, 32])], samples[0], samples[0])
    assert batch["image"].shape == (2, 64, 32, 3)
    assert batch["camera"]["image"].shape == (2, 64, 64, 3)
    assert (batch["image"][0, :48, :30] == NOISE[:, :30]).all()
    assert not batch["image"][0, 48:].any()
    assert not batch["image"][0, :, 30:].any()
    mixed = [{"image": NOISE[:, :side]} for side in (30, 33)]
    with pytest.raises(ValueError, match="shape"):
        batch_of(ImageToTileSizePadder("image", [16, 32]), *mixed)


def test_the_normalized_type_is_chosen() -> None:
    step = ImageMeanStdDevNormalizer("image", 128.0, 64.0, DataType.FLOAT16)
    assert after(step, {"image": NOISE}).get_type_of_field("image") is DataType.FLOAT16
    assert of_dali(step, NOISE).dtype == np.float16


def test_a_gpu_that_the_pipeline_lacks_is_named() -> None:
    on_gpu = {**UNCHANGED, "enforce_process_on_gpu": True}
    for step, argument in (
        (PhotoMetricDistorter(**on_gpu), "enforce_process_on_gpu"),
        (A([9, 9], A.ResizingMode.STRETCH, image_field_names="image"), "transform_image_on_gpu"),
        (ImageDecoder("image", use_device_mixed=True), "use_device_mixed"),
    ):
        with pytest.raises(fr.InvalidArgumentError, match=f"Pass {argument}=False"):
            batch_of(step, {"image": NOISE})


def test_a_layout_reaches_the_next_steps() -> None:
    batch = batch_of(
        [AxesLayoutSetter("image", "HWC"), ImageToTileSizePadder("image", 32)], {"image": NOISE}
    )
    assert batch["image"].shape == (1, 64, 64, 3)
