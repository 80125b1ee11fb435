"""Warnings that point at the user's line."""

from __future__ import annotations

import sys
import warnings

from fuelrail.errors import FuelrailWarning

__all__ = ["warn_user"]


def warn_user(text: str) -> None:
    """A FuelrailWarning that points at the innermost line that is not fuelrail's."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and _ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
        level += 1
    warnings.warn(text, FuelrailWarning, stacklevel=level)


def _ours(module: object) -> bool:
    return isinstance(module, str) and f"{module}.".startswith("fuelrail.")
