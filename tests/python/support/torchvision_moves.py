"""The functions of torchvision that do what fuelrail drew for one image.

All numbers are those of fuelrail.transforms.draw: the first n transforms of a list and the first
n + 1 of them draw the same, so their results tell what transform n does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fuelrail import transforms as T
from fuelrail.drawn import Drawn
from torchvision_v2 import functional as F
from torchvision_v2 import tv_tensors, v2

Move = Callable[[Any], Any]
"""Applies a function of torchvision to an Image, a Mask or BoundingBoxes."""

EXACT = v2.InterpolationMode.NEAREST_EXACT
NEAREST = v2.InterpolationMode.NEAREST


def moves(
    transforms: Sequence[T.Transform],
    size: tuple[int, int],
    seed: int,
    position: int,
    boxes: np.ndarray,
    mask_fill: int,
) -> list[Move]:
    """One function for each transform."""
    made = []
    before, last = np.eye(3), size
    for count in range(1, len(transforms) + 1):
        drawn = T.draw(transforms[:count], size, seed, 0, position, boxes=boxes)
        after = np.vstack([drawn.affine, [0, 0, 1]])
        own = after @ np.linalg.inv(before)
        made.append(_move(transforms[count - 1], own, last, drawn.size, mask_fill))
        before, last = after, drawn.size
    return made


def _move(
    transform: Any, own: np.ndarray, before: tuple[int, int], after: tuple[int, int], mask_fill: int
) -> Move:
    def fill(x: Any) -> Any:
        color = getattr(transform, "fill", 0)
        colors = [*color] if isinstance(color, tuple) else color
        return mask_fill if isinstance(x, tv_tensors.Mask) else colors

    def resize(x: Any) -> Any:
        if isinstance(x, tv_tensors.Mask):
            return F.resize(x, [*after], EXACT)
        mode = v2.InterpolationMode(transform.interpolation)
        return F.resize(x, [*after], mode, antialias=transform.antialias)

    def warp_filter(x: Any) -> Any:
        is_mask = isinstance(x, tv_tensors.Mask)
        return NEAREST if is_mask else v2.InterpolationMode(transform.interpolation)

    if isinstance(transform, T.HorizontalFlip):
        return F.horizontal_flip if own[0, 0] < 0 else lambda x: x
    if isinstance(transform, T.VerticalFlip):
        return F.vertical_flip if own[1, 1] < 0 else lambda x: x
    if isinstance(transform, (T.Resize, T.ScaleJitter, T.RandomShortestSize)):
        return resize
    if isinstance(transform, T.RandomResizedCrop):
        left, top = (round(-own[i, 2] / own[i, i]) for i in (0, 1))
        height, width = (round(after[i] / own[1 - i, 1 - i]) for i in (0, 1))
        return lambda x: resize(F.crop(x, top, left, height, width))
    if isinstance(transform, (T.CenterCrop, T.Pad, T.RandomZoomOut, T.RandomCrop, T.RandomIoUCrop)):
        left, top = (round(at) for at in own[:2, 2])
        sides = [left, top, after[1] - before[1] - left, after[0] - before[0] - top]
        around = [max(side, 0) for side in sides]
        mode = getattr(transform, "padding_mode", "constant")

        def pad(x: Any) -> Any:
            if mode == "constant" or isinstance(x, tv_tensors.BoundingBoxes):
                return F.pad(x, around, fill(x))
            return F.pad(x, around, padding_mode=mode)

        return lambda x: F.crop(pad(x), max(-top, 0), max(-left, 0), *after)
    center = transform.center and [*transform.center]
    if isinstance(transform, T.RandomRotation):
        angle = math.degrees(math.atan2(own[0, 1], own[0, 0]))
        return lambda x: F.rotate(x, angle, warp_filter(x), transform.expand, center, fill(x))
    assert isinstance(transform, T.RandomAffine)
    assert not isinstance(
        transform.shear, tuple
    )  # only along x: the map has one such decomposition
    scale = math.sqrt(np.linalg.det(own[:2, :2]))
    angle = math.atan2(own[1, 0], own[0, 0])
    turned = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    shear = math.degrees(math.atan(-(turned @ own[:2, :2])[0, 1] / scale))
    middle = np.array(center or [before[1] / 2, before[0] / 2])
    shift = [round(at) for at in own[:2, :2] @ middle + own[:2, 2] - middle]
    return lambda x: F.affine(
        x, math.degrees(angle), shift, scale, [shear, 0.0], warp_filter(x), fill(x), center
    )


def between_pixels(drawn: Drawn) -> np.ndarray:
    """For each pixel of the output, whether a rotation or shear takes it from a place within 0.001
    pixels of the edge between two pixels, where rounding decides. The other steps must copy pixels.
    """
    if all(step["step"] != "warp" for step in drawn.steps):
        return np.zeros(drawn.size, bool)
    inverse = np.linalg.inv(np.vstack([drawn.affine, [0, 0, 1]]))[:2]
    rows, columns = np.mgrid[: drawn.size[0], : drawn.size[1]] + 0.5
    places = np.tensordot(inverse, np.stack([columns, rows, np.ones(drawn.size)]), 1)
    near: np.ndarray = (np.abs(places - np.round(places)) < 1e-3).any(0)
    return near
