"""The pixels of all transforms, against torchvision's formulas in torch's operations."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import numpy as np
import pytest
import torch

import fuelrail as fr
import torchvision_reference as tv
from fuelrail import transforms as T
from photographs import encoded, photograph
from reference import Random

SIDE = 48
COUNT = 12
SEED = 5


@pytest.fixture(scope="module")
def images() -> list[torch.Tensor]:
    return [torch.from_numpy(np.array(photograph(i, SIDE, SIDE + 9))) for i in range(COUNT)]


@pytest.fixture(scope="module")
def dataset(images: list[torch.Tensor], tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    from PIL import Image

    root = tmp_path_factory.mktemp("pixels")
    lines = []
    for i, image in enumerate(images):
        (root / f"{i}.png").write_bytes(encoded(Image.fromarray(image.numpy()), "PNG"))
        lines.append(f"{i}\t{i}\t{i}.png\n")
    (root / "all.lst").write_text("".join(lines))
    fr.pack(root / "all.lst", root / "all.rec")
    return root / "all.rec"


def loaded(dataset: pathlib.Path, transforms: list[T.Transform]) -> list[torch.Tensor]:
    options = {"dtype": "uint8", "layout": "NHWC", "seed": SEED, "fields": ["image"], "threads": 2}
    with fr.torch.DataLoader(dataset, COUNT, transforms=transforms, **options) as loader:
        return list(next(iter(loader))[0])


WHOLE = T.CenterCrop((SIDE, SIDE + 9))  # first in every list: makes sizes equal


def numbers(i: int) -> Callable[[int], float]:
    random = Random(SEED, 0, i)
    return lambda draw: random.uniform(1, draw)


def between(low: float, high: float, u: float) -> float:
    return low + (high - low) * u


COLORS = [
    (T.ColorJitter(brightness=0.6), tv.brightness, 3, (0.4, 1.6)),
    (T.ColorJitter(contrast=(0.2, 2)), tv.contrast, 4, (0.2, 2)),
    (T.ColorJitter(saturation=[0, 3]), tv.saturation, 5, (0, 3)),
    (T.ColorJitter(hue=0.5), tv.hue, 6, (-0.5, 0.5)),
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
    formulas = [tv.brightness, tv.contrast, tv.saturation, tv.hue]
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
        assert torch.equal(made, tv.grayscale(image))
    some = loaded(dataset, [WHOLE, T.RandomGrayscale(0.5)])
    for i, made in enumerate(some):
        happens = numbers(i)(0) < 0.5
        assert torch.equal(made, tv.grayscale(images[i]) if happens else images[i])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("padding", [3, (4, 7), (1, 2, 3, 30)], ids=str)
def test_pad_is_torchs(
    mode: str, padding: int, dataset: pathlib.Path, images: list[torch.Tensor]
) -> None:
    sides = {3: (3, 3, 3, 3), (4, 7): (4, 7, 4, 7)}.get(padding, padding)
    made = loaded(dataset, [WHOLE, T.Pad(padding, (1, 2, 250), mode)])
    for i, image in enumerate(images):
        assert torch.equal(made[i], tv.padded(image, sides, mode, (1, 2, 250))), i


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_random_crop_is_a_crop_of_the_padded_image(
    mode: str, dataset: pathlib.Path, images: list[torch.Tensor]
) -> None:
    crop = T.RandomCrop((32, 40), padding=(4, 6), fill=9, padding_mode=mode)
    made = loaded(dataset, [WHOLE, crop])
    for i, image in enumerate(images):
        random = Random(SEED, 0, i)
        padded = tv.padded(image, (4, 6, 4, 6), mode, (9, 9, 9))
        top = random.below(1, 0, padded.shape[0] - 32 + 1)
        left = random.below(1, 1, padded.shape[1] - 40 + 1)
        assert torch.equal(made[i], padded[top : top + 32, left : left + 40]), i


def test_pad_if_needed_pads_both_sides_as_torchvision_does(
    dataset: pathlib.Path, images: list[torch.Tensor]
) -> None:
    made = loaded(dataset, [WHOLE, T.RandomCrop((60, 20), pad_if_needed=True)])
    for i, image in enumerate(images):
        random = Random(SEED, 0, i)
        padded = tv.padded(image, (0, 60 - SIDE, 0, 60 - SIDE), "constant", (0, 0, 0))
        top = random.below(1, 0, padded.shape[0] - 60 + 1)
        left = random.below(1, 1, padded.shape[1] - 20 + 1)
        assert torch.equal(made[i], padded[top : top + 60, left : left + 20]), i


def test_a_crop_larger_than_the_image_is_an_error_that_names_the_remedy(
    dataset: pathlib.Path,
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=r"RandomCrop.*pad_if_needed"):
        loaded(dataset, [T.RandomCrop(200)])


def check_warp(
    made: torch.Tensor, image: torch.Tensor, matrix: list[float], interpolation: str, mode: str
) -> None:
    expected = tv.warp(image, matrix, interpolation, mode, (10, 20, 30))
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
    center: tuple[float, float] | None,
    dataset: pathlib.Path,
    images: list[torch.Tensor],
) -> None:
    rotation = T.RandomRotation(
        60, interpolation, center=center, fill=(10, 20, 30), padding_mode=mode
    )
    made = loaded(dataset, [WHOLE, rotation])
    for i, image in enumerate(images):
        angle = between(-60, 60, numbers(i)(0))
        middle = (0.0, 0.0)
        if center is not None:
            middle = (center[0] - image.shape[1] / 2, center[1] - image.shape[0] / 2)
        matrix = tv.inverse_matrix(-angle, center=middle)
        check_warp(made[i], image, matrix, interpolation, mode)


@pytest.mark.parametrize("mode", ["constant", "edge"])
@pytest.mark.parametrize("interpolation", ["bilinear", "nearest"])
def test_affine_is_torchvisions(
    mode: str, interpolation: str, dataset: pathlib.Path, images: list[torch.Tensor]
) -> None:
    affine = T.RandomAffine(
        (-30, 45),
        (0.1, 0.3),
        (0.5, 1.5),
        (-20, 20, -5, 15),
        interpolation,
        (10, 20, 30),
        None,
        mode,
    )
    made = loaded(dataset, [WHOLE, affine])
    for i, image in enumerate(images):
        u = numbers(i)
        height, width = image.shape[:2]
        x, y = (round(between(-m, m, u(d))) for d, m in ((1, 0.1 * width), (2, 0.3 * height)))
        matrix = tv.inverse_matrix(
            between(-30, 45, u(0)),
            (x, y),
            between(0.5, 1.5, u(3)),
            (between(-20, 20, u(4)), between(-5, 15, u(5))),
        )
        check_warp(made[i], image, matrix, interpolation, mode)


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
