"""Transforms that a loader applies to every image. Most work like the torchvision
transforms of the same name.

The transforms may be in any order, except that Normalize must be last. If a list begins with
crops, pads, resizes and flips, only the pixels that these transforms need are decoded. All
transforms work on 8-bit RGB images, as torchvision's transforms do on uint8 tensors. The random
numbers depend only on the seed, the epoch, the sample's position in the epoch and the transform's
index in the list. A size is an ``int`` or ``(height, width)``. Numbers and lists may also be given
as arrays or tensors.

Every constructor raises InvalidArgumentError for a value out of range and ArgumentTypeError for a
value of the wrong type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    text,
    truth,
    typed,
    whole,
)

if TYPE_CHECKING:
    from fuelrail.drawn import Drawn

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
    "RandomIoUCrop",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomZoomOut",
    "Resize",
    "ResizedCenterCrop",
    "ScaleJitter",
    "Transform",
    "VerticalFlip",
    "draw",
]

_KNOWN = [name for name in __all__ if name not in ("Transform", "draw")]
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
    | _core.RandomShortestSize
    | _core.ScaleJitter
    | _core.RandomZoomOut
    | _core.RandomIoUCrop
)


class Transform:
    """Base class of all transforms. Transforms are immutable, comparable, hashable and picklable.

    A user's own class that is derived directly from Transform is rejected, because the C++ core
    does not know it.
    """

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):  # type: ignore[arg-type]
            object.__setattr__(self, name, _plain(getattr(self, name)))
        _core.check_transforms([self.native()])

    _known: ClassVar[Any] = None
    """The class in this module that implements the transform, or None for a user's own class."""

    def native(self) -> Native:
        """Converts this transform to an object of the C++ core. Errors: ArgumentTypeError for a
        class that the core does not know.
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
                "`size` is invalid", expected="an integer or (height, width)", found=shown(size)
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
    """Crops a random area with a random aspect ratio and resizes it to `size`.

    scale: (min, max) of the crop's area, as a fraction of the image's area. ratio: (min, max) of
    the crop's width / height. interpolation: "nearest", "bilinear" or "bicubic". antialias: whether
    to use a wider filter when the image shrinks, as in Pillow. If none of ten random crops fits
    into the image, the largest central crop with a valid ratio is used.
    """

    size: int | Sequence[int]
    scale: Sequence[float] = (0.08, 1.0)
    ratio: Sequence[float] = (3 / 4, 4 / 3)
    interpolation: str = "bilinear"
    antialias: bool = True


@_checked
@dataclass(frozen=True)
class CenterCrop(Transform):
    """Crops the middle of the image. An image that is smaller than `size` is padded with black."""

    size: int | Sequence[int]


@_checked
@dataclass(frozen=True)
class Resize(Transform):
    """Resizes the image to (height, width). If `size` is one number, resizes the shorter side to
    this length and keeps the aspect ratio.

    max_size: the largest length of the longer side, if `size` is one number: if the longer side
    would be longer, it becomes `max_size`, and the shorter side becomes shorter than `size`. If
    `size` is None, the longer side becomes `max_size`. interpolation, antialias: as in
    RandomResizedCrop.
    """

    size: int | Sequence[int] | None
    interpolation: str = "bilinear"
    max_size: int | None = None
    antialias: bool = True

    @staticmethod
    def _sides(size: Any) -> dict[str, int]:
        if size is None:
            return {"height": 0, "width": 0, "shorter_side": 0}
        if isinstance(size, tuple) and len(size) != 1:
            return {**Transform._sides(size), "shorter_side": 0}
        side = size[0] if isinstance(size, tuple) else size
        return {"height": 0, "width": 0, "shorter_side": whole("size", side, least=1)}


@_checked
@dataclass(frozen=True)
class RandomShortestSize(Transform):
    """Resizes the shorter side of the image to a random one of the lengths `min_size`, and keeps
    the aspect ratio.

    min_size: one length or a list of lengths. max_size: the largest length of the longer side.
    Both sides are rounded down to whole pixels. interpolation, antialias: as in RandomResizedCrop.
    """

    min_size: int | Sequence[int]
    max_size: int | None = None
    interpolation: str = "bilinear"
    antialias: bool = True


@_checked
@dataclass(frozen=True)
class ScaleJitter(Transform):
    """Resizes the image by a random factor, as in "Simple Copy-Paste is a Strong Data Augmentation
    Method for Instance Segmentation". Keeps the aspect ratio.

    target_size: (width, height), in torchvision's order, or one number for both. scale_range: (min,
    max) of the factor by which min(target_size[0] / width, target_size[1] / height) is multiplied.
    Both sides are rounded down to whole pixels. interpolation, antialias: as in RandomResizedCrop.
    """

    target_size: int | Sequence[int]
    scale_range: Sequence[float] = (0.1, 2.0)
    interpolation: str = "bilinear"
    antialias: bool = True

    def native(self) -> Native:
        sides = self.target_size if isinstance(self.target_size, tuple) else (self.target_size,) * 2
        if len(sides) != 2:
            raise InvalidArgumentError(
                "`target_size` is invalid",
                expected="an integer or (width, height)",
                found=shown(sides),
            )
        width, height = (whole("target_size", side, least=1) for side in sides)
        return _core.ScaleJitter(
            height=height,
            width=width,
            scale_range=_numbers("scale_range", self.scale_range, 2),
            interpolation=choice("interpolation", self.interpolation, _core.Interpolation),
            antialias=truth("antialias", self.antialias),
        )


@_checked
@dataclass(frozen=True)
class RandomZoomOut(Transform):
    """With probability `p`, places the image at a random place of a larger one of the same aspect
    ratio.

    fill: the colour around the image, as in Pad. side_range: (min, max) of the factor between the
    sides of the two images, at least 1.
    """

    fill: int | Sequence[int] = 0
    side_range: Sequence[float] = (1.0, 4.0)
    p: float = 0.5

    def native(self) -> Native:
        return _core.RandomZoomOut(
            side_range=_numbers("side_range", self.side_range, 2),
            p=real("p", self.p),
            padding_mode=_core.PaddingMode.constant,
            fill=_color("fill", self.fill),
        )


@_checked
@dataclass(frozen=True)
class RandomIoUCrop(Transform):
    """Crops a random area that shows an object, as in "SSD: Single Shot MultiBox Detector". The
    sample must have boxes. Objects whose middle is outside the crop are removed.

    min_scale, max_scale: the sides of the crop as fractions of the image's. min_aspect_ratio,
    max_aspect_ratio: of the crop, width / height. sampler_options: one of these numbers is chosen
    at random. It is the least intersection over union (IoU) of the crop and the box of one of the
    objects whose middle is inside the crop; 1 or more leaves the image as it is. Default: (0, 0.1,
    0.3, 0.5, 0.7, 0.9, 1). trials: the number of random crops that are tried, at most 500. If none
    fits, the next number is chosen. After 100 numbers, or if the sample has no object, the image is
    left as it is; torchvision goes on until a crop fits or 1 is chosen.
    """

    min_scale: float = 0.3
    max_scale: float = 1.0
    min_aspect_ratio: float = 0.5
    max_aspect_ratio: float = 2.0
    sampler_options: Sequence[float] | None = None
    trials: int = 40

    def native(self) -> Native:
        options: dict[str, Any] = {}
        if self.sampler_options is not None:
            count = len(self.sampler_options) if isinstance(self.sampler_options, tuple) else 1
            options["sampler_options"] = _numbers("sampler_options", self.sampler_options, count)
        return _core.RandomIoUCrop(
            scale=[real("min_scale", self.min_scale), real("max_scale", self.max_scale)],
            aspect_ratio=[
                real("min_aspect_ratio", self.min_aspect_ratio),
                real("max_aspect_ratio", self.max_aspect_ratio),
            ],
            trials=whole("trials", self.trials),
            **options,
        )


@_checked
@dataclass(frozen=True)
class ResizedCenterCrop(Transform):
    """Applies Resize(resize) and then CenterCrop(size), as is usual for validation.

    resize: length of the shorter side before the crop. Default: the larger side of `size`, divided
    by 0.875 and rounded. For size=224, the default is 256. interpolation, antialias: as in
    RandomResizedCrop.
    """

    size: int | Sequence[int]
    resize: int | None = None
    interpolation: str = "bilinear"
    antialias: bool = True


@_checked
@dataclass(frozen=True)
class Pad(Transform):
    """Adds margins to the image.

    padding: the number of pixels to add: one number for all sides, two numbers (first for left and
    right, then for top and bottom), or four numbers (left, top, right, bottom). padding_mode:
    "constant" (uses `fill`), "edge" (repeats the edge pixel), "reflect" (mirrors without repeating
    the edge pixel: 3 2 | 1 2 3) or "symmetric" (mirrors and repeats the edge pixel: 2 1 | 1 2 3).
    If the padding is wider than the image, the mirrored pixels are mirrored again, as in numpy.pad.
    fill: a grey level from 0 to 255, or (red, green, blue).
    """

    padding: int | Sequence[int]
    fill: int | Sequence[int] = 0
    padding_mode: str = "constant"


@_checked
@dataclass(frozen=True)
class RandomCrop(Transform):
    """Pads the image, and crops an area of `size` at a random place.

    padding, fill, padding_mode: as in Pad. padding=None (the default) adds no pixels.
    pad_if_needed: if True, an image that is n pixels too narrow gets n more pixels on the left and
    n on the right. An image that is n pixels too short gets n more at the top and n at the bottom.
    If False (the default), loading an image that is too small raises InvalidArgumentError.
    """

    size: int | Sequence[int]
    padding: int | Sequence[int] | None = None
    pad_if_needed: bool = False
    fill: int | Sequence[int] = 0
    padding_mode: str = "constant"


@_checked
@dataclass(frozen=True)
class RandomRotation(Transform):
    """Rotates the image counter-clockwise by a random angle.

    degrees: (min, max), or a number d for (-d, d). interpolation: "nearest" or "bilinear". expand:
    if True, enlarges the result to show the whole rotated image. The results then differ in size,
    so add a crop or a Resize((height, width)) to batch them as one array. center: (x, y) of the
    rotation's centre, in pixels from the upper left corner. Default: the middle. If `expand` is
    True, `center` is ignored. fill: the colour outside the image, as in Pad. padding_mode:
    "constant" uses `fill` outside the image, and "edge" uses the nearest pixel of the image.

    The formula is that of torchvision.transforms.functional.rotate on tensors. The image and a mask
    of ones are sampled by affine_grid and grid_sample (align_corners=False, zeros outside). The
    result is mask * (image - fill) + fill, rounded. "edge" is grid_sample's padding_mode="border".
    Coordinates are rounded to 2**-16 pixels.
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
    """Rotates clockwise, translates, scales and shears the image at random. Keeps the image's size.

    degrees: (min, max), or a number d for (-d, d), or 0 for no rotation. translate: the largest
    horizontal and vertical shifts, as fractions of the image's width and height. Shifts are rounded
    to whole pixels. scale: (min, max) of the factor. shear: (min, max) of the angle along x in
    degrees, or a number s for (-s, s), or (min x, max x, min y, max y). interpolation, center,
    fill, padding_mode: as in RandomRotation. The pixels are computed as in RandomRotation, from the
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
    """Swaps left and right with probability `p`."""

    p: float = 0.5


@_checked
@dataclass(frozen=True)
class VerticalFlip(Transform):
    """Swaps top and bottom with probability `p`."""

    p: float = 0.5


@_checked
@dataclass(frozen=True)
class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue by random factors, in random order.

    brightness, contrast, saturation: (min, max) of the factor, or a number x for
    (max(0, 1 - x), 1 + x). hue: (min, max) of the shift, within [-0.5, 0.5] turns of the colour
    circle, or a number x for (-x, x). If an argument is 0, its property is not changed.

    The formulas are those of torchvision.transforms.functional on uint8 tensors. Every operation is
    rounded to float32. Results are clamped to [0, 255] and truncated. Brightness: factor * x.
    Contrast: factor * x + (1 - factor) * (mean of grey over the image). Saturation: factor * x +
    (1 - factor) * grey. Here, grey is the value that Grayscale computes. Hue: the pixel is
    converted by torchvision's _rgb2hsv, its hue is shifted, and the pixel is converted back by
    _hsv2rgb and multiplied by 255.999.
    """

    brightness: float | Sequence[float] = 0
    contrast: float | Sequence[float] = 0
    saturation: float | Sequence[float] = 0
    hue: float | Sequence[float] = 0


