"""Benzina's API for PyTorch.

>>> import fuelrail.benzina.torch.operations as ops
>>> warp = ops.RandomResizedCrop(scale=(0.08, 1.0))
"""

from __future__ import annotations

from fuelrail.benzina.torch import operations

__all__ = ["operations"]
