"""Infers the schema of samples from the first of them."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, Union

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.fields import DTYPES, Bytes, FieldSpec, Image, Mask, Tensor, Text
from fuelrail.options import shown, typed
from fuelrail.sample_values import array_of, numbers_of
from fuelrail.schema import MAX_NAME_BYTES, Schema, check_key, in_one_line, is_group, members

__all__ = ["infer", "looked_at"]

_MOST_SAMPLES, _MOST_BYTES = 64, 64 << 20  # that a schema is inferred from
_LEVELS = 8  # of a sample, whose bytes are counted; a list may contain itself
_LARGE = 2**24  # up to it, float32 holds all whole numbers
_HEAD_BYTES = 64  # enough for every signature
# Of images, also in formats that cannot be decoded.
_EXTENSIONS = (*_core.image_extensions(), ".avif", ".gif", ".heic", ".jxl")
_IMAGE_NAME = re.compile(r"(^|[._])(image|img)s?(\.\d+)?$", re.IGNORECASE)
_SMALLEST_SIDE = 8
"""An array with shorter sides is not asked about: it is hardly a picture."""

Tree: TypeAlias = Union["_Found", dict[str, Any], list[Any]]


@dataclass(frozen=True)
class _Found:
    """What the samples so far have at one place."""

    field: FieldSpec | None
    """None: only empty lists."""
    question: str = ""
    """Why the field stays open; "" if it does not."""
    are_numbers: bool = False
    """Whether a tensor is made of Python's numbers."""
    are_files: bool = False
    """Whether texts have the extension of an image."""


def looked_at(samples: Iterable[Any]) -> Iterator[Any]:
    """Yields the samples from which a schema is inferred: the first 64, or fewer if they have more
    than 64 MiB.
    """
    seen = 0
    for sample in itertools.islice(samples, _MOST_SAMPLES):
        yield sample
        seen += _bytes_in(sample, _LEVELS)
        if seen > _MOST_BYTES:
            return


def _bytes_in(value: Any, levels: int) -> int:
    """Returns the bytes of the arrays and bytes objects in a value."""
    if isinstance(value, (bytes, bytearray)):
        return len(value)
    if not is_group(value):
        return int(getattr(value, "nbytes", 0))
    items = list(value.values()) if isinstance(value, Mapping) else value
    if not levels or (items and isinstance(items[0], (int, float, str))):
        return 0
    return sum(_bytes_in(item, levels - 1) for item in items)


def infer(
    samples: Iterable[object],
    roles: Mapping[str, FieldSpec] | None = None,
    names_say_images: bool = False,
) -> Schema:
    """Returns the schema of samples.

    samples: nested dicts; at least one. Read one after the other, none is kept.
    roles: the types of some fields, by name or pattern: `*` stands for any characters. Default:
        none.
    names_say_images: whether an array that may be an image is one if its field is called "image"
        or "img". Default: False.

    - `bytes` and paths whose content begins as an image are `Image`, other bytes `Bytes`; other
      strings are `Text`. If the samples have no image, strings with the extension of one stay open.
    - Arrays are `Tensor` of their dtype, and extents that differ become -1. Numbers and lists of
      numbers are `Tensor` of bool, int64 (int) or float32 (float, or int in some samples); float64
      if a float is over 2**24, such as a time in seconds. Arrays that may be images, masks or clips
      stay open.
    - Lists of strings, of bytes or of images are list fields; lists of dicts, or of arrays of
      several dimensions, are groups.

    Errors: InvalidArgumentError if a field stays open, with the schema found so far as code; if a
    sample has other fields than the first or a value of another type, which names the sample; if a pattern
    in `roles` matches no field.
    """
    tree: Tree | None = None
    for number, sample in enumerate(samples):
        try:
            found = _look("", sample)
            tree = found if tree is None else _merge("", tree, found)
        except InvalidArgumentError as error:
            raise type(error)(
                error.failure,
                path=f"sample {number}",
                expected=error.expected,
                found=error.found,
                remedy=error.remedy,
            ) from None
    if tree is None:
        raise InvalidArgumentError("a schema cannot be inferred, because there are no samples")
    notes: dict[str, str] = {}
    known = _Roles(roles or {}, names_say_images)
    made = _schema_tree("", tree, notes, _has_image(tree), known)
    if not notes:
        known.check_used()
    else:
        names = " and ".join(f"'{name}'" for name in notes)
        raise InvalidArgumentError(
            "the samples do not show the type of every field",
            found="; ".join(f"'{name}' is {question}" for name, question in notes.items()),
            remedy=f"Pass schema=fr.Schema({in_one_line(made)}), with the right field for {names}, "
            "and with F.Boxes, F.Points and F.CameraMatrix for what transforms are to move",
        )
    return Schema(made)


