"""MXNet's `mx.image`: what of it works on pixels alone. Without OpenCV, with OpenCV's results."""

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
    """The interpolation 0 to 4 that `interp` means for sizes (height, width), as mx.image decides it."""
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
    """Resizes an image, as `mx.image.imresize` and `cv2.resize` do: equal to OpenCV 4.8's to the bit.

    Args:
        src: uint8, (height, width, channels), 1, 3 or 4 channels in any order.
        w: the new width, in pixels.
        h: the new height, in pixels.
        interp: 0 nearest, 1 bilinear, 2 bicubic, 3 the mean of areas (bilinear where it enlarges), 4 Lanczos over 8 x 8
            pixels, 9: 2 where both sides grow, 3 where both shrink, else 1. MXNet's 10, a random one, is not here:
            draw it and give its number. Default: 1.

    Returns:
        uint8, (h, w, channels), new memory.

    Errors:
        ArgumentTypeError: src is no array of uint8. InvalidArgumentError: another shape, an empty size, an unknown
        interp. UnsupportedError: a side of src above 2^20 pixels, unless interp is 0 or the size stays.
    """
    pixels = numpy.ascontiguousarray(src)
    if pixels.dtype != numpy.uint8:
        raise ArgumentTypeError(
            "the pixels are of another type", expected="uint8", found=str(pixels.dtype)
        )
    if pixels.ndim != 3:
        raise InvalidArgumentError(
            "these are not the pixels of an image",
            expected="(height, width, channels)",
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


if not TYPE_CHECKING:  # to whom any name would be one that is here
    __getattr__ = missing_from(__name__)
