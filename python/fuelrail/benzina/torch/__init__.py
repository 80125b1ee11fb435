"""Benzina's API for PyTorch: datasets of `.bzna` files, their loader, and the loader's transforms.

>>> import fuelrail.benzina.torch as bz
>>> import fuelrail.benzina.torch.operations as ops
"""

from __future__ import annotations

from fuelrail.benzina.torch import dataloader, dataset, operations
from fuelrail.benzina.torch.dataloader import DataLoader
from fuelrail.benzina.torch.dataset import ClassificationDataset, Dataset, ImageNet

__all__ = [
    "ClassificationDataset",
    "DataLoader",
    "Dataset",
    "ImageNet",
    "dataloader",
    "dataset",
    "operations",
]
