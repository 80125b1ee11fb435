"""Selects the fields of a pipeline's output that are copied before DALI returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, warn_user
from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["Name", "Path", "PathOrName", "check_is_list", "fields_to_copy"]

Name: TypeAlias = str | int
Path: TypeAlias = tuple[Name, ...]
PathOrName: TypeAlias = Name | Sequence[Name]


def fields_to_copy(
    output: SampleDataGroup,
    names: Sequence[Name] | None = None,
    scope_paths: Sequence[PathOrName] | None = None,
    branch_paths: Sequence[PathOrName] | None = None,
) -> list[Path]:
    """Returns the paths of the selected data fields, in flat order.

    names: the fields and groups with one of these names. A group selects all fields in it.
    scope_paths: groups. Only fields inside one of them can be selected by name. Default: all.
    branch_paths: fields, and groups of which all fields are selected.

    Without names and branch paths, all fields are selected; with empty lists, none.

    Errors: InvalidArgumentError if a path does not exist, a scope is not a group, or scopes are
        given without names.
    """
    if scope_paths and not names:
        raise InvalidArgumentError(
            "passthrough_copy_field_names_scope_paths needs non-empty passthrough_copy_field_names"
        )
    leaves = _leaves(output, ())
    if names is None and branch_paths is None:
        return leaves
    branches = [_existing(output, path) for path in branch_paths or ()]
    scopes = [()] if scope_paths is None else [_group(output, path) for path in scope_paths]
    for name in names or ():
        if not output.find_all_occurrences(name):
            warn_user(f"no field is copied for the name {name!r}, because no field has this name")

    def selected(leaf: Path) -> bool:
        return any(leaf[: len(branch)] == branch for branch in branches) or any(
            leaf[: len(scope)] == scope and not set(names or ()).isdisjoint(leaf[len(scope) :])
            for scope in scopes
        )

    return [leaf for leaf in leaves if selected(leaf)]


def check_is_list(value: Sequence[PathOrName] | None, argument: str) -> None:
    """Checks that an argument is a list, because the letters of a string would be taken as names.

    Errors: ArgumentTypeError.
    """
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, type(None))):
        raise ArgumentTypeError(
            f"{argument} has the wrong type", expected="a list", found=type(value).__name__
        )


def _leaves(group: SampleDataGroup, prefix: Path) -> list[Path]:
    found: list[Path] = []
    for name in group.contained_top_level_field_names:
        path = (*prefix, name)
        found += _leaves(group[name], path) if group.is_data_group_field(name) else [path]
    return found


def _existing(output: SampleDataGroup, given: PathOrName) -> Path:
    path: Path = (given,) if isinstance(given, (str, int)) else tuple(given)
    if path and not output.path_exists(path):
        raise InvalidArgumentError(f"the path {path} does not exist in the output")
    return path


def _group(output: SampleDataGroup, given: PathOrName) -> Path:
    path = _existing(output, given)
    if path and not output.path_exists_and_is_data_group_field(path):
        raise InvalidArgumentError(f"the scope path {path} is not that of a data group field")
    return path
