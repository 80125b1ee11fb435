"""Checks the state that a user passes to `load_state_dict` of a loader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.options import integer, shown, typed


def plain_state(state: object, like: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a dict of the members of `state` that are also in `like`. Their values are converted
    to str or int.

    like: a valid state. A member of `state` must have the same type as the member in `like`.

    NumPy integers and integer tensors are also accepted, because some frameworks convert
    integers when they save a state. Errors: ArgumentTypeError for a wrong type;
    InvalidArgumentError for an integer of more than 64 bits.
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
        value = str.__str__(value) if isinstance(value, str) else integer(value)
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
