"""What happens to every image, as plain values in a list; names and meaning are torchvision's.

A list may have its transforms in any order, Normalize last. Crops, pads, resizes and flips in front
of the first other transform are resolved from the image's header, before it is decoded; only the
pixels that they need are decoded. Everything works on 8-bit RGB, as torchvision does on uint8
tensors. Random numbers are a function of (seed, epoch, position in the epoch,
place in the list), whatever thread does the work. Sizes are ``int`` or ``(height, width)``; where
a class takes numbers, an array or a tensor of them will do.

Every class raises InvalidArgumentError, at once, for a value out of range, and ArgumentTypeError
for one of the wrong type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.options import (
    choice,
    listed,
    nearest,
    real,
    shown,
    suggests_options,
    truth,
    typed,
    whole,
)

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Grayscale",
    "HorizontalFlip",
    "Normalize",
    "Pad",
    "RandomAffine",
    "RandomCrop",
    "RandomGrayscale",
    "RandomResizedCrop",
    "RandomRotation",
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
    | _core.Pad
    | _core.RandomCrop
    | _core.RandomRotation
    | _core.RandomAffine
    | _core.HorizontalFlip
    | _core.VerticalFlip
    | _core.ColorJitter
    | _core.Grayscale
    | _core.RandomGrayscale
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

    _known: ClassVar[Any] = None
    """The class of this module that the transform is of."""

    def native(self) -> Native:
        """The same value in the core, whose names are those of the fields. Errors: ArgumentTypeError
        where it has none.
        """
        if self._known is None:
            raise _unknown("the transform", self)
        values: dict[str, Any] = {}
        for field in fields(self._known):
            value = getattr(self, field.name)
            if field.name == "size":
                values |= self._sides(value)
            elif value is None and field.default is None:
                values[field.name] = _ABSENT[field.name]
            else:
                values[field.name] = _READ[field.name](field.name, value)
        made: Native = getattr(_core, self._known.__name__)(**values)
        return made

    @staticmethod
    def _sides(size: Any) -> dict[str, int]:
        if not isinstance(size, tuple):
            size = (size,)
        if len(size) not in (1, 2):
            raise InvalidArgumentError(
                "`size` is not a size", expected="an integer or (height, width)", found=shown(size)
            )
        height, width = (whole("size", side, least=1) for side in (size * 2)[:2])
        return {"height": height, "width": width}


def _checked(cls: type[T]) -> type[T]:
    cls.__init__ = suggests_options(cls.__init__)  # type: ignore[method-assign]
    cls._known = cls
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


@_checked
@dataclass(frozen=True)
class CenterCrop(Transform):
    """The middle of the image; one that is smaller than `size` is padded with black."""

    size: int | Sequence[int]


@_checked
@dataclass(frozen=True)
class Resize(Transform):
    """To exactly (height, width); with one number, the shorter side gets that length and the
    other one follows. interpolation, antialias: as in RandomResizedCrop.
    """

    size: int | Sequence[int]
    interpolation: str = "bilinear"
    antialias: bool = True

    @staticmethod
    def _sides(size: Any) -> dict[str, int]:
        if isinstance(size, tuple) and len(size) != 1:
            return {**Transform._sides(size), "shorter_side": 0}
        side = size[0] if isinstance(size, tuple) else size
        return {"height": 0, "width": 0, "shorter_side": whole("size", side, least=1)}


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


@_checked
@dataclass(frozen=True)
class Pad(Transform):
    """The image with margins.

    padding: pixels on all sides, or (left and right, top and bottom), or (left, top, right, bottom).
    fill: a level from 0 to 255, or (red, green, blue); for "constant". padding_mode: "constant",
    "edge" (the edge pixels go on), "reflect" (mirrored, without the edge pixels again: 3 2 | 1 2 3)
    or "symmetric" (with them: 2 1 | 1 2 3). Mirroring goes on where the padding is wider than the
    image, as numpy.pad's does.
    """

    padding: int | Sequence[int]
    fill: int | Sequence[int] = 0
    padding_mode: str = "constant"


@_checked
@dataclass(frozen=True)
class RandomCrop(Transform):
    """A crop of `size` at a random place of the image with margins.

    padding, fill, padding_mode: as in Pad; None is no padding. pad_if_needed: an image that is too
    narrow (then: too low) by n pixels gets n more on both sides; without it, an image that is too
    small is an error when it comes.
    """

    size: int | Sequence[int]
    padding: int | Sequence[int] | None = None
    pad_if_needed: bool = False
    fill: int | Sequence[int] = 0
    padding_mode: str = "constant"


@_checked
@dataclass(frozen=True)
class RandomRotation(Transform):
    """Turned counter-clockwise by a random angle.

    degrees: (least, most), or a number d for (-d, d). interpolation: "nearest" or "bilinear".
    expand: whether the result is as large as the turned image; a batch then needs a crop or a
    Resize((height, width)) behind. center: (x, y) in pixels from the upper left corner; by default
    the middle; not used with expand. fill: what comes in from outside, as in Pad.
    padding_mode: "constant" for `fill`, or "edge": the nearest pixel of the image.

    Formula: torchvision.transforms.functional.rotate on tensors: affine_grid, grid_sample with
    align_corners=False and zeros outside, mask * (sampled - fill) + fill with the sampled mask, and
    rounding; "edge" is grid_sample's padding_mode="border". Places are rounded to 2**-16 pixels.
    """

    degrees: float | Sequence[float]
    interpolation: str = "nearest"
    expand: bool = False
    center: Sequence[float] | None = None
    fill: int | Sequence[int] = 0
    padding_mode: str = "constant"


@_checked
@dataclass(frozen=True)
class RandomAffine(Transform):
    """Turned clockwise, moved, scaled and sheared at random, in the same size.

    degrees: (least, most), or a number d for (-d, d); 0 for no turn. translate: at most these
    fractions of (width, height), to either side, in whole pixels. scale: (least, most). shear: a
    number s for (-s, s) degrees along x, or (least, most) along x, or that and (least, most) along
    y. interpolation, center, fill, padding_mode and the formula: as in RandomRotation, with the
    matrix of torchvision.transforms.functional.affine.
    """

    degrees: float | Sequence[float]
    translate: Sequence[float] | None = None
    scale: Sequence[float] | None = None
    shear: float | Sequence[float] | None = None
    interpolation: str = "nearest"
    fill: int | Sequence[int] = 0
    center: Sequence[float] | None = None
    padding_mode: str = "constant"


@_checked
@dataclass(frozen=True)
class HorizontalFlip(Transform):
    """Left becomes right with probability `p`."""

    p: float = 0.5


@_checked
@dataclass(frozen=True)
class VerticalFlip(Transform):
    """Top becomes bottom with probability `p`."""

    p: float = 0.5


@_checked
@dataclass(frozen=True)
class ColorJitter(Transform):
    """Brightness, contrast, saturation and hue changed by random factors, in random order.

    brightness, contrast, saturation: (least, most) factor, or a number x for
    (max(0, 1 - x), 1 + x). hue: (least, most) turn of the colour circle within [-0.5, 0.5], or a
    number x for (-x, x). What may only be left alone (0, or (1, 1)) is.

    Formulas: torchvision.transforms.functional on uint8 tensors, every operation rounded to
    float32, results clamped to [0, 255] and truncated. Brightness: factor * x. Contrast: factor * x
    + (1 - factor) * mean of the image's grey. Saturation: factor * x + (1 - factor) * grey. Grey:
    as in Grayscale. Hue: RGB to HSV, turned, and back, as _rgb2hsv and _hsv2rgb, times 255.999.
    """

    brightness: float | Sequence[float] = 0
    contrast: float | Sequence[float] = 0
    saturation: float | Sequence[float] = 0
    hue: float | Sequence[float] = 0


@_checked
@dataclass(frozen=True)
class Grayscale(Transform):
    """Grey in all three channels: trunc(0.2989 red + 0.587 green + 0.114 blue), in float32.

    The formula is torchvision's for tensors (its constants sum to 0.9999: white becomes 254).
    num_output_channels: 3, for the images of a batch have three.
    """

    num_output_channels: int = 3

    def native(self) -> Native:
        if whole("num_output_channels", self.num_output_channels) != 3:
            raise InvalidArgumentError(
                "`num_output_channels` is not 3",
                found=str(self.num_output_channels),
                remedy="Take one of the three equal channels from the batch",
            )
        return _core.Grayscale()


@_checked
@dataclass(frozen=True)
class RandomGrayscale(Transform):
    """Grayscale with probability `p`."""

    p: float = 0.1


@_checked
@dataclass(frozen=True)
class Normalize(Transform):
    """(x / 255 - mean) / std, channel by channel (red, green, blue), in float32; the last in a list.

    Bit for bit what torchvision's ToTensor and Normalize give.
    """

    mean: Sequence[float]
    std: Sequence[float]


def native_list(transforms: Sequence[Transform] | None) -> list[Native]:
    """The core's values of a list; anything that is no transform is refused by its place."""
    if transforms is None:
        return []
    if isinstance(transforms, (Transform, str)) or not isinstance(transforms, Sequence):
        if _owner(transforms):
            raise _unknown("`transforms`", transforms)
        raise ArgumentTypeError(
            "`transforms` is not a list",
            found=type(transforms).__name__,
            remedy="Write [transform]",
        )
    for place, transform in enumerate(transforms):
        if not isinstance(transform, Transform) or transform._known is None:
            raise _unknown(f"`transforms[{place}]`", transform)
    return [transform.native() for transform in transforms]


