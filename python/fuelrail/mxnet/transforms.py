"""The transforms of MXNet's im2rec proposal (apache/mxnet #14503). Sizes are (width, height).

>>> from fuelrail.mxnet.transforms import Brightness, Compose, Resize, ResizedCrop
>>> augment = Compose([Resize(300), ResizedCrop(224), Brightness(0.1)])

Each function, such as `Resize`, returns a transform of `fuelrail.transforms`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fuelrail import _core
from fuelrail import transforms as T
from fuelrail.errors import ArgumentTypeError
from fuelrail.options import typed

__all__ = ["Brightness", "Compose", "Normalize", "Resize", "ResizedCrop"]

PixelFunction = Callable[[Any], Any]


@dataclass(frozen=True)
class Compose:
    """A sequence of transforms and functions that are applied to each image.

    The transforms are from this module or from `fuelrail.transforms`. A function gets the pixels of
    one image, a uint8 array of shape (height, width, channels). The channels are RGB, RGBA or grey.
    The function returns a uint8 array of any height and width, with 1, 3 or 4 channels. It may also
    return a grey image of shape (height, width).

    The functions are never called by two threads at once, but they get the images in any order. So
    a function must always return the same result for the same image. If the function raises an
    exception, packing stops and raises this exception, with a note that names the image.

    If a Normalize is included, `im2rec` and `np2rec` raise InvalidArgumentError, because an image
    file cannot store floats. Instead, pass the Normalize to the loader that reads the file.
    """

    transforms: Sequence[T.Transform | PixelFunction | Compose] = ()

    def __post_init__(self) -> None:
        if isinstance(self.transforms, (str, bytes)) or not isinstance(self.transforms, Sequence):
            raise ArgumentTypeError(
                "`transforms` has the wrong type",
                expected="a list of transforms",
                found=typed(self.transforms),
                remedy="Put the transforms in a list",
            )
        flat = [item for given in self.transforms for item in flattened(given)]
        object.__setattr__(self, "transforms", tuple(flat))


def flattened(item: object) -> list[T.Transform | PixelFunction]:
    """Returns the transforms of a Compose, or [item] for a single transform or function.

    Errors: ArgumentTypeError for any other type.
    """
    if isinstance(item, Compose):
        return list(item.transforms)  # type: ignore[arg-type]
    if isinstance(item, (T.Transform, _core.CustomStage)) or callable(item):
        return [item]  # type: ignore[list-item]
    raise ArgumentTypeError(
        "an item of `transforms` has the wrong type",
        expected="a transform or a function",
        found=typed(item),
        remedy="Use a transform of fuelrail.transforms, or a function that takes and returns an "
        "array of pixels",
    )


def Resize(size: int | Sequence[int]) -> T.Resize:  # noqa: N802
    """Resizes an image.

    size: (width, height), or one number, the new length of the shorter side. With one number, the
    image keeps its aspect ratio.
    """
    return T.Resize(_height_width(size))


def ResizedCrop(size: int | Sequence[int]) -> T.RandomResizedCrop:  # noqa: N802
    """Crops a random part of the image and resizes it.

    size: the new (width, height), or one length for both. The part's position, area (0.08 to 1 of
    the image) and aspect ratio (3/4 to 4/3) are random.
    """
    return T.RandomResizedCrop(_height_width(size))


def Brightness(brightness: float) -> T.ColorJitter:  # noqa: N802
    """Multiplies all pixels of an image by a random factor.

    For each image, the factor is drawn between max(0, 1 - brightness) and 1 + brightness.
    """
    return T.ColorJitter(brightness=brightness)


def Normalize(mean: float | Sequence[float], std: float | Sequence[float]) -> T.Normalize:  # noqa: N802
    """Converts each pixel value x to (x / 255 - mean) / std.

    mean, std: three numbers, one for each channel, or a single number for all channels.

    Pass this transform to a loader (`fuelrail.torch.DataLoader(..., transforms=[...])`), not to
    `im2rec` or `np2rec`, which write image files. An image file cannot store floats.
    """
    return T.Normalize(_for_each_channel(mean), _for_each_channel(std))


def _height_width(size: int | Sequence[int]) -> int | Sequence[int]:
    return size[::-1] if isinstance(size, (tuple, list)) else size


def _for_each_channel(value: float | Sequence[float]) -> Sequence[float]:
    return (value,) * 3 if isinstance(value, (int, float)) else value
