"""Checks of what a user passes: a wrong name is answered with the nearest right one."""

from __future__ import annotations

import enum
import functools
import inspect
import operator
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=enum.Enum)


def suggests_options(function: Callable[P, R]) -> Callable[P, R]:
    """Makes an unknown keyword an ArgumentTypeError that suggests the nearest option."""
    parameters = inspect.signature(function).parameters
    known = [name for name in parameters if name != "self"]

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in parameters:
                raise ArgumentTypeError(
                    f"there is no option '{name}'", remedy=_core.suggest(name, known)
                )
        return function(*args, **kwargs)

    return checked


def choice(option: str, value: object, kind: type[E]) -> E:
    """The member of `kind` that is called `value`.

    Enumerations and types of other libraries go by their name: `torch.float16`, `numpy.float16`
    and torchvision's `InterpolationMode.BICUBIC` mean what the strings do.
    """
    value = getattr(value, "value", value)
    name = getattr(value, "__name__", str(value)).removeprefix("torch.")
    member = kind.__members__.get(name)
    if member is None:
        wrong_type = value is None or isinstance(value, (int, float, bytes, list, tuple))
        kind_of_error = ArgumentTypeError if wrong_type else InvalidArgumentError
        raise kind_of_error(
            f"`{option}` has no such value",
            found=repr(value),
            remedy=_core.suggest(name, list(kind.__members__)),
        )
    return member


def whole(option: str, value: object, least: int = 0, bits: int = 63) -> int:
    """`value` as an integer in [least, 2**bits)."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(
            f"`{option}` is not an integer", found=f"{value!r} ({type(value).__name__})"
        ) from None
    if not least <= number < 2**bits:
        raise InvalidArgumentError(
            f"`{option}` is out of range",
            expected=f"at least {least}" if number < least else f"below 2**{bits}",
            found=str(number),
        )
    return number


def real(option: str, value: object) -> float:
    """`value` as a float."""
    try:
        if isinstance(value, (str, bytes)):  # which `float` would read
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"`{option}` is not a number", found=f"{value!r} ({type(value).__name__})"
        ) from None
    except OverflowError:
        raise InvalidArgumentError(
            f"`{option}` is out of range", expected="a number that a float holds"
        ) from None


def truth(option: str, value: object) -> bool:
    """`value`, which is True or False."""
    if not isinstance(value, bool):
        raise ArgumentTypeError(
            f"`{option}` is neither True nor False", found=f"{value!r} ({type(value).__name__})"
        )
    return value


def text(option: str, value: object) -> str:
    """`value` as text that the core takes: a str without lone surrogates and NUL characters."""
    if not isinstance(value, str):
        raise ArgumentTypeError(
            f"{option} is not a string", found=f"{value!r} ({type(value).__name__})"
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{option} is not valid Unicode", found=ascii(value)) from None
    if "\0" in value:
        raise InvalidArgumentError(f"{option} has a NUL character", found=ascii(value))
    return value