if not TYPE_CHECKING:  # a type checker says itself what is not there

    def __getattr__(name: str) -> Any:
        where = f"module 'fuelrail.transforms' has no attribute '{name}'"
        raise AttributeError(where if name.startswith("_") else f"{where}. {_instead(name)}")


def __dir__() -> list[str]:
    return __all__


# Of torchvision's names, those that have none here.
_INSTEAD = {
    "Compose": "Leave it out: `transforms` is a list",
    "ToTensor": "Leave it out: images come as floats from 0 to 1 unless `dtype` says otherwise",
    "PILToTensor": 'Leave it out, and say dtype="uint8"',
    "ToDtype": "Leave it out: say `dtype` to the loader",
    "ConvertImageDtype": "Leave it out: say `dtype` to the loader",
    "Lambda": "Work on whole batches, with `batch_transforms`",
    **dict.fromkeys(
        ("RandomErasing", "MixUp", "CutMix", "GaussianBlur", "GaussianNoise"),
        "It is not among those here: use torchvision's on whole batches, in `batch_transforms`",
    ),
    **dict.fromkeys(
        ("AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix", "RandomPerspective"),
        "It is not among those here: use torchvision's on samples, by `batch_transforms` or "
        "`fuelrail.torch.MapDataset`",
    ),
}


