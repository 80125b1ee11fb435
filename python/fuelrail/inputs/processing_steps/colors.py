"""The matrix of a change of saturation, hue and channels."""

from __future__ import annotations

from typing import Any

import numpy

__all__ = ["PERMUTATIONS", "color_matrix"]

Array = numpy.ndarray[Any, Any]

PERMUTATIONS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0), (2, 0, 1), (1, 2, 0))

# From RGB to YIQ, the colors of NTSC: brightness, and two axes of color.
_TO_YIQ = numpy.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def color_matrix(saturation: float, hue: float, channels: tuple[int, ...], bgr: bool) -> Array:
    """Returns the matrix, float32 of shape (3, 3), that changes a pixel.

    saturation: the factor of the colors; 1 keeps them, 0 makes gray.
    hue: the angle by which colors turn in YIQ, from red to green, in degrees.
    channels: the channel of the pixel that each channel becomes.
    bgr: whether pixels are blue, green, red.

    Without any change, the matrix is exactly the identity.
    """
    matrix = numpy.eye(3)
    if saturation != 1 or hue != 0:
        angle = numpy.deg2rad(hue)
        cos, sin = saturation * numpy.cos(angle), saturation * numpy.sin(angle)
        turned = numpy.array([[1, 0, 0], [0, cos, sin], [0, -sin, cos]])
        matrix = numpy.linalg.inv(_TO_YIQ) @ turned @ _TO_YIQ
        if bgr:
            matrix = matrix[::-1, ::-1]
    return matrix[list(channels)].astype(numpy.float32)
