"""What happens to every image, as plain values in a list; names and meaning are torchvision's.

Crops, resizes and flips are resolved from the image's header, before it is decoded; only the pixels
that they need are decoded. Random numbers are a function of (seed, epoch, position in the epoch,
place in the list), whatever thread does the work. Sizes are ``int`` or ``(height, width)``; where
a class takes numbers, an array or a tensor of them will do.

Every class raises InvalidArgumentError, at once, for a value out of range, and ArgumentTypeError
for one of the wrong type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.options import choice, nearest, real, shown, suggests_options, truth, typed, whole

__all__ = [
    "CenterCrop",
    "HorizontalFlip",
    "Normalize",
    "RandomResizedCrop",
    "Resize",
    "ResizedCenterCrop",
    "Transform",
    "VerticalFlip",
]

_KNOWN = [name for name in __all__ if name != "Transform"]
T = TypeVar("T", bound="Transform")
Native = (
    _core.RandomResizedCrop
    | _core.CenterCrop
    | _core.Resize
    | _core.ResizedCenterCrop
    | _core.HorizontalFlip
    | _core.VerticalFlip
    | _core.Normalize
)


class Transform:
    """The base of all transforms: immutable values that compare, hash and pickle.

    The set is closed, for the core knows only these: a class of one's own is refused.
    """

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):  # type: ignore[arg-type]
            object.__setattr__(self, name, _plain(getattr(self, name)))
        _core.check_transforms([self.native()])

    def native(self) -> Native:
        """The same value in the core. Errors: ArgumentTypeError where it has none."""
        raise _unknown("the transform", self)


def _checked(cls: type[T]) -> type[T]:
    cls.__init__ = suggests_options(cls.__init__)  # type: ignore[method-assign]
    return cls


@_checked
@dataclass(frozen=True)
class RandomResizedCrop(Transform):
    """A crop of random area and aspect ratio, resized to `size`.

    scale: area of the crop as a fraction of the image's. ratio: width / height of the crop.
    interpolation: "nearest", "bilinear" or "bicubic". antialias: whether the filter widens when it
    shrinks, as Pillow's does. Where ten tries find no crop that fits, the middle is taken.
    """

    size: int | Sequence[int]
    scale: Sequence[float] = (0.08, 1.0)
    ratio: Sequence[float] = (3 / 4, 4 / 3)
    interpolation: str = "bilinear"
    antialias: bool = True

    def native(self) -> Native:
        return _core.RandomResizedCrop(
            *_height_width(self.size),
            _numbers("scale", self.scale, 2),
            _numbers("ratio", self.ratio, 2),
            choice("interpolation", self.interpolation, _core.Interpolation),
            truth("antialias", self.antialias),
        )


@_checked
@dataclass(frozen=True)
class CenterCrop(Transform):
    """The middle of the image; one that is smaller than `size` is padded with black."""

    size: int | Sequence[int]

    def native(self) -> Native:
        return _core.CenterCrop(*_height_width(self.size))


@_checked
@dataclass(frozen=True)
class Resize(Transform):
    """To exactly (height, width); with one number, the shorter side gets that length and the
    other one follows. interpolation, antialias: as in RandomResizedCrop.
    """

    size: int | Sequence[int]
    interpolation: str = "bilinear"
    antialias: bool = True

    def native(self) -> Native:
        filtering = (
            choice("interpolation", self.interpolation, _core.Interpolation),
            truth("antialias", self.antialias),
        )
        if not isinstance(self.size, tuple):
            return _core.Resize(0, 0, whole("size", self.size, least=1), *filtering)
        if len(self.size) == 1:
            return _core.Resize(0, 0, whole("size", self.size[0], least=1), *filtering)
        return _core.Resize(*_height_width(self.size), 0, *filtering)


@_checked
@dataclass(frozen=True)
class ResizedCenterCrop(Transform):
    """Resize(resize) followed by CenterCrop(size): the usual validation pair, in one step.

    resize: length of the shorter side before the crop; by default the longer side of `size` / 0.875,
    rounded: 256 for 224. interpolation, antialias: as in RandomResizedCrop.
    """

    size: int | Sequence[int]
    resize: int | None = None
    interpolation: str = "bilinear"
    antialias: bool = True

    def native(self) -> Native:
        return _core.ResizedCenterCrop(
            *_height_width(self.size),
            0 if self.resize is None else whole("resize", self.resize, least=1),
            choice("interpolation", self.interpolation, _core.Interpolation),
            truth("antialias", self.antialias),
        )


@_checked
@dataclass(frozen=True)
class HorizontalFlip(Transform):
    """Left becomes right with probability `p`."""

    p: float = 0.5

    def native(self) -> Native:
        return _core.HorizontalFlip(real("p", self.p))


@_checked
@dataclass(frozen=True)
class VerticalFlip(Transform):
    """Top becomes bottom with probability `p`."""

    p: float = 0.5

    def native(self) -> Native:
        return _core.VerticalFlip(real("p", self.p))


@_checked
@dataclass(frozen=True)
class Normalize(Transform):
    """(x / 255 - mean) / std, channel by channel (red, green, blue), in float32; the last in a list.

    Bit for bit what torchvision's ToTensor and Normalize give.
    """

    mean: Sequence[float]
    std: Sequence[float]

    def native(self) -> Native:
        return _core.Normalize(_numbers("mean", self.mean, 3), _numbers("std", self.std, 3))


def native_list(transforms: Sequence[Transform] | None) -> list[Native]:
    """The core's values of a list; anything that is no transform is refused by its place."""
    if transforms is None:
        return []
    if isinstance(transforms, Transform) or not isinstance(transforms, Sequence):
        raise ArgumentTypeError(
            "`transforms` is not a list",
            found=type(transforms).__name__,
            remedy="Write [transform]",
        )
    for place, transform in enumerate(transforms):
        if not isinstance(transform, Transform) or type(transform).native is Transform.native:
            raise _unknown(f"`transforms[{place}]`", transform)
    return [transform.native() for transform in transforms]


