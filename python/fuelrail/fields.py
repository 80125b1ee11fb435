"""The fields of a sample: what a value is, and what it means to transforms.

A schema (`fuelrail.Schema`) is a nested dict or list of these fields:

>>> import fuelrail as fr
>>> from fuelrail import fields as F
>>> fr.Schema({"image": F.Image(), "boxes": F.Boxes("xyxy", rows="objects"),
...            "labels": F.Label(["car", "bus"], rows="objects")})
fr.Schema({
    "image": F.Image(),
    "boxes": F.Boxes("xyxy", rows="objects"),
    "labels": F.Label(["car", "bus"], rows="objects"),
})

Coordinates are in pixels, x to the right and y down. (0, 0) is the upper left corner of the first
pixel and (width, height) the opposite corner, for boxes and points alike; a field with
`pixel_centers=True` counts from the middle of the first pixel. (torchvision treats boxes like this,
but key points differently: a flip mirrors them as middles of pixels.)

Options that several fields have:

of: the image whose pixels the value refers to: its name, seen from the field's own group, then from
    each group around it. Default: the one image of the nearest group around the field that has
    images; images with `of` do not count. A schema where that is not one image is an error that
    lists them.
rows: the name of a group of rows. All fields of one dict with the same `rows` have one row for each
    object: the first extents of their values are equal in every sample, and an object that a crop
    removes goes from all of them.
shape: the shape of a tensor, at most 8 numbers; -1 for each extent that differs between samples.
dtype: the name of a tensor's element type, or a type of NumPy or torch: bool, uint8, int8, uint16,
    int16, uint32, int32, uint64, int64, float16, bfloat16, float32 or float64.
encode: how an array is encoded when it is packed. Values that are paths or bytes are stored as they
    are. `encode` and `quality` are not stored in files, and two fields that differ only in them are
    equal.

Fields are immutable, comparable, hashable and picklable. Every constructor raises
InvalidArgumentError for a value out of range and ArgumentTypeError for a value of the wrong type.
"""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeVar

from fuelrail.class_names import ClassNames, class_names
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.options import (
    choice_of,
    listed,
    nearest,
    real,
    shown,
    suggests_options_or,
    text,
    truth,
    typed,
    whole,
)

__all__ = [
    "Boxes",
    "Bytes",
    "CameraMatrix",
    "FieldSpec",
    "Image",
    "Label",
    "Map",
    "Mask",
    "Points",
    "Tensor",
    "Text",
]

DTYPES = (
    "bool",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float32",  # the first float: the suggestion for "float"
    "float64",
    "float16",
    "bfloat16",
)
BOX_FORMATS = ("xyxy", "xywh", "cxcywh")
FLOATS = ("float32", "float64")
MAX_DIMENSIONS = 8
DEFAULT_QUALITY = 95

# FieldFlag of container/sample.h. The numbers are frozen.
LIST = 1
RELATIVE = 2
PIXEL_CENTERS = 4
NO_COLORS = 8
NO_VECTORS = 16
RGB_MASK = 32

T = TypeVar("T", bound="FieldSpec")


class NativeType(NamedTuple):
    """What records store about a field, besides its name and its relations to other fields."""

    kind: str
    dtype: str | None = None
    shape: tuple[int, ...] = ()
    role: str = ""
    flags: int = 0
    detail: int = 0


