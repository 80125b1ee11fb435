"""Replaces MXNet's `mx.image.imresize`. The pixels equal OpenCV's, but OpenCV is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
import numpy.typing

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.mxnet.absent_names import missing_from
from fuelrail.options import whole

__all__ = ["imresize"]

_AUTO = 9


def _interpolation(interp: int, old: tuple[int, int], new: tuple[int, int]) -> int:
    """Returns `interp`. If `interp` is 9 (automatic), returns mx.image's choice for the sizes `old`
    and `new`.
    """
    if interp != _AUTO:
        return interp
    if new[0] > old[0] and new[1] > old[1]:
        return 2
    if new[0] < old[0] and new[1] < old[1]:
        return 3
    return 1


def imresize(
    src: numpy.typing.NDArray[numpy.uint8], w: int, h: int, interp: int = 1
) -> numpy.typing.NDArray[numpy.uint8]:
    """Resizes an image like `mx.image.imresize`, with the same pixels as `cv2.resize` in OpenCV
    4.8.

    Args:
        src: the image, a uint8 array of shape (height, width, channels). It has 1, 3 or 4 channels
            in any order.
        w: the new width, in pixels.
        h: the new height, in pixels.
        interp: the interpolation. 0: nearest. 1: bilinear. 2: bicubic. 3: area averaging (bilinear
            when enlarging). 4: Lanczos over 8 x 8 pixels. 9: automatic, which means 2 if both sides
            grow, 3 if both sides shrink, and otherwise 1. MXNet's 10 (random) is not supported.
            Default: 1.

    Returns:
        A new uint8 array of shape (h, w, channels).

    Errors:
        ArgumentTypeError if src is not an array of uint8. InvalidArgumentError if the shape of src
        is invalid, w or h is 0, or interp is unknown. UnsupportedError if a side of src is longer
        than 2^20 pixels, unless interp is 0 or the size does not change.
    """
    pixels = numpy.ascontiguousarray(src)
    if pixels.dtype != numpy.uint8:
        raise ArgumentTypeError(
            "`src` has the wrong type", expected="uint8", found=str(pixels.dtype)
        )
    if pixels.ndim != 3:
        raise InvalidArgumentError(
            "the pixels have an invalid shape",
            expected="(height, width, channels) with 1, 3 or 4 channels",
            found=str(pixels.shape),
        )
    width, height = whole("w", w, least=1), whole("h", h, least=1)
    chosen = _interpolation(
        whole("interp", interp, bits=31), (pixels.shape[0], pixels.shape[1]), (height, width)
    )
    resized: numpy.typing.NDArray[numpy.uint8] = _core.cv_resize(
        pixels, height, width, chosen
    ).numpy()
    return resized


if not TYPE_CHECKING:  # with `__getattr__`, type checkers accept any name
    __getattr__ = missing_from(__name__)