# Of torchvision's names, those that differ from the ones here.
_HERE = {"RandomHorizontalFlip": "HorizontalFlip", "RandomVerticalFlip": "VerticalFlip"}


def _instead(name: str) -> str:
    return _INSTEAD.get(name) or nearest(_HERE.get(name, name), _KNOWN)


def _owner(transform: object) -> str:
    """The other library that a transform comes from; "" where it is none's."""
    module = getattr(transform, "__module__", None)
    owner = module.partition(".")[0] if isinstance(module, str) else ""
    return owner if owner in ("albumentations", "kornia", "torchvision") else ""


def _of_another_library(what: str, owner: str, transform: object, name: str) -> ArgumentTypeError:
    here = _HERE.get(name, name)
    place = f"Use fuelrail.transforms.{here} in its place, or call" if here in _KNOWN else "Call"
    return ArgumentTypeError(
        f"{what} is {owner}'{'' if owner.endswith('s') else 's'}, not one of fuelrail.transforms",
        found=shown(transform),
        remedy=(_INSTEAD.get(name) if owner == "torchvision" else None)
        or f"{place} it yourself: on whole batches, in `batch_transforms`, or on samples, in the "
        "`__getitem__` of a subclass of `fuelrail.torch.MapDataset`",
    )


def _unknown(what: str, transform: object) -> ArgumentTypeError:
    name = getattr(transform, "__name__", type(transform).__name__)
    owner = _owner(transform)
    if owner:
        return _of_another_library(what, owner, transform, name)
    is_class = isinstance(transform, type) and issubclass(transform, Transform)
    remedy = (
        f"Give an object of '{name}', not the class"
        if is_class and name in _KNOWN
        else _instead(name)
    )
    return ArgumentTypeError(
        f"{what} is not one of fuelrail.transforms", found=shown(transform), remedy=remedy
    )