def _look(name: str, value: object) -> Tree:
    where = f"'{name}'" if name else "the sample"
    levels = MAX_NAME_BYTES // 2
    if name.count(".") > levels:  # a list or a dict may contain itself
        raise InvalidArgumentError(
            "the sample is nested too deeply",
            expected=f"at most {levels} levels",
            found=shown(name),
        )
    if isinstance(value, Mapping):
        if not value:
            raise InvalidArgumentError(f"{where} is an empty dict")
        for key, _ in members(value):
            check_key(key, _joined(name, key))
        return {key: _look(_joined(name, key), item) for key, item in members(value)}
    if not name:
        raise ArgumentTypeError(
            f"{where} has the wrong type",
            expected="a dict",
            found=typed(value),
            remedy='Return a dict, such as {"image": image, "label": label}',
        )
    if isinstance(value, (list, tuple)) and value:
        items = list(value)
        if _has_matrices(items) or numbers_of(items, where) is None:
            return _look_at_list(name, items)
    return _found(where, value)


def _has_matrices(items: list[Any]) -> bool:
    """Returns whether there is an array of several dimensions."""
    arrays = [array_of(item) for item in items]
    return any(array is not None and array[0].ndim > 1 for array in arrays)


def _look_at_list(name: str, items: list[object]) -> Tree:
    if any(is_group(item) or array_of(item) is not None for item in items):
        return [_look(_joined(name, str(i)), item) for i, item in enumerate(items)]
    found = [_found(f"item {i} of '{name}'", item) for i, item in enumerate(items)]
    kinds = {one.field for one in found}
    kind = kinds.pop()
    if kinds or not isinstance(kind, (Image, Text, Bytes)):
        raise InvalidArgumentError(
            f"the items of '{name}' have different types", found=shown(items)
        )
    return _Found(replace(kind, list=True), are_files=all(one.are_files for one in found))


def _found(where: str, value: object) -> _Found:
    """Returns the type of a value that is not a group; without a field for an empty list."""
    if isinstance(value, (list, tuple)) and not value:
        return _Found(None)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _Found(Image() if _core.image_format(bytes(value[:_HEAD_BYTES])) else Bytes())
    if isinstance(value, (str, os.PathLike)):
        return _found_text(where, value)
    array = array_of(value, where)
    if array is not None and array[1] != "object":
        return _Found(_tensor(where, array[1], array[0].shape))
    numbers = numbers_of(value, where)
    if numbers is not None:
        values, kind = numbers
        is_large = kind == "float" and bool(
            ((abs(values) > _LARGE) & (abs(values) < float("inf"))).any()
        )
        dtypes = {"int": "int64", "float": "float64" if is_large else "float32"}
        dtype = dtypes.get(kind, kind)
        return _Found(_tensor(where, dtype, values.shape), are_numbers=kind in dtypes)
    raise ArgumentTypeError(
        f"{where} has the wrong type",
        expected="a number, an array, text, bytes or a path",
        found=typed(value),
        remedy="There is no null; for an absent value, pass an empty tensor, text or list"
        if value is None
        else "Convert it, for example with `numpy.asarray`",
    )


def _found_text(where: str, value: str | os.PathLike[str]) -> _Found:
    if _is_image_path(value):
        return _Found(Image())
    if isinstance(value, str):
        return _Found(Text(), are_files=value.lower().endswith(_EXTENSIONS))
    raise InvalidArgumentError(
        f"{where} is a path, but not of an image",
        found=shown(value),
        remedy="Pass the content of the file as bytes",
    )


