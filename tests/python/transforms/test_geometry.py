"""Boxes, points, masks, maps and camera matrices that move with an image, against torchvision's
transforms v2 with the same random numbers.
"""

from __future__ import annotations

import inspect
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import transforms as T
from fuelrail.drawn import Drawn
from reference import Random
from torchvision_draws import drawing
from torchvision_moves import EXACT, NEAREST, Move, between_pixels
from torchvision_v2 import functional as F
from torchvision_v2 import tv_tensors, v2

SEED = 11


class Objects:
    """The objects of one image: random boxes, and a mask of random numbers."""

    def __init__(self, number: int) -> None:
        self.random = np.random.default_rng(number)
        self.size = tuple(int(side) for side in self.random.integers(200, 1024, 2))
        height, width = self.size
        corners = self.random.uniform(-0.1, 1.1, (12, 2, 2)) * (width, height)
        self.boxes = np.concatenate([corners.min(1), corners.max(1)], 1)
        self.mask = self.random.integers(0, 256, self.size, np.uint8)

    def clipped(self) -> np.ndarray:
        height, width = self.size
        return self.boxes.clip(0, [width, height, width, height])


def tv_boxes(boxes: np.ndarray, size: tuple[int, int]) -> Any:
    return tv_tensors.BoundingBoxes(torch.from_numpy(boxes), format="XYXY", canvas_size=size)


def check_boxes(drawn: Drawn, objects: Objects, move: Move) -> None:
    """Compares the boxes of objects that are visible, and which objects stay."""
    expected = v2.functional.clamp_bounding_boxes(move(tv_boxes(objects.clipped(), objects.size)))
    assert tuple(expected.canvas_size) == drawn.size
    large = ((expected[:, 2:] - expected[:, :2]) >= 1).all(1).numpy()
    moved, kept = drawn.move_boxes(objects.boxes)
    assert (kept == large).all()
    assert np.abs(moved[kept] - expected.numpy()[kept]).max(initial=0) < 1e-4
    for form, name in (("XYWH", "xywh"), ("CXCYWH", "cxcywh")):
        given = v2.functional.convert_bounding_box_format(
            tv_boxes(objects.boxes, objects.size), new_format=form
        )
        same = v2.functional.convert_bounding_box_format(expected, new_format=form)
        moved, _ = drawn.move_boxes(given.numpy(), name)
        assert np.abs(moved[kept] - same.numpy()[kept]).max(initial=0) < 1e-4


def check_mask(drawn: Drawn, objects: Objects, move: Move) -> None:
    mask = tv_tensors.Mask(torch.from_numpy(objects.mask)[None])
    moved = drawn.move_mask(objects.mask, fill=0)
    assert moved.shape == drawn.size
    differs = move(mask)[0].numpy() != moved
    assert not (differs & ~between_pixels(drawn)).any()


def box_of(step: Any) -> tuple[int, int, int, int]:
    return step["box"]  # type: ignore[no-any-return]


def crop_and_resize(drawn: Drawn) -> Move:
    (step,) = drawn.steps
    # (resized_crop ignores the interpolation of masks.)
    return lambda x: F.resize(F.crop(x, *box_of(step)), list(step["scaled"]), interpolation=EXACT)


def window(drawn: Drawn) -> Move:
    (step,) = drawn.steps
    top, left, height, width = step["window"]
    if step["box"][2:] == step["scaled"]:
        return lambda x: F.crop(x, top, left, height, width)
    return lambda x: F.crop(
        F.resize(x, list(step["scaled"]), interpolation=EXACT), top, left, height, width
    )


def resized(drawn: Drawn) -> Move:
    return lambda x: F.resize(x, list(drawn.size), interpolation=EXACT)