def _plain(value: Any) -> Any:
    """Arrays and tensors as numbers and lists, and every list as a tuple."""
    value = listed(value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return tuple(value)
    return value


def _numbers(option: str, values: Sequence[float], count: int) -> list[float]:
    if not isinstance(values, tuple) or len(values) != count:
        kind = InvalidArgumentError if isinstance(values, tuple) else ArgumentTypeError
        raise kind(f"`{option}` is not a list of {count} numbers", found=typed(values))
    return [real(option, value) for value in values]


def _margins(option: str, padding: int | Sequence[int]) -> list[int]:
    """(left, top, right, bottom)."""
    sides = padding if isinstance(padding, tuple) else (padding,)
    if len(sides) not in (1, 2, 4):
        raise InvalidArgumentError(
            "`padding` is not a padding", expected="1, 2 or 4 integers", found=repr(padding)
        )
    return [whole(option, side) for side in (sides * 4)[:4]]


def _color(option: str, fill: int | Sequence[int]) -> list[int]:
    levels = fill if isinstance(fill, tuple) else (fill,)
    if len(levels) not in (1, 3):
        raise InvalidArgumentError(
            "`fill` is not a colour",
            expected="a level or (red, green, blue)",
            found=repr(fill),
        )
    return [whole(option, level, bits=8) for level in (levels * 3)[:3]]


def _angles(option: str, value: float | Sequence[float]) -> list[float]:
    """(least, most); one number is that much to either side."""
    if isinstance(value, tuple):
        return _numbers(option, value, 2)
    most = real(option, value)
    if most < 0:
        raise InvalidArgumentError(
            f"`{option}` is negative", expected="0 or more, or (least, most)", found=str(most)
        )
    return [-most, most]


def _factors(option: str, value: float | Sequence[float]) -> list[float]:
    if isinstance(value, tuple):
        return _numbers(option, value, 2)
    most = _angles(option, value)[1]
    return [max(0.0, 1.0 - most), 1.0 + most]


def _shear(option: str, value: float | Sequence[float]) -> list[float]:
    if isinstance(value, tuple) and len(value) == 4:
        return _numbers(option, value, 4)
    return [*_angles(option, value), 0.0, 0.0]


# By the name of a field: what reads it, and what stands for None where that is the default.
_READ: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("scale", "ratio", "translate", "center"), partial(_numbers, count=2)),
    **dict.fromkeys(("mean", "std"), partial(_numbers, count=3)),
    **dict.fromkeys(("antialias", "expand", "pad_if_needed"), truth),
    **dict.fromkeys(("brightness", "contrast", "saturation"), _factors),
    **dict.fromkeys(("degrees", "hue"), _angles),
    "interpolation": partial(choice, kind=_core.Interpolation),
    "padding_mode": partial(choice, kind=_core.PaddingMode),
    "padding": _margins,
    "fill": _color,
    "shear": _shear,
    "resize": partial(whole, least=1),
    "p": real,
}
_ABSENT: dict[str, Any] = {
    "padding": [0] * 4,
    "resize": 0,
    "center": None,
    "translate": [0, 0],
    "scale": [1, 1],
    "shear": [0] * 4,
}