def _tensor(where: str, dtype: str, shape: tuple[int, ...]) -> Tensor:
    if dtype in DTYPES:
        return Tensor(dtype, shape)
    raise ArgumentTypeError(
        f"{where} has the wrong dtype",
        expected=f"one of {', '.join(DTYPES)}",
        found=dtype,
        remedy="Use a list of str" if dtype.startswith(("str", "bytes")) else "Convert it",
    )


def _is_image_path(value: str | os.PathLike[str]) -> bool:
    try:
        with open(value, "rb") as file:
            return bool(_core.image_format(file.read(_HEAD_BYTES)))
    except (OSError, ValueError):
        return False


def _merge(name: str, known: Tree, found: Tree) -> Tree:
    """Returns what describes both. Errors: InvalidArgumentError if nothing does."""
    if isinstance(known, _Found) and isinstance(found, _Found):
        return _merge_fields(name, known, found)
    if isinstance(known, dict) and isinstance(found, dict):
        for key in [*known, *found]:
            if key not in known or key not in found:
                raise InvalidArgumentError(
                    f"the sample has {'an unknown' if key in found else 'no'} field "
                    f"'{_joined(name, key)}'",
                    expected=f"the fields of the first sample: {', '.join(known)}",
                    remedy="Give all samples the same fields",
                )
        return {key: _merge(_joined(name, key), known[key], found[key]) for key in known}
    if isinstance(known, list) and isinstance(found, list):
        if len(known) == len(found):
            pairs = zip(known, found, strict=True)
            return [_merge(_joined(name, str(i)), *pair) for i, pair in enumerate(pairs)]
        return _Found(
            None,
            f"a list of {len(known)} dicts or arrays in one sample and of {len(found)} in another; "
            "pass tensors with a row for each object",
        )
    for one, other in ((known, found), (found, known)):
        if isinstance(one, _Found) and isinstance(other, list) and one.field is None:
            return (
                one
                if one.question
                else _Found(
                    None, f"an empty list in one sample, and a list of {len(other)} in another"
                )
            )
    raise _different(name, known, found)


def _different(name: str, known: Tree, found: Tree) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"'{name}' has a different type",
        expected=_described(known),
        found=_described(found),
        remedy="Convert the values of all samples to one type",
    )


def _merge_fields(name: str, known: _Found, found: _Found) -> _Found:
    if known.question:
        return known
    if known.field == found.field:
        return replace(
            known,
            are_numbers=known.are_numbers and found.are_numbers,
            are_files=known.are_files and found.are_files,
        )
    if known.field is None or found.field is None:
        other = known if found.field is None else found
        merged = _with_empty(other.field)
        if merged is not None:
            return replace(other, field=merged)
    if isinstance(known.field, Tensor) and isinstance(found.field, Tensor):
        both = known.are_numbers and found.are_numbers
        merged = _merge_tensors(known.field, found.field, both)
        if merged is not None:
            return _Found(merged, are_numbers=both)
    raise _different(name, known, found)


def _with_empty(field: FieldSpec | None) -> FieldSpec | None:
    """Returns the type of a field that is an empty list in some samples; None if it cannot be."""
    if isinstance(field, Tensor) and field.shape:
        return replace(field, shape=(-1, *field.shape[1:]))
    return field if getattr(field, "list", False) else None


def _merge_tensors(one: Tensor, other: Tensor, are_numbers: bool) -> Tensor | None:
    """are_numbers: both are Python's numbers, so that an int may become a float."""
    dtypes = {one.dtype, other.dtype}
    if len(one.shape) != len(other.shape) or (len(dtypes) > 1 and not are_numbers):
        return None
    shape = [
        extent if extent == same else -1
        for extent, same in zip(one.shape, other.shape, strict=True)
    ]
    widest = "float64" if "float64" in dtypes else "float32"
    return Tensor(widest if len(dtypes) > 1 else one.dtype, shape)


