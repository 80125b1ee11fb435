"""A batch sampler that starts at any step, and checks that the epoch's order is the same again."""

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
    """The epoch cannot be resumed: its batches come in another order."""


class Order:
    """Identifies the batches of an epoch so far, by a CRC-32 after each batch."""

    def __init__(self, known: bool = True) -> None:
        """known: False records nothing, for a sampler whose state cannot be saved."""
        self._behind = array.array("I", [0])
        self._known = known

    def add(self, batch: Any) -> None:
        """Adds a batch. If its items cannot be compared by value, recording stops for good."""
        if not self._known:
            return
        try:
            text = repr(_plain(batch)).encode()
        except TypeError:
            self._known = False
        else:
            self._behind.append(zlib.crc32(text, self._behind[-1]))

    def behind(self, batches: int) -> int | None:
        """Returns the CRC-32 after this number of batches; None if it is unknown."""
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
    """A batch sampler without its first `step` batches. These are still drawn, so that random
    numbers continue as in a complete epoch.

    The batch sampler's iterator is created when the first batch is requested, once per epoch. So it
    does not matter whether the sampler draws random numbers in `__iter__` or at its first batch.
    (Torch calls `iter` before it draws the workers' seed, and again if it starts workers.)
    """

    def __init__(self, batch_sampler: Any) -> None:
        self.batch_sampler = batch_sampler
        self.step = 0
        self.order = Order()  # of the current epoch
        self.expected: int | None = None
        """The CRC-32 that the order must have after the skipped batches."""
        self.rewound: dict[torch.Generator, torch.Tensor] = {}
        """The states to which the generators are reset before the first batch of the next epoch,
        whatever was drawn from them before.
        """

    def __iter__(self) -> Iterator[Any]:
        set_states(self.rewound)
        self.rewound = {}
        order = self.order = Order(_has_length(self.batch_sampler))  # endless samplers have none
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
            "the epoch's batches are in another order than when the state was saved",
            found="other batches before the step to resume",
            remedy="Let the sampler draw from torch's global generator, or from a torch.Generator "
            "in its `generator` attribute; otherwise start with a complete epoch",
        )

    def __len__(self) -> int:
        return len(self.batch_sampler) - self.step

    def __getattr__(self, name: str) -> Any:
        if name == "batch_sampler":  # `copy` asks before __init__
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
