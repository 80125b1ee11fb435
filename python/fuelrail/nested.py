"""Nested dicts and lists of values whose names are paths, such as "cameras.0.image"."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

__all__ = ["Nesting", "groups_around", "path_of"]


class Nesting:
    """Builds nested dicts from values. If all keys of a dict are numbers, it becomes a list, with
    None in place of the numbers that are missing.
    """

    def __init__(self, paths: Iterable[Sequence[str]]) -> None:
        """paths: the keys of each value, from the outermost dict to the innermost."""
        tree: dict[str, Any] = {}
        for place, path in enumerate(paths):
            group = tree
            for key in path[:-1]:
                group = group.setdefault(key, {})
            group[path[-1]] = place
        self._tree = _with_lists(tree)

    def __call__(self, values: Sequence[Any]) -> Any:
        """Returns the values, which are in the order of the paths, in nested dicts and lists."""
        return _filled(self._tree, values)


def groups_around(name: str) -> Iterator[str]:
    """Yields the paths of the groups around a field, the nearest first, and at last ""."""
    while name:
        name = name.rpartition(".")[0]
        yield name


def path_of(column: str, fields: Container[str]) -> tuple[str, ...]:
    """Returns the keys of a column in a nested batch. The name of a column is that of a field, or
    that of a field and a suffix, which becomes a part of the last key that is not a number.

    >>> path_of("cameras.0.boxes.offsets", ["cameras.0.image", "cameras.0.boxes"])
    ('cameras', '0', 'boxes.offsets')
    """
    for field in (column, *groups_around(column)):
        if field in fields:
            path = field.split(".")
            named = [place for place, key in enumerate(path) if not key.isdecimal()]
            path[named[-1] if named else -1] += column[len(field) :]
            return tuple(path)
    return (column,)  # one of the loader's own columns


def _with_lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    groups = {key: _with_lists(value) for key, value in tree.items()}
    if not all(key.isdecimal() for key in groups):
        return groups
    numbered = {int(key): value for key, value in groups.items()}
    return [numbered.get(number) for number in range(max(numbered) + 1)]


def _filled(tree: Any, values: Sequence[Any]) -> Any:
    if isinstance(tree, dict):
        return {key: _filled(value, values) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_filled(value, values) for value in tree]
    return None if tree is None else values[tree]
