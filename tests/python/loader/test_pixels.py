"""The images of a batch equal Pillow's and torchvision's."""

from __future__ import annotations

import io
import pathlib
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

import fuelrail as fr
from fuelrail import transforms as T
from loading import CROP, crop_of
from photographs import encoded, photograph, pixels
from reference import Random
from torchvision_draws import drawing
from torchvision_v2 import v2


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_uint8_crops_are_the_decoders_pixels(record_file: pathlib.Path, layout: str) -> None:
    loader = fr.Loader(
        record_file, 31, transforms=[T.CenterCrop((50, 60))], dtype="uint8", layout=layout
    )
    ((images, _),) = list(loader)
    expected = np.stack([crop_of(sample.image, 50, 60) for sample in loader.dataset])
    if layout == "NCHW":
        expected = expected.transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(images.numpy(), expected)


def whole_epoch(file: object, transforms: list[T.Transform], **options: object) -> np.ndarray:
    """All images of one epoch, uint8 HWC."""
    loader = fr.Loader(
        file, 8, transforms=transforms, dtype="uint8", layout="NHWC", fields=["image"], **options
    )
    return np.concatenate([batch[0].numpy() for batch in loader])


FILTERS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}


@pytest.mark.parametrize("interpolation", FILTERS)
@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**64 - 1),
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    smallest=st.floats(0.01, 1.0),
    epoch=st.integers(0, 2**32 - 2),
)
def test_random_resized_crop_equals_pillow_within_one_level(
    record_file: pathlib.Path,
    interpolation: str,
    seed: int,
    size: tuple[int, int],
    smallest: float,
    epoch: int,
) -> None:
    scale, ratio = (smallest, 1.0), (0.5, 2.0)
    transform = T.RandomResizedCrop(size, scale, ratio, interpolation)
    drawn = v2.RandomResizedCrop(size, scale, ratio)
    loader = fr.Loader(
        record_file, 31, transforms=[transform], dtype="uint8", layout="NHWC", seed=seed
    )
    loader.set_epoch(epoch)
    ((images, _),) = list(loader)
    for position, sample in enumerate(loader.dataset):
        image = Image.open(io.BytesIO(sample.image)).convert("RGB")
        with drawing(Random(seed, epoch, position)):
            box = drawn.make_params([torch.zeros(3, image.height, image.width)])
        top, left, height, width = (box[name] for name in ("top", "left", "height", "width"))
        crop = image.crop((left, top, left + width, top + height))
        expected = np.asarray(crop.resize(size[::-1], FILTERS[interpolation]), int)
        assert np.abs(images.numpy()[position] - expected).max() <= 1


def shorter_side(image: Image.Image, side: int) -> tuple[int, int]:
    """torchvision's Resize(int): (width, height)."""
    if image.width <= image.height:
        return side, int(side * image.height / image.width)
    return int(side * image.width / image.height), side


@pytest.mark.parametrize("interpolation", FILTERS)
@pytest.mark.parametrize(("side", "crop"), [(40, 32), (64, 64), (100, 57), (33, (20, 31))])
def test_resize_and_center_crop_equal_pillow_within_one_level(
    record_file: pathlib.Path, side: int, crop: int | tuple[int, int], interpolation: str
) -> None:
    pair = whole_epoch(record_file, [T.Resize(side, interpolation), T.CenterCrop(crop)])
    one = whole_epoch(record_file, [T.ResizedCenterCrop(crop, side, interpolation)])
    np.testing.assert_array_equal(pair, one)
    height, width = (crop, crop) if isinstance(crop, int) else crop
    for actual, sample in zip(pair, fr.open(record_file), strict=True):
        image = Image.open(io.BytesIO(sample.image)).convert("RGB")
        resized = image.resize(shorter_side(image, side), FILTERS[interpolation])
        top, left = round((resized.height - height) / 2), round((resized.width - width) / 2)
        expected = np.asarray(resized, int)[top : top + height, left : left + width]
        assert np.abs(actual - expected).max() <= 1


