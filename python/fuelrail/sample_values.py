"""Checks the values of samples against a schema, and converts them to what records store."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.fields import FieldSpec, Image, Label, Map, Mask, Text
from fuelrail.options import file_name, nearest, shown, typed
from fuelrail.schema import Schema, is_group, members

__all__ = ["SampleValues", "array_of"]

Array = numpy.ndarray[Any, Any]
Reader = Callable[[Any, str], Any]  # of a value and its name in error texts

_BYTES = (bytes, bytearray, memoryview)
_MOST_LEVELS = 64  # of nested lists: the most dimensions of NumPy's arrays
_ABSENT = "There is no null; for an absent value, pass an empty tensor, text or list"


_COLORS = (
    "Convert the colours to class numbers of shape (height, width). Numbers that panoptic "
    'annotations store as colours are red + 256 green + 65536 blue: F.Mask(encoding="rgb")'
)


class SampleValues:
    """Reads samples of one schema. Threads: any number may call `flatten` at once.

    remedy: what to do about a sample that the schema does not describe, if an error has no better
        advice. Default: none.
    """

    def __init__(self, schema: Schema, remedy: str | None = None) -> None:
        self._root = _group_of("", schema.tree, {n: i for i, n in enumerate(schema.names)})
        self._readers = [_reader(field) for field in schema.fields.values()]
        self._names = [f"'{name}'" for name in schema.names]
        self._remedy = remedy

    def flatten(self, sample: object, index: int | None = None) -> list[Any]:
        """As `Schema.flatten`."""
        values: list[Any] = [None] * len(self._readers)
        try:
            self._collect(self._root, sample, values)
            for number, read in enumerate(self._readers):
                values[number] = read(values[number], self._names[number])
        except InvalidArgumentError as error:
            raise type(error)(
                error.failure,
                path=None if index is None else f"sample {index}",
                expected=error.expected,
                found=error.found,
                remedy=error.remedy or self._remedy,
            ) from None
        return values

    def _collect(self, group: _Group, given: Any, values: list[Any]) -> None:
        chosen: Iterator[tuple[_Group | int, Any]]
        if isinstance(given, Mapping):
            if given.keys() != group.members.keys():
                given = _regrouped(group, given)
            chosen = ((member, given[key]) for key, member in group.members.items())
        elif group.is_list and is_group(given):
            if len(given) != len(group.members):
                raise InvalidArgumentError(
                    f"the list {group.shown} has the wrong length",
                    expected=str(len(group.members)),
                    found=str(len(given)),
                )
            chosen = zip(group.members.values(), given, strict=True)
        else:
            _wrong_type(given, group.shown, "a list" if group.is_list else "a dict")
        for member, value in chosen:
            if isinstance(member, int):
                values[member] = value
            else:
                self._collect(member, value, values)


def array_of(value: object, name: str = "the array") -> tuple[Array, str] | None:
    """Returns an array of NumPy, torch or another library as a NumPy array without a copy, and the
    name of its dtype. The elements of bfloat16 are uint16. Returns None for any other object.

    name: the array's name in error texts. Errors: ArgumentTypeError for an array that is not in CPU
    memory or has masked elements.
    """
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        if numpy.ma.is_masked(value):
            raise ArgumentTypeError(
                f"{name} has masked elements", remedy="Give them a value, with `.filled(value)`"
            )
        return _with_dtype(numpy.asarray(value))
    if isinstance(value, type) or not hasattr(value, "__dlpack__"):
        return None
    try:
        return _imported(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"{name} cannot be read",
            expected="an array in CPU memory",
            found=f"{type(value).__name__}: {shown(str(error))}",
            remedy="Copy it to the CPU, for example with `.cpu()`",
        ) from None


def _imported(value: Any) -> tuple[Array, str]:
    if isinstance(value, _core.Array) and value.dtype == "bfloat16":
        return _core.bfloat16_bits(value).numpy(), "bfloat16"
    if not hasattr(value, "detach"):
        return _with_dtype(value.numpy() if hasattr(value, "numpy") else numpy.from_dlpack(value))
    tensor = value.detach()  # torch
    if str(tensor.dtype) != "torch.bfloat16":
        return _with_dtype(tensor.numpy())
    bits = tensor.view(sys.modules["torch"].int16)  # NumPy has no bfloat16
    return bits.numpy().view(numpy.uint16), "bfloat16"


def _with_dtype(array: Array) -> tuple[Array, str]:
    if array.dtype.name == "bfloat16":  # of the package ml_dtypes
        return array.view(numpy.uint16), "bfloat16"
    return array, array.dtype.name


def numbers_of(value: object, name: str = "the array") -> tuple[Array, str] | None:
    """Returns a number or nested lists of numbers as an array, and what they are: "bool", "int" or
    "float"; for lists of arrays, their dtype. Returns None for any other object.

    name: as in `array_of`, whose errors it raises.
    """
    for kind in (bool, int, float):  # or a subclass, such as an enum
        if isinstance(value, kind):
            return numpy.asarray(kind(value)), kind.__name__
    if not isinstance(value, (list, tuple)):
        return None
    dtypes: set[str] = set()
    if array_of(_first_of(value), name) is not None:
        value = _with_arrays(value, name, dtypes)
    try:
        array = numpy.asarray(value)
    except (OverflowError, RuntimeError, TypeError, ValueError):
        return None  # lists of different lengths, or of what NumPy cannot read
    if "bfloat16" in dtypes:
        return (array, "bfloat16") if len(dtypes) == 1 and array.dtype == "uint16" else None
    if dtypes:
        return array, array.dtype.name
    if array.dtype == numpy.float64 and array.size and abs(array).max() >= 2**63:
        exact = numpy.array(value, object)  # NumPy reads int64 and uint64 together as floats
        if all(type(number) is int for number in exact.flat):
            array = exact
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float"}
    name_of_kind = kinds.get(array.dtype.kind)
    if array.dtype.kind == "O" and all(type(number) is int for number in array.flat):
        name_of_kind = "int"  # beyond 64 bits
    return None if name_of_kind is None else (array, name_of_kind)


def _first_of(value: Any) -> object:
    for _ in range(_MOST_LEVELS):  # a list may contain itself
        if not isinstance(value, (list, tuple)) or not value:
            break
        value = value[0]
    return value


def _holds_ints(value: Any, array: Array, stored: Array) -> Array:
    """Returns which elements of `stored` equal the int at their place, for those in nested lists
    that NumPy has read as floats (`array`); True for all others.
    """
    exact = numpy.ones(array.shape, bool)
    with numpy.errstate(invalid="ignore"):
        may_differ = (array == numpy.floor(array)) & ((stored != array) | (abs(array) >= 2**53))
    for place in numpy.argwhere(may_differ).tolist():
        number = value
        for index in place:
            number = number[index]
        at = tuple(place)
        exact[at] = type(number) is not int or stored[at].item() == number
    return exact


def _with_arrays(value: Any, name: str, dtypes: set[str]) -> Any:
    """Replaces each array in nested lists with that of `array_of`, and collects the dtypes."""
    if isinstance(value, (list, tuple)):
        return [_with_arrays(item, name, dtypes) for item in value]
    found = array_of(value, name)
    if found is None:
        return value
    dtypes.add(found[1])
    return found[0]


@dataclass(frozen=True)
class _Group:
    path_: str
    members: dict[str, _Group | int]
    is_list: bool

    def path(self, key: str) -> str:
        return f"{self.path_}.{key}" if self.path_ else key

    @property
    def shown(self) -> str:
        return f"'{self.path_}'" if self.path_ else "the sample"


def _regrouped(group: _Group, given: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns a dict with the keys of the group. Keys that are joined by dots are split."""
    keys: dict[str, Any] = {}
    for key, value in members(given):
        first, _, rest = key.partition(".")
        if first in keys:
            other = keys[first]
            if not rest or not isinstance(other, _Joined) or rest in other:
                raise InvalidArgumentError(f"the sample has two values for '{group.path(key)}'")
            other[rest] = value
        else:
            keys[first] = _Joined({rest: value}) if rest else value
    missing = [key for key in group.members if key not in keys]
    for key in keys:
        if key not in group.members:
            raise InvalidArgumentError(
                f"the sample has an unknown field '{group.path(key)}'",
                remedy=nearest(key, missing or list(group.members)),
            )
    if missing:
        raise InvalidArgumentError(
            f"the sample has no field '{group.path(missing[0])}'",
            found=f"only {', '.join(keys)}" if keys else "an empty dict",
            remedy=_ABSENT,
        )
    return keys