@_checked
@dataclass(frozen=True)
class Grayscale(Transform):
    """Sets all channels to trunc(0.2989 red + 0.587 green + 0.114 blue), computed in float32.

    torchvision uses this formula for tensors. The constants sum to 0.9999, so white becomes 254.
    num_output_channels: must be 3, because images in a batch have three channels.
    """

    num_output_channels: int = 3

    def native(self) -> Native:
        if whole("num_output_channels", self.num_output_channels) != 3:
            raise InvalidArgumentError(
                "`num_output_channels` is invalid",
                expected="3",
                found=str(self.num_output_channels),
                remedy="Pass 3, and use one channel of the batch: all channels are equal",
            )
        return _core.Grayscale()


@_checked
@dataclass(frozen=True)
class RandomGrayscale(Transform):
    """Applies Grayscale with probability `p`."""

    p: float = 0.1


@_checked
@dataclass(frozen=True)
class Normalize(Transform):
    """Computes (x / 255 - mean) / std for each channel (red, green, blue) in float32.

    Normalize must be the last transform in a list. The result is bit-identical to that of
    torchvision's ToTensor and Normalize.
    """

    mean: Sequence[float]
    std: Sequence[float]


def native_lists(
    transforms: Sequence[Transform] | Mapping[str, Sequence[Transform]] | None,
) -> tuple[list[Native], list[tuple[str, list[Native]]]]:
    """Converts the option `transforms` to objects of the C++ core. Returns the list of all images,
    or that of the pattern "*" if `transforms` is a dict; and the other patterns and their lists.
    Errors: those of `native_list`, and of `text` for a pattern.
    """
    if not isinstance(transforms, Mapping):
        return native_list(transforms), []
    lists = {
        text("a pattern of `transforms`", pattern): native_list(
            given, f"transforms[{shown(pattern)}]"
        )
        for pattern, given in transforms.items()
    }
    return lists.pop("*", []), list(lists.items())