UPRIGHT: list[tuple[T.Transform, Callable[[Drawn], Move]]] = [
    (T.RandomResizedCrop((224, 300)), crop_and_resize),
    (T.RandomResizedCrop(640, scale=(0.01, 0.1)), crop_and_resize),
    (T.CenterCrop(300), lambda _: lambda x: F.center_crop(x, [300, 300])),
    (T.Resize(256), lambda _: lambda x: F.resize(x, [256], interpolation=EXACT)),
    (T.Resize((100, 701)), lambda _: lambda x: F.resize(x, [100, 701], interpolation=EXACT)),
    (
        T.Resize(300, max_size=333),
        lambda _: lambda x: F.resize(x, [300], max_size=333, interpolation=EXACT),
    ),
    (
        T.Resize(None, max_size=1000),
        lambda _: lambda x: F.resize(x, None, max_size=1000, interpolation=EXACT),
    ),
    (T.ResizedCenterCrop(224), window),
    (T.Pad((3, 40, 50, 6)), lambda _: lambda x: F.pad(x, [3, 40, 50, 6])),
    (T.RandomCrop(200, padding=30), window),
    (T.RandomZoomOut(side_range=(1.0, 2.0), p=1.0), window),
    (T.ScaleJitter((640, 500), (0.2, 1.5)), resized),
    (T.RandomShortestSize([200, 300, 333], max_size=400), resized),
    (T.HorizontalFlip(1), lambda _: F.horizontal_flip),
    (T.VerticalFlip(1), lambda _: F.vertical_flip),
]


@pytest.mark.parametrize(("transform", "function"), UPRIGHT, ids=[repr(one) for one, _ in UPRIGHT])
def test_boxes_and_masks_move_as_in_torchvision(
    transform: T.Transform, function: Callable[[Drawn], Move]
) -> None:
    for position in range(8):
        objects = Objects(position)
        drawn = T.draw([transform], objects.size, SEED, 0, position)
        check_boxes(drawn, objects, function(drawn))
        check_mask(drawn, objects, function(drawn))


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric"])
def test_masks_are_padded_as_the_image(mode: str) -> None:
    objects = Objects(1)
    drawn = T.draw([T.Pad((3, 40, 50, 6), padding_mode=mode)], objects.size)
    check_mask(drawn, objects, lambda x: F.pad(x, [3, 40, 50, 6], padding_mode=mode))


def between(low: float, high: float, u: float) -> float:
    return low + (high - low) * u


def test_rotated_boxes_and_masks_are_torchvisions() -> None:
    for position in range(10):
        objects = Objects(position)
        center = [100.0, 50.0] if position % 2 else None
        drawn = T.draw([T.RandomRotation(60, center=center)], objects.size, SEED, 0, position)
        angle = between(-60, 60, Random(SEED, 0, position).uniform(0, 0))

        def rotate(x: Any, angle: float = angle, center: list[float] | None = center) -> Any:
            return F.rotate(x, angle, NEAREST, center=center)

        check_visible(drawn, objects, rotate)
        check_mask(drawn, objects, rotate)


def test_affine_boxes_and_masks_are_torchvisions() -> None:
    transform = T.RandomAffine((-30, 45), (0.1, 0.3), (0.5, 1.5), (-20, 20, -5, 15))
    for position in range(10):
        objects = Objects(position)
        height, width = objects.size
        drawn = T.draw([transform], objects.size, SEED, 0, position)
        u = [Random(SEED, 0, position).uniform(0, i) for i in range(6)]
        shift = [
            round(between(-most, most, part))
            for part, most in ((u[1], 0.1 * width), (u[2], 0.3 * height))
        ]
        shear = [between(-20, 20, u[4]), between(-5, 15, u[5])]
        angle, scale = between(-30, 45, u[0]), between(0.5, 1.5, u[3])

        def move(
            x: Any,
            angle: float = angle,
            shift: list[int] = shift,
            scale: float = scale,
            shear: list[float] = shear,
        ) -> Any:
            return F.affine(x, angle, shift, scale, shear, NEAREST)

        check_visible(drawn, objects, move)
        check_mask(drawn, objects, move)


