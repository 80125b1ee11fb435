from __future__ import annotations

import pathlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import transforms as T


def test_names_and_defaults_are_torchvisions() -> None:
    crop = T.RandomResizedCrop(224)
    assert crop == T.RandomResizedCrop(
        size=224,
        scale=(0.08, 1.0),
        ratio=(3 / 4, 4 / 3),
        interpolation="bilinear",
        antialias=True,
    )
    assert T.HorizontalFlip() == T.HorizontalFlip(p=0.5)
    assert T.RandomCrop(8) == T.RandomCrop(
        size=8, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"
    )
    assert T.RandomRotation(5) == T.RandomRotation(
        degrees=5, interpolation="nearest", expand=False, center=None, fill=0
    )
    assert T.RandomAffine(5) == T.RandomAffine(
        degrees=5, translate=None, scale=None, shear=None, interpolation="nearest", fill=0
    )
    assert T.ColorJitter() == T.ColorJitter(brightness=0, contrast=0, saturation=0, hue=0)


ALL = [
    T.RandomResizedCrop((4, 5), scale=[0.5, 1], ratio=[1, 1], interpolation="bicubic"),
    T.CenterCrop([4, 5]),
    T.Resize(7),
    T.Resize((7, 9), "nearest", antialias=False),
    T.ResizedCenterCrop(224, resize=256),
    T.Pad(2, fill=(1, 2, 3), padding_mode="reflect"),
    T.RandomCrop(32, padding=[4, 4], pad_if_needed=True),
    T.RandomRotation(30, "bilinear", center=[3, 4.5]),
    T.RandomAffine([-3, 4], (0.1, 0.1), (0.5, 2), 10, padding_mode="edge"),
    T.ColorJitter(0.4, (0.5, 1), hue=0.1),
    T.Grayscale(),
    T.RandomGrayscale(),
    T.HorizontalFlip(0.25),
    T.VerticalFlip(1),
    T.Normalize([0.5, 0.5, 0.5], std=[1, 2, 3]),
    T.Resize(None, max_size=9),
    T.RandomShortestSize([480, 512], max_size=1333),
    T.ScaleJitter((640, 480), scale_range=[0.5, 2]),
    T.RandomZoomOut((1, 2, 3), (1, 2), p=1),
    T.RandomIoUCrop(sampler_options=[0.5, 1], trials=3),
]


