"""Gives torchvision's random transforms the random numbers that fuelrail draws."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch

from reference import Random


class _Uniform:
    def __init__(self, number: float) -> None:
        self._number = number

    def uniform_(self, low: float, high: float) -> torch.Tensor:
        return torch.tensor([low + (high - low) * self._number], dtype=torch.float64)


class _Draws:
    """Replaces torch's functions. transform/plan.h lists the draws."""

    def __init__(
        self, random: Random, operation: int, misfits: Callable[[float, float], bool]
    ) -> None:
        self._random, self._operation, self._misfits = random, operation, misfits
        self._draw = 0
        self._is_size = False

    def _number(self) -> float:
        self._draw += 1
        return self._random.uniform(self._operation, self._draw - 1)

    def randint(self, low: int, high: int, size: tuple[int, ...]) -> torch.Tensor:
        self._draw += 1
        below = self._random.below(self._operation, self._draw - 1, high - low)
        return torch.full(size, low + below)

    def empty(self, _: int) -> _Uniform:
        """RandomResizedCrop: the area or the ratio of a try."""
        if self._draw % 4 == 2:  # the try before needed no place
            self._draw += 2
        return _Uniform(self._number())

    def rand(self, count: int) -> torch.Tensor:
        """RandomIoUCrop: the size or the place of a try."""
        numbers = [self._number() for _ in range(count)]
        self._is_size = not self._is_size
        if self._is_size and self._misfits(*numbers):
            self._draw += 2
            self._is_size = False
        return torch.tensor(numbers, dtype=torch.float64)


@contextlib.contextmanager
def drawing(
    random: Random, operation: int = 0, misfits: Callable[[float, float], bool] = lambda *_: False
) -> Iterator[None]:
    """While the context lasts, a RandomResizedCrop or a RandomIoUCrop of torchvision's draws the
    numbers of one transform of one image.

    misfits: whether a RandomIoUCrop refuses the ratio of a size, which it then does not place.
    """
    draws: Any = _Draws(random, operation, misfits)
    with mock.patch.multiple(torch, rand=draws.rand, randint=draws.randint, empty=draws.empty):
        yield
