"""What a data field stores: conversion and mapping of assigned values, and text as UTF-8."""

from __future__ import annotations

import decimal
import math
import mmap
import numbers
from collections.abc import Hashable, Mapping
from typing import Any, NoReturn

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import FieldError
from fuelrail.options import shown, typed

__all__ = ["Lent", "converted", "decoded", "encoded", "exported", "mapped"]

Array = numpy.ndarray[Any, Any]
Name = str | int
_NUMBERS = (list, tuple, range, memoryview, numpy.ndarray, numpy.generic, numbers.Number)
_BYTES = (bytes, bytearray)


# --- Numbers ---


class Lent:
    """An array that was assigned and cannot change, such as a file that is mapped for reading. It
    is copied when somebody may want to change it.
    """

    def __init__(self, array: Array) -> None:
        self.array = array
        self._is_copied = False

    def copied(self) -> Array:
        """Returns the copy, which `array` then is, too."""
        if not self._is_copied:
            self.array, self._is_copied = numpy.array(self.array), True
        return self.array


def converted(value: Any, kind: DataType, name: Name) -> Any:
    """Returns numbers as a new array of the field's type, in native byte order, or as a Lent; for
    UINT8, bytes, too. Returns None and other objects, such as tensors, unchanged.

    Floats are rounded to the precision of the type. Errors: InvalidArgumentError for any other
    change of a value, for text, and for lists that are not a tensor.
    """
    if isinstance(value, _NUMBERS):
        array = _array_of(value, kind, name)
        if array.dtype == kind.dtype and array.dtype.isnative and _cannot_change(array):
            return Lent(array)
        return _cast(array, kind, name)
    if isinstance(value, _BYTES) and kind is DataType.UINT8:
        return numpy.frombuffer(bytearray(value), numpy.uint8)
    if isinstance(value, (str, *_BYTES)):
        _refuse_dtype(name, kind, typed(value))
    if type(value).__module__.partition(".")[0] == "cupy":
        return value.astype(kind.dtype)  # a copy, on its GPU
    return value


def _array_of(value: Any, kind: DataType, name: Name) -> Array:
    if numpy.ma.is_masked(value):
        raise InvalidArgumentError(
            f"'{name}' has masked elements", remedy="Give them a value, with `.filled(value)`"
        )
    try:
        array = numpy.asarray(value)
    except (RuntimeError, TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"'{name}' cannot be made an array",
            expected="numbers, or lists of equal lengths",
            found=f"{type(error).__name__}: {shown(str(error))}",
        ) from None
    is_mixed = array.dtype == numpy.float64 and isinstance(value, (list, tuple))
    if is_mixed and kind.dtype.itemsize == 8 and (abs(array) >= 2**53).any():
        array = numpy.array(value, object)  # NumPy has rounded the list's large integers
    return array


def _cannot_change(array: Array) -> bool:
    memory: Any = array
    while isinstance(memory, numpy.ndarray):
        if memory.flags.writeable:
            return False
        memory = memory.base
    return isinstance(memory, (bytes, mmap.mmap)) and memoryview(memory).readonly


def _cast(array: Array, kind: DataType, name: Name) -> Array:
    dtype = kind.dtype
    if array.dtype == dtype or not array.size or _has_all(dtype, array.dtype):
        return numpy.array(array, dtype)
    if array.dtype.kind == "O":
        return _cast_objects(array, kind, name)
    if array.dtype.kind not in "biuf":
        _refuse_dtype(name, kind, f"an array of {array.dtype.name}")
    with numpy.errstate(over="ignore", invalid="ignore"):
        made = array.astype(dtype)
    if made.dtype.kind == array.dtype.kind == "f" and numpy.isfinite(made).all():
        return made
    exact = _is_exact(array, made)
    if not exact.all():
        _refuse_number(name, kind, array[~exact].tolist()[0])
    return made


def _has_all(dtype: numpy.dtype[Any], given: numpy.dtype[Any]) -> bool:
    """Returns whether a dtype has all numbers of another one. NumPy says so of float64 and int64,
    too.
    """
    is_long = given.kind in "iu" and given.itemsize == 8
    return numpy.can_cast(given, dtype) and not (is_long and dtype.kind == "f")


def _is_exact(given: Array, made: Array) -> Array:
    """Returns which numbers have kept their value, apart from the rounding of floats."""
    if made.dtype.kind == "b":
        return numpy.asarray((given == 0) | (given == 1))
    if made.dtype.kind == "f":
        if given.dtype.kind == "f":
            return numpy.isfinite(made) | ~numpy.isfinite(given)
        most = 2 ** (numpy.finfo(made.dtype).nmant + 1)  # a float type has all integers up to it
        if int(given.min()) >= -most and int(given.max()) <= most:
            return numpy.ones(given.shape, bool)
        # As Python's numbers, because NumPy would compare int64 as float64.
        return numpy.asarray(made.astype(object) == given.astype(object), bool)
    info = numpy.iinfo(made.dtype)
    if given.dtype.kind == "f":
        wide = given.astype(numpy.float64)
        fits = (wide >= float(info.min)) & (wide < float(info.max + 1))
        return numpy.asarray(fits & (wide == numpy.floor(wide)))
    own, same = numpy.iinfo(given.dtype), given.dtype.type  # NumPy 1 would compare as floats
    least, most = same(max(info.min, own.min)), same(min(info.max, own.max))
    return numpy.asarray((given >= least) & (given <= most))


