"""Checks the state that is passed to `load_state_dict`. Any framework may have saved it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.options import integer, shown, typed


def plain_state(state: object, like: Mapping[str, Any]) -> dict[str, Any]:
    """Returns those members of `state` whose names are in `like`, as values that JSON can hold.

    Checks the types of the values; the core checks the values. Accepts integers of NumPy and
    integer tensors, because some frameworks convert integers when they save a state. Errors:
    ArgumentTypeError, InvalidArgumentError.
    """
    if not isinstance(state, Mapping):
        raise ArgumentTypeError(
            "the state has the wrong type",
            expected="a dict",
            found=typed(state),
            remedy="Pass the value that state_dict() returned",
        )
    plain: dict[str, Any] = {}
    for name, own in like.items():
        if name not in state:
            continue
        value = state[name]
        value = str(value) if isinstance(value, str) else integer(value)
        if type(value) is not type(own):
            raise ArgumentTypeError(
                f"the state's member '{name}' has the wrong type",
                expected="a string" if isinstance(own, str) else "an integer",
                found=typed(state[name]),
            )
        if isinstance(value, int) and abs(value) >= 2**64:
            raise InvalidArgumentError(
                f"the state's member '{name}' is invalid",
                expected="an integer from 0 to 2**64 - 1",
                found=shown(value),
            )
        plain[name] = value
        if name == "version" and value != own:
            break  # the core refuses this version, so the other members do not matter
    return plain