class _Joined(dict[str, Any]):
    """The members of a group whose keys are joined by dots."""


def _group_of(path: str, tree: Any, numbers: Mapping[str, int]) -> _Group:
    inner: dict[str, _Group | int] = {}
    for key, value in members(tree):
        name = f"{path}.{key}" if path else key
        inner[key] = numbers[name] if name in numbers else _group_of(name, value, numbers)
    return _Group(path, inner, not isinstance(tree, Mapping))


# --- Reading one value ---


def _reader(field: FieldSpec) -> Reader:
    kind = field.native.kind
    read: Reader
    if kind == "tensor":
        read = _TensorReader(field)
    elif kind == "image":
        read = _ImageReader(field)
    else:
        read = _read_text if isinstance(field, Text) else _read_bytes
    return _list_of(read) if getattr(field, "list", False) else read


def _list_of(read: Reader) -> Reader:
    def read_list(value: Any, name: str) -> Any:
        if not isinstance(value, (list, tuple)):
            _wrong_type(value, name, "a list")
        return [read(item, f"item {i} of {name}") for i, item in enumerate(value)]

    return read_list


def _wrong_type(value: object, name: str, expected: str, remedy: str | None = None) -> NoReturn:
    raise ArgumentTypeError(
        f"{name} has the wrong type",
        expected=expected,
        found=typed(value),
        remedy=_ABSENT if value is None else remedy,
    )


