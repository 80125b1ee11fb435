"""`Schema`: the fields of a dataset's samples, as a nested dict or list and as flat names."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, overload

from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, UnsupportedError
from fuelrail.fields import (
    FieldSpec,
    Image,
    Label,
    Map,
    Mask,
    NativeType,
    code,
    field_of_native,
    unknown_field,
)
from fuelrail.nested import Nesting, groups_around
from fuelrail.options import nearest, shown, text, typed

if TYPE_CHECKING:
    from fuelrail.sample_values import SampleValues

__all__ = ["Field", "Schema", "encoded_as"]

Tree: TypeAlias = FieldSpec | Mapping[str, "Tree"] | Sequence["Tree"]
"""A field, or a group: a dict or a list of fields and groups."""

NativeRow: TypeAlias = (
    "tuple[str, str, str | None, tuple[int, ...], str, int | None, int | None, int, int]"
)
"""Name, kind, dtype, shape, role, of, rows, flags and detail of a field, as the core has them. `of`
and `rows` are the numbers of other fields."""

MAX_FIELDS = 4096
MAX_NAME_BYTES = 255
_PART = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*|0|[1-9][0-9]*")
_WIDTH = 100


class Field(NamedTuple):
    """The name and type of one field of a dataset's samples."""

    name: str
    kind: str
    """One of "image" (an encoded image), "tensor", "text" and "bytes"."""
    dtype: str | None
    """NumPy's name of a tensor's element type, such as "float32". None for other kinds."""
    shape: tuple[int, ...]
    """Shape of a tensor, with -1 for each dimension that varies between samples. () for a single
    number and for other kinds.
    """


