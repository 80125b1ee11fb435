"""A batch sampler that skips the first batches of an epoch and checks a resumed epoch's order."""

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
    """Stores, for each i, the CRC-32 of the indices in the first i batches of an epoch."""

    def __init__(self, known: bool = True) -> None:
        """known: whether the length of the sampler is known. If False, `add` stores nothing."""
        self._behind = array.array("I", [0])
        self._known = known

    def add(self, batch: Any) -> None:
        """Stores the CRC-32 of the epoch's batches up to and including `batch`. If `_plain` cannot
        convert `batch`, nothing is stored for it or for any later batch of the epoch.
        """
        if not self._known:
            return
        try:
            text = repr(_plain(batch)).encode()
        except TypeError:
            self._known = False
        else:
            self._behind.append(zlib.crc32(text, self._behind[-1]))

    def behind(self, batches: int) -> int | None:
        """Returns the CRC-32 of the indices in the first `batches` batches, or None if `add`
        has not stored this CRC-32.
        """
        return self._behind[batches] if batches < len(self._behind) else None


def _plain(item: Any) -> Any:
    """Converts a batch to plain values, so that equal batches have the same `repr`."""
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
    """Skips the first `step` batches of a batch sampler. The batch sampler still draws these
    batches, so that the remaining batches are the same as in a complete epoch.

    torch may call `iter` twice for one epoch. Therefore, `iter` draws no batches; the first call of
    `next` draws the skipped batches.
    """

    def __init__(self, batch_sampler: Any) -> None:
        self.batch_sampler = batch_sampler
        self.step = 0
        self.order = Order()  # of the current epoch
        self.expected: int | None = None
        """The expected CRC-32 for the skipped batches, or None if they are not checked."""
        self.rewound: dict[torch.Generator, torch.Tensor] = {}
        """The state to restore in each generator before the next epoch's first batch is drawn."""

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
            remedy="Make the sampler draw random numbers from torch's global generator, or from "
            "a torch.Generator in the sampler's `generator` attribute. Alternatively, do not "
            "restore the state, and start the epoch at its first batch",
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
    """Sets the state of each random generator."""
    for generator, state in states.items():
        generator.set_state(state)
