"""Which readers an object has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fuelrail.ffrecord.packed_folder import PackedFolder
from fuelrail.ffrecord.reader import FileReader

__all__ = ["ReaderRegistry"]


class ReaderRegistry:
    """Knows the readers among its attributes, in the lists, tuples, sets and dicts among them, and
    those of every ReaderRegistry and PackedFolder there.

    They are looked up when they are asked for: an attribute that was deleted or has another value
    now is not among them.
    """

    def ffreaders(self) -> list[FileReader]:
        """The readers, each once, in the order of the attributes."""
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
    if id(value) in seen:  # it may contain itself
        return
    seen.add(id(value))
    for one in inner:
        yield from _readers(one, seen)
