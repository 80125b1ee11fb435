"""What `load_state_dict` takes: a state that may have been through any file and any framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.options import integer, shown, typed


def plain_state(state: object, like: Mapping[str, Any]) -> dict[str, Any]:
    """What of a state is of interest, as JSON can say it; the rest the core checks.

    Integers may have become NumPy's, or tensors, in whatever it was saved with.
    """
    if not isinstance(state, Mapping):
        raise ArgumentTypeError(
            "the state is not a dict", found=typed(state), remedy="Pass what state_dict() returned"
        )
    plain: dict[str, Any] = {}
    for name, own in like.items():
        if name not in state:
            continue
        value = state[name]
        value = str(value) if isinstance(value, str) else integer(value)
        if type(value) is not type(own):
            raise ArgumentTypeError(
                f"the state's member '{name}' is wrong",
                expected="a string" if isinstance(own, str) else "an integer",
                found=typed(state[name]),
            )
        if isinstance(value, int) and abs(value) >= 2**64:
            raise InvalidArgumentError(
                f"the state's member '{name}' is wrong",
                expected="an integer from 0 to 2**64 - 1",
                found=shown(value),
            )
        plain[name] = value
        if name == "version" and value != own:
            break  # the core refuses it, whatever the others have become
    return plain