def test_resize_to_a_size_and_list_sizes(record_file: pathlib.Path) -> None:
    images = whole_epoch(record_file, [T.Resize([20, 30])])
    assert images.shape == (31, 20, 30, 3)
    assert whole_epoch(record_file, [T.Resize([40]), T.CenterCrop([32])]).shape == (31, 32, 32, 3)


def test_a_center_crop_of_a_small_image_is_padded_with_black(tiny_file: pathlib.Path) -> None:
    images = whole_epoch(tiny_file, [T.CenterCrop(8)])
    assert (images[:, :2] == 0).all()
    assert (images[:, :, 6:] == 0).all()
    np.testing.assert_array_equal(images[:, 2:6, 2:6], whole_epoch(tiny_file, CROP))


def test_flips_turn_the_crop_over(record_file: pathlib.Path) -> None:
    crop = T.CenterCrop(40)
    plain = whole_epoch(record_file, [crop])
    flipped = whole_epoch(record_file, [crop, T.HorizontalFlip(1)])
    np.testing.assert_array_equal(flipped, plain[:, :, ::-1])
    flipped = whole_epoch(record_file, [T.VerticalFlip(1), crop])
    upside_down = [
        crop_of(encoded(Image.fromarray(pixels(s.image)[::-1]), "PNG"), 40, 40)
        for s in fr.open(record_file)
    ]
    np.testing.assert_array_equal(flipped, np.stack(upside_down))


def test_a_flip_happens_where_the_numbers_of_its_seed_say(record_file: pathlib.Path) -> None:
    crop = T.CenterCrop(40)
    chosen = [Random(5, 0, position).uniform(1, 0) < 0.5 for position in range(31)]
    assert 5 < sum(chosen) < 26
    plain = whole_epoch(record_file, [crop])
    flipped = whole_epoch(record_file, [crop, T.HorizontalFlip(0.5)], seed=5)
    expected = [
        image[:, ::-1] if flip else image for image, flip in zip(plain, chosen, strict=True)
    ]
    np.testing.assert_array_equal(flipped, np.stack(expected))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_normalize_equals_torch_bit_for_bit(record_file: pathlib.Path, dtype: str) -> None:
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    crop = T.CenterCrop(50)
    pixel = torch.from_numpy(whole_epoch(record_file, [crop])).permute(0, 3, 1, 2).contiguous()
    expected = pixel.to(torch.float32).div(255)
    expected.sub_(torch.tensor(mean).view(3, 1, 1)).div_(torch.tensor(std).view(3, 1, 1))
    loader = fr.Loader(record_file, 31, transforms=[crop, T.Normalize(mean, std)], dtype=dtype)
    ((images, _),) = list(loader)
    actual = torch.from_dlpack(images)
    assert actual.dtype == getattr(torch, dtype)
    assert torch.equal(actual, expected.to(actual.dtype))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_applied_before_the_crop(
    make_file: Callable[..., pathlib.Path], orientation: int
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    jpeg = encoded(photograph(2, 71, 97), exif=exif.tobytes(), subsampling="4:2:0")
    file = make_file([jpeg])
    upright = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(jpeg))))
    crop = crop_of(encoded(Image.fromarray(upright), "PNG"), 31, 45)
    np.testing.assert_array_equal(whole_epoch(file, [T.CenterCrop((31, 45))])[0], crop)
    np.testing.assert_array_equal(
        whole_epoch(file, [T.CenterCrop((31, 45))], orientation="ignore")[0],
        crop_of(jpeg, 31, 45),
    )


def test_cmyk_becomes_rgb(make_file: Callable[..., pathlib.Path]) -> None:
    jpeg = encoded(photograph(1, 64, 48).convert("CMYK"), quality=95)
    image = whole_epoch(make_file([jpeg]), [T.CenterCrop(32)])[0]
    assert np.abs(image.astype(int) - crop_of(jpeg, 32, 32)).max() <= 1