class Schema:
    """The fields of a dataset's samples, in order.

    tree: a nested dict or list of the fields of `fuelrail.fields`.

    >>> from fuelrail import fields as F
    >>> schema = fuelrail.Schema({"cameras": [{"image": F.Image(), "boxes": F.Boxes("xyxy")}]})
    >>> schema.names
    ('cameras.0.image', 'cameras.0.boxes')
    >>> schema["cameras.0.boxes"]
    F.Boxes("xyxy")

    The name of a field is its path: the keys of the dicts and the numbers in the lists around it,
    joined by dots. A key is a name (letters, digits, `_` and `-`, not beginning with a digit or
    `-`), or several joined by dots. A name has at most 255 bytes, and names may differ only in
    their case. A schema has 1 to 4,096 fields, and every group has at least one.

    Iterating over a schema gives a `fuelrail.Field` (name, kind, dtype, shape) for each field, and
    `schema[i]` is that of field i. Schemas are immutable, comparable, hashable and picklable. Two
    schemas are equal if records store the same of them: their fields have the same names, types and
    relations, in the same order. Class names, which are in the sidecar, are not compared; `classes`
    has them. `repr` is code that makes the schema.

    Errors: ArgumentTypeError for an object that is not a field or a group. InvalidArgumentError for
    an invalid name, a path that is both a field and a group, and a field whose image is not one
    image of the schema.
    """

    def __init__(self, tree: Tree) -> None:
        if isinstance(tree, FieldSpec) or not is_group(tree):
            raise ArgumentTypeError(
                "a schema has the wrong type",
                expected="a dict of fields",
                found=typed(tree),
                remedy='Write it like {"image": F.Image(), "label": F.Label()}',
            )
        fields = _flat_fields(tree)
        _check_paths(fields)
        self._fields = MappingProxyType(fields)
        self._relations = _relations(fields)

    @classmethod
    def from_native(
        cls, rows: Iterable[NativeRow], classes: Mapping[str, Sequence[str]] | None = None
    ) -> Schema:
        """Creates the schema of a file from the core's description of its fields.

        classes: the class names by the names of the fields. Errors: UnsupportedError for a
        combination that no class in `fuelrail.fields` has, such as rows with a field of another
        dict.
        """
        given = list(rows)
        groups = _group_names(given)
        made: dict[str, FieldSpec] = {}
        for name, kind, dtype, shape, role, of, group, flags, detail in given:
            field = field_of_native(
                NativeType(kind, dtype if kind == "tensor" else None, shape, role, flags, detail),
                None if of is None else _seen_from(name, given[of][0]),
                None if group is None else groups[group],
                (classes or {}).get(name),
            )
            made[name] = field or _unknown(name, kind, dtype, shape, role)
        schema = cls(_without_usual_images(made))
        for found, (name, *_, of, group, _, _) in zip(schema.native, given, strict=True):
            for relation, made_of, number in (("of", found[5], of), ("rows", found[6], group)):
                if made_of != number:
                    _unstated(name, relation, None if number is None else given[number][0])
        return schema

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(self._fields)

    @property
    def fields(self) -> Mapping[str, FieldSpec]:
        """The fields by their names."""
        return self._fields

    @property
    def tree(self) -> dict[str, Any] | list[Any]:
        """The fields as a nested dict."""
        tree: dict[str, Any] | list[Any] = self.nest(list(self._fields.values()))
        return tree

    @property
    def classes(self) -> dict[str, list[str]]:
        """The class names of the fields that have any, by the fields' names."""
        return {
            name: list(field.classes)
            for name, field in self._fields.items()
            if isinstance(field, Label) and field.classes
        }

    @cached_property
    def native(self) -> tuple[NativeRow, ...]:
        """The fields as the core has them."""
        rows = []
        for (name, field), (of, group) in zip(self._fields.items(), self._relations, strict=True):
            kind, dtype, shape, role, flags, detail = field.native
            rows.append((name, kind, dtype, shape, role, of, group, flags, detail))
        return tuple(rows)

    def image_of(self, name: str) -> str | None:
        """Returns the name of the image whose pixels the field `name` refers to, or None if it
        refers to none. Errors: InvalidArgumentError for an unknown field.
        """
        of = self._relations[self._number(name)][0]
        return None if of is None else self.names[of]

    def flatten(self, sample: object, *, index: int | None = None) -> list[Any]:
        """Checks a sample, and returns its values in the order of the fields.

        sample: a nested dict with exactly the fields of the schema. Keys may be joined by dots, as
            in the schema.
        index: the sample's number, for errors.

        Returns: for an image, bytes, the path as a str, or an array of pixels; for a tensor, a
        `numpy.ndarray` in C order, with the bytes of bfloat16 as uint16; for a text, a str; for
        bytes, bytes; for a list field, a list of these.

        Arrays are of NumPy, torch or another library that supports DLPack, in CPU memory. Their
        dtype must be the field's. A Python int becomes any type that can store it, a float any
        floating-point type. There is no null: an absent value is an empty tensor, text or list.

        Errors: InvalidArgumentError and ArgumentTypeError, which name the field. What the numbers
        mean (boxes, classes, rows) is checked when the sample is packed.
        """
        return self._values.flatten(sample, index)

    def nest(self, values: Sequence[Any]) -> Any:
        """Returns a nested dict of values, the opposite of `flatten`.

        values: one for each field, in order. Groups whose keys are numbers become lists.
        """
        if not isinstance(values, Sequence):
            raise ArgumentTypeError(
                "`values` has the wrong type", expected="a sequence", found=typed(values)
            )
        if len(values) != len(self._fields):
            raise InvalidArgumentError(
                "the number of values is wrong",
                expected=str(len(self._fields)),
                found=str(len(values)),
            )
        return self._nesting(values)

    @cached_property
    def _nesting(self) -> Nesting:
        return Nesting(name.split(".") for name in self._fields)

    @cached_property
    def _values(self) -> SampleValues:
        from fuelrail.sample_values import SampleValues  # it imports NumPy

        return SampleValues(self)

    def _number(self, name: object) -> int:
        known = self.names
        if text("the field name", name) not in self._fields:
            raise InvalidArgumentError(f"unknown field '{name}'", remedy=nearest(str(name), known))
        return known.index(str(name))

    def __len__(self) -> int:
        return len(self._fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self[:])

    def __contains__(self, field: object) -> bool:
        """Returns whether there is a field with this name, or this `fuelrail.Field`."""
        return field in self._fields or field in self._rows

    @overload
    def __getitem__(self, key: str) -> FieldSpec: ...
    @overload
    def __getitem__(self, key: int) -> Field: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Field, ...]: ...
    def __getitem__(self, key: str | int | slice) -> FieldSpec | Field | tuple[Field, ...]:
        """Returns the field with a name, or name, kind, dtype and shape of the field with a number.
        Errors: InvalidArgumentError for an unknown field; IndexError.
        """
        if isinstance(key, str):
            return self._fields[self.names[self._number(key)]]
        return self._rows[key]

    @cached_property
    def _rows(self) -> tuple[Field, ...]:
        return tuple(Field(*row[:4]) for row in self.native)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self.native == other.native

    def __hash__(self) -> int:
        return hash(self.native)

    def __reduce__(self) -> tuple[type[Schema], tuple[Tree]]:
        return Schema, (dict(self._fields),)

    def __copy__(self) -> Schema:
        return self

    def __deepcopy__(self, memo: object) -> Schema:
        return self

    def __repr__(self) -> str:
        return f"fr.Schema({_in_lines(self.tree)})"


