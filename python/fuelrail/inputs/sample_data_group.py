"""A sample, or the description of one: a tree of named fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuelrail.errors import InvalidArgumentError, OutOfRangeError
from fuelrail.inputs import field_values
from fuelrail.inputs.data_type import DataType, NamedType, data_type
from fuelrail.inputs.errors import FieldError, InputArgumentError
from fuelrail.inputs.field_tree import (
    FieldTree,
    Name,
    Path,
    checked_name,
    empty_path,
    flat_name,
    names_of,
)
from fuelrail.options import typed, whole

__all__ = ["SampleDataGroup"]


class SampleDataGroup(FieldTree):
    """An ordered tree of fields. A data field (a leaf) has a DataType and a value; a data group
    field is another SampleDataGroup. Without values, the group is a blueprint: the format alone.

    >>> from fuelrail.inputs import DataType, SampleDataGroup
    >>> sample = SampleDataGroup()
    >>> sample.add_data_field("boxes", DataType.FLOAT)
    >>> sample.add_data_field("scene", DataType.STRING)
    >>> sample["boxes"] = [[0, 0, 10, 20]]
    >>> sample["scene"] = "crossing"

    Names are str or int. A group whose names are 0, 1, ... is an array. A path is a name, or a list
    or tuple of names. An assigned value takes these steps:
    - A group must match the field's format (`type_matches`), and is stored by reference.
    - Text for a STRING field is stored as UTF-8 in a uint8 array, and read back as a str.
    - If the field has a mapping, text is replaced by numbers (`add_data_field`).
    - Numbers, lists, tuples and arrays become a new NumPy array of the field's dtype; other
      objects, such as tensors, are stored as they are. Floats are rounded to the dtype's precision;
      any other change of a number is an error.
    - In a DALI graph, a node is stored as it is, with a check of its dtype when the graph runs.

    Errors: FieldError, a KeyError, for a field that does not exist; InputArgumentError, an
    AssertionError, for a path or a name of the wrong type; InvalidArgumentError, a ValueError, for
    a value that the field cannot store.
    """

    def __init__(self) -> None:
        super().__init__()
        self._do_apply_mapping = True
        self._do_convert = True
        self._do_check_type = True

    # --- The format ---

    def add_data_field(
        self, name: Name, type: NamedType, mapping: Mapping[Any, Any] | None = None
    ) -> None:
        """Adds a data field as the last child.

        type: a member of DataType, or of DALI's DALIDataType.
        mapping: the number for each text, such as {"car": 0, "bus": 1, None: -1}. The key None is
            for all other text. Numbers may be assigned, too. Default: text is not mapped.

        Errors: FieldError if the name exists; InputArgumentError for a type that is not a DataType,
        a mapping that is not a dict, or a mapping for STRING.
        """
        kind = data_type(type)
        if kind is DataType.STRING and mapping is not None:
            raise InputArgumentError(
                f"'{name}' is a STRING field, which cannot have a mapping",
                remedy="Declare the type of the mapping's numbers",
            )
        if mapping is not None and not isinstance(mapping, Mapping):
            raise InputArgumentError(
                f"the mapping of '{name}' has the wrong type",
                expected="a dict from texts to numbers",
                found=typed(mapping),
            )
        self._add(name, kind, None)
        if mapping is not None:
            self._mappings[name] = dict(mapping)

    def add_data_group_field(
        self, name: Name, blueprint_sample_data_group: SampleDataGroup
    ) -> None:
        """Adds a group as the last child: an empty copy of the blueprint, with the flags of this
        group. Errors: FieldError if the name exists; InputArgumentError for anything but a group.
        """
        self._add(name, SampleDataGroup, self._child_like(blueprint_sample_data_group))

    def add_data_field_array(
        self,
        name: Name,
        type: NamedType,
        num_fields: int,
        mapping: Mapping[Any, Any] | None = None,
    ) -> None:
        """Adds a group of `num_fields` data fields named 0, 1, ... Errors: as `add_data_field`."""
        self.add_data_group_field(name, self.create_data_field_array(type, num_fields, mapping))

    def add_data_group_field_array(
        self, name: Name, blueprint_sample_data_group: SampleDataGroup, num_fields: int
    ) -> None:
        """Adds a group of `num_fields` empty copies of the blueprint, named 0, 1, ... Errors: as
        `add_data_group_field`.
        """
        array = self.create_data_group_field_array(blueprint_sample_data_group, num_fields)
        self.add_data_group_field(name, array)

    @staticmethod
    def create_data_field_array(
        type: NamedType, num_fields: int, mapping: Mapping[Any, Any] | None = None
    ) -> SampleDataGroup:
        """Returns a group of `num_fields` data fields named 0, 1, ..."""
        array = SampleDataGroup()
        for index in range(whole("num_fields", num_fields)):
            array.add_data_field(index, type, mapping)
        return array

    @staticmethod
    def create_data_group_field_array(
        sample_data_group: SampleDataGroup, num_fields: int
    ) -> SampleDataGroup:
        """Returns a group of `num_fields` empty copies of the group, named 0, 1, ..."""
        array = SampleDataGroup()
        for index in range(whole("num_fields", num_fields)):
            array.add_data_group_field(index, sample_data_group)
        return array

    def remove_field(self, name: Name) -> None:
        """Removes a child. Errors: FieldError if it does not exist."""
        self._existing(name, f"Cannot delete field '{name}' as it is not present")
        del self._types[name], self._values[name]
        self._mappings.pop(name, None)

    def remove_all_occurrences(self, name_to_remove: Name) -> None:
        """Removes all fields of this name, in this group and below."""
        if name_to_remove in self:
            self.remove_field(name_to_remove)
        for group in self._groups():
            group.remove_all_occurrences(name_to_remove)

    def change_type_of_data_and_remove_data(
        self,
        path: Path,
        new_type: NamedType | SampleDataGroup,
        new_mapping: Mapping[Any, Any] | None = None,
    ) -> None:
        """Gives a field a new type, or a group field a new format. Its place stays, its value and
        its old mapping go.

        new_type: a DataType or DALIDataType, or the blueprint of a group.

        Errors: FieldError for a missing field; InputArgumentError if a data field is to become a
        group or the reverse, or a mapping is given for a group or for STRING.
        """
        parent = self.get_parent_of_path(path)
        name = names_of(path)[-1]
        if isinstance(new_type, SampleDataGroup) is not parent.is_data_group_field(name):
            raise InputArgumentError(
                f"'{name}' would change between a data field and a group",
                remedy="Remove the field, and add a new one",
            )
        if isinstance(new_type, SampleDataGroup):
            if new_mapping is not None:
                raise InputArgumentError(f"'{name}' is a group, which cannot have a mapping")
            parent._values[name] = parent._child_like(new_type)
            return
        probe = SampleDataGroup()
        probe.add_data_field(name, new_type, new_mapping)
        parent._types[name] = probe._types[name]
        parent._values[name] = None
        parent._mappings.pop(name, None)
        parent._mappings.update(probe._mappings)

    def _add(self, name: Name, kind: DataType | type[SampleDataGroup], value: Any) -> None:
        name = checked_name(name)
        if name in self:
            raise FieldError(f"the group has a field '{name}' already")
        self._types[name] = kind
        self._values[name] = value

    def _child_like(self, blueprint: SampleDataGroup) -> SampleDataGroup:
        if not isinstance(blueprint, SampleDataGroup):
            raise InputArgumentError(
                "the blueprint has the wrong type",
                expected="a SampleDataGroup",
                found=typed(blueprint),
            )
        child = blueprint.get_empty_like_self()
        child.set_apply_mapping(self._do_apply_mapping)
        child.set_do_convert(self._do_convert)
        child.set_do_check_type(self._do_check_type)
        return child

    # --- Flags ---

    def set_apply_mapping(self, apply: bool) -> None:
        """Sets whether mappings apply, in this group and below. Default of a group: True."""
        self._do_apply_mapping = bool(apply)
        for group in self._groups():
            group.set_apply_mapping(apply)

    def set_do_convert(self, convert: bool) -> None:
        """Sets whether values are converted, in this group and below. Default of a group: True."""
        self._do_convert = bool(convert)
        for group in self._groups():
            group.set_do_convert(convert)

    def set_do_check_type(self, check_type: bool) -> None:
        """Sets whether a DALI graph checks the dtypes of nodes that are assigned, in this group and
        below. The checks cost time in every batch. Default of a group: True.
        """
        self._do_check_type = bool(check_type)
        for group in self._groups():
            group.set_do_check_type(check_type)

    # --- Values ---

    def values(self) -> list[Any]:
        """Returns the values of the children, as `group[name]` gives them."""
        return [self[name] for name in self]

    def items(self) -> list[tuple[Name, Any]]:
        """Returns the names and values of the children."""
        return [(name, self[name]) for name in self]

    def __getitem__(self, name: Name) -> Any:
        value = self._raw(name)
        if isinstance(value, field_values.Lent):
            value = value.copied()
        if self._types[name] is DataType.STRING and not _is_node(value):
            return field_values.decoded(value, name)
        return value

    def __setitem__(self, name: Name, value: Any) -> None:
        self._raw(name)
        kind = self._types[name]
        if not isinstance(kind, DataType):
            self._check_group(name, value)
        elif _is_node(value):
            value = self._checked_node(name, kind, value)
        elif kind is DataType.STRING:
            value = field_values.encoded(value, name)
        else:
            if self._do_apply_mapping and name in self._mappings:
                value = field_values.mapped(value, self._mappings[name], name)
            if self._do_convert:
                value = field_values.converted(value, kind, name)
        self._values[name] = value

    def get_item_in_path(self, path: Path) -> Any:
        """Returns the value at a path: this group for an empty path. Errors: FieldError if the path
        does not exist.
        """
        names = names_of(path)
        return self if not names else self._group_at(names[:-1])[names[-1]]

    def set_item_in_path(self, path: Path, value: Any) -> None:
        """Assigns a value at a path. Errors: as an assignment; InputArgumentError if empty."""
        names = names_of(path)
        if not names:
            raise empty_path()
        self._group_at(names[:-1])[names[-1]] = value

    def get_type_of_item_in_path(self, path: Sequence[Name]) -> DataType | type[SampleDataGroup]:
        """Returns the DataType of the field at a path, or the class SampleDataGroup for a group and
        for an empty path. Errors: FieldError if the path does not exist; InputArgumentError for
        anything but a list or tuple.
        """
        if not isinstance(path, (list, tuple)):
            raise InputArgumentError(
                "a path has the wrong type", expected="a list or tuple of names", found=typed(path)
            )
        names = names_of(path)
        return self._group_at(names[:-1]).get_type_of_field(names[-1]) if names else SampleDataGroup

    def get_data(self, as_list_type: bool = False) -> Any:
        """Returns the values of all data fields below, depth-first, in the order of
        `field_names_flat`, as a tuple, or as a list.

        Text is returned as uint8 arrays. NumPy arrays are in native byte order, and scalars are
        returned as arrays. Values that are not set are None.
        """
        values: list[Any] = []
        self._collect(values)
        return values if as_list_type else tuple(values)

    def set_data(self, data: Sequence[Any]) -> SampleDataGroup:
        """Sets the values of all data fields, in the order of `get_data`, as they are: without
        mapping, conversion or check. Returns this group.

        Errors: OutOfRangeError, an IndexError, for too few values; InvalidArgumentError for too
        many.
        """
        values = list(data)
        if len(values) != sum(1 for _ in self._leaves()):
            names = self.field_names_flat
            kind = OutOfRangeError if len(values) < len(names) else InvalidArgumentError
            raise kind(
                "the number of values differs from the number of data fields",
                expected=f"{len(names)}: {', '.join(names)}",
                found=str(len(values)),
            )
        self._distribute(iter(values))
        return self

    def set_data_from_dali_generic_iterator_output(
        self, data: Sequence[Mapping[str, Any]], index: int
    ) -> None:
        """Sets the values from the output of an iterator of DALI, as `set_data` does.

        data: a dict for each pipeline, with the names of `field_names_flat` as keys.
        index: which of the dicts.

        Errors: FieldError if a name is missing.
        """
        chosen, names = data[index], self.field_names_flat
        for name in names:
            if name not in chosen:
                raise FieldError(
                    f"the output has no field '{name}'", found=f"only {', '.join(chosen)}"
                )
        self.set_data([chosen[name] for name in names])

    def ensure_uniform_size_in_batch(self, fill_value: float) -> None:
        """In a DALI graph, pads all fields below at their ends, so that the samples of a batch have
        one shape: STRING fields with NULs, which reading them removes, and others with a value.
        Errors: when the graph runs, RuntimeError for scalars.
        """
        self._pad(fill_value, only_strings=False)

    def ensure_uniform_size_in_batch_for_all_strings(self) -> None:
        """In a DALI graph, pads all STRING fields below with NULs, which reading them removes."""
        self._pad(0, only_strings=True)

    def _raw(self, name: Name) -> Any:
        return self._values[self._existing(name, f"No field with name '{name}'")]

    def _check_group(self, name: Name, value: Any) -> None:
        if not isinstance(value, SampleDataGroup):
            raise FieldError(
                f"'{name}' is a data group field", expected="a SampleDataGroup", found=typed(value)
            )
        own = self._values[name]
        if not own.type_matches(value):
            index = own.get_flat_index_first_discrepancy_to_other(value)
            raise FieldError(
                f"the types of the group '{name}' do not match",
                expected=_field_at(own, index),
                found=_field_at(value, index),
                remedy="Use change_type_of_data_and_remove_data first",
            )

    def _checked_node(self, name: Name, kind: DataType, node: Any) -> Any:
        if not self._do_check_type:
            return node
        from fuelrail.inputs import in_graph

        return in_graph.check_type(node, kind.dtype, name)

    def _pad(self, fill_value: float, only_strings: bool) -> None:
        from fuelrail.inputs import in_graph

        for name, kind in self._types.items():
            if not isinstance(kind, DataType):
                self._values[name]._pad(fill_value, only_strings)
            elif kind is DataType.STRING:
                self._values[name] = in_graph.pad(self._values[name], 0)
            elif not only_strings:
                self._values[name] = in_graph.pad(self._values[name], fill_value)

    def _collect(self, values: list[Any]) -> None:
        for name, kind in self._types.items():
            value = self._values[name]
            if isinstance(kind, DataType):
                values.append(field_values.exported(value, kind, name))
            else:
                value._collect(values)

    def _distribute(self, values: Iterator[Any]) -> None:
        for name, kind in self._types.items():
            if isinstance(kind, DataType):
                self._values[name] = next(values)
            else:
                self._values[name]._distribute(values)

    # --- Copies ---

    def get_empty_like_self(self) -> SampleDataGroup:
        """Returns a new group with the same format, mappings and flags, without values."""
        return self._copy(keep=False)

    def get_copy(self) -> SampleDataGroup:
        """Returns a new group with the same values. The values themselves are not copied."""
        return self._copy(keep=True)

    def to_dictionary(self, *, read_only: bool = False) -> dict[Name, Any]:
        """Returns the tree as nested dicts, with the names of the fields as keys.

        read_only: an array that was assigned from memory that cannot change, such as a file that is
            mapped for reading, is returned without a copy. Default: False.
        """
        values: dict[Name, Any] = {}
        for name, value in self._values.items():
            if isinstance(value, SampleDataGroup):
                values[name] = value.to_dictionary(read_only=read_only)
            elif read_only and isinstance(value, field_values.Lent):
                values[name] = value.array
            else:
                values[name] = self[name]
        return values

    def _copy(self, keep: bool) -> SampleDataGroup:
        copy = SampleDataGroup()
        copy._types = dict(self._types)
        copy._mappings = {name: dict(mapping) for name, mapping in self._mappings.items()}
        copy._do_apply_mapping = self._do_apply_mapping
        copy._do_convert = self._do_convert
        copy._do_check_type = self._do_check_type
        for name, kind in self._types.items():
            value = self._values[name]
            if not isinstance(kind, DataType):
                value = value._copy(keep)
            copy._values[name] = value if keep or not isinstance(kind, DataType) else None
        return copy

    @staticmethod
    def get_numpy_type_for_dali_type(dali_type: NamedType) -> type:
        """Returns the NumPy type of a DataType's elements; for BOOL, Python's bool. Errors:
        InvalidArgumentError, a ValueError, for STRING and for anything but a DataType.
        """
        try:
            kind = data_type(dali_type)
        except InputArgumentError:
            kind = DataType.STRING
        if kind is DataType.STRING:
            raise InvalidArgumentError(
                f"{typed(dali_type)} does not have a corresponding numpy type",
                expected="a DataType of numbers",
            )
        return bool if kind is DataType.BOOL else kind.dtype.type


def _is_node(value: object) -> bool:
    """Returns whether the value stands for the output of an operator in a DALI graph."""
    if not type(value).__module__.startswith("nvidia.dali"):
        return False
    from fuelrail.inputs import in_graph

    return bool(in_graph.is_data_node(value))


def _field_at(group: SampleDataGroup, index: int) -> str:
    leaves = list(group._leaves())
    if index < 0:
        return f"the fields {', '.join(map(str, group))}"
    if index >= len(leaves):
        return "no more fields"
    return f"'{flat_name(leaves[index][0])}' of {leaves[index][1].name}"
