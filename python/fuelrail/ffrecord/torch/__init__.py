"""FFRecord's API for PyTorch. Datasets read a whole batch at once, and the loader can start in the
middle of an epoch.

Unlike FFRecord, this module does not patch torch.
"""

from __future__ import annotations

from fuelrail.ffrecord.torch.dataloader import DataLoader
from fuelrail.ffrecord.torch.dataset import ConcatDataset, Dataset, Subset
from fuelrail.ffrecord.torch.registry import ReaderRegistry

__all__ = ["ConcatDataset", "DataLoader", "Dataset", "ReaderRegistry", "Subset"]