def encoded_as(schema: Schema, encode: str) -> Schema:
    """Returns the schema with another encoding of arrays. Masks and maps are never compressed with
    loss.

    encode: "npy", "png" or "jpeg".
    """

    def changed(field: FieldSpec) -> FieldSpec:
        if isinstance(field, Image):
            quality = field.quality if encode == "jpeg" else None
            return dataclasses.replace(field, encode=encode, quality=quality)
        if encode == "npy" and isinstance(field, (Mask, Map)):
            return dataclasses.replace(field, encode=encode)
        return field

    return Schema(schema.nest([changed(field) for field in schema.fields.values()]))


def is_group(value: object) -> bool:
    """Returns whether `value` is a dict or a list, whose members may be fields."""
    return isinstance(value, Mapping) or (
        isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview))
    )


def members(group: Any) -> Iterator[tuple[str, Any]]:
    """Yields the key and the value of each member of a group. Numbers are the keys of a list.
    Errors: ArgumentTypeError for a key that is not a string.
    """
    if not isinstance(group, Mapping):
        yield from ((str(number), value) for number, value in enumerate(group))
        return
    for key, value in group.items():
        if not isinstance(key, str):
            raise ArgumentTypeError(
                "a key has the wrong type",
                expected="a string",
                found=typed(key),
                remedy="Use a list for members with numbers",
            )
        yield key, value


def in_one_line(tree: object) -> str:
    """Returns Python code that makes a nested dict or list of fields."""
    if not is_group(tree):
        return repr(tree)
    if isinstance(tree, Mapping):
        return f"{{{', '.join(f'{code(k)}: {in_one_line(v)}' for k, v in tree.items())}}}"
    return f"[{', '.join(in_one_line(value) for _, value in members(tree))}]"


def _in_lines(tree: object, indent: str = "") -> str:
    """As `in_one_line`, with a line for each member of a group that does not fit in a line."""
    line = in_one_line(tree)
    if not is_group(tree) or (indent and len(indent) + len(line) < _WIDTH - 20):
        return line
    deeper = indent + "    "
    is_dict = isinstance(tree, Mapping)
    lines = [
        f"{deeper}{f'{code(key)}: ' if is_dict else ''}{_in_lines(value, deeper)},"
        for key, value in members(tree)
    ]
    begin, end = "{}" if is_dict else "[]"
    return "\n".join([begin, *lines, indent + end])