def native_list(transforms: Sequence[Transform] | None, option: str = "transforms") -> list[Native]:
    """Converts transforms to objects of the C++ core. If an item is not a valid transform, the
    error text contains the item's index.

    option: the name of the list in error texts.
    """
    if transforms is None:
        return []
    if isinstance(transforms, (Transform, str)) or not isinstance(transforms, Sequence):
        if _owner(transforms):
            raise _unknown(f"`{option}`", transforms)
        raise ArgumentTypeError(
            f"`{option}` is not a list",
            found=type(transforms).__name__,
            remedy="Pass a single transform as a list: [transform]",
        )
    for place, transform in enumerate(transforms):
        if not isinstance(transform, Transform) or transform._known is None:
            raise _unknown(f"`{option}[{place}]`", transform)
    return [transform.native() for transform in transforms]


def copied_lists(
    transforms: Sequence[Transform] | Mapping[str, Sequence[Transform]] | None,
) -> list[Transform] | dict[str, list[Transform]]:
    """Copies the option `transforms`, whose lists the caller may change."""
    if isinstance(transforms, Mapping):
        return {pattern: list(given or ()) for pattern, given in transforms.items()}
    return list(transforms or ())


def draw(
    transforms: Sequence[Transform],
    size: tuple[int, int],
    seed: int = 0,
    epoch: int = 0,
    position: int = 0,
    *,
    boxes: object = None,
    leader: int = 0,
) -> Drawn:
    """Returns what a list of transforms does to one image: the steps with their random numbers, the
    resulting size, and the affine map of coordinates. A loader with the same seed does the same to
    the image at this position of this epoch.

    size: (height, width) of the image, turned upright.
    boxes: the boxes of the objects in the image, of shape (N, 4): x and y of the upper left and the
        lower right corner, in pixels. Only lists with a RandomIoUCrop need them.
    leader: the number of the image, counted from 0, among the images of the schema that have no
        `of` (masks, maps and partner images do not count). With the loader's option `shared`, that
        of the first image of the group.

    Errors: InvalidArgumentError for a RandomIoUCrop without boxes, and for the errors of an image
    of this size.
    """
    from fuelrail.drawn import Drawn

    if not isinstance(size, Sequence) or len(size) != 2:
        raise InvalidArgumentError(
            "`size` is invalid", expected="(height, width)", found=shown(size)
        )
    height, width = (whole("size", side, least=1, bits=31) for side in size)
    return Drawn(
        _core.draw(
            native_list(transforms),
            height,
            width,
            whole("seed", seed, bits=64),
            whole("epoch", epoch, bits=32),
            whole("position", position, bits=64),
            whole("leader", leader, bits=7),
            None if boxes is None else _rows(boxes),
        )
    )


