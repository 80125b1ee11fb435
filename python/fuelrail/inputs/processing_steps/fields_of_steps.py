"""What the steps share: finding their fields, and computing nodes of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from fuelrail.inputs.dali import dali
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import FieldError, InputArgumentError
from fuelrail.inputs.field_tree import Name, Path
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import listed, nearest, real, shown, typed

Names = Name | Sequence[Name] | None
Paths = tuple[tuple[Name, ...], ...]


def names_in(argument: str, names: Names) -> tuple[Name, ...]:
    """Returns the names: none for None. Errors: InputArgumentError for anything but a str, an int,
    None, or a list or tuple of str and int.
    """
    if names is None:
        return ()
    listed = (names,) if isinstance(names, (str, int)) else names
    if isinstance(listed, (list, tuple)):
        wrong = [name for name in listed if not isinstance(name, (str, int))]
        if not wrong:
            return tuple(listed)
        listed = wrong[0]
    raise InputArgumentError(
        f"`{argument}` has the wrong type",
        expected="a str, an int, or a list of them",
        found=typed(listed),
    )


def reals(argument: str, values: object, count: int | None = None) -> list[float]:
    """Returns the numbers of a list, tuple or array. Errors: InputArgumentError for anything else,
    and for another number of them.
    """
    numbers = listed(values)
    if not isinstance(numbers, (list, tuple)) or count not in (None, len(numbers)):
        raise InputArgumentError(
            f"`{argument}` is invalid",
            expected=f"{'a list of' if count is None else count} numbers",
            found=shown(values),
        )
    return [real(argument, number) for number in numbers]


def occurrences(fields: SampleDataGroup, name: Name, failure: str) -> Paths:
    """Returns the paths of all fields of this name. Errors: FieldError with the text if none."""
    paths = fields.find_all_occurrences(name)
    if not paths:
        raise missing(fields, name, failure)
    return paths


def missing(fields: SampleDataGroup, name: Name, failure: str) -> FieldError:
    known = sorted({str(part) for path in _all_paths(fields) for part in path})
    remedy = nearest(str(name), known) if known else "The sample has no fields"
    return FieldError(failure, remedy=remedy)


def groups_named(fields: SampleDataGroup, name: Name) -> list[SampleDataGroup]:
    """Returns the groups with this name. Errors: FieldError if no group has it."""
    text = f"No occurrences of annotations found with the name '{name}'"
    return [fields.get_item_in_path(path) for path in occurrences(fields, name, text)]


def kind_in_annotation(group: SampleDataGroup, child: Name, name: Name) -> DataType:
    """Returns the type of a field of an annotation. Errors: FieldError if there is no such field, or
    if it is a group.

    name: the annotation's, for the error.
    """
    if child not in group:
        raise missing(group, child, f"No field '{child}' in the annotation '{name}'")
    return kind_of(group, child)


def add_field(group: SampleDataGroup, name: Name, kind: DataType, step: object) -> None:
    """Adds the field of a step's result. Errors: FieldError if there is such a field already."""
    if name in group:
        raise FieldError(
            f"{type(step).__name__} adds the field '{name}', which exists already",
            remedy="Choose another name, or remove the field first",
        )
    group.add_data_field(name, kind)


def kind_of(fields: SampleDataGroup, path: Path) -> DataType:
    """Returns the type of the data field at a path. Errors: FieldError if it is a group."""
    parent = fields.get_parent_of_path(path)
    name = path if isinstance(path, (str, int)) else path[-1]
    kind = parent.get_type_of_field(name)
    if not isinstance(kind, DataType):
        raise FieldError(f"'{name}' is a data group field", expected="a data field")
    return kind


def dali_type(kind: DataType) -> Any:
    """Returns DALI's member for a type."""
    return getattr(dali("types").DALIDataType, kind.name)


def cast(node: Any, kind: DataType) -> Any:
    return dali("fn").cast(node, dtype=dali_type(kind))


def computed(function: Callable[..., Any], *nodes: Any, outputs: int = 1, **constants: Any) -> Any:
    """Returns nodes whose values a function of NumPy arrays computes, sample by sample.

    function: a function of a module, which DALI's conversion of `if` statements does not reach. It
        returns one new array, or a tuple of `outputs` new arrays.
    constants: more arguments of the function.

    Errors: when the pipeline runs, RuntimeError with the text of the function's error; while the
    graph is built, InputArgumentError for nodes in GPU memory.
    """
    for node in nodes:
        if getattr(node, "device", "cpu") != "cpu":
            raise InputArgumentError(
                f"{function.__name__} needs values in CPU memory",
                found="the output of a GPU operator",
            )
    return dali("fn").python_function(
        *nodes, function=partial(_arrays, function, constants), num_outputs=outputs
    )


def _arrays(function: Callable[..., Any], constants: dict[str, Any], *values: Any) -> Any:
    made = function(*values, **constants)
    if isinstance(made, tuple):
        return tuple(map(partial(numpy.asarray, order="C"), made))
    return numpy.asarray(made, order="C")


def check_lengths(count: int, **others: Any) -> None:
    """Checks that arrays, if given, have an element for each box. Errors: ValueError."""
    for name, values in others.items():
        if values is not None and len(values) != count:
            raise ValueError(f"there are {count} boxes, but {len(values)} {name}")


def height_width(image: Any) -> Any:
    """Returns a node with the height and width of an image, HWC or HW with a leading axis."""
    fn, shape = dali("fn"), image.shape()
    return cast(fn.stack(shape[-3], shape[-2]), DataType.INT32)


def check_has_gpu(argument: str) -> None:
    """Checks that the pipeline has a GPU. Errors: InputArgumentError if it has none.

    argument: the argument of the step that asks for it.
    """
    pipeline = dali("pipeline").Pipeline.current()
    if pipeline is not None and pipeline.device_id is None:
        raise InputArgumentError(
            f"`{argument}` is True, but the pipeline has no GPU",
            remedy=f"Pass {argument}=False, or give get_dali_pipeline a device_id",
        )


def _all_paths(fields: SampleDataGroup) -> list[tuple[Name, ...]]:
    paths: list[tuple[Name, ...]] = []
    for name in fields:
        paths.append((name,))
        if fields.is_data_group_field(name):
            paths += [(name, *path) for path in _all_paths(fields[name])]
    return paths