def _flat_fields(tree: Tree) -> dict[str, FieldSpec]:
    fields: dict[str, FieldSpec] = {}

    def add(name: str, value: Any) -> None:
        if len(name) > MAX_NAME_BYTES:
            raise InvalidArgumentError(
                "the name of a field is too long",
                expected=f"at most {MAX_NAME_BYTES} bytes",
                found=f"{len(name)} bytes: {shown(name)}",
            )
        if isinstance(value, FieldSpec):
            if name in fields:
                raise InvalidArgumentError(f"two fields have the name '{name}'")
            fields[name] = value
            return
        where = f"'{name}'" if name else "the schema"
        if isinstance(value, type) or not is_group(value):
            raise ArgumentTypeError(
                f"{where} is not a field or a group of fields",
                expected="a field, a dict or a list",
                found=typed(value),
                remedy=unknown_field(value),
            )
        if not value:
            raise InvalidArgumentError(f"{where} has no fields")
        for key, member in members(value):
            inner = f"{name}.{key}" if name else key
            check_key(key, inner)
            add(inner, member)

    add("", tree)
    if len(fields) > MAX_FIELDS:
        raise InvalidArgumentError(
            "the schema has too many fields",
            expected=f"at most {MAX_FIELDS}",
            found=str(len(fields)),
        )
    return fields


def check_key(key: str, name: str) -> None:
    """Checks a key of a group. `name`: the path with it. Errors: InvalidArgumentError."""
    for part in key.split("."):
        if not _PART.fullmatch(part):
            raise InvalidArgumentError(
                f"the field name '{name}' is invalid",
                expected="words of letters, digits, '_' and '-' that begin with a letter or '_', "
                "or numbers without leading zeros, joined by dots",
                found=f"the part '{part}'",
                remedy="Rename the key",
            )


def _check_paths(fields: Mapping[str, FieldSpec]) -> None:
    """Checks that no path is both a field and a group, and that the members of each group have
    names, or the numbers 0, 1, 2, ...
    """
    groups: dict[str, dict[str, None]] = {}
    for name in fields:
        path, _, last = name.rpartition(".")
        groups.setdefault(path, {})[last] = None
        while path:
            path, _, last = path.rpartition(".")
            groups.setdefault(path, {})[last] = None
    for path, keys in groups.items():
        if path in fields:
            raise InvalidArgumentError(
                f"'{path}' is both a field and a group",
                found=f"the fields '{path}' and '{path}.{next(iter(keys))}'",
                remedy="Rename one of them",
            )
        numbers = [key for key in keys if key.isdigit()]
        if numbers and set(keys) != {str(number) for number in range(len(keys))}:
            raise InvalidArgumentError(
                f"the members of '{path}' are not a list" if path else "the fields are not a list",
                expected="names, or the numbers 0, 1, 2, ...",
                found=", ".join(keys)[:80],
            )


def _relations(fields: Mapping[str, FieldSpec]) -> tuple[tuple[int | None, int | None], ...]:
    """Returns the numbers of the image (`of`) and of the first field of the rows for each field."""
    images = _Images(fields)
    numbers = {name: number for number, name in enumerate(fields)}
    first: dict[tuple[str, str], int] = {}
    relations = []
    for name, field in fields.items():
        of = images.of(name, field)
        rows = None
        if field.group_of_rows is not None:
            group = (name.rpartition(".")[0], field.group_of_rows)
            rows = first.setdefault(group, numbers[name])
        relations.append((None if of is None else numbers[of], rows))
    return tuple(relations)