def _read_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        remedy = "Decode it with `.decode()`" if isinstance(value, _BYTES) else None
        _wrong_type(value, name, "a str", remedy)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(
            f"{name} is not valid Unicode",
            found=shown(value),
            remedy='Replace the surrogates, for example with `.encode("utf-8", "replace")`',
        ) from None
    return str.__str__(value)  # of a subclass, such as an enum, too


def _read_bytes(value: Any, name: str) -> bytes:
    if type(value) is bytes:
        return value
    if not isinstance(value, _BYTES):
        _wrong_type(value, name, "bytes")
    return bytes(value)


class _ImageReader:
    """Reads an encoded image, a path, or the pixels of an image, a mask or a map."""

    def __init__(self, field: FieldSpec) -> None:
        self._dtypes: tuple[str, ...] = ("uint8",)
        self._channels: tuple[int, ...] = (1, 3, 4)
        self._float_channels: tuple[int, ...] = (1, 2, 3, 4)
        self._splits = False
        self._field = field
        if isinstance(field, Image):
            if field.encode == "jpeg":
                self._channels = (1, 3)
        elif isinstance(field, Mask):
            is_rgb = field.encoding == "rgb"
            self._splits = is_rgb
            self._dtypes = ("uint8", "uint16")
            if is_rgb or field.encode == "npy":
                self._dtypes += ("int32",)
            self._channels = (1,)
        elif isinstance(field, Map):
            floats = ("float16", "float32") if field.encode == "npy" else ()
            self._dtypes = ("uint8", "uint16", *floats)
            self._channels = (1,)

    def __call__(self, value: Any, name: str) -> Any:
        if isinstance(value, (str, os.PathLike)):
            return file_name(name, value)
        if isinstance(value, _BYTES):
            if not value:
                self._refuse("is an empty image", name)
            return value if type(value) is bytes else bytes(value)
        found = array_of(value, name)
        if found is None:
            _wrong_type(
                value, name, "a path, the bytes of an image, or an array", "Use numpy.asarray"
            )
        return self._pixels(*found, name)

    def _pixels(self, array: Array, dtype: str, name: str) -> Array:
        if dtype not in self._dtypes:
            self._refuse(
                "has the wrong dtype",
                name,
                expected=" or ".join(self._dtypes),
                found=dtype,
                remedy=_conversion(self._field, array, dtype, self._dtypes),
            )
        channels = 1 if array.ndim == 2 else array.shape[2] if array.ndim == 3 else 0
        allowed = self._float_channels if array.dtype.kind == "f" else self._channels
        if channels not in allowed:
            is_planar = array.ndim == 3 and array.shape[0] in allowed
            self._refuse(
                "has the wrong shape",
                name,
                expected="(height, width)"
                + "".join(f" or (height, width, {count})" for count in allowed),
                found=shown(array.shape),
                remedy="Move the channels to the end: `.transpose(1, 2, 0)`"
                if is_planar
                else _COLORS
                if isinstance(self._field, Mask) and channels in (3, 4)
                else None,
            )
        if not array.size:
            self._refuse("is an empty image", name, found=shown(array.shape))
        if self._splits:
            return self._split(array.reshape(array.shape[:2]), name)
        return _plain(array)

    def _split(self, numbers: Array, name: str) -> Array:
        if numbers.min() < 0 or numbers.max() >= 1 << 24:
            self._refuse(
                "has a number that RGB cannot store",
                name,
                expected="0 to 16777215",
                found=f"{numbers.min()} to {numbers.max()}",
            )
        wide = numbers.astype(numpy.uint32)
        return numpy.stack([wide & 255, wide >> 8 & 255, wide >> 16], axis=2).astype(numpy.uint8)

    @staticmethod
    def _refuse(what: str, name: str, **detail: Any) -> NoReturn:
        raise InvalidArgumentError(f"{name} {what}", **detail)


