"""A base class that finds the FileReaders in an object's attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fuelrail.ffrecord.packed_folder import PackedFolder
from fuelrail.ffrecord.reader import FileReader

__all__ = ["ReaderRegistry"]


class ReaderRegistry:
    """A base class that finds the FileReaders in an object's attributes.

    Each call of `ffreaders` searches the attributes of the object itself, the items of lists,
    tuples and sets, the values of dicts, and the attributes of nested ReaderRegistry and
    PackedFolder objects.
    """

    def ffreaders(self) -> list[FileReader]:
        """Returns all FileReaders in this object's attributes, each once, in the order in which the
        attributes were set.
        """
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