if not TYPE_CHECKING:  # a type checker reports unknown names by itself

    def __getattr__(name: str) -> Any:
        where = f"module 'fuelrail.transforms' has no attribute '{name}'"
        raise AttributeError(where if name.startswith("_") else f"{where}. {_instead(name)}")


def __dir__() -> list[str]:
    return __all__


# What to do instead of using torchvision's transforms that fuelrail does not have.
_INSTEAD = {
    "Compose": "Omit it: `transforms` is a list",
    "ToTensor": "Omit it: by default, images are floats from 0 to 1",
    "PILToTensor": 'Omit it, and pass dtype="uint8" to the loader',
    "ToDtype": "Omit it, and pass `dtype` to the loader",
    "ConvertImageDtype": "Omit it, and pass `dtype` to the loader",
    "Lambda": "Use `batch_transforms`, which work on whole batches",
    **dict.fromkeys(
        ("RandomErasing", "MixUp", "CutMix", "GaussianBlur", "GaussianNoise"),
        "Apply torchvision's transform to whole batches in `batch_transforms`",
    ),
    **dict.fromkeys(
        ("AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix", "RandomPerspective"),
        "Apply torchvision's transform to each sample, in `batch_transforms` or in a subclass of "
        "`fuelrail.torch.MapDataset`",
    ),
}


