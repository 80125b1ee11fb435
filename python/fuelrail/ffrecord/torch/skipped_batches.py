"""A batch sampler from any step of an epoch on, which knows whether the epoch is the same again."""

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
    """An epoch that cannot be gone on with: its batches come in another order."""


class Order:
    """What the batches of an epoch were so far, to be known again: a CRC-32 behind each of them."""

    def __init__(self, known: bool = True) -> None:
        """known: whether there may be a state, so that it is worth it."""
        self._behind = array.array("I", [0])
        self._known = known

    def add(self, batch: Any) -> None:
        """A batch whose items have no value of their own ends it: nothing is known from then on."""
        if not self._known:
            return
        try:
            text = repr(_plain(batch)).encode()
        except TypeError:
            self._known = False
        else:
            self._behind.append(zlib.crc32(text, self._behind[-1]))

    def behind(self, batches: int) -> int | None:
        """Of so many batches; None where it is not known."""
        return self._behind[batches] if batches < len(self._behind) else None


def _plain(item: Any) -> Any:
    """What a batch sampler gives, as what is written the same whenever it is the same."""
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
    """A batch sampler without its first `step` batches. They are drawn all the same, so that
    random numbers go on as in a whole epoch.

    The batch sampler is asked for an iterator only when the first batch is wanted, once an epoch,
    whether it draws random numbers then or at its first batch. (Torch begins to iterate before it
    draws the workers' seed, and a second time where it starts workers.)
    """

    def __init__(self, batch_sampler: Any) -> None:
        self.batch_sampler = batch_sampler
        self.step = 0
        self.order = Order()  # of the epoch that is drawn
        self.expected: int | None = None
        """What the order behind the skipped batches must be."""
        self.rewound: dict[torch.Generator, torch.Tensor] = {}
        """The generators' states with which the next epoch is drawn, whatever else draws before its
        first batch.
        """

    def __iter__(self) -> Iterator[Any]:
        set_states(self.rewound)
        self.rewound = {}
        order = self.order = Order(_has_length(self.batch_sampler))  # else it may have no end
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
            "the batches of the epoch are not those that the state was saved among",
            found="another order of the first batches",
            remedy="Draw a sampler's random numbers from torch's, or from a torch.Generator that "
            "is its `generator`; otherwise begin with whole epochs",
        )

    def __len__(self) -> int:
        return len(self.batch_sampler) - self.step

    def __getattr__(self, name: str) -> Any:
        if name == "batch_sampler":  # before __init__, as `copy` asks
            raise AttributeError(name)
        return getattr(self.batch_sampler, name)


def _has_length(sampler: Any) -> bool:
    try:
        return len(sampler) >= 0
    except TypeError:
        return False


def set_states(states: dict[torch.Generator, torch.Tensor]) -> None:
    """Each generator has its state again."""
    for generator, state in states.items():
        generator.set_state(state)