def _conversion(field: FieldSpec, array: Array, dtype: str, dtypes: Sequence[str]) -> str:
    """Returns how to convert pixels of another dtype so that they keep their meaning."""
    if dtype == "bfloat16" or array.dtype.kind not in "biuf" or not array.size:
        return f"Pass an array of {' or '.join(dtypes)}"
    low, high = array.min().item(), array.max().item()
    if isinstance(field, Map):
        if field.encode == "png" and array.dtype.kind == "f":
            return 'Declare the field with encode="npy", or scale the values to whole numbers'
        return f"Convert it, for example with `.astype(numpy.{dtypes[-1]})`"
    if isinstance(field, Mask):
        if array.dtype.kind == "f":
            return "Class and object numbers are integers; for continuous values, declare F.Map"
        return _conversion_of_mask(int(low), int(high))
    if array.dtype.kind == "f" and low >= 0 and high <= 1:
        return "Its numbers are from 0 to 1; use `(255 * x).round().astype(numpy.uint8)`"
    if low >= 0 and high <= 255 and array.dtype.kind in "iu":
        return "Its numbers are from 0 to 255; use `.astype(numpy.uint8)`"
    return (
        f"Its numbers are from {low} to {high}; scale them to 0 to 255, round them, and use "
        "`.astype(numpy.uint8)`"
    )


def _conversion_of_mask(low: int, high: int) -> str:
    seen = f"Its numbers are from {low} to {high}"
    if low < 0:
        return f"{seen}; store another number, such as 255, in place of negative ones"
    if high > 65535:
        return f'{seen}; pass int32, and declare the field as F.Mask(encoding="rgb")'
    if high > 255:
        return f"{seen}; use `.astype(numpy.uint16)` for the masks of all samples"
    return (
        f"{seen}; use `.astype(numpy.uint8)`, or `.astype(numpy.uint16)` for the masks of all "
        "samples if some have numbers above 255"
    )


def _plain(array: Array) -> Array:
    """Returns the array in C order and little-endian."""
    dtype = array.dtype.newbyteorder("<")
    return array.astype(dtype, order="C", copy=False)


