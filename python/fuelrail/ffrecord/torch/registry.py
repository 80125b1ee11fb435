"""Finds the readers of an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fuelrail.ffrecord.packed_folder import PackedFolder
from fuelrail.ffrecord.reader import FileReader

__all__ = ["ReaderRegistry"]


class ReaderRegistry:
    """Finds the readers in its attributes: directly, in lists, tuples, sets and dicts, and in
    every ReaderRegistry and PackedFolder there.

    Each call searches the present attributes, so deleted or replaced readers are not found.
    """

    def ffreaders(self) -> list[FileReader]:
        """Returns each reader once, in the order of the attributes."""
        return list(_readers(self, set()))


def _readers(value: Any, seen: set[int]) -> Iterator[FileReader]:
    if isinstance(value, FileReader):
        if id(value) not in seen:
            seen.add(id(value))
            yield value
        return
    if isinstance(value, (ReaderRegistry, PackedFolder)):
        inner: Any = vars(value).values()
    elif isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = value
    else:
        return
    if id(value) in seen:  # a value may contain itself
        return
    seen.add(id(value))
    for one in inner:
        yield from _readers(one, seen)
