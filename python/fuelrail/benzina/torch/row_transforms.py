"""The parameters of a batch: the results of all transforms for each of its samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fuelrail import _core
from fuelrail.benzina.torch import operations as ops
from fuelrail.benzina.torch.numpy_random import drawing

_CONSTANT_CALLS = [
    ops.ConstantColorTransform.__call__,
    ops.ConstantBiasTransform.__call__,
    ops.ConstantNormTransform.__call__,
    ops.ConstantOOBTransform.__call__,
]


@dataclass(frozen=True)
class RowTransforms:
    """The transforms of a loader. For each sample, they are called in this order."""

    warp: Any
    color: Any
    bias: Any
    norm: Any
    oob: Any

    def draw(
        self,
        indices: Sequence[int],
        sizes: Callable[[Sequence[int]], npt.NDArray[np.int64]],
        shape: tuple[int, int],
        rng: np.random.RandomState,
    ) -> npt.NDArray[np.float32]:
        """Returns the parameters of a batch, an array of shape (samples, 19): warp (9), color (1),
        bias (3), norm (3) and the color out of bounds (3).

        indices: the index of each sample. sizes: a function that takes `indices` and returns the
        (width, height) of each image, as an array of shape (samples, 2). It is called if a
        transform may need them. shape: the (height, width) of the results. Transforms get it as
        (width, height).

        If all transforms are built in, the C++ core draws the whole batch. Otherwise, each
        transform is called for each sample. The numbers are the same either way.
        """
        output = (shape[1], shape[0])
        warps, constants = ops.native_warps(self.warp), self._constants()
        if warps is None or constants is None:
            return self._called(indices, sizes(indices), output, rng)
        constant = all(warp.is_constant for warp in warps)
        array = np.ones((len(indices), 2), np.int64) if constant else sizes(indices)
        rows = drawing(
            rng,
            lambda key, at: _core.benzina_draw_rows(warps, constants, array, output, key, at),
        )
        return np.asarray(rows)

    def _constants(self) -> list[float] | None:
        numbers: list[float] = []
        for transform in (self.color, self.bias, self.norm, self.oob):
            if type(transform).__call__ not in _CONSTANT_CALLS:
                return None
            numbers += transform(None, None, None, None)
        return numbers

    def _called(
        self,
        indices: Sequence[int],
        sizes: npt.NDArray[np.int64],
        output: tuple[int, int],
        rng: np.random.RandomState,
    ) -> npt.NDArray[np.float32]:
        counts = ((self.warp, 9), (self.color, 1), (self.bias, 3), (self.norm, 3), (self.oob, 3))
        rows = np.empty((len(indices), 19), np.float32)
        for row, index, (width, height) in zip(rows, indices, sizes, strict=True):
            image = (int(width), int(height))
            row[:] = [
                number
                for transform, count in counts
                for number in ops.numbers_of(transform, count, index, image, output, rng)
            ]
        return rows