def __getattr__(name: str) -> Any:
    where = f"module 'fuelrail.transforms' has no attribute '{name}'"
    raise AttributeError(where if name.startswith("_") else f"{where}. {_nearest(name)}")


def _nearest(name: str) -> str:
    name = {  # torchvision's names, where they differ
        "RandomHorizontalFlip": "HorizontalFlip",
        "RandomVerticalFlip": "VerticalFlip",
    }.get(name, name)
    return nearest(name, _KNOWN)


def _unknown(what: str, transform: object) -> ArgumentTypeError:
    name = getattr(transform, "__name__", type(transform).__name__)
    is_class = isinstance(transform, type) and issubclass(transform, Transform)
    remedy = (
        f"Give an object of '{name}', not the class"
        if is_class and name in _KNOWN
        else _nearest(name)
    )
    return ArgumentTypeError(
        f"{what} is none of fuelrail.transforms", found=shown(transform), remedy=remedy
    )


def _plain(value: Any) -> Any:
    """Arrays and tensors as numbers and lists, and every list as a tuple."""
    if hasattr(value, "tolist") and not isinstance(value, type):
        value = value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return tuple(value)
    return value


def _height_width(size: int | Sequence[int]) -> tuple[int, int]:
    if not isinstance(size, tuple):
        side = whole("size", size, least=1)
        return side, side
    if len(size) not in (1, 2):
        raise InvalidArgumentError(
            "`size` is not a size", expected="an integer or (height, width)", found=shown(size)
        )
    return whole("size", size[0], least=1), whole("size", size[-1], least=1)


def _numbers(option: str, values: Sequence[float], count: int) -> list[float]:
    if not isinstance(values, tuple) or len(values) != count:
        kind = InvalidArgumentError if isinstance(values, tuple) else ArgumentTypeError
        raise kind(f"`{option}` is not a list of {count} numbers", found=typed(values))
    return [real(option, value) for value in values]
