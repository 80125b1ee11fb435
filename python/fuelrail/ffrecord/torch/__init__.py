"""FFRecord for PyTorch: datasets that read a whole batch at once, and a loader that can start in
the middle of an epoch.

Importing the module does not change torch.
"""

from __future__ import annotations

from fuelrail.ffrecord.torch.dataloader import DataLoader
from fuelrail.ffrecord.torch.dataset import ConcatDataset, Dataset, Subset
from fuelrail.ffrecord.torch.registry import ReaderRegistry

__all__ = ["ConcatDataset", "DataLoader", "Dataset", "ReaderRegistry", "Subset"]