class FieldSpec:
    """Base class of all fields. `str(field)` is the code that makes it."""

    by_place: ClassVar[tuple[str, ...]] = ()
    """The names of the arguments that `repr` writes without their names."""

    remedies: ClassVar[dict[str, str]] = {}
    """What to do about options that the class does not have, by their names."""

    @property
    def native(self) -> NativeType:
        """What records store about the field."""
        raise NotImplementedError

    @property
    def refers_to(self) -> str | None:
        """The name in `of`, or None."""
        return getattr(self, "of", None)

    @property
    def group_of_rows(self) -> str | None:
        """The name in `rows`, or None."""
        return getattr(self, "rows", None)

    @property
    def moves_with_image(self) -> bool:
        """Whether the value refers to the pixels of an image."""
        return hasattr(self, "of") and self.native.role != "image"

    def __repr__(self) -> str:
        parts, by_place = [], True
        for one in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, one.name)
            by_place = by_place and one.name in self.by_place
            if one.default is not dataclasses.MISSING and self._is_default(one.name, one.default):
                by_place = False
            elif by_place:
                parts.append(code(value))
            else:
                parts.append(f"{one.name}={code(value)}")
        return f"F.{type(self).__name__}({', '.join(parts)})"

    def _is_default(self, name: str, default: object) -> bool:
        return bool(getattr(self, name) == default)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_names(self) -> None:
        for name in ("of", "rows"):
            value = getattr(self, name, None)
            if name == "of" and isinstance(value, (tuple, list)):
                raise ArgumentTypeError(
                    f"`{name}` has the wrong type",
                    expected="the name of an image",
                    found=typed(value),
                    remedy="A shape is given by its name: shape=(3, 3)",
                )
            if value is not None and not text(f"`{name}`", value):
                raise InvalidArgumentError(
                    f"`{name}` is empty", remedy="Omit it, or pass the name of a field or group"
                )

    def _check_truths(self, *names: str) -> None:
        for name in names:
            truth(name, getattr(self, name))

    def _check_rows(self, shape: tuple[int, ...]) -> None:
        if self.group_of_rows is not None and (not shape or shape[0] != -1):
            raise InvalidArgumentError(
                "a field with `rows` has the wrong shape",
                expected="a shape that begins with -1, because the number of rows differs",
                found=shown(shape),
            )


def code(value: object) -> str:
    """Returns Python code that makes `value`: as `repr`, but strings are in double quotes where
    possible, and tuples of names are lists.
    """
    if isinstance(value, str):
        written = repr(value)
        return f'"{written[1:-1]}"' if written[0] == "'" and '"' not in value else written
    if isinstance(value, tuple) and value and all(isinstance(item, str) for item in value):
        return f"[{', '.join(map(code, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _checked(cls: type[T]) -> type[T]:
    cls.__init__ = suggests_options_or(cls.remedies)(cls.__init__)  # type: ignore[method-assign]
    return cls


