"""The names and types of a tree of fields, and how to find one."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, KeysView, Sequence
from typing import TYPE_CHECKING, Any

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import FieldError, InputArgumentError
from fuelrail.options import integer, nearest, typed

if TYPE_CHECKING:
    from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["FieldTree", "Name", "Path"]

Name = str | int
Path = str | int | Sequence[str | int]
Names = Sequence[Name] | Name | None
_NAME = (str, int, numbers.Integral)  # NumPy's integers, too


class FieldTree:
    """What a SampleDataGroup says of its fields. The values of data fields do not matter here."""

    def __init__(self) -> None:
        self._types: dict[Name, DataType | type[SampleDataGroup]] = {}  # in order
        self._values: dict[Name, Any] = {}
        self._mappings: dict[Name, dict[Any, Any]] = {}

    # --- Children ---

    def __len__(self) -> int:
        return len(self._types)

    def __iter__(self) -> Iterator[Name]:
        return iter(self._types)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, _NAME) and name in self._types

    def keys(self) -> KeysView[Name]:
        """Returns the names of the children, in the order in which they were added."""
        return self._types.keys()

    @property
    def contained_top_level_field_names(self) -> tuple[Name, ...]:
        """The names of the children, in the order in which they were added."""
        return tuple(self._types)

    @property
    def field_top_level_types(self) -> tuple[DataType | type[SampleDataGroup], ...]:
        """The types of the children: a DataType, or the class SampleDataGroup for a group."""
        return tuple(self._types.values())

    def has_child(self, name: Name) -> bool:
        """Returns whether there is a child of this name."""
        return name in self

    def get_type_of_field(self, name: Name) -> DataType | type[SampleDataGroup]:
        """Returns the DataType of a child, or the class SampleDataGroup for a group. Errors:
        FieldError if it does not exist.
        """
        return self._types[self._existing(name, f"No field with name '{name}'")]

    def is_data_field(self, name: Name) -> bool:
        """Returns whether a child is a data field. Errors: FieldError if it does not exist."""
        name = self._existing(name, f"No element with name '{name}' is present")
        return isinstance(self._types[name], DataType)

    def is_data_group_field(self, name: Name) -> bool:
        """Returns whether a child is a group. Errors: FieldError if it does not exist."""
        return not self.is_data_field(name)

    def is_array(self, field: Name | None = None) -> bool:
        """Returns whether this group, or the child `field`, is a group with the names 0, 1, ...
        in this order, and at least one. Errors: FieldError if the child does not exist.
        """
        if field is not None:
            return self.is_data_group_field(field) and self._group(field).is_array()
        return bool(self._types) and list(self._types) == list(range(len(self._types)))

    def is_data_field_array(self, field: Name | None = None) -> bool:
        """As `is_array`, for an array of data fields only."""
        if field is not None:
            return self.is_data_group_field(field) and self._group(field).is_data_field_array()
        return self.is_array() and all(isinstance(kind, DataType) for kind in self._types.values())

    def is_data_group_field_array(self, field: Name | None = None) -> bool:
        """As `is_array`, for an array of groups only."""
        if field is not None:
            return (
                self.is_data_group_field(field) and self._group(field).is_data_group_field_array()
            )
        return self.is_array() and not any(
            isinstance(kind, DataType) for kind in self._types.values()
        )

    def check_has_children(
        self,
        data_field_children: Names = None,
        data_group_field_children: Names = None,
        data_field_array_children: Names = None,
        data_group_field_array_children: Names = None,
        current_name: str | None = None,
    ) -> None:
        """Checks that children exist and are of a kind.

        data_field_children, data_group_field_children, data_field_array_children,
        data_group_field_array_children: a name, or names, of children of this kind. Default: none.
        current_name: the name of this group in the error.

        Errors: InvalidArgumentError, a ValueError, for a child that is missing or of another kind.
        """
        wanted = (
            (data_field_children, "data field", self.is_data_field),
            (data_group_field_children, "data group field", self.is_data_group_field),
            (data_field_array_children, "data field array", self.is_data_field_array),
            (
                data_group_field_array_children,
                "data group field array",
                self.is_data_group_field_array,
            ),
        )
        group = "the group" if current_name is None else f"the group '{current_name}'"
        for names, kind, is_so in wanted:
            for name in _listed(names):
                if name not in self:
                    raise InvalidArgumentError(
                        f"{group} does not have child `{name}`", remedy=self._names_like(name)
                    )
                if not is_so(name):
                    raise InvalidArgumentError(f"the child `{name}` of {group} is not a {kind}")

    # --- Paths ---

    @staticmethod
    def path_is_single_name(path: Path) -> bool:
        """Returns whether the path is a name, not a list or tuple of names."""
        return isinstance(path, str) or not isinstance(path, Sequence)

    def path_exists(self, path: Path) -> bool:
        """Returns whether there is a field at the path. The empty path exists."""
        group: Any = self
        for name in names_of(path):
            if not isinstance(group, FieldTree) or name not in group:
                return False
            group = group._values[name]
        return True

    def path_exists_and_is_data_group_field(self, path: Path) -> bool:
        """Returns whether there is a group at the path. The empty path is this group."""
        names = names_of(path)
        if not self.path_exists(path):
            return False
        return not names or self._group_at(names[:-1]).is_data_group_field(names[-1])

    def get_parent_of_path(self, path: Path) -> SampleDataGroup:
        """Returns the group that has the field at the path. Errors: FieldError if the path does not
        exist; InputArgumentError for an empty path.
        """
        names = names_of(path)
        if not names:
            raise empty_path()
        parent = self._group_at(names[:-1])
        parent._existing(names[-1], f"No element '{names[-1]}' is present")
        return parent

    def find_all_occurrences(self, name_to_find: Name) -> tuple[tuple[Name, ...], ...]:
        """Returns the paths of all fields of this name, in this group and below, depth-first: a
        group's own child before those of its groups.
        """
        found: list[tuple[Name, ...]] = [(name_to_find,)] if name_to_find in self else []
        for name in self:
            if self.is_data_group_field(name):
                below = self._group(name).find_all_occurrences(name_to_find)
                found += [(name, *path) for path in below]
        return tuple(found)

    def get_num_occurrences(self, name_to_find: Name) -> int:
        """Returns the number of fields of this name, in this group and below."""
        return len(self.find_all_occurrences(name_to_find))

    # --- The flat form ---

    @property
    def field_names_flat(self) -> tuple[str, ...]:
        """The names of all data fields below, depth-first. The names of a path are joined by dots,
        and numbers are in brackets: "cameras.[0].image". Groups without data fields do not appear.

        Errors: FieldError if two fields have the same flat name, such as ("a", "b") and "a.b".
        """
        names = tuple(flat_name(path) for path, _ in self._leaves())
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise FieldError(
                f"two fields have the flat name '{twice}'", remedy="Rename one of the fields"
            )
        return names

    @property
    def field_types_flat(self) -> tuple[DataType, ...]:
        """The types in the order of `field_names_flat`. UINT8 for STRING, as text is stored."""
        return tuple(
            DataType.UINT8 if kind is DataType.STRING else kind for _, kind in self._leaves()
        )

    def type_matches(self, other: FieldTree) -> bool:
        """Returns whether two groups have the same names and types in the same order, here and
        below. Values, mappings and flags do not matter.
        """
        if not isinstance(other, FieldTree) or list(self._types) != list(other._types):
            return False
        return self._types == other._types and all(
            self._values[name].type_matches(other._values[name])
            for name, kind in self._types.items()
            if not isinstance(kind, DataType)
        )

    def get_flat_index_first_discrepancy_to_other(self, other: FieldTree) -> int:
        """Returns the first flat index at which the names or types of two groups differ, or -1."""
        own = tuple(zip(self.field_names_flat, self.field_types_flat, strict=True))
        others = tuple(zip(other.field_names_flat, other.field_types_flat, strict=True))
        if own == others:
            return -1
        pairs = enumerate(zip(own, others, strict=False))
        return next((i for i, (a, b) in pairs if a != b), min(len(own), len(others)))

    # --- Texts ---

    def __str__(self) -> str:
        return self._text(details=True)

    def get_string_no_details(self) -> str:
        """Returns the tree as text, with names and types only."""
        return self._text(details=False)

    def _text(self, details: bool, indent: str = "") -> str:
        lines = [f"{indent}{{\n"]
        for name, kind in self._types.items():
            if isinstance(kind, DataType):
                lines.append(f"{indent}  {name}: {kind.name}{self._state(name) * details}\n")
            else:
                lines.append(
                    f"{indent}  {name}:\n{self._group(name)._text(details, indent + '  ')}"
                )
        return "".join([*lines, f"{indent}}}\n"])

    def _state(self, name: Name) -> str:
        return f"  (set: {self._values[name] is not None}, mapping: {name in self._mappings})"

    # --- What the methods share ---

    def _group(self, name: Name) -> SampleDataGroup:
        group: SampleDataGroup = self._values[name]
        return group

    def _groups(self) -> Iterator[SampleDataGroup]:
        for name, kind in self._types.items():
            if not isinstance(kind, DataType):
                yield self._values[name]

    def _leaves(self) -> Iterator[tuple[tuple[Name, ...], DataType]]:
        for name, kind in self._types.items():
            if isinstance(kind, DataType):
                yield (name,), kind
            else:
                for path, below in self._group(name)._leaves():
                    yield (name, *path), below

    def _group_at(self, names: Sequence[Name]) -> SampleDataGroup:
        group: Any = self
        for depth, name in enumerate(names):
            group = group._values[group._existing(name, f"No field with name '{name}'")]
            if not isinstance(group, FieldTree):
                raise FieldError(
                    f"'{flat_name(names[: depth + 1])}' is a data field, so nothing is below it"
                )
        return group  # type: ignore[no-any-return]

    def _existing(self, name: Name, failure: str) -> Name:
        """Returns the name, or raises FieldError with the text, which programs may match."""
        name = checked_name(name)
        if name not in self._types:
            raise FieldError(failure, remedy=self._names_like(name))
        return name

    def _names_like(self, name: Name) -> str:
        known = [str(own) for own in self._types]
        return nearest(str(name), known) if known else "The group has no fields"


def names_of(path: Path) -> list[Name]:
    """Returns the names of a path. Errors: InputArgumentError for anything but a name, or a list or
    tuple of names.
    """
    if isinstance(path, (list, tuple)):
        return [checked_name(name) for name in path]
    if not isinstance(path, _NAME):
        raise InputArgumentError(
            "a path has the wrong type",
            expected="a name, or a list or tuple of names",
            found=typed(path),
        )
    return [checked_name(path)]


def checked_name(name: Name) -> Name:
    """Returns the name: an int for an integer of NumPy. Errors: InputArgumentError for anything but
    a str or an integer.
    """
    if isinstance(name, (str, int)):
        return name
    number = integer(name)
    if number is None:
        raise InputArgumentError(
            "the name of a field has the wrong type",
            expected="a str or an int",
            found=typed(name),
            remedy="For a path, use get_item_in_path" if isinstance(name, (list, tuple)) else None,
        )
    return number


def flat_name(path: Sequence[Name]) -> str:
    return ".".join(name if isinstance(name, str) else f"[{name}]" for name in path)


def empty_path() -> InputArgumentError:
    return InputArgumentError("the path is empty", expected="the path of a field in this group")


def _listed(names: Names) -> Sequence[Name]:
    if names is None:
        return ()
    return (names,) if isinstance(names, (str, int)) else names