class _TensorReader:
    def __init__(self, field: FieldSpec) -> None:
        native = field.native
        self._dtype = str(native.dtype)
        self._usual = None if self._dtype == "bfloat16" else numpy.dtype(self._dtype)
        self._shape = native.shape
        self._names = (field.classes or ()) if isinstance(field, Label) else None
        self._varies = -1 in native.shape

    def __call__(self, value: Any, name: str) -> Array:
        array = value if type(value) is not int else numpy.asarray(value)
        if type(array) is not numpy.ndarray or not self._usual or array.dtype != self._usual:
            array = self._converted(value, name)
        if array.shape == (0,) and self._varies:  # numpy.array of an empty list
            array = self._empty(array)
        if array.shape != self._shape and not self._fits(array.shape):
            raise InvalidArgumentError(
                f"{name} has the wrong shape",
                expected=shown(self._shape),
                found=shown(array.shape),
                remedy=self._remedy_for_shape(array.shape),
            )
        if not array.flags.c_contiguous:
            array = _plain(array)
        return array

    def _converted(self, value: Any, name: str) -> Array:
        found = array_of(value, name)
        if found is None:
            return self._from_numbers(value, name)
        array, dtype = found
        if dtype != self._dtype:
            self._refuse_dtype(value, dtype, name)
        return _plain(array)

    def _fits(self, shape: tuple[int, ...]) -> bool:
        return len(shape) == len(self._shape) and all(
            wanted in (-1, extent) for wanted, extent in zip(self._shape, shape, strict=True)
        )

    def _remedy_for_shape(self, shape: tuple[int, ...]) -> str | None:
        if not self._shape and len(shape) == 1:
            return "For several numbers, declare the field with `rows` or shape=(-1,)"
        is_row = self._shape[:1] == (-1,) and self._fits((0, *shape))
        return "Pass a list of rows, even for one object: [row]" if is_row else None

    def _remedy_for_name(self, value: Any) -> str | None:
        """Returns what to do about a class name in place of a class number."""
        first = value[0] if isinstance(value, (list, tuple)) and value else value
        if self._names is None or not isinstance(first, str):
            return None
        known = f": {first!r} is {self._names.index(first)}" if first in self._names else ""
        return f"Pass class numbers{known}"

    def _from_numbers(self, value: Any, name: str) -> Array:
        numbers = numbers_of(value, name)
        if numbers is None:
            _wrong_type(
                value,
                name,
                f"a tensor of {self._dtype} {list(self._shape)}",
                self._remedy_for_name(value),
            )
        array, kind = numbers
        if not array.size:
            return self._empty(array)
        if kind == self._dtype:  # lists of arrays
            return array
        is_float = "float" in self._dtype
        if kind not in ("bool", "int", "float") or (kind == "float" and not is_float):
            self._refuse_dtype(value, kind, name)
        if kind == "bool" or self._dtype == "bool":
            self._refuse_dtype(value, kind, name)
        made, exact = self._cast(array, kind == "int")
        if kind == "float" and not isinstance(value, float):
            exact &= _holds_ints(value, array, self._readable(made))
        if not exact.all():
            raise InvalidArgumentError(
                f"a number in {name} cannot be stored",
                expected=f"numbers that {self._dtype} has",
                found=shown(array[~exact].tolist()[0]),
            )
        return made

    def _cast(self, array: Array, is_int: bool) -> tuple[Array, Array]:
        """Returns the stored numbers, and which of them are what they must be: equal to the ints,
        or finite as the floats.
        """
        with numpy.errstate(over="ignore", invalid="ignore"):
            try:
                made = (
                    bfloat16_bits(array) if self._dtype == "bfloat16" else array.astype(self._dtype)
                )
            except OverflowError:  # an int beyond 64 bits
                kind = "float32" if self._dtype == "bfloat16" else self._dtype
                bounds = numpy.finfo(kind) if "float" in kind else numpy.iinfo(kind)
                least, most = int(bounds.min), int(bounds.max)
                fits = [least <= number <= most for number in array.flat]
                return array, numpy.array(fits).reshape(array.shape)
        stored = self._readable(made)
        if not is_int:
            return made, numpy.isfinite(stored) | ~numpy.isfinite(array)
        # As Python's numbers, because NumPy would compare int64 as float64.
        return made, numpy.asarray(stored.astype(object) == array.astype(object), bool)

    def _readable(self, made: Array) -> Array:
        return from_bfloat16(made) if self._dtype == "bfloat16" else made

    def _empty(self, array: Array) -> Array:
        """Returns an empty tensor for empty lists, which have too few dimensions."""
        shape = array.shape
        if self._varies and not self._fits(shape):
            shape = tuple(0 if extent == -1 else extent for extent in self._shape)
        stored = "uint16" if self._dtype == "bfloat16" else self._dtype
        return numpy.zeros(shape if 0 in shape else array.shape, stored)

    def _refuse_dtype(self, value: object, found: str, name: str) -> NoReturn:
        remedy = f"Convert it, for example with `.astype(numpy.{self._dtype})`"
        if found == "object":
            remedy = _ABSENT if value is None else "Pass an array of numbers"
        raise ArgumentTypeError(
            f"{name} has the wrong dtype",
            expected=self._dtype,
            found="an array of Python objects" if found == "object" else found,
            remedy=remedy if array_of(value) is not None else None,
        )


def bfloat16_bits(array: Array) -> Array:
    """Returns numbers rounded to the nearest bfloat16, ties to even, as uint16."""
    with numpy.errstate(over="ignore"):
        floats = array.astype(numpy.float32)
    bits = floats.view(numpy.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return numpy.where(numpy.isnan(floats), 0x7FC0, rounded).astype(numpy.uint16)


def from_bfloat16(bits: Array) -> Array:
    """The opposite of `bfloat16_bits`, as float32."""
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)