@pytest.mark.parametrize("transform", ALL, ids=repr)
def test_transforms_are_values(transform: T.Transform) -> None:
    again = pickle.loads(pickle.dumps(transform))
    assert again == transform
    assert hash(again) == hash(transform)
    with pytest.raises(AttributeError):
        transform.size = 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: T.CenterCrop(0), "size"),
        (lambda: T.CenterCrop(10**9), "size"),
        (lambda: T.CenterCrop(10**5000), "size"),
        (lambda: T.Resize(10**9), "32768"),
        (lambda: T.CenterCrop((4, 2**20)), "CenterCrop"),
        (lambda: T.CenterCrop((4, 4, 4)), "size"),
        (lambda: T.Resize("224"), "size"),
        (lambda: T.RandomResizedCrop(8, scale=(0.5,)), "scale"),
        (lambda: T.RandomResizedCrop(8, scale=(1, 0.5)), "scale"),
        (lambda: T.RandomResizedCrop(8, scale=(-1, 0.5)), "scale"),
        (lambda: T.RandomResizedCrop(8, ratio=(0, 1)), "ratio"),
        (lambda: T.RandomResizedCrop(8, interpolation="bilinaer"), "'bilinear'"),
        (lambda: T.ResizedCenterCrop(8, resize=0), "resize"),
        (lambda: T.HorizontalFlip(1.5), "HorizontalFlip"),
        (lambda: T.Pad(-1), "padding"),
        (lambda: T.Pad((1, 2, 3)), "padding"),
        (lambda: T.Pad(1, fill=256), "fill"),
        (lambda: T.Pad(1, fill=(1, 2)), "fill"),
        (lambda: T.Pad(1, padding_mode="wrap"), "padding_mode"),
        (lambda: T.RandomCrop(0), "size"),
        (lambda: T.RandomRotation(-3), "degrees"),
        (lambda: T.RandomRotation((5, 4)), "degrees"),
        (lambda: T.RandomRotation(5, "bicubic"), "bicubic"),
        (lambda: T.RandomRotation(5, padding_mode="reflect"), "edge"),
        (lambda: T.RandomAffine(0, translate=(0.5, 1.5)), "translate"),
        (lambda: T.RandomAffine(0, scale=(0, 1)), "scale"),
        (lambda: T.RandomAffine(0, shear=(1, 2, 3)), "shear"),
        (lambda: T.ColorJitter(-1), "brightness"),
        (lambda: T.ColorJitter(hue=0.6), "hue"),
        (lambda: T.ColorJitter(contrast=(1.5, 1)), "contrast"),
        (lambda: T.Grayscale(1), "num_output_channels"),
        (lambda: T.RandomGrayscale(2), "RandomGrayscale"),
        (lambda: T.VerticalFlip(float("nan")), "VerticalFlip"),
        (lambda: T.Resize(None), "size"),
        (lambda: T.Resize(8, max_size=8), "max_size"),
        (lambda: T.Resize((8, 9), max_size=10), "max_size"),
        (lambda: T.RandomShortestSize([]), "min_size"),
        (lambda: T.RandomShortestSize((5, 0)), "min_size"),
        (lambda: T.ScaleJitter((8, 9, 10)), "target_size"),
        (lambda: T.ScaleJitter(8, scale_range=(0, 1)), "scale_range"),
        (lambda: T.RandomZoomOut(side_range=(0.5, 1)), "side_range"),
        (lambda: T.RandomIoUCrop(max_scale=1.5), "scale"),
        (lambda: T.RandomIoUCrop(sampler_options=()), "sampler_options"),
        (lambda: T.RandomIoUCrop(trials=0), "trials"),
        (lambda: T.Normalize((0, 0), (1, 1)), "mean"),
        (lambda: T.Normalize((0, 0, 0), (1, 0, 1)), "std"),
        (lambda: T.Normalize((0, 0, 0), (1, float("inf"), 1)), "std"),
    ],
)
def test_a_bad_value_is_refused_at_once(make: object, match: str) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=match):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: T.CenterCrop(2.5), "integer"),
        (lambda: T.CenterCrop("224"), "size"),
        (lambda: T.CenterCrop(True), "size"),
        (lambda: T.HorizontalFlip(True), "number"),
        (lambda: T.CenterCrop(4, 4), "`size`, found an additional argument, 4"),
        (lambda: T.CenterCrop(b"22"), "size"),
        (lambda: T.CenterCrop({4, 5}), "size"),
        (lambda: T.CenterCrop(np.array([4.5, 5])), "size"),
        (lambda: T.Resize(8, antialias="no"), "antialias"),
        (lambda: T.Resize(8, interpolation=3), "interpolation"),
        (lambda: T.RandomResizedCrop(8, scale=0.5), "scale"),
        (lambda: T.HorizontalFlip("0.5"), "number"),
        (lambda: T.Normalize(0.5, 0.5), "mean"),
        (lambda: T.Normalize("abc", (1, 1, 1)), "mean"),
        (lambda: T.Normalize(np.zeros((3, 2)), (1, 1, 1)), "mean"),
        (lambda: T.HorizontalFlip("often"), "number"),
        (lambda: T.Normalize(("a", 0, 0), (1, 1, 1)), "mean"),
        (lambda: T.HorizontalFlip(prob=0.5), "Known: p"),
        (lambda: T.Resize(8, "bilinear", True), "max_size"),
        (lambda: T.RandomIoUCrop(sampler_options=0.5), "sampler_options"),
        (lambda: T.RandomResizedCrop(8, interploation="bicubic"), "'interpolation'"),
    ],
)
def test_a_wrong_type_or_name_is_refused_at_once(make: object, match: str) -> None:
    with pytest.raises(fr.ArgumentTypeError, match=match):
        make()  # type: ignore[operator]


def test_numbers_of_numpy_are_numbers() -> None:
    assert T.CenterCrop(np.int64(8)) == T.CenterCrop(8)
    assert T.HorizontalFlip(np.float32(0.5)) == T.HorizontalFlip(0.5)


@pytest.mark.parametrize("array", [np.array, torch.tensor, list], ids=lambda array: array.__name__)
def test_arrays_and_tensors_of_numbers_are_lists_of_numbers(array: Callable[..., object]) -> None:
    assert T.Normalize(array([0.5, 0.25, 0.0]), array([1.0, 2.0, 4.0])) == T.Normalize(
        (0.5, 0.25, 0), (1, 2, 4)
    )
    assert T.CenterCrop(array([4, 5])) == T.CenterCrop((4, 5))
    assert T.Resize(array([7])) == T.Resize([7])
    crop = T.RandomResizedCrop(torch.Size([4, 5]), scale=array([0.25, 1.0]))
    assert pickle.loads(pickle.dumps(crop)) == T.RandomResizedCrop((4, 5), scale=(0.25, 1))
    assert hash(crop) == hash(T.RandomResizedCrop((4, 5), scale=(0.25, 1)))