def check_visible(drawn: Drawn, objects: Objects, move: Move) -> None:
    """As check_boxes. torchvision keeps a box around a rotated object of which nothing is in the
    image, if the box is.
    """
    expected = v2.functional.clamp_bounding_boxes(move(tv_boxes(objects.clipped(), objects.size)))
    large = ((expected[:, 2:] - expected[:, :2]) >= 1).all(1).numpy()
    moved, kept = drawn.move_boxes(objects.boxes)
    assert not (kept & ~large).any()
    assert kept.sum() >= large.sum() - 2
    assert np.abs(moved[kept] - expected.numpy()[kept]).max(initial=0) < 1e-4


def test_random_iou_crop_crops_and_removes_as_torchvision_does() -> None:
    crops = removed = 0
    for position in range(60):
        objects = Objects(position)
        height, width = objects.size
        boxes = objects.clipped()[:3]

        def misfits(w: float, h: float, height: int = height, width: int = width) -> bool:
            return not 0.5 <= int(width * (0.3 + 0.7 * w)) / int(height * (0.3 + 0.7 * h)) <= 2

        drawn = T.draw([T.RandomIoUCrop()], objects.size, SEED, 0, position, boxes=boxes)
        image = tv_tensors.Image(torch.zeros(1, *objects.size))
        crop = v2.RandomIoUCrop()
        with drawing(Random(SEED, 0, position), misfits=misfits):
            image, expected = crop(image, tv_boxes(boxes, objects.size))
        assert image.shape[1:] == drawn.size
        moved, kept = drawn.move_boxes(boxes)
        assert (kept == v2.functional.sanitize_bounding_boxes(expected)[1].numpy()).all()
        assert np.abs(moved[kept] - expected.numpy()[kept]).max(initial=0) < 1e-4
        assert not expected[torch.from_numpy(drawn.removed)].any()
        crops += drawn.size != objects.size
        removed += drawn.removed.sum()
    assert crops > 30
    assert removed > 30


def test_random_iou_crop_without_objects_leaves_the_image_and_without_boxes_is_an_error() -> None:
    drawn = T.draw([T.RandomIoUCrop()], (300, 400), boxes=[])
    assert drawn.size == (300, 400)
    with pytest.raises(fr.InvalidArgumentError, match="RandomIoUCrop needs the boxes"):
        T.draw([T.RandomIoUCrop()], (300, 400))


@pytest.mark.parametrize(
    "name",
    ["RandomIoUCrop", "RandomZoomOut", "ScaleJitter", "RandomShortestSize", "Resize", "Pad",
     "RandomCrop", "CenterCrop", "RandomResizedCrop"],
)  # fmt: skip
def test_keywords_and_their_order_are_torchvisions(name: str) -> None:
    ours = list(inspect.signature(getattr(T, name)).parameters.values())
    theirs = inspect.signature(getattr(v2, name)).parameters
    assert [one.name for one in ours] == [*theirs]
    for one in ours:
        default = theirs[one.name].default
        if one.name != "interpolation":
            assert one.default == default


def test_what_is_drawn_is_what_the_loader_does(tmp_path: pathlib.Path) -> None:
    from PIL import Image

    # The red and green levels of a pixel are its column and row.
    rows, columns = np.mgrid[0:90, 0:120].astype(np.uint8)
    (tmp_path / "images" / "all").mkdir(parents=True)
    for i in range(6):
        pixels = np.stack([columns, rows, np.full_like(rows, i)], 2)
        Image.fromarray(pixels).save(tmp_path / "images" / "all" / f"{i}.png")
    fr.pack(tmp_path / "images", tmp_path / "x.rec")
    transforms = [T.RandomCrop((40, 50)), T.HorizontalFlip(), T.VerticalFlip(), T.Pad(3, fill=255)]
    loader = fr.Loader(
        tmp_path / "x.rec", 6, transforms=transforms, seed=SEED, dtype="uint8", layout="NHWC"
    )
    with loader:
        for epoch in range(2):
            for batch in loader:
                for position, image in enumerate(np.asarray(batch[0])):
                    drawn = T.draw(transforms, (90, 120), SEED, epoch, position)
                    assert image.shape[:2] == drawn.size
                    y, x = 20, 30
                    column, row = image[y, x, :2]
                    moved, shown = drawn.move_points([column + 0.5, row + 0.5])
                    assert shown
                    assert moved.tolist() == [x + 0.5, y + 0.5]


