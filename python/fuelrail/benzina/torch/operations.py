"""The transforms of Benzina's DataLoader: how an image is warped, normalised and coloured.

A transform is called for each sample as ``transform(index, in_shape, out_shape, rng)``. `index` is
the sample's index in the dataset, `in_shape` the (width, height) of the image, `out_shape` the
(width, height) of the result, and `rng` the numpy.random.RandomState from which all transforms of a
loader draw. The result is a tuple of numbers. For your own transform, derive a class from one of
the base classes and define `__call__`.

A warp is a 3 x 3 matrix in row-major order, which maps each pixel of the result to the pixel of the
image that it shows. Pixel centres have integer coordinates, and the first pixel's centre is (0, 0).

Every constructor raises InvalidArgumentError for a value out of range and ArgumentTypeError for a
value of the wrong type. The following differs from Benzina 0.0.5. The base classes raise
UnsupportedError when called. A single number is valid for every interval and for `translate`. If no
random crop fits into an image, the following images still have random crops. A rotated crop is as
large as the box around its corners. A list (1, 1) as `scale` does not imply `resize`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fuelrail import _core
from fuelrail.benzina.torch.numpy_random import drawing
from fuelrail.errors import (
    ArgumentTypeError,
    InvalidArgumentError,
    UnsupportedError,
    warn_user,
)
from fuelrail.options import integer, listed, real, shown, switch, typed, whole

__all__ = [
    "BiasTransform",
    "CenterResizedCrop",
    "ColorTransform",
    "Compose",
    "ConstantBiasTransform",
    "ConstantColorTransform",
    "ConstantNormTransform",
    "ConstantOOBTransform",
    "ConstantWarpTransform",
    "NormTransform",
    "OOBTransform",
    "RandomResizedCrop",
    "SimilarityTransform",
    "WarpTransform",
    "compute_affine_matrix",
]

_LARGEST_NORM = 10.0


class _Transform:
    def __call__(
        self,
        index: int,
        in_shape: Sequence[int],
        out_shape: Sequence[int],
        rng: np.random.RandomState,
    ) -> Iterable[float]:
        raise UnsupportedError(
            f"{type(self).__name__} has no values",
            remedy="Define `__call__(self, index, in_shape, out_shape, rng)` in a derived class",
        )


class WarpTransform(_Transform):
    """Base class of the transforms that return a warp: nine numbers, a 3 x 3 matrix."""


class NormTransform(_Transform):
    """Base class of the transforms that return three factors, for red, green and blue."""


class BiasTransform(_Transform):
    """Base class of the transforms that return three numbers to subtract from red, green and blue,
    which are 0 to 255. The bias is subtracted before the norm is multiplied.
    """


class OOBTransform(_Transform):
    """Base class of the transforms that return the red, green and blue of pixels outside the image
    (out of bounds). Bias and norm do not change them.
    """


class ColorTransform(_Transform):
    """Base class of the transforms that return the index of a color matrix, in a tuple.

    The matrix converts luma and chroma to RGB: 0 is BT.601 in full range, as in JPEG files; 1 is
    BT.601, 2 is BT.709 and 3 is BT.2020, all in limited range. With any other index, the channels
    are luma, Cb and Cr.
    """


class ConstantWarpTransform(WarpTransform):
    """Warps every image by the same matrix.

    warp: nine numbers in row-major order. The matrix must have an inverse. Default: the identity,
        with which the first pixel of the result shows the first pixel of the image.
    """

    def __init__(
        self, warp: Iterable[float] | None = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    ) -> None:
        self.warp = _numbers("warp", np.eye(3) if warp is None else warp, 9)
        self._native()

    def _native(self) -> list[_core.BenzinaWarp]:
        return [_core.BenzinaWarp.constant(self.warp)]

    def __call__(self, index: Any, in_shape: Any, out_shape: Any, rng: Any) -> tuple[float, ...]:
        return self.warp


class ConstantNormTransform(NormTransform):
    """Multiplies all images by the same factors, after the bias was subtracted.

    norm: a number, or three numbers for red, green and blue. Default: 1.

    A norm is a factor and not a standard deviation. If a factor is above 10, the constructor issues
    a FuelrailWarning.
    """

    def __init__(self, norm: float | Iterable[float] | None = (1.0, 1.0, 1.0)) -> None:
        self.norm = _finite("norm", 1.0 if norm is None else norm)
        if max(self.norm) > _LARGEST_NORM:
            warn_user(
                f"`norm` multiplies the pixels by {max(self.norm)}. If it is a standard deviation, "
                "use ConstantNormTransform.from_std(std), which divides the pixels by it."
            )

    @classmethod
    def from_std(cls, std: float | Iterable[float]) -> ConstantNormTransform:
        """Returns a transform that divides all images by standard deviations.

        std: a number, or three numbers for red, green and blue, of pixels that are 0 to 255. For
            the usual (0.229, 0.224, 0.225), pass each of them times 255.
        """
        numbers = _numbers("std", std, 3)
        if not min(numbers) > 0:
            raise InvalidArgumentError(
                "`std` is out of range", expected="numbers above 0", found=shown(std)
            )
        return cls([1.0 / number for number in numbers])

    def __call__(self, index: Any, in_shape: Any, out_shape: Any, rng: Any) -> tuple[float, ...]:
        return self.norm


class ConstantBiasTransform(BiasTransform):
    """Subtracts the same numbers from all images.

    bias: a number, or three numbers for red, green and blue. Default: 0.
    """

    def __init__(self, bias: float | Iterable[float] | None = (0.0, 0.0, 0.0)) -> None:
        self.bias = _finite("bias", 0.0 if bias is None else bias)

    def __call__(self, index: Any, in_shape: Any, out_shape: Any, rng: Any) -> tuple[float, ...]:
        return self.bias


class ConstantOOBTransform(OOBTransform):
    """Gives pixels outside the image the same color in all images.

    oob: a number, or three numbers for red, green and blue, even NaN. Default: 0.
    """

    def __init__(self, oob: float | Iterable[float] | None = (0.0, 0.0, 0.0)) -> None:
        self.oob = _numbers("oob", 0.0 if oob is None else oob, 3)

    def __call__(self, index: Any, in_shape: Any, out_shape: Any, rng: Any) -> tuple[float, ...]:
        return self.oob


class ConstantColorTransform(ColorTransform):
    """Converts all images to RGB by the same color matrix.

    index: an integer, or a tuple with one: see ColorTransform. Default: 0.
    """

    def __init__(self, index: int | Iterable[int] | None = 0) -> None:
        given: Any = listed(0 if index is None else index)
        items = given if isinstance(given, (list, tuple)) else [given]
        number = integer(items[0]) if len(items) == 1 else None
        if number is None:
            raise ArgumentTypeError(
                "the index of the color matrix has the wrong type",
                expected="an integer",
                found=typed(index),
            )
        self.index = (number,)

    def __call__(self, index: Any, in_shape: Any, out_shape: Any, rng: Any) -> tuple[int]:
        return self.index


class SimilarityTransform(WarpTransform):
    """Crops, resizes, rotates, moves and mirrors images by random amounts.

    Without arguments, the result is the centre of the image.

    scale: (min, max) of the crop's area, as a fraction of the image's area, drawn log-uniformly. A
        single number s means (1 / s, s).
    ratio: (min, max) of the crop's width / height, drawn log-uniformly. A single number r means
        (1 / r, r). If none of ten random crops fits into the image, the largest central crop with
        a valid ratio is used. Default: the image's width / height.
    degrees: (min, max) of the angle of rotation. A single number d means (-d, d).
    translate: the largest shift to the right and downwards, as fractions of the result's width and
        height. A single number is for both directions.
    flip_h, flip_v: the probability of mirroring the image horizontally, and vertically.
    resize: whether the crop is resized to the size of the result. Otherwise, the crop has the size
        of the result. A `ratio`, and a `scale` other than (1, 1), imply it.
    keep_ratio: whether to resize by the same factor, the smaller one, in both directions. Has no
        effect without `resize`.
    random_crop: whether the crop's position in the image is random. Otherwise, it is the centre.

    For each image, numbers are drawn in this order: the scale; with `ratio`, up to ten ratios; with
    `random_crop`, the position, x and y; the angle; the shift, x and y; the two flips. A number is
    drawn even if its interval is a single value.
    """

    def __init__(
        self,
        scale: float | Iterable[float] = (1.0, 1.0),
        ratio: float | Iterable[float] | None = None,
        degrees: float | Iterable[float] = (-0.0, 0.0),
        translate: float | Iterable[float] = (0.0, 0.0),
        flip_h: float = 0.0,
        flip_v: float = 0.0,
        resize: bool = False,
        keep_ratio: bool = False,
        random_crop: bool = False,
    ) -> None:
        self.scale = _factors("scale", scale)
        self.ratio = None if ratio is None else _factors("ratio", ratio)
        self.degrees = _angles(degrees)
        self.translate = _pair("translate", translate, lambda most: (most, most))
        self.flip_h = _probability("flip_h", flip_h)
        self.flip_v = _probability("flip_v", flip_v)
        self.resize = switch("resize", resize)
        self.keep_ratio = switch("keep_ratio", keep_ratio)
        self.random_crop = switch("random_crop", random_crop)
        self._native()

    def _native(self) -> list[_core.BenzinaWarp]:
        return [
            _core.BenzinaWarp.similarity(
                self.scale,
                self.ratio,
                self.degrees,
                self.translate,
                self.flip_h,
                self.flip_v,
                self.resize,
                self.keep_ratio,
                self.random_crop,
            )
        ]

    def __call__(self, index: Any, in_shape: Any, out_shape: Any, rng: Any) -> tuple[float, ...]:
        return _drawn(self._native(), in_shape, out_shape, rng)


class RandomResizedCrop(SimilarityTransform):
    """Crops a random part of the image and resizes it to the size of the result.

    scale, ratio: as in SimilarityTransform.
    """

    def __init__(
        self,
        scale: float | Iterable[float] = (0.08, 1.0),
        ratio: float | Iterable[float] | None = (3.0 / 4.0, 4.0 / 3.0),
    ) -> None:
        super().__init__(scale=scale, ratio=ratio, resize=True, random_crop=True)


class CenterResizedCrop(SimilarityTransform):
    """Crops the centre of the image and resizes it to the size of the result.

    scale: the crop's width and height, as a fraction of the image's.
    keep_ratio: whether to resize by the same factor, the smaller one, in both directions.
        Otherwise, the crop is stretched.
    """

    def __init__(self, scale: float = 1.0, keep_ratio: bool = True) -> None:
        edge = real("scale", scale)
        if not edge > 0:
            raise InvalidArgumentError(
                "`scale` is out of range", expected="a number above 0", found=shown(scale)
            )
        super().__init__(scale=(edge * edge, edge * edge), resize=True, keep_ratio=keep_ratio)


class Compose(WarpTransform):
    """Warps an image by several transforms, one after the other, as a single matrix.

    transforms: a list of WarpTransforms. The first one gets the image, and each other one gets the
        result of the previous one. All these results have the size of the final result, so the
        `in_shape` of all transforms but the first one is their `out_shape`.

    Because the matrices are multiplied, pixels that a transform moves out of its result are still
    available to the next one.
    """

    def __init__(self, transforms: Iterable[WarpTransform]) -> None:
        self.transforms = tuple(transforms)
        for transform in self.transforms:
            if not callable(transform):
                raise ArgumentTypeError(
                    "an item of `transforms` has the wrong type",
                    expected="a WarpTransform",
                    found=typed(transform),
                )

    def _native(self) -> list[_core.BenzinaWarp] | None:
        lists = [native_warps(transform) for transform in self.transforms]
        if any(warps is None for warps in lists):
            return None
        return [warp for warps in lists for warp in warps or ()]

    def __call__(self, index: Any, in_shape: Any, out_shape: Any, rng: Any) -> tuple[float, ...]:
        warps = self._native()
        if warps is not None:
            return _drawn(warps, in_shape, out_shape, rng)
        whole: tuple[float, ...] | None = None
        for transform in self.transforms:
            warp = numbers_of(transform, 9, index, in_shape, out_shape, rng)
            whole = warp if whole is None else _product(whole, warp)
            in_shape = out_shape
        assert whole is not None  # because one of the transforms is not native
        return whole


def compute_affine_matrix(
    in_shape: Sequence[int],
    out_shape: Sequence[int],
    crop: Iterable[float] | None = None,
    degrees: float = 0.0,
    translate: Iterable[float] = (0.0, 0.0),
    flip_h: bool = False,
    flip_v: bool = False,
    resize: bool = False,
    keep_ratio: bool = False,
) -> npt.NDArray[np.float64]:
    """Returns the warp, an array of shape (3, 3), for a crop that is resized, rotated and mirrored.

    in_shape, out_shape: the (width, height) of the image, and of the result.
    crop: the crop's centre, x and y, relative to the centre of the image, then its width and
        height. Default: the centre of the image, in the size of the result.
    degrees: the angle by which the crop is rotated.
    translate: a shift, x and y, in pixels of the result.
    flip_h, flip_v: whether to mirror the image horizontally, and vertically.
    resize: whether the box around the rotated crop is resized to the size of the result.
    keep_ratio: whether to resize by the same factor, the smaller one, in both directions.

    Raises InvalidArgumentError if a size is not positive, a number is not finite, or the matrix has
    no inverse.
    """
    numbers = _core.benzina_affine_matrix(
        _shape("in_shape", in_shape),
        _shape("out_shape", out_shape),
        None if crop is None else _numbers("crop", crop, 4, single=False),
        real("degrees", degrees),
        _pair("translate", translate, lambda shift: (shift, shift)),
        bool(flip_h),
        bool(flip_v),
        bool(resize),
        bool(keep_ratio),
    )
    return np.array(numbers).reshape(3, 3)


def native_warps(transform: object) -> list[_core.BenzinaWarp] | None:
    """Returns a transform's warps as objects of the C++ core. Returns None for a transform that
    only Python can call: a user's own one.
    """
    for kind in (ConstantWarpTransform, SimilarityTransform, Compose):
        if isinstance(transform, kind) and type(transform).__call__ is kind.__call__:
            return transform._native()
    return None


def numbers_of(
    transform: Any,
    count: int,
    index: int,
    in_shape: Sequence[int],
    out_shape: Sequence[int],
    rng: np.random.RandomState,
) -> tuple[float, ...]:
    """Calls a transform. Returns its result, which must have `count` numbers, as floats. Errors:
    ArgumentTypeError for any other result.
    """
    given = transform(index, in_shape, out_shape, rng)
    return _numbers(f"the result of {type(transform).__name__}", given, count, single=False)


def _drawn(
    warps: list[_core.BenzinaWarp],
    in_shape: Sequence[int],
    out_shape: Sequence[int],
    rng: np.random.RandomState,
) -> tuple[float, ...]:
    image, output = _shape("in_shape", in_shape), _shape("out_shape", out_shape)
    return tuple(
        drawing(rng, lambda key, at: _core.benzina_draw_warp(warps, image, output, key, at))
    )


def _product(first: Sequence[float], second: Sequence[float]) -> tuple[float, ...]:
    return tuple(
        first[row] * second[column]
        + first[row + 1] * second[column + 3]
        + first[row + 2] * second[column + 6]
        for row in (0, 3, 6)
        for column in (0, 1, 2)
    )


def _shape(name: str, shape: Sequence[int]) -> tuple[int, int]:
    if len(shape) != 2:
        raise InvalidArgumentError(
            f"`{name}` is invalid", expected="(width, height)", found=shown(shape)
        )
    return whole(name, shape[0], least=1, bits=31), whole(name, shape[1], least=1, bits=31)


def _numbers(name: str, value: Any, count: int, single: bool = True) -> tuple[float, ...]:
    """Returns `count` numbers as floats. Rows of numbers are joined. A single number is repeated if
    `count` is 3, unless `single` is False.
    """
    single = single and count == 3
    given: Any = listed(value)
    if single and not isinstance(given, Iterable):
        return (real(name, given),) * 3
    found: list[float] = []
    for item in (
        given if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) else ()
    ):
        row: Any = listed(item)
        found += [
            real(name, number) for number in (row if isinstance(row, (list, tuple)) else [row])
        ]
    if len(found) != count:
        raise ArgumentTypeError(
            f"`{name}` has the wrong type",
            expected="a number or 3 numbers" if single else f"{count} numbers",
            found=typed(value),
        )
    return tuple(found)


def _finite(name: str, value: Any) -> tuple[float, ...]:
    """Returns three numbers as floats."""
    found = _numbers(name, value, 3)
    if not all(map(math.isfinite, found)):
        raise InvalidArgumentError(
            f"`{name}` is out of range", expected="finite numbers", found=shown(value)
        )
    return found


def _pair(
    name: str, value: Any, both: Callable[[float], tuple[float, float]]
) -> tuple[float, float]:
    """Returns two numbers as floats. A single number becomes the pair `both(number)`."""
    given = listed(value)
    if not isinstance(given, Iterable):
        return both(real(name, given))
    first, second = _numbers(name, given, 2)
    return first, second


def _factors(name: str, value: Any) -> tuple[float, float]:
    # The core rejects numbers that are not positive.
    return _pair(name, value, lambda x: (min(x, 1.0 / x), max(x, 1.0 / x)) if x > 0 else (x, x))


def _angles(value: Any) -> tuple[float, float]:
    least, most = _pair("degrees", value, lambda most: (-most, most))
    if not isinstance(listed(value), Iterable) and most < 0:
        raise InvalidArgumentError(
            "`degrees` is out of range", expected="a number of at least 0", found=shown(value)
        )
    return least, most


def _probability(name: str, value: Any) -> float:
    return float(value) if isinstance(value, (bool, np.bool_)) else real(name, value)