def _has_image(tree: Tree | None) -> bool:
    """Returns whether there is an image that a mask could belong to."""
    if isinstance(tree, (dict, list)):
        return any(map(_has_image, tree.values() if isinstance(tree, dict) else tree))
    field = None if tree is None else tree.field
    if isinstance(field, Tensor):
        return len(field.shape) == 3 and _may_be_pixels(field)
    return isinstance(field, Image)


class _Roles:
    """What the caller knows of the fields' types."""

    def __init__(self, roles: Mapping[str, FieldSpec], names_say_images: bool) -> None:
        self._roles = roles
        self._names_say_images = names_say_images
        self._used: set[str] = set()
        self._names: list[str] = []

    def of(self, name: str, found: _Found) -> FieldSpec | None:
        """Returns the type of a field, or None if the caller does not know it."""
        self._names.append(name)
        for pattern, field in self._roles.items():
            if re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name):
                self._used.add(pattern)
                return field
        if not self._names_say_images or not isinstance(found.field, Tensor):
            return None
        is_named = _IMAGE_NAME.search(name) and found.field.dtype == "uint8"
        return Image() if is_named and _may_be_pixels(found.field) else None

    def check_used(self) -> None:
        for pattern in self._roles:
            if pattern not in self._used:
                raise InvalidArgumentError(
                    "a pattern of `roles` matches no field",
                    expected=", ".join(self._names),
                    found=pattern,
                )


def _schema_tree(
    name: str, tree: Tree | None, notes: dict[str, str], has_image: bool, known: _Roles
) -> Any:
    """Returns the tree of fields. Open ones get a note, and the likeliest field."""
    if isinstance(tree, dict):
        return {
            key: _schema_tree(_joined(name, key), item, notes, has_image, known)
            for key, item in tree.items()
        }
    if isinstance(tree, list):
        return [
            _schema_tree(_joined(name, str(i)), item, notes, has_image, known)
            for i, item in enumerate(tree)
        ]
    assert isinstance(tree, _Found)
    field = known.of(name, tree)
    if field is not None:
        return field
    if tree.field is None:
        notes[name] = tree.question or "an empty list in every sample"
        return Tensor("float32", (-1,))
    if isinstance(tree.field, Text) and tree.are_files and not has_image:
        notes[name] = f"the path of an image that cannot be read (F.Image), or {tree.field!r}"
        return Image(list=tree.field.list)
    if not isinstance(tree.field, Tensor) or not _may_be_pixels(tree.field):
        return tree.field
    if len(tree.field.shape) == 4:
        notes[name] = (
            f"the frames of a clip (F.Image(list=True): pass list(array)), or {tree.field!r}"
        )
        return Image(list=True)
    if has_image and len(tree.field.shape) == 2:
        grey = "a grey image (F.Image), " if tree.field.dtype == "uint8" else ""
        notes[name] = (
            "a mask of class or object numbers (F.Mask), a map of values (F.Map), "
            f"{grey}or {tree.field!r}"
        )
        return Mask()
    if tree.field.dtype != "uint8":
        return tree.field
    notes[name] = f"an image (F.Image), or {tree.field!r}"
    return Image()


def _may_be_pixels(field: Tensor) -> bool:
    shape = tuple(field.shape)
    if field.dtype == "uint16":
        return len(shape) == 2 and _are_sides(shape)
    if field.dtype != "uint8" or len(shape) not in (2, 3, 4):
        return False
    sides = shape[-3:]  # of one frame
    if len(sides) == 2:
        return _are_sides(sides)
    channels = (1, 3, 4)
    return (sides[2] in channels and _are_sides(sides[:2])) or (
        sides[0] in channels and _are_sides(sides[1:])
    )


def _are_sides(sides: tuple[int, ...]) -> bool:
    return all(side == -1 or side >= _SMALLEST_SIDE for side in sides)


def _described(tree: Tree) -> str:
    if isinstance(tree, dict):
        return f"a dict of {', '.join(tree)}"
    if isinstance(tree, list):
        return f"a list of {len(tree)}"
    return "an empty list" if tree.field is None else repr(tree.field)


def _joined(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
