"""A batch sampler that starts at any step, and checks that a resumed epoch has the same order."""

from __future__ import annotations

import array
import itertools
import operator
import zlib
from collections.abc import Iterator
from typing import Any

import torch

from fuelrail.errors import StateError

__all__ = ["OrderError", "SkippedBatches", "set_states"]


class OrderError(StateError):
    """The epoch cannot be resumed, because the order of its batches has changed."""


class Order:
    """Records the order of an epoch's batches. After each batch, it keeps the CRC-32 of all batches
    so far.
    """

    def __init__(self, known: bool = True) -> None:
        """known: False = record nothing, for a sampler whose state cannot be saved."""
        self._behind = array.array("I", [0])
        self._known = known

    def add(self, batch: Any) -> None:
        """Adds a batch. If its items cannot be compared by value, recording ends."""
        if not self._known:
            return
        try:
            text = repr(_plain(batch)).encode()
        except TypeError:
            self._known = False
        else:
            self._behind.append(zlib.crc32(text, self._behind[-1]))

    def behind(self, batches: int) -> int | None:
        """Returns the CRC-32 of the first `batches` batches, or None if it is unknown."""
        return self._behind[batches] if batches < len(self._behind) else None


def _plain(item: Any) -> Any:
    """Converts an item of a batch sampler to plain values, so that equal items have equal text."""
    if type(item) is int or item is None or isinstance(item, (str, bytes, float)):
        return item
    if hasattr(item, "tolist"):
        return _plain(item.tolist())
    if isinstance(item, dict):
        return [_plain(one) for one in item.items()]
    if isinstance(item, (list, tuple)):
        return [_plain(one) for one in item]
    return operator.index(item)


class SkippedBatches:
    """Skips the first `step` batches of a batch sampler. The skipped batches are still drawn, so
    that random numbers continue as in a complete epoch.

    The batch sampler's iterator is created once per epoch, when the first batch is requested. So it
    does not matter whether the sampler draws random numbers in `__iter__` or for its first batch.
    (Torch calls `iter` before it draws the workers' seed, and again if it starts workers.)
    """

    def __init__(self, batch_sampler: Any) -> None:
        self.batch_sampler = batch_sampler
        self.step = 0
        self.order = Order()  # of the current epoch
        self.expected: int | None = None
        """The CRC-32 that the skipped batches must have. None = do not check them."""
        self.rewound: dict[torch.Generator, torch.Tensor] = {}
        """The state that each generator gets just before the next epoch's first batch is drawn."""

    def __iter__(self) -> Iterator[Any]:
        set_states(self.rewound)
        self.rewound = {}
        # An endless sampler has no length.
        order = self.order = Order(_has_length(self.batch_sampler))
        batches = iter(self.batch_sampler)
        for batch in itertools.islice(batches, self.step):
            order.add(batch)
        self._check(order)
        for batch in batches:
            order.add(batch)
            yield batch

    def _check(self, order: Order) -> None:
        expected, self.expected = self.expected, None
        if expected is None or order.behind(self.step) == expected:
            return
        raise OrderError(
            "the order of the batches has changed since the state was saved",
            found="different batches before the saved step",
            remedy="Let the sampler draw from torch's global generator or from a torch.Generator "
            "in its `generator` attribute, or start at the beginning of an epoch",
        )

    def __len__(self) -> int:
        return len(self.batch_sampler) - self.step

    def __getattr__(self, name: str) -> Any:
        if name == "batch_sampler":  # `copy` reads attributes before __init__ sets them
            raise AttributeError(name)
        return getattr(self.batch_sampler, name)


def _has_length(sampler: Any) -> bool:
    try:
        return len(sampler) >= 0
    except TypeError:
        return False


def set_states(states: dict[torch.Generator, torch.Tensor]) -> None:
    """Restores the state of each generator."""
    for generator, state in states.items():
        generator.set_state(state)