class _Images:
    """Finds the images that fields refer to."""

    def __init__(self, fields: Mapping[str, FieldSpec]) -> None:
        self._fields = fields
        self._leaders = [
            name
            for name, field in fields.items()
            if isinstance(field, Image) and field.refers_to is None
        ]
        self._inside: dict[str, list[str]] = {}  # directly in each group
        self._below: dict[str, list[str]] = {}  # anywhere below each group
        for leader in self._leaders:
            group = leader.rpartition(".")[0]
            self._inside.setdefault(group, []).append(leader)
            for around in groups_around(leader):
                self._below.setdefault(around, []).append(leader)

    def of(self, name: str, field: FieldSpec) -> str | None:
        if field.refers_to is not None:
            return self._named(name, field.refers_to)
        if not field.moves_with_image:
            return None
        for group in groups_around(name):
            if found := self._inside.get(group) or self._below.get(group):
                return found[0] if len(found) == 1 else self._refuse_several(name, found)
        raise InvalidArgumentError(
            f"the field '{name}' refers to no image, because the schema has none",
            remedy="Add an F.Image(), or use F.Tensor for numbers that do not refer to pixels",
        )

    def _named(self, name: str, of: str) -> str:
        for group in groups_around(name):
            path = f"{group}.{of}" if group else of
            field = self._fields.get(path)
            if field is None or path == name:
                continue
            if not isinstance(field, Image):
                raise InvalidArgumentError(
                    f"the `of` of '{name}' is not an image",
                    found=f"'{path}': {field!r}",
                    remedy=self._known(),
                )
            if field.refers_to is not None:
                raise InvalidArgumentError(
                    f"the `of` of '{name}' is a partner of another image",
                    found=f"'{path}': {field!r}",
                    remedy="Pass the image that it is a partner of",
                )
            return path
        raise InvalidArgumentError(
            f"the `of` of '{name}' is not a field", found=f"'{of}'", remedy=self._known(of)
        )

    def _known(self, given: str = "") -> str:
        if not self._leaders:
            return "Add an F.Image() to the schema"
        return nearest(given, self._leaders) if given else "Images: " + ", ".join(self._leaders)

    def _refuse_several(self, name: str, found: Sequence[str]) -> NoReturn:
        raise InvalidArgumentError(
            f"the field '{name}' may refer to several images",
            expected="one image",
            found=", ".join(found[:10]) + (", ..." if len(found) > 10 else ""),
            remedy="Pass the name of one as `of`",
        )


def _group_names(rows: Sequence[NativeRow]) -> dict[int, str]:
    """Returns a name for each group of rows, by the number of its first field: "objects" in a dict
    that has one group, otherwise the name of the first field.
    """
    firsts = sorted({row[6] for row in rows if row[6] is not None})
    places = {first: rows[first][0].rpartition(".") for first in firsts}
    inside = [place for place, _, _ in places.values()]
    return {
        first: "objects" if inside.count(place) == 1 else last
        for first, (place, _, last) in places.items()
    }


def _seen_from(name: str, of: str) -> str:
    """Returns the shortest name of the field `of` that the field `name` can use."""
    place, _, last = of.rpartition(".")
    return last if name.rpartition(".")[0] == place else of


def _without_usual_images(fields: Mapping[str, FieldSpec]) -> dict[str, FieldSpec]:
    """Returns the fields without each `of` that is the default."""
    images = _Images(fields)
    shorter = dict(fields)
    for name, field in fields.items():
        if field.refers_to is None or not field.moves_with_image:
            continue
        usual = dataclasses.replace(field, of=None)  # type: ignore[type-var]
        with contextlib.suppress(InvalidArgumentError):
            if images.of(name, usual) == images.of(name, field):
                shorter[name] = usual
    return shorter


def _unknown(
    name: str, kind: str, dtype: str | None, shape: tuple[int, ...], role: str
) -> NoReturn:
    what = f"{kind} {dtype or ''} {list(shape) if kind == 'tensor' else ''}"
    raise UnsupportedError(
        f"the field '{name}' has no class in fuelrail.fields",
        found=" ".join(f"{what} {f'with the role {role}' if role else ''}".split()),
    )


def _unstated(name: str, relation: str, other: str | None) -> NoReturn:
    raise UnsupportedError(
        f"the `{relation}` of the field '{name}' cannot be stated in fuelrail.fields",
        expected="an image that no other hides" if relation == "of" else "a field of the same dict",
        found=f"'{other}'",
        remedy="Use a loader or the samples, which do not need the schema",
    )
