"""Lets the C++ core draw from a RandomState of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from fuelrail.errors import ArgumentTypeError
from fuelrail.options import typed

T = TypeVar("T")


def drawing(
    rng: np.random.RandomState, draw: Callable[[npt.NDArray[np.uint32], int], tuple[T, int]]
) -> T:
    """Calls `draw` with the key and the position of `rng`. `draw` changes the key in place, and
    returns its result and the new position. Returns this result.

    `rng` continues from the new state, as if its own methods had drawn the numbers. Errors:
    ArgumentTypeError if `rng` is not a RandomState with the generator MT19937, NumPy's default for
    a RandomState.
    """
    state = rng.get_state(legacy=False) if hasattr(rng, "get_state") else {}
    if state.get("bit_generator") != "MT19937":
        raise ArgumentTypeError(
            "`rng` has the wrong type",
            expected="a numpy.random.RandomState with the generator MT19937",
            found=typed(rng),
        )
    words = state["state"]
    result, words["pos"] = draw(words["key"], words["pos"])
    rng.set_state(state)
    return result