# torchvision's names for transforms that have another name in fuelrail.
_HERE = {"RandomHorizontalFlip": "HorizontalFlip", "RandomVerticalFlip": "VerticalFlip"}


def _instead(name: str) -> str:
    return _INSTEAD.get(name) or nearest(_HERE.get(name, name), _KNOWN)


def _owner(transform: object) -> str:
    """Returns the library that defines `transform`: "albumentations", "kornia" or "torchvision".
    Returns "" for any other object.
    """
    module = getattr(transform, "__module__", None)
    owner = module.partition(".")[0] if isinstance(module, str) else ""
    return owner if owner in ("albumentations", "kornia", "torchvision") else ""


def _of_another_library(what: str, owner: str, transform: object, name: str) -> ArgumentTypeError:
    here = _HERE.get(name, name)
    place = f"Use fuelrail.transforms.{here} instead, or apply" if here in _KNOWN else "Apply"
    return ArgumentTypeError(
        f"{what} comes from {owner}, but only transforms from fuelrail.transforms are supported",
        found=shown(transform),
        remedy=(_INSTEAD.get(name) if owner == "torchvision" else None)
        or f"{place} your transform to whole batches in `batch_transforms`, or to each sample, in "
        "the `__getitem__` of a subclass of `fuelrail.torch.MapDataset`",
    )


