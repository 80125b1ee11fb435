"""The pixels of all transforms, against torchvision's functions on tensors."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import transforms as T
from photographs import encoded, photograph
from reference import Random
from torchvision_v2 import functional as F
from torchvision_v2 import tensor_functional, v2

SIDE = 48
COUNT = 12
SEED = 5
FILL = [10, 20, 30]


@pytest.fixture(scope="module")
def images() -> list[torch.Tensor]:
    """uint8, (3, height, width)."""
    pictures = [np.array(photograph(i, SIDE, SIDE + 9)) for i in range(COUNT)]
    return [torch.from_numpy(picture).permute(2, 0, 1).contiguous() for picture in pictures]


@pytest.fixture(scope="module")
def dataset(images: list[torch.Tensor], tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    from PIL import Image

    root = tmp_path_factory.mktemp("pixels")
    lines = []
    for i, image in enumerate(images):
        (root / f"{i}.png").write_bytes(
            encoded(Image.fromarray(image.permute(1, 2, 0).numpy()), "PNG")
        )
        lines.append(f"{i}\t{i}\t{i}.png\n")
    (root / "all.lst").write_text("".join(lines))
    fr.pack(root / "all.lst", root / "all.rec")
    return root / "all.rec"


def loaded(dataset: pathlib.Path, transforms: list[T.Transform]) -> list[torch.Tensor]:
    options = {"dtype": "uint8", "seed": SEED, "fields": ["image"], "threads": 2}
    with fr.torch.DataLoader(dataset, COUNT, transforms=transforms, **options) as loader:
        return list(next(iter(loader))[0])


WHOLE = T.CenterCrop((SIDE, SIDE + 9))  # first in every list: makes sizes equal


def numbers(i: int) -> Callable[[int], float]:
    random = Random(SEED, 0, i)
    return lambda draw: random.uniform(1, draw)


def between(low: float, high: float, u: float) -> float:
    return low + (high - low) * u


FILTERS = {name: v2.InterpolationMode(name) for name in ("bilinear", "nearest")}

COLORS = [
    (T.ColorJitter(brightness=0.6), tensor_functional.adjust_brightness, 3, (0.4, 1.6)),
    (T.ColorJitter(contrast=(0.2, 2)), tensor_functional.adjust_contrast, 4, (0.2, 2)),
    (T.ColorJitter(saturation=[0, 3]), tensor_functional.adjust_saturation, 5, (0, 3)),
    (T.ColorJitter(hue=0.5), tensor_functional.adjust_hue, 6, (-0.5, 0.5)),
]


@pytest.mark.parametrize(
    ("jitter", "formula", "draw", "limits"),
    COLORS,
    ids=["brightness", "contrast", "saturation", "hue"],
)
def test_one_change_of_colours_is_torchvisions_bit_for_bit(
    jitter: T.ColorJitter,
    formula: Callable[[torch.Tensor, float], torch.Tensor],
    draw: int,
    limits: tuple[float, float],
    dataset: pathlib.Path,
    images: list[torch.Tensor],
) -> None:
    for i, made in enumerate(loaded(dataset, [WHOLE, jitter])):
        factor = between(*limits, numbers(i)(draw))
        assert torch.equal(made, formula(images[i], factor)), i


def test_color_jitter_applies_its_changes_in_the_drawn_order(
    dataset: pathlib.Path, images: list[torch.Tensor]
) -> None:
    made = loaded(dataset, [WHOLE, T.ColorJitter(0.4, 0.4, 0.4, 0.1)])
    formulas = [formula for _, formula, _, _ in COLORS]
    limits = [(0.6, 1.4)] * 3 + [(-0.1, 0.1)]
    orders = set()
    for i, image in enumerate(images):
        random = Random(SEED, 0, i)
        order = [0, 1, 2, 3]
        for place in range(3):
            other = place + random.below(1, place, 4 - place)
            order[place], order[other] = order[other], order[place]
        orders.add(tuple(order))
        for change in order:
            factor = between(*limits[change], random.uniform(1, 3 + change))
            image = formulas[change](image, factor)
        assert torch.equal(made[i], image), i
    assert len(orders) > 5


def test_grayscale_is_torchvisions(dataset: pathlib.Path, images: list[torch.Tensor]) -> None:
    for made, image in zip(loaded(dataset, [WHOLE, T.Grayscale()]), images, strict=True):
        assert torch.equal(made, tensor_functional.rgb_to_grayscale(image, 3))
    some = loaded(dataset, [WHOLE, T.RandomGrayscale(0.5)])
    for i, made in enumerate(some):
        happens = numbers(i)(0) < 0.5
        grey = tensor_functional.rgb_to_grayscale(images[i], 3)
        assert torch.equal(made, grey if happens else images[i])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("padding", [[3], [4, 7], [1, 2, 3, 30]], ids=str)
def test_pad_is_torchvisions(
    mode: str, padding: list[int], dataset: pathlib.Path, images: list[torch.Tensor]
) -> None:
    sides = padding[0] if len(padding) == 1 else padding
    made = loaded(dataset, [WHOLE, T.Pad(sides, FILL, mode)])
    for i, image in enumerate(images):
        fill = FILL if mode == "constant" else None
        assert torch.equal(made[i], F.pad(image, padding, fill, mode)), i


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_random_crop_is_a_crop_of_the_padded_image(
    mode: str, dataset: pathlib.Path, images: list[torch.Tensor]
) -> None:
    crop = T.RandomCrop((32, 40), padding=(4, 6), fill=9, padding_mode=mode)
    made = loaded(dataset, [WHOLE, crop])
    for i, image in enumerate(images):
        random = Random(SEED, 0, i)
        padded = F.pad(image, [4, 6], 9, mode)
        top = random.below(1, 0, padded.shape[1] - 32 + 1)
        left = random.below(1, 1, padded.shape[2] - 40 + 1)
        assert torch.equal(made[i], F.crop(padded, top, left, 32, 40)), i


def test_pad_if_needed_pads_both_sides_as_torchvision_does(
    dataset: pathlib.Path, images: list[torch.Tensor]
) -> None:
    made = loaded(dataset, [WHOLE, T.RandomCrop((60, 20), pad_if_needed=True)])
    for i, image in enumerate(images):
        random = Random(SEED, 0, i)
        padded = F.pad(image, [0, 60 - SIDE])
        top = random.below(1, 0, padded.shape[1] - 60 + 1)
        left = random.below(1, 1, padded.shape[2] - 20 + 1)
        assert torch.equal(made[i], F.crop(padded, top, left, 60, 20)), i


def test_a_crop_larger_than_the_image_is_an_error_that_names_the_remedy(
    dataset: pathlib.Path,
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=r"RandomCrop.*pad_if_needed"):
        loaded(dataset, [T.RandomCrop(200)])


Warp = Callable[[torch.Tensor, list[float] | None], torch.Tensor]
"""Applies torchvision's function to an image, with the fill; None: with the default fill."""