def test_a_number_that_no_float_holds_is_refused() -> None:
    with pytest.raises(fr.InvalidArgumentError, match="out of range"):
        T.HorizontalFlip(10**400)


class HorizontalFlop(T.Transform):
    """A transform that a user defines."""


@pytest.mark.parametrize("transform", [HorizontalFlop(), T.Transform(), T.CenterCrop, len])
def test_a_transform_that_is_not_ours_is_refused_with_what_is_accepted(
    transform: object, tiny_file: pathlib.Path
) -> None:
    with pytest.raises(fr.ArgumentTypeError, match=r"transforms\[1\].*(HorizontalFlip|CenterCrop)"):
        fr.Loader(tiny_file, transforms=[T.CenterCrop(4), transform])


def test_a_dataclass_that_is_not_ours_is_refused_when_it_is_made() -> None:
    @dataclass(frozen=True)
    class Posterize(T.Transform):
        threshold: int = 128

    with pytest.raises(fr.ArgumentTypeError, match="Known: CenterCrop"):
        Posterize()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("RandomHorizontalFlip", "'HorizontalFlip'"),
        ("RandomVerticalFlip", "'VerticalFlip'"),
        ("CentreCrop", "'CenterCrop'"),
        ("ColourJitter", "'ColorJitter'"),
        ("Sharpness", "Known: CenterCrop"),
        ("GaussianBlur", "`batch_transforms`"),
        ("Compose", "`transforms` is a list"),
        ("ToTensor", "Omit it"),
    ],
)
def test_a_mistyped_name_suggests_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=f"'{name}'.*{hint}"):
        getattr(T, name)


def another_librarys(module: str, name: str) -> object:
    return type(name, (), {"__module__": module, "__repr__": lambda self: f"{name}(p=0.5)"})()


OWN_CALLS = (
    "your transform to whole batches in `batch_transforms`, or to each sample, in the "
    "`__getitem__` of a subclass of `fuelrail.torch.MapDataset`"
)


@pytest.mark.parametrize(
    ("module", "name", "owner", "remedy"),
    [
        ("torchvision.transforms.v2._geometry", "RandomHorizontalFlip", "torchvision",
         f"Use fuelrail.transforms.HorizontalFlip instead, or apply {OWN_CALLS}."),
        ("albumentations.augmentations.crops.transforms", "RandomResizedCrop", "albumentations",
         f"Use fuelrail.transforms.RandomResizedCrop instead, or apply {OWN_CALLS}."),
        ("albumentations.augmentations.blur.transforms", "MedianBlur", "albumentations",
         f"Apply {OWN_CALLS}."),
        ("albumentations.core.composition", "Compose", "albumentations",
         f"Apply {OWN_CALLS}."),
        ("torchvision.transforms.transforms", "ToTensor", "torchvision",
         "Omit it: by default, images are floats from 0 to 1."),
    ],
)  # fmt: skip
def test_a_transform_of_another_library_says_whose_it_is_and_where_it_goes(
    tiny_file: pathlib.Path, module: str, name: str, owner: str, remedy: str
) -> None:
    with pytest.raises(fr.ArgumentTypeError) as caught:
        fr.Loader(tiny_file, transforms=[T.CenterCrop(4), another_librarys(module, name)])
    assert str(caught.value) == (
        f"`transforms[1]` comes from {owner}, but only transforms from fuelrail.transforms are "
        f"supported: found {name}(p=0.5). {remedy}"
    )


def test_a_list_of_transforms_that_another_library_holds_is_to_be_given_itself(
    tiny_file: pathlib.Path,
) -> None:
    compose = another_librarys("torchvision.transforms.transforms", "Compose")
    with pytest.raises(fr.ArgumentTypeError, match=r"comes from torchvision, .*is a list"):
        fr.Loader(tiny_file, transforms=compose)  # type: ignore[arg-type]


def test_torchvisions_own_enumeration_is_understood() -> None:
    class InterpolationMode:  # like torchvision.transforms.InterpolationMode
        value = "bicubic"

    T.Resize(8, interpolation=InterpolationMode())  # type: ignore[arg-type]


def test_an_error_of_a_constructor_names_no_place_in_a_list() -> None:
    with pytest.raises(
        fr.InvalidArgumentError, match=r"^transform HorizontalFlip: p is out of range"
    ):
        T.HorizontalFlip(2)
