"""Gaussian heatmaps of boxes.

The pixel (x, y) is the square from (x, y) to (x + 1, y + 1). Boxes are x and y of two opposite corners.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

from fuelrail.inputs.processing_steps.fields_of_steps import check_lengths

__all__ = ["HeatmapOptions", "draw_gaussian", "heatmap_of", "radii_of"]

Array = numpy.ndarray[Any, Any]


@dataclass(frozen=True)
class HeatmapOptions:
    """How boxes become a heatmap. The arguments of BoundingBoxToHeatmapConverter explain it."""

    height: int
    width: int
    categories: int | None
    """The number of categories, if objects have one."""
    per_category: bool
    least_sizes: Array | None
    """The least height and width in the heatmap: of shape (2,), or (categories, 2)."""
    least_area: float
    least_radius: float
    most_radius: float
    radius_factor: float
    sigma_factor: float


def heatmap_of(
    boxes: Array,
    image_hw: Array,
    *others: Array,
    given: tuple[bool, bool, bool],
    options: HeatmapOptions,
) -> tuple[Array, ...]:
    """Returns the heatmap; and of each box: whether it is drawn, the pixel of its center, the
    center's place in the pixel, the height and width, and the box in the heatmap.

    boxes: shape (N, 4), in pixels of the image. image_hw: its height and width.
    others: categories, centers of shape (N, 2), and validity, as far as `given`.

    Errors: ValueError if one of them has another length than the boxes.
    """
    rest = iter(others)
    categories, centers, valid = (next(rest) if is_given else None for is_given in given)
    boxes = boxes.reshape(-1, 4).astype(numpy.float64)
    check_lengths(len(boxes), categories=categories, centers=centers, validities=valid)
    if centers is None:
        centers = (boxes[:, :2] + boxes[:, 2:]) / 2
    factors = numpy.array([options.width / image_hw[1], options.height / image_hw[0]])
    limits = numpy.array([options.width - 1, options.height - 1])
    whole = boxes * numpy.tile(factors, 2)
    inside = numpy.clip(whole, 0, numpy.tile(limits, 2))
    is_number = numpy.isfinite(centers).all(1)
    centers = numpy.clip(numpy.nan_to_num(centers) * factors, 0, limits)
    pixels = numpy.floor(centers).astype(numpy.int32)
    sizes = numpy.abs(inside[:, 2:] - inside[:, :2])[:, ::-1]
    area = numpy.abs(whole[:, 2:] - whole[:, :2]).prod(1)

    drawn = is_number & (area > 0) & (sizes.prod(1) >= options.least_area * area)
    if categories is not None:
        categories = categories.ravel()
        drawn &= (categories >= 0) & (categories < (options.categories or 0))
    if options.least_sizes is not None:
        least = options.least_sizes
        if least.ndim == 2 and categories is not None:
            least = least[numpy.where(drawn, categories, 0)]
        drawn &= (sizes >= least).all(1)
    if valid is not None:
        drawn &= valid.ravel().astype(bool)

    radii = numpy.clip(
        radii_of(inside, centers) * options.radius_factor, options.least_radius, options.most_radius
    )
    slices = options.categories or 1 if options.per_category else 1
    heatmap = numpy.zeros((slices, options.height, options.width), numpy.float32)
    for index in numpy.flatnonzero(drawn):
        image = heatmap[categories[index] if options.per_category and categories is not None else 0]
        draw_gaussian(image, pixels[index], float(radii[index]), options.sigma_factor)
    return (
        heatmap if options.per_category else heatmap[0],
        drawn,
        pixels,
        (centers - pixels).astype(numpy.float32),
        sizes.astype(numpy.float32),
        inside.astype(numpy.float32),
    )


def radii_of(boxes: Array, centers: Array) -> Array:
    """Returns the distance of each center to the nearest side of its box; 0 outside of the box."""
    corners = boxes.reshape(-1, 2, 2)
    to_sides = numpy.concatenate([centers - corners.min(1), corners.max(1) - centers], 1)
    return numpy.asarray(numpy.maximum(to_sides.min(1), 0))


def draw_gaussian(image: Array, pixel: Array, radius: float, sigma_factor: float) -> None:
    """Draws a Gaussian in place, where it is larger than what is drawn already.

    image: shape (height, width). pixel: x and y of the pixel where the value is 1. radius: the
    Gaussian is drawn in the square of this radius, rounded up. sigma_factor: the standard deviation
    is the radius times this.
    """
    reach = int(numpy.ceil(radius))
    x, y = int(pixel[0]), int(pixel[1])
    top, left = max(y - reach, 0), max(x - reach, 0)
    target = image[top : y + reach + 1, left : x + reach + 1]
    steps = numpy.arange(-reach, reach + 1)
    falls = numpy.exp(-(steps**2) / (2 * (radius * sigma_factor) ** 2)).astype(image.dtype)
    rows = falls[top - y + reach :][: target.shape[0]]
    columns = falls[left - x + reach :][: target.shape[1]]
    numpy.maximum(target, rows[:, None] * columns, out=target)
