"""The loader for PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from fuelrail.dataset import Dataset, Openable
from fuelrail.keywords import LoaderKeywords
from fuelrail.loader import BaseLoader, takes_loader_options
from fuelrail.torch.map_dataset import MapDataset, SampleBatch, collate
from fuelrail.torch.tensors import TensorFramework

if TYPE_CHECKING:
    from typing_extensions import Unpack

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

    @takes_loader_options({})
    def __init__(
        self,
        data: Dataset | Openable,
        batch_size: int = 1,
        *,
        memory_format: Any = "contiguous_format",
        pin_memory: bool = False,
        device: Any = None,
        **options: Unpack[LoaderKeywords],
    ) -> None:
        """Prepares the loader; threads start with the first batch.

        memory_format: torch.channels_last: images of shape (batch, 3, height, width) whose memory
            is that of NHWC. Default: torch.contiguous_format.
        pin_memory: copy batches into page-locked memory. Needs CUDA. Default: False.
        device: "cuda" (the device that is current now) or one like "cuda:1": copy batches there, by
            way of page-locked memory and on a stream of its own; `batch_transforms` run after that.
            Where there is no room for the copy, the iterator's next call tries that batch again.
            Default: none, the CPU.

        Errors: those of `fuelrail.Loader`; UnsupportedError for `pin_memory` and `device` where
        PyTorch has no CUDA.
        """
        own = {"memory_format": memory_format, "pin_memory": pin_memory, "device": device}
        given = {"batch_size": batch_size, **options}
        self._set_up(TensorFramework(memory_format, pin_memory, device), data, given, own)
