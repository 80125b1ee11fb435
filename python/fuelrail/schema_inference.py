"""Infers the schema of samples from the first of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, Union

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.fields import Bytes, FieldSpec, Image, Mask, Tensor, Text
from fuelrail.options import shown, typed
from fuelrail.sample_values import array_of, numbers_of
from fuelrail.schema import Schema, check_key, in_one_line, is_group, members

__all__ = ["LOOKED_AT", "infer"]

LOOKED_AT = 64
"""The number of samples from which `pack` infers a schema."""

_HEAD_BYTES = 64  # enough for every signature
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


def infer(samples: Sequence[object]) -> Schema:
    """Returns the schema of samples.

    samples: nested dicts; at least one.

    - `bytes` and paths whose content begins as an image are `Image`, other bytes `Bytes`; other
      strings are `Text`.
    - Arrays are `Tensor` of their dtype, and extents that differ become -1. Numbers and lists of
      numbers are `Tensor` of bool, int64 (int) or float32 (float, or int in some samples).
    - Lists of strings, of bytes or of images are list fields; lists of dicts or of arrays are
      groups.

    Errors: InvalidArgumentError if a field stays open, with the schema found so far as code; if a
    sample has other fields than the first or a value of another type, which names the sample.
    """
    if not samples:
        raise InvalidArgumentError("a schema cannot be inferred, because there are no samples")
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
                remedy=error.remedy or "Pass a schema",
            ) from None
    notes: dict[str, str] = {}
    made = _schema_tree("", tree, notes, _has_image(tree))
    if notes:
        names = " and ".join(f"'{name}'" for name in notes)
        raise InvalidArgumentError(
            "the samples do not show the type of every field",
            found="; ".join(f"'{name}' is {question}" for name, question in notes.items()),
            remedy=f"Pass schema=fr.Schema({in_one_line(made)}), with the right field for {names}",
        )
    return Schema(made)


def _look(name: str, value: object) -> Tree:
    where = f"'{name}'" if name else "the sample"
    if isinstance(value, Mapping):
        if not value:
            raise InvalidArgumentError(f"{where} is an empty dict")
        for key, _ in members(value):
            check_key(key, _joined(name, key))
        return {key: _look(_joined(name, key), item) for key, item in members(value)}
    if not name:
        raise ArgumentTypeError(
            f"{where} has the wrong type", expected="a dict", found=typed(value)
        )
    if isinstance(value, (list, tuple)) and value and numbers_of(value) is None:
        return _look_at_list(name, list(value))
    return _Found(_field_of(where, value))


def _look_at_list(name: str, items: list[object]) -> Tree:
    if any(is_group(item) or array_of(item) is not None for item in items):
        return [_look(_joined(name, str(i)), item) for i, item in enumerate(items)]
    kinds = {_field_of(f"item {i} of '{name}'", item) for i, item in enumerate(items)}
    kind = kinds.pop()
    if kinds or not isinstance(kind, (Image, Text, Bytes)):
        raise InvalidArgumentError(
            f"the items of '{name}' have different types", found=shown(items)
        )
    return _Found(replace(kind, list=True))


def _field_of(where: str, value: object) -> FieldSpec | None:
    """Returns the field of a value that is not a group; None for an empty list."""
    if isinstance(value, (list, tuple)) and not value:
        return None
    if isinstance(value, (bytes, bytearray, memoryview)):
        return Image() if _core.image_format(bytes(value[:_HEAD_BYTES])) else Bytes()
    if isinstance(value, (str, os.PathLike)):
        if _is_image_path(value):
            return Image()
        if isinstance(value, str):
            return Text()
        raise InvalidArgumentError(
            f"{where} is a path, but not of an image",
            found=shown(value),
            remedy="Pass the content of the file as bytes",
        )
    array = array_of(value)
    if array is not None and array[1] != "object":
        return Tensor(array[1], array[0].shape)
    numbers = numbers_of(value)
    if numbers is not None:
        dtypes = {"int": "int64", "float": "float32"}
        return Tensor(dtypes.get(numbers[1], numbers[1]), numbers[0].shape)
    raise ArgumentTypeError(
        f"{where} has the wrong type",
        expected="a number, an array, text, bytes or a path",
        found=typed(value),
        remedy="There is no null; for an absent value, pass an empty tensor, text or list"
        if value is None
        else None,
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
    raise InvalidArgumentError(
        f"'{name}' has a different type", expected=_described(known), found=_described(found)
    )


def _merge_fields(name: str, known: _Found, found: _Found) -> _Found:
    if known.question or known.field == found.field:
        return known
    if known.field is None or found.field is None:
        merged = _with_empty(known.field or found.field)
        if merged is not None:
            return _Found(merged)
    if isinstance(known.field, Tensor) and isinstance(found.field, Tensor):
        merged = _merge_tensors(known.field, found.field)
        if merged is not None:
            return _Found(merged)
    raise InvalidArgumentError(
        f"'{name}' has a different type", expected=_described(known), found=_described(found)
    )


def _with_empty(field: FieldSpec | None) -> FieldSpec | None:
    """Returns the type of a field that is an empty list in some samples; None if it cannot be."""
    if isinstance(field, Tensor) and field.shape:
        return replace(field, shape=(-1, *field.shape[1:]))
    return field if getattr(field, "list", False) else None


def _merge_tensors(one: Tensor, other: Tensor) -> Tensor | None:
    dtypes = {one.dtype, other.dtype}
    if len(one.shape) != len(other.shape) or (len(dtypes) > 1 and dtypes != {"int64", "float32"}):
        return None
    shape = [
        extent if extent == same else -1
        for extent, same in zip(one.shape, other.shape, strict=True)
    ]
    return Tensor("float32" if len(dtypes) > 1 else one.dtype, shape)


def _has_image(tree: Tree | None) -> bool:
    """Returns whether there is an image that a mask could belong to."""
    if isinstance(tree, (dict, list)):
        return any(map(_has_image, tree.values() if isinstance(tree, dict) else tree))
    field = None if tree is None else tree.field
    if isinstance(field, Tensor):
        return len(field.shape) == 3 and _may_be_pixels(field)
    return isinstance(field, Image)


def _schema_tree(name: str, tree: Tree | None, notes: dict[str, str], has_image: bool) -> Any:
    """Returns the tree of fields. Open ones get a note, and the likeliest field."""
    if isinstance(tree, dict):
        return {
            key: _schema_tree(_joined(name, key), item, notes, has_image)
            for key, item in tree.items()
        }
    if isinstance(tree, list):
        return [
            _schema_tree(_joined(name, str(i)), item, notes, has_image)
            for i, item in enumerate(tree)
        ]
    assert isinstance(tree, _Found)
    if tree.field is None:
        notes[name] = tree.question or "an empty list in every sample"
        return Tensor("float32", (-1,))
    if not isinstance(tree.field, Tensor) or not _may_be_pixels(tree.field):
        return tree.field
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
    if field.dtype not in ("uint8", "uint16") or len(shape) not in (2, 3):
        return False
    if field.dtype == "uint16" and len(shape) == 3:
        return False
    sides = shape[:2]
    if len(shape) == 3 and shape[2] not in (1, 3, 4):
        if shape[0] not in (1, 3, 4):
            return False
        sides = shape[1:]
    return all(side == -1 or side >= _SMALLEST_SIDE for side in sides)


def _described(tree: Tree) -> str:
    if isinstance(tree, dict):
        return f"a dict of {', '.join(tree)}"
    if isinstance(tree, list):
        return f"a list of {len(tree)}"
    return "an empty list" if tree.field is None else repr(tree.field)


def _joined(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
