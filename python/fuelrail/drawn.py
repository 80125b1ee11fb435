"""What a list of transforms does to one image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy
import numpy.typing

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.options import choice, real, shown, truth, typed, whole

__all__ = ["Drawn"]

Floats = numpy.typing.NDArray[numpy.floating[Any]]
Flags = numpy.typing.NDArray[numpy.bool_]
Values = numpy.typing.NDArray[Any]


class Drawn:
    """The steps that a list of transforms applies to one image. `fuelrail.transforms.draw` returns
    it.

    Its methods move what belongs to the image, with the formulas of the loader. Coordinates are in
    pixels: x to the right, y down, and (0, 0) is the upper left corner of the first pixel. With
    relative=True, they are fractions of the image's width and height. With pixel_centers=True,
    (0, 0) is the middle of the first pixel.
    """

    def __init__(self, native: _core.Drawing) -> None:
        self._native = native

    def __repr__(self) -> str:
        names = ", ".join(str(step["step"]) for step in self.steps)
        return f"Drawn(size={self.size}, steps=[{names}])"

    @property
    def steps(self) -> list[Mapping[str, Any]]:
        """The steps in their order, each as a dict whose item "step" is its kind: "resample",
        "flip", "warp", "brightness", "contrast", "saturation", "hue", "grayscale" or "custom".

        A "resample" scales the pixels of `box` (top, left, height, width) to the size `scaled`, and
        takes the part `window` of the result, which may be larger than the result. A "warp" shows
        at the output's pixel (x, y) the input's pixel (a x + b y + c, d x + e y + f), where `matrix`
        is (a, b, c, d, e, f) and both pixels are measured from the middle of their image.
        """
        return list(self._native.steps())

    @property
    def size(self) -> tuple[int, int]:
        """The height and width after all steps."""
        return self._native.size

    @property
    def affine(self) -> numpy.typing.NDArray[numpy.float64]:
        """The float64 array A of shape (2, 3) that maps the image's coordinates to the output's:
        x' = A[0, 0] x + A[0, 1] y + A[0, 2], y' = A[1, 0] x + A[1, 1] y + A[1, 2].

        Errors: UnsupportedError if a stage of the user's own may move pixels.
        """
        return numpy.array(self._native.affine, numpy.float64).reshape(2, 3)

    @property
    def removed(self) -> Flags:
        """For each of the boxes given to `draw`: whether a RandomIoUCrop removed the object."""
        removed: Flags = self._native.removed.numpy()
        return removed

    def move_boxes(
        self,
        boxes: numpy.typing.ArrayLike,
        format: str = "xyxy",
        *,
        relative: bool = False,
        pixel_centers: bool = False,
        min_size: float = 1,
        min_area: float = 0,
        keep_empty: bool = False,
    ) -> tuple[Floats, Flags]:
        """Returns the moved boxes of all objects, limited to the output, and which objects stay.

        boxes: shape (N, 4). If N is the number of boxes given to `draw`, they are treated as the
            same objects.
        format: "xyxy" (two corners), "xywh" (upper left corner, width, height) or "cxcywh" (middle,
            width, height).
        min_size, min_area: an object stays if both sides of its moved box are at least `min_size`
            pixels, and its area is at least the fraction `min_area` of its area before the limit.
        keep_empty: keep all objects; those that are not visible get a box without area.

        Errors: CorruptError for a box that is not finite or is inverted.
        """
        numbers = _floats("boxes", boxes, (4,), dimensions=2)
        moved, kept = self._native.move_boxes(
            numbers.astype(numpy.float64),
            choice("format", format, _core.BoxFormat),
            truth("relative", relative),
            truth("pixel_centers", pixel_centers),
            real("min_size", min_size),
            real("min_area", min_area),
            truth("keep_empty", keep_empty),
        )
        return moved.numpy().astype(numbers.dtype), kept.numpy()

    def move_points(
        self,
        points: numpy.typing.ArrayLike,
        *,
        relative: bool = False,
        pixel_centers: bool = False,
    ) -> tuple[Floats, Flags]:
        """Returns the moved points, and which of them the output shows.

        points: shape (..., 2) with x and y, or (..., 3) with x, y and the visibility, which becomes
            0 for points that the output does not show.
        """
        numbers = _floats("points", points, (2, 3))
        moved, seen = self._native.move_points(
            numbers.astype(numpy.float64),
            numbers.shape[-1],
            truth("relative", relative),
            truth("pixel_centers", pixel_centers),
        )
        return (
            moved.numpy().reshape(numbers.shape).astype(numbers.dtype),
            seen.numpy().reshape(numbers.shape[:-1]),
        )

    def move_camera(self, matrix: numpy.typing.ArrayLike, *, pixel_centers: bool = False) -> Floats:
        """Returns the matrix that projects points into the output, for a matrix of shape (3, 3),
        (3, 4) or (4, 4) that projects them into the image.
        """
        numbers = _floats("matrix", matrix, (3, 4), dimensions=2)
        if numbers.shape not in ((3, 3), (3, 4), (4, 4)):
            raise InvalidArgumentError(
                "`matrix` has the wrong shape",
                expected="(3, 3), (3, 4) or (4, 4)",
                found=str(numbers.shape),
            )
        moved = self._native.move_camera(
            numbers.astype(numpy.float64), numbers.shape[1], truth("pixel_centers", pixel_centers)
        )
        matrices: Floats = moved.numpy().reshape(numbers.shape).astype(numbers.dtype)
        return matrices

    def move_mask(self, mask: numpy.typing.ArrayLike, fill: int = 255) -> Values:
        """Returns the moved mask, with the nearest pixel at each place and `fill` in constant
        borders.

        mask: shape (height, width), of bools or integers of 1, 2 or 4 bytes, or uint8 of shape
            (height, width, 3). A mask may be larger or smaller than the image if it has the same
            aspect ratio; the result has the size `size`.
        fill: a number of the mask's type, 0 or 1 for bools. For shape (height, width, 3), red + 256
            green + 65536 blue.
        """
        values = _numbers("mask", mask)
        values = values.astype(values.dtype.newbyteorder("<"), copy=False)
        colors = values.ndim == 3 and values.shape[2] == 3 and values.dtype == numpy.uint8
        if (
            values.dtype.kind not in "biu"
            or values.itemsize > 4
            or not (colors or values.ndim == 2)
        ):
            raise InvalidArgumentError(
                "`mask` is invalid",
                expected="integers of at most 4 bytes, of shape (height, width), or uint8 of shape "
                "(height, width, 3)",
                found=f"{values.dtype} of shape {values.shape}",
            )
        least, bits = (0, 24) if colors else _limits(values.dtype)
        number = whole("fill", fill, least, bits) % 2**32  # the core takes the lowest bytes
        pixels = values if colors else values[:, :, None]
        moved: Values = self._native.move_mask(pixels.view(numpy.uint8), number).numpy()
        return moved if colors else moved.view(values.dtype)[:, :, 0]

    def move_map(
        self, map: numpy.typing.ArrayLike, fill: float = 0.0, *, vectors: bool = True
    ) -> numpy.typing.NDArray[numpy.float32]:
        """Returns the moved map as float32, with linear interpolation, and `fill` in constant
        borders.

        map: shape (height, width) or (height, width, channels). As for masks, its size may differ
            from the image's. vectors: whether two channels are x and y of a vector in pixels of the
            map, which is mirrored, scaled and turned with the image.

        Errors: UnsupportedError for more than two channels if vectors would change, unless
        `vectors` is False.
        """
        values = _numbers("map", map).astype(numpy.float32, copy=False)
        if values.ndim not in (2, 3):
            raise InvalidArgumentError(
                "`map` has the wrong shape",
                expected="(height, width) or (height, width, channels)",
                found=str(values.shape),
            )
        pixels = values if values.ndim == 3 else values[:, :, None]
        moved: numpy.typing.NDArray[numpy.float32] = self._native.move_map(
            pixels, real("fill", fill), truth("vectors", vectors)
        ).numpy()
        return moved if values.ndim == 3 else moved[:, :, 0]


def _limits(dtype: numpy.dtype[Any]) -> tuple[int, int]:
    """Returns the least number, and the exponent of two that all numbers are below."""
    if dtype == numpy.bool_:
        return 0, 1
    limits = numpy.iinfo(dtype)
    return int(limits.min), int(limits.max).bit_length()


def _numbers(option: str, given: numpy.typing.ArrayLike) -> numpy.typing.NDArray[Any]:
    try:
        numbers = numpy.ascontiguousarray(given)
    except ValueError:  # lists of different lengths
        numbers = numpy.array(None)
    if numbers.dtype.kind not in "biuf":
        raise ArgumentTypeError(
            f"`{option}` has the wrong type", expected="an array of numbers", found=typed(given)
        )
    return numbers


def _floats(
    option: str, given: numpy.typing.ArrayLike, last: tuple[int, ...], dimensions: int | None = None
) -> Floats:
    """Converts numbers to a float32 or float64 array, whose last extent is one of `last`."""
    numbers = _numbers(option, given)
    if numbers.dtype not in (numpy.float32, numpy.float64):
        numbers = numbers.astype(numpy.float64)
    if numbers.ndim == 0 or numbers.shape[-1] not in last or dimensions not in (None, numbers.ndim):
        raise InvalidArgumentError(
            f"`{option}` has the wrong shape",
            expected=" or ".join(f"(..., {extent})" for extent in last),
            found=shown(numbers.shape),
        )
    return numbers