@_checked
@dataclass(frozen=True, repr=False)
class Image(FieldSpec):
    """An encoded image: JPEG, PNG, WebP, BMP, or the bytes of a `.npy` file with raw pixels.

    of: the image of which this one is a partner, such as a depth image or the other image of a
        stereo pair: it gets the same crop and flips. Default: None, an image with random numbers of
        its own.
    list: any number of images, such as the frames of a clip. They share their random numbers. Does
        not apply to an image with `of`. Default: False.
    colors: whether colour transforms change a partner image too. Default: True.
    encode: "jpeg" (the default), "png" or "npy" (the raw pixels), for arrays of uint8.
    quality: the JPEG quality, 1 to 100. Default: 95.

    A value for packing is a path, the bytes of an image file, or an array of uint8 with the shape
    (height, width), (height, width, 1), (height, width, 3) or, for "png" and "npy", (height, width,
    4).
    """

    of: str | None = None
    list: bool = False
    colors: bool = field(default=True, kw_only=True)
    encode: str = field(default="jpeg", kw_only=True, compare=False)
    quality: int | None = field(default=None, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        self._check_names()
        self._check_truths("list", "colors")
        self._set("encode", choice_of("encode", self.encode, ("jpeg", "png", "npy")))
        if self.quality is not None:
            quality = whole("quality", self.quality, least=1)
            if quality > 100:
                raise InvalidArgumentError(
                    "`quality` is out of range", expected="1 to 100", found=shown(quality)
                )
            if self.encode != "jpeg":
                raise InvalidArgumentError(
                    "`quality` applies only to JPEG", found=f'encode="{self.encode}"'
                )
            self._set("quality", quality)
        if self.of is not None and self.list:
            raise InvalidArgumentError(
                "an image with `of` cannot be a list",
                remedy="Make a field for each image: a list of fields in the schema",
            )
        if self.of is None and not self.colors:
            raise InvalidArgumentError(
                "`colors=False` applies only to an image with `of`",
                remedy="Omit the colour transforms of this image from its list of transforms",
            )

    @property
    def native(self) -> NativeType:
        flags = (LIST if self.list else 0) | (0 if self.colors else NO_COLORS)
        return NativeType("image", role="image", flags=flags)


@_checked
@dataclass(frozen=True, repr=False)
class Mask(FieldSpec):
    """An image whose pixels are class or instance numbers. Transforms move it with its image, take
    the nearest pixel, and never change the numbers.

    of: as described above.
    fill: the number beyond the image's edges, 0 to 65,535. Default: 255.
    encoding: "index" (the default): a grey image of 8 or 16 bits, or the palette indices of an
        image with a palette, or a `.npy` file of uint8, uint16 or int32. "rgb": the number is
        red + 256 green + 65536 blue, as in panoptic annotations; decoded masks are int32.
    encode: "png" (the default, lossless) or "npy".

    A value for packing is a path, the bytes of an image file, or an array of shape (height, width)
    or (height, width, 1): of uint8 or uint16; also of int32 with encode="npy", or from 0 to
    2**24 - 1 with encoding="rgb".
    """

    remedies: ClassVar[dict[str, str]] = {
        "list": "One mask has the numbers of all objects: `mask[None] == numbers[:, None, None]` are "
        "the masks of each (docs/samples.md)"
    }
    of: str | None = None
    fill: int = 255
    encoding: str = "index"
    encode: str = field(default="png", kw_only=True, compare=False)

    def __post_init__(self) -> None:
        self._check_names()
        self._set("fill", whole("fill", self.fill, bits=16))
        self._set("encoding", choice_of("encoding", self.encoding, ("index", "rgb")))
        self._set("encode", choice_of("encode", self.encode, ("png", "npy")))

    @property
    def native(self) -> NativeType:
        flags = RGB_MASK if self.encoding == "rgb" else 0
        return NativeType("image", role="mask", flags=flags, detail=self.fill)


@_checked
@dataclass(frozen=True, repr=False)
class Map(FieldSpec):
    """Continuous values for the pixels of an image, such as depth or optical flow. Transforms move
    it with its image and interpolate linearly in float32. Only vectors change with the image.

    of: as described above.
    fill: the value beyond the image's edges. Default: 0.0. It is stored as a float16 and rounded to
        one.
    vectors: False states that the values are not vectors in the image. With the default True, two
        channels are x and y of a vector in pixels of the map: transforms mirror, scale and turn it
        with the image. For more channels, transforms that would have to do so are refused.
    encode: "npy" (the default), for arrays of uint8, uint16, float16 or float32; or "png", for
        arrays of uint8 or uint16.
    dtype: None (the default): the value is an image or a `.npy` file, of shape (height, width) or
        (height, width, 1). A `.npy` file of floats may have up to four channels, such as the two of
        optical flow. Otherwise the value is a tensor of this type.
    shape: of the tensor, if `dtype` is given: (height, width) or (height, width, channels).
        Default: (-1, -1).
    """

    of: str | None = None
    fill: float = 0.0
    vectors: bool = field(default=True, kw_only=True)
    encode: str = field(default="npy", kw_only=True, compare=False)
    dtype: str | None = field(default=None, kw_only=True)
    shape: Sequence[int] = field(default=(-1, -1), kw_only=True)

    def __post_init__(self) -> None:
        self._check_names()
        self._check_truths("vectors")
        self._set("fill", _half("fill", self.fill))
        self._set("encode", choice_of("encode", self.encode, ("npy", "png")))
        if self.dtype is not None:
            self._set("dtype", choice_of("dtype", self.dtype, DTYPES))
        shape = _shape(self.shape)
        self._set("shape", shape)
        if len(shape) not in (2, 3):
            raise InvalidArgumentError(
                "the shape of a map is invalid",
                expected="(height, width) or (height, width, channels)",
                found=shown(shape),
            )
        if self.dtype is None and shape != (-1, -1):
            raise InvalidArgumentError(
                "`shape` applies only to a map with `dtype`",
                remedy="Omit it, or pass `dtype` to store the map as a tensor",
            )

    @property
    def native(self) -> NativeType:
        kind = "image" if self.dtype is None else "tensor"
        shape = () if self.dtype is None else tuple(self.shape)
        flags = 0 if self.vectors else NO_VECTORS
        detail = int.from_bytes(struct.pack("<e", self.fill), "little")
        return NativeType(kind, self.dtype, shape, "map", flags, detail)


@_checked
@dataclass(frozen=True, repr=False)
class Boxes(FieldSpec):
    """Boxes of objects: a tensor of shape (-1, 4). Transforms map the corners, take the
    smallest box around them, and clip it to the image.

    format: "xyxy" (left, top, right, bottom), "xywh" (left, top, width, height) or "cxcywh" (middle,
        width, height).
    of, rows: as described above.
    relative: True: the numbers are fractions of the image's width and height. Default: False,
        pixels.
    pixel_centers: True: (0, 0) is the middle of the first pixel. Default: False, its corner.
    dtype: "float32" (the default) or "float64".
    """

    by_place = ("format",)
    format: str
    of: str | None = None
    rows: str | None = None
    relative: bool = field(default=False, kw_only=True)
    pixel_centers: bool = field(default=False, kw_only=True)
    dtype: str = field(default="float32", kw_only=True)

    def __post_init__(self) -> None:
        self._set("format", choice_of("format", self.format, BOX_FORMATS))
        self._check_names()
        self._check_truths("relative", "pixel_centers")
        self._set("dtype", choice_of("dtype", self.dtype, FLOATS))

    @property
    def native(self) -> NativeType:
        flags = _coordinate_flags(self.relative, self.pixel_centers)
        detail = BOX_FORMATS.index(self.format)
        return NativeType("tensor", self.dtype, (-1, 4), "boxes", flags, detail)


@_checked
@dataclass(frozen=True, repr=False)
class Points(FieldSpec):
    """Points in an image: a tensor whose last extent is 2 (x, y) or 3 (x, y,
    visibility). Transforms map them; a point that leaves the image gets the visibility 0, or is
    kept if it has none.

    of, rows: as described above.
    shape: Default: (-1, 2). Several points in each row: (-1, 17, 3).
    relative, pixel_centers, dtype: as in Boxes.
    """

    of: str | None = None
    rows: str | None = None
    shape: Sequence[int] = (-1, 2)
    relative: bool = field(default=False, kw_only=True)
    pixel_centers: bool = field(default=False, kw_only=True)
    dtype: str = field(default="float32", kw_only=True)

    def __post_init__(self) -> None:
        self._check_names()
        self._check_truths("relative", "pixel_centers")
        self._set("dtype", choice_of("dtype", self.dtype, FLOATS))
        shape = _shape(self.shape)
        self._set("shape", shape)
        if not shape or shape[-1] not in (2, 3):
            raise InvalidArgumentError(
                "the shape of points is invalid",
                expected="a shape that ends with 2 (x, y) or 3 (x, y, visibility)",
                found=shown(shape),
            )
        self._check_rows(shape)

    @property
    def native(self) -> NativeType:
        flags = _coordinate_flags(self.relative, self.pixel_centers)
        return NativeType("tensor", self.dtype, tuple(self.shape), "points", flags)


@_checked
@dataclass(frozen=True, repr=False)
class CameraMatrix(FieldSpec):
    """A matrix that projects points into an image: a tensor. Transforms multiply its first three
    rows from the left by what they do to the image.

    of: as described above.
    shape: (3, 3) (the default), (3, 4) or (4, 4).
    pixel_centers, dtype: as in Boxes.
    """

    of: str | None = None
    shape: Sequence[int] = (3, 3)
    pixel_centers: bool = field(default=False, kw_only=True)
    dtype: str = field(default="float32", kw_only=True)

    def __post_init__(self) -> None:
        self._check_names()
        self._check_truths("pixel_centers")
        self._set("dtype", choice_of("dtype", self.dtype, FLOATS))
        self._set("shape", _shape(self.shape))
        if self.shape not in ((3, 3), (3, 4), (4, 4)):
            raise InvalidArgumentError(
                "the shape of a camera matrix is invalid",
                expected="(3, 3), (3, 4) or (4, 4)",
                found=shown(self.shape),
            )

    @property
    def native(self) -> NativeType:
        flags = PIXEL_CENTERS if self.pixel_centers else 0
        return NativeType("tensor", self.dtype, tuple(self.shape), "camera", flags)


@_checked
@dataclass(frozen=True, repr=False, init=False)
class Label(FieldSpec):
    """Class numbers: a tensor of int64.

    classes: the class names, ordered by number: a list, or the path of a packed file, a folder, or
        a text file with one name per line. The numbers are then from 0 to one less than the number
        of names. The names are stored in the sidecar. Default: numbers without names.
    rows: as described above.
    shape: Default: () (one number), and (-1,) with `rows`.
    """

    by_place = ("classes",)
    classes: tuple[str, ...] | None = None
    rows: str | None = None
    shape: tuple[int, ...] = ()

    def __init__(
        self,
        classes: ClassNames | None = None,
        rows: str | None = None,
        shape: Sequence[int] | None = None,
    ) -> None:
        self._set("classes", None if classes is None else _distinct(class_names(classes)))
        self._set("rows", rows)
        self._check_names()
        self._set("shape", _shape(self._usual_shape() if shape is None else shape))
        self._check_rows(self.shape)

    def _usual_shape(self) -> tuple[int, ...]:
        return () if self.rows is None else (-1,)

    def _is_default(self, name: str, default: object) -> bool:
        return super()._is_default(name, self._usual_shape() if name == "shape" else default)

    @property
    def native(self) -> NativeType:
        return NativeType("tensor", "int64", self.shape, "label")


@_checked
@dataclass(frozen=True, repr=False)
class Tensor(FieldSpec):
    """Numbers without a meaning for transforms.

    dtype, rows: as described above.
    shape: Default: (), one number.
    """

    by_place = ("dtype", "shape")
    dtype: str
    shape: Sequence[int] = ()
    rows: str | None = None

    def __post_init__(self) -> None:
        self._set("dtype", choice_of("dtype", self.dtype, DTYPES))
        self._set("shape", _shape(self.shape))
        self._check_names()
        self._check_rows(tuple(self.shape))

    @property
    def native(self) -> NativeType:
        return NativeType("tensor", self.dtype, tuple(self.shape))


@_checked
@dataclass(frozen=True, repr=False)
class Text(FieldSpec):
    """Text, stored as UTF-8.

    list: any number of texts, such as the captions of a picture. Default: False.
    """

    list: bool = False

    def __post_init__(self) -> None:
        self._check_truths("list")

    @property
    def native(self) -> NativeType:
        return NativeType("text", flags=LIST if self.list else 0)


@_checked
@dataclass(frozen=True, repr=False)
class Bytes(FieldSpec):
    """Any bytes.

    list: any number of byte strings. Default: False.
    """

    list: bool = False

    def __post_init__(self) -> None:
        self._check_truths("list")

    @property
    def native(self) -> NativeType:
        return NativeType("bytes", flags=LIST if self.list else 0)


def field_of_native(
    native: NativeType,
    of: str | None = None,
    rows: str | None = None,
    classes: Sequence[str] | None = None,
) -> FieldSpec | None:
    """Returns the field that records describe by `native`, or None if no class of this module has
    that description.

    of, rows: the names for the arguments of the same name. classes: the class names of a label.
    """
    dtype, flags, shape = native.dtype or "", native.flags, native.shape
    is_list = bool(flags & LIST)
    centers = bool(flags & PIXEL_CENTERS)
    relative = bool(flags & RELATIVE)
    coordinates: dict[str, Any] = {
        "relative": relative,
        "pixel_centers": centers,
        "dtype": dtype,
    }
    made: FieldSpec
    try:
        if native.role == "image":
            made = Image(of, is_list, colors=not flags & NO_COLORS)
        elif native.role == "mask":
            encoding = "rgb" if flags & RGB_MASK else "index"
            made = Mask(of, native.detail, encoding)
        elif native.role == "map":
            fill = struct.unpack("<e", native.detail.to_bytes(2, "little"))[0]
            tensor: dict[str, Any] = {"dtype": dtype, "shape": shape} if dtype else {}
            made = Map(of, fill, vectors=not flags & NO_VECTORS, **tensor)
        elif native.role == "boxes":
            made = Boxes(BOX_FORMATS[native.detail], of, rows, **coordinates)
        elif native.role == "points":
            made = Points(of, rows, shape, **coordinates)
        elif native.role == "camera":
            made = CameraMatrix(of, shape, pixel_centers=centers, dtype=dtype)
        elif native.role == "label":
            made = Label(classes or None, rows, shape)
        elif native.kind == "tensor":
            made = Tensor(dtype, shape, rows)
        else:
            made = (Text if native.kind == "text" else Bytes)(is_list)
    except (InvalidArgumentError, IndexError):
        return None
    return made if made.native == native else None


def unknown_field(value: object) -> str:
    """Returns the remedy for an object in a schema that is not a field."""
    if isinstance(value, type) and issubclass(value, FieldSpec):
        return f"Create one: F.{value.__name__}(...)"
    name = getattr(value, "__name__", type(value).__name__)
    return nearest(name, [known for known in __all__ if known != "FieldSpec"])


def _shape(value: object) -> tuple[int, ...]:
    given = listed(value)
    if not isinstance(given, (list, tuple)):
        raise ArgumentTypeError(
            "`shape` has the wrong type", expected="a list of integers", found=typed(value)
        )
    shape = tuple(whole("shape", extent, least=-1, bits=31) for extent in given)
    if len(shape) > MAX_DIMENSIONS:
        raise InvalidArgumentError(
            "`shape` has too many dimensions",
            expected=f"at most {MAX_DIMENSIONS} dimensions",
            found=shown(shape),
        )
    return shape


def _half(option: str, value: object) -> float:
    number = real(option, value)
    try:
        half: float = struct.unpack("<e", struct.pack("<e", number))[0]
    except OverflowError:
        raise InvalidArgumentError(
            f"`{option}` is out of range", expected="-65504 to 65504", found=shown(number)
        ) from None
    return math.nan if math.isnan(half) else half  # one object, so that equal fields are equal


def _coordinate_flags(relative: bool, pixel_centers: bool) -> int:
    return (RELATIVE if relative else 0) | (PIXEL_CENTERS if pixel_centers else 0)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    numbers: dict[str, int] = {}
    for number, name in enumerate(names):
        if not name:
            raise InvalidArgumentError("the name of a class is empty", found=f"class {number}")
        if numbers.setdefault(name, number) != number:
            raise InvalidArgumentError(
                "two classes have the same name",
                found=f"{shown(name)} for classes {numbers[name]} and {number}",
            )
    return tuple(names)