AROUND = 3 * SIDE
"""Pixels to add on each side, so that a warp shows nothing outside."""


def check_warp(
    made: torch.Tensor, image: torch.Tensor, warp: Warp, interpolation: str, mode: str
) -> None:
    exact = image.to(torch.float64)
    if mode == "edge":  # torchvision has no such warp: it warps an image with repeated edges
        height, width = image.shape[1:]
        exact = F.pad(exact, [AROUND], padding_mode="edge")
        expected = F.crop(warp(exact, None), AROUND, AROUND, height, width)
    else:
        expected = warp(exact, FILL)
    distance = (made.to(torch.float64) - expected).abs()
    if interpolation == "bilinear":
        assert distance.max() <= 0.55  # rounding by half a level, positions to 2**-16
    else:  # a position between two pixels may round to either
        assert (distance > 0).to(torch.float64).mean() < 0.002


@pytest.mark.parametrize("mode", ["constant", "edge"])
@pytest.mark.parametrize("interpolation", ["bilinear", "nearest"])
@pytest.mark.parametrize("center", [None, (5, 40)], ids=str)
def test_rotation_is_torchvisions(
    mode: str,
    interpolation: str,
    center: tuple[int, int] | None,
    dataset: pathlib.Path,
    images: list[torch.Tensor],
) -> None:
    rotation = T.RandomRotation(60, interpolation, center=center, fill=FILL, padding_mode=mode)
    made = loaded(dataset, [WHOLE, rotation])
    middle = center and [at + AROUND * (mode == "edge") for at in center]
    for i, image in enumerate(images):
        angle = between(-60, 60, numbers(i)(0))

        def rotate(x: torch.Tensor, fill: list[float] | None, angle: float = angle) -> torch.Tensor:
            return F.rotate(x, angle, FILTERS[interpolation], center=middle, fill=fill)

        check_warp(made[i], image, rotate, interpolation, mode)