def _cast_objects(array: Array, kind: DataType, name: Name) -> Array:
    """Converts Python's numbers, such as integers of more than 64 bits."""
    made = numpy.empty(array.shape, kind.dtype)
    for place, item in enumerate(array.flat):
        if not isinstance(item, (numbers.Real, decimal.Decimal, numpy.bool_)):
            _refuse_dtype(name, kind, f"an array with {typed(item)}")
        if not _has(kind.dtype, item):
            _refuse_number(name, kind, item)
        made.flat[place] = item
    return made


def _has(dtype: numpy.dtype[Any], number: Any) -> bool:
    """Returns whether a dtype has the number, rounded if the number is not an integer."""
    if dtype.kind == "f":
        return _float_has(dtype, number)
    least, most = (0, 1) if dtype.kind == "b" else (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    try:
        return bool(least <= number <= most and number == math.floor(number))
    except decimal.InvalidOperation:  # NaN
        return False


def _float_has(dtype: numpy.dtype[Any], number: Any) -> bool:
    try:
        with numpy.errstate(over="ignore"):
            stored = float(dtype.type(float(number)))
    except OverflowError:
        return False
    if isinstance(number, numbers.Integral):
        return stored == int(number)
    return math.isfinite(stored) or not math.isfinite(number)


def _refuse_number(name: Name, kind: DataType, number: object) -> NoReturn:
    raise InvalidArgumentError(
        f"a number in '{name}' cannot be stored",
        expected=f"numbers that {kind.name} has",
        found=shown(number),
        remedy="Round or clip the numbers, or declare another type",
    )


def _refuse_dtype(name: Name, kind: DataType, found: str) -> NoReturn:
    raise InvalidArgumentError(
        f"'{name}' has the wrong dtype",
        expected=f"numbers for {kind.name}",
        found=found,
        remedy="For text, declare the field as STRING, or with a mapping to numbers; for bytes, as "
        "UINT8",
    )


def exported(value: Any, kind: DataType, name: Name) -> Any:
    """Returns what leaves a group: arrays in native byte order, and arrays for numbers. Other
    objects, such as None, tensors and nodes of a DALI graph, are returned unchanged.
    """
    if isinstance(value, Lent):
        return value.copied()
    if type(value) is numpy.ndarray:
        return value if value.dtype.isnative else value.astype(value.dtype.newbyteorder("="))
    if isinstance(value, numpy.generic):
        return numpy.asarray(value)
    if isinstance(value, numbers.Number):
        return converted(value, kind, name)
    return value


# --- Mappings ---


def mapped(value: Any, mapping: Mapping[Any, Any], name: Name) -> Any:
    """Replaces the text in a value, in nested lists and tuples, or in an array, by the mapping's
    numbers. The mapping's value for None is for text that is not a key.

    Numbers stay as they are, unless a number is among the mapping's keys: then they are looked up
    like text. Errors: FieldError for a value without a key, if there is no key None; for bytes and
    for objects that cannot be a key, even then.
    """
    numeric = any(isinstance(key, numbers.Number) for key in mapping)
    return _mapped(value, mapping, numeric, name)


def _mapped(value: Any, mapping: Mapping[Any, Any], numeric: bool, name: Name) -> Any:
    if isinstance(value, numpy.ndarray):
        if value.dtype.kind in "biuf" and not numeric:
            return value
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_mapped(item, mapping, numeric, name) for item in value]
    if isinstance(value, (numbers.Number, numpy.bool_)) and not numeric:
        return value
    if isinstance(value, Hashable):
        if value in mapping:
            return mapping[value]
        if None in mapping and not isinstance(value, bytes):  # texts are decoded
            return mapping[None]
    raise FieldError(
        f"the mapping of '{name}' has no such value",
        expected=shown(list(mapping)),
        found=shown(value),
        remedy="Decode the bytes, with `.decode()`"
        if isinstance(value, bytes)
        else "Add the value, or the key None with the number for all other values",
    )


# --- Text ---


def encoded(value: object, name: Name) -> Array | None:
    """Returns text as UTF-8 in a uint8 array. Errors: InvalidArgumentError for anything but a str
    that is valid Unicode, or None.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidArgumentError(
            f"'{name}' has the wrong type", expected="a str", found=typed(value)
        )
    try:
        return numpy.frombuffer(bytearray(value.encode()), numpy.uint8)
    except UnicodeEncodeError:
        raise InvalidArgumentError(
            f"'{name}' is not valid Unicode",
            found=shown(value),
            remedy='Replace the surrogates, for example with `.encode("utf-8", "replace")`',
        ) from None


def decoded(value: Any, name: Name) -> Any:
    """Returns the text in an array or tensor of uint8, without the NULs at its end, which pad the
    texts of a batch; nested lists of texts for two and more dimensions; or None for None.

    Errors: InvalidArgumentError for anything else.
    """
    if value is None:
        return None
    array = _in_memory(value)
    if array is None or array.dtype != numpy.uint8 or array.ndim == 0:
        raise InvalidArgumentError(
            f"'{name}' cannot be read as text",
            expected="an array of uint8 with at least one dimension",
            found=typed(value) if array is None else f"{array.dtype.name} {list(array.shape)}",
        )
    return _texts(array, name)


def _in_memory(value: Any) -> Array | None:
    if isinstance(value, numpy.ndarray):
        return value
    if hasattr(value, "detach"):  # torch
        return numpy.asarray(value.detach().cpu().numpy())
    if type(value).__module__.partition(".")[0] == "cupy":
        return numpy.asarray(value.get())
    return None


def _texts(array: Array, name: Name) -> Any:
    if array.ndim > 1:
        return [_texts(row, name) for row in array]
    try:
        return array.tobytes().rstrip(b"\0").decode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"'{name}' is not UTF-8", found=f"{error.reason} at byte {error.start}"
        ) from None