def test_points_and_cameras_move_with_the_affine_map() -> None:
    transforms = [T.RandomResizedCrop((300, 200)), T.HorizontalFlip(1), T.RandomRotation(30)]
    for position in range(5):
        objects = Objects(position)
        height, width = objects.size
        drawn = T.draw(transforms, objects.size, SEED, 0, position)
        points = np.random.default_rng(position).uniform((0, 0), (width, height), (50, 5, 2))
        expected = points @ drawn.affine[:, :2].T + drawn.affine[:, 2]
        moved, shown = drawn.move_points(points)
        assert np.allclose(moved, expected, atol=1e-9)
        inside = ((expected >= 0) & (expected <= (200, 300))).all(-1)
        assert shown.shape == (50, 5)
        assert not (shown & ~inside).any()
        relative, _ = drawn.move_points(points / (width, height), relative=True)
        assert np.allclose(relative, expected / (200, 300), atol=1e-9)
        visible, _ = drawn.move_points(np.concatenate([points, np.full((50, 5, 1), 2)], -1))
        assert (visible[..., 2] == np.where(shown, 2, 0)).all()

        camera = np.array([[500, 0, width / 2, 3], [0, 500, height / 2, 4], [0, 0, 1, 5]])
        world = np.random.default_rng(position).uniform(-1, 1, (4, 9))
        world[2:] = world[2] + 6, np.ones(9)
        before, after = camera @ world, drawn.move_camera(camera) @ world
        affine = drawn.affine
        pixels = affine[:, :2] @ (before[:2] / before[2]) + affine[:, 2:]
        assert np.allclose(after[:2] / after[2], pixels, atol=1e-9)
        square = drawn.move_camera(np.vstack([camera, [0, 0, 0, 1]]).astype(np.float32))
        assert square.dtype == np.float32
        assert np.allclose(square[:3], drawn.move_camera(camera), rtol=1e-6)


def test_key_points_move_as_in_torchvision_but_for_flips_which_mirror_the_edges() -> None:
    objects = Objects(3)
    height, width = objects.size
    points = objects.random.uniform((0, 0), (width, height), (20, 2))
    key_points = tv_tensors.KeyPoints(torch.from_numpy(points), canvas_size=objects.size)
    drawn = T.draw([T.RandomResizedCrop((300, 200))], objects.size, SEED)
    moved, _ = drawn.move_points(points)
    resize = F.resize(F.crop(key_points, *box_of(drawn.steps[0])), [300, 200])
    # torchvision clamps points to the image
    assert np.abs(moved.clip(0, (199, 299)) - resize.numpy().clip(0, (199, 299))).max() < 1e-4
    flipped, _ = T.draw([T.HorizontalFlip(1)], objects.size).move_points(points)
    assert np.allclose(flipped[:, 0], width - points[:, 0])
    assert np.allclose(F.horizontal_flip(key_points).numpy()[:, 0], width - 1 - points[:, 0])


def test_masks_and_maps_of_another_size_give_outputs_of_the_images_size() -> None:
    drawn = T.draw([T.CenterCrop((60, 80)), T.HorizontalFlip(1)], (100, 200))
    mask = np.repeat(np.arange(20, dtype=np.int32)[None], 10, 0)
    moved = drawn.move_mask(mask)
    assert moved.dtype == np.int32
    assert moved.shape == drawn.size
    assert moved[0, 0] == 13  # the first column of the output shows column 139 of the image
    assert moved[0, -1] == 6
    map = drawn.move_map(np.repeat(np.arange(20)[None], 10, 0))
    assert map.dtype == np.float32
    assert np.allclose(map[5], (140 - np.arange(80) - 0.5) / 10 - 0.5, atol=1e-5)
    with pytest.raises(fr.CorruptError, match=r"aspect ratio.*width 200.*height 10, width 30"):
        drawn.move_mask(np.zeros((10, 30), np.uint8))


