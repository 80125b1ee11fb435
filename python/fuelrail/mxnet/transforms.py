"""The transforms of MXNet's im2rec proposal (apache/mxnet #14503), by its names and in its order of sizes.

>>> from fuelrail.mxnet.transforms import Brightness, Compose, Resize, ResizedCrop
>>> augment = Compose([Resize(300), ResizedCrop(224), Brightness(0.1)])

Each is one of `fuelrail.transforms`, which has more; a Compose takes those, too, and functions of pixels.
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
    """Transforms, one after the other: those of this module and of `fuelrail.transforms`, and your own functions.

    A function takes pixels as a uint8 array (height, width, channels), RGB, RGBA or grey, and
    returns such an array, of any size and 1, 3 or 4 channels; one of (height, width) is grey. It is
    called from one thread at a time but for the images in any order, and must give the same for the
    same image. What it raises ends the packing, and is raised as it is, with a note of the image.

    With Normalize among them, `im2rec` and `np2rec` raise InvalidArgumentError: its floats cannot be
    stored as an image. It belongs to the loader that reads the file.
    """

    transforms: Sequence[T.Transform | PixelFunction | Compose] = ()

    def __post_init__(self) -> None:
        if isinstance(self.transforms, (str, bytes)) or not isinstance(self.transforms, Sequence):
            raise ArgumentTypeError(
                "transforms are not a list", found=typed(self.transforms), remedy="Write [...]"
            )
        flat = [item for given in self.transforms for item in flattened(given)]
        object.__setattr__(self, "transforms", tuple(flat))


def flattened(item: object) -> list[T.Transform | PixelFunction]:
    """The transforms of a Compose; of anything else, itself. Errors: ArgumentTypeError."""
    if isinstance(item, Compose):
        return list(item.transforms)  # type: ignore[arg-type]
    if isinstance(item, (T.Transform, _core.CustomStage)) or callable(item):
        return [item]  # type: ignore[list-item]
    raise ArgumentTypeError(
        "this is neither a transform nor a function of pixels",
        found=typed(item),
        remedy="Take one of fuelrail.transforms, or a function from an array to an array",
    )


def Resize(size: int | Sequence[int]) -> T.Resize:  # noqa: N802
    """The shorter side becomes `size` pixels and the other one keeps the ratio; or exactly (width, height)."""
    return T.Resize(_height_width(size))


def ResizedCrop(size: int | Sequence[int]) -> T.RandomResizedCrop:  # noqa: N802
    """A crop of random place, area (0.08 to 1) and ratio (3/4 to 4/3), resized to `size` x `size` or (width, height)."""
    return T.RandomResizedCrop(_height_width(size))


def Brightness(brightness: float) -> T.ColorJitter:  # noqa: N802
    """Pixels times one random factor an image, from max(0, 1 - brightness) to 1 + brightness."""
    return T.ColorJitter(brightness=brightness)


def Normalize(mean: float | Sequence[float], std: float | Sequence[float]) -> T.Normalize:  # noqa: N802
    """(x / 255 - mean) / std; one number stands for all three channels.

    For loaders (`fuelrail.torch.DataLoader(..., transforms=[...])`); an image file cannot hold what it gives.
    """
    return T.Normalize(_for_each_channel(mean), _for_each_channel(std))


def _height_width(size: int | Sequence[int]) -> int | Sequence[int]:
    return size[::-1] if isinstance(size, (tuple, list)) else size


def _for_each_channel(value: float | Sequence[float]) -> Sequence[float]:
    return (value,) * 3 if isinstance(value, (int, float)) else value
