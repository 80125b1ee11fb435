"""Benzina's API. A program written for Benzina v0.0.5 only needs to change its imports.

>>> import fuelrail.benzina.torch as bz

docs/from_benzina.md is the guide.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

try:
    import numpy  # noqa: F401  tables and targets are NumPy arrays
except ImportError as absent:
    raise ImportError(
        "fuelrail.benzina returns tables and targets as NumPy arrays, but NumPy is not installed. "
        "Install it with `pip install numpy`."
    ) from absent

from fuelrail.benzina import utils as utils

if TYPE_CHECKING:
    from fuelrail.benzina import torch as torch

__all__ = ["utils"]  # not `torch`, because `import *` must not replace the user's own `torch`


if not TYPE_CHECKING:  # so that type checkers still report unknown attributes

    def __getattr__(name: str) -> Any:
        if name == "torch":  # imported at first use
            return importlib.import_module("fuelrail.benzina.torch")
        raise AttributeError(f"module 'fuelrail.benzina' has no attribute '{name}'")