def test_masks_of_colours_and_of_16_bits_are_moved_whole() -> None:
    drawn = T.draw([T.Pad((1, 0, 0, 0)), T.HorizontalFlip(1)], (1, 2))
    assert drawn.move_mask(np.array([[1000, 2000]], np.uint16), 65535).tolist() == [
        [2000, 1000, 65535]
    ]
    colors = np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8)
    assert drawn.move_mask(colors, 0x0A0B0C).tolist() == [[[4, 5, 6], [1, 2, 3], [12, 11, 10]]]
    for fill in (0, 1):
        moved = drawn.move_mask(np.array([[True, False]]), fill)
        assert moved.view(np.uint8).tolist() == [[0, 1, fill]]
    for dtype, fill in [(">u2", 255), ("int8", -1), (">i4", -100), ("uint32", 2**32 - 1)]:
        assert drawn.move_mask(np.array([[3, 7]], dtype), fill).tolist() == [[7, 3, fill]]


def test_vectors_turn_with_the_image() -> None:
    drawn = T.draw([T.RandomRotation((90, 90)), T.Resize((20, 40))], (20, 20))
    vectors = np.broadcast_to(np.float32([3, 5]), (20, 20, 2))
    assert (drawn.move_map(vectors) == [10, -3]).all()  # counter-clockwise
    assert (drawn.move_map(vectors, vectors=False) == [3, 5]).all()
    with pytest.raises(fr.UnsupportedError, match="vectors=False"):
        drawn.move_map(np.zeros((20, 20, 3)))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda drawn: drawn.move_boxes([[1, 2, 3]]), "boxes"),
        (lambda drawn: drawn.move_boxes([1, 2, 3, 4]), "boxes"),
        (lambda drawn: drawn.move_boxes([[1, 2, 3, 4]], "yxyx"), "'xyxy'"),
        (lambda drawn: drawn.move_boxes(["1", "2", "3", "4"]), "expected an array of numbers"),
        (lambda drawn: drawn.move_map([[1, 2], [3]]), "`map` has the wrong type"),
        (lambda drawn: drawn.move_points([1, 2, 3, 4]), "points"),
        (lambda drawn: drawn.move_camera(np.eye(3)[:2]), r"\(3, 3\)"),
        (lambda drawn: drawn.move_mask(np.zeros((20, 20))), "float64"),
        (lambda drawn: drawn.move_mask(np.zeros((20, 20), np.uint8), fill=256), "fill"),
        (lambda drawn: drawn.move_mask(np.zeros((20, 20), bool)), "`fill` .*found 255"),
        (lambda drawn: drawn.move_mask(np.zeros((20, 20), np.int8), fill=-129), "at least -128"),
        (lambda drawn: drawn.move_map(np.zeros(20)), "map"),
        (lambda drawn: T.draw([], (0, 5)), "size"),
        (lambda drawn: T.draw([], 5), "size"),
        (lambda drawn: T.draw([T.RandomIoUCrop()], (5, 5), boxes=[[1, 2, 3]]), "boxes"),
    ],
)  # fmt: skip
def test_a_bad_argument_is_refused(call: Callable[[Drawn], object], match: str) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=match):
        call(T.draw([], (20, 20)))


def test_an_inverted_box_is_an_error_that_names_its_row() -> None:
    with pytest.raises(fr.CorruptError, match="in row 1"):
        T.draw([], (20, 20)).move_boxes([[1, 2, 3, 4], [3, 2, 1, 4]])


def test_what_is_drawn_can_be_read() -> None:
    drawn = T.draw(
        [T.ColorJitter(brightness=0.5), T.RandomRotation(5), T.CenterCrop(8), T.HorizontalFlip(1)],
        (10, 10),
    )
    assert repr(drawn) == "Drawn(size=(8, 8), steps=[resample, brightness, warp, resample, flip])"
    assert drawn.steps[0]["box"] == (0, 0, 10, 10)
    assert 0.5 <= drawn.steps[1]["amount"] <= 1.5
    assert len(drawn.steps[2]["matrix"]) == 6