@pytest.mark.parametrize("mode", ["constant", "edge"])
@pytest.mark.parametrize("interpolation", ["bilinear", "nearest"])
def test_affine_is_torchvisions(
    mode: str, interpolation: str, dataset: pathlib.Path, images: list[torch.Tensor]
) -> None:
    affine = T.RandomAffine(
        (-30, 45), (0.1, 0.3), (0.5, 1.5), (-20, 20, -5, 15), interpolation, FILL, None, mode
    )
    made = loaded(dataset, [WHOLE, affine])
    for i, image in enumerate(images):
        u = numbers(i)
        height, width = image.shape[1:]
        shift = [round(between(-m, m, u(d))) for d, m in ((1, 0.1 * width), (2, 0.3 * height))]
        shear = [between(-20, 20, u(4)), between(-5, 15, u(5))]
        angle, scale = between(-30, 45, u(0)), between(0.5, 1.5, u(3))

        def move(
            x: torch.Tensor,
            fill: list[float] | None,
            angle: float = angle,
            shift: list[int] = shift,
            scale: float = scale,
            shear: list[float] = shear,
        ) -> torch.Tensor:
            return F.affine(x, angle, shift, scale, shear, FILTERS[interpolation], fill)

        check_warp(made[i], image, move, interpolation, mode)


LISTS = [
    [
        T.RandomResizedCrop(32),
        T.ColorJitter(0.4, 0.4, 0.4, 0.1),
        T.HorizontalFlip(),
        T.RandomRotation(15, "bilinear"),
        T.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2)),
    ],
    [T.RandomCrop(32, padding=4), T.HorizontalFlip(), T.Normalize((0, 0, 0), (1, 1, 1))],
    [T.Resize(40), T.RandomCrop(32)],
    [T.Grayscale(), T.RandomRotation(45, expand=True), T.Resize((20, 20))],
]


@pytest.mark.parametrize("transforms", LISTS, ids=lambda x: type(x[0]).__name__)
def test_usual_lists_give_the_same_batches_for_any_number_of_threads(
    transforms: list[T.Transform], dataset: pathlib.Path
) -> None:
    batches = []
    for threads in (1, 3):
        loader = fr.torch.DataLoader(dataset, 5, transforms=transforms, seed=2, threads=threads)
        with loader:
            batches.append(torch.cat([images for images, _ in loader]))
    assert batches[0].shape[0] == COUNT
    assert torch.equal(*batches)


def test_an_expanding_rotation_without_a_crop_gives_images_of_their_own_sizes(
    dataset: pathlib.Path,
) -> None:
    transforms = [WHOLE, T.RandomRotation(45, expand=True)]
    ((images, _),) = list(fr.torch.DataLoader(dataset, COUNT, transforms=transforms))
    assert len({image.shape for image in images}) > 1


def test_scaled_decoding_is_near_the_full_one(folder: pathlib.Path) -> None:
    resize = T.Resize((16, 16))
    options = {"dtype": "uint8", "layout": "NHWC", "fields": ["image"]}
    made = []
    for scaled in (False, True):
        with fr.torch.DataLoader(
            folder, 31, transforms=[resize], scaled_decode=scaled, **options
        ) as loader:
            made.append(next(iter(loader))[0].to(torch.float64))
    assert not torch.equal(*made)
    errors = ((made[0] - made[1]) ** 2).mean((1, 2, 3))
    assert (10 * torch.log10(255**2 / errors.clamp(min=1e-9))).min() > 28
