"""The loader for PyTorch."""

from __future__ import annotations

import torch

from fuelrail.loader import BaseLoader
from fuelrail.torch.map_dataset import MapDataset, SampleBatch, collate
from fuelrail.torch.tensors import TensorFramework

__all__ = ["DataLoader", "MapDataset", "SampleBatch", "collate"]


def __dir__() -> list[str]:
    return __all__


class DataLoader(BaseLoader[torch.Tensor]):
    """Batches as tuples or dicts of tensors; the options are those of `fuelrail.Loader`.

    >>> loader = fuelrail.torch.DataLoader("train.rec", 256, shuffle=True,
    ...                                    transforms=[fuelrail.transforms.RandomResizedCrop(224)])
    >>> for images, labels in loader:
    ...     loss = criterion(model(images), labels)

    Tensors share the loader's memory and keep it alive; nobody else writes to it. What a fork, a
    spawn or a pickle does is as with `fuelrail.Loader`. Labels are int64
    where every sample has one and all are whole numbers, else float32. In a distributed job every
    process makes the same loader, before or after `init_process_group`: rank and world size are
    those of torch.distributed when the first batch is asked for.
    """

    _framework = TensorFramework