def _unknown(what: str, transform: object) -> ArgumentTypeError:
    name = getattr(transform, "__name__", type(transform).__name__)
    owner = _owner(transform)
    if owner:
        return _of_another_library(what, owner, transform, name)
    is_class = isinstance(transform, type) and issubclass(transform, Transform)
    remedy = (
        f"Pass an object of '{name}', not the class"
        if is_class and name in _KNOWN
        else _instead(name)
    )
    return ArgumentTypeError(
        f"{what} is not a transform from fuelrail.transforms", found=shown(transform), remedy=remedy
    )


def _plain(value: Any) -> Any:
    """Converts a list to a tuple, and an array or a tensor to a number or a tuple."""
    value = listed(value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return tuple(value)
    return value


def _numbers(option: str, values: Sequence[float], count: int) -> list[float]:
    if not isinstance(values, tuple) or len(values) != count:
        kind = InvalidArgumentError if isinstance(values, tuple) else ArgumentTypeError
        raise kind(f"`{option}` is not a list of {count} numbers", found=typed(values))
    return [real(option, value) for value in values]


def _rows(boxes: object) -> list[list[float]]:
    rows = listed(boxes)
    if not isinstance(rows, Sequence):
        raise ArgumentTypeError("`boxes` is not a list of boxes", found=typed(boxes))
    return [_numbers("boxes", _plain(row), 4) for row in rows]


def _lengths(option: str, lengths: int | Sequence[int]) -> list[int]:
    sides = lengths if isinstance(lengths, tuple) else (lengths,)
    return [whole(option, side, least=1) for side in sides]


def _margins(option: str, padding: int | Sequence[int]) -> list[int]:
    """Converts `padding` to [left, top, right, bottom]."""
    sides = padding if isinstance(padding, tuple) else (padding,)
    if len(sides) not in (1, 2, 4):
        raise InvalidArgumentError(
            "`padding` is invalid",
            expected="an integer, or a list of 2 or 4 integers",
            found=repr(padding),
        )
    return [whole(option, side) for side in (sides * 4)[:4]]


def _color(option: str, fill: int | Sequence[int]) -> list[int]:
    levels = fill if isinstance(fill, tuple) else (fill,)
    if len(levels) not in (1, 3):
        raise InvalidArgumentError(
            "`fill` is invalid",
            expected="an integer or (red, green, blue)",
            found=repr(fill),
        )
    return [whole(option, level, bits=8) for level in (levels * 3)[:3]]


def _angles(option: str, value: float | Sequence[float]) -> list[float]:
    """Converts `value` to [min, max]. A single number d becomes [-d, d]."""
    if isinstance(value, tuple):
        return _numbers(option, value, 2)
    most = real(option, value)
    if most < 0:
        raise InvalidArgumentError(
            f"`{option}` is out of range",
            expected="a number of at least 0, or (min, max)",
            found=str(most),
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


# For each field name: the function that converts a value, and the value that replaces None.
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
    "min_size": _lengths,
    "max_size": partial(whole, least=1),
}
_ABSENT: dict[str, Any] = {
    "padding": [0] * 4,
    "resize": 0,
    "max_size": 0,
    "center": None,
    "translate": [0, 0],
    "scale": [1, 1],
    "shear": [0] * 4,
}
